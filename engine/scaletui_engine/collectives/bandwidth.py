"""Bandwidths of tools and papers, and what each means by the word."""

from __future__ import annotations

from fractions import Fraction

from scaletui_engine.collectives.wire import Collective, bus_factor, nvls_factor
from scaletui_engine.units import MIB


def seconds(op: Collective, payload: int, n: int, busbw: float) -> float:
    """Time of a collective that reaches a bus bandwidth in bytes a second (nccl-tests)."""
    return payload * float(bus_factor(op, n)) / busbw


def algbw(payload: int, time_s: float) -> float:
    """S / t, bytes a second."""
    return payload / time_s


def deepspeed_log(message_mib: float, time_s: float, n: int) -> tuple[float, float]:
    """(algbw, busbw) in Gbit/s as DeepSpeed logs an all-reduce: algbw is 2 S / t, twice NCCL's.

    Source: DeepSpeed utils/comms_logging.py, `calc_bw_log`; its "MB" are MiB.
    """
    twice = 2 * message_mib * MIB * 8 / time_s / 1e9
    return twice, twice * (n - 1) / n


def nvls_bus_bandwidth(line: float, n: int) -> float:
    """Bus bandwidth that nccl-tests reports for an NVLS all-reduce at the line rate (nccl-tests PR 239)."""
    return line / float(nvls_factor(n)) * float(bus_factor(Collective.ALL_REDUCE, n))


def all_to_all_over_nic(nodes: int) -> Fraction:
    """busbw over the NIC's rate of an all-to-all bound by the network: N / (N - 1) (nccl-tests #130)."""
    return Fraction(nodes, nodes - 1)


def hierarchical_bytes(payload: int, nodes: int, per_node: int) -> tuple[int, int, int]:
    """Bytes per GPU of a hierarchical all-reduce: (scatter inside, all-reduce across, gather inside)."""
    inside = payload * (per_node - 1) // per_node
    return inside, 2 * (nodes - 1) * (payload // per_node) // nodes, inside


def tpu_all_gather_s(payload: int, bidirectional: float) -> float:
    """JAX scaling book: V / W over one wraparound axis of any length; an all-reduce takes twice that."""
    return payload / bidirectional


def tpu_hops_s(shard: int, hops: int, one_way: float) -> float:
    """The same without wraparound: the farthest shard travels `hops` links one after the other."""
    return hops * shard / one_way


def dtensor_all_gather_us(gb: float, ranks: int, *, hosts: int = 1) -> float:
    """torch's own cost model: 6.6 us + 0.6 us a hop + bytes / 87.7 GB/s; across hosts 2.7 us and x 0.22.

    Source: torch 2.13, torch/distributed/tensor/_collective_utils.py, `allgather_cost`.
    """
    bandwidth, latency = (87.7, 0.6) if hosts == 1 else (87.7 * 0.22, 2.7)
    return 6.6 + (ranks - 1) * latency + gb * (ranks - 1) / ranks / bandwidth * 1e6
