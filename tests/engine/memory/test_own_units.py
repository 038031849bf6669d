"""Embedding and output projection as units of their own: what is whole of them, and when."""

from __future__ import annotations

import pytest

from scaletui_engine.catalog import load_model
from scaletui_engine.memory.contents import contents_of
from scaletui_engine.memory.load import load_of
from scaletui_engine.memory.phases.moments import moments
from scaletui_engine.plan import Axes, Plan, Strategy
from scaletui_engine.runtime import LossKernel, Runtime

TABLE = 32000 * 4096
NORM = 4096


def _unsharded(phase: str, *, split: bool, reshards: bool) -> dict[str, int]:
    """Names and bytes of what is unsharded at the first moment of a phase, Llama 2 7B in bf16 on 8 ranks."""
    runtime = Runtime(loss=LossKernel.CHUNKED_HEAD, split_root=split)
    plan = Plan(
        Axes(dp_shard=8), Strategy.FSDP, global_batch=8, reshard_after_forward=reshards, runtime=runtime
    )
    (rank,) = contents_of(load_of(load_model("llama2-7b").arch, plan))
    moment = next(moment for moment in moments(rank) if moment.phase == phase)
    return {name: size for part, name, size in moment.terms if part == "unsharded"}


@pytest.mark.parametrize(
    ("phase", "split", "reshards", "elements"),
    [
        ("loss", False, True, 2 * TABLE + NORM),
        ("loss", True, True, TABLE + NORM),
        ("loss", True, False, 2 * TABLE + NORM),
        ("backward", False, True, 2 * TABLE + NORM),
        ("backward", True, True, 0),
        ("backward", True, False, TABLE),
    ],
)
def test_what_is_kept_after_forward_stays_whole(
    phase: str, split: bool, reshards: bool, elements: int
) -> None:
    assert _unsharded(phase, split=split, reshards=reshards)["unsharded.root"] == 2 * elements


@pytest.mark.parametrize(("split", "elements"), [(True, TABLE + NORM), (False, 0)])
def test_a_head_of_its_own_in_the_loss_reduces_chunk_by_chunk(split: bool, elements: int) -> None:
    """In one root unit its gradient waits for the end of the backward pass, and nothing is reduced yet."""
    found = _unsharded("loss", split=split, reshards=True)
    assert found.get("unsharded.reduce_input", 0) == 4 * elements
