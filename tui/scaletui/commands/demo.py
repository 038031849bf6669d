"""`scaletui demo fsdp|ddp`: a small real training job with the probe in it, and the live screen on it."""

from __future__ import annotations

import os
import sys
import time
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from scaletui.text.language import N_, tr
from scaletui_engine.errors import ScenarioError, ValueRangeError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from scaletui.demo.job import DemoPlan

HELP: Final = N_("run a small real training job, and watch it")
KINDS: Final = ("fsdp", "ddp")
MOST_RANKS: Final = 64


def add_arguments(parser: ArgumentParser) -> None:
    """fsdp or ddp, --ranks, --steps, --no-screen, --dir."""
    parser.add_argument("kind", choices=KINDS, help=tr("how the ranks hold the model"))
    parser.add_argument("--ranks", type=int, default=2, metavar="N", help=tr("processes (2)"))
    parser.add_argument("--steps", type=int, default=0, metavar="N", help=tr("steps (until it is ended)"))
    parser.add_argument("--no-screen", action="store_true", help=tr("run the job alone"))
    parser.add_argument("--dir", metavar="D", help=tr("folder of the rings"))


def run(args: Namespace) -> int:
    """Run the job, with the screen or alone; its exit code when it failed."""
    plan = _plan(args)
    if find_spec("torch") is None:
        raise ScenarioError(tr("the demo trains with PyTorch: pip install 'scaletui[torch]'"))
    return _alone(plan) if args.no_screen else _with_screen(plan, args)


def _plan(args: Namespace) -> DemoPlan:
    from scaletui.demo.job import DemoPlan

    if not 1 <= args.ranks <= MOST_RANKS:
        raise ValueRangeError(f"--ranks {args.ranks} is not in 1 to {MOST_RANKS}", "--ranks 2")
    if args.steps < 0:
        raise ValueRangeError(f"--steps {args.steps} < 0", "--steps 100")
    return DemoPlan(args.kind, args.ranks, args.steps, args.dir)


def _alone(plan: DemoPlan) -> int:
    """Until its end, or until this process is told to leave."""
    from scaletui.demo.job import DemoJob
    from scaletui_probe.directory import ring_directory

    with DemoJob(plan, shows_output=True) as job:
        folder = ring_directory(plan.folder, os.environ)
        print(tr("launcher {pid}, rings in {folder}", pid=job.pid, folder=folder), flush=True)
        return job.wait()


def _with_screen(plan: DemoPlan, args: Namespace) -> int:
    """Until the screen is closed; what the ranks said is printed when they failed."""
    from dataclasses import replace

    from scaletui.commands.screen import open_screen, screen_options
    from scaletui.demo.job import DemoJob
    from scaletui.options import Starting

    with DemoJob(plan, shows_output=False) as job:
        command = f"scaletui demo {plan.kind} --ranks {plan.ranks}"
        starting = Starting(command, time.monotonic_ns(), job.runs)
        options = replace(screen_options(args, os.environ), mode="live", ring_dir=plan.folder)
        code = open_screen(replace(options, starting=starting))
        failed, tail = job.end(), job.tail()
    if failed:
        print(tr("the job ended with code {code}", code=failed), file=sys.stderr)
        print(tail, file=sys.stderr)
    return code or failed
