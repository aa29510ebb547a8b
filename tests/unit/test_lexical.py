"""The lexical engine: what it selects, what it says, and that nothing makes it fall over."""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from veritrail_graph.graph.model import Claim, Evidence, EvidenceRole, NodeRef, Role, Verdict
from veritrail_graph.graph.sentences import SentenceSplitter
from veritrail_graph.verifier.engines.lexical import LexicalJudge
from veritrail_graph.verifier.models.port import Meter
from veritrail_graph.verifier.ports import Found, Judge, Judgement, ReadNode, Selection, SplitNode

JUDGE: Judge = LexicalJudge()
SPLITTER = SentenceSplitter.for_language("english")

FS = Verdict.FULLY_SUPPORTED
NFS = Verdict.NOT_FULLY_SUPPORTED
INC = Verdict.INCONCLUSIVE


def node(node_id: str, text: str, role: Role = Role.INTERMEDIATE) -> ReadNode:
    return SplitNode(NodeRef(node_id, 1, 0, role), text, SPLITTER.split(node_id, text))


def select(claim: str, *nodes: ReadNode) -> Selection:
    return asyncio.run(
        JUDGE.select_evidence(
            Claim.model_construct(claim_id="k", text=claim, node_id="t"), nodes, Meter()
        )
    )


def judge(claim: str, evidence: tuple[Evidence, ...], *roots: ReadNode) -> Judgement:
    return asyncio.run(
        JUDGE.judge(
            Claim.model_construct(claim_id="k", text=claim, node_id="t"),
            Found(evidence, roots),
            Meter(),
        )
    )


def verdict(claim: str, *texts: str) -> Judgement:
    nodes = [node(f"n{i}", text) for i, text in enumerate(texts)]
    return judge(claim, select(claim, *nodes).evidence)


def chosen(selection: Selection) -> set[tuple[str, int, EvidenceRole]]:
    return {
        (cited.node_id, cited.sentence, cited.role)
        for evidence in selection.evidence
        for cited in evidence.sentences
    }


def test_it_says_what_it_is() -> None:
    assert (JUDGE.name, JUDGE.model, JUDGE.indicative) == ("lexical", None, True)


def test_sentences_that_hold_the_claim_are_selected_and_others_are_not() -> None:
    text = "The weather was fine. The choir of Tarn sang in Lisbon. Tickets were cheap."
    selection = select("The choir of Tarn sang in Lisbon in May.", node("a", text))
    assert chosen(selection) == {("a", 1, EvidenceRole.EVIDENCE)}
    (evidence,) = selection.evidence
    assert evidence.text == "The choir of Tarn sang in Lisbon."
    assert evidence.missing == "Not found here: “May”."


@pytest.mark.parametrize(
    "contradiction",
    ["In 1978 the museum opened in Tarn.", "The museum in Tarn did not open in 1987."],
)
def test_sentences_that_contradict_are_evidence_as_well(contradiction: str) -> None:
    claim = "The museum in Tarn opened in 1987."
    assert chosen(select(claim, node("a", contradiction), node("b", "It rained in Porto.")))
    judgement = verdict(claim, contradiction)
    assert judgement.verdict is NFS
    assert "says otherwise" in judgement.reasoning


def test_each_node_with_evidence_has_an_entry_of_its_own() -> None:
    text = "The choir sang in Lisbon."
    selection = select(text, node("a", text), node("b", "Nothing."), node("c", text))
    assert [evidence.node_ids for evidence in selection.evidence] == [("a",), ("c",)]


def test_a_claim_may_be_covered_by_two_nodes_together() -> None:
    claim = "Dune Labs bought two start-ups in 2020 as part of its move into medicine."
    first = "Dune Labs bought two start-ups in 2020."
    second = "The purchases were part of the move of Dune Labs into medicine."
    assert verdict(claim, first, second).verdict is FS
    assert verdict(claim, first).verdict is NFS
    assert verdict(claim, second).verdict is NFS


