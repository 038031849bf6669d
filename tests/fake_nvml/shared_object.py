"""Builds the made-up libnvidia-ml.so.1 where there is a C compiler."""

from __future__ import annotations

import re
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

SOURCE = Path(__file__).with_name("nvml.c")
_DEFINED = re.compile(r"\b(nvml\w+)\(|FIGURE\((nvml\w+),")
_CALLED = re.compile(r'_nvmlGetFunctionPointer\("(nvml\w+)"\)')


def compiler() -> str | None:
    """A C compiler, where there is one."""
    return shutil.which("gcc") or shutil.which("cc")


def build(folder: Path, binding: Path | None = None) -> Path | None:
    """The folder for LD_LIBRARY_PATH; None without a compiler. Calls of `binding`, a pynvml.py, get stubs."""
    cc = compiler()
    if cc is None:
        return None
    stubs = folder / "stubs.c"
    stubs.write_text("\n".join(f"int {name}(void) {{ return 3; }}" for name in _missing(binding)) + "\n")
    library = folder / "libnvidia-ml.so.1"
    command = [cc, "-O2", "-shared", "-fPIC", "-o", str(library), str(SOURCE), str(stubs), "-lm"]
    subprocess.run(command, check=True)
    return folder


def _missing(binding: Path | None) -> list[str]:
    """Functions that the binding may call and the source does not define."""
    if binding is None:
        spec = find_spec("pynvml")
        binding = Path(spec.origin) if spec is not None and spec.origin else None
    called = set(_CALLED.findall(binding.read_text(encoding="utf-8"))) if binding is not None else set()
    defined = {name for pair in _DEFINED.findall(SOURCE.read_text(encoding="utf-8")) for name in pair if name}
    return sorted(called - defined)
