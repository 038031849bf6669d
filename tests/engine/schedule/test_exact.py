"""Every number of the exact cases, at 1e-9."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from scaletui_engine.schedule.result import evaluate
from scaletui_engine.schedule.shape import Choices
from scaletui_engine.schedule.times import Times

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaletui_engine.schedule.schedule import Schedule

FACTS = json.loads((Path(__file__).parents[2] / "golden" / "pipeline.json").read_text("utf-8"))
NAMES = {
    "gpipe": "gpipe", "1f1b": "1f1b", "eager_1f1b": "eager-1f1b", "zb_h1": "zb-h1", "zb_h2": "zb-h2",
    "looped_bfs": "looped-bfs", "interleaved_1f1b(torch flex rounds)": "Interleaved1F1B",
    "zbv(torch)": "ZBVZeroBubble", "interleaved_zero_bubble(torch, ZB1P)": "InterleavedZeroBubble",
    "dualpipe": "dualpipe", "dualpipev": "dualpipev",
    "v_half (building block, greedy W, no re-ordering)": "v-half",
    "v_min (building block, greedy W, no re-ordering)": "v-min",
}  # fmt: skip


def _id(case: dict[str, Any]) -> str:
    keys = ("p", "m", "m_total_both_directions", "v", "F", "I", "W", "F_and_B", "comm")
    return " ".join([case["schedule"], *(f"{key}{case[key]}" for key in keys if key in case)])


@pytest.mark.parametrize("case", FACTS["own_sim_exact_cases"], ids=_id)
def test_exact_case(case: dict[str, Any], make: Callable[..., Schedule]) -> None:
    microbatches = case.get("m", case.get("m_total_both_directions"))
    choices = Choices(reordered="no re-ordering" not in case["schedule"])
    schedule = make(NAMES[case["schedule"]], case["p"], microbatches, case.get("v"), choices)
    times = Times(
        (case["F"],), (case["I"],), (case["W"],), comm=(case["comm"],), overlapped=case.get("F_and_B")
    )
    result = evaluate(schedule, times)
    bubble, timeline = result.bubble, result.timeline
    found = {
        "stages": schedule.stages,
        "makespan": timeline.makespan,
        "max_span": timeline.spans.max(),
        "ideal": bubble.ideal,
        "busy_per_rank": timeline.busy.tolist(),
        "idle_in_makespan_per_rank": list(bubble.per_rank),
        "idle_in_span_per_rank": list(bubble.within_span),
        "peak_live_chunks": result.activations.peak.tolist(),
        "peak_live_chunks_free_at_I": result.early_activations.peak.tolist(),
        "peak_live_chunks_max": result.activations.peak.max(),
        "readme_formula": max(bubble.per_rank),
    }
    for key in found.keys() & case.keys():
        assert found[key] == pytest.approx(case[key], abs=1e-9), key
    for key, share in (("A", bubble.over_ideal), ("B", bubble.over_makespan), ("C", bubble.zero_bubble)):
        assert round(share, 6) == case.get(f"bubble_{key}", round(share, 6))


@pytest.mark.parametrize("case", FACTS["uneven_stage_cases"], ids=lambda case: case["case"])
def test_uneven_stages(case: dict[str, Any], make: Callable[..., Schedule]) -> None:
    result = evaluate(
        make("1f1b", case["p"], case["m"]), Times(forward=tuple(case["F"]), backward=tuple(case["B"]))
    )
    assert result.timeline.makespan == case["makespan"]
    assert list(result.bubble.per_rank) == case["idle_in_makespan_per_rank"]


@pytest.mark.parametrize(
    ("name", "ranks", "microbatches", "makespan"),
    [("zb-h1", 8, 4, 23), ("zb-h1", 4, 2, 11), ("zb-h1", 4, 1, 9), ("1f1b", 4, 1, 12), ("gpipe", 4, 1, 12)],
)
def test_few_microbatches(
    name: str, ranks: int, microbatches: int, makespan: float, make: Callable[..., Schedule]
) -> None:
    """arXiv:2401.10241, appendix H: (m + p - 1)(F + I) + W for m <= p."""
    assert evaluate(make(name, ranks, microbatches)).timeline.makespan == makespan


@pytest.mark.parametrize(("microbatches", "extra"), [(3, 3), (2, 6), (4, 0)])
@pytest.mark.parametrize("name", ["Interleaved1F1B", "LoopedBFS", "looped-bfs"])
def test_interleaving_with_fewer_microbatches_than_ranks(
    name: str, microbatches: int, extra: float, make: Callable[..., Schedule]
) -> None:
    """Bubble (p - 1)(f + b) + (v - 1)(p - m)(f + b) with p 4, v 2, f + b = 3."""
    result = evaluate(make(name, 4, microbatches, 2))
    assert result.timeline.makespan - result.bubble.ideal == 9 + extra


@pytest.mark.parametrize("ranks", [2, 4, 6, 8])
def test_dualpipe_readme(ranks: int, make: Callable[..., Schedule]) -> None:
    """deepseek-ai/DualPipe README: (PP / 2 - 1)(F&B + B - 3W) and PP + 1, here with F&B = F + B = 3."""
    result = evaluate(make("dualpipe", ranks, 2 * ranks))
    assert result.bubble.per_rank == (ranks - 2,) * ranks
    assert result.activations.peak.tolist() == [ranks + 1] * ranks


@pytest.mark.parametrize(("ranks", "chunks", "microbatches"), [(4, 2, 8), (4, 3, 12), (8, 2, 16)])
@pytest.mark.parametrize("overlapped", [3.0, 2.5])
def test_combined_1f1b_formula(
    ranks: int, chunks: int, microbatches: int, overlapped: float, make: Callable[..., Schedule]
) -> None:
    """T = (p - 1)(F + B) + (p (v - 1) + 1)(F + B) + (m v - p (v - 1) - 1) F&B in chunk times
    (Victarry/PP-Schedule-Visualization, formula.py, times v)."""
    result = evaluate(make("combined-1f1b", ranks, microbatches, chunks), Times(overlapped=overlapped))
    alone = ranks * (chunks - 1) + 1
    formula = (ranks - 1 + alone) * 3 + (microbatches * chunks - alone) * overlapped
    assert result.timeline.makespan == pytest.approx(formula, abs=1e-9)
