"""The ring file, byte by byte: what the probe writes and what every reader may rely on.

    offset 0             header      HEADER_SIZE bytes: who writes, where the rest lies; sequence and checksum
    plan_offset          plan        sequence u64, length u32, crc32 u32, then UTF-8 JSON; plan_size bytes
    samples_offset       samples     samples_capacity records, written by the sampling thread
    steps_offset         steps       steps_capacity records, one per optimizer step
    events_offset        events      events_capacity records: start, oom, exception, exit

Everything is little-endian at fixed offsets. Header, plan and records carry the same lock. A writer makes the
sequence odd, writes the rest, makes it even; a reader takes a copy that has one even sequence (at both ends
of a record) and the right crc32. The crc is what holds on processors that do not keep stores in order, so
it is never optional. A record's n-th write (n from 0) in its region goes to slot n % capacity with sequence
2 * (n + 1); a slot of zeros was never written. A reader that has seen write n looks for n + 1 in the next
slot and scans the region only when it was lapped.

A measure that was not taken has its bit in `available` cleared, its value is 0 and means nothing, and
`reasons` says why.
"""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import NamedTuple

MAGIC = b"SCALETUI"
VERSION = 1
BYTE_ORDER_MARK = 0x01020304
"""Reads as 0x04030201 in a file that was written the other way round."""

HEADER_SIZE = 4096
PLAN_SIZE = 256 * 1024
PLAN_PREFIX = struct.Struct("<QII")
RECORD_SIZE = 512
SAMPLES_CAPACITY = 256
STEPS_CAPACITY = 256
EVENTS_CAPACITY = 32
SUFFIX = ".ring"
"""Ring files are named `r<rank>.p<pid>.<pid start time>.ring`."""


class Kind(IntEnum):
    """What a record is."""

    SAMPLE = 1
    """Taken by the thread, at any moment of a step."""
    STEP = 2
    """Taken in the hook after an optimizer step."""
    EVENT = 3
    """Something happened; see `Event`."""


class Event(IntEnum):
    """What happened, in records of kind EVENT."""

    NONE = 0
    START = 1
    """The probe began; `event_value_0` is its mode."""
    OOM = 2
    """The allocator found no memory: `event_value_0` bytes asked for, `event_value_1` left on the device."""
    EXCEPTION = 3
    """An uncaught exception ends the process; `text` is its class."""
    EXIT = 4
    """The interpreter ends in order."""
    ALLOC_RETRY = 5
    """The allocator flushed its cache and tried again; `event_value_0` times since the last record."""
    QUIET = 6
    """The probe gave up after too many errors of its own; `text` is the class of the last."""


class Reason(IntEnum):
    """Why measures are not available."""

    AVAILABLE = 0
    CPU_JOB = 1
    NOT_INITIALISED = 2
    """CUDA is there and the job has not used it yet; asking would create a context."""
    NO_STEP_YET = 3
    NOT_TRACKED = 4
    """The allocator in use keeps no statistics (cudaMallocAsync)."""
    READ_FAILED = 5
    NOT_COUNTED = 6
    """This kind of record does not count it."""
    NOT_SUPPORTED = 7
    """This platform, version of PyTorch or kind of job does not offer it."""
    COMPILED = 8
    """torch.compile has compiled an optimizer's step, or taken the hooks off it: what runs calls none."""
    CAPTURED = 9
    """An optimizer's step was recorded in a CUDA graph: what is replayed calls no hooks."""


REASON_TEXT = {
    Reason.AVAILABLE: "available",
    Reason.CPU_JOB: "not available: CPU job",
    Reason.NOT_INITIALISED: "not available: CUDA is not initialised yet",
    Reason.NO_STEP_YET: "not available: no optimizer step yet",
    Reason.NOT_TRACKED: "not available: this allocator keeps no statistics",
    Reason.READ_FAILED: "not available: reading failed",
    Reason.NOT_COUNTED: "not available: not counted in this kind of record",
    Reason.NOT_SUPPORTED: "not available: not supported here",
    Reason.COMPILED: "not available: torch.compile runs the optimizer step without its hooks",
    Reason.CAPTURED: "not available: a CUDA graph replays the optimizer step without its hooks",
}


class Mode(IntEnum):
    """How the probe samples."""

    THREAD = 1
    HOOKS = 2


class Field(NamedTuple):
    """One field: its name, its `struct` code and the numpy type string of the same bytes."""

    name: str
    code: str
    numpy: str