def test_the_name_behind_a_pronoun_is_selected_as_context() -> None:
    claim = "Ilse Kramer led the observatory from 2006 to 2010."
    text = "Ilse Kramer was born in Graz. She led the observatory from 2006 to 2010."
    selection = select(claim, node("a", text))
    assert chosen(selection) == {("a", 0, EvidenceRole.CONTEXT), ("a", 1, EvidenceRole.EVIDENCE)}
    assert judge(claim, selection.evidence).verdict is FS
    assert verdict(claim, "She led the observatory from 2006 to 2010.").verdict is NFS


@pytest.mark.parametrize(
    ("claim", "text", "expected"),
    [
        ("The firm sold 1,200 carts.", "The company sold 1200 carts.", FS),
        ("The firm sold 1,200 carts.", "The company sold twelve hundred carts.", FS),
        ("The firm sold 1,200 carts.", "The company sold 1,300 carts.", NFS),
        ("The bridge opened in the 1990s.", "The bridge opened in the 1980s.", NFS),
        ("The mill was the 3rd to close.", "The mill was the third to close.", FS),
        ("John Abara won.", "Abara won.", FS),
        ("John Abara won.", "Mary Abara won.", NFS),
        ("Officials of the UN came.", "Officials of the United Nations came.", FS),
        ("The road was closed.", "The road wasn't closed.", NFS),
        ("The road was not closed.", "The road was closed.", NFS),
        ("The road was not closed.", "The road was never closed.", FS),
        ("Tolls fell on the road.", "Tolls rose on the road.", NFS),
        ("Tolls fell on the road.", "Tolls did not fall on the road.", NFS),
        ("All pupils passed the exam.", "Pupils passed the exam.", NFS),
        ("All pupils passed the exam.", "Every pupil passed the exam.", FS),
        ("The vote came before the flood.", "The vote came after the flood.", NFS),
        ("Not only the inn burned.", "The inn burned.", FS),
    ],
)
def test_numbers_names_denials_and_opposites(claim: str, text: str, expected: Verdict) -> None:
    assert verdict(claim, text).verdict is expected


def test_a_denial_in_part_is_no_contradiction_and_the_reason_names_it() -> None:
    claim = "The licence of the old ferry in the harbour of Tarn will not lapse."
    partly = "The licence of the old ferry in the harbour of Tarn will not immediately lapse."
    judgement = verdict(claim, partly)
    assert judgement.verdict is NFS
    assert "denies “lapse” only with “immediately”" in judgement.reasoning
    assert verdict(claim, partly, claim).verdict is FS


@pytest.mark.parametrize("citation", ["(Smith 2020)", "(2020)", "(see Smith and Lee 2020)"])
def test_the_year_of_a_citation_contradicts_nothing(citation: str) -> None:
    judgement = verdict("The town bought barges in 1999.", f"The town bought barges {citation}.")
    assert judgement.verdict is NFS
    assert "says otherwise" not in judgement.reasoning
    assert "missing: 1999" in judgement.reasoning


def test_evidence_that_conflicts_is_inconclusive() -> None:
    claim = "The museum sold 40 paintings."
    judgement = verdict(claim, claim, "The museum sold 45 paintings.")
    assert judgement.verdict is INC
    assert "45 instead of 40" in judgement.reasoning


def test_roots_that_were_carried_count_with_their_whole_text() -> None:
    claim = "Dune Labs bought two start-ups in 2020."
    carried = node("r", f"A heading\n\n{claim}", Role.ROOT)
    found = select(claim, node("s", "Dune Labs bought start-ups.")).evidence
    assert judge(claim, found).verdict is NFS
    assert judge(claim, found, carried).verdict is FS
    assert judge(claim, (), carried).verdict is FS


def test_without_evidence_the_claim_is_not_supported() -> None:
    judgement = judge("The choir sang in Lisbon.", ())
    assert judgement.verdict is NFS
    assert judgement.reasoning.startswith("Indicative (lexical, no model): ")


