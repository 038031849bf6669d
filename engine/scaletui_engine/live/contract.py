"""A snapshot as the JSON object that `scaletui live --once --json` prints."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from scaletui_engine.live.driver import document
from scaletui_engine.live.forecast import trend_of
from scaletui_engine.live.post_mortem import last_steps, post_mortem
from scaletui_engine.live.skew import memory_spread, stragglers, time_spread
from scaletui_engine.live.suspects import suspicions
from scaletui_probe.layout import REASON_TEXT

if TYPE_CHECKING:
    from scaletui_engine.live.held import Held
    from scaletui_engine.live.skew import Spread
    from scaletui_engine.live.snapshot import Happening, JobView, Moment, RankView, Snapshot


def contract(snapshot: Snapshot) -> dict[str, Any]:
    """The object: `jobs`, where they were looked for and what could not be read, GPUs, and sources."""
    return {
        "jobs": [_job(job, snapshot.moment) for job in snapshot.jobs],
        "searched": [
            {
                "path": place.path,
                "rings": place.rings,
                "problem": place.detail or str(place.fault or "") or None,
            }
            for place in snapshot.places
        ],
        "unreadable": [
            {"path": fault.path, "problem": str(fault.fault), "detail": fault.detail}
            for fault in snapshot.faults
        ],
        "drivers": document.drivers(snapshot),
        "sources": document.sources(snapshot),
    }


def _job(job: JobView, moment: Moment) -> dict[str, Any]:
    identity = job.identity
    return {
        "id": job.id,
        "attempt": job.attempt,
        "state": str(job.state),
        "world_size": job.world_size,
        "step": job.step,
        "command": identity.command,
        "host": identity.host,
        "slurm_id": identity.slurm_id or None,
        "slurm_nodes": identity.slurm_nodes or None,
        "torch_version": identity.torch_version,
        "micro_batch": identity.micro_batch or None,
        "sequence_length": identity.sequence_length or None,
        "skew": {"memory_bytes": _spread(memory_spread(job)), "step_time_ns": _spread(time_spread(job))},
        "stragglers": [{**asdict(found), "lag": str(found.lag)} for found in stragglers(job)],
        "ranks": [_rank(rank, moment) for rank in job.ranks],
        "post_mortem": _post_mortem(job),
    }


def _post_mortem(job: JobView) -> dict[str, Any] | None:
    """How it ended, the first to fall first; None for a job that nobody has left."""
    found = post_mortem(job)
    if found is None:
        return None
    return {
        "still_there": found.still_there,
        "is_order_known": found.is_order_known,
        "out_of_memory_rank": found.out_of_memory and found.out_of_memory[0].identity.rank,
        "departures": [
            {
                "rank": item.rank.identity.rank,
                "time_s": item.wall_ns / 1e9,
                "told": item.told,
                "follows": item.follows,
                "step": item.rank.step,
                "what": str(item.rank.verdict.what) or None,
                "what_detail": item.rank.verdict.detail or None,
                "last_steps": [asdict(point) for point in last_steps(item.rank)],
            }
            for item in found.departures
        ],
    }


def _spread(spread: Spread | None) -> dict[str, int] | None:
    return None if spread is None else asdict(spread)


def _rank(rank: RankView, moment: Moment) -> dict[str, Any]:
    allocator = None if rank.allocator is None else asdict(rank.allocator)
    trend = trend_of(rank)
    return {
        "rank": rank.identity.rank,
        "pid": rank.identity.process.pid,
        "device": rank.identity.device_uuid or rank.identity.device_type,
        "state": str(rank.verdict.state),
        "what": str(rank.verdict.what) or None,
        "what_detail": rank.verdict.detail or None,
        "step": rank.step,
        "step_time_s": None if rank.step_ns is None else rank.step_ns / 1e9,
        "age_s": rank.age_s(moment),
        "measured_at_step": rank.measured_at_step,
        "measured": _held(rank.measured),
        "measured_on_host": _held(rank.on_host),
        "now": _held(rank.now),
        "predicted": _held(rank.prediction.held),
        "predicted_reason": str(rank.prediction.reason) or None,
        "predicted_detail": rank.prediction.detail or None,
        "allocator": allocator,
        "allocator_reason": None if allocator else REASON_TEXT[rank.allocator_reason],
        "sampled_peak": rank.sampled_peak,
        "resets_peak": rank.resets_peak,
        "host_rss": rank.host_rss,
        "driver_free": rank.driver_free,
        "driver_total": rank.driver_total,
        "probe_errors": rank.errors,
        "suspects": [{"suspect": str(item.suspect), "amount": item.amount} for item in suspicions(rank)],
        "trend": None if trend is None else asdict(trend),
        "events": [_happening(happening) for happening in rank.happenings],
    }


def _happening(happening: Happening) -> dict[str, Any]:
    return {
        "event": happening.event.name.lower(),
        "time_s": happening.wall_ns / 1e9,
        "step": happening.step,
        "values": list(happening.values),
        "text": happening.text or None,
        "allocated": happening.allocated,
        "held": _held(happening.held),
    }


def _held(held: Held) -> dict[str, int | None]:
    return dict(held.items())
