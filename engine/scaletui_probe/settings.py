"""What `scaletui run` or an explicit start asks of the probe; it travels in environment variables."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scaletui_probe.layout import Mode

if TYPE_CHECKING:
    from collections.abc import Mapping

MODE = "SCALETUI_MODE"
MICRO_BATCH = "SCALETUI_MICRO_BATCH"
SEQUENCE = "SCALETUI_SEQ"
INTERVAL = "SCALETUI_INTERVAL"
DISABLE = "SCALETUI_DISABLE"
DEFAULT_INTERVAL_S = 0.5
SHORTEST_INTERVAL_S = 0.1


class Settings(NamedTuple):
    """How to sample, and what the job's command line does not tell (0 when unknown)."""

    mode: Mode = Mode.THREAD
    interval_s: float = DEFAULT_INTERVAL_S
    micro_batch: int = 0
    sequence_length: int = 0


def settings_from(environ: Mapping[str, str]) -> Settings:
    """The settings in an environment; what cannot be read counts as not said."""
    return Settings(
        mode=Mode.HOOKS if environ.get(MODE) == "hooks" else Mode.THREAD,
        interval_s=max(SHORTEST_INTERVAL_S, _number(environ.get(INTERVAL)) or DEFAULT_INTERVAL_S),
        micro_batch=int(_number(environ.get(MICRO_BATCH))),
        sequence_length=int(_number(environ.get(SEQUENCE))),
    )


def _number(text: str | None) -> float:
    try:
        value = float(text or 0)
    except ValueError:
        return 0.0
    return value if 0 < value < 2**31 else 0.0
