"""NVML through its binding: every call answers with a value, or with the reason why there is none.

nvidia-ml-py is imported when a driver is first asked, and need not be installed. `nvidia-smi` is never run:
it costs a process and a new initialisation of the driver each time.
"""

from __future__ import annotations

from importlib import import_module
from types import MappingProxyType
from typing import Any, Final

from scaletui_engine.live.driver.reading import Lack, NotAvailable
from scaletui_engine.live.text import safe

_LACKS: Final = MappingProxyType({
    3: Lack.NOT_SUPPORTED, 4: Lack.NO_PERMISSION, 9: Lack.NO_DRIVER, 12: Lack.NO_DRIVER,
    13: Lack.NOT_SUPPORTED, 15: Lack.LOST, 16: Lack.LOST,
})  # fmt: skip
"""nvmlReturn_t, as far as it says more than "failed". 13 is a function that an older driver lacks, 16 a GPU
that has to be reset."""


def load_binding() -> Any:
    """The module `pynvml` of nvidia-ml-py. Raises ImportError where it is not installed."""
    return import_module("pynvml")


class Nvml:
    """The calls of one binding, which may be a stand-in; NVML lets several threads call at the same time."""

    def __init__(self, binding: Any) -> None:
        self._binding = binding

    def ask(self, name: str, *arguments: object) -> Any:
        """The value of a call, or NotAvailable: what the driver refuses raises nothing."""
        function = getattr(self._binding, name, None)
        if function is None:
            return NotAvailable(Lack.NOT_SUPPORTED, f"{name} is not in this binding")
        try:
            return function(*arguments)
        except self._binding.NVMLError as error:
            return NotAvailable(_LACKS.get(error.value, Lack.FAILED), safe(str(error)))
        except UnicodeDecodeError:
            return NotAvailable(Lack.FAILED, f"{name}: not UTF-8")

    def ask_first(self, calls: tuple[tuple[str, ...], ...], *arguments: object) -> Any:
        """The first of several calls that this driver supports; further words name constants to pass on."""
        answer: Any = NotAvailable(Lack.NOT_SUPPORTED)
        for name, *constants in calls:
            more = (getattr(self._binding, constant, None) for constant in constants)
            answer = self.ask(name, *arguments, *more)
            if not isinstance(answer, NotAvailable) or answer.lack is not Lack.NOT_SUPPORTED:
                return answer
        return answer
