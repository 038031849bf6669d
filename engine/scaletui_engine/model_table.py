"""A model as a table of a file: an id of the catalogue, a variation of one, or field by field."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields, replace
from typing import TYPE_CHECKING, Final

from scaletui_engine.catalog import load_model, model_ids
from scaletui_engine.errors import ParseError
from scaletui_engine.fields import read, refuse_unknown
from scaletui_engine.model import Arch, Mla, Model, Moe
from scaletui_engine.validate.numbers import check_model

if TYPE_CHECKING:
    from collections.abc import Mapping

OWN_SOURCE: Final = "given in the file"
"""Source of a model that a person wrote down."""


@dataclass(frozen=True, slots=True)
class _Head:
    """What a model table says beside its architecture."""

    id: str | None = None
    like: str | None = None
    """A model of the catalogue to vary: its fields hold where the table is silent."""
    family: str = "own"
    max_seq: int | None = None
    source: str = OWN_SOURCE
    note: str | None = None


_HEAD: Final = tuple(field.name for field in fields(_Head))
_ARCH: Final = tuple(field.name for field in fields(Arch))
_NEEDED: Final = frozenset(field.name for field in fields(Arch) if field.default is MISSING)


def read_model(table: Mapping[str, object], where: str = "model") -> Model:
    """The model of a [model] table.

    Raises UnknownNameError for an unknown key, id or `like`, ParseError for a missing or mistyped field,
    ValueRangeError for an architecture that cannot be.
    """
    refuse_unknown(table, (*_HEAD, *_ARCH), where)
    head = read(_Head, {key: value for key, value in table.items() if key in _HEAD}, where)
    given = {key: value for key, value in table.items() if key in _ARCH}
    base = _base(head, given, where)
    if base is not None:
        given = {**_table_of(base.arch), **given}
    arch = read(Arch, given, where) if base is None or given != _table_of(base.arch) else base.arch
    model = _model(head, arch, base)
    check_model(model)
    return model


def write_model(model: Model) -> dict[str, dict[str, object]]:
    """Tables of a model by header: its id alone where the catalogue has it, else all its fields."""
    if is_of_catalogue(model):
        return {"model": {"id": model.id}}
    head = {name: getattr(model, name) for name in ("id", "family", "max_seq", "source", "note")}
    arch = _table_of(model.arch)
    tables: dict[str, dict[str, object]] = {"model": {**head, **arch, "moe": None, "mla": None}}
    for name, part in (("moe", model.arch.moe), ("mla", model.arch.mla)):
        if part is not None:
            tables[f"model.{name}"] = _table_of(part)
    return tables


def is_of_catalogue(model: Model) -> bool:
    """Whether it is a catalogue's model, unchanged."""
    return model.id in model_ids() and load_model(model.id) == model


def _base(head: _Head, given: Mapping[str, object], where: str) -> Model | None:
    if head.like is not None:
        return load_model(head.like)
    if given:
        if head.id in model_ids() and not _NEEDED.issubset(given):
            said = f"{where}.id = {head.id!r} with fields beside it"
            raise ParseError(f"{said}: to vary that model, write like = {head.id!r}")
        return None
    if head.id is None:
        raise ParseError(f"{where}.id is missing: wanted a model of the catalogue, or the fields of one")
    return load_model(head.id)


def _model(head: _Head, arch: Arch, base: Model | None) -> Model:
    if base is None:
        return Model(
            "own" if head.id is None else head.id, head.family, arch, head.max_seq, head.source, head.note
        )
    longest = base.max_seq if head.max_seq is None else head.max_seq
    if head.like is None:
        return base if longest == base.max_seq else replace(base, max_seq=longest)
    return Model(
        head.id or f"{base.id}-varied",
        base.family,
        arch,
        longest,
        f"like {base.id}: {base.source}",
        head.note,
    )


def _table_of(value: Arch | Moe | Mla) -> dict[str, object]:
    """The fields that differ from their default, parts as tables."""
    found: dict[str, object] = {}
    for field in fields(value):
        held = getattr(value, field.name)
        if field.default is MISSING or held != field.default:
            found[field.name] = _table_of(held) if isinstance(held, (Moe, Mla)) else held
    return found
