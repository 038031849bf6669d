"""Bytes and counts as people write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaletui_engine.errors import ParseError
from scaletui_engine.units import ceil_div, exact_bytes, parse_bytes, parse_count, round_up

BYTES = [
    ("80GiB", 80 << 30), ("80 GB", 80 * 10**9), ("1.5TiB", 3 << 39), ("123", 123), ("4 kib", 4096),
    ("1_000", 1000), ("0.5KiB", 512), ("7b", 7),
]  # fmt: skip


@pytest.mark.parametrize(("text", "value"), BYTES)
def test_parse_bytes(text: str, value: int) -> None:
    assert parse_bytes(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("8192", 8192),
        ("8k", 8192),
        ("1M", 1 << 20),
        (" 4 ", 4),
        ("1.5k", 1536),
        ("16 384", 16384),
        ("1_0", 10),
    ],
)
def test_parse_count(text: str, value: int) -> None:
    assert parse_count(text) == value


REFUSED = [
    ("", "is not a size"),
    ("GiB", "is not a size"),
    ("-1GiB", "'-1GiB' is negative: wanted a size"),
    ("80XB", "unknown unit 'XB'"),
    ("0.3B", "not a whole number"),
    ("1e9", "is not a size"),
    ("\u0668GiB", "is not a size"),
    ("9" * 50, f"'{'9' * 20}...' is too long: wanted a size"),
    ("9" * 5000, f"'{'9' * 20}...' is too long: wanted a size"),
    ("x" * 50, f"'{'x' * 20}...' is not a size"),
]


@pytest.mark.parametrize(("text", "words"), REFUSED)
def test_refused_sizes(text: str, words: str) -> None:
    with pytest.raises(ParseError, match=words):
        parse_bytes(text)


COUNTS_REFUSED = [
    ("8 8", "'8 8' is not a whole number"),
    ("8 8192", "'8 8192' is not a whole number"),
    ("8.0", "'8.0' is not a whole number"),
    ("8.000", "'8.000' is not a whole number"),
    ("8,192", "'8,192' is not a whole number"),
    ("1_", "'1_' is not a whole number"),
    ("\u0663", "is not a whole number"),
    ("1e3", "'1e3' is not a whole number"),
    ("nan", "'nan' is not a whole number"),
    ("-8", "'-8' is negative"),
]


@pytest.mark.parametrize(("text", "words"), COUNTS_REFUSED)
def test_refused_counts(text: str, words: str) -> None:
    """Nothing is read as another number than the one that somebody may have meant."""
    with pytest.raises(ParseError, match=words):
        parse_count(text)


@given(st.integers(0, 1 << 60))
def test_exact_bytes_reads_back(value: int) -> None:
    assert parse_bytes(exact_bytes(value)) == value


@given(st.integers(-(10**9), 10**9), st.integers(1, 10**6))
def test_rounding_up(value: int, multiple: int) -> None:
    assert round_up(value, multiple) - value in range(multiple)
    assert ceil_div(value, multiple) * multiple == round_up(value, multiple)
