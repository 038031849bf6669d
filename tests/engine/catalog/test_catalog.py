"""The catalogue: a source on every entry, names the way people write them, honest memory sizes."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import pytest

from scaletui_engine.catalog import gpu_ids, load_gpu, load_model, model_ids
from scaletui_engine.errors import UnknownNameError
from scaletui_engine.units import GIB

MODELS = files("scaletui_engine.catalog").joinpath("models.json").read_text("utf-8")
GPUS = files("scaletui_engine.catalog").joinpath("gpus.json").read_text("utf-8")


def test_sizes() -> None:
    assert (len(model_ids()), len(gpu_ids())) == (75, 45)


@pytest.mark.parametrize("entry", json.loads(MODELS), ids=lambda entry: entry["id"])
def test_model_entries_hold_an_architecture_and_a_source(entry: dict[str, Any]) -> None:
    assert set(entry) <= {"id", "family", "arch", "max_seq", "source", "note"}
    assert len(entry["source"]) > 10
    assert load_model(entry["id"]).source == entry["source"]


def test_counts_are_not_in_the_catalogue() -> None:
    assert "params" not in MODELS


@pytest.mark.parametrize("gpu", gpu_ids())
def test_gpus_have_sources_and_sane_numbers(gpu: str) -> None:
    found = load_gpu(gpu)
    assert found.source
    assert all(len(source) > 10 for source in found.source)
    assert 8 * GIB < found.capacity_bytes <= found.memory_bytes
    assert found.capacity_is_nominal == (found.usable_source is None)
    assert found.memory_bandwidth > found.nvlink_bandwidth > 0
    assert (found.flops("bf16") or found.flops("fp16") or 0) > 1e13
    assert hash(found) == hash(load_gpu(gpu))


USABLE = [
    ("h100-sxm", 79.11), ("h100-sxm-96-500w", 95.0396), ("a100-sxm-80", 79.25), ("a100-sxm-40", 39.50),
    ("t4", 14.75), ("rtx4090", 23.64), ("mi355x", 287.98), ("l40s", 44.42), ("b200", 178.35),
    ("b300", 267.69), ("gb200", 184.31), ("gb300", 276.50), ("h200-sxm", 143_156 / 1024),
    ("v100-sxm2-16", 16_160 / 1024), ("a10g", 22_587 / 1024), ("a6000", 48_670 / 1024), ("tpu-v5p", 95.74),
]  # fmt: skip


@pytest.mark.parametrize(("gpu", "gib"), USABLE)
def test_what_the_driver_reports(gpu: str, gib: float) -> None:
    assert load_gpu(gpu).capacity_bytes == round(gib * GIB)


EXACT = [
    ("a40", 47_697_690_624), ("mi300x", 206_141_652_992), ("trn2", 103_079_215_104),
    ("tpu-v6e", 33_550_237_696),
]  # fmt: skip


@pytest.mark.parametrize(("gpu", "bytes_"), EXACT)
def test_a_figure_in_bytes_is_kept_to_the_byte(gpu: str, bytes_: int) -> None:
    assert load_gpu(gpu).capacity_bytes == bytes_


def test_a_chip_of_two_devices_has_no_figure_of_its_own() -> None:
    nominal = {name for name in gpu_ids() if load_gpu(name).capacity_is_nominal}
    assert nominal == {"mi250x", "tpu-v3", "tpu-v7x", "gaudi3"}


def test_a_driver_keeps_little_of_the_nominal_size() -> None:
    kept = {name: 1 - load_gpu(name).capacity_bytes / load_gpu(name).memory_bytes for name in gpu_ids()}
    assert [name for name, part in kept.items() if not 0 <= part < 0.09] == []


def test_an_nvlink_domain_is_not_a_node() -> None:
    assert load_gpu("gb200").nvlink_domain == 72
    assert load_gpu("h100").nvlink_domain == 8


def test_bandwidths_are_for_one_direction() -> None:
    assert load_gpu("h100").nvlink_bandwidth == 450e9
    assert load_gpu("h100").network_bandwidth == 50e9
    assert load_gpu("h800").nvlink_bandwidth == 200e9


NAMES = [
    ("llama3-8b", "llama3-8b"), ("Llama 3 8B", "llama3-8b"), ("llama-3.1-405b", "llama3.1-405b"),
    ("GPT2", "gpt2-124m"), ("DeepSeek_V3", "deepseek-v3-671b"), ("mixtral-8x7b", "mixtral-8x7b"),
]  # fmt: skip


@pytest.mark.parametrize(("written", "model"), NAMES)
def test_model_names(written: str, model: str) -> None:
    assert load_model(written).id == model


GPU_NAMES = [
    ("h100", "h100-sxm"), ("NVIDIA H100 80GB HBM3", "h100-sxm"), ("NVIDIA A100-SXM4-80GB", "a100-sxm-80"),
    ("Tesla T4", "t4"), ("RTX 4090", "rtx4090"), ("B200", "b200"),
]  # fmt: skip


@pytest.mark.parametrize(("written", "gpu"), GPU_NAMES)
def test_gpu_names(written: str, gpu: str) -> None:
    assert load_gpu(written).id == gpu


def test_unknown_names_come_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown model 'lama3-8b', did you mean 'llama3-8b'\?"):
        load_model("lama3-8b")
    with pytest.raises(UnknownNameError, match=r"unknown GPU 'h110', did you mean 'h100'\?"):
        load_gpu("h110")
    with pytest.raises(UnknownNameError, match=r"unknown model '\?\?\?'$"):
        load_model("???")
