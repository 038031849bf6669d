"""GPUs as rows: layers, reasons, ranks, ages; at every width, with and without colours."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fake_nvml.binding import GIB, LOST, NO_PERMISSION, NOT_SUPPORTED, FakeGpu, FakeNvml, some_gpus, uuid_of
from fake_nvml.sweeper import Sweeper
from live_ranks import GPU_RANK

from scaletui.state.live_driver import GpuLook, moved, placed, toggled
from scaletui.text.glyphs import ASCII, MONO
from scaletui.text.numbers import Numbers
from scaletui.view.box import Box
from scaletui.view.live_bar import bar_parts, capacity_of, equation_rows, layer_parts, seats_by_rank
from scaletui.view.live_driver import driver_rows
from scaletui.view.live_driver_details import driver_detail_rows, source_rows
from scaletui.view.live_driver_words import lack_text, ranks_text
from scaletui.view.live_empty import empty_rows
from scaletui.view.live_gpus import gpu_rows, place_at
from scaletui.view.live_report import report_rows
from scaletui.view.pen import Pen
from scaletui.view.row import Row, row_width
from scaletui_engine.live.driver.device import unanswered
from scaletui_engine.live.driver.known import stranger
from scaletui_engine.live.driver.layers import Layers, layers
from scaletui_engine.live.driver.reading import Lack, NotAvailable, SourceStatus, Throttle
from scaletui_engine.live.evidence import RankState
from scaletui_engine.live.held import Held
from scaletui_engine.live.snapshot import JobView, Moment, RankView, Snapshot

S = 1_000_000_000
GB = 10**9
PEN = Pen(ASCII)
CANON = Layers(
    140 * GB, 96 * GB, 82 * GB, 60 * GB, 7 * GB, Held(20 * GB, 10 * GB, 20 * GB, 0, 0, 2 * GB, 8 * GB)
)


def rank_on(gpu: int, rank: int = 0) -> RankView:
    identity = replace(GPU_RANK.identity, rank=rank, device_uuid=uuid_of(gpu))
    return replace(GPU_RANK, path=f"r{rank}", identity=identity)


def seen(
    gpus: list[FakeGpu], *ranks: RankView, at_s: float = 1.0, sources: tuple[SourceStatus, ...] = ()
) -> Snapshot:
    """What is seen of GPUs that were read at second 1."""
    jobs = (JobView("4f2a", 0, 0, RankState.RUNNING, len(ranks), ranks),) if ranks else ()
    return Snapshot(Moment(int(at_s * S), 0), jobs, (), (), Sweeper(FakeNvml(gpus)).sweep(), sources)


def text(rows: tuple[Row, ...] | list[Row]) -> str:
    return "\n".join("".join(span.text for span in row) for row in rows)


def row_of(snapshot: Snapshot, place: int = 0, width: int = 120, pen: Pen = PEN) -> str:
    return text(driver_rows(snapshot, Box(width, 40), pen)).splitlines()[1 + place]


def test_report_pytorch_147179_outside_pytorch_is_14_gb() -> None:
    pen = Pen(ASCII, Numbers(decimal_bytes=True))
    assert "outside PyTorch 14.0 GB (context, NCCL, others)" in text(list(equation_rows(CANON, 80, pen)))
    assert dict(layer_parts(CANON)) == {
        "weights": 20 * GB, "gradients": 10 * GB, "optimizer": 20 * GB, "master_weights": 0, "buffers": 0,
        "unsharded": 2 * GB, "activations": 8 * GB, "split": 7 * GB, "reserved": 15 * GB, "overhead": 14 * GB,
    }  # fmt: skip
    assert sum(dict(layer_parts(CANON)).values()) == 96 * GB


def test_sums_stand_in_three_equations() -> None:
    rows = text(list(equation_rows(replace(CANON, own=3 * GB), 200, Pen(ASCII, Numbers(decimal_bytes=True)))))
    assert rows.replace("  ", " ").splitlines()[0].strip() == (
        f"driver 96.0 GB = reserved 82.0 GB + {'X' * 3} context, NCCL 3.0 GB + PPP other processes 11.0 GB"
    )
    assert "reserved 82.0 GB = active 60.0 GB +  -  inactive split 7.0 GB +  =  free segments 15.0 GB" in rows
    assert "active 60.0 GB = WWW weights 20.0 GB + GGG gradients 10.0 GB" in rows


def test_figures_of_two_moments_are_no_sum() -> None:
    rows = text(list(equation_rows(replace(CANON, used=80 * GB), 120, PEN)))
    assert "not of one moment" in rows
    assert "driver 74.5 GiB =" not in rows


def test_a_gpu_without_pytorch_is_all_other_processes() -> None:
    alone = layers([], None)
    assert text(list(equation_rows(replace(alone, used=GIB), 80, PEN))).strip() == (
        "driver 1.0 GiB = PPP other processes 1.0 GiB"
    )


@pytest.mark.parametrize("glyphs", [ASCII, MONO], ids=["ascii", "mono"])
def test_each_layer_has_a_glyph_of_its_own(glyphs: object) -> None:
    gpu = FakeGpu(uuid_of(0), used=70 * GIB, processes={100: 55 * GIB})
    row = row_of(seen([gpu], rank_on(0)), width=200, pen=Pen(glyphs))  # type: ignore[arg-type]
    drawn = list(dict.fromkeys(row[3 : row.index(glyphs.capacity)]))  # type: ignore[attr-defined]
    letters = [c for c in drawn if c in "WGOMAUBXP"]
    assert "".join(letters) == "WOUAXP"
    assert drawn.index("-") < drawn.index("=") < drawn.index("X") < drawn.index("P")


def test_jobs_without_nvml_are_drawn_by_their_own_figures() -> None:
    parts = dict(bar_parts(GPU_RANK))
    assert (parts["overhead"], parts["split"] + parts["reserved"]) == (2 * GIB, 10 * GIB)
    assert capacity_of(GPU_RANK) == 80 * GIB
    assert seats_by_rank(seen([], GPU_RANK)) == {}


@pytest.mark.parametrize(("at_s", "is_used"), [(1.0, True), (5.9, True), (6.5, False)])
def test_a_drivers_old_figure_is_not_drawn_beside_a_new_one(at_s: float, is_used: bool) -> None:
    snapshot = seen(some_gpus(1), rank_on(0), at_s=at_s)
    assert bool(seats_by_rank(snapshot)) is is_used


def test_a_rank_is_drawn_against_its_gpu() -> None:
    gpu = FakeGpu(uuid_of(0), used=70 * GIB, total=94 * GIB, processes={100: 55 * GIB})
    snapshot = seen([gpu], rank_on(0))
    seat = seats_by_rank(snapshot)["r0"]
    parts = dict(bar_parts(rank_on(0), seat))
    assert (parts["overhead"], parts["others"]) == (5 * GIB, 15 * GIB)
    assert capacity_of(rank_on(0), seat) == 94 * GIB


def test_reports_nvitop_139_lost_and_its_age() -> None:
    nvml = FakeNvml(some_gpus(3))
    sweeper = Sweeper(nvml)
    sweeper.sweep(1)
    nvml.gpus[1].refused["*"] = LOST
    snapshot = Snapshot(Moment(13 * S, 0), (), (), (), sweeper.sweep(13))
    rows = text(driver_rows(snapshot, Box(120, 9), PEN)).splitlines()
    assert "lost, last answer 12 s ago (GPU is lost)" in rows[2]
    assert "41.0" not in rows[2], "no figure of before is shown as one of now"
    assert "40.0/80.0" in rows[1]
    assert "42.0/80.0" in rows[3]


def test_a_gpu_that_has_never_answered_is_not_called_lost() -> None:
    why = NotAvailable(Lack.NO_ANSWER)
    view = unanswered(stranger(1, why), why, 4 * S)
    snapshot = Snapshot(Moment(13 * S, 0), (), (), (), (view,))
    row = text(driver_rows(snapshot, Box(80, 9), PEN)).splitlines()[1]
    assert ("no answer for 9.0 s" in row, "lost" in row) == (True, False)


def test_reports_nvitop_134_a_pid_of_another_namespace_is_said() -> None:
    gpu = FakeGpu(uuid_of(0), processes={4_000_000: 50 * GIB})
    snapshot = seen([gpu], rank_on(0, rank=3))
    assert "rank 3, pid not in this namespace" in row_of(snapshot)
    details = text(driver_detail_rows(snapshot, 0, Box(80, 24), PEN))
    assert "process 4000000, rank 3, pid not in this namespace" in details


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_reports_nvtop_426_unified_memory_is_no_share_and_no_gpu_figure(width: int) -> None:
    gpu = FakeGpu(uuid_of(0), utilization=31, refused={"nvmlDeviceGetMemoryInfo": NOT_SUPPORTED})
    snapshot = seen([gpu])
    host = snapshot.drivers[0].host
    assert host is not None
    row = row_of(snapshot, width=width)
    assert f"host {PEN.numbers.bytes(host.total)}" in row
    assert "unified" in row
    assert row.count("%") == 1
    assert "31 %" in row
    assert "/" not in row


def test_reports_nvtop_256_mig_instances_say_why_there_is_no_load() -> None:
    gpu = FakeGpu(
        uuid_of(4), instances=[FakeGpu(uuid_of(7, "MIG"), used=3 * GIB, total=10 * GIB, place=(5, 0))]
    )
    row = row_of(seen([gpu]))
    assert row.startswith(" 0:5/0 ")
    assert "n/a (MIG)" in row
    assert "3.0/10.0" in row


def test_what_slows_or_harms_a_gpu_is_beside_it() -> None:
    gpu = FakeGpu(uuid_of(0), throttle=0x4 | 0x20 | 0x40, ecc=12)
    assert row_of(seen([gpu]), width=160).rstrip().endswith("no rank, power cap, thermal slowdown, ECC 12")


def test_figures_that_are_not_told_are_dashes() -> None:
    calls = ("nvmlDeviceGetPowerUsage", "nvmlDeviceGetTemperature", "nvmlDeviceGetUtilizationRates")
    gpu = FakeGpu(uuid_of(0), refused={**dict.fromkeys(calls, NOT_SUPPORTED)})
    gpu.refused["nvmlDeviceGetComputeRunningProcesses"] = NO_PERMISSION
    snapshot = seen([gpu])
    assert row_of(snapshot).split("80.0")[1].split() == ["-", "-", "-", "no", "rank"]
    details = text(driver_detail_rows(snapshot, 0, Box(80, 24), PEN))
    assert "not available: no permission (Insufficient Permissions)" in details


def test_memory_without_permission_has_its_reason() -> None:
    gpu = FakeGpu(uuid_of(0), refused={"nvmlDeviceGetMemoryInfo": NO_PERMISSION})
    assert "not available: no permission" in row_of(seen([gpu]))


def test_old_figures_say_their_age() -> None:
    assert "old" not in row_of(seen(some_gpus(1), at_s=3.5))
    assert "42 s old, no rank" in row_of(seen(some_gpus(1), at_s=43))


@pytest.mark.parametrize("count", [1, 8, 16, 72])
@pytest.mark.parametrize("height", [2, 9, 20])
def test_reports_btop_1707_none_is_hidden_silently(count: int, height: int) -> None:
    rows = driver_rows(seen(some_gpus(count)), Box(80, height), PEN)
    shown = len(rows) - 1
    assert len(rows) <= height
    assert (f", {count - shown} more" in text(rows[:1])) is (shown < count)


@pytest.mark.parametrize("count", [8, 16, 72])
def test_every_gpu_is_reached_by_walking(count: int) -> None:
    snapshot, look, reached = seen(some_gpus(count)), toggled(GpuLook()), set()
    for _ in range(count):
        pane = text(gpu_rows(snapshot, look, Box(80, 20), PEN))
        (chosen,) = [line for line in pane.splitlines() if line.startswith(">")]
        reached.add(int(chosen[1:4]))
        assert uuid_of(look.chosen) in pane
        look = moved(look, 1, count)
    assert reached == set(range(count))
    assert look.chosen == count - 1


@pytest.mark.parametrize("count", [3, 72])
def test_a_click_chooses_what_is_under_it(count: int) -> None:
    snapshot, look = seen(some_gpus(count)), GpuLook(True, count // 2)
    pane = text(gpu_rows(snapshot, look, Box(80, 20), PEN)).splitlines()
    for y, line in enumerate(pane):
        place = place_at(y, look, count, 20)
        if place is not None:
            assert int(line[1:4]) == place
            assert text(gpu_rows(snapshot, placed(look, place), Box(80, 20), PEN)).count(f"GPU {place} ") == 1
    assert place_at(0, look, count, 20) is None
    assert place_at(19, look, count, 20) is None


@pytest.mark.parametrize("width", [60, 79, 80, 120, 200])
def test_rows_are_as_wide_as_their_box(width: int) -> None:
    gpus = some_gpus(12)
    gpus[1].refused["*"] = LOST
    gpus[2].refused["nvmlDeviceGetMemoryInfo"] = NOT_SUPPORTED
    gpus[3].instances = [FakeGpu(uuid_of(7, "MIG"), place=(5, 0))]
    snapshot = seen(gpus, rank_on(0), rank_on(0, 1))
    for place in range(len(snapshot.drivers)):
        rows = gpu_rows(snapshot, GpuLook(True, place), Box(width, 40), PEN)
        assert {row_width(row) for row in rows} == {width}


def test_without_a_driver_the_list_says_why() -> None:
    sources = (SourceStatus("rings", S), SourceStatus("NVML", None, NotAvailable(Lack.NO_BINDING)))
    snapshot = seen([], sources=sources)
    pane = text(gpu_rows(snapshot, GpuLook(True), Box(80, 20), PEN))
    assert "NVML: not available: nvidia-ml-py is not installed" in pane
    assert pane.splitlines()[0].endswith(" esc leave -")
    assert driver_rows(snapshot, Box(80, 20), PEN) == ()
    assert driver_detail_rows(snapshot, 0, Box(80, 20), PEN) == ()


def test_a_source_that_does_not_answer_is_told_with_its_age() -> None:
    sources = (SourceStatus("rings", 60 * S), SourceStatus("NVML", S, NotAvailable(Lack.NO_ANSWER)))
    snapshot = seen(some_gpus(2), at_s=60, sources=sources)
    assert text(list(source_rows(snapshot, 80, PEN))).strip() == "NVML: no answer, 59 s old"
    assert "NVML: no answer, 59 s old" in text(driver_rows(snapshot, Box(80, 9), PEN)[:1])


def test_sources_that_are_well_are_silent() -> None:
    snapshot = seen(some_gpus(1), sources=(SourceStatus("rings", S), SourceStatus("NVML", S)))
    assert list(source_rows(snapshot, 80, PEN)) == []


def test_gpus_stand_below_the_recipes_and_in_the_plain_report() -> None:
    snapshot = seen(some_gpus(8))
    assert " 7 P" in text(empty_rows(snapshot, Box(80, 24), PEN))
    assert " 7 P" in text(list(report_rows(snapshot, 80, PEN)))
    assert " 7 P" in text(list(report_rows(seen(some_gpus(8), rank_on(0)), 80, PEN)))


@pytest.mark.parametrize("lack", Lack)
def test_every_lack_has_words(lack: Lack) -> None:
    assert lack_text(NotAvailable(lack))


@pytest.mark.parametrize("throttle", Throttle)
def test_every_throttle_has_words(throttle: Throttle) -> None:
    view = replace(seen(some_gpus(1)).drivers[0], throttle=(throttle,))
    snapshot = replace(seen([]), drivers=(view,))
    assert row_of(snapshot, width=200).rstrip()[-1].isalpha()
    assert not row_of(snapshot, width=200).rstrip().endswith("no rank")


@pytest.mark.parametrize(
    ("ranks", "words"), [((), "no rank"), ((3,), "rank 3"), ((0, 1), "ranks 0, 1")], ids=str
)
def test_ranks_of_a_gpu(ranks: tuple[int, ...], words: str) -> None:
    assert ranks_text(rank_on(0, rank) for rank in ranks) == words
