"""Waits until the program itself has imported torch.optim, then registers the hooks; never imports torch.

It stands first among the finders of imports, finds nothing itself, and looks only at names that begin
with "torch.": while torch.optim loads its submodules, the first question after `torch.optim.optimizer` is
complete is the moment.
"""

from __future__ import annotations

import sys

_MODULE = "torch.optim.optimizer"


class OptimizerWatch:
    """A finder that only watches."""

    done = False

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> None:
        """Importlib's question for a module: answered with None always."""
        if not self.done and name.startswith("torch.") and _is_loaded():
            self.done = True
            register_quietly()


def _is_loaded() -> bool:
    spec = getattr(sys.modules.get(_MODULE), "__spec__", None)
    return spec is not None and not getattr(spec, "_initializing", False)


def register_quietly() -> None:
    """Register the hooks; an error of ours is no reason for an import of the job to fail."""
    try:
        from scaletui_probe.hooks import register

        register()
    except Exception:
        return


def arm() -> None:
    """Register now when torch.optim is there, else when it will be."""
    if _is_loaded():
        register_quietly()
    elif not any(isinstance(finder, OptimizerWatch) for finder in sys.meta_path):
        sys.meta_path.insert(0, OptimizerWatch())
