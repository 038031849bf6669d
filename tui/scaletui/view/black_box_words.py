"""The end of a rank as a sentence that claims no more than is known."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from scaletui.text.language import N_, tr
from scaletui_engine.live.evidence import What

if TYPE_CHECKING:
    from scaletui_engine.live.post_mortem import Departure

_SIGKILL: Final = N_("SIGKILL: the system's OOM killer or somebody")
_SIGNAL: Final = N_("ended by {detail}, from outside or its own")
_AFTER: Final = N_("{detail}, after another rank had failed")
_SENTENCES: Final = MappingProxyType({
    What.FINISHED: N_("ended in order"),
    What.LOST_PEER: N_("{detail}, when a peer had gone"),
    What.EXCEPTION: N_("{detail}, which nobody caught"),
    What.OUT_OF_MEMORY: N_("out of memory: {detail}"),
    What.KILLED: N_("gone without a word: killed, or os._exit"),
    What.ENDED_BY_LAUNCHER: N_("ended by its launcher"),
    What.KILLED_OR_ENDED: N_("no word: killed, or ended by its launcher"),
    What.EXIT_CODE: N_("left with code {detail}, without a word"),
    What.REBOOTED: N_("its machine restarted"),
    What.UNREACHABLE: N_("on another machine, and silent since"),
    What.NOTHING: N_("gone; nothing more is known"),
})  # fmt: skip
"""As long as a row of 80 columns has room for."""


def ending_text(item: Departure) -> str:
    """What ended it; a signal is named where the system told it, and guessed nowhere."""
    what, detail = item.rank.verdict.what, item.rank.verdict.detail
    if what is What.KILLED and detail:
        return tr(_SIGKILL) if detail == "SIGKILL" else tr(_SIGNAL, detail=detail)
    if what is What.EXCEPTION and item.follows:
        return tr(_AFTER, detail=detail)
    sentence = _SENTENCES.get(what, _SENTENCES[What.NOTHING])
    return tr(sentence, detail=detail)
