"""Files that no recorder has written: a refusal in one line, within bounds of memory and of time."""

from __future__ import annotations

import random
import tracemalloc

import pytest
from looks import Story, looks

from scaletui_engine.live.recording.fault import DamageError, RecordingError
from scaletui_engine.live.recording.layout import MAGIC, MOST_PACKED, START, VERSION, Block
from scaletui_engine.live.recording.packing import Stamp, packed, sealed
from scaletui_engine.live.recording.reader import Recording
from scaletui_engine.live.recording.schema import Schema, own_classes
from scaletui_engine.live.snapshot import Moment, Snapshot

EMPTY = [[7, 7], [], [], [], [], []]
"""A whole look of no job."""
LONG = "x" * 70_000


def everything(path: str) -> int:
    """Read every look; how many there are."""
    with Recording(path) as recording:
        for number in range(recording.looks):
            recording.look(number)
        return recording.looks


def refusal(path: str) -> str:
    with pytest.raises(RecordingError) as caught:
        everything(path)
    text = str(caught.value)
    assert "\n" not in text
    assert len(text) < 300 + len(path)
    return text


def test_the_forged_empty_look_is_sound(forge):
    assert everything(forge((Block.WHOLE, EMPTY))) == 1


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "no recording"),
        (b"STUIREC", "no recording"),
        (b"PK\3\4" + bytes(100), "no recording"),
        (START.pack(MAGIC, VERSION + 1), f"version 2, this reader knows {VERSION}"),
        (START.pack(MAGIC, VERSION), "no whole look"),
        (START.pack(MAGIC, VERSION) + bytes(100), "no block at byte 12"),
    ],
    ids=["nothing", "cut magic", "other file", "other version", "no block", "zeros"],
)
def test_other_files(tmp_path, data, said):
    path = tmp_path / "x.rec"
    path.write_bytes(data)
    assert said in refusal(str(path))


@pytest.mark.parametrize(
    ("whole", "said"),
    [
        ([], "Snapshot has 6 items, not 0"),
        ({}, "is not Snapshot"),
        ([[7, 7], 3, [], [], [], []], "3 is not a list"),
        ([[1 << 64, 7], [], [], [], [], []], "is not a number of 64 bits"),
        ([[True, 7], [], [], [], [], []], "True is not a number of 64 bits"),
        ([[7, 7], [], [[1, None, "", 0]], [], [], []], "1 is not a text"),
        ([[7, 7], [], [["/", "gone fishing", "", 0]], [], [], []], "is no Fault"),
        ([[7, 7], [], [[LONG, None, "", 0]], [], [], []], "is not a text"),
        ([[7, 7], [], [], [], [["GPU", 0, "", "ok", ["str", "x"], *[0] * 9, None, None]], []],
         "a type that is not one of"),
    ],
    ids=["short", "object", "number", "large", "flag", "text", "choice", "long", "type"],
)  # fmt: skip
def test_wrong_values(forge, whole, said):
    assert said in refusal(forge((Block.WHOLE, whole)))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ([], "an edit has 1 items, not 0"),
        (7, "7 is not an edit"),
        ({"jobs": {"0": {}}}, "is not in 0 to -1"),
        ({"jobs": {"drop": 1, "add": []}}, "1 is not in 0 to 0"),
        ({"jobs": {"drop": 0}}, "None is not a list"),
        ({"moment": {"wall_ns": 3}}, "3 is not an edit"),
        ({"moment": [[1]]}, "Moment has 2 items, not 1"),
    ],
)
def test_wrong_changes(forge, change, said):
    assert said in refusal(forge((Block.WHOLE, EMPTY), (Block.CHANGE, change)))


@pytest.mark.parametrize(
    ("blocks", "said"),
    [
        ([(Block.CHANGE, {})], "a change of nothing"),
        ([(Block.SCHEMA, {"classes": {}}), (Block.WHOLE, EMPTY)], "a block of kind 1"),
        ([(Block.MARK, [1, 2])], "a mark has 4 items, not 2"),
        ([(Block.MARK, ["job", 0, "birthday", ""])], "a mark of an unknown kind"),
        ([(Block.MARK, ["job", -1, "exit", ""])], "-1 is not in 0"),
    ],
)
def test_wrong_blocks(forge, blocks, said):
    assert said in refusal(forge(*blocks))


@pytest.mark.parametrize("classes", [[], {"Snapshot": 3}, {"Snapshot": [3]}, {}])
def test_wrong_schemas(forge, classes):
    assert refusal(forge((Block.WHOLE, EMPTY), classes=classes))


def test_a_file_of_a_later_version_with_more_fields_is_read(forge, opened):
    classes = own_classes()
    classes["Moment"] = ["weather", *classes["Moment"]]
    path = forge((Block.WHOLE, [["rain", 7, 7], [], [], [], [], []]), classes=classes)
    assert opened(path).first == Snapshot(Moment(7, 7), (), (), ())


