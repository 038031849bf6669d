"""How the agent begins and ends in a process: thread, fork, exceptions, exit, out of memory."""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from scaletui_probe.agent import Agent, Happening
from scaletui_probe.layout import Event, Mode
from scaletui_probe.settings import Settings, settings_from

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

_JOIN_TIMEOUT_S = 1.0


def begin(environ: Mapping[str, str]) -> Agent:
    """Make the agent and everything that calls it; raises what the making raises."""
    agent = Agent(_possible(settings_from(environ)))
    sampler = Sampler(agent)
    if agent.settings.mode is Mode.THREAD:
        sampler.start()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=agent.leave)
    agent.tell_when_on_device(lambda: watch_out_of_memory(agent))
    _chain_excepthook(agent)
    atexit.register(_end, agent, sampler)
    return agent


def _possible(settings: Settings) -> Settings:
    """Hooks alone where Python runs without its lock: the thread may look at tensors only because that lock
    keeps the training thread from changing them meanwhile."""
    is_locked = getattr(sys, "_is_gil_enabled", None)
    return settings if is_locked is None or is_locked() else settings._replace(mode=Mode.HOOKS)


class Sampler(threading.Thread):
    """Samples at the agent's interval until it is stopped or the agent goes quiet."""

    def __init__(self, agent: Agent) -> None:
        super().__init__(name="scaletui-probe", daemon=True)
        self._agent = agent
        self._stopped = threading.Event()

    def run(self) -> None:
        """The thread's work."""
        agent = self._agent
        while not self._stopped.wait(agent.settings.interval_s) and not agent.quiet:
            try:
                agent.sample()
            except Exception as error:
                agent.swallow(error)
            agent.thread_cpu_ns = time.thread_time_ns()

    def stop(self) -> None:
        """End the thread and wait for it a moment."""
        self._stopped.set()
        if self.is_alive():
            self.join(_JOIN_TIMEOUT_S)


def _report(agent: Agent, happening: Happening) -> None:
    if agent.quiet:
        return
    try:
        agent.happened(happening)
    except Exception as error:
        agent.swallow(error)


def _end(agent: Agent, sampler: Sampler) -> None:
    if agent.quiet:
        return  # maybe in a forked child, where a lock of the thread may be closed for good
    sampler.stop()
    agent.quiet = True
    with suppress(Exception):
        agent.finish()


def _chain_excepthook(agent: Agent) -> None:
    """Note an uncaught exception, then let the hook that was there do its work."""
    earlier = sys.excepthook

    def excepthook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        _report(agent, Happening(Event.EXCEPTION, text=kind.__name__))
        earlier(kind, error, trace)

    sys.excepthook = excepthook


def watch_out_of_memory(agent: Agent) -> None:
    """Ask PyTorch to tell when its allocator finds no memory.

    PyTorch initialises CUDA for this, so it is asked only once the job has; it cannot be taken back; and an
    observer that raises ends the training, so that this one lets nothing through, not even an interrupt.
    """
    core: Any = getattr(sys.modules.get("torch"), "_C", None)
    attach = getattr(core, "_cuda_attach_out_of_memory_observer", None)
    if attach is None:
        return

    def observer(_device: int, asked: int, _allocated: int, free: int) -> None:
        try:
            _report(agent, Happening(Event.OOM, (int(asked), int(free))))
        except BaseException:
            return

    attach(observer)
