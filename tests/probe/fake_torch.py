"""A package called torch with no more than the hooks of optimizers, imported in a moment."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

FAKE_TORCH = {
    "__init__.py": "from torch import optim",
    "optim/__init__.py": "from torch.optim import optimizer\nfrom torch.optim import sgd",
    "optim/optimizer.py": """
pre, post = [], []
def register_optimizer_step_pre_hook(hook): pre.append(hook)
def register_optimizer_step_post_hook(hook): post.append(hook)
class Optimizer:
    param_groups, state = [], {}
    def step(self):
        for hook in pre: hook(self, (), {})
        for hook in post: hook(self, (), {})
""",
    "optim/sgd.py": "",
}

COMPILING_TORCH = {
    **FAKE_TORCH,
    "optim/__init__.py": "from torch.optim import optimizer\nfrom torch.optim import sgd\n"
    "from torch.optim.adamw import AdamW",
    "optim/adamw.py": """
from torch.optim.optimizer import Optimizer
class AdamW(Optimizer):
    def step(self): pass
""",
    "_dynamo/__init__.py": "",
    "_inductor/__init__.py": "",
    "optim/optimizer.py": FAKE_TORCH["optim/optimizer.py"].replace(
        "class Optimizer:",
        """
import functools
def profile_hook_step(func):
    @functools.wraps(func)
    def wrapper(self):
        for hook in pre: hook(self, (), {})
        func(self)
        for hook in post: hook(self, (), {})
    return wrapper
class Optimizer:
    def __init__(self):
        if not getattr(type(self).step, "hooked", None):
            type(self).step = profile_hook_step(type(self).step)
            type(self).step.hooked = True
""",
    ),
}
"""Hooks as `Optimizer._patch_step_function` and `profile_hook_step` of torch/optim/optimizer.py make them."""
UNWRAPPING = """
def patch():
    AdamW.step = getattr(AdamW.step, "__wrapped__", AdamW.step)
    AdamW.step.hooked = True
"""
"""What TorchPatcher.patch of torch/_dynamo/eval_frame.py did to the steps of PyTorch's optimizers."""


def put_torch(folder: Path, files: Mapping[str, str]) -> None:
    """Write the package into a folder."""
    for name, text in files.items():
        path = folder / "torch" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