def _numbers(code: str, numpy: str, *names: str) -> tuple[Field, ...]:
    return tuple(Field(name, code, numpy) for name in names)


def _text(name: str, size: int) -> Field:
    return Field(name, f"{size}s", f"S{size}")


def _octets(name: str, size: int) -> Field:
    return Field(name, f"{size}s", f"({size},)u1")


HEADER_FIELDS: tuple[Field, ...] = (
    _text("magic", 8),
    *_numbers("I", "<u4", "version", "byte_order_mark"),
    *_numbers("Q", "<u8", "sequence"),
    *_numbers("I", "<u4", "header_size", "record_size", "plan_offset", "plan_size"),
    *_numbers("I", "<u4", "samples_offset", "samples_capacity", "steps_offset", "steps_capacity"),
    *_numbers("I", "<u4", "events_offset", "events_capacity", "mode", "uid"),
    *_numbers("i", "<i4", "rank", "local_rank", "world_size", "local_world_size", "attempt", "device_index"),
    *_numbers("I", "<u4", "micro_batch", "sequence_length"),
    *_numbers("Q", "<u8", "pid", "pid_start_ticks", "parent_pid", "parent_start_ticks"),
    *_numbers("Q", "<u8", "created_monotonic_ns", "created_wall_ns", "interval_ns"),
    _text("device_type", 16),
    _text("device_uuid", 64),
    _text("boot_id", 40),
    _text("torch_version", 40),
    _text("python_version", 16),
    _text("job_id", 128),
    _text("host", 128),
    _text("slurm_id", 40),
    _text("slurm_nodes", 256),
    _text("working_folder", 512),
    _text("command", 2048),
    _octets("spare", 644),
    *_numbers("I", "<u4", "crc32"),
)
"""`crc32` covers every byte before it. Ticks are clock ticks since boot (field 22 of /proc/PID/stat);
`micro_batch` and `sequence_length` are 0 when unknown; `device_index` is -1 in a CPU job; texts are UTF-8,
cut at a whole character, padded with zeros. `rank`, `world_size` and the like are those of the process;
`attempt` counts torchrun's restarts."""

PLAN_KEYS: dict[str, str] = {
    "version": "of these keys; 1",
    "step": "optimizer steps done when it was written",
    "wrapper": "fsdp2, fsdp1, deepspeed or plain: what spreads the weights; plain on several ranks is"
    " replicated, by DDP or otherwise",
    "device_name": "what CUDA calls the device; empty in a CPU job",
    "mesh": "{device_type, shape, names} of the widest device mesh, or null",
    "coordinate": "this rank's place in that mesh, or null",
    "optimizers": "[{class, groups: [{numel, tensors, arguments by name}]}]",
    "fsdp_groups": "[{name, param_dtype, reduce_dtype, reshard_after_forward, offload, shards, tensors}],"
    " in bit order of a record's unsharded_groups; ZeRO's also have zero: {round_robin, contiguous,"
    " accumulation_dtype, aligned, secondary_shards, quantized}",
    "parameter_columns": "the names of the columns of `parameters`",
    "parameters": "one row a parameter, see PARAMETER_COLUMNS",
    "parameters_total": "how many there are; more than the rows when the area was too small",
    "buffers": "[[name, shape, dtype, device]] of FSDP2's modules, or null where buffers are not known",
}
"""The plan's JSON. It holds what the job asked for (shapes, dtypes, placements), never bytes that were
measured."""

PARAMETER_COLUMNS: tuple[str, ...] = (
    "name",
    "shape",
    "dtype",
    "requires_grad",
    "optimizer",
    "param_group",
    "fsdp_group",
    "placements",
    "mesh_names",
    "mesh_shape",
    "coordinate",
    "device",
)
"""Columns of the plan's parameter rows. `shape` is the whole parameter's; `optimizer`, `param_group` and
`fsdp_group` are indices or null; `placements` are PyTorch's short forms ("S(0)", "R"), one per axis of the
parameter's own mesh (`mesh_names`, `mesh_shape`; this rank at `coordinate`), all three empty for a plain
tensor. Tied parameters have one row."""

