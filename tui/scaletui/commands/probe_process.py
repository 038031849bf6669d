"""Why a process has no ring, as far as the process table tells anybody: nothing is asked of the process."""

from __future__ import annotations

import os
from typing import Final

from scaletui.commands.process_rings import children
from scaletui.text.language import tr
from scaletui_probe.directory import VARIABLE

PROC: Final = "/proc"
AUTOSTART: Final = b"scaletui_probe/autostart"
MOST_ENVIRONMENT: Final = 1 << 20
PTRACE_SCOPE: Final = f"{PROC}/sys/kernel/yama/ptrace_scope"


def why_no_ring(pid: int, proc: str = PROC) -> str:
    """One line: there is none such, it is somebody else's, it lives in another container, it is no Python,
    or it is one that the probe was never in."""
    place = f"{proc}/{pid}"
    try:
        owner = os.stat(place).st_uid
    except OSError:
        return tr("there is no process {pid} here", pid=pid)
    if owner != os.geteuid():
        return tr("it belongs to user {owner}, not to {own}", owner=owner, own=os.geteuid())
    files, own = (_link(f"{process}/ns/mnt") for process in (place, f"{proc}/self"))
    if files and own and files != own:
        return tr("it lives in another container: share the folder of the rings with it")
    program = _program(place)
    if not program.startswith(("python", "pypy")):
        return tr("it runs {program}, not Python", program=program or "?")
    if rings_of_environment(pid, proc):
        return _starting(pid, proc)
    return tr("it is a Python that was started without the probe, or has not stepped an optimizer yet")


def rings_of_environment(pid: int, proc: str = PROC) -> str:
    """Where a process was told to put its ring; empty where it was started without the probe."""
    try:
        with open(f"{proc}/{pid}/environ", "rb") as file:
            words = file.read(MOST_ENVIRONMENT).split(b"\0")
    except OSError:
        return ""
    name = f"{VARIABLE}=".encode()
    folder = next((word[len(name) :] for word in words if word.startswith(name)), b"")
    is_armed = any(word.startswith(b"PYTHONPATH=") and AUTOSTART in word for word in words)
    return os.fsdecode(folder) if is_armed else ""


def _starting(pid: int, proc: str) -> str:
    """The probe is in it: what it waits for; of a launcher, which processes do."""
    ranks = [str(child) for child in children(pid, proc) if rings_of_environment(child, proc)]
    if ranks:
        return tr(
            "it is a launcher: its processes {pids} have made no optimizer step yet", pids=", ".join(ranks)
        )
    return tr("the probe is in it: a ring comes with its first optimizer step")


def tracing_rights() -> str:
    """What a debugger would need here; the probe needs none of it."""
    try:
        with open(PTRACE_SCOPE, encoding="ascii") as file:
            scope = file.read(8).strip()
    except OSError:
        scope = "?"
    return tr(
        "py-spy needs CAP_SYS_PTRACE for it (ptrace_scope is {scope}); scaletui needs none", scope=scope
    )


def _link(path: str) -> str:
    """Where a link of the process table leads; empty where that may not be seen."""
    try:
        return os.readlink(path)
    except OSError:
        return ""


def _program(place: str) -> str:
    """The file it runs, or what it was called as where that may not be seen."""
    path = _link(f"{place}/exe").removesuffix(" (deleted)")
    if not path:
        try:
            with open(f"{place}/cmdline", "rb") as file:
                path = file.read(4096).split(b"\0", 1)[0].decode("utf-8", "replace")
        except OSError:
            return ""
    return "".join(character for character in os.path.basename(path) if character.isprintable())
