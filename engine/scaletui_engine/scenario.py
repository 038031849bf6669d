"""A scenario: model x cluster x plan, frozen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scaletui_engine.cluster import Cluster
    from scaletui_engine.model import Model
    from scaletui_engine.plan import Plan


@dataclass(frozen=True, slots=True)
class Scenario:
    """What every pane looks at; an edit makes a new one."""

    model: Model
    cluster: Cluster
    plan: Plan
    name: str = ""
    """What a person calls it; empty where nobody named it."""

    def with_plan(self, plan: Plan) -> Scenario:
        """The same model and cluster under another plan."""
        return replace(self, plan=plan)
