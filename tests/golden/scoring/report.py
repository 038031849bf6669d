"""What every scoring kind hands back: a line a record, gates, and three summary lines."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from statistics import median


class UnreadableError(ValueError):
    """A file that is not of its kind: the message says what was expected."""


STATUSES = ("ok", "off", "inexpressible", "reported")


@dataclass(frozen=True, slots=True)
class Line:
    """One record, scored."""

    id: str
    group: str
    predicted: float | None
    unit: str
    status: str
    """ok or off: held against a gate; reported: compared but not gated; inexpressible: `reason` says why."""
    reason: str = ""
    expected: float | None = None
    error: float | None = None
    """Relative, in percent; signed, positive when the engine says more than was measured."""

    def text(self) -> str:
        """One line for a person."""
        predicted = "-" if self.predicted is None else f"{self.predicted:.4g}"
        expected = "-" if self.expected is None else f"{self.expected:.4g}"
        error = "" if self.error is None else f"{self.error:+.2f}%"
        figures = f"{predicted:>9} {expected:>9} {self.unit:<4} {error:>9}"
        return f"{self.status:<13} {figures}  {self.id}  {self.reason}".rstrip()


@dataclass(frozen=True, slots=True)
class Gate:
    """One bound that has to hold on the file."""

    name: str
    value: float | None
    """None where the file has no record that the gate is about."""
    bound: float
    at_least: bool = False

    @property
    def holds(self) -> bool:
        """Whether the value keeps to the bound; a gate without records holds."""
        if self.value is None:
            return True
        return self.value >= self.bound if self.at_least else self.value <= self.bound

    def text(self) -> str:
        """One line for a person."""
        value = "no record" if self.value is None else f"{self.value:.4g}"
        sign = ">=" if self.at_least else "<="
        return f"{'holds' if self.holds else 'FAILS'}: {self.name} {value} {sign} {self.bound:g}"


@dataclass(frozen=True, slots=True)
class Report:
    """A scored file."""

    records: tuple[Line, ...]
    gates: tuple[Gate, ...]
    notes: tuple[str, ...] = ()
    """What else the second summary line says: coverage, calibration."""

    @property
    def holds(self) -> bool:
        """Whether every gate holds."""
        return all(gate.holds for gate in self.gates)

    def lines(self) -> list[str]:
        """A line a record, then the summary."""
        return [*(record.text() for record in self.records), *self.summary()]

    def summary(self) -> list[str]:
        """Three lines: the records, the errors by group, the gates."""
        count = Counter(record.status for record in self.records)
        statuses = ", ".join(f"{count[status]} {status}" for status in STATUSES)
        off = [record.id for record in self.records if record.status == "off"]
        return [
            f"records: {len(self.records)} ({statuses})" + (f"; off: {', '.join(off)}" if off else ""),
            "errors: " + "; ".join((*self._groups(), *self.notes)),
            "gates: " + "; ".join(gate.text() for gate in self.gates),
        ]

    def _groups(self) -> list[str]:
        """Median and worst error of every group that has any."""
        errors: dict[str, list[float]] = {}
        for record in self.records:
            if record.error is not None:
                errors.setdefault(record.group, []).append(abs(record.error))
        return [
            f"{group} {len(found)} median {median(found):.2f}% worst {max(found):.2f}%"
            for group, found in errors.items()
        ]

    def as_json(self) -> dict[str, object]:
        """The same as one object."""
        keys = ("id", "group", "predicted", "unit", "status", "reason")
        return {
            "records": [{key: getattr(record, key) for key in keys} for record in self.records],
            "gates": [
                {"name": gate.name, "value": gate.value, "bound": gate.bound, "holds": gate.holds}
                for gate in self.gates
            ],
        }
