"""Scenarios as commented TOML files: what is written reads back as the same scenario, to the last field."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields
from typing import TYPE_CHECKING, Any, Final, cast

from scaletui_engine.cluster import Cluster
from scaletui_engine.compat import tomllib
from scaletui_engine.defaults import PlanChoices, plan_from
from scaletui_engine.errors import ParseError
from scaletui_engine.fields import read, refuse_unknown, shown, size_of
from scaletui_engine.gpu_table import read_gpu, write_gpu
from scaletui_engine.model_table import read_model, write_model
from scaletui_engine.plan import Axes, Plan
from scaletui_engine.scenario import Scenario
from scaletui_engine.scenario_comments import COMMENTS, HEADER
from scaletui_engine.toml_text import table_text
from scaletui_engine.units import exact_bytes
from scaletui_engine.validate import validate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from scaletui_engine.model import Model
    from scaletui_engine.runtime import Lora, Runtime

_SECTIONS: Final = ("name", "model", "cluster", "plan")


@dataclass(frozen=True, slots=True)
class _ClusterTable:
    """The keys of [cluster] beside its GPU."""

    gpus: int
    gpus_per_node: int = 8
    nvlink_domain: int | None = None
    host_memory: str | None = None
    """A size like "2TiB", of one node."""


def load(text: str, read_config: Callable[[str], Model] | None = None) -> Scenario:
    """The valid scenario that a TOML text describes; what [plan] leaves out takes its default.

    `read_config` gives the model of the file that `model.config` names; without it that key is refused.
    Raises ParseError (with line and column for bad TOML), UnknownNameError for an unknown key or id, and
    whatever `validate` raises.
    """
    document = parse(text)
    refuse_unknown(document, _SECTIONS, "")
    model = _read_model(_table(document, "model"), read_config)
    cluster = _read_cluster(_table(document, "cluster"))
    plan = plan_from(read(PlanChoices, _table(document, "plan", {}), "plan"), model, cluster)
    scenario = Scenario(model, cluster, plan, _name(document))
    validate(scenario)
    return scenario


def load_model_text(text: str) -> Model:
    """The model of a TOML text that holds its fields, or a [model] table with them.

    Raises ParseError, UnknownNameError, ValueRangeError.
    """
    document = parse(text)
    if isinstance(document.get("model"), dict):
        return read_model(_table(document, "model"))
    return read_model(document)


def dump(scenario: Scenario) -> str:
    """The scenario as commented TOML, which `load` reads back as an equal scenario."""
    tables: dict[str, dict[str, object]] = {}
    if scenario.name:
        tables[""] = {"name": scenario.name}
    tables.update(write_model(scenario.model))
    tables.update(_cluster_tables(scenario.cluster))
    tables.update(_plan_tables(scenario.plan))
    blocks = [table_text(header, values, COMMENTS.get(header, {})) for header, values in tables.items()]
    return "\n".join([HEADER, *blocks])


def parse(text: str) -> dict[str, Any]:
    """The tables of a TOML text. Raises ParseError with line and column."""
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        raise ParseError(f"not TOML: {error}") from None
    except RecursionError:
        raise ParseError("not TOML: nested too deeply") from None
    except ValueError:
        # int() reads no more digits (docs.python.org, "Integer string conversion length limitation").
        raise ParseError("not TOML: a number of more than 4300 digits") from None


def _table(
    document: Mapping[str, object], key: str, default: dict[str, object] | None = None
) -> dict[str, object]:
    found = document.get(key, default)
    if found is None:
        raise ParseError(f"[{key}] is missing")
    if not isinstance(found, dict):
        raise ParseError(f"{key} = {shown(found)} is not a table")
    return cast("dict[str, object]", found)


def _name(document: Mapping[str, object]) -> str:
    name = document.get("name", "")
    if not isinstance(name, str):
        raise ParseError(f"name = {shown(name)} is not a text")
    return name


def _read_model(table: dict[str, object], read_config: Callable[[str], Model] | None) -> Model:
    if "config" not in table:
        return read_model(table)
    said = f"model.config = {shown(table['config'])}"
    if len(table) > 1:
        raise ParseError(f"{said} with fields beside it: the file holds them all")
    if not isinstance(table["config"], str):
        raise ParseError(f"{said} is not a text")
    if read_config is None:
        raise ParseError(f"{said}, but this text lies in no folder")
    return read_config(table["config"])


def _read_cluster(table: dict[str, object]) -> Cluster:
    if "gpu" not in table:
        raise ParseError("cluster.gpu is missing: wanted a GPU's id or a table")
    known = ("gpu", *(field.name for field in fields(_ClusterTable)))
    refuse_unknown(table, known, "cluster")
    rest = read(_ClusterTable, {key: value for key, value in table.items() if key != "gpu"}, "cluster")
    host = None if rest.host_memory is None else size_of(rest.host_memory, "cluster.host_memory")
    gpu = read_gpu(table["gpu"], "cluster.gpu")
    return Cluster(gpu, rest.gpus, rest.gpus_per_node, rest.nvlink_domain, host)


def _cluster_tables(cluster: Cluster) -> dict[str, dict[str, object]]:
    gpu, host = write_gpu(cluster.gpu), cluster.host_memory_bytes
    rest: dict[str, object] = {
        "gpus": cluster.gpus,
        "gpus_per_node": cluster.gpus_per_node,
        "nvlink_domain": cluster.nvlink_domain,
        "host_memory": None if host is None else exact_bytes(host),
    }
    return {"cluster": {"gpu": gpu, **rest}} if isinstance(gpu, str) else {"cluster": rest, **gpu}


def _plan_tables(plan: Plan) -> dict[str, dict[str, object]]:
    """[plan] in full, its switches only where they differ from their default."""
    skipped = ("axes", "frozen", "lora", "runtime")
    values = {field.name: getattr(plan.axes, field.name) for field in fields(Axes)}
    values.update(
        {field.name: getattr(plan, field.name) for field in fields(Plan) if field.name not in skipped}
    )
    if plan.frozen:
        values["frozen"] = plan.frozen
    tables: dict[str, dict[str, object]] = {"plan": values}
    if plan.lora is not None:
        tables["plan.lora"] = _changed(plan.lora)
    switches = _changed(plan.runtime)
    return {**tables, "plan.runtime": switches} if switches else tables


def _changed(value: Lora | Runtime) -> dict[str, object]:
    held = {field.name: getattr(value, field.name) for field in fields(value)}
    defaults = {field.name: field.default for field in fields(value) if field.default is not MISSING}
    return {name: item for name, item in held.items() if item != defaults.get(name, MISSING)}
