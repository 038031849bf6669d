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


def put_torch(folder: Path, files: Mapping[str, str]) -> None:
    """Write the package into a folder."""
    for name, text in files.items():
        path = folder / "torch" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
