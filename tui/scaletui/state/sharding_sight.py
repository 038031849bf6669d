"""What the sharding screen shows of a scenario: the parameter, the card of the rank, the traffic."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from scaletui.state.seat import Seat
from scaletui.text.refusals import refusal
from scaletui_engine.errors import ScenarioError
from scaletui_engine.sharding.orders import Order, renumbered
from scaletui_engine.sharding.parameter_view import parameter_view
from scaletui_engine.sharding.rank_card import mesh_card
from scaletui_engine.sharding.traffic.table import traffic

if TYPE_CHECKING:
    from scaletui.state.sharding_look import Look
    from scaletui.state.sharding_picture import Picture, Spot
    from scaletui_engine.scenario import Scenario
    from scaletui_engine.sharding.holders import Holders
    from scaletui_engine.sharding.parameter_view import ParameterView, Piece
    from scaletui_engine.sharding.rank_card import MeshCard
    from scaletui_engine.sharding.traffic.table import Traffic, TrafficRow


@dataclass(frozen=True, slots=True, eq=False)
class Sight:
    """A look with its answers."""

    look: Look
    view: ParameterView
    card: MeshCard
    traffic: Traffic | None
    """None where the step cannot be counted; `refusal` says why."""
    refusal: str = ""

    @property
    def scenario(self) -> Scenario:
        """Whose mesh and model."""
        return self.view.scenario

    @property
    def rank(self) -> int:
        """The rank as Megatron numbers it, which is how layouts count."""
        return self.counted(self.look.rank)

    @property
    def piece(self) -> Piece:
        """What the rank holds of the parameter."""
        return self.view.piece(self.rank)

    @property
    def rows(self) -> tuple[TrafficRow, ...]:
        """The traffic, as sent or as papers count it."""
        if self.traffic is None:
            return ()
        return self.traffic.implemented if self.look.implemented else self.traffic.paper

    @property
    def row(self) -> TrafficRow | None:
        """The row that is chosen."""
        place = self.look.traffic_row
        return None if place is None or place >= len(self.rows) else self.rows[place]

    def shown(self, rank: int) -> int:
        """The chosen order's number for a rank as layouts count."""
        return renumbered(self.scenario.plan.axes, rank, (Order.MEGATRON, self.look.order))

    def counted(self, shown: int) -> int:
        """The other way round."""
        return renumbered(self.scenario.plan.axes, shown, (self.look.order, Order.MEGATRON))

    def first(self, held: Holders | None) -> int | None:
        """The lowest rank of a tile, as the chosen order numbers it."""
        return None if held is None else next((self.shown(rank) for rank in held), None)


def sight_of(scenario: Scenario, look: Look) -> Sight:
    """The answers to a settled look."""
    layer = look.layer
    name = look.name if layer is None else look.name.replace("{layer}", str(layer))
    view = parameter_view(scenario, name, look.part)
    card = mesh_card(scenario, look.rank, look.order)
    found = counted_traffic(scenario, look.order, _stage(scenario, look))
    if isinstance(found, ScenarioError):
        return Sight(look, view, card, None, refusal(found))
    return Sight(look, view, card, found)


def _stage(scenario: Scenario, look: Look) -> int:
    """The pipeline rank of the rank that is looked at."""
    return Seat(look.rank, look.order).stage(scenario)


@lru_cache(maxsize=32)
def counted_traffic(scenario: Scenario, order: Order, stage_rank: int) -> Traffic | ScenarioError:
    """The table of a pipeline rank, or why there is none."""
    try:
        return traffic(scenario, stage_rank, order)
    except ScenarioError as error:
        return error


def holds(held: Holders | None, rank: int) -> bool:
    """Whether a rank is among a tile's."""
    if held is None:
        return False
    stage, inner = divmod(rank, held.stage_size)
    lane = held.lane
    return (
        stage in held.stages
        and inner in held.inner
        and (lane is None or inner // lane[2] % lane[1] == lane[0])
    )


def next_tile(picture: Picture, rank: int, steps: int) -> Spot:
    """The tile before or behind the rank's, row by row; the first one where it has none."""
    spots, here = picture.spots, picture.spot(rank)
    if here is None:
        return spots[0]
    return spots[min(max(spots.index(here) + steps, 0), len(spots) - 1)]
