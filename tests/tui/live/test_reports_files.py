"""Report 28 of live monitors, and full disks: what is read is never run, and what cannot be written is said.

ComfyUI-KJNodes#734: a pickle that was opened ran what stood in it. scaletui opens no pickle; see
tests/probe/test_reports.py for the table of all.
"""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest
from live_rings import MadeUpJob
from probe.sources import sources_with
from terminal.pseudo_terminal import Setup, environment

from scaletui.cli import main
from scaletui_engine.live.recording.reader import Recording

if TYPE_CHECKING:
    from pathlib import Path

OPENERS = (
    ["replay"],
    ["replay", "--csv"],
    ["replay", "--once"],
    ["memory", "--scenario"],
    ["memory", "--model", "llama3.1-8b", "--gpu", "h100-sxm", "--gpus", "8", "--compare"],
    ["schedule", "--load"],
    ["live", "--once", "--dir"],
    ["budget", "--scenario"],
)
"""Every option that opens a file or folder that somebody else may have written."""


class Payload:
    """What unpickles to a call of os.mkdir."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize("words", OPENERS, ids=" ".join)
@pytest.mark.parametrize("name", ["memory_snapshot.pickle", "snapshot.toml", "x.csv", "x.rec"])
def test_kjnodes_734_a_pickle_is_refused_and_nothing_in_it_is_run(
    tmp_path: Path, words: list[str], name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    mark, path = tmp_path / "it-ran", tmp_path / name
    path.write_bytes(pickle.dumps(Payload(mark)))
    option = [str(path)] if words[0] != "replay" else []
    command = [words[0], str(path), *words[1:]] if words[0] == "replay" else [*words, *option]
    assert main(command) == 2
    (error,) = capsys.readouterr().err.splitlines()
    assert name in error
    assert not mark.exists()
    pickle.loads(path.read_bytes())
    assert mark.exists(), "the payload is one"


def test_kjnodes_734_no_part_of_scaletui_unpickles() -> None:
    assert sources_with(r"\b(import|from) (pickle|_pickle|shelve|dill|joblib)\b|torch\.load\(") == []


RECORDING = """
import resource, sys
from scaletui.cli import main
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
sys.exit(main(["live", "--record", sys.argv[1], "--no-screen", "--interval", "0.1", "--dir", sys.argv[2]]))
"""


def test_a_full_disk_ends_a_recording_with_its_reason_and_what_there_was_stays_readable(
    tmp_path: Path,
) -> None:
    """A limit on the size of files stands for the disk: the write that goes beyond fails as it does there."""
    path, rings = tmp_path / "x.rec", tmp_path / "rings"
    rings.mkdir(mode=0o700)
    words = [sys.executable, "-c", RECORDING, str(path), str(rings)]
    with (
        MadeUpJob(rings, 32) as job,
        subprocess.Popen(
            words, env=environment(Setup()), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process,
    ):
        try:
            for step in range(1, 5_000):
                job.step(step, weights_host=60 + step)
                if process.poll() is not None:
                    break
                threading.Event().wait(0.02)
            assert process.poll() is not None, "it goes on"
        finally:
            process.kill()
        said, error = process.communicate()
    assert process.returncode == 2
    assert re.fullmatch(
        r"scaletui: the recording stopped early: (No space left on device|File too large)\n", error
    )
    assert "recorded" in said
    with Recording(str(path)) as recording:
        assert recording.looks > 1
        assert recording.look(recording.looks - 1).jobs[0].id == "made-up"
