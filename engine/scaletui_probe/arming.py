"""Waits until the program itself has imported torch.optim, then registers the hooks; never imports torch.

It stands first among the finders of imports, finds nothing itself, and looks only at names that begin
with "torch.": while torch.optim loads its submodules, the first question after `torch.optim.optimizer` is
complete is the moment. Afterwards it looks at the imports of a compilation: in versions of PyTorch that had
TorchPatcher.patch (torch/_dynamo/eval_frame.py) unwrap the steps of PyTorch's own optimizers, torch.compile
has taken the hooks away by then.
"""

from __future__ import annotations

import sys

_MODULE = "torch.optim.optimizer"
_COMPILATION = ("torch._dynamo.", "torch._inductor", "torch._functorch")


class OptimizerWatch:
    """A finder that only watches."""

    done = False

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> None:
        """Importlib's question for a module: answered with None always."""
        if self.done:
            if name.startswith(_COMPILATION):
                _look_whether_hooks_are_gone()
        elif name.startswith("torch.") and _is_loaded():
            self.done = True
            register_quietly()


def _look_whether_hooks_are_gone() -> None:
    try:
        hooks = sys.modules["scaletui_probe.hooks"].HOOKS
        if hooks is not None:
            hooks.look_whether_gone()
    except Exception:
        return


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
