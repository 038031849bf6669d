"""The picture of a collective: a row a rank, its blocks filling up, what arrives and what it has sent.

r0   3▃▃▃  ▶4▄▄      1▁▁▁   b5 from r7   ██░░  384.0 MiB
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scaletui.state.collective_sight import Stand
from scaletui.text.language import tr
from scaletui.view.cells import left, right, width_of
from scaletui.view.collective_layout import NARROW_SIDE
from scaletui.view.row import Row, Span, fit, merge
from scaletui.view.rule import rule_row
from scaletui_themes.roles import fill

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scaletui.state.collective_sight import Block, Sight
    from scaletui.view.collective_layout import Layout
    from scaletui.view.pen import Pen

SENT_BAR: Final = 5


def grid_rows(sight: Sight, layout: Layout, width: int, pen: Pen) -> tuple[Row, ...]:
    """All rows of the picture: the ranks of the window, with a line above every node where there is room."""
    rows: list[Row] = []
    for rank in layout.ranks:
        if layout.node_rows and (rank == layout.ranks.start or sight.opens_node(rank)):
            rows.append(_node_row(sight, rank, width, pen))
        rows += _rank(sight, rank, layout, (width, pen))
        if rank != layout.ranks[-1]:
            rows += [fit((), width)] * layout.gap
    return tuple(rows)


def head_row(sight: Sight, layout: Layout, width: int, pen: Pen) -> Row:
    """Numbers of the blocks above their columns; what is not on the screen is told."""
    ranks, spans = sight.played.ranks, list(_numbers(layout))
    first = tr("rank")
    if len(layout.ranks) < ranks:
        first = _shown(sight, layout)[1:] if _is_row(sight, layout) else _shown(sight, layout)
    title = Span(left(f" {first}", layout.label), "dim")
    cells = Span(left("".join(spans), layout.columns), "dim")
    names = tr("sent") if layout.side == NARROW_SIDE else f"{tr('arrives')}{' ' * 4}"
    if layout.side == NARROW_SIDE:
        return fit((title, cells, Span(right(names, layout.side), "dim")), width)
    head = left(f"  {tr('arrives')}", layout.side - 10) + right(tr("sent"), 10)
    return fit((title, cells, Span(head, "dim")), width)


def window_text(sight: Sight, layout: Layout) -> str:
    """Which part is shown: ranks, and blocks that share a cell."""
    facts: list[str] = []
    if len(layout.ranks) < sight.played.ranks:
        shown = _shown(sight, layout)
        facts.append(tr("{shown} of {ranks} ranks", shown=shown, ranks=sight.played.ranks))
    if layout.blocks_a_cell > 1:
        facts.append(tr("{n} blocks a cell", n=layout.blocks_a_cell))
    return "   ".join(facts)


def _is_row(sight: Sight, layout: Layout) -> bool:
    """Whether the ranks on the screen follow each other."""
    first, last = (sight.number(layout.ranks[end]) for end in (0, -1))
    return last - first == len(layout.ranks) - 1


def _shown(sight: Sight, layout: Layout) -> str:
    """ "r0-13"; the places in the group, counted from 1, where the ranks lie apart."""
    if not _is_row(sight, layout):
        return f"{layout.ranks.start + 1}-{layout.ranks.stop}"
    return f"r{sight.number(layout.ranks[0])}-{sight.number(layout.ranks[-1])}"


def _numbers(layout: Layout) -> Iterator[str]:
    """b0, b1 ... as far apart as they need to be."""
    count = -(-layout.blocks // layout.blocks_a_cell)
    longest = len(f"b{layout.blocks - 1}") + 1
    every = max(-(-longest // layout.cell), 1)
    for place in range(0, count, every):
        room, name = layout.cell * min(every, count - place), f"b{place * layout.blocks_a_cell}"
        yield left(name if len(name) <= room else "", room)


def _node_row(sight: Sight, rank: int, width: int, pen: Pen) -> Row:
    node = sight.node(rank)
    said = tr("node {n}", n=node) if sight.choice.in_nodes else tr("NVLink domain {n}", n=node)
    return rule_row(Span(said, "dim"), width, pen)


def _rank(sight: Sight, rank: int, layout: Layout, room: tuple[int, Pen]) -> Iterator[Row]:
    width, pen = room
    chosen = rank == sight.rank
    mark = pen.glyphs.pointer if chosen else " "
    label = Span(left(f"{mark}r{sight.number(rank)}", layout.label), "accent" if chosen else "text")
    blocks = _grouped(sight.blocks(rank), layout.blocks_a_cell)
    kinds = dict.fromkeys(blocks)
    for line in range(layout.lines):
        drawn = {block: tuple(_cell(block, line, layout, pen)) for block in kinds}
        cells = merge(span for block in blocks for span in drawn[block])
        side = _side(sight, rank, layout, pen) if line == 0 else ()
        yield fit((label if line == 0 else Span(" " * layout.label), *cells, *side), width)


def _grouped(blocks: Sequence[Block], size: int) -> Sequence[Block]:
    """Blocks that share a cell: what moves stands for them, else the one in the middle."""
    if size == 1:
        return blocks
    return [
        next((each for each in part if each.stand in (Stand.ARRIVES, Stand.LEAVES)), part[len(part) // 2])
        for part in (blocks[start : start + size] for start in range(0, len(blocks), size))
    ]


def _cell(block: Block, line: int, layout: Layout, pen: Pen) -> Iterator[Span]:
    """One block on one of its rows: ground or level, with its number on the first row."""
    gap = 1 if layout.cell > 2 else 0
    width = layout.cell - gap
    text = _text(block, line, (width, layout.lines), pen)
    solid = block.stand is Stand.DONE and width == 1
    yield Span(text, "activations" if solid else _ROLES[block.stand])
    if gap:
        yield Span(" ", "text")


def _text(block: Block, line: int, size: tuple[int, int], pen: Pen) -> str:
    """Marker and number, then the level as a bar that rises from row to row."""
    width, lines = size
    if width == 1:
        return _narrow(block, pen)
    number = _number(block, pen) if line == 0 else ""
    number = number if width_of(number) <= width else number[-width:]
    if block.stand is Stand.EMPTY:
        return left(pen.glyphs.shades.get("free", " ") if line == 0 else "", width)
    if block.stand is not Stand.PART:
        return left(number, width)
    return number + _level(block, lines, lines - 1 - line, pen) * (width - width_of(number))


def _narrow(block: Block, pen: Pen) -> str:
    """A block in one cell: its mark, or its level alone."""
    marks = {
        Stand.ARRIVES: pen.glyphs.pointer, Stand.LEAVES: leaving(pen),
        Stand.SPENT: pen.glyphs.shades.get("idle", "."), Stand.EMPTY: " ",
        Stand.DONE: pen.glyphs.levels[-1],
    }  # fmt: skip
    return marks.get(block.stand) or _level(block, 1, 0, pen)


def leaving(pen: Pen) -> str:
    """The mark of a block that was sent, which plain ASCII's arrow would not tell from one that came."""
    return pen.glyphs.more if pen.glyphs.more != pen.glyphs.pointer else "-"


