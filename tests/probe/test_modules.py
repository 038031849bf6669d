"""Which modules are outermost, as PyTorch's notices of new children tell."""

from __future__ import annotations

import gc

import pytest

from scaletui_probe.modules import ModuleWatch, plain_name


class FakeModule:
    """A module that tells a watch of its children, as PyTorch does."""

    def __init__(self, watch: ModuleWatch) -> None:
        self._watch = watch
        self.children: list[FakeModule | None] = []

    def add(self, child: FakeModule | None) -> FakeModule:
        self._watch.registered(self, str(len(self.children)), child)
        self.children.append(child)
        return self

    def __eq__(self, _other: object) -> bool:
        raise RuntimeError("modules are not for comparing")


def test_children_and_grandchildren_are_not_outermost() -> None:
    watch = ModuleWatch()
    leaf, layers, net = FakeModule(watch), FakeModule(watch), FakeModule(watch)
    net.add(layers)
    layers.add(leaf)
    assert [id(module) for module in watch.outermost()] == [id(net)]


def test_a_wrapper_takes_the_place_of_what_it_wraps() -> None:
    watch = ModuleWatch()
    net = FakeModule(watch).add(FakeModule(watch))
    assert [id(module) for module in watch.outermost()] == [id(net)]
    wrapper = FakeModule(watch).add(net)
    assert [id(module) for module in watch.outermost()] == [id(wrapper)]


def test_two_models_are_both_outermost_and_one_that_is_gone_is_not() -> None:
    watch = ModuleWatch()
    student = FakeModule(watch).add(FakeModule(watch))
    teacher = FakeModule(watch).add(FakeModule(watch))
    assert len(watch.outermost()) == 2
    del teacher
    gc.collect()
    assert [id(module) for module in watch.outermost()] == [id(student)]


def test_a_part_that_outlives_its_model_becomes_outermost() -> None:
    watch = ModuleWatch()
    backbone = FakeModule(watch).add(FakeModule(watch))
    model = FakeModule(watch).add(backbone)
    assert len(watch.outermost()) == 1
    del model
    gc.collect()
    assert [id(module) for module in watch.outermost()] == [id(backbone)]


def test_a_notice_never_raises() -> None:
    watch = ModuleWatch()
    watch.registered(object(), "cannot be held weakly", None)
    assert FakeModule(watch).add(None)._watch is watch


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        pytest.param("module.layers.0.weight", "layers.0.weight", id="ddp"),
        pytest.param("_orig_mod.layers.0.weight", "layers.0.weight", id="compile"),
        pytest.param("_fsdp_wrapped_module.layers.0._fsdp_wrapped_module.w", "layers.0.w", id="fsdp1"),
        pytest.param("layers.0._checkpoint_wrapped_module.w", "layers.0.w", id="checkpoint"),
        pytest.param("my.module.w", "my.module.w", id="a-module-called-module"),
    ],
)
def test_names_lose_what_wrappers_put_in(name: str, expected: str) -> None:
    assert plain_name(name) == expected
