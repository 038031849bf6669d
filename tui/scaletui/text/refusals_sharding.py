"""Templates of what the engine refuses about meshes, layouts, collectives and simulations."""

from __future__ import annotations

from typing import Final

from scaletui.text.language import N_

SHARDING: Final = (
    # places and ranges
    N_("index {index} of dim {dim} is not in {range}"),
    N_("{word}: dim {dim} is not in {range}, the dims of the shape"),
    N_("{n} ranks are not in {range}"),
    N_("{what} is not in {range}"),
    # meshes
    N_("mesh axis {word} is not NAME=SIZE"),
    N_("mesh axis {axis}, but an axis has at least 1 rank"),
    N_("mesh axis {name} is named {n} times"),
    N_("{product} ranks, more than {most}"),
    N_("order {order}: {token} is no axis"),
    N_("order {order} names an axis twice"),
    # shapes, placements, elements
    N_("shape {shape} elements: there is nothing to shard"),
    N_("shape {shape} elements, which is not below {most}"),
    N_("shape {shape} has {n} dims, so there is no dim {dim} to shard"),
    N_("element {element} has {n} indices, the shape {dims} dims"),
    N_("{n} placements for {axes} mesh axes ({names}): one an axis"),
    N_("{n} lengths for the {ranks} ranks of {axis}: one a rank"),
    N_("lengths of dim {dim} add up to {total}, but it has {length}"),
    N_("dim {dim} has given lengths, so no other axis can cut it"),
    N_("{name} has layers {layers}, not {layer}"),
    N_("{name} has experts 0 to {last}, not {expert}"),
    N_("{equation}: FSDP2 refuses uneven sharding of a dim other than 0"),
    N_("zero_hpz = 1: there is no second copy of the weights"),
    N_("{setting} with {strategy}: a second copy goes with zero3"),
    # what does not divide
    N_("{equation} is not whole"),
    N_("{equation}, not whole, and heads are not copied"),
    N_("{equation}, not whole"),
    N_("kv heads {heads}, tp {tp}: {equation}; the groups must be a multiple or a divisor of tp"),
    N_("{n} ranks / {each} per node = {nodes} nodes"),
    N_("{n} ranks are no power of 2"),
    # pipeline splits
    N_("{equation}: not divisible"),
    N_("{equation} layers / {middle} middle stages (pp {pp}) = {result}: not divisible"),
    N_("{equation} layers for pp {pp} = {middle} middle stages"),
    N_("{layers} layers, pp {pp}: {n} layers of a rank / vp {vp} = {result}: not divisible"),
    N_("{layers} layers + {ends} over {stages} stages = {each} each, less than {least}"),
    N_("{layers} layers on pp {pp} x vp {vp} stages"),
    N_("{layers} layers on {ranks} stages: a stage would be empty"),
    N_("stages of {counts} layers do not add up to {layers}"),
    N_("{stages} stages on pp {pp} ranks: wanted {wanted}"),
    N_("a multiple of pp {pp}"),
    N_("layout {text}: {letter} is none of {letters}"),
    N_("layout {text}: the bracket at {place} is not closed"),
    N_("layout {text}: no count after the * at {place}"),
    N_("layout {text} repeats to more than {most} letters"),
    N_("layout {text}: {first} E and {last} L, wanted one E on the first stage and one L"),
    # collectives, topologies, scalers
    N_("{n} elements: an array has none or more"),
    N_("a group has {n} ranks, but at least 1 is needed"),
    N_("{rows} GPU rows under {columns} GPU columns: not the matrix of nvidia-smi topo -m"),
    N_("{word} is no link of nvidia-smi topo -m"),
    N_("growth {growth} > 1 and backoff {backoff} < 1 must hold"),
    N_("loss scale {scale} = min_scale {least}: it cannot go lower"),
    # the nearest that would do
    N_("sequence {n}"),
    N_("{n} per node"),
    N_("{n} ranks"),
    N_("{n} stages"),
    # kinds of names
    N_("axis"),
    N_("order"),
    N_("parameter"),
    N_("activation"),
    N_("placement"),
    N_("collective"),
    N_("simulation"),
    N_("number format"),
    N_("block format"),
)
"""The parts in braces are translated again where they fit a template themselves."""
