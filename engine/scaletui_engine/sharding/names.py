"""Parameters by name: "layers.31.mlp.w1" to its tensor, layer and expert, and searches for part of a name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scaletui_engine.errors import UnknownNameError, ValueRangeError
from scaletui_engine.tensors import tensors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scaletui_engine.model import Arch, Tensor

_NUMBER: Final = re.compile(r"(?<=\.)(\d{1,9})(?=\.|$)")


@dataclass(frozen=True, slots=True)
class Named:
    """One parameter, or all layers or experts of it where the number is left open."""

    tensor: Tensor
    layer: int | None = None
    expert: int | None = None


def parameter(arch: Arch, name: str) -> Named:
    """The parameter of that name; "{layer}", "*" or "[0-125]" stands for any layer.

    Raises UnknownNameError with the nearest name, ValueRangeError for a layer or expert that is not there.
    """
    return named_in(tensors(arch), name)


def named_in(listed: Sequence[Tensor], name: str, kind: str = "parameter") -> Named:
    """The same among the tensors that are listed."""
    by_name = {tensor.name: tensor for tensor in listed}
    numbers = [int(number) for number in _NUMBER.findall(name)]
    template = _template(re.sub(r"\[\d+-\d+\]|\*", "{any}", name))
    found = next((each for key, each in by_name.items() if _template(key) == template), None)
    if found is None:
        raise UnknownNameError(kind, name, by_name)
    given = _given(found.name, name)
    layer, expert = given.get("layer"), given.get("expert")
    if layer is not None and (found.layers is None or layer not in found.layers):
        held = found.layers or range(0)
        raise ValueRangeError(f"{found.name} has layers {_span(held)}, not {layer}")
    if expert is not None and not 0 <= expert < found.experts:
        raise ValueRangeError(f"{found.name} has experts 0 to {found.experts - 1}, not {expert}")
    assert len(numbers) >= len(given)
    return Named(found, layer, expert)


def search(listed: Sequence[Tensor], text: str) -> tuple[Named, ...]:
    """Tensors whose name holds the words of `text` in their order: "layers.31.mlp" finds three."""
    number = _NUMBER.search(text)
    words = [word for word in re.split(r"[.\s]+", text.lower()) if word and not word.isdecimal()]
    pattern = re.compile(".*".join(map(re.escape, words)))
    layer = None if number is None else int(number[1])
    return tuple(
        Named(tensor, layer if tensor.layers is not None else None)
        for tensor in listed
        if pattern.search(f"{tensor.name} {tensor.role}".lower())
        and (layer is None or (tensor.layers is not None and layer in tensor.layers))
    )


def shown(named: Named) -> str:
    """The name a person reads: "layers.[0-125].attention.wq" where no layer is chosen."""
    tensor = named.tensor
    layer = _span(tensor.layers) if named.layer is None and tensor.layers else named.layer
    expert = f"[0-{tensor.experts - 1}]" if named.expert is None else named.expert
    return tensor.name.replace("{layer}", str(layer)).replace("{expert}", str(expert))


def _span(layers: range) -> str:
    step = "" if layers.step == 1 else f":{layers.step}"
    return f"[{layers[0]}-{layers[-1]}{step}]" if len(layers) > 1 else str(layers[0] if layers else "none")


def _template(name: str) -> str:
    return re.sub(r"\{\w+\}", "#", _NUMBER.sub("#", name))


def _given(template: str, name: str) -> dict[str, int]:
    """The numbers that `name` has where the template has a field."""
    pairs = zip(template.split("."), name.split("."), strict=True)
    return {field[1:-1]: int(word) for field, word in pairs if field.startswith("{") and word.isdecimal()}
