"""The names of parameters: in FSDP2's modules, as DeepSpeed or the optimizer was told, or by their place in
the optimizer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scaletui_probe import deepspeed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui_probe.states import Job

_WRAPPER_PARTS = ("module.", "_orig_mod.", "_fsdp_wrapped_module.", "_checkpoint_wrapped_module.")


def named(job: Job) -> list[tuple[str, Any]]:
    """Every parameter once, tied ones too."""
    found: dict[int, tuple[str, Any]] = {}
    for module in job.modules:
        for name, parameter in module.named_parameters():
            found.setdefault(id(parameter), (plain_name(name), parameter))
    for name, parameter in deepspeed.named(job.optimizers):
        found.setdefault(id(parameter), (plain_name(name), parameter))
    for name, parameter in _optimized(job):
        found.setdefault(id(parameter), (name, parameter))
    for position, parameter in enumerate(job.parameters()):
        found.setdefault(id(parameter), (f"parameter {position}", parameter))
    return list(found.values())


def _optimized(job: Job) -> Iterator[tuple[str, Any]]:
    """What optimizers hold: an optimizer that was made from named parameters has kept their names, others
    give "group.index", behind the optimizer's own index where there are several."""
    for number, optimizer in enumerate(job.optimizers):
        if deepspeed.owner(optimizer) is not None:
            continue
        ahead = f"{number}." if len(job.optimizers) > 1 else ""
        for group_number, group in enumerate(optimizer.param_groups):
            told = group.get("param_names") or ()
            for index, parameter in enumerate(group["params"]):
                is_told = index < len(told)
                yield plain_name(told[index]) if is_told else f"{ahead}{group_number}.{index}", parameter


def plain_name(name: str) -> str:
    """The name without the parts that the wrappers of DDP, FSDP1, compile and checkpointing put in."""
    if name.startswith(_WRAPPER_PARTS[0]):
        name = name[len(_WRAPPER_PARTS[0]) :]
    for part in _WRAPPER_PARTS[1:]:
        name = name.replace(part, "")
    return name
