"""An index of words: a claim selects with it what it selects where every sentence is read."""

from __future__ import annotations

import errno
import json
import random
import re
import unicodedata
from array import array
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from veritrail_graph.graph.model import NodeRef, Sentence
from veritrail_graph.graph.sentences import SentenceSplitter
from veritrail_graph.verifier.engines.lexical import indexing
from veritrail_graph.verifier.engines.lexical.comparing import holds
from veritrail_graph.verifier.engines.lexical.indexing import SentenceIndex
from veritrail_graph.verifier.engines.lexical.postings import MOST_HELD, Postings
from veritrail_graph.verifier.engines.lexical.reading import read
from veritrail_graph.verifier.engines.lexical.selecting import chosen_for
from veritrail_graph.verifier.ports import SplitNode
from veritrail_graph.verifier.unnamed_file import UnnamedFile
from veritrail_graph.verifier.vocabulary import word_set

ROOT = Path(__file__).parents[3]
PIECES = sorted(
    word_set(
        """Jean-Claude Anna Smith Smith's EU European Union X-Forwarded-For U.S. Co-operative may
        May March one two twenty-five hundred dozen third half quarter about some over 7,516 7516
        7.5 0.75 75 2019 2019-05-03 3/4 9:30 p.m. 5kg 5 km/h % $ per cent years all every in not
        never don't fails the of van boats boat ships harbour closed open million increased rose
        fell monday march june january thousand point a second first 24 200 caf\u00e9
        \u6e2f \uff15 COVID-19 3D \u201cx\u201d (2020) [1] - ."""
    )
)
ACCENTED = sorted(
    word_set(
        """Élan élan Elan elan l'Élysée L'État État ÉTATS ÉU EU d'Étienne Saint-Étienne Étienne
        Etienne René René's Rene Å å à À où été œuvre Œuvres février München Münchner Straße STRASSE
        strasse Über über für Für März Ärzte ärzte Müller-Lüdenscheidt Vor-ärzte ÖBB öbb O\u0308l
        Łódź Říčany İzmir \u0131zmir Ωmega Жuk née 2019 two twenty-five café5 5é 5 % March the of
        and not no every é.é. É.U. - ,"""
    )
)
FIGURES = sorted(
    word_set(
        """one two five twelve twenty forty hundred thousand million dozen half third quarters first
        second ninth a and - about over some 3 45 0.75 1,200 2.5 9:30 boats miles hours km cents
        per cent percent to of"""
    )
)
TEXTS = st.lists(st.lists(st.sampled_from(PIECES), min_size=1, max_size=9), min_size=1, max_size=6)


def _nodes(texts: list[str]) -> list[SplitNode]:
    split = SentenceSplitter.for_language().split
    names = [f"n{number}" for number in range(len(texts))]
    found = (split(name, text) for name, text in zip(names, texts, strict=True))
    return SplitNode.of_columns([NodeRef.named(name) for name in names], texts, found)


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str) and " " in value:
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _texts(one)


@given(TEXTS, st.lists(st.sampled_from(PIECES), min_size=1, max_size=9))
@example([["$", "second"]], ["$", "second", "$"])
@settings(max_examples=150, deadline=None)
def test_a_claim_selects_the_same_of_made_up_texts(
    texts: list[list[str]], claim: list[str]
) -> None:
    nodes = _nodes([" ".join(words).capitalize() + "." for words in texts])
    wanted = " ".join(claim)
    assert chosen_for(wanted, nodes, SentenceIndex(least_nodes=1)) == chosen_for(wanted, nodes)


@given(
    st.lists(st.lists(st.sampled_from(ACCENTED), min_size=1, max_size=7), min_size=1, max_size=6),
    st.lists(st.sampled_from(ACCENTED), min_size=1, max_size=7),
    st.booleans(),
)
@settings(max_examples=150, deadline=None)
def test_a_claim_selects_the_same_of_texts_with_accents(
    texts: list[list[str]], claim: list[str], is_apart: bool
) -> None:
    form: Literal["NFC", "NFD"] = "NFD" if is_apart else "NFC"
    nodes = _nodes([unicodedata.normalize(form, " ".join(words)) + "." for words in texts])
    wanted = " ".join(claim)
    assert chosen_for(wanted, nodes, SentenceIndex(least_nodes=1)) == chosen_for(wanted, nodes)


