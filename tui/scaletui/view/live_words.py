"""The live engine's words as people read them."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from scaletui.text.language import N_, tr
from scaletui_engine.live.evidence import RankState, What
from scaletui_engine.live.fault import Fault
from scaletui_engine.live.predicted import Unpredicted, ZeroLack
from scaletui_probe.layout import Reason

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scaletui_engine.live.evidence import Verdict

CATEGORY_ROLES: Final = MappingProxyType({
    "weights": "weights", "gradients": "gradients", "optimizer": "optimizer",
    "master_weights": "master_weights", "buffers": "buffers", "unsharded": "unsharded", "rest": "activations",
})  # fmt: skip
"""Category -> the part of memory whose colour and letter it has."""

_CATEGORIES: Final = MappingProxyType(
    {
        "weights": N_("weights"),
        "gradients": N_("gradients"),
        "optimizer": N_("optimizer"),
        "master_weights": N_("master weights"),
        "buffers": N_("buffers"),
        "unsharded": N_("unsharded"),
        "rest": N_("activations and temporaries"),
    }
)
_STATES: Final = MappingProxyType(
    {
        RankState.RUNNING: N_("running"),
        RankState.EXITED: N_("exited"),
        RankState.LOST: N_("lost"),
    }
)
_WHATS: Final = MappingProxyType(
    {
        What.SILENT: N_("alive but silent"),
        What.STOPPED: N_("halted by a signal"),
        What.ORPHANED: N_("orphaned: its launcher is gone"),
        What.FINISHED: N_("exited"),
        What.LOST_PEER: N_("ended when a peer had gone"),
        What.EXCEPTION: N_("exited: {detail}"),
        What.OUT_OF_MEMORY: N_("out of memory"),
        What.KILLED: N_("killed"),
        What.ENDED_BY_LAUNCHER: N_("ended by the launcher"),
        What.KILLED_OR_ENDED: N_("killed, or ended by the launcher"),
        What.EXIT_CODE: N_("exited with code {detail}"),
        What.REBOOTED: N_("the machine restarted"),
        What.UNREACHABLE: N_("lost: on another machine, silent"),
    }
)
_REASONS: Final = MappingProxyType(
    {
        Reason.AVAILABLE: N_("available"),
        Reason.CPU_JOB: N_("not available: CPU job"),
        Reason.NOT_INITIALISED: N_("not available: CUDA is not initialised yet"),
        Reason.NO_STEP_YET: N_("not available: no optimizer step yet"),
        Reason.NOT_TRACKED: N_("not available: this allocator keeps no statistics"),
        Reason.READ_FAILED: N_("not available: reading failed"),
        Reason.NOT_COUNTED: N_("not available: not counted in this kind of record"),
        Reason.NOT_SUPPORTED: N_("not available: not supported here"),
        Reason.COMPILED: N_("not available: torch.compile runs the optimizer step without its hooks"),
        Reason.CAPTURED: N_("not available: a CUDA graph replays the optimizer step without its hooks"),
    }
)
_UNPREDICTED: Final = MappingProxyType(
    {
        Unpredicted.NOTHING: "",
        Unpredicted.NO_PLAN: N_("no prediction: the job has not made its first optimizer step"),
        Unpredicted.UNREAD: N_("no prediction yet: plans of many ranks are read a few at a time"),
        Unpredicted.PLAN_BROKEN: N_("no prediction: the plan cannot be read ({detail})"),
        Unpredicted.PLAN_CUT: N_("no prediction: the plan holds {detail} parameters"),
        Unpredicted.WRAPPER: N_("no prediction: no rule for {detail}"),
        Unpredicted.ZERO: N_("no prediction under DeepSpeed: no rule for {detail}"),
        Unpredicted.PLACEMENT: N_("no prediction: no rule for {detail}"),
        Unpredicted.DTYPE: N_("no prediction: {detail}"),
        Unpredicted.FLAT: N_("no prediction of weights: FSDP1 pads them in a flat parameter out of sight"),
        Unpredicted.OPTIMIZER: N_("no prediction of the optimizer: no rule for {detail}"),
    }
)
_ZERO_LACKS: Final[Mapping[str, str]] = MappingProxyType(
    {
        ZeroLack.OFFLOADED: N_("offloaded gradients"),
        ZeroLack.ELSEWHERE: N_("gradients beside other parallelism"),
        ZeroLack.SCATTERED: N_("gradients without contiguous buffers"),
        ZeroLack.ACCUMULATED: N_("gradients that accumulate in another dtype"),
        ZeroLack.ALIGNED: N_("aligned parameters"),
        ZeroLack.QUANTIZED: N_("quantized weights"),
    }
)
_FAULTS: Final = MappingProxyType(
    {
        Fault.MISSING: N_("is not there"),
        Fault.UNREADABLE: N_("cannot be read"),
        Fault.SYMLINK: N_("is a link; links are not followed"),
        Fault.NOT_A_FILE: N_("is not a file"),
        Fault.FOREIGN: N_("belongs to somebody else"),
        Fault.EMPTY: N_("is empty"),
        Fault.TRUNCATED: N_("is cut short"),
        Fault.OVERSIZED: N_("is larger than any ring"),
        Fault.NOT_A_RING: N_("is no ring"),
        Fault.WRONG_ENDIAN: N_("is from a machine of the other byte order"),
        Fault.WRONG_VERSION: N_("is from another version of the probe"),
        Fault.WRONG_LAYOUT: N_("has a layout that no ring has"),
        Fault.TORN: N_("is being written, or damaged"),
    }
)


def category_name(category: str) -> str:
    """A category as a legend calls it."""
    return tr(_CATEGORIES[category])


def state_name(state: RankState) -> str:
    """Running, exited or lost."""
    return tr(_STATES[state])


def verdict_text(verdict: Verdict) -> str:
    """The state, or what happened where there is more to say; a signal's name in brackets."""
    sentence = _WHATS.get(verdict.what)
    if sentence is None:
        return state_name(verdict.state)
    text = tr(sentence, detail=verdict.detail)
    return f"{text} ({verdict.detail})" if verdict.detail and "{detail}" not in sentence else text


def verdict_role(verdict: Verdict) -> str:
    """The colour of a verdict, which never stands alone."""
    if verdict.what is What.FINISHED:
        return "dim"
    if verdict.state is RankState.RUNNING:
        return "ok" if verdict.what is What.NOTHING else "warn"
    return "error"


def reason_text(reason: Reason) -> str:
    """Why something is not available."""
    return tr(_REASONS[reason])


def unpredicted_text(reason: Unpredicted, detail: str) -> str:
    """Why there is no prediction; empty where there is one."""
    if reason is Unpredicted.ZERO:
        detail = tr(_ZERO_LACKS.get(detail, detail))
    return tr(_UNPREDICTED[reason], detail=detail) if _UNPREDICTED[reason] else ""


def fault_text(fault: Fault) -> str:
    """What is wrong with a file or a folder."""
    return tr(_FAULTS[fault])
