"""Numbers as they are written, in English and in Portuguese."""

from __future__ import annotations

import pytest

from scaletui.text.numbers import Numbers, numbers_for

GIB = 1 << 30
EN, PT = numbers_for("en"), numbers_for("pt-BR")
GB = numbers_for("en", decimal_bytes=True)


@pytest.mark.parametrize(
    ("numbers", "value", "text"),
    [
        (EN, 0, "0.0 GiB"),
        (EN, 43272110899, "40.3 GiB"),
        (GB, 43272110899, "43.3 GB"),
        (EN, 1234 * GIB, "1,234.0 GiB"),
        (PT, 1234 * GIB, "1.234,0 GiB"),
        (EN, -4 * GIB, "-4.0 GiB"),
        (EN, 99_999 * GIB, "99,999.0 GiB"),
        (EN, 100_000 * GIB - 1, "100,000 GiB"),
        (EN, 999_999 * GIB, "999,999 GiB"),
        (EN, 1_000_000 * GIB - 1, "1.00e6 GiB"),
        (EN, 131_996_005_791 * GIB, "1.32e11 GiB"),
        (PT, -131_996_005_791 * GIB, "-1,32e11 GiB"),
        (EN, 10**40, "9.31e30 GiB"),
    ],
)
def test_bytes(numbers: Numbers, value: int, text: str) -> None:
    assert numbers.bytes(value) == text
    assert numbers.gib(value) + " " + numbers.unit == text


@pytest.mark.parametrize(
    ("numbers", "value", "text"),
    [
        (EN, 0, "0 B"),
        (EN, 1023, "1,023 B"),
        (EN, 14 << 20, "14.0 MiB"),
        (EN, (1 << 20) - 1, "1.0 MiB"),
        (EN, 1 << 60, "1,024.0 PiB"),
        (GB, 14_680_064, "14.7 MB"),
        (GB, 999, "999 B"),
        (PT, 1536, "1,5 KiB"),
        (EN, -(3 << 30), "-3.0 GiB"),
    ],
)
def test_size(numbers: Numbers, value: int, text: str) -> None:
    assert numbers.size(value) == text


@pytest.mark.parametrize(
    ("numbers", "value", "text"),
    [
        (EN, 999, "999"),
        (EN, 8_030_261_248, "8.03 B"),
        (EN, 124_439_808, "124 M"),
        (EN, 12_600, "12.6 k"),
        (EN, 999_999, "1.00 M"),
        (EN, 1_026_000_000_000, "1.03 T"),
        (PT, 8_030_261_248, "8,03 bi"),
        (PT, 124_439_808, "124 mi"),
    ],
)
def test_count(numbers: Numbers, value: int, text: str) -> None:
    assert numbers.count(value) == text


@pytest.mark.parametrize(
    ("numbers", "value", "text"),
    [(EN, 128256, "128,256"), (PT, 128256, "128.256"), (EN, (1 << 63) + 1, "9,223,372,036,854,775,809")],
)
def test_integer(numbers: Numbers, value: int, text: str) -> None:
    assert numbers.integer(value) == text


@pytest.mark.parametrize(
    ("numbers", "share", "digits", "text"),
    [(EN, 0.273, 1, "27.3 %"), (PT, 0.273, 1, "27,3 %"), (EN, 0.494, 0, "49 %"), (EN, 0, 0, "0 %")],
)
def test_percent(numbers: Numbers, share: float, digits: int, text: str) -> None:
    assert numbers.percent(share, digits) == text


@pytest.mark.parametrize(
    ("numbers", "value_s", "text"),
    [
        (EN, 0.0, "0 s"),
        (EN, 8.5e-5, "85.0 us"),
        (EN, 0.0412, "41.2 ms"),
        (EN, 0.412, "0.412 s"),
        (PT, 0.412, "0,412 s"),
        (EN, 1.5, "1.50 s"),
        (EN, 59.94, "59.9 s"),
        (EN, 59.96, "1 m 00 s"),
        (EN, 0.9996, "1.00 s"),
        (EN, 0.99996e-3, "1.0 ms"),
        (EN, 61.4, "1 m 01 s"),
        (EN, 7980, "2 h 13 m"),
        (EN, 200_000, "2 d 7 h"),
        (EN, -75, "-1 m 15 s"),
    ],
)
def test_seconds(numbers: Numbers, value_s: float, text: str) -> None:
    assert numbers.seconds(value_s) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0.0 GiB"), (4 * GIB, "+4.0 GiB"), (-4 * GIB, "-4.0 GiB"), (1, "+0.0 GiB"), (-1, "-0.0 GiB")],
)
def test_a_difference_keeps_its_sign(value: int, text: str) -> None:
    assert EN.signed(value, EN.bytes) == text


@pytest.mark.parametrize(
    ("numbers", "share", "text"),
    [(EN, 0.112, "+11.2 %"), (PT, -0.112, "-11,2 %"), (EN, 0.0, "0.0 %")],
)
def test_signed_percent(numbers: Numbers, share: float, text: str) -> None:
    assert numbers.signed_percent(share) == text


def test_an_unknown_language_is_written_as_english() -> None:
    assert numbers_for("de") == EN