@pytest.mark.parametrize("claim", ["", "…", "It was so.", "🎉🎉", "[Tarn]"])
def test_a_claim_with_nothing_to_compare_is_not_supported(claim: str) -> None:
    judgement = verdict(claim, claim or "text")
    assert judgement.verdict is NFS
    assert "to compare" in judgement.reasoning


def test_other_scripts_are_compared_as_they_stand() -> None:
    assert verdict("Πέτρος άνοιξε το θέατρο.", "Πέτρος άνοιξε το θέατρο.").verdict is FS
    assert verdict("合唱团 演唱 了", "合唱团 演唱 了").verdict is FS
    assert verdict("合唱团演唱了。", "别的东西。").verdict is NFS


NAMES = (
    "Ilse",
    "Kramer",
    "choir",
    "choirs",
    "He",
    "Lisbon",
    "UN",
    "'s",
    "\u00e9",
    "\u6f22",
    "\U0001f389",
)
CUES = (
    "the",
    "sang",
    "sings",
    "not",
    "never",
    "n't",
    "rose",
    "fell",
    "and",
    "all",
    "before",
    "one",
)
SIGNS = (
    "2020",
    "12",
    "twelve",
    "1,200",
    "8%",
    "first",
    "million",
    "$5m",
    "[",
    "]",
    ".",
    ",",
    "\n",
    "-",
)
WORDS = st.sampled_from(NAMES + CUES + SIGNS)
TEXTS = st.one_of(st.text(max_size=80), st.lists(WORDS, max_size=14).map(" ".join))


@settings(max_examples=25, deadline=None)
@given(TEXTS, st.lists(TEXTS, max_size=5), st.randoms(use_true_random=False))
def test_any_text_is_judged_the_same_in_any_order(
    claim: str, texts: list[str], shuffler: random.Random
) -> None:
    nodes = [node(f"n{i}", text, Role.ROOT) for i, text in enumerate(texts)]
    selection = select(claim, *nodes)
    members = {sentence for read_node in nodes for sentence in read_node.sentences}
    for evidence in selection.evidence:
        assert evidence.text.strip()
        assert evidence.sentences
        assert {cited.as_sentence() for cited in evidence.sentences} <= members
    with_evidence = [
        n for n in nodes if any(n.ref.node_id in e.node_ids for e in selection.evidence)
    ]
    judgement = judge(claim, selection.evidence, *with_evidence)
    assert judgement.reasoning
    if not selection.evidence:
        assert judgement.verdict is NFS

    shuffled = list(nodes)
    shuffler.shuffle(shuffled)
    again = select(claim, *shuffled)
    assert chosen(again) == chosen(selection)
    shuffler.shuffle(with_evidence)
    assert judge(claim, again.evidence, *with_evidence) == judgement


def test_a_large_frontier_leaves_the_event_loop_free() -> None:
    nodes = [node(f"n{i}", f"Choir {i} sang in hall {i}. It rained.") for i in range(400)]

    async def ticks_during_selection() -> int:
        ticks = 0
        work = asyncio.ensure_future(
            JUDGE.select_evidence(
                Claim(claim_id="k", text="Choir 7 sang in hall 7.", node_id="t"), nodes, Meter()
            )
        )
        while not work.done():
            ticks += 1
            await asyncio.sleep(0)
        assert any("n7" in evidence.node_ids for evidence in work.result().evidence)
        return ticks

    assert asyncio.run(ticks_during_selection()) > 2


def test_a_sentence_of_fifty_thousand_words_is_read() -> None:
    assert verdict("The choir sang in Lisbon.", "word " * 50_000).verdict is NFS


def test_importing_the_engine_and_opening_the_splitter_does_not_import_nltk() -> None:
    code = (
        "import sys, veritrail_graph.verifier.engines.lexical;"
        "from veritrail_graph.graph.sentences import SentenceSplitter as S;"
        "S.for_language('english'); assert not {'nltk', 'punkt'} & set(sys.modules)"
    )
    path = os.pathsep.join(sys.path)
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "PYTHONPATH": path})
