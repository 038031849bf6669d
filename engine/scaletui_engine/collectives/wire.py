"""What a collective puts on the wire: bytes that one GPU sends in a ring, equal to the bytes it receives.

Source: nccl-tests doc/PERFORMANCE.md and src/alltoall.cu.
"""

from __future__ import annotations

from fractions import Fraction

from scaletui_engine.compat import StrEnum
from scaletui_engine.errors import ValueRangeError


class Collective(StrEnum):
    """An operation of a group of ranks."""

    ALL_REDUCE = "all-reduce"
    """Everyone ends with the sum; the payload is the array."""
    ALL_GATHER = "all-gather"
    """Everyone ends with all pieces; the payload is the whole array."""
    REDUCE_SCATTER = "reduce-scatter"
    """Everyone ends with a piece of the sum; the payload is the whole array."""
    ALL_TO_ALL = "all-to-all"
    """Everyone sends a piece to everyone; the payload is one rank's buffer."""
    BROADCAST = "broadcast"
    """One rank's array goes to all; the payload is the array."""
    SEND = "send"
    """One message to one neighbour; the payload is the message."""


SHORT = {
    Collective.ALL_REDUCE: "AR", Collective.ALL_GATHER: "AG", Collective.REDUCE_SCATTER: "RS",
    Collective.ALL_TO_ALL: "A2A", Collective.BROADCAST: "BC", Collective.SEND: "P2P",
}  # fmt: skip


def wire_factor(op: Collective, n: int) -> Fraction:
    """Bytes sent per GPU over payload, in a ring of n ranks. Raises ValueRangeError for n < 1."""
    if n < 1:
        raise ValueRangeError(f"a group has {n} ranks, but at least 1 is needed")
    if op is Collective.SEND:
        return Fraction(1)
    share = Fraction(n - 1, n)
    if op is Collective.ALL_REDUCE:
        return 2 * share
    return Fraction(n > 1) if op is Collective.BROADCAST else share


def sent_bytes(op: Collective, payload: int, n: int) -> int:
    """Bytes that one GPU sends; a payload that n does not divide is rounded up to the byte."""
    exact = wire_factor(op, n) * payload
    return -(-exact.numerator // exact.denominator)


def bus_factor(op: Collective, n: int) -> Fraction:
    """busbw over algbw: what nccl-tests multiplies S / t with."""
    if op in (Collective.BROADCAST, Collective.SEND):
        return Fraction(1)
    return wire_factor(op, n)


def nvls_factor(n: int) -> Fraction:
    """Bytes over payload of an all-reduce in the NVSwitch (n + 1) / n: so busbw may pass the line rate."""
    return Fraction(n + 1, n)
