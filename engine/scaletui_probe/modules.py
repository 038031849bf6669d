"""The job's outermost modules, known from PyTorch's own notice of a module that gets a child.

The notice is given while a model is built and never in a forward or backward pass, so that compiled
graphs and the time of a step stay as they are. Only weak references are kept.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_WRAPPER_PARTS = ("module.", "_orig_mod.", "_fsdp_wrapped_module.", "_checkpoint_wrapped_module.")


class ModuleWatch:
    """Remembers which modules have children, and what they are children of."""

    def __init__(self) -> None:
        self._parents: dict[int, weakref.ref[Any]] = {}
        self._known: dict[int, weakref.ref[Any]] = {}
        self._outermost: list[weakref.ref[Any]] | None = None

    def registered(self, parent: Any, _name: str, child: Any) -> None:
        """PyTorch's module registration hook: it may not raise, and returning None leaves the child as it
        is."""
        try:
            reference = weakref.ref(parent, self._forget(id(parent)))
            self._known[id(parent)] = reference
            if child is not None:
                self._parents[id(child)] = reference
            self._outermost = None
        except Exception:
            return

    def _forget(self, key: int) -> Callable[[object], None]:
        def forget(_reference: object) -> None:
            self._known.pop(key, None)
            self._parents.pop(key, None)
            self._outermost = None

        return forget

    def outermost(self) -> list[Any]:
        """The modules that have children and no living parent."""
        if self._outermost is None:
            self._outermost = [
                reference for key, reference in list(self._known.items()) if not self._has_parent(key)
            ]
        alive = [reference() for reference in self._outermost]
        return [module for module in alive if module is not None]

    def _has_parent(self, key: int) -> bool:
        parent = self._parents.get(key)
        return parent is not None and parent() is not None


def named_parameters(modules: list[Any]) -> Iterator[tuple[str, Any]]:
    """Parameters with the names they have without the wrappers of DDP, FSDP1, compile and checkpointing."""
    for module in modules:
        for name, parameter in module.named_parameters():
            yield plain_name(name), parameter


def plain_name(name: str) -> str:
    """The name without the parts that wrappers put in."""
    if name.startswith(_WRAPPER_PARTS[0]):
        name = name[len(_WRAPPER_PARTS[0]) :]
    for part in _WRAPPER_PARTS[1:]:
        name = name.replace(part, "")
    return name
