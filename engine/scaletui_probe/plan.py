"""The plan as the job runs it: what the ring's JSON area says, read from the objects of the job."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from scaletui_probe import deepspeed, fsdp1
from scaletui_probe.fsdp2 import dtype_name
from scaletui_probe.layout import PARAMETER_COLUMNS
from scaletui_probe.naming import named, plain_name
from scaletui_probe.ring import plan_bytes

if TYPE_CHECKING:
    from scaletui_probe.states import Job
    from scaletui_probe.units import Unit

PLAN_VERSION = 1
_NO_ARGUMENTS = ("params", "param_names")


def plan(job: Job, step: int, device_name: str = "") -> dict[str, Any]:
    """The plan, with as many parameter rows as fit into its area."""
    meshes = _Meshes()
    rows = _parameter_rows(job, meshes)
    mesh = meshes.widest(job)
    found = {
        "version": PLAN_VERSION,
        "step": step,
        "wrapper": _wrapper(job),
        "device_name": device_name,
        "mesh": meshes.facts(mesh),
        "coordinate": meshes.coordinate(mesh),
        "optimizers": [_optimizer_facts(optimizer) for optimizer in job.optimizers],
        "fsdp_groups": [unit.facts() for unit in job.units],
        "parameter_columns": list(PARAMETER_COLUMNS),
        "parameters": rows,
        "parameters_total": len(rows),
        "buffers": _buffer_rows(job),
    }
    return _fitted(found)


def _fitted(found: dict[str, Any]) -> dict[str, Any]:
    """The plan cut down until it fits: half of the parameter rows go at a time, then the buffers."""
    while True:
        try:
            plan_bytes(found)
            return found
        except OSError:
            if not found["parameters"]:
                return {**found, "buffers": None, "fsdp_groups": []}
            found = {**found, "parameters": found["parameters"][: len(found["parameters"]) // 2]}


class _Meshes:
    """What was asked of device meshes, each once: a mesh works out its ranks anew at every question, all of
    the job's, and every parameter has one."""

    def __init__(self) -> None:
        self._facts: dict[int, dict[str, Any]] = {}
        self._coordinates: dict[int, list[int] | None] = {}
        self._kept: list[Any] = []
        """So that no other mesh takes the place in memory of one that was asked."""

    def facts(self, mesh: Any) -> dict[str, Any] | None:
        """Device, sizes and names of its axes."""
        if mesh is None:
            return None
        if id(mesh) not in self._facts:
            self._kept.append(mesh)
            self._facts[id(mesh)] = _mesh_facts(mesh)
        return self._facts[id(mesh)]

    def coordinate(self, mesh: Any) -> list[int] | None:
        """This rank's place; None without a mesh and outside of it."""
        if self.facts(mesh) is None:
            return None
        if id(mesh) not in self._coordinates:
            found = mesh.get_coordinate()
            self._coordinates[id(mesh)] = None if found is None else [int(index) for index in found]
        return self._coordinates[id(mesh)]

    def widest(self, job: Job) -> Any:
        """The mesh with most axes that a unit, a parameter or their root mesh shows."""
        found = [unit.mesh() for unit in job.units]
        found += [getattr(parameter, "device_mesh", None) for parameter in job.parameters()]
        meshes = list({id(mesh): mesh for mesh in found if mesh is not None}.values())
        roots = [mesh._get_root_mesh() for mesh in meshes if hasattr(mesh, "_get_root_mesh")]
        return max([*meshes, *roots], key=self._breadth, default=None)

    def _breadth(self, mesh: Any) -> tuple[int, int]:
        facts = self.facts(mesh) or {"shape": []}
        return len(facts["shape"]), prod(facts["shape"])


def _parameter_rows(job: Job, meshes: _Meshes) -> list[list[Any]]:
    unit_of = _unit_of(job.units)
    place_of = _place_of(job)
    rows = []
    for name, parameter in named(job):
        optimizer, param_group = place_of.get(id(parameter), (None, None))
        rows.append(
            [
                name,
                list(getattr(parameter, "ds_shape", parameter.shape)),
                dtype_name(parameter.dtype),
                bool(parameter.requires_grad),
                optimizer,
                param_group,
                unit_of.get(id(parameter)),
                *_placement(parameter, meshes),
                parameter.device.type,
            ]
        )
    return rows


def _unit_of(job_units: list[Unit]) -> dict[int, int]:
    return {id(parameter): index for index, unit in enumerate(job_units) for parameter in unit.parameters()}


def _place_of(job: Job) -> dict[int, tuple[int, int]]:
    return {
        id(parameter): (index, group_index)
        for index, optimizer in enumerate(job.optimizers)
        for group_index, group in enumerate(optimizer.param_groups)
        for parameter in group["params"]
    }


def _placement(parameter: Any, meshes: _Meshes) -> tuple[list[str], list[str], list[int], list[int]]:
    """Placements, axis names, axis sizes and this rank's coordinate; all empty for a plain tensor."""
    placements = getattr(parameter, "placements", None)
    mesh = getattr(parameter, "device_mesh", None)
    if placements is None or mesh is None:
        return [], [], [], []
    facts = meshes.facts(mesh) or {}
    return (
        [str(placement) for placement in placements],
        facts["names"],
        facts["shape"],
        meshes.coordinate(mesh) or [],
    )


def _mesh_facts(mesh: Any) -> dict[str, Any]:
    names = getattr(mesh, "mesh_dim_names", None) or ()
    sizes = mesh.shape if hasattr(mesh, "shape") else mesh.mesh.shape
    return {
        "device_type": str(mesh.device_type),
        "shape": [int(size) for size in sizes],
        "names": [str(name) for name in names],
    }


def _wrapper(job: Job) -> str:
    if job.units:
        return job.units[0].wrapper
    if any(deepspeed.owner(optimizer) is not None for optimizer in job.optimizers):
        return "deepspeed"
    return "fsdp1" if any(fsdp1.is_flattened(parameter) for parameter in job.optimized()) else "plain"


def _optimizer_facts(optimizer: Any) -> dict[str, Any]:
    kind = type(optimizer)
    return {
        "class": f"{kind.__module__}.{kind.__qualname__}",
        "groups": [_group_facts(group) for group in optimizer.param_groups],
    }


def _group_facts(group: dict[str, Any]) -> dict[str, Any]:
    return {
        "tensors": len(group["params"]),
        "numel": sum(int(parameter.numel()) for parameter in group["params"]),
        "arguments": {name: _plain(value) for name, value in group.items() if name not in _NO_ARGUMENTS},
    }


def _plain(value: Any) -> Any:
    """The value as JSON can hold it. A tensor on a device is not read: that would make the job wait."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else str(value)
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if hasattr(value, "untyped_storage") and value.device.type == "cpu" and value.numel() == 1:
        return _plain(value.item())
    return type(value).__name__


def _buffer_rows(job: Job) -> list[list[Any]] | None:
    if not job.is_whole():
        return None
    return [
        [plain_name(name), list(buffer.shape), dtype_name(buffer.dtype), buffer.device.type]
        for module in job.modules
        for name, buffer in module.named_buffers()
    ]
