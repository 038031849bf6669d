"""The hooks on PyTorch's optimizers, and how the first step starts the agent.

They are PyTorch's global step hooks, looked up at every step, so that optimizers made earlier have them
too. Nothing of a module is hooked: not its passes, not its making. While torch.compile traces an optimizer
step they leave a note and do nothing else: to the compiler both are constants, so that graphs stay the same.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from scaletui_probe.layout import Reason

if TYPE_CHECKING:
    from scaletui_probe.agent import Agent


_TORCH: Any = None


def _is_traced() -> bool:
    """Whether torch.compile is tracing: to it this is a constant, and the hook stays out of its graphs."""
    is_compiling = getattr(getattr(_TORCH, "compiler", None), "is_compiling", None)
    return is_compiling is not None and bool(is_compiling())


def _note_tracing() -> None:
    """Called by torch.compile itself, once for each trace of a step; what is compiled does not call it."""
    if HOOKS is not None:
        HOOKS.traced()


_note_tracing._dynamo_marked_constant = True  # type: ignore[attr-defined]  # as assume_constant_result does


def _are_taken_off() -> bool:
    """Whether the step of AdamW is marked as hooked without being the function that calls hooks."""
    step: Any = getattr(getattr(sys.modules.get("torch.optim"), "AdamW", None), "step", None)
    code = getattr(step, "__code__", None)
    return bool(getattr(step, "hooked", False)) and getattr(code, "co_name", "wrapper") != "wrapper"


class StepHooks:
    """Stands between PyTorch and the agent; makes the agent at the first step."""

    def __init__(self) -> None:
        self.agent: Agent | None = None
        self.failed = False
        self._gone = False

    def before(self, optimizer: Any, _arguments: Any, _named: Any) -> None:
        """PyTorch's global step pre-hook."""
        if _is_traced():
            _note_tracing()
            return
        agent = self.agent
        if agent is None:
            agent = self.start()
        if agent is None or agent.quiet:
            return
        try:
            agent.before_step(optimizer)
        except Exception as error:
            agent.swallow(error)

    def after(self, optimizer: Any, _arguments: Any, _named: Any) -> None:
        """PyTorch's global step post-hook."""
        if _is_traced():
            return
        agent = self.agent
        if agent is None or agent.quiet:
            return
        try:
            agent.after_step(optimizer)
        except Exception as error:
            agent.swallow(error)

    def look_whether_gone(self) -> None:
        """Take steps for unseen when torch.compile has taken the hooks off PyTorch's optimizers."""
        if not self._gone and _are_taken_off():
            self._gone = True
            self.traced()

    def traced(self) -> None:
        """A step is being compiled: say so, in a ring that this may begin."""
        agent = self.start()
        if agent is None or agent.quiet:
            return
        try:
            agent.steps_go_unseen(Reason.COMPILED)
        except Exception as error:
            agent.swallow(error)

    def start(self) -> Agent | None:
        """The agent, made now; None when it cannot be: then this process goes unseen, and on."""
        if self.failed or self.agent is not None:
            return self.agent
        self.failed = True
        try:
            from scaletui_probe.lifecycle import begin

            self.agent = begin(os.environ)
            self.failed = False
        except Exception:
            return None
        return self.agent


HOOKS: StepHooks | None = None


def register() -> StepHooks | None:
    """Register the hooks, once; None while PyTorch's optimizers are not loaded or are too old to have
    such hooks."""
    global HOOKS, _TORCH
    optimizer: Any = sys.modules.get("torch.optim.optimizer")
    before = getattr(optimizer, "register_optimizer_step_pre_hook", None)
    after = getattr(optimizer, "register_optimizer_step_post_hook", None)
    if HOOKS is not None or before is None or after is None:
        return HOOKS
    _TORCH = sys.modules["torch"]
    HOOKS = StepHooks()
    before(HOOKS.before)
    after(HOOKS.after)
    return HOOKS
