"""GPUs and sources as the JSON that `scaletui live --once --json` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scaletui_engine.live.driver.layers import layers
from scaletui_engine.live.driver.matching import process_of, seats
from scaletui_engine.live.driver.reading import NotAvailable

if TYPE_CHECKING:
    from scaletui_engine.live.driver.matching import Seat
    from scaletui_engine.live.driver.reading import DriverView, SourceStatus
    from scaletui_engine.live.snapshot import Moment, Snapshot


def drivers(snapshot: Snapshot) -> list[dict[str, Any]]:
    """Every GPU and MIG instance. A figure that is null has its reason in `not_available`."""
    return [_driver(seat, snapshot.moment) for seat in seats(snapshot)]


def sources(snapshot: Snapshot) -> list[dict[str, Any]]:
    """Every source with its age and what is wrong with it."""
    return [_source(source, snapshot.moment) for source in snapshot.sources]


def reason(why: NotAvailable) -> str:
    """Why there is no figure: "not available: unified memory", the driver's words in brackets."""
    return f"not available: {why.lack}" + (f" ({why.detail})" if why.detail else "")


def _driver(seat: Seat, moment: Moment) -> dict[str, Any]:
    view = seat.view
    figures = {
        "used": view.used,
        "total": view.total,
        "utilization_percent": view.utilization,
        "power_w": _scaled(view.power_mw),
        "power_limit_w": _scaled(view.power_limit_mw),
        "temperature_c": view.temperature_c,
        "throttle": [str(word) for word in view.throttle]
        if isinstance(view.throttle, tuple)
        else view.throttle,
        "ecc_uncorrected": view.ecc,
        "processes": _processes(seat),
    }
    missing = {name: reason(value) for name, value in figures.items() if isinstance(value, NotAvailable)}
    return {
        "uuid": view.uuid or None,
        "index": view.index,
        "name": view.name,
        "state": str(view.state),
        "age_s": view.age_s(moment),
        **{name: None if name in missing else value for name, value in figures.items()},
        "not_available": missing,
        "mig": _mig(view),
        "unified_host": None
        if view.host is None
        else {"total": view.host.total, "available": view.host.available},
        "ranks": [{"job": rank.identity.job_id, "rank": rank.identity.rank} for rank in seat.ranks],
        "layers": _layers(seat),
    }


def _scaled(milliwatts: int | NotAvailable) -> float | NotAvailable:
    return milliwatts if isinstance(milliwatts, NotAvailable) else milliwatts / 1000


def _processes(seat: Seat) -> list[dict[str, Any]] | NotAvailable:
    listed = seat.view.processes
    if isinstance(listed, NotAvailable):
        return listed
    owners = {id(process_of(rank, seat)): rank.identity.rank for rank in seat.ranks}
    return [
        {
            "pid": process.pid,
            "used": None if isinstance(process.used, NotAvailable) else process.used,
            "in_this_namespace": process.here,
            "rank": owners.get(id(process)),
        }
        for process in listed
    ]


def _mig(view: DriverView) -> dict[str, Any] | None:
    if view.mig is None:
        return None
    return {
        "gpu_instance": view.mig.gpu_instance,
        "compute_instance": view.mig.compute_instance,
        "gpu_uuid": view.mig.parent_uuid,
    }


def _layers(seat: Seat) -> dict[str, Any]:
    """used = outside + reserved; reserved = active + inactive split + free segments."""
    found = layers(seat.ranks, seat)
    return {
        "used": found.used,
        "outside": found.outside,
        "outside_own": found.own,
        "outside_others": found.others,
        "reserved": found.reserved,
        "active": found.active,
        "inactive_split": found.inactive_split,
        "free_segments": found.free_segments,
        "held": dict(found.held.items()),
    }


def _source(source: SourceStatus, moment: Moment) -> dict[str, Any]:
    return {
        "name": source.name,
        "age_s": source.age_s(moment),
        "fault": None if source.fault is None else reason(source.fault),
    }
