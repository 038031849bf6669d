"""The language of the sentences: which one, how a catalogue is read, and that nothing is missing from it."""

from __future__ import annotations

from string import Formatter
from typing import TYPE_CHECKING

import pytest
from sentences import sentences, untranslatable

from scaletui.text.catalogue import Catalogue, Entry, entries, read_po
from scaletui.text.explain import SENTENCES
from scaletui.text.language import language, language_of, ntr, set_language, tr
from scaletui_engine.memory import evaluate
from scaletui_engine.scenarios import load_scenario, scenario_ids

if TYPE_CHECKING:
    from collections.abc import Iterator

PORTUGUESE = tuple(entry for entry in entries("pt_BR") if entry.msgid)
BY_MSGID = {entry.msgid: entry for entry in PORTUGUESE}
KEPT_ENGLISH = (
    "all-reduce", "all-gather", "reduce-scatter", "FSDP", "HSDP", "ZeRO", "DDP", "GPipe", "1F1B", "NCCL",
    "CUDA",
)  # fmt: skip
"""Collectives and acronyms stay as every paper and log file writes them."""


@pytest.fixture(autouse=True)
def _restored_language() -> Iterator[None]:
    before = language()
    yield
    set_language(before)


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, "en"),
        ({"LANG": "pt_BR.UTF-8"}, "pt-BR"),
        ({"LANG": "pt_PT"}, "pt-BR"),
        ({"LANG": "pt"}, "pt-BR"),
        ({"LANG": "ptx_XX"}, "en"),
        ({"LANG": "C.UTF-8"}, "en"),
        ({"LANG": "pt_BR.UTF-8", "LC_ALL": "C"}, "en"),
        ({"LANG": "en_US.UTF-8", "LC_MESSAGES": "pt_BR.UTF-8"}, "pt-BR"),
        ({"LANG": "pt_BR.UTF-8", "LC_ALL": ""}, "pt-BR"),
    ],
    ids=str,
)
def test_language_of_the_locale(environ: dict[str, str], expected: str) -> None:
    assert language_of(environ) == expected


def test_sentences_follow_the_language() -> None:
    assert (set_language("en"), tr("weights"), tr("stage {n}", n=3)) == ("en", "weights", "stage 3")
    assert (set_language("pt-BR"), tr("weights"), tr("stage {n}", n=3)) == ("pt-BR", "pesos", "estágio 3")
    assert tr("no catalogue has {this}", this="this") == "no catalogue has this"
    assert tr("filled {later}") == "filled {later}"


PO = """
# a comment
msgid ""
msgstr ""
"Plural-Forms: nplurals=2; plural=(n > 1);\\n"

#: somewhere.py:3
msgid "one \\"quoted\\""
msgstr "um \\"citado\\"\\n"
"em duas linhas"

#, fuzzy
msgid "{n} rank"
msgid_plural "{n} ranks"
msgstr[0] "{n} rank"
msgstr[1] "{n} ranks todos"
msgid "close"
msgstr "fechar"
"""


def test_po_file() -> None:
    assert list(read_po(PO))[1:] == [
        Entry('one "quoted"', None, ('um "citado"\nem duas linhas',)),
        Entry("{n} rank", "{n} ranks", ("{n} rank", "{n} ranks todos"), fuzzy=True),
        Entry("close", None, ("fechar",)),
    ]


@pytest.mark.parametrize("text", ["msgid 3", "hello", '"floating"'])
def test_a_line_that_is_no_message_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="line 1 of the catalogue"):
        list(read_po(text))


@pytest.mark.parametrize(("n", "expected"), [(0, "0 rank"), (1, "1 rank"), (2, "2 ranks todos")])
def test_portuguese_counts_zero_as_one(n: int, expected: str) -> None:
    catalogue = Catalogue(read_po(PO))
    assert catalogue.ngettext("{n} rank", "{n} ranks", n).format(n=n) == expected


@pytest.mark.parametrize(("n", "expected"), [(0, "0 ranks"), (1, "1 rank"), (2, "2 ranks")])
def test_english_plurals_need_no_catalogue(n: int, expected: str) -> None:
    set_language("en")
    assert ntr("{n} rank", "{n} ranks", n) == expected


def test_every_sentence_has_its_portuguese() -> None:
    missing = [
        f"{sentence.where}: {sentence.msgid}" for sentence in sentences() if sentence.msgid not in BY_MSGID
    ]
    assert missing == [], "python tests/sentences.py lists them as catalogue entries"


def test_plurals_are_the_codes_own() -> None:
    spoken = {sentence.msgid: sentence.plural for sentence in sentences() if sentence.msgid in BY_MSGID}
    assert {msgid: BY_MSGID[msgid].plural for msgid in spoken} == spoken


def test_no_sentence_is_put_together_before_gettext_sees_it() -> None:
    assert list(untranslatable()) == []


def faults(entry: Entry) -> Iterator[str]:
    """What is wrong with a translation."""
    if entry.fuzzy or not all(entry.forms) or len(entry.forms) != (1 if entry.plural is None else 2):
        yield "fuzzy, empty or with the wrong number of plural forms"
    for form in entry.forms:
        if _placeholders(form) != _placeholders(entry.plural or entry.msgid):
            yield f"other placeholders in {form!r}"
        yield from (
            f"{word} stays English" for word in KEPT_ENGLISH if word in entry.msgid and word not in form
        )


def test_translations_have_no_faults() -> None:
    assert [f"{entry.msgid}: {fault}" for entry in PORTUGUESE for fault in faults(entry)] == []


@pytest.mark.parametrize(
    "entry",
    [
        Entry("{n} ranks", None, ("{m} ranks",)),
        Entry("one all-reduce", None, ("uma redução",)),
        Entry("weights", None, ("",)),
        Entry("weights", None, ("pesos",), fuzzy=True),
        Entry("{n} rank", "{n} ranks", ("{n} ranks",)),
    ],
    ids=["placeholder", "english word", "empty", "fuzzy", "plural"],
)
def test_planted_faults_are_seen(entry: Entry) -> None:
    assert list(faults(entry))


def test_every_message_is_translated_once() -> None:
    msgids = [entry.msgid for entry in PORTUGUESE]
    assert sorted(msgids) == sorted(set(msgids))


@pytest.mark.parametrize("name", scenario_ids())
def test_every_message_id_of_a_budget_has_its_sentence(name: str) -> None:
    budget = evaluate(load_scenario(name))
    ids = {f"phase.{stage.phase}" for stage in budget.stages} | set(budget.assumptions)
    ids |= {span.why for stage in budget.stages for span in (stage.reserved, stage.outside)}
    assert ids <= SENTENCES.keys()


def _placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}
