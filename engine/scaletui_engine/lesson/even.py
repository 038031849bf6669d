"""What must divide evenly, and the nearest that does."""

from __future__ import annotations

from scaletui_engine.errors import DivisibilityError, ValueRangeError


def share(size: int, of: str, parts: int, among: str) -> int:
    """size / parts. Raises DivisibilityError, with the nearest numbers of parts that divide."""
    if parts < 1:
        raise ValueRangeError(f"{parts} {among}: at least 1 is needed")
    each, rest = divmod(size, parts)
    if rest or not each:
        raise DivisibilityError(
            f"{size} {of} / {parts} {among} = {size / parts:g}, not a whole number",
            _nearest(size, parts, among),
        )
    return each


def _nearest(size: int, parts: int, among: str) -> str:
    divisors = [n for n in range(1, size + 1) if size % n == 0]
    below = [n for n in divisors if n < parts][-1:]
    above = [n for n in divisors if n > parts][:1]
    return " or ".join(str(n) for n in below + above) + f" {among}"
