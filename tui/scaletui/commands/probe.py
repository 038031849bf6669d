"""`scaletui probe install|remove|status`: arming every job of an environment, and taking that back."""

from __future__ import annotations

import os
import subprocess
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scaletui.text.language import N_, tr
from scaletui_engine.errors import ParseError, ValueRangeError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from scaletui_probe.install import Installed

HELP: Final = N_("arm every job of a Python environment, or take that back")

ACTIONS: Final = ("install", "remove", "status")
_WHERE: Final = "import sysconfig; print(sysconfig.get_path('purelib'))"
NO_RING: Final = 1


def add_arguments(parser: ArgumentParser) -> None:
    """What to do, in which environment; or which process to look for."""
    parser.add_argument("action", choices=ACTIONS, help=tr("what to do"))
    parser.add_argument("--python", metavar="PATH", help=tr("the environment's Python (else this one)"))
    parser.add_argument("--pid", type=int, metavar="N", help=tr("with status: whether a process has a ring"))
    parser.add_argument("--dir", metavar="D", help=tr("folder of the rings"))


def run(args: Namespace) -> int:
    """Do it and say what is now there."""
    if args.pid is not None:
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
    """Say where a process's ring is, or why it cannot have one now and what to do instead; the exit code."""
    if pid < 1:
        raise ValueRangeError(f"--pid {pid} < 1")
    from scaletui.commands.probe_process import tracing_rights, why_no_ring
    from scaletui_probe.directory import ring_directory
    from scaletui_probe.process import start_ticks

    folder = Path(ring_directory(directory, os.environ))
    rings = sorted(folder.glob(f"*.p{pid}.{start_ticks(pid)}.ring"))
    if rings:
        print(tr("process {pid} has a ring: {path}", pid=pid, path=rings[0]))
        return 0
    print(tr("process {pid} has no ring in {folder}", pid=pid, folder=folder))
    print(why_no_ring(pid))
    print(tr("scaletui puts no code into a running process: that stops jobs or corrupts their numbers"))
    print(tr("start the job again with: scaletui run -- CMD"))
    print(tr("py-spy dump tells without harm where a process hangs now"))
    print(tracing_rights())
    return NO_RING