@pytest.mark.parametrize(
    ("text", "is_quick"),
    [
        ("Die Ärzte saßen über München.", True),
        ("L'État crée une \u0153uvre à l'Élysée.", True),
        ("They met in Saint-Étienne.", False),
        ("The Ω is Greek.", False),
        ("They flew to İzmir.", False),
    ],
)
def test_sentences_with_accents_are_not_read_to_be_found(
    text: str, is_quick: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    were_read: list[str] = []
    monkeypatch.setattr(indexing, "read_once", lambda one: were_read.append(one) or read(one))
    SentenceIndex(least_nodes=1).view(_nodes([text]))
    assert were_read == ([] if is_quick else [text])


def test_few_nodes_with_much_text_are_worth_the_index_too() -> None:
    index = SentenceIndex(least_nodes=3, least_characters=100)
    assert not index.takes(_nodes(["It was red."] * 2))
    assert index.takes(_nodes(["It was red."] * 3))
    assert index.takes(_nodes(["It was red. " * 9]))


@given(st.lists(st.lists(st.sampled_from(FIGURES), min_size=1, max_size=7), max_size=5))
@example(
    [
        [text]
        for text in (
            "five thousand two million boats",
            "three dozen boats",
            "about forty boats",
            "three quarters of a mile",
            "a hundred and twenty-five boats",
            "two and a half million boats",
            "their ninth boat",
            "five to six thousand boats",
        )
    ]
)
@settings(max_examples=150, deadline=None)
def test_each_sentence_that_holds_a_figure_is_among_those_that_may(texts: list[list[str]]) -> None:
    nodes = _nodes(["They had " + " ".join(words) + "." for words in texts])
    view = SentenceIndex(least_nodes=1).view(nodes)
    sentences = [view.sentence(number) for number in range(view.number)]
    for wanted in (one for sentence in sentences for one in read(sentence.text).numbers):
        holding = {n for n, one in enumerate(sentences) if holds(read(one.text), wanted)}
        assert holding <= set(view.with_number(wanted)), wanted


@pytest.mark.parametrize(("seed", "most_held"), [(0, MOST_HELD), (1, 500)])
def test_a_claim_selects_the_same_of_real_texts(
    seed: int, most_held: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "Postings", partial(Postings, most_held))
    draw = random.Random(seed)
    found = [
        text
        for path in sorted((ROOT / "examples").glob("*.json"))
        for text in _texts(json.loads(path.read_text(encoding="utf-8")))
    ]
    for path in sorted((ROOT / "docs").glob("*.md")):
        found += path.read_text(encoding="utf-8").split("\n\n")
    nodes = _nodes(
        draw.sample([text[:2_000] for text in dict.fromkeys(found) if text.strip()], 400)
    )
    index, sentences = (
        SentenceIndex(least_nodes=1),
        [one for node in nodes for one in node.sentences],
    )
    for number in range(24):
        claim = _claim(draw, sentences, number % 4)
        some = nodes if number % 3 else draw.sample(nodes, 150)
        assert chosen_for(claim, some, index) == chosen_for(claim, some), claim


def test_numbers_that_memory_does_not_hold_lie_in_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(3)
    expected: dict[str, list[int]] = {word: [] for word in "abcdef"}
    filed, held, filled = Postings(100), Postings(100), Postings(100)
    every = (filed, held, filled)
    for postings in every:
        postings.last.update({word: array("I") for word in expected})
    for number in range(2_000):
        words = draw.sample("abcdef", draw.randint(1, 3))
        for word in words:
            expected[word].append(number)
        for postings in every:
            for word in words:
                postings.last[word].append(number)
            with monkeypatch.context() as patch:
                if postings is held or (postings is filled and number > 1_000):
                    patch.setattr(UnnamedFile, "add", _full)
                postings.added(len(words))
    for postings in every:
        assert {word: list(postings.numbers(word)) for word in expected} == expected
    in_memory = [sum(map(len, one.last.values())) for one in every]
    assert in_memory[0] <= 100 < in_memory[2] < in_memory[1] == sum(map(len, expected.values()))
    assert not filed.numbers("z")


def _full(file: UnnamedFile, parts: Sequence[bytes]) -> None:
    raise OSError(errno.ENOSPC, "no space left")


def _claim(draw: random.Random, sentences: list[Sentence], kind: int) -> str:
    """A sentence, one with other figures, two of them, or one with the end of another."""
    text, other = (draw.choice(sentences).text for _ in range(2))
    if kind == 1:
        return re.sub(r"\d+", lambda match: str(int(match.group()[:9]) + 1), text)
    if kind == 2:
        return f"{text} {other}"
    words = text.split()
    return text if kind == 0 else " ".join([*words[: len(words) // 2], *other.split()[-6:]])


@pytest.mark.parametrize(
    "text", ["The pier opened on the third of May.", "In May.", "Half of the U.S. came on May 3."]
)
def test_a_date_is_found_where_it_is_said_without_its_year(text: str) -> None:
    nodes = _nodes(["The harbour closed.", text])
    found = chosen_for("It was 2021-05-03.", nodes, SentenceIndex(least_nodes=1))
    assert found == chosen_for("It was 2021-05-03.", nodes) != {}


def test_a_text_that_changed_is_read_anew() -> None:
    index = SentenceIndex(least_nodes=1)
    claim = "The harbour closed in 2019."
    for text in ("The harbour closed in 2019.", "Nothing is said. The harbour closed in 2019."):
        nodes = _nodes([text])
        assert chosen_for(claim, nodes, index) == chosen_for(claim, nodes) != {}
