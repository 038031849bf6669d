"""Every schedule by name: hyphenated names have the paper's or Megatron-LM's order, class names PyTorch's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scaletui_engine.errors import UnknownNameError, ValueRangeError
from scaletui_engine.schedule.orders import (
    building_block,
    combined,
    dualpipe,
    eager,
    gpipe,
    interleaved,
    interleaved_zero_bubble,
    looped_bfs,
    naive,
    one_f_one_b,
    pipedream,
    seq1f1b,
    zb_auto,
    zb_h1,
    zb_h2,
    zb_v,
)
from scaletui_engine.schedule.placement import Placement, bidirectional, loop, vee
from scaletui_engine.schedule.schedule import Schedule, frozen_rows
from scaletui_engine.schedule.shape import check_shape

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from scaletui_engine.schedule.orders.request import Request, Rows

    Generate: TypeAlias = Callable[[Request], Rows]


@dataclass(frozen=True, slots=True)
class Entry:
    """One schedule of the catalogue."""

    name: str
    rows: Generate
    chunks: tuple[int, int | None] = (1, 1)
    """Fewest and most chunks a rank may hold; None is no limit."""
    vee: bool = False
    both_ways: bool = False
    torch: bool = False
    """Whether the name is one of PyTorch's classes."""

    @property
    def default_chunks(self) -> int:
        """What is taken when nobody says: 2 where several are the point."""
        low, high = self.chunks
        return 2 if high is None else low

    def placement(self, ranks: int, chunks: int) -> Placement:
        """Where it puts the stages."""
        if self.both_ways:
            return bidirectional(ranks)
        return vee(ranks) if self.vee else loop(ranks, chunks)


_SEVERAL: Final = (2, None)
_ANY: Final = (1, None)
_TWO: Final = (2, 2)

_ENTRIES: Final = (
    Entry("naive", naive.rows),
    Entry("gpipe", gpipe.rows),
    Entry("1f1b", one_f_one_b.rows),
    Entry("eager-1f1b", eager.rows),
    Entry("interleaved-1f1b", interleaved.rows, _SEVERAL),
    Entry("looped-bfs", looped_bfs.rows, _SEVERAL),
    Entry("zb-h1", zb_h1.rows),
    Entry("zb-h2", zb_h2.rows),
    Entry("zb-auto", zb_auto.rows),
    Entry("interleaved-zero-bubble", interleaved_zero_bubble.rows, _SEVERAL),
    Entry("zb-v", zb_v.rows, _TWO, vee=True),
    Entry("v-half", building_block.rows_half, _TWO, vee=True),
    Entry("v-min", building_block.rows_min, _TWO, vee=True),
    Entry("dualpipe", dualpipe.rows, both_ways=True),
    Entry("dualpipev", dualpipe.rows_v, _TWO, vee=True),
    Entry("seq1f1b", seq1f1b.rows),
    Entry("combined-1f1b", combined.rows, _SEVERAL),
    Entry("pipedream", pipedream.rows),
    Entry("GPipe", gpipe.rows_torch, torch=True),
    Entry("1F1B", one_f_one_b.rows_torch, torch=True),
    Entry("Interleaved1F1B", interleaved.rows_torch, _ANY, torch=True),
    Entry("LoopedBFS", looped_bfs.rows_torch, _ANY, torch=True),
    Entry("InterleavedZeroBubble", interleaved_zero_bubble.rows, _ANY, torch=True),
    Entry("ZBVZeroBubble", zb_v.rows_torch, _TWO, vee=True, torch=True),
    Entry("DualPipeV", dualpipe.rows_v, _TWO, vee=True, torch=True),
)
_BY_NAME: Final = {entry.name: entry for entry in _ENTRIES}


def schedule_names() -> tuple[str, ...]:
    """Every name, the papers' first."""
    return tuple(_BY_NAME)


def entry(name: str) -> Entry:
    """The schedule of exactly that name. Raises UnknownNameError."""
    try:
        return _BY_NAME[name]
    except KeyError:
        raise UnknownNameError("schedule", name, _BY_NAME) from None


def build(request: Request) -> Schedule:
    """The schedule of a request. Raises ScenarioError with the equation that the shape does not satisfy."""
    found, shape = entry(request.name), request.shape
    check_shape(shape, request.choices.slices if found.name == "seq1f1b" else 1)
    _check_chunks(found, shape.chunks)
    return Schedule(
        name=found.name,
        shape=shape,
        placement=found.placement(shape.ranks, shape.chunks),
        rows=frozen_rows(found.rows(request)),
        slices=request.choices.slices if found.name == "seq1f1b" else 1,
        weight_versions=pipedream.weight_versions(shape) if found.name == "pipedream" else (),
        flush=found.name != "pipedream",
    )


def _check_chunks(found: Entry, chunks: int) -> None:
    low, high = found.chunks
    if chunks < low or (high is not None and chunks > high):
        wanted = f"{low} or more" if high is None else f"{low}"
        raise ValueRangeError(
            f"{found.name} holds {wanted} chunks a rank, not {chunks}",
            f"chunks {max(low, min(chunks, high or chunks))}",
        )