def test_a_file_of_an_earlier_version_lacks_what_has_a_default(forge, opened):
    classes = own_classes()
    classes["Snapshot"] = ["moment", "jobs", "places", "faults"]
    assert opened(forge((Block.WHOLE, EMPTY[:4]), classes=classes)).first.drivers == ()
    del classes["DriverView"], classes["SourceStatus"]
    assert opened(forge((Block.WHOLE, EMPTY[:4]), classes=classes)).first.sources == ()
    classes["Snapshot"] = ["moment", "places", "faults"]
    assert "its Snapshot has no jobs" in refusal(forge((Block.WHOLE, EMPTY[:3]), classes=classes))


def test_text_that_steers_a_terminal_is_made_safe(forge, opened):
    path = forge((Block.WHOLE, [[7, 7], [], [["\x1b]0;x\x07", None, "", 0]], [], [], []]))
    assert opened(path).first.places[0].path == "\ufffd]0;x\ufffd"


def test_bombs_stay_within_bounds(forge):
    bombs = [
        b"[" * MOST_PACKED,
        b"1" * MOST_PACKED,
        b'"' + b"a" * (MOST_PACKED - 2) + b'"',
        bytes(10 * MOST_PACKED),
    ]
    bombs.append(b"[" + b"[]," * (MOST_PACKED // 3 - 1) + b"[]]")
    tracemalloc.start()
    for bomb in bombs:
        path = forge((Block.WHOLE, bomb))
        tracemalloc.reset_peak()
        refusal(path)
        assert tracemalloc.get_traced_memory()[1] < 320 << 20
    tracemalloc.stop()


def test_lengths_that_lie_allocate_nothing(tmp_path):
    path = tmp_path / "x.rec"
    block = bytearray(sealed(Block.SCHEMA, packed(b"{}"), Stamp(1, 1)))
    block[8:12] = (0xFFFFFFF0).to_bytes(4, "little")
    path.write_bytes(START.pack(MAGIC, VERSION) + block)
    tracemalloc.start()
    assert "no block at byte 12" in refusal(str(path))
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()


def test_random_damage_is_refused_or_read_and_never_anything_else(record):
    path, seen = record(12, ranks=2, fails_at=8)
    whole = path.read_bytes()
    chance = random.Random(7)
    outcomes = set()
    for _ in range(400):
        data = bytearray(whole)
        for _ in range(chance.choice((1, 1, 3, 40))):
            data[chance.randrange(len(data))] = chance.randrange(256)
        path.write_bytes(data)
        outcomes.add(_outcome(str(path), seen))
    assert outcomes >= {"refused", "shorter"}


def _outcome(path: str, seen: list[Snapshot]) -> str:
    """A checksum guards every byte: what is read is what was recorded."""
    try:
        recording = Recording(path)
    except RecordingError:
        return "refused"
    with recording:
        read = [recording.look(number) for number in range(recording.looks)]
    assert read == seen[: len(read)]
    return "shorter" if len(read) < len(seen) else "whole"


class _Pool:
    """Every number stands for the same plan."""

    def __init__(self, plan: object) -> None:
        self.plan = plan

    def number_of(self, value: object) -> int:
        del value
        return 0

    def value_of(self, number: int) -> object:
        del number
        return self.plan


def test_random_json_in_a_sound_block_is_refused_or_a_look():
    """The shapes alone, against values that no checksum has stopped."""
    look = next(looks(Story(1), 1))
    shape = Schema(own_classes(), _Pool(look.jobs[0].ranks[0].plan)).snapshot
    full, chance = shape.full(look), random.Random(3)
    outcomes = set()
    for _ in range(2_000):
        try:
            outcomes.add(type(shape.value(_spoiled(full, chance))))
        except DamageError as error:
            outcomes.add(type(error))
    assert outcomes == {Snapshot, DamageError}
    assert shape.value(full) == look


def test_random_edits_are_refused_or_a_look():
    first, second = looks(Story(1), 2)
    shape = Schema(own_classes(), _Pool(first.jobs[0].ranks[0].plan)).snapshot
    edit, chance = shape.edit(first, second), random.Random(5)
    outcomes = set()
    for _ in range(2_000):
        try:
            outcomes.add(type(shape.applied(first, _spoiled(edit, chance))))
        except DamageError as error:
            outcomes.add(type(error))
    assert outcomes == {Snapshot, DamageError}
    assert shape.applied(first, edit) == second


def _spoiled(value: object, chance: random.Random) -> object:
    """One leaf or branch somewhere in it is something else."""
    if isinstance(value, list) and value and chance.random() < 0.9:
        at = chance.randrange(len(value))
        return [*value[:at], _spoiled(value[at], chance), *value[at + 1 :]]
    if isinstance(value, dict) and value and chance.random() < 0.9:
        key = chance.choice(sorted(value))
        return {**value, chance.choice((key, "0", "drop", "-1", "9" * 5_000)): _spoiled(value[key], chance)}
    return chance.choice((None, -1, 1 << 70, 1e308, "x", [], {}, [None], True, [[[]]], "\x1b[2J", value))
