"""The plan a job publishes: every value is checked before anything is computed from it."""

from __future__ import annotations

import json
import marshal
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from scaletui_engine.live.text import safe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Item = TypeVar("Item")

COLUMNS: Final = (
    "name", "shape", "dtype", "requires_grad", "optimizer", "param_group", "fsdp_group", "placements",
    "mesh_names", "mesh_shape", "coordinate", "device",
)  # fmt: skip
MOST_ELEMENTS: Final = 1 << 56
MOST_DIMS: Final = 16
_PLAIN: Final = 2
"""The version of marshal's format that writes equal values alike, whoever else refers to them."""


@dataclass(frozen=True, slots=True)
class PlannedParameter:
    """One parameter as the job declared it."""

    name: str
    shape: tuple[int, ...]
    """Of the whole parameter, over all ranks."""
    dtype: str
    trainable: bool
    optimizer: int | None
    param_group: int | None
    fsdp_group: int | None
    placements: tuple[str, ...]
    """PyTorch's short forms, one for each axis of its mesh; empty for a plain tensor."""
    mesh_shape: tuple[int, ...]
    coordinate: tuple[int, ...]
    device: str


@dataclass(frozen=True, slots=True)
class OptimizerGroup:
    """One parameter group of an optimizer; arguments as JSON gave them."""

    arguments: dict[str, object]


@dataclass(frozen=True, slots=True)
class PlannedOptimizer:
    """One optimizer by the name of its class."""

    name: str
    """With its module: "torch.optim.adamw.AdamW"."""
    groups: tuple[OptimizerGroup, ...]


@dataclass(frozen=True, slots=True)
class ZeroSettings:
    """Settings of DeepSpeed's ZeRO that change what a rank holds; the defaults are DeepSpeed's."""

    round_robin: bool = False
    """Whether parameters lie in the flat buffer in turns of the ranks."""
    contiguous: bool = True
    """Whether gradients are kept in flat buffers."""
    accumulation_dtype: str | None = None
    aligned: bool = False
    """Whether there is padding between the parameters."""
    secondary_shards: int = 0
    """Pieces of the second copy that hpZ keeps for the backward pass; 0 where there is none."""
    quantized: bool = False


ZERO_DEFAULTS: Final = ZeroSettings()


@dataclass(frozen=True, slots=True)
class PlannedGroup:
    """One group of parameters that FSDP gathers and reduces together, or one of ZeRO's."""

    name: str
    shards: int
    param_dtype: str | None
    reduce_dtype: str | None
    reshard_after_forward: bool
    offload: bool = False
    """Whether what the optimizer reads and keeps lies in host memory."""
    zero: ZeroSettings = ZERO_DEFAULTS


@dataclass(frozen=True, slots=True)
class JobPlan:
    """What the job says it runs."""

    step: int
    wrapper: str
    """What spreads the weights: fsdp2, fsdp1, deepspeed or plain. Plain on several ranks is
    replicated, by DDP for instance."""
    mesh_names: tuple[str, ...]
    mesh_shape: tuple[int, ...]
    coordinate: tuple[int, ...]
    optimizers: tuple[PlannedOptimizer, ...]
    groups: tuple[PlannedGroup, ...]
    parameters: tuple[PlannedParameter, ...]
    parameters_total: int
    """More than there are rows when the plan's area was too small."""
    device_name: str = ""
    """What CUDA calls the device; empty in a CPU job."""

    @property
    def complete(self) -> bool:
        """Whether every parameter is there."""
        return self.parameters_total == len(self.parameters)


@dataclass(frozen=True, slots=True)
class PlanFault:
    """A plan that cannot be believed, and where."""

    detail: str


class _RefusedError(Exception):
    """A value of the wrong kind or size."""


def parse_plan(data: bytes) -> JobPlan | PlanFault:
    """The plan in UTF-8 JSON, or what is wrong with it. Raises nothing."""
    try:
        document = json.loads(data)
        return _plan(_table(document, "plan"))
    except _RefusedError as refused:
        return PlanFault(str(refused))
    except (ValueError, RecursionError):
        return PlanFault("not JSON")


def _plan(document: dict[str, object]) -> JobPlan:
    columns = _list(document.get("parameter_columns"), "parameter_columns", _text)
    missing = [name for name in COLUMNS if name not in columns]
    if missing:
        raise _RefusedError(f"no column {missing[0]!r}")
    mesh = _table(document.get("mesh") or {}, "mesh")
    rows = _list(document.get("parameters"), "parameters", _row)
    return JobPlan(
        step=_whole(document.get("step", 0), "step"),
        wrapper=_text(document.get("wrapper"), "wrapper"),
        mesh_names=_list(mesh.get("names", []), "mesh names", _text),
        mesh_shape=_list(mesh.get("shape", []), "mesh shape", _whole),
        coordinate=_list(document.get("coordinate") or [], "coordinate", _whole),
        optimizers=_list(document.get("optimizers"), "optimizers", _optimizer),
        groups=_list(document.get("fsdp_groups"), "fsdp_groups", _group),
        parameters=tuple(_parameters(columns, rows)),
        parameters_total=_whole(document.get("parameters_total"), "parameters_total"),
        device_name=_text(document.get("device_name", ""), "device_name"),
    )


