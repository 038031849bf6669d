"""Templates of what the engine refuses about pipeline schedules: shapes, times, orders, files."""

from __future__ import annotations

from typing import Final

from scaletui.text.language import N_

SCHEDULE: Final = (
    # sizes
    N_("ranks {ranks} x chunks {chunks} = {stages} stages > {most}"),
    N_("{stages} stages x {units} microbatches = {places} > {most}"),
    N_("stages {stages} x microbatches {microbatches} = {places} > {most}, too many to show"),
    N_("ranks x microbatches = {places} > {most}"),
    N_("scaletui schedule, which prints them"),
    N_("{stages} stages / {chunks} chunks = {ranks}, not whole ranks"),
    N_("{name} holds {wanted} chunks a rank, not {chunks}"),
    N_("{count} or more"),
    N_("microbatches {count} < 1"),
    N_("slices {count} < 1"),
    # what a schedule needs
    N_("{name} needs microbatches ({count}) >= {why} ({least})"),
    N_(
        "{name} needs microbatches ({count}) >= pipeline ranks ({ranks}): raise the microbatches "
        "or lower the ranks"
    ),
    N_(
        "{name} needs microbatches ({count}) % group ({group}) = {rest} to be 0 or >= pipeline "
        "ranks ({ranks})"
    ),
    N_("{name} deals microbatches in {equation} rounds: {rest}"),
    N_("{name} runs from both ends: {what}"),
    N_("microbatches {equation} = 1"),
    N_("group {group} is outside ranks {ranks} ... microbatches {microbatches}"),
    N_("zb-auto tries {places} places (ranks x microbatches) eight ways: more than {most}"),
    N_("{name} re-orders {places} places (stages x microbatches): more than {most}"),
    N_("{count} microbatches, or blocks repeated without re-ordering"),
    N_("memory limit {limit} < 1 microbatch"),
    N_("zb-auto: rank {rank} holds {held} > memory limit {limit} microbatches"),
    # times and bytes
    N_("{equation}: no action takes any time"),
    N_("what all ranks compute = 0"),
    N_("{name} time {value} is not a number of at least 0"),
    N_("{name} time {value} > {most}"),
    N_("{name} names {count} times for {places} {what}"),
    N_("1 or {count} times"),
    N_("memory of stage {stage}: {equation}, not 0"),
    N_("{count} memory deltas for {stages} stages"),
    N_("1 or {count} deltas"),
    N_("memory delta {value} is not a number of at most {most}"),
    N_("{gpu} has no published rate for {names}"),
    N_("{gpu} has no published network rate for messages between nodes"),
    N_("{window} has no width"),
    N_("window from {start} to {end} in {columns} columns"),
    # orders
    N_("rank {rank} has no action"),
    N_("{stages} stages x {units} microbatches need at least {least} actions, but the order has {actions}"),
    N_(
        "rank {rank}, step {step}: {action}, but the schedule has {stages} stages ({first}) and "
        "{units} microbatches ({second})"
    ),
    N_("{first} to {last}"),
    N_("rank {rank}, step {step}: {action}, but stage {stage} is on rank {held}"),
    N_("rank {rank}, step {step}: {action}, but {other} ran on rank {elsewhere}"),
    N_("rank {rank}, step {step}: {action} runs before {other}, which is at step {place}"),
    N_("rank {rank}, step {step}: {action} runs in one pair with {other}, which it needs"),
    N_("stage {stage}, microbatch {microbatch}: {action} {count} times, wanted once"),
    N_("stage {stage}, microbatch {microbatch}: no {action}"),
    N_("stage {stage}, microbatch {microbatch}: no {action}, nor I and W"),
    N_("stage {stage}, microbatch {microbatch}: {action} beside its halves I and W"),
    N_("stage {stage}, microbatch {microbatch}: {action} without {other}"),
    N_("{fault} (and {count} more)"),
    N_("deadlock: {heads}"),
    N_("{head}; {others}"),
    N_("rank {rank} at {action} waits for {other} of rank {elsewhere}"),
    N_("rank {rank}: nothing consumes {actions}"),
    N_("{held}, but {name} places them as {wanted}"),
    N_("rank {rank} holds stages {stages}"),
    # files
    N_("no rank runs stage {stage} of {stages} ({range})"),
    N_("stage {stage} is on {where}; a model held twice has to be declared (replicas)"),
    N_("{one} and on {others}"),
    N_("the file has no action: wanted one row a rank, as in {example}"),
    N_("the file has no F, I, W or B"),
    N_("line {line}, column {column}: {cell} {fault}"),
    N_("does not join a forward and a backward, in this order"),
    N_("has the unknown kind {kind}: wanted one of {kinds}"),
    N_("has a microbatch, but {kind} is of a whole stage: wanted {wanted}"),
    N_("lacks its microbatch: wanted {wanted} or another number"),
    N_("is out of bounds: stages < {stages}, microbatches < {most}"),
    N_("is not a pair: wanted {wanted}"),
    N_("joins {count} actions, not 2: wanted {wanted}"),
    N_("is not an action: wanted stage, kind and microbatch, as in {example}"),
    N_("is the whole backward of 2024's letters, but I of today's is in the file too"),
    N_("layout, column {column}: {letter} in {text} is none of {letters}"),
    N_("layout has {count} stages, not a multiple of {ranks} pipeline ranks"),
    N_("layout holds {count} decoder layers, but the model has {layers}"),
    N_("layout {text} expands to more than {most} letters"),
    N_("{layout}: wanted one, {end} of the {place} stage"),
    N_("layout {text} has {count} {letter}"),
    N_("{name}: {letter} has no sign in a chunk order: F and B only"),
    N_(
        "{name}: {action} comes as number {count} of its chunk, but a chunk order counts microbatches upwards"
    ),
    N_("no order: wanted one line a rank, as in {example}"),
    N_("{place}: {word} is not a signed chunk, counted from 1"),
    N_("line {line}, column {column}"),
    # words within
    N_("first"),
    N_("last"),
    N_("optimizer step"),
    N_("microbatches"),
    N_("slices"),
    N_("stages"),
    N_("boundaries"),
    N_("pipeline ranks"),
    N_("{count} microbatches"),
    N_("{count} microbatches, or fewer ranks"),
    N_("{count} stages"),
    N_("microbatches {count}"),
)
