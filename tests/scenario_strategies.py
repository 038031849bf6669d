"""Valid scenarios for property tests: a default one, walked through valid edits and given a few own parts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from scaletui_engine.catalog import gpu_ids, model_ids
from scaletui_engine.defaults import Choices, scenario_from
from scaletui_engine.edit import FIELDS, step
from scaletui_engine.runtime import Attention, Framework, Lora, Runtime

if TYPE_CHECKING:
    from scaletui_engine.cluster import Cluster
    from scaletui_engine.model import Model
    from scaletui_engine.scenario import Scenario

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
RUNTIMES = st.builds(
    Runtime,
    framework=st.sampled_from(Framework),
    attention=st.sampled_from(Attention),
    fused_mlp=st.sampled_from([None, True, False]),
    recompute_modules=st.sampled_from([(), ("core_attn",), ("mlp", "moe")]),
    capacity_factor=st.floats(0.1, 8.0),
    zero_bucket=st.integers(1, 10**9),
)
LORAS = st.none() | st.builds(
    Lora, rank=st.integers(1, 256), targets=st.tuples(st.sampled_from(["wq", "w1"]))
)


@st.composite
def scenarios(draw: st.DrawFn) -> Scenario:
    """Any valid scenario."""
    choices = Choices(
        draw(st.sampled_from(model_ids())), draw(st.sampled_from(gpu_ids())), 1 << draw(st.integers(0, 10))
    )
    scenario = scenario_from(choices)
    for field, direction in draw(
        st.lists(st.tuples(st.sampled_from(FIELDS), st.sampled_from([-1, 1])), max_size=12)
    ):
        scenario = step(scenario, field, direction)
    return scenario


@st.composite
def own_scenarios(draw: st.DrawFn) -> Scenario:
    """Any valid scenario with a name, switches, and perhaps a model and a GPU of its own."""
    found = draw(scenarios())
    plan = replace(
        found.plan, runtime=draw(RUNTIMES), lora=draw(LORAS), frozen=draw(st.sampled_from([(), ("mlp",)]))
    )
    model, cluster = draw(_models(found.model)), draw(_clusters(found.cluster))
    return replace(found, name=draw(TEXTS), model=model, cluster=cluster, plan=plan)


@st.composite
def _models(draw: st.DrawFn, model: Model) -> Model:
    if draw(st.booleans()):
        return model
    arch = replace(model.arch, rope_theta=draw(st.floats(1.0, 1e9)))
    return replace(model, id=draw(TEXTS), arch=arch, note=draw(st.none() | TEXTS), source=draw(TEXTS))


@st.composite
def _clusters(draw: st.DrawFn, cluster: Cluster) -> Cluster:
    host = draw(st.none() | st.integers(1, 1 << 50))
    cluster = replace(cluster, host_memory_bytes=host, nvlink_domain=draw(st.none() | st.integers(1, 72)))
    if draw(st.booleans()):
        return cluster
    gpu = replace(cluster.gpu, id=draw(TEXTS), usable_bytes=draw(st.none() | st.integers(1, 1 << 40)))
    return replace(cluster, gpu=replace(gpu, network_bandwidth=draw(st.none() | st.floats(1.0, 1e13))))
