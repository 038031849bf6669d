"""Arming every Python of an environment: files beside its packages that its start-up reads.

Python up to 3.14 runs the `import` line of `scaletui_probe.pth`; Python 3.15 and later call the entry point
of `scaletui_probe.start` and leave that line out (PEP 829). Both lead to a small module that knows where the
probe lies.
"""

from __future__ import annotations

import os
from typing import NamedTuple

MODULE = "scaletui_probe_start"
_MODULE_TEXT = '''"""Arms scaletui's probe; see `scaletui probe install` and `scaletui probe remove`."""

import os
import sys

PLACE = {place!r}


def arm():
    """Load the probe from its place and arm it; do nothing when it is not there any more."""
    if sys.version_info < (3, 9) or os.environ.get("SCALETUI_DISABLE"):
        return
    try:
        if "scaletui_probe" not in sys.modules:
            sys.path.insert(0, PLACE)
            try:
                __import__("scaletui_probe")
            finally:
                sys.path.remove(PLACE)
        sys.modules["scaletui_probe"].start()
    except Exception:
        return
'''


class Installed(NamedTuple):
    """What an environment's folder of packages holds of ours."""

    folder: str
    present: tuple[str, ...]
    missing: tuple[str, ...]
    place: str
    """The folder that the probe is loaded from; empty when that is not known."""

    @property
    def complete(self) -> bool:
        """Whether every file is there."""
        return not self.missing


def _texts(place: str) -> dict[str, str]:
    return {
        f"{MODULE}.py": _MODULE_TEXT.format(place=place),
        "scaletui_probe.pth": f"import {MODULE}; {MODULE}.arm()\n",
        "scaletui_probe.start": f"{MODULE}:arm\n",
    }


def probe_place() -> str:
    """The folder that holds this package."""
    return os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def install(folder: str) -> Installed:
    """Write the files into an environment's folder of packages; raises OSError."""
    for name, text in _texts(probe_place()).items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
    return status(folder)


def remove(folder: str) -> Installed:
    """Take the files away again; what is not there is no mistake. Raises OSError."""
    before = status(folder)
    for name in before.present:
        os.unlink(os.path.join(folder, name))
    return before


def status(folder: str) -> Installed:
    """Which of the files are there."""
    names = tuple(_texts(""))
    present = tuple(name for name in names if os.path.lexists(os.path.join(folder, name)))
    missing = tuple(name for name in names if name not in present)
    return Installed(folder, present, missing, _place_in(os.path.join(folder, f"{MODULE}.py")))


def _place_in(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            line = next((line for line in file if line.startswith("PLACE = ")), "")
    except OSError:
        return ""
    return line[len("PLACE = ") :].strip().strip("'\"")