def _parameters(columns: tuple[str, ...], rows: tuple[tuple[object, ...], ...]) -> Iterator[PlannedParameter]:
    """Every row; what the rows of other ranks had already is taken from them."""
    at = columns.index("coordinate")
    others = columns[:at] + columns[at + 1 :]
    for row in rows:
        if len(row) != len(columns):
            raise _RefusedError(f"a row of {len(row)} values for {len(columns)} columns")
        key = marshal.dumps(cast("Any", row[:at] + row[at + 1 :]), _PLAIN)
        declared = _declared(others, key)
        yield _placed(declared, _shared(_list(row[at], declared.name, _whole)))


@lru_cache(8_192)
def _declared(columns: tuple[str, ...], row: bytes) -> PlannedParameter:
    """What is the same on every rank of a row: all but the coordinate.

    The row comes as `marshal` writes it, which is the cheapest key that tells True from 1.
    """
    cell: dict[str, object] = dict(zip(columns, marshal.loads(row), strict=True))
    name = _text(cell["name"], "name")
    return PlannedParameter(
        name=_shared(name),
        shape=_shared(_shape(cell["shape"], name)),
        dtype=_shared(_text(cell["dtype"], name)),
        trainable=cell["requires_grad"] is True,
        optimizer=_maybe_whole(cell["optimizer"], name),
        param_group=_maybe_whole(cell["param_group"], name),
        fsdp_group=_maybe_whole(cell["fsdp_group"], name),
        placements=_shared(_list(cell["placements"], name, _text)),
        mesh_shape=_shared(_list(cell["mesh_shape"], name, _whole)),
        coordinate=(),
        device=_shared(_text(cell["device"], name)),
    )


def _placed(declared: PlannedParameter, coordinate: tuple[int, ...]) -> PlannedParameter:
    """The parameter on this rank; the declared one itself where it is spread over no mesh."""
    _check_mesh(declared, coordinate)
    if not coordinate:
        return declared
    return PlannedParameter(
        declared.name, declared.shape, declared.dtype, declared.trainable, declared.optimizer,
        declared.param_group, declared.fsdp_group, declared.placements, declared.mesh_shape, coordinate,
        declared.device,
    )  # fmt: skip


def _shared(value: Item) -> Item:
    """An equal value that was met before: the plans of a thousand ranks differ in little but coordinates."""
    return cast("Item", _kept(value))


@lru_cache(16_384)
def _kept(value: object) -> object:
    return value


def _check_mesh(parameter: PlannedParameter, coordinate: tuple[int, ...]) -> None:
    axes = len(parameter.mesh_shape)
    inside = all(at < size for at, size in zip(coordinate, parameter.mesh_shape, strict=False))
    if not len(parameter.placements) == axes == len(coordinate) or not inside:
        raise _RefusedError(f"{parameter.name}: placements, mesh and coordinate do not belong together")


def _shape(value: object, name: str) -> tuple[int, ...]:
    shape = _list(value, name, _whole)
    elements = 1
    for size in shape[:MOST_DIMS]:
        elements *= size
    if len(shape) > MOST_DIMS or elements > MOST_ELEMENTS:
        raise _RefusedError(f"{name}: {len(shape)} dims, {elements} elements")
    return shape


def _optimizer(value: object, where: str) -> PlannedOptimizer:
    table = _table(value, where)
    groups = _list(table.get("groups"), where, lambda group, at: OptimizerGroup(_arguments(group, at)))
    return PlannedOptimizer(_text(table.get("class"), where), groups)


def _arguments(value: object, where: str) -> dict[str, object]:
    return _table(_table(value, where).get("arguments", {}), where)


def _group(value: object, where: str) -> PlannedGroup:
    table = _table(value, where)
    return PlannedGroup(
        name=_text(table.get("name"), where),
        shards=_whole(table.get("shards"), where),
        param_dtype=_maybe_text(table.get("param_dtype"), where),
        reduce_dtype=_maybe_text(table.get("reduce_dtype"), where),
        reshard_after_forward=table.get("reshard_after_forward") is True,
        offload=table.get("offload") is True,
        zero=_zero(_table(table.get("zero", {}), where), where),
    )


def _zero(table: dict[str, object], where: str) -> ZeroSettings:
    return ZeroSettings(
        round_robin=table.get("round_robin") is True,
        contiguous=table.get("contiguous", True) is True,
        accumulation_dtype=_maybe_text(table.get("accumulation_dtype"), where),
        aligned=table.get("aligned") is True,
        secondary_shards=_whole(table.get("secondary_shards", 0), where),
        quantized=table.get("quantized") is True,
    )


def _table(value: object, where: str) -> dict[str, object]:
    if not isinstance(value, dict):
        raise _RefusedError(f"{where} is not a table")
    entries = cast("dict[object, object]", value)
    return {str(key): item for key, item in entries.items()}


def _list(value: object, where: str, item: Callable[[object, str], Item]) -> tuple[Item, ...]:
    if not isinstance(value, list):
        raise _RefusedError(f"{where} is not a list")
    return tuple(item(entry, where) for entry in cast("list[object]", value))


def _row(value: object, where: str) -> tuple[object, ...]:
    if not isinstance(value, list):
        raise _RefusedError(f"a row of {where} is not a list")
    return tuple(cast("list[object]", value))


def _text(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise _RefusedError(f"{where} is not a text")
    return safe(value)


def _whole(value: object, where: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MOST_ELEMENTS:
        raise _RefusedError(f"{where} is not a whole number up to {MOST_ELEMENTS}")
    return value


def _maybe_whole(value: object, where: str) -> int | None:
    return None if value is None else _whole(value, where)


def _maybe_text(value: object, where: str) -> str | None:
    return None if value is None else _text(value, where)
