"""The writer of ring files and the folder they lie in."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

import pytest
from probe.workbench import read_ring, sample_header

from scaletui_probe.directory import DirectoryError, open_directory, ring_directory
from scaletui_probe.layout import EVENTS_CAPACITY, Kind, ring_size
from scaletui_probe.record import Measures, Record
from scaletui_probe.ring import create_ring, plan_bytes, ring_name

if TYPE_CHECKING:
    from pathlib import Path


def record(step: int) -> Record:
    measures = Measures()
    measures.put({"step": step})
    return Record(Kind.EVENT, monotonic_ns=step, wall_ns=step, measures=measures)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "rings"
    path.mkdir(mode=0o700)
    return path


def test_a_full_region_keeps_the_newest(folder: Path) -> None:
    descriptor = open_directory(str(folder))
    ring = create_ring(descriptor, sample_header())
    for step in range(EVENTS_CAPACITY + 5):
        assert ring.put(record(step))
    ring.put_plan({"version": 1, "step": 3})
    ring.put_header(sample_header()._replace(rank=9))
    ring.close()
    os.close(descriptor)
    found = read_ring(folder / ring.name)
    steps = [entry.measures.get("step") for entry in found.records[Kind.EVENT]]
    assert steps == list(range(5, EVENTS_CAPACITY + 5))
    assert found.plan == {"version": 1, "step": 3}
    assert found.header.rank == 9


def test_the_file_is_the_owners_alone_and_whole_from_the_start(folder: Path) -> None:
    descriptor = open_directory(str(folder))
    ring = create_ring(descriptor, sample_header())
    status = (folder / ring.name).stat()
    os.close(descriptor)
    ring.close()
    assert stat.S_IMODE(status.st_mode) == 0o600
    assert status.st_size == ring_size()
    assert status.st_blocks * 512 >= ring_size()


@pytest.mark.parametrize("kind", ["file", "link"])
def test_what_lies_there_already_is_not_touched(folder: Path, kind: str) -> None:
    place = folder / ring_name(sample_header())
    other = folder / "other"
    other.write_text("mine")
    if kind == "link":
        place.symlink_to(other)
    else:
        place.write_text("mine")
    descriptor = open_directory(str(folder))
    with pytest.raises(FileExistsError):
        create_ring(descriptor, sample_header())
    os.close(descriptor)
    assert other.read_text() == "mine"
    assert place.read_text() == "mine"


def test_a_closed_ring_refuses_instead_of_writing_elsewhere(folder: Path) -> None:
    descriptor = open_directory(str(folder))
    ring = create_ring(descriptor, sample_header())
    os.close(descriptor)
    ring.close()
    with pytest.raises(OSError, match="Bad file descriptor"):
        ring.put(record(1))


def test_a_plan_larger_than_its_area_is_refused() -> None:
    with pytest.raises(OSError, match="plan of 300013 bytes > 262128"):
        plan_bytes({"names": "x" * 300_000 + "y"})


@pytest.mark.parametrize(
    ("explicit", "environ", "expected"),
    [
        pytest.param("/a/b", {"SCALETUI_DIR": "/c"}, "/a/b", id="the-option-first"),
        pytest.param(None, {"SCALETUI_DIR": "/c/../d"}, "/d", id="then-the-variable"),
        pytest.param(None, {}, f"scaletui-{os.geteuid()}", id="then-the-temporary-folder"),
        pytest.param("", {"SCALETUI_DIR": ""}, f"scaletui-{os.geteuid()}", id="empty-is-not-said"),
    ],
)
def test_the_folder_of_the_rings(explicit: str | None, environ: dict[str, str], expected: str) -> None:
    assert ring_directory(explicit, environ).endswith(expected)


def test_the_folder_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b"
    os.close(open_directory(str(path), create=True))
    assert stat.S_IMODE(path.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    ("mode", "message"),
    [
        pytest.param(0o777, "0777: others could write", id="all"),
        pytest.param(0o770, "chmod go-w", id="group"),
    ],
)
def test_a_folder_that_others_can_write_in_is_refused(folder: Path, mode: int, message: str) -> None:
    folder.chmod(mode)
    with pytest.raises(DirectoryError, match=message):
        open_directory(str(folder))


def test_the_default_folder_must_be_closed_to_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    path = tmp_path / f"scaletui-{os.geteuid()}"
    path.mkdir(mode=0o755)
    path.chmod(0o755)
    with pytest.raises(DirectoryError, match=r"mode 0755, not owner \d+ and mode 0700"):
        open_directory(str(path))


def test_a_link_is_not_followed(folder: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(folder)
    with pytest.raises(DirectoryError, match="is a link or a file, not a folder"):
        open_directory(str(link))


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(DirectoryError, match="gone: No such file or directory"):
        open_directory(str(tmp_path / "gone"))
