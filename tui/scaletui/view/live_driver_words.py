"""The driver's words as people read them: why there is no figure, what slows a GPU, how a source is."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from scaletui.text.language import N_, tr
from scaletui.view.live_ranks import age_text
from scaletui_engine.live.driver.reading import Lack, NotAvailable, Throttle

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scaletui.view.pen import Pen
    from scaletui_engine.live.driver.reading import DriverView, SourceStatus
    from scaletui_engine.live.snapshot import Moment, RankView, Snapshot

OLD_S: Final = 3.0
"""An age that is worth a word; younger figures are as new as they get."""
_LACKS: Final = MappingProxyType(
    {
        Lack.NOT_ASKED: N_("not available: not asked yet"),
        Lack.NO_BINDING: N_("not available: nvidia-ml-py is not installed"),
        Lack.NO_DRIVER: N_("not available: no NVIDIA driver"),
        Lack.NO_PERMISSION: N_("not available: no permission"),
        Lack.NOT_SUPPORTED: N_("not available: not supported by this GPU"),
        Lack.UNIFIED: N_("not available: unified memory"),
        Lack.MIG: N_("n/a (MIG)"),
        Lack.LOST: N_("lost"),
        Lack.FAILED: N_("not available: the driver failed"),
        Lack.NO_ANSWER: N_("no answer"),
        Lack.DIED: N_("broke down"),
    }
)
_THROTTLES: Final = MappingProxyType(
    {
        Throttle.POWER_CAP: N_("power cap"),
        Throttle.HARDWARE: N_("hardware slowdown"),
        Throttle.SYNC_BOOST: N_("sync boost"),
        Throttle.SOFTWARE_THERMAL: N_("thermal slowdown"),
        Throttle.HARDWARE_THERMAL: N_("thermal slowdown"),
        Throttle.POWER_BRAKE: N_("power brake"),
        Throttle.BOARD_LIMIT: N_("board limit"),
        Throttle.RELIABILITY: N_("voltage limit"),
    }
)


def lack_text(why: NotAvailable) -> str:
    """Why there is no figure, with the driver's own words where they say more."""
    text = tr(_LACKS[why.lack])
    return f"{text} ({why.detail})" if why.detail and why.lack is not Lack.UNIFIED else text


def throttle_texts(view: DriverView) -> tuple[str, ...]:
    """What holds the clocks down, each once; nothing where the driver does not tell."""
    if isinstance(view.throttle, NotAvailable):
        return ()
    return tuple(dict.fromkeys(tr(_THROTTLES[word]) for word in view.throttle))


def ranks_text(ranks: Iterable[RankView]) -> str:
    """ "rank 3", "ranks 0, 1", "no rank"."""
    numbers = ", ".join(str(rank.identity.rank) for rank in ranks)
    if not numbers:
        return tr("no rank")
    return tr("ranks {numbers}", numbers=numbers) if "," in numbers else tr("rank {rank}", rank=numbers)


def lost_text(view: DriverView, moment: Moment, pen: Pen) -> str:
    """Since when a GPU does not answer, and what the driver says instead."""
    why = view.used
    if isinstance(why, NotAvailable) and why.lack is Lack.NO_ANSWER:
        return tr("no answer for {age}", age=age_text(view.age_s(moment), pen))
    said = why.detail if isinstance(why, NotAvailable) else ""
    text = tr("lost, last answer {age} ago", age=age_text(view.age_s(moment), pen))
    return f"{text} ({said})" if said else text


def since_text(view: DriverView, moment: Moment, pen: Pen) -> str:
    """How old the driver's last answer for a GPU is; empty while it is new."""
    age_s = view.age_s(moment)
    return "" if age_s <= OLD_S else tr("{age} old", age=age_text(age_s, pen))


def source_text(source: SourceStatus, moment: Moment, pen: Pen) -> str:
    """What is wrong with a source, and how old its last answer is; empty for one that is well."""
    age_s = source.age_s(moment)
    age = "" if age_s is None or age_s <= OLD_S else tr("{age} old", age=age_text(age_s, pen))
    fault = "" if source.fault is None else lack_text(source.fault)
    words = ", ".join(filter(None, (fault, age)))
    return f"{source.name}: {words}" if words else ""


def is_trouble(source: SourceStatus) -> bool:
    """Whether a fault is worth a warning: a machine without a driver is none."""
    quiet = (Lack.NO_BINDING, Lack.NO_DRIVER, Lack.NOT_ASKED)
    return source.fault is not None and source.fault.lack not in quiet


def trouble_facts(snapshot: Snapshot | None, pen: Pen) -> tuple[str, ...]:
    """For the header of every view: the sources that do not answer."""
    if snapshot is None:
        return ()
    return tuple(
        source_text(source, snapshot.moment, pen) for source in snapshot.sources if is_trouble(source)
    )
