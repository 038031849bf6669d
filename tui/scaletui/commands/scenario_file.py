"""Reading the scenario that --scenario names: a file, or one that is shipped."""

from __future__ import annotations

import os
import stat
from functools import partial
from select import select
from typing import TYPE_CHECKING, Final

from scaletui.arguments import UsageError
from scaletui.text.language import tr
from scaletui.text.refusals import refusal
from scaletui_engine.errors import ScenarioError

if TYPE_CHECKING:
    from scaletui_engine.model import Model
    from scaletui_engine.scenario import Scenario

LARGEST: Final = 1 << 20
"""Bytes of the longest scenario file: a device or a checkpoint given by mistake is not read to its end."""

WRITER_S: Final = 5.0
"""Seconds that a pipe's writer may take to open it."""


def read_scenario(name: str) -> Scenario:
    """The valid scenario of a file, or of the shipped one of that name.

    Raises ScenarioError in one line that names the file, OSError when it cannot be read.
    """
    from scaletui_engine.scenario_file import load
    from scaletui_engine.scenarios import load_scenario

    if not _is_path(name):
        return load_scenario(name)
    try:
        return load(read_text(name, tr("larger than 1 MiB: no scenario file")), partial(_beside, name))
    except ScenarioError as error:
        raise UsageError(f"{name}: {refusal(error)}") from error


def _is_path(name: str) -> bool:
    return name.endswith(".toml") or os.sep in name or os.path.exists(name)


def _opened(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)


def _begun(handle: int) -> bytes:
    """What had to be read of a pipe to see that somebody writes into it: none is waited for without end.

    Raises UsageError.
    """
    if not stat.S_ISFIFO(os.fstat(handle).st_mode) or select([handle], [], [], WRITER_S)[0]:
        return b""
    try:
        found = os.read(handle, 1)
    except BlockingIOError:  # somebody holds it open and takes time
        return b""
    if not found:
        raise UsageError(tr("nobody writes into this pipe"))
    return found


def _beside(scenario: str, name: str) -> Model:
    """The model of a file that a scenario names, looked for from the scenario's folder."""
    from scaletui.commands.model_file import read_model_file

    return read_model_file(os.path.join(os.path.dirname(scenario), os.path.expanduser(name)))


def read_text(path: str, too_large: str) -> str:
    """A file's text; `too_large` says what it is not where it is longer than `LARGEST`.

    Raises UsageError, and OSError when it cannot be read.
    """
    with open(path, "rb", opener=_opened) as file:
        begun = _begun(file.fileno())
        os.set_blocking(file.fileno(), True)
        content = begun + file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise UsageError(too_large)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        byte, place = hex(content[error.start]), error.start
        raise UsageError(tr("no UTF-8 text: byte {byte} at {place}", byte=byte, place=place)) from None
