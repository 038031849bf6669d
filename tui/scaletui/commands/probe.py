"""`scaletui probe install|remove|status`: arming every job of an environment, and taking that back."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scaletui.text.language import N_, tr
from scaletui_engine.errors import ParseError, ValueRangeError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Sequence
    from typing import TextIO

    from scaletui.commands.process_rings import ProcessRing
    from scaletui_probe.install import Installed

HELP: Final = N_("arm every job of a Python environment, or take that back")

ACTIONS: Final = ("install", "remove", "status")
_WHERE: Final = "import sysconfig; print(sysconfig.get_path('purelib'))"
NO_RING: Final = 1
MOST_RANKS: Final = 8
"""Ranks of a launcher that are named."""


def add_arguments(parser: ArgumentParser) -> None:
    """What to do, in which environment; or which process to look for."""
    parser.add_argument("action", choices=ACTIONS, help=tr("what to do"))
    parser.add_argument("--python", metavar="PATH", help=tr("the environment's Python (else this one)"))
    parser.add_argument("--pid", type=int, metavar="N", help=tr("with status: whether a process has a ring"))
    parser.add_argument("--dir", metavar="D", help=tr("folder of the rings"))


def run(args: Namespace) -> int:
    """Do it and say what is now there."""
    if args.pid is not None:
        if args.action != "status":
            raise ParseError(tr("--pid goes with status, not with {action}", action=args.action))
        return about_process(args.pid, args.dir)
    from scaletui_probe import install

    folder = packages_folder(args.python)
    found: Installed = getattr(install, args.action)(folder)
    print(_sentence(args.action, found))
    return 0


def packages_folder(python: str | None) -> str:
    """The folder of packages of a Python; ParseError when it is none."""
    if python is None:
        return sysconfig.get_path("purelib")
    try:
        done = subprocess.run([python, "-I", "-c", _WHERE], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise ParseError(tr("{path} is no Python that runs", path=python)) from error
    folder = done.stdout.strip()
    if not os.path.isabs(folder):
        raise ParseError(tr("{path} is no Python that runs", path=python))
    return folder


def _sentence(action: str, found: Installed) -> str:
    if action == "remove":
        if not found.present:
            return tr("nothing to remove in {folder}", folder=found.folder)
        return tr("removed from {folder}: {files}", folder=found.folder, files=", ".join(found.present))
    if found.complete:
        return tr(
            "every Python of {folder} arms the probe of {place}", folder=found.folder, place=found.place
        )
    if found.present:
        return tr(
            "incomplete in {folder}: {files} missing", folder=found.folder, files=", ".join(found.missing)
        )
    return tr("not installed in {folder}", folder=found.folder)


def about_process(pid: int, directory: str | None) -> int:
    """Say where a process's ring is, or those of the ranks that it launched; the exit code."""
    folder, rings = process_rings(pid, directory)
    if not rings:
        return lacking(pid, folder, sys.stdout)
    if whose := relation(pid, rings):
        print(whose)
    for ring in rings:
        print(tr("process {pid} has a ring: {path}", pid=ring.pid, path=ring.path))
    return 0


def process_rings(pid: int, directory: str | None) -> tuple[Path, tuple[ProcessRing, ...]]:
    """The folder that was searched, and the rings in it that belong to a process. Raises ValueRangeError."""
    if pid < 1:
        raise ValueRangeError(f"--pid {pid} < 1")
    from scaletui.commands.process_rings import rings_of
    from scaletui_probe.directory import ring_directory

    folder = Path(ring_directory(directory, os.environ))
    return folder, rings_of(pid, folder)


def _is_above(pid: int, other: int) -> bool:
    from scaletui.commands.process_rings import ancestors

    return pid in ancestors(other)


def relation(pid: int, rings: Sequence[ProcessRing]) -> str:
    """What a process is to rings that are not its own; empty for its own."""
    if any(ring.pid == pid for ring in rings):
        return ""
    ranks = [tr("{rank} (process {pid})", rank=ring.rank, pid=ring.pid) for ring in rings[:MOST_RANKS]]
    if len(rings) > MOST_RANKS:
        ranks.append(tr("{n} more", n=len(rings) - MOST_RANKS))
    if _is_above(pid, rings[0].pid):
        return tr("process {pid} stands above ranks {ranks}", pid=pid, ranks=", ".join(ranks))
    return tr("process {pid} is a worker of rank {ranks}", pid=pid, ranks=ranks[0])


def lacking(pid: int, folder: Path, out: TextIO) -> int:
    """Say why a process cannot have a ring now and what to do instead; the exit code."""
    from scaletui.commands.probe_process import rings_of_environment, tracing_rights, why_no_ring

    print(tr("process {pid} has no ring in {folder}", pid=pid, folder=folder), file=out)
    print(why_no_ring(pid), file=out)
    if place := rings_of_environment(pid):
        if place != str(folder):
            print(tr("its ring lies in {folder}: --dir {folder}", folder=place), file=out)
        return NO_RING
    for line in (
        tr("scaletui puts no code into a running process: that stops jobs or corrupts their numbers"),
        tr("start the job again with: scaletui run -- CMD"),
        tr("py-spy dump tells without harm where a process hangs now"),
        tracing_rights(),
    ):
        print(line, file=out)
    return NO_RING
