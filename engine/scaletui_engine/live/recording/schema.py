"""The classes a look is made of, and the shape of a look, built from their annotations."""

from __future__ import annotations

from dataclasses import fields
from enum import Enum
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Final, Union, get_args, get_origin, get_type_hints

from scaletui_engine.live.discovery import Place
from scaletui_engine.live.driver.reading import (
    DriverProcess,
    DriverState,
    DriverView,
    HostMemory,
    Lack,
    MigPlace,
    NotAvailable,
    SourceStatus,
    Throttle,
)
from scaletui_engine.live.evidence import RankState, Verdict, What
from scaletui_engine.live.fault import Fault, RingFault
from scaletui_engine.live.header import Identity, Process
from scaletui_engine.live.held import Held
from scaletui_engine.live.history import Point
from scaletui_engine.live.plan_document import (
    JobPlan,
    OptimizerGroup,
    PlannedGroup,
    PlannedOptimizer,
    PlannedParameter,
    ZeroSettings,
)
from scaletui_engine.live.predicted import Prediction, Unpredicted
from scaletui_engine.live.recording.composites import Many, Maybe, Member, OneOf, Several, Thing
from scaletui_engine.live.recording.fault import DamageError
from scaletui_engine.live.recording.shapes import Choice, Document, Flag, Octets, Real, Shared, Text, Whole
from scaletui_engine.live.snapshot import Allocator, Happening, JobView, Moment, RankView, Snapshot
from scaletui_engine.live.wave import WaveSample
from scaletui_probe.layout import Event, Reason

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scaletui_engine.live.recording.pool import Pool
    from scaletui_engine.live.recording.shapes import Shape

CLASSES: Final[tuple[type, ...]] = (
    Snapshot, Moment, JobView, RankView, Identity, Process, Verdict, Held, Prediction, Point, Allocator,
    Happening, Place, RingFault, JobPlan, PlannedParameter, PlannedOptimizer, OptimizerGroup, PlannedGroup,
    ZeroSettings, DriverView, DriverProcess, HostMemory, MigPlace, NotAvailable, SourceStatus, WaveSample,
)  # fmt: skip
"""Every class of which a look may hold an object."""
SHARED: Final[tuple[type, ...]] = (JobPlan,)
"""Classes whose objects are large, stay the same from look to look, and are recorded once."""
_ENUMERATIONS: Final[tuple[type, ...]] = (
    RankState, What, Fault, Unpredicted, Event, Reason, DriverState, Lack, Throttle,
)  # fmt: skip
_NAMES: Final = {kind.__name__: kind for kind in (*CLASSES, *_ENUMERATIONS)}
_LEAVES: Final[Mapping[object, Shape]] = {
    int: Whole(), float: Real(), bool: Flag(), str: Text(), bytes: Octets(),
}  # fmt: skip


def own_classes() -> dict[str, list[str]]:
    """Class -> its fields, in the order in which this version writes them."""
    return {kind.__name__: [field.name for field in fields(kind)] for kind in CLASSES}


class Schema:
    """The shapes of one file's classes; classes that share a pool are numbers in the looks.

    Raises DamageError where the file lacks a field that an object cannot be without.
    """

    def __init__(self, classes: Mapping[str, Sequence[str]], pool: Pool) -> None:
        self._classes = classes
        self._pool = pool
        self._things: dict[type, Thing] = {}
        self.snapshot: Shape = self._thing(Snapshot)
        """The shape of a look."""
        self.shared: Shape = OneOf({kind: self._thing(kind) for kind in SHARED})
        """The shape of a value of the pool."""

    def _thing(self, kind: type) -> Thing:
        if kind not in self._things:
            names = self._classes.get(kind.__name__)
            if names is None:
                raise DamageError(f"it has no {kind.__name__}")
            hints = get_type_hints(kind, localns=_NAMES)
            known = [field.name for field in fields(kind) if field.name in names]
            members = [Member(name, self._shape(hints[name]), names.index(name)) for name in known]
            self._things[kind] = Thing(kind, members, len(names))
        return self._things[kind]

    def _shape(self, hint: Any) -> Shape:
        if hint in _LEAVES:
            return _LEAVES[hint]
        origin, args = get_origin(hint), get_args(hint)
        if origin is tuple:
            if args[-1] is Ellipsis:
                return Many(self._shape(args[0]))
            return Several([self._shape(item) for item in args])
        if origin in (Union, UnionType):
            return self._one_of(args)
        if origin is dict:
            return Document()
        return self._named(hint)

    def _one_of(self, args: Sequence[Any]) -> Shape:
        kinds = [kind for kind in args if kind is not NoneType]
        shapes = {get_origin(kind) or kind: self._shape(kind) for kind in kinds}
        shape = OneOf(shapes) if len(kinds) > 1 else self._shape(kinds[0])
        return Maybe(shape) if NoneType in args else shape

    def _named(self, kind: type) -> Shape:
        if issubclass(kind, Enum):
            return Choice(kind)
        assert kind in CLASSES, f"{kind} has no shape"
        return Shared(self._pool) if kind in SHARED else self._thing(kind)
