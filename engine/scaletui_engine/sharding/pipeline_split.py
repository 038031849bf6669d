"""How frameworks deal layers to pipeline stages.

Sources: Megatron-LM core/transformer/transformer_block.py (`get_num_layers_to_build`) and
transformer_layer.py (`get_transformer_layer_offset`); torchtitan distributed/pipeline_parallel.py
(`_generate_llm_fqn_per_model_part`); DeepSpeed runtime/utils.py (`partition_uniform`, `partition_balanced`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scaletui_engine.errors import DivisibilityError, ScenarioError
from scaletui_engine.validate.nearest import nearest_divisor

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class MegatronSplit:
    """Megatron's options for a split."""

    layers: int
    pp: int
    vp: int = 1
    """Virtual stages of a rank."""
    first: int | None = None
    """decoder_first_pipeline_num_layers."""
    last: int | None = None
    """decoder_last_pipeline_num_layers."""
    embedding: bool = False
    """account_for_embedding_in_pipeline_split."""
    loss: bool = False
    """account_for_loss_in_pipeline_split."""

    def stages(self) -> tuple[tuple[range, ...], ...]:
        """Layers of every virtual stage of every rank: chunk c comes after all ranks' chunk c - 1.

        Raises DivisibilityError for layers that would be left over (Megatron-LM #1304).
        """
        counts = self._counts()
        if sum(map(sum, counts)) != self.layers:
            raise DivisibilityError(f"stages of {counts} layers do not add up to {self.layers}")
        found: list[list[range]] = [[] for _ in range(self.pp)]
        start = 0
        for chunk in range(self.vp):
            for rank in range(self.pp):
                found[rank].append(range(start, start + counts[rank][chunk]))
                start += counts[rank][chunk]
        return tuple(map(tuple, found))

    def _counts(self) -> list[list[int]]:
        """Layers of every chunk of every rank."""
        if self.pp < 1 or self.vp < 1 or self.layers < 1:
            raise DivisibilityError(f"{self.layers} layers on pp {self.pp} x vp {self.vp} stages")
        if self.first is not None or self.last is not None:
            return [[self._part(count, self.vp)] * self.vp for count in self._with_ends()]
        total = self.layers + self.embedding + self.loss
        if total % self.pp:
            raise DivisibilityError(
                f"{self._written()} = {total}, {total} % pp {self.pp} = {total % self.pp}: not divisible",
                f"pp {nearest_divisor(total, self.pp)}",
            )
        each = self._part(total // self.pp, self.vp)
        counts = [[each] * self.vp for _ in range(self.pp)]
        counts[0][0] -= self.embedding
        counts[-1][-1] -= self.loss
        return counts

    def _with_ends(self) -> list[int]:
        """Layers of every rank where the first or the last is given; the rest must divide the middle."""
        first = [] if self.first is None else [self.first]
        last = [] if self.last is None else [self.last]
        middle, rest = self.pp - len(first) - len(last), self.layers - sum(first) - sum(last)
        said = " - ".join(map(str, (self.layers, *first, *last)))
        if rest < 0 or middle < 0 or (rest and not middle):
            raise DivisibilityError(
                f"{said} = {rest} layers for pp {self.pp} - {len(first) + len(last)} = {middle} middle stages"
            )
        if middle and rest % middle:
            raise DivisibilityError(
                f"{said} = {rest} layers / {middle} middle stages (pp {self.pp}) "
                f"= {rest / middle:.4g}: not divisible"
            )
        return [*first, *([rest // middle] * middle if middle else []), *last]

    def _part(self, layers: int, chunks: int) -> int:
        if layers % chunks:
            raise DivisibilityError(
                f"{self.layers} layers, pp {self.pp}: {layers} layers of a rank / vp {chunks} "
                f"= {layers / chunks:.4g}: not divisible",
                f"vp {nearest_divisor(layers, chunks)}" if layers else "vp 1",
            )
        return layers // chunks

    def _written(self) -> str:
        added = [name for name, said in (("embedding", self.embedding), ("loss", self.loss)) if said]
        return " + ".join((f"{self.layers} layers", *added))


def torchtitan_split(layers: int, stages: int, weights: tuple[int, int] = (1, 1)) -> tuple[range, ...]:
    """Layers of every stage; embedding and output count as `weights` layers on the first and last stage.

    Raises DivisibilityError where a stage would have less than its weight.
    """
    if stages == 1:
        return (range(layers),)
    total = layers + sum(weights)
    base, rest = divmod(total, max(stages, 1))
    if stages < 1 or base < max(1, *weights):
        raise DivisibilityError(
            f"{layers} layers + {weights[0]} + {weights[1]} = {total} over {stages} stages = {base} each, "
            f"less than {max(1, *weights)}",
            f"{total // max(1, *weights)} stages",
        )
    counts = [base + (stage < rest) for stage in range(stages)]
    counts[0] -= weights[0]
    counts[-1] -= weights[1]
    return _ranges(counts)


def uniform_split(items: int, parts: int) -> tuple[int, ...]:
    """DeepSpeed's `partition_uniform`: boundaries, the remainder first; too few layers leave empty tails."""
    if items <= parts:
        return tuple(min(part, items) for part in range(parts + 1))
    base, rest = divmod(items, parts)
    return tuple(part * base + min(part, rest) for part in range(parts + 1))


def balanced_split(weights: Sequence[int], parts: int) -> tuple[int, ...]:
    """DeepSpeed's "parameters": boundaries of the contiguous parts whose heaviest is lightest."""
    if len(weights) <= parts:
        return uniform_split(len(weights), parts)
    low, high = max(max(weights), -(-sum(weights) // parts)), sum(weights)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if len(_greedy(weights, middle)) <= parts + 1 else (middle + 1, high)
    bounds = _greedy(weights, low)
    return tuple(bounds + [len(weights)] * (parts + 1 - len(bounds)))


def _greedy(weights: Sequence[int], limit: int) -> list[int]:
    bounds, total = [0], 0
    for index, weight in enumerate(weights):
        if total + weight > limit:
            bounds.append(index)
            total = 0
        total += weight
    return [*bounds, len(weights)]


def virtual_stages(pp: int, stages: int, *, v_shape: bool) -> tuple[tuple[int, ...], ...]:
    """Stages of every rank: a loop (s % pp), or the V of ZBVZeroBubble and DualPipeV (p and 2 pp - 1 - p).

    Raises DivisibilityError where pp does not divide the stages, or a V has not two stages a rank.
    """
    if pp < 1 or stages % pp or (v_shape and stages != 2 * pp):
        wanted = f"2 x pp = {2 * pp}" if v_shape else f"a multiple of pp {pp}"
        raise DivisibilityError(f"{stages} stages on pp {pp} ranks: wanted {wanted}")
    if v_shape:
        return tuple((rank, 2 * pp - 1 - rank) for rank in range(pp))
    return tuple(tuple(range(rank, stages, pp)) for rank in range(pp))


@dataclass(frozen=True, slots=True)
class LayoutStage:
    """One stage of a layout string."""

    layers: range
    embedding: bool = False
    mtp: int = 0
    """Multi-token prediction layers."""
    loss: bool = False


def layout_stages(text: str) -> tuple[LayoutStage, ...]:
    """Megatron's `pipeline_model_parallel_layout`: "Et*3|(tt|)*29,m|L", stages from the first on.

    E embedding, t layer, m multi-token prediction, L loss, | next stage, *n repeats. Raises ScenarioError.
    """
    flat = _expanded(text.replace(",", "").replace(" ", ""))
    found: list[LayoutStage] = []
    start = 0
    for stage in flat.split("|"):
        if strange := stage.strip("EtmL"):
            raise ScenarioError(f"layout {text[:60]!r}: {strange[0]!r} is none of E t m L | * ( )")
        count = stage.count("t")
        found.append(LayoutStage(range(start, start + count), "E" in stage, stage.count("m"), "L" in stage))
        start += count
    if flat.count("E") != 1 or flat.count("L") != 1 or "E" not in flat.split("|")[0]:
        raise ScenarioError(
            f"layout {text[:60]!r}: {flat.count('E')} E and {flat.count('L')} L, wanted one E on the first "
            "stage and one L"
        )
    return tuple(found)


_MOST = 100_000


def _expanded(text: str) -> str:
    """Repeat "x*n" and "(...)*n"; groups do not nest."""
    found, index = "", 0
    while index < len(text):
        if text[index] == "(":
            end = text.find(")", index)
            if end < 0:
                raise ScenarioError(f"layout {text[:60]!r}: the bracket at {index} is not closed")
            piece, index = text[index + 1 : end], end + 1
        else:
            piece, index = text[index], index + 1
        times = 1
        if text[index : index + 1] == "*":
            digits = len(text[index + 1 :]) - len(text[index + 1 :].lstrip("0123456789"))
            if not 0 < digits < 6:
                raise ScenarioError(f"layout {text[:60]!r}: no count after the * at {index}")
            times, index = int(text[index + 1 : index + 1 + digits]), index + 1 + digits
        found += piece * times
        if len(found) > _MOST:
            raise ScenarioError(f"layout {text[:60]!r} repeats to more than {_MOST} letters")
    return found


def _ranges(counts: Sequence[int]) -> tuple[range, ...]:
    found: list[range] = []
    start = 0
    for count in counts:
        found.append(range(start, start + count))
        start += count
    return tuple(found)
