"""The probe arms while the job imports torch.optim, and never imports it itself."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest
from probe.fake_torch import COMPILING_TORCH, FAKE_TORCH, UNWRAPPING, put_torch
from probe.workbench import Workbench

import scaletui_probe
from scaletui_probe.layout import Event, Kind, Reason

OLD_TORCH = {**FAKE_TORCH, "optim/optimizer.py": "class Optimizer: pass"}
BROKEN_TORCH = {
    **FAKE_TORCH,
    "optim/optimizer.py": "def register_optimizer_step_pre_hook(hook): raise RuntimeError\n"
    "register_optimizer_step_post_hook = register_optimizer_step_pre_hook",
}
STEPS = """
import torch
optimizer = torch.optim.optimizer.Optimizer()
for _ in range(3):
    optimizer.step()
"""
ARM = "import sys; from scaletui_probe.arming import arm; arm(); "
HOOKED = "print(len(torch.optim.optimizer.pre), len(torch.optim.optimizer.post))"


def run(tmp_path: Path, torch: dict[str, str], code: str) -> subprocess.CompletedProcess[str]:
    put_torch(tmp_path, torch)
    program = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); {code}"
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        pytest.param(ARM + "print('torch' in sys.modules)", "False", id="arming-imports-nothing"),
        pytest.param(ARM + "import torch; " + HOOKED, "1 1", id="armed-before-torch"),
        pytest.param("import torch; " + ARM + HOOKED, "1 1", id="armed-after-torch"),
        pytest.param(ARM + ARM + "import torch; " + ARM + HOOKED, "1 1", id="armed-three-times"),
    ],
)
def test_hooks_are_registered_once(tmp_path: Path, code: str, expected: str) -> None:
    done = run(tmp_path, FAKE_TORCH, code)
    assert (done.stdout.strip(), done.stderr, done.returncode) == (expected, "", 0)


@pytest.mark.parametrize(
    "torch", [pytest.param(OLD_TORCH, id="without-such-hooks"), pytest.param(BROKEN_TORCH, id="that-raises")]
)
def test_a_torch_that_cannot_be_hooked_is_still_imported(tmp_path: Path, torch: dict[str, str]) -> None:
    done = run(tmp_path, torch, ARM + "import torch; print(torch.optim.sgd.__name__)")
    assert (done.stdout.strip(), done.stderr) == ("torch.optim.sgd", "")


@pytest.mark.parametrize(
    "place",
    [
        pytest.param("/proc/no/such/place", id="a-folder-that-cannot-be-made"),
        pytest.param("/dev/null", id="not-a-folder"),
    ],
)
def test_a_step_goes_on_when_there_is_no_place_for_a_ring(tmp_path: Path, place: str) -> None:
    code = f"import os; os.environ['SCALETUI_DIR'] = {place!r}; {ARM}import torch; "
    done = run(tmp_path, FAKE_TORCH, code + "torch.optim.optimizer.Optimizer().step(); print('stepped')")
    assert (done.stdout.strip(), done.stderr) == ("stepped", "")


def interpreters() -> list[str]:
    """This Python, and the oldest that the probe runs on where there is one."""
    places = ("/usr/bin/python3.9", "/usr/local/bin/python3.9")
    managed = sorted(Path.home().glob(".pyenv/versions/3.9.*/bin/python"))
    oldest = [str(path) for path in (*map(Path, places), *managed) if path.exists()]
    return [sys.executable, *oldest[:1]]


@pytest.mark.parametrize("python", interpreters())
def test_steps_leave_a_ring(tmp_path: Path, python: str) -> None:
    put_torch(tmp_path, FAKE_TORCH)
    autostart = Path(scaletui_probe.__file__).parent / "autostart"
    environ = {"PYTHONPATH": f"{autostart}:{tmp_path}", "SCALETUI_DIR": str(tmp_path / "rings")}
    done = subprocess.run([python, "-W", "error", "-c", STEPS], capture_output=True, text=True, env=environ)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    (ring,) = Workbench(tmp_path / "rings", tmp_path).read()
    assert ring.last(Kind.STEP).measures.get("step") == 3
    assert [record.event for record in ring.records[Kind.EVENT]] == [Event.START, Event.EXIT]


@pytest.mark.parametrize("steps_before", [0, 2], ids=["before-any-step", "after-two-steps"])
def test_hooks_that_torch_compile_takes_off_are_missed_and_said_to_be(
    tmp_path: Path, steps_before: int
) -> None:
    put_torch(tmp_path, COMPILING_TORCH)
    program = f"""
import sys; sys.path.insert(0, {str(tmp_path)!r})
from scaletui_probe.arming import arm; arm()
import torch
AdamW = torch.optim.AdamW
{UNWRAPPING}
optimizer = AdamW()
for _ in range({steps_before}): optimizer.step()
import torch._dynamo
patch()
import torch._inductor
for _ in range(3): optimizer.step()
"""
    environ = {**os.environ, "SCALETUI_DIR": str(tmp_path / "rings")}
    done = subprocess.run([sys.executable, "-c", program], env=environ, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    (ring,) = Workbench(tmp_path / "rings", tmp_path).read()
    for kind in (Kind.STEP, Kind.EVENT):
        measures = ring.last(kind).measures
        assert (measures.get("step"), measures.reason("step")) == (None, Reason.COMPILED)
        assert (measures.get("weights_host"), measures.reason("weights_host")) == (None, Reason.COMPILED)


def test_a_torch_whose_hooks_stay_is_believed(tmp_path: Path) -> None:
    put_torch(tmp_path, COMPILING_TORCH)
    program = STEPS.replace("torch.optim.optimizer.Optimizer()", "torch.optim.AdamW()")
    compiling = "import torch._dynamo, torch._inductor"
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); {ARM}{program}{compiling}"
    environ = {**os.environ, "SCALETUI_DIR": str(tmp_path / "rings")}
    done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    (ring,) = Workbench(tmp_path / "rings", tmp_path).read()
    assert ring.last(Kind.EVENT).measures.get("step") == 3


@pytest.mark.parametrize(
    "path",
    sorted(Path(str(scaletui_probe.__file__)).parent.rglob("*.py")),
    ids=lambda path: f"{path.parent.name}/{path.name}",
)
def test_the_oldest_python_that_the_probe_runs_on_can_read_it(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 9))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    named = {(ast.unparse(call.func), word.arg) for call in calls for word in call.keywords}
    assert ("zip", "strict") not in named
    assert not {"pairwise", "aiter", "anext"} & {function.rpartition(".")[2] for function, _ in named}
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    outside = {(node.module or "").partition(".")[0] for node in imports}
    assert outside <= {"scaletui_probe", *sys.stdlib_module_names}
