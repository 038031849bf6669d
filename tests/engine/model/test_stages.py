"""Which layers, embedding and output every pipeline stage and rank holds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaletui_engine.catalog import load_model
from scaletui_engine.errors import DivisibilityError
from scaletui_engine.model import Role
from scaletui_engine.plan import Axes, Plan, Split
from scaletui_engine.stages import layer_counts, rank_stages, stage_layers
from scaletui_engine.tensors import count_parameters, stage_tensors

SPLITS = [
    ("llama3-405b-paper", 126, 16, Split.ENDS, (7, *(8,) * 14, 7)),
    ("even", 80, 8, Split.EVEN, (10,) * 8),
    ("deepspeed-uniform", 10, 4, Split.FRONT, (3, 3, 2, 2)),
    ("torchtitan-weights-1-1", 61, 16, Split.ENDS, (3, *(4,) * 14, 2)),
    ("one-stage", 7, 1, Split.ENDS, (7,)),
    ("explicit", 8, 4, (1, 2, 2, 3), (1, 2, 2, 3)),
]


@pytest.mark.parametrize(
    ("layers", "stages", "split", "counts"), [row[1:] for row in SPLITS], ids=[r[0] for r in SPLITS]
)
def test_layer_counts(
    layers: int, stages: int, split: Split | tuple[int, ...], counts: tuple[int, ...]
) -> None:
    assert layer_counts(layers, stages, split) == counts


REFUSED = [
    ("megatron-468", 126, 16, Split.EVEN, r"126 layers / 16 stages = 7\.875"),
    ("front-empty", 3, 4, Split.FRONT, "3 layers < 4 stages"),
    ("ends-empty", 3, 3, Split.ENDS, r"3 layers \+ embedding \+ output = 5 < 2 x 3 stages"),
    ("explicit-length", 8, 4, (4, 4), "names 2 stages, but pp x chunks = 4"),
    ("explicit-sum", 8, 2, (4, 5), "adds up to 9 layers, but the model has 8"),
]


@pytest.mark.parametrize(
    ("layers", "stages", "split", "words"), [row[1:] for row in REFUSED], ids=[r[0] for r in REFUSED]
)
def test_refused_with_the_equation(
    layers: int, stages: int, split: Split | tuple[int, ...], words: str
) -> None:
    with pytest.raises(DivisibilityError, match=words):
        layer_counts(layers, stages, split)


@given(st.integers(1, 200), st.integers(1, 40), st.sampled_from([Split.FRONT, Split.ENDS]))
def test_no_layer_is_lost(layers: int, stages: int, split: Split) -> None:
    try:
        counts = layer_counts(layers, stages, split)
    except DivisibilityError:
        assert layers < 2 * stages
        return
    assert sum(counts) == layers
    assert len(counts) == stages
    assert min(counts) >= 1


def _plan(schedule: str, pp: int, chunks: int) -> Plan:
    return Plan(Axes(pp=pp), schedule=schedule, chunks=chunks)


PLACEMENTS = [
    ("1f1b", 4, 1, [[0], [1], [2], [3]]),
    ("interleaved-1f1b", 4, 2, [[0, 4], [1, 5], [2, 6], [3, 7]]),
    ("torchtitan-774", 4, 2, [[0, 7], [1, 6], [2, 5], [3, 4]]),
    ("dualpipe", 4, 1, [[0, 3], [1, 2], [2, 1], [3, 0]]),
]


@pytest.mark.parametrize(("name", "pp", "chunks", "held"), PLACEMENTS, ids=[row[0] for row in PLACEMENTS])
def test_placement(name: str, pp: int, chunks: int, held: list[list[int]]) -> None:
    schedule = "zb-v" if name == "torchtitan-774" else name
    ranks = rank_stages(32, _plan(schedule, pp, chunks))
    assert [[stage.index for stage in stages] for stages in ranks] == held


def test_embedding_and_output_lie_on_the_first_and_last_stage() -> None:
    stages = stage_layers(32, _plan("1f1b", 4, 1))
    assert [stage.embedding for stage in stages] == [True, False, False, False]
    assert [stage.head for stage in stages] == [False, False, False, True]


@pytest.mark.parametrize("model", ["llama3-8b", "llama4-maverick", "deepseek-v3", "gpt-oss-20b", "phi-2"])
def test_stages_add_up_to_the_model(model: str) -> None:
    arch = load_model(model).arch
    ranks = rank_stages(arch.layers, Plan(Axes(pp=4), layer_split=Split.FRONT))
    held = sum(tensor.total for stages in ranks for tensor in stage_tensors(arch, stages))
    assert held == count_parameters(arch).total


def test_a_tied_output_away_from_the_table_is_a_second_copy() -> None:
    arch = load_model("gpt2-124m").arch
    ranks = rank_stages(arch.layers, Plan(Axes(pp=4)))
    held = sum(tensor.total for stages in ranks for tensor in stage_tensors(arch, stages))
    assert held == count_parameters(arch).total + arch.vocab * arch.hidden
    assert [tensor.role for tensor in stage_tensors(arch, ranks[-1])][-1] is Role.LM_HEAD


def test_zb_v_puts_embedding_and_output_on_rank_0() -> None:
    arch = load_model("llama3-8b").arch
    first, *_, last = rank_stages(arch.layers, _plan("zb-v", 4, 2))
    roles = {tensor.role for tensor in stage_tensors(arch, first)}
    assert {Role.EMBEDDING, Role.LM_HEAD} <= roles
    assert not {Role.EMBEDDING, Role.LM_HEAD} & {tensor.role for tensor in stage_tensors(arch, last)}
