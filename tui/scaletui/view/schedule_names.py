"""What each schedule does, in one or two sentences."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from scaletui.text.language import N_, tr

_SENTENCES: Final = MappingProxyType({
    "naive": N_("One microbatch at a time goes through all ranks and back: one rank works, all others wait."),
    "gpipe": N_("All forwards, then all backwards. Every rank holds the activations of all microbatches."),
    "1f1b": N_("After a warm-up each rank does one forward and one backward in turn: GPipe's bubble, "
               "but no more than p microbatches held."),
    "eager-1f1b": N_("1F1B with a longer warm-up: more microbatches in flight hide the time of messages."),
    "interleaved-1f1b": N_("Each rank holds v smaller chunks of the model: the bubble shrinks v times, "
                           "messages grow v times."),
    "looped-bfs": N_("All microbatches go through a chunk before the next one starts; "
                     "few changes of weights, many activations."),
    "zb-h1": N_("The backward pass is cut in two: I goes on to the next rank at once, W fills the gaps. "
                "Memory as in 1F1B."),
    "zb-h2": N_("As ZB-H1, with more forwards at the start: no bubble but the stagger, twice the memory."),
    "zb-auto": N_("A search over orders of F, I and W under a limit of memory (ZB-1p, ZB-2p)."),
    "interleaved-zero-bubble": N_("Interleaved 1F1B with the backward pass cut into I and W."),
    "zb-v": N_("Two chunks a rank in a V: the first rank also holds the last stage. "
               "No bubble but the stagger, at 1F1B's memory."),
    "v-half": N_("The V placement with half of 1F1B's memory, for a larger bubble."),
    "v-min": N_("The V placement with a third of 1F1B's memory, for a still larger bubble."),
    "dualpipe": N_("Microbatches enter at both ends; a forward and a backward overlap. "
                   "Every rank holds two copies of its weights."),
    "dualpipev": N_("DualPipe cut in half: overlapped pairs in a V, one copy of the weights."),
    "seq1f1b": N_("Microbatches are cut along the sequence as well: smaller pieces, a smaller bubble."),
    "combined-1f1b": N_("Interleaved 1F1B in which a forward and a backward run together, "
                        "so that one's communication hides behind the other's computation."),
    "pipedream": N_("1F1B that never drains: no bubble in the long run, but old weights, a version "
                    "for each microbatch in flight."),
})  # fmt: skip
_TORCH: Final = MappingProxyType({
    "GPipe": "gpipe", "1F1B": "1f1b", "Interleaved1F1B": "interleaved-1f1b", "LoopedBFS": "looped-bfs",
    "InterleavedZeroBubble": "interleaved-zero-bubble", "ZBVZeroBubble": "zb-v", "DualPipeV": "dualpipev",
})  # fmt: skip
"""PyTorch's classes, and the schedule that each of them is."""
_REPLICATED: Final = ("dualpipe",)
"""Those that keep every stage on two ranks."""


def runtime_note() -> str:
    """Of a schedule that keeps a stage on two ranks."""
    return tr("not for PyTorch's runtime, which wants one rank a stage; dualpipev runs there")


def schedule_sentence(name: str) -> str:
    """What a schedule does; PyTorch's classes say so, and one that its runtime cannot run."""
    sentence = tr(_SENTENCES[_TORCH.get(name, name)])
    if name in _REPLICATED:
        note = runtime_note()
        return f"{sentence} {note[:1].upper()}{note[1:]}."
    return f"{sentence} {tr('In the order of PyTorch.')}" if name in _TORCH else sentence
