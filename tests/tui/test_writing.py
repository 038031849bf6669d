"""Files that a person names: what stands in the way, and that nothing is lost."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from scaletui import writing
from scaletui.picks import scenario_items
from scaletui.state import naming
from scaletui.writing import meant, stands_there, write_whole
from scaletui_engine.scenarios import load_scenario, scenario_ids

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize(
    ("name", "path"),
    [
        (" a b.md ", "a b.md"),
        ("~/x.md", "/home/someone/x.md"),
        ("~nobody-of-that-name/x.md", "~nobody-of-that-name/x.md"),
        ("a" * 300, "a" * 300),
    ],
)
def test_a_name_means_a_path(name: str, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/someone")
    assert meant(name) == Path(path)


PLACES: list[tuple[str, Callable[[Path], object], bool]] = [
    ("nothing", lambda path: path, False),
    ("file", lambda path: path.write_text("old"), True),
    ("folder", lambda path: path.mkdir(), True),
    ("pipe", lambda path: os.mkfifo(path), True),
    ("loop", lambda path: path.symlink_to(path.name), False),
    ("dangling", lambda path: path.symlink_to("nowhere"), False),
]


@pytest.mark.parametrize(("make", "there"), [row[1:] for row in PLACES], ids=[row[0] for row in PLACES])
def test_what_stands_there(make: Callable[[Path], object], there: bool, tmp_path: Path) -> None:
    path = tmp_path / "x.md"
    make(path)
    assert stands_there(path) == there


def test_names_that_no_file_system_takes_are_not_there(tmp_path: Path) -> None:
    assert not stands_there(tmp_path / ("a" * 300))
    assert not stands_there(tmp_path / "x.md" / "y.md")
    with pytest.raises(OSError, match="too long"):
        write_whole(tmp_path / ("a" * 300), "new")


@pytest.mark.parametrize("place", ["new.md", "old.md", "link.md"])
def test_a_text_is_written_whole(place: str, tmp_path: Path) -> None:
    old = tmp_path / "old.md"
    old.write_text("old", encoding="utf-8")
    old.chmod(0o640)
    (tmp_path / "link.md").symlink_to("old.md")
    path = tmp_path / place
    write_whole(path, "new \u00e9")
    assert path.read_text(encoding="utf-8") == "new \u00e9"
    assert (tmp_path / "link.md").is_symlink()
    expected = 0o666 & ~umask() if place == "new.md" else 0o640
    assert stat.S_IMODE(path.stat().st_mode) == expected
    assert {each.name for each in tmp_path.iterdir()} == {"old.md", "link.md", place}


def umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_what_is_no_file_is_refused_and_not_waited_for(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "x.md"
    make = next(make for name, make, _ in PLACES if name == kind)
    make(path)
    with pytest.raises(OSError, match="not a regular file"):
        write_whole(path, "new")
    assert [each.name for each in tmp_path.iterdir()] == ["x.md"]


def test_a_full_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(new: Path, old: Path | None) -> None:
        del new, old
        raise OSError(28, "No space left on device")

    path = tmp_path / "old.md"
    path.write_text("old", encoding="utf-8")
    monkeypatch.setattr(writing, "_permit", full)
    with pytest.raises(OSError, match="No space left"):
        write_whole(path, "new")
    assert path.read_text(encoding="utf-8") == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["old.md"]


def test_the_list_of_scenarios_passes_over_what_cannot_be_read_at_once(tmp_path: Path) -> None:
    (tmp_path / "good.toml").write_text("", encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text("", encoding="utf-8")
    (tmp_path / "a\nb.toml").write_text("", encoding="utf-8")
    (tmp_path / "folder.toml").mkdir()
    (tmp_path / "loop.toml").symlink_to("loop.toml")
    os.mkfifo(tmp_path / "pipe.toml")
    items = scenario_items(tmp_path)
    here = [item for item in items if item.id not in scenario_ids()]
    assert [item.title for item in here] == ["a\\nb.toml", "good.toml"]
    assert here[1].id == str(tmp_path / "good.toml")


def test_a_folder_that_is_gone_has_only_what_is_shipped(tmp_path: Path) -> None:
    assert [item.id for item in scenario_items(tmp_path / "gone")] == list(scenario_ids())


def test_a_long_name_makes_a_suggestion_that_can_be_a_file() -> None:
    scenario = load_scenario("llama3-8b-8")
    long = naming.suggested_name(type(scenario)(scenario.model, scenario.cluster, scenario.plan, "y" * 9999))
    assert long == "y" * naming.LONGEST + ".toml"
