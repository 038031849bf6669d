"""Guest in a training job: publishes memory and step numbers; standard library only, silent when in
doubt."""

__all__ = ["start"]


def start() -> None:
    """Watch this process from now on: write its ring at once when torch is loaded, else at the first
    optimizer step.

    For jobs that are not started by `scaletui run`. Call it before the model is built, so that buffers
    and frozen weights are counted too. Calling it again does nothing.
    """
    from scaletui_probe.arming import arm

    arm()
