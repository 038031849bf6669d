"""What is written to turn one picture into the next: only what differs, and exactly that."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.color import ColorSystem
from rich.segment import Segment
from rich.style import Style
from terminal.screen import Screen

from scaletui.compat.sgr import PLAIN, change, ground
from scaletui.compat.shadow import Cell, Frame, Shadow, cells_of, changed_stretches

RED = Style.parse("#ff0000 on #101010")
BOLD = Style.parse("bold #ff0000 on #101010")
BLUE = Style.parse("#0000ff on #202020")
LINED = Style.parse("underline")
STYLES = [RED, BOLD, BLUE, LINED, PLAIN, Style.parse("reverse color(3)"), Style.parse("dim on color(12)")]
PICTURES = st.lists(
    st.lists(st.builds(Segment, st.text("ab █", max_size=12), st.sampled_from(STYLES)), max_size=5),
    max_size=4,
)


def cells(text: str, style: Style = RED) -> list[Cell]:
    """The text as cells of one style."""
    return cells_of([Segment(text, style)])


def written(shadow: Shadow, *stretches: tuple[int, int, list[Cell]]) -> str:
    """What one frame writes."""
    frame = Frame(shadow, ColorSystem.TRUECOLOR)
    for x, y, drawn in stretches:
        frame.draw(x, y, drawn)
    return frame.text()


@pytest.mark.parametrize(
    ("old", "new", "stretches"),
    [
        ("abc", "abd", [(2, 3)]),
        ("abc", "abc", []),
        ("a.....b", "x.....y", [(0, 7)]),
        ("a......b", "x......y", [(0, 1), (7, 8)]),
        ("abcdef", "xbcdyf", [(0, 5)]),
    ],
    ids=["one", "none", "joined", "apart", "joined-inside"],
)
def test_stretches_that_changed(old: str, new: str, stretches: list[tuple[int, int]]) -> None:
    assert changed_stretches([*cells(old)], cells(new)) == stretches


def test_stretches_are_not_joined_over_another_style() -> None:
    middle = cells("..", BLUE)
    assert changed_stretches([*cells("a"), *middle, *cells("b")], [*cells("x"), *middle, *cells("y")]) == [
        (0, 1), (3, 4),
    ]  # fmt: skip


def test_a_stretch_takes_the_whole_of_a_wide_character() -> None:
    old, new = cells("a中"), cells("a文")
    assert changed_stretches([*old], new) == [(0, 3)]


def test_the_first_frame_writes_all_and_the_same_again_nothing() -> None:
    shadow = Shadow()
    assert written(shadow, (2, 1, cells("ab"))) == "\x1b[2;3H\x1b[38;2;255;0;0;48;2;16;16;16mab\x1b[0m"
    assert written(shadow, (2, 1, cells("ab"))) == ""


def test_what_was_forgotten_is_written_again() -> None:
    shadow = Shadow()
    first = written(shadow, (0, 0, cells("ab")))
    shadow.forget()
    assert written(shadow, (0, 0, cells("ab"))) == first


def test_a_jump_on_one_line_is_short_and_a_style_is_set_once() -> None:
    shadow = Shadow()
    written(shadow, (0, 0, cells("a" + "." * 20 + "b")))
    text = written(shadow, (0, 0, cells("x" + "." * 20 + "y")))
    assert text == "\x1b[1;1H\x1b[38;2;255;0;0;48;2;16;16;16mx\x1b[20Cy\x1b[0m"


@pytest.mark.parametrize(
    ("before", "after", "system", "text"),
    [
        (RED, RED, ColorSystem.TRUECOLOR, ""),
        (RED, BOLD, ColorSystem.TRUECOLOR, "\x1b[1m"),
        (BOLD, RED, ColorSystem.TRUECOLOR, "\x1b[22m"),
        (RED, BLUE, ColorSystem.TRUECOLOR, "\x1b[38;2;0;0;255;48;2;32;32;32m"),
        (RED, PLAIN, ColorSystem.TRUECOLOR, "\x1b[0m"),
        (PLAIN, PLAIN, ColorSystem.TRUECOLOR, ""),
        (Style.parse("bold underline"), Style.parse("dim"), ColorSystem.TRUECOLOR, "\x1b[22;24;2m"),
        (Style.parse("bold dim"), Style.parse("bold"), ColorSystem.TRUECOLOR, "\x1b[22;1m"),
        (RED, Style.parse("#ff0000"), ColorSystem.TRUECOLOR, "\x1b[49m"),
        (BOLD, PLAIN, ColorSystem.TRUECOLOR, "\x1b[0m"),
        (PLAIN, Style.parse("red"), ColorSystem.STANDARD, "\x1b[31m"),
        (PLAIN, RED, ColorSystem.STANDARD, "\x1b[31;40m"),
        (PLAIN, RED, ColorSystem.EIGHT_BIT, "\x1b[38;5;196;48;5;233m"),
    ],
)
def test_a_change_of_style(before: Style, after: Style, system: ColorSystem, text: str) -> None:
    assert change(before, after, system) == text


@pytest.mark.parametrize(
    ("style", "shown"), [(BOLD, Style.parse("on #101010")), (PLAIN, PLAIN), (LINED, LINED)]
)
def test_what_a_blank_shows(style: Style, shown: Style) -> None:
    assert ground(style) == shown


@given(st.lists(PICTURES, min_size=1, max_size=5))
def test_differences_end_in_the_picture_that_was_meant(pictures: list[list[list[Segment]]]) -> None:
    """Frame by frame into one terminal gives what the last picture alone gives on a fresh one."""
    shadow, terminal, alone = Shadow(), Screen(70, 4), Screen(70, 4)
    for picture in pictures:
        lines = [cells_of([*segments, Segment(" " * 60)])[:60] for segments in (*picture, [], [], [], [])][:4]
        terminal.feed(written(shadow, *((0, y, line) for y, line in enumerate(lines))).encode())
    alone.feed(written(Shadow(), *((0, y, line) for y, line in enumerate(lines))).encode())
    assert terminal.visible == alone.visible


@given(picture=PICTURES, room=st.integers(1, 60))
def test_a_picture_cut_into_frames_is_the_picture(picture: list[list[Segment]], room: int) -> None:
    lines = [cells_of(segments) for segments in picture]
    shadow, terminal, whole = Shadow(), Screen(70, 4), Screen(70, 4)
    cut = True
    while cut:
        frame = Frame(shadow, ColorSystem.TRUECOLOR, room)
        for y, line in enumerate(lines):
            frame.draw(0, y, line)
        cut, text = frame.cut, frame.text()
        assert text or not cut
        terminal.feed(text.encode())
    whole.feed(written(Shadow(), *((0, y, line) for y, line in enumerate(lines))).encode())
    assert terminal.visible == whole.visible