def _level(block: Block, lines: int, above: int, pen: Pen) -> str:
    """The glyph of a row that has so many beneath it; what is there at all can be seen."""
    steps = len(pen.glyphs.levels) - 1
    level = max(round(block.level * steps * lines), 1) - above * steps
    return pen.glyphs.levels[min(max(level, 0), steps)]


def _number(block: Block, pen: Pen) -> str:
    marks = {
        Stand.ARRIVES: pen.glyphs.pointer,
        Stand.LEAVES: leaving(pen),
        Stand.DONE: pen.glyphs.ok,
    }
    return f"{marks.get(block.stand, '')}{block.count}"


_ROLES: Final = {
    Stand.EMPTY: "free", Stand.PART: "tile", Stand.SPENT: "dim", Stand.DONE: fill("activations"),
    Stand.ARRIVES: "cursor", Stand.LEAVES: "selection",
}  # fmt: skip


def _side(sight: Sight, rank: int, layout: Layout, pen: Pen) -> Row:
    """What arrives from whom, and the bytes sent so far."""
    size = pen.numbers.size(sight.frame.sent[rank])
    if layout.side == NARROW_SIDE:
        return (Span(right(size, layout.side)),)
    room = layout.side - 10
    return (
        Span(left(f"  {_arrives(sight, rank, pen)}", room), _side_role(sight, rank)),
        Span(right(size, 10)),
    )


def _side_role(sight: Sight, rank: int) -> str:
    crosses = any(map(sight.crosses, sight.arrivals(rank)))
    return "warn" if crosses else "text"


def _arrives(sight: Sight, rank: int, pen: Pen) -> str:
    """ "b5 from r7"; several blocks as a range, and a mark where a message left its node."""
    found = sight.arrivals(rank)
    if not found:
        return ""
    each = found[0]
    blocks = sight.player.lands(each)
    name = f"b{blocks.start}" if len(blocks) == 1 else f"b{blocks.start}-{blocks.stop - 1}"
    mark = f" {pen.glyphs.bad}" if sight.crosses(each) else ""
    return tr("{block} from r{rank}", block=name, rank=sight.number(each.source)) + mark
