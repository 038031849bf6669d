"""`scaletui shard`: which slice of a tensor each rank holds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from scaletui.arguments import UsageError
from scaletui.commands.output import print_json, print_rows, report_pen, width
from scaletui.commands.scenario_options import add_scenario_options, asks_scenario, scenario_from
from scaletui.text.language import N_, tr
from scaletui_engine.sharding.brief import brief

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterable

    from scaletui_engine.sharding.layout import Layout, Region
    from scaletui_engine.sharding.parameter_view import ParameterView

HELP: Final = N_("which slice of a tensor each rank holds, and who holds an element")
_LAYOUT: Final = ("shape", "mesh", "placements")
_PARTS: Final = ("weights", "gradients", "optimizer", "activations", "unreduced", "secondary")


def add_arguments(parser: ArgumentParser) -> None:
    """A shape on a mesh, or a parameter of a scenario."""
    parser.add_argument("--shape", metavar="N,N", help=tr("a tensor, as in 512,4096"))
    parser.add_argument("--mesh", metavar="NAME=N,...", help=tr("mesh axes, slowest first, as in dp=4,tp=2"))
    parser.add_argument(
        "--placements",
        metavar="P,P",
        help=tr('one an axis, as in "S(0),R": S(dim), R, P, HT(dim), S(dim;N,N), _S(dim,sf=N)'),
    )
    parser.add_argument(
        "--param", metavar="NAME", help=tr("a parameter of the model, as in layers.0.attention.wq")
    )
    parser.add_argument("--part", choices=_PARTS, default="weights", help=tr("what is held of it (weights)"))
    parser.add_argument("--rank", type=int, metavar="N", help=tr("only this rank"))
    parser.add_argument("--element", metavar="I,J", help=tr("who holds this element"))
    parser.add_argument("--json", action="store_true", help=tr("print one JSON object"))
    add_scenario_options(parser)


def run(args: Namespace) -> int:
    """Print the layout."""
    given = [name for name in _LAYOUT if getattr(args, name) is not None]
    if given and (args.param is not None or asks_scenario(args)):
        raise UsageError(tr("{name} does not go with {other}", name=f"--{given[0]}", other="--param"))
    if given:
        _run_layout(args)
    elif args.param is None:
        raise UsageError(tr("missing: {what}", what="--shape --mesh --placements"))
    else:
        _run_parameter(args)
    return 0


def _run_layout(args: Namespace) -> None:
    from scaletui.view.shard_report import layout_rows
    from scaletui_engine.sharding.layout import Layout, check_shape, checked_layout
    from scaletui_engine.sharding.mesh import parse_mesh
    from scaletui_engine.sharding.placement import parse_placements

    missing = [f"--{name}" for name in _LAYOUT if getattr(args, name) is None]
    if missing:
        raise UsageError(tr("missing: {what}", what=" ".join(missing)))
    shape = numbers_of(args.shape, "--shape")
    check_shape(shape)
    mesh = parse_mesh(args.mesh)
    layout = checked_layout(Layout(shape, mesh, parse_placements(args.placements, len(shape))))
    element = None if args.element is None else numbers_of(args.element, "--element")
    holders = None if element is None else list(layout.holders(element))
    ranks = range(mesh.world) if args.rank is None else (args.rank,)
    if args.json:
        print_json(_layout_json(layout, ranks) | ({} if holders is None else {"holders": holders}))
    else:
        print_rows(layout_rows(layout, tuple(ranks), (width(), report_pen(args)), holders))


def _layout_json(layout: Layout, ranks: Iterable[int]) -> dict[str, Any]:
    from scaletui_engine.sharding.fsdp2 import held_layout

    real = held_layout(layout)
    return {
        "shape": list(layout.shape),
        "mesh": {axis.name: axis.size for axis in layout.mesh.axes},
        "placements": [str(placement) for placement in layout.placements],
        "replicas": layout.replicas,
        "partials": layout.partials,
        "padded_shape": list(layout.padded_shape()),
        "ranks": [_layout_rank(layout, real, rank) for rank in ranks],
    }


def _layout_rank(layout: Layout, real: Layout | None, rank: int) -> dict[str, Any]:
    """One rank; where FSDP2 cut the dim after TP, what it really holds."""
    held = {} if real is None else {"real_slices": as_lists(real.slices(rank))}
    return {
        "rank": rank,
        "coordinate": list(layout.mesh.coordinate(rank)),
        "slices": as_lists(layout.slices(rank)),
        "local_shape": list(layout.local_shape(rank)),
        "elements": layout.numel(rank),
    } | held


def as_lists(region: Region) -> list[list[list[int]]]:
    """Half-open intervals of every dim."""
    return [[list(each) for each in along] for along in region]


def _run_parameter(args: Namespace) -> None:
    from scaletui.view.shard_report import parameter_rows
    from scaletui_engine.sharding.holders import holders
    from scaletui_engine.sharding.parameter_view import parameter_view
    from scaletui_engine.sharding.part import Part

    view = parameter_view(scenario_from(args), args.param, Part(args.part))
    element = None if args.element is None else numbers_of(args.element, "--element")
    held = None if element is None else list(holders(view.scenario, view.named, element, view.part))
    ranks = tuple(view.ranks()) if args.rank is None else (view.checked(args.rank),)
    if args.json:
        print_json(_parameter_json(view, ranks) | ({} if held is None else {"holders": held}))
    else:
        print_rows(parameter_rows(view, ranks, (width(), report_pen(args)), held))


def _parameter_json(view: ParameterView, ranks: tuple[int, ...]) -> dict[str, Any]:
    return {
        "param": view.name,
        "part": view.part.value,
        "shape": list(view.map.shape),
        "placements": {
            axis.name: str(placement)
            for axis, placement in zip(view.map.declared.mesh.axes, view.map.declared.placements, strict=True)
        },
        "real_placements": {
            axis.name: str(placement)
            for axis, placement in zip(view.map.layout.mesh.axes, view.map.layout.placements, strict=True)
        },
        "partials": view.map.layout.partials,
        "stays_whole": view.map.stays,
        "stages": list(view.stages),
        "bytes_per_element": view.item,
        "ranks": [
            {
                "rank": piece.rank,
                "slices": as_lists(piece.region),
                "run": None if piece.run is None else list(piece.run),
                "elements": piece.numel,
                "bytes": piece.numel * view.item,
                "allocated_bytes": piece.allocated * view.item,
                "declared_differs": not view.agrees(piece.rank),
            }
            | _work(view, piece.rank)
            for piece in map(view.piece, ranks)
        ],
    }


def _work(view: ParameterView, rank: int) -> dict[str, Any]:
    """Heads that a rank stores and computes, where Megatron's fused rows part the two."""
    from scaletui_engine.sharding.fused_qkv import qkv_work

    found = qkv_work(view.scenario, view.named.tensor.name, rank)
    if found is None:
        return {}
    stored, work = found
    heads = [{"head": each.head, "rows": list(each.rows)} for each in stored]
    return {"stores": heads, "computes": {"queries": list(work.queries), "kv": list(work.groups)}}


def numbers_of(text: str, option: str) -> tuple[int, ...]:
    """Whole numbers with commas between them. Raises UsageError."""
    words = [word.strip() for word in text.replace("x", ",").split(",")]
    for word in words:
        if not _WHOLE.fullmatch(word):
            raise UsageError(
                tr("{name}: {value} is not a whole number", name=option, value=repr(brief(text)))
            )
        if len(word) > _DIGITS:
            raise UsageError(
                tr("{name}: {value} has more than {n} digits", name=option, value=brief(word), n=_DIGITS)
            )
    return tuple(map(int, words))


_WHOLE: Final = re.compile(r"-?\d+", re.ASCII)
_DIGITS: Final = 15
