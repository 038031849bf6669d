"""The Ultra-Scale Playbook's widget, reproduced on its own presets; and where ours differs from it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scaletui_engine.memory.conventions.playbook import Sliders, bars
from scaletui_engine.plan import Recompute

GOLDEN = Path(__file__).parents[2] / "golden" / "playbook_widget.json"
ROWS: list[dict[str, Any]] = json.loads(GOLDEN.read_text("utf-8"))["rows"]
PRESETS = {
    "Llama 3 Tiny": Sliders(1, 1024, 4096, 16, 30522, 7, 3, gated=False),
    "Llama 3 8B": Sliders(32, 4096, 16384, 32, 30522, 256, 32),
    "Llama 3 70B": Sliders(80, 8192, 32768, 64, 30522, 256, 32, tp=8, dp=8),
    "Llama 3 405B": Sliders(126, 16384, 65536, 128, 30522, 256, 32, tp=8, dp=8),
}
"""The widget's own presets: 256 tokens, BERT's vocabulary and an MLP of 4h, whatever the model is called."""


def _sliders(row: dict[str, Any]) -> Sliders:
    return replace(
        PRESETS[row["preset"]],
        mixed=row["mixed"],
        zero=row["zero"],
        sequence_parallel=row["seq_parallel"],
        recompute=Recompute(row["recompute"]),
    )


@pytest.mark.parametrize("preset", PRESETS)
def test_the_widget_to_the_byte(preset: str) -> None:
    rows = [row for row in ROWS if row["preset"] == preset]
    for row in rows:
        found, published = bars(_sliders(row)), row["activations"]
        assert (found.attention, found.mlp, found.norms, found.tail, found.activations) == (
            published["per_layer_attention"],
            published["per_layer_mlp"],
            published["per_layer_layernorm"],
            published["tail"],
            published["total"],
        )
        assert (found.parameters, found.weights, found.gradients, found.optimizer) == (
            row["states"]["n_params"],
            row["states"]["params"],
            row["states"]["grads"],
            row["states"]["opt"],
        )
        assert found.total == row["total_bytes"]
    assert len(rows) == 48


def test_tensor_parallelism_leaves_the_widgets_weights_whole() -> None:
    one = PRESETS["Llama 3 8B"]
    assert bars(replace(one, tp=8)).weights == bars(one).weights


def test_sequence_parallelism_raises_the_widgets_attention() -> None:
    """The scores lose their division by tp, which equation 4 of arXiv:2205.05198 keeps."""
    split = PRESETS["Llama 3 70B"]
    assert bars(replace(split, sequence_parallel=True)).attention > bars(split).attention
