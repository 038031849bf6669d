"""From the names in case files to the engine's."""

from __future__ import annotations

import re
from typing import Final

from scaletui_engine.schedule.registry import schedule_names


class UnknownFieldError(Exception):
    """A field that the engine cannot express."""


_TORCH: Final = {
    "gpipe": "GPipe",
    "1f1b": "1F1B",
    "interleaved-1f1b": "Interleaved1F1B",
    "looped-bfs": "LoopedBFS",
    "interleaved-zero-bubble": "InterleavedZeroBubble",
    "zb-v": "ZBVZeroBubble",
    "dualpipev": "DualPipeV",
}
_ALIASES: Final = {
    "zbv": "zb-v",
    "zb1p": "interleaved-zero-bubble",
    "interleaved": "interleaved-1f1b",
    "interleaved-flex": "interleaved-1f1b",
    "eager": "eager-1f1b",
    "vhalf": "v-half",
    "vmin": "v-min",
    "zbh1": "zb-h1",
    "zbh2": "zb-h2",
}


def schedule_name(text: str, torch: bool = False) -> str:
    """ "interleaved_1f1b(torch flex rounds)" is PyTorch's Interleaved1F1B. Raises UnknownFieldError."""
    if text in schedule_names() and not torch:
        return text
    base, _, remark = text.partition("(")
    plain = re.sub(r"[_\s]+", "-", base.strip().lower())
    plain = _ALIASES.get(plain, plain)
    if torch or "torch" in remark.lower():
        plain = _TORCH.get(plain, plain)
    if plain not in schedule_names():
        raise UnknownFieldError(f"schedule {text!r}")
    return plain
