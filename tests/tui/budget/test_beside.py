"""Two scenarios in two columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from scaletui.picks import scenario_items
from scaletui.state.beside import Beside, Side, next_stage, swapped, with_steps
from scaletui.text.glyphs import ASCII
from scaletui.view.box import Box
from scaletui.view.budget_beside import beside_rows
from scaletui.view.pen import Pen
from scaletui.view.row import row_width
from scaletui_engine.memory.budget import PARTS
from scaletui_engine.scenarios import scenario_ids

if TYPE_CHECKING:
    from pathlib import Path

    from scaletui.state.answer import Answer


@pytest.fixture
def pair(small: Answer, over: Answer) -> Beside:
    """The same model sharded, and replicated on every GPU."""
    return Beside(Side(small), Side(over))


def lines(beside: Beside, box: Box) -> list[tuple[str, str]]:
    """(left column, right column) of every row but the keys."""
    rows = ["".join(span.text for span in row) for row in beside_rows(beside, box, Pen(ASCII))]
    middle = (box.width - 3) // 2
    return [(row[:middle].rstrip(), row[middle + 3 :].rstrip()) for row in rows[:-1]]


@pytest.mark.parametrize("box", [Box(80, 24), Box(150, 46), Box(61, 18)])
def test_the_box_is_filled_exactly(pair: Beside, box: Box) -> None:
    rows = beside_rows(with_steps(pair), box, Pen(ASCII))
    assert len(rows) == box.height
    assert {row_width(row) for row in rows} == {box.width}


def test_verdicts_and_parts_stand_on_the_same_lines(pair: Beside) -> None:
    found = lines(pair, Box(120, 40))
    assert any("fits" in left and "over by" in right for left, right in found)
    names = [left[4:19].strip() for left, _ in found[5 : 5 + len(PARTS)]]
    assert names == [right[4:19].strip() for _, right in found[5 : 5 + len(PARTS)]]
    assert any(left.split()[-1] == "fsdp" and right.split()[-1] == "ddp" for left, right in found if left)


def test_a_change_is_the_other_less_this_one(pair: Beside) -> None:
    weights = next(right for _, right in lines(pair, Box(120, 40)) if "weights" in right)
    here, other = (side.shown.parts.weights / 2**30 for side in pair.sides)
    assert weights.split()[-2:] == [f"{other:.1f}", f"{other - here:+.1f}"]


def test_fields_that_find_no_room_are_counted(small: Answer, wide: Answer) -> None:
    found = [left for left, _ in lines(Beside(Side(small), Side(wide)), Box(80, 24))]
    assert "more, in a taller window" in found[-1]


def test_both_are_drawn_to_one_scale(pair: Beside) -> None:
    assert pair.scale == pair.other.answer.budget.peak.needed_bytes
    assert swapped(pair).scale == pair.scale


def test_the_stages_of_both_are_walked_together(small: Answer, wide: Answer) -> None:
    beside = next_stage(Beside(Side(wide), Side(small)), 1)
    assert beside.here.place == wide.worst + 1
    assert beside.other.place == 0
    first = next_stage(beside, -len(wide.budget.stages))
    assert first.here.place == 0


def test_files_of_the_folder_come_before_the_shipped_scenarios(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").touch()
    (tmp_path / "pyproject.toml").touch()
    found = [item.title for item in scenario_items(tmp_path)]
    assert found == ["mine.toml", *scenario_ids()]
