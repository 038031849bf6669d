"""Sentences wrapped into rows."""

from __future__ import annotations

from scaletui.view.rule import NO_BREAK, wrapped


def test_a_number_keeps_its_unit() -> None:
    said = f"steps 40: 0.909{NO_BREAK}s, 41: 0.911{NO_BREAK}s"
    rows = ["".join(span.text for span in row) for row in wrapped(said, 17)]
    assert [row.strip() for row in rows] == ["steps 40:", "0.909 s, 41:", "0.911 s"]
    assert NO_BREAK not in "".join(rows)
