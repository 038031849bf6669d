"""The GPUs of a published record: how many, and what each holds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from scoring.memory_fields import Config, text, whole

from scaletui_engine.catalog import load_gpu
from scaletui_engine.errors import UnknownNameError
from scaletui_engine.units import GIB

if TYPE_CHECKING:
    from scoring.memory_fields import Record

    from scaletui_engine.cluster import Gpu

TIMES = r"[x\u00d7*]"
NODES = re.compile(rf"\s*(\d+)\s*(?:nodes?\s*(?:{TIMES}|of|,)?|{TIMES})\s*(\d+)\s*{TIMES}?\s+?(?!gi?b)[a-z]")
"""2x8 H100, 2 nodes x 8 H100, 4 nodes of 8x A100."""
FIRST = re.compile(rf"\s*(\d+)\s*(?:{TIMES}|\s[a-z])")
LAST = re.compile(rf"(?<=[\s\d)b]){TIMES}\s*(\d+)\s*$")
SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*-?(gib|gb)\b")


def gpus_of(config: Config) -> int | None:
    """GPUs of the job, from "8x H100 96GB", "8 H100", "2 nodes x 8 H100" or "H100 x 8"."""
    words = text(config, "gpu")
    nodes = NODES.match(words)
    if nodes:
        return int(nodes[1]) * int(nodes[2])
    match = FIRST.match(words) or LAST.search(words)
    if match:
        return int(match[1])
    count, each = whole(config, "nodes"), whole(config, "gpus_per_node")
    return whole(config, "gpus", "world") or (count * each if count and each else None)


def capacity_of(record: Record) -> int | None:
    """What the GPU holds, from "OOM on 95 GiB" or "32x H100 95GiB", else from the catalogue.

    A GPU that is sold by so many GB has as many GiB (the catalogue's gpus.py); of one that the catalogue
    knows by that size it says what the driver reports.
    """
    said = text(record.config, "gpu")
    known = _known(said)
    for words in (record.quantity.lower(), said):
        match = SIZE.search(words)
        if match and known is not None and match[2] == "gb" and float(match[1]) * GIB == known.memory_bytes:
            return known.capacity_bytes
        if match:
            return round(float(match[1]) * GIB)
    return None if known is None else known.capacity_bytes


def _known(said: str) -> Gpu | None:
    """The catalogue's GPU, its name as it is written or without counts, makers and sizes."""
    plain = NODES.sub(lambda match: match[0][-1], said, 1) if NODES.match(said) else said
    plain = LAST.sub("", re.sub(rf"^\s*\d+\s*{TIMES}?\s*", "", plain)).strip()
    bare = re.sub(r"\bnvidia\b|\bamd\b|\bgpus?\b|\(.*?\)|-?\d+\s*gi?b\b|\bhbm\w*", " ", plain)
    for name in (plain, bare.strip(" ,-"), bare.strip(" ,-").removesuffix("s")):
        try:
            return load_gpu(" ".join(name.split()))
        except UnknownNameError:
            continue
    return None
