"""Receives as late as may be: next to their consumer, or before a send to the same peer from the lower rank.

pytorch/pytorch#178815: a receive that waits can block sends and gathers behind it. Where both ends of a
link would send first, neither may ever receive (pytorch/pytorch#172668); so the lower rank receives first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.errors import ScenarioError
from scaletui_engine.schedule import code as codes
from scaletui_engine.schedule.action import decode
from scaletui_engine.schedule.kind import Kind
from scaletui_engine.schedule.lowering.peers import stage_of

if TYPE_CHECKING:
    from scaletui_engine.schedule.code import Code
    from scaletui_engine.schedule.lowering.peers import Homes

_FORWARD_KINDS = (Kind.FORWARD,)
_BACKWARD_KINDS = (Kind.INPUT_GRAD, Kind.BACKWARD)


def defer_receives(row: list[Code], rank: int, homes: Homes) -> list[Code]:
    """The row with its RECV moved. Raises ScenarioError for a RECV that nothing consumes."""
    moved: list[Code] = []
    held: list[Code] = []
    for index, code in enumerate(row):
        kind = code & codes.KIND_MASK
        if kind in (Kind.RECV_F, Kind.RECV_B):
            held.append(code)
            continue
        due: list[Code] = []
        if kind in (Kind.SEND_F, Kind.SEND_B) and rank < (peer := homes.peer(code)):
            due = [receive for receive in held if homes.peer(receive) == peer]
        elif not (index and row[index - 1] & codes.OVERLAP_BIT):
            cell = row[index : index + 2] if code & codes.OVERLAP_BIT else [code]
            due = [receive for part in cell for receive in _consumed(part) if receive in held]
        held = [receive for receive in held if receive not in due]
        moved += [*due, code]
    if held:
        raise ScenarioError(f"rank {rank}: nothing consumes {', '.join(str(decode(code)) for code in held)}")
    return moved


def _consumed(code: Code) -> tuple[Code, ...]:
    kind, stage, microbatch = code & codes.KIND_MASK, stage_of(code), code >> codes.MICROBATCH_SHIFT
    if kind in _FORWARD_KINDS:
        return (codes.encode(Kind.RECV_F, stage, microbatch),)
    if kind in _BACKWARD_KINDS:
        return (codes.encode(Kind.RECV_B, stage, microbatch),)
    return ()
