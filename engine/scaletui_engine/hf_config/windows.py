"""Which layers look back over a window only, as each family says it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from scaletui_engine.errors import ParseError, ValueRangeError, brief

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaletui_engine.hf_config.entries import Entries

Window: TypeAlias = "tuple[int | None, int]"
"""Tokens of the window, and the layers that have it: (None, 0) without one."""

NO_WINDOW: Final[Window] = (None, 0)
_SLIDING: Final = "sliding_attention"
_KNOWN: Final = (_SLIDING, "full_attention", "chunked_attention")


def every_layer(entries: Entries) -> Window:
    """`sliding_window` holds in every layer (Mistral, Phi-3)."""
    return _held(entries, entries.whole("num_hidden_layers"))


def listed(entries: Entries, slides: Callable[[int], bool]) -> Window:
    """The layers of `layer_types`, else those whose index `slides` picks.

    Raises ParseError for a kind of layer without a rule, ValueRangeError for too few or too many.
    """
    layers, types = entries.whole("num_hidden_layers"), entries.texts("layer_types")
    if not types:
        return _held(entries, sum(map(slides, range(layers))))
    strange = next((found for found in types if found not in _KNOWN), None)
    if strange is not None:
        raise ParseError(f"layer_types holds {brief(strange)}, a kind of layer without a rule here")
    if len(types) != layers:
        raise ValueRangeError(f"layer_types names {len(types)} layers, but num_hidden_layers = {layers}")
    return _held(entries, types.count(_SLIDING))


def behind_full_layers(entries: Entries) -> Window:
    """Qwen's `use_sliding_window`: the layers from `max_window_layers` on."""
    first = entries.whole("max_window_layers", least=0)
    found = listed(entries, lambda layer: layer >= first)
    return found if entries.flag("use_sliding_window") else NO_WINDOW


def every_other_before(entries: Entries) -> Window:
    """Qwen2-MoE's: the even layers below `max_window_layers`."""
    first = entries.whole("max_window_layers", least=0)
    found = listed(entries, lambda layer: layer % 2 == 0 and layer < first)
    return found if entries.flag("use_sliding_window") else NO_WINDOW


def all_but_each(entries: Entries, key: str) -> Window:
    """All but the last of each so many layers (Gemma 2, Gemma 3, gpt-oss, OLMo 3)."""
    period = entries.whole(key)
    return listed(entries, lambda layer: (layer + 1) % period != 0)


def _held(entries: Entries, layers: int) -> Window:
    window = entries.whole_or_none("sliding_window", least=0)
    return (window, layers) if window and layers else NO_WINDOW
