"""Which folders lie on a file server, by made-up tables of mounts, and what `scaletui run` says of it."""

from __future__ import annotations

import os
from argparse import ArgumentParser
from typing import TYPE_CHECKING

import pytest

from scaletui.commands import file_server, run
from scaletui.commands.file_server import served_by

if TYPE_CHECKING:
    from pathlib import Path

MOUNTS = r"""
22 28 0:21 / /proc rw,nosuid shared:12 - proc proc rw
28 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
40 28 0:35 / /home rw - nfs4 server:/home rw,hard
41 40 0:36 / /home/scratch\040disk rw - tmpfs tmpfs rw
42 28 0:37 / /mnt/lustre rw - lustre mds@tcp:/fs rw
43 42 0:38 / /mnt/lustre/cache rw - xfs /dev/nvme0n1 rw
44 28 0:39 / /data rw - xfs /dev/sdb rw
45 28 0:40 / /data rw - nfs server:/data rw
a line of something else
"""


@pytest.fixture
def mounts(tmp_path: Path) -> str:
    path = tmp_path / "mountinfo"
    path.write_text(MOUNTS)
    return str(path)


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        pytest.param("/tmp/scaletui-0", "", id="the-root-file-system"),
        pytest.param("/home/me/rings", "nfs4", id="home"),
        pytest.param("/homeward", "", id="a-name-that-begins-like-a-mount-point"),
        pytest.param("/home/scratch disk/x", "", id="a-local-disk-below-a-server"),
        pytest.param("/mnt/lustre", "lustre", id="the-mount-point-itself"),
        pytest.param("/mnt/lustre/cache/x", "", id="a-cache-below-a-server"),
        pytest.param("/data/x", "nfs", id="the-later-of-two-mounts-counts"),
    ],
)
def test_where_a_folder_lies(mounts: str, folder: str, kind: str) -> None:
    assert served_by(folder, mounts) == kind


def test_where_there_is_no_table_nothing_is_said(tmp_path: Path) -> None:
    assert served_by("/home/me", str(tmp_path / "none")) == ""


@pytest.mark.parametrize("kind", ["", "nfs4"])
def test_run_says_so_in_one_line_and_goes_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    became: list[str] = []
    monkeypatch.setattr(file_server, "served_by", lambda folder: kind)
    monkeypatch.setattr(os, "execvpe", lambda name, words, environ: became.append(name))
    parser = ArgumentParser()
    run.add_arguments(parser)
    run.run(parser.parse_args(["--dir", str(tmp_path / "rings"), "--", "train"]))
    error = capsys.readouterr().err
    assert became == ["train"]
    assert error.count("\n") == bool(kind)
    assert (f"{tmp_path / 'rings'} is on nfs4" in error) is bool(kind)
