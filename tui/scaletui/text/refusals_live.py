"""Templates of what the engine says of a job whose model it cannot tell from its parameters."""

from __future__ import annotations

from typing import Final

from scaletui.text.language import N_

LIVE: Final = (
    N_("no numbered layers"),
    N_("no table of tokens outside the layers"),
    N_("{count} tables of {tokens} x {hidden}"),
    N_("{count} matrices of attention"),
    N_("{count} matrices outside attention"),
    N_("{held} elements, {known} are those of a transformer of {layers} layers"),
)
