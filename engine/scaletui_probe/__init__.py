"""Guest in a training job: publishes memory and step numbers; standard library only, silent when in doubt."""

import sys

__all__ = ["start"]


def start() -> None:
    """Watch this process: write its ring at once when torch is loaded, else at the first optimizer step.

    For jobs that are not started by `scaletui run`. Call it before the model is built, so that buffers and
    frozen weights are counted too. Calling it again does nothing.
    """
    from scaletui_probe.arming import arm

    arm()
    hooks = sys.modules.get("scaletui_probe.hooks")
    if hooks is not None and hooks.HOOKS is not None:
        hooks.HOOKS.start()
