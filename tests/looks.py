"""Looks of a made-up job, one every half second, with everything in them that a look can hold."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from live_ranks import GIB, GPU_RANK, S
from live_rings import plan_of

from scaletui_engine.live.discovery import Place
from scaletui_engine.live.driver.reading import (
    DriverProcess,
    DriverState,
    DriverView,
    Lack,
    MigPlace,
    NotAvailable,
    SourceStatus,
    Throttle,
)
from scaletui_engine.live.evidence import RankState, Verdict, What
from scaletui_engine.live.fault import Fault, RingFault
from scaletui_engine.live.held import Held
from scaletui_engine.live.history import History
from scaletui_engine.live.plan_document import JobPlan, parse_plan
from scaletui_engine.live.snapshot import Happening, JobView, Moment, RankView, Snapshot
from scaletui_engine.live.wave import MOST, WaveSample
from scaletui_probe.layout import Event

if TYPE_CHECKING:
    from collections.abc import Iterator

PERIOD_NS = S // 2
START_NS = 1_000 * S
WALL_NS = 1_780_000_000 * S


@dataclass(frozen=True)
class Story:
    """A job of some ranks; one of them runs out of memory at a look and the others fall with it."""

    ranks: int = 2
    seed: int = 0
    fails_at: int | None = None


def looks(story: Story, count: int) -> Iterator[Snapshot]:
    """The first looks of the story."""
    chance = random.Random(story.seed)
    histories = [History() for _ in range(story.ranks)]
    plans = [parse_plan(json.dumps(plan_of(rank, story.ranks)).encode()) for rank in range(story.ranks)]
    ended: dict[int, RankView] = {}
    for number in range(count):
        moment = Moment(START_NS + number * PERIOD_NS, WALL_NS + number * PERIOD_NS)
        ranks = []
        for rank, history in enumerate(histories):
            plan = plans[rank]
            assert isinstance(plan, JobPlan)
            if rank not in ended:
                view = _rank(rank, number, history, chance)
                view = replace(view, plan=plan)
                if number == story.fails_at:
                    ended[rank] = view = _fallen(view, number, moment)
            ranks.append(ended.get(rank, view))
        yield _look(moment, tuple(ranks), chance)


def _rank(rank: int, number: int, history: History, chance: random.Random) -> RankView:
    now_ns = START_NS + number * PERIOD_NS - chance.randrange(S // 10)
    allocated = 40 * GIB + chance.randrange(GIB)
    history.add((number, now_ns, S // 3 + chance.randrange(S // 10), allocated, None))
    allocator = GPU_RANK.allocator
    assert allocator is not None
    return replace(
        GPU_RANK,
        path=f"r{rank}",
        identity=replace(GPU_RANK.identity, rank=rank, local_rank=rank, device_uuid=f"GPU-{rank}"),
        last_ns=now_ns,
        last_wall_ns=WALL_NS + number * PERIOD_NS,
        step=number,
        step_ns=S // 3 + chance.randrange(S // 10),
        measured_at_step=number,
        now=Held(10 * GIB, 0, 20 * GIB, 0, None, chance.randrange(GIB), chance.randrange(GIB)),
        allocator=replace(allocator, allocated=allocated, reserved=50 * GIB + chance.randrange(GIB)),
        history=history.recent,
        wave=tuple(map(_units, range(max(number - MOST, 0), number + 1))),
    )


def _units(number: int) -> WaveSample:
    """The one unit that is unsharded at a look: forwards through four of them, then all sharded."""
    groups = bytes([1 << number % 5]) if number % 5 < 4 else b""
    return WaveSample(START_NS + number * PERIOD_NS, number, number % 5 / 5, groups)


def _fallen(view: RankView, number: int, moment: Moment) -> RankView:
    first = view.identity.rank == 0
    what = What.OUT_OF_MEMORY if first else What.LOST_PEER
    word = "OutOfMemoryError" if first else "RuntimeError"
    told = Happening(Event.EXCEPTION, moment.wall_ns, number, (0, 0), word, 50 * GIB, view.now)
    seen = Happening(Event.OOM, moment.wall_ns - 7, number, (2 * GIB, GIB), "", 50 * GIB, view.now)
    happenings = (seen, told) if first else (told,)
    return replace(view, verdict=Verdict(RankState.EXITED, what, word), happenings=happenings)


def _look(moment: Moment, ranks: tuple[RankView, ...], chance: random.Random) -> Snapshot:
    state = max((rank.verdict.state for rank in ranks), key=(RankState.RUNNING, RankState.EXITED).index)
    job = JobView("4f2a", 0, 0, state, len(ranks), ranks)
    drivers = tuple(_driver(rank, moment, chance) for rank in range(len(ranks)))
    lost = (RingFault("/tmp/rings/x.ring", Fault.TRUNCATED, "3 bytes, a header has 4096"),)
    return Snapshot(
        moment, (job,), (Place("/tmp/rings", rings=len(ranks) + 1),), lost, drivers, _sources(moment)
    )


def _driver(index: int, moment: Moment, chance: random.Random) -> DriverView:
    return DriverView(
        uuid=f"GPU-{index}", index=index, name="H100", state=DriverState.OK, used=60 * GIB, total=80 * GIB,
        utilization=chance.randrange(101), power_mw=700_000, power_limit_mw=700_000,
        temperature_c=NotAvailable(Lack.NOT_SUPPORTED), throttle=(Throttle.POWER_CAP,),
        ecc=NotAvailable(Lack.NO_PERMISSION, "it says no"),
        processes=(DriverProcess(100 + index, NotAvailable(Lack.MIG), True),),
        read_ns=moment.monotonic_ns, mig=MigPlace(1, 0, "GPU-9") if index else None,
    )  # fmt: skip


def _sources(moment: Moment) -> tuple[SourceStatus, ...]:
    nvml = SourceStatus("NVML", None, NotAvailable(Lack.NO_DRIVER))
    return SourceStatus("rings", moment.monotonic_ns), nvml