MEASURES: tuple[str, ...] = (
    "step",
    "step_ns",
    "counted_at_step",
    "allocated",
    "reserved",
    "active",
    "inactive_split",
    "requested",
    "allocated_peak",
    "reserved_peak",
    "active_peak",
    "allocated_peak_seen",
    "alloc_retries",
    "ooms",
    "driver_free",
    "driver_total",
    "host_rss",
    "weights_device",
    "weights_host",
    "gradients_device",
    "gradients_host",
    "optimizer_device",
    "optimizer_host",
    "master_weights_device",
    "master_weights_host",
    "buffers_device",
    "buffers_host",
    "unsharded_weights_device",
    "unsharded_weights_host",
    "unsharded_gradients_device",
    "unsharded_gradients_host",
    "groups_unsharded",
    "probe_cpu_ns",
    "spare_0",
    "spare_1",
    "spare_2",
    "spare_3",
    "spare_4",
    "spare_5",
    "spare_6",
)
"""Unsigned 64-bit, bytes unless the name says otherwise; bit i of `available` belongs to the i-th.

`step` is the number of optimizer steps done and `step_ns` the time from the one before the last to the last.
`*_device` is held on accelerators and `*_host` in the process's own memory; a CPU job holds everything in
`*_host`. States (weights to buffers) were counted at step `counted_at_step`: in the hooks around that step,
each storage once. Gradients are in records of steps, and of events in FSDP2 jobs: the sampling thread never
looks at them. Where optimized parameters lie outside FSDP2's modules (plain, DDP, FSDP1 and DeepSpeed jobs),
buffers are not available and frozen weights that no optimizer holds are in no measure. `allocated_peak_seen`
is the largest `allocated_peak` or `allocated` this process has shown; it does not fall when the job resets
its peaks. `driver_free` is as the driver told it at a step: no other thread asks. `groups_unsharded` is how
many FSDP groups hold unsharded weights; bit g of the record's `unsharded_groups` is group g. Nothing
unsharded is available where FSDP1 hides its flat parameters.
"""

REASON_GROUPS: tuple[str, ...] = ("step", "allocator", "driver", "host", "states", "unsharded")
"""`reasons[i]` says why the measures of the i-th group that lack their bit do so."""

GROUP_OF: dict[str, str] = {
    **dict.fromkeys(MEASURES[0:2], "step"),
    **dict.fromkeys(MEASURES[2:3], "states"),
    **dict.fromkeys(MEASURES[3:14], "allocator"),
    **dict.fromkeys(MEASURES[14:16], "driver"),
    **dict.fromkeys(MEASURES[16:17], "host"),
    **dict.fromkeys(MEASURES[17:27], "states"),
    **dict.fromkeys(MEASURES[27:32], "unsharded"),
    **dict.fromkeys(MEASURES[32:], "host"),
}

RECORD_FIELDS: tuple[Field, ...] = (
    *_numbers("Q", "<u8", "sequence"),
    *_numbers("H", "<u2", "kind", "event"),
    *_numbers("i", "<i4", "device_index"),
    _octets("reasons", 8),
    *_numbers("I", "<u4", "errors", "dropped"),
    *_numbers("Q", "<u8", "available", "monotonic_ns", "wall_ns"),
    *_numbers("q", "<i8", "event_value_0", "event_value_1"),
    *_numbers("Q", "<u8", *MEASURES),
    _text("text", 32),
    _octets("unsharded_groups", 64),
    _octets("spare", 12),
    *_numbers("I", "<u4", "crc32"),
    *_numbers("Q", "<u8", "sequence_end"),
)
"""`crc32` covers every byte before it. `errors` are those the probe swallowed, `dropped` the records it
could not write."""


def _struct(fields: tuple[Field, ...]) -> struct.Struct:
    return struct.Struct("<" + "".join(field.code for field in fields))


HEADER = _struct(HEADER_FIELDS)
RECORD = _struct(RECORD_FIELDS)
HEADER_CRC_OFFSET = HEADER.size - 4
RECORD_CRC_OFFSET = RECORD.size - 12
assert (HEADER.size, RECORD.size, len(MEASURES)) == (HEADER_SIZE, RECORD_SIZE, 40), (HEADER.size, RECORD.size)


def numpy_fields(fields: tuple[Field, ...]) -> list[tuple[str, str]]:
    """Names and types for `numpy.dtype`, at the offsets of `fields`; texts lose trailing zeros there."""
    return [(field.name, field.numpy) for field in fields]


def ring_size(plan_size: int = PLAN_SIZE) -> int:
    """Bytes of a ring file with the capacities of this version."""
    records = SAMPLES_CAPACITY + STEPS_CAPACITY + EVENTS_CAPACITY
    return HEADER_SIZE + plan_size + records * RECORD_SIZE
