"""`scaletui live --record FILE`: the screen or nothing at all, and a file of what there was to see."""

from __future__ import annotations

import sys
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final

from scaletui.commands.live import interval_of, open_live
from scaletui.text.language import language, ntr, tr
from scaletui.text.numbers import numbers_for
from scaletui_engine.errors import ValueRangeError

if TYPE_CHECKING:
    from argparse import Namespace

    from scaletui.live.recording import BackgroundRecording

STOPPED_EARLY: Final = 2


def record(args: Namespace, seconds: float | None) -> int:
    """Record until the screen is closed, or without one until Ctrl-C or for so long."""
    from scaletui.live.recording import BackgroundRecording
    from scaletui.live.watcher import INTERVAL_S

    if args.no_screen and not args.record:
        raise ValueRangeError(tr("--no-screen without --record FILE shows and keeps nothing"))
    if args.seconds is not None and not args.no_screen:
        raise ValueRangeError(tr("--for {time} wants --record FILE --no-screen with it", time=args.seconds))
    code = 0
    interval_s, notice = interval_of(args.interval)
    with BackgroundRecording(args.record, args.dir, interval_s or INTERVAL_S) as recording:
        if args.no_screen:
            print(notice, end="\n" if notice else "", file=sys.stderr)
            with suppress(KeyboardInterrupt):
                recording.wait(seconds)
        else:
            args.stopped = partial(_stopped, recording)
            code = open_live(args)
    return code or _told(recording, args.record)


def _told(recording: BackgroundRecording, path: str) -> int:
    """Say what is in the file, and what stopped it early; the exit code."""
    size = numbers_for(language()).size(recording.bytes)
    print(
        ntr(
            "{n} look recorded, {size} in {path}", "{n} looks recorded, {size} in {path}", recording.looks,
            size=size, path=path,
        )
    )  # fmt: skip
    if recording.problem is None:
        return 0
    print(f"scaletui: {_stopped(recording)}", file=sys.stderr)
    return STOPPED_EARLY


def _stopped(recording: BackgroundRecording) -> str:
    """What ended it early; empty while it goes on, and where nothing did."""
    problem = recording.problem
    if problem is None:
        return ""
    return tr("the recording stopped early: {why}", why=getattr(problem, "strerror", None) or str(problem))
