"""The lexical engine: what it selects, what it says, and that nothing makes it fall over."""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
import time

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
    assert evidence.missing == "Not found here: May."


@pytest.mark.parametrize(
    "contradiction",
    ["The museum in Tarn opened in 1978.", "The museum in Tarn did not open in 1987."],
)
def test_sentences_that_contradict_are_evidence_as_well(contradiction: str) -> None:
    claim = "The museum in Tarn opened in 1987."
    assert chosen(select(claim, node("a", contradiction), node("b", "It rained in Porto.")))
    judgement = verdict(claim, contradiction)
    assert judgement.verdict is NFS
    assert "in the claim" in judgement.reasoning


def test_each_node_with_evidence_has_an_entry_of_its_own() -> None:
    text = "The choir sang in Lisbon."
    selection = select(text, node("a", text), node("b", "Nothing."), node("c", text))
    assert [evidence.node_ids for evidence in selection.evidence] == [("a",), ("c",)]


def test_a_claim_that_no_sentence_says_alone_is_selected_and_not_decided() -> None:
    claim = "Dune Labs bought two start-ups in 2020 as part of its move into medicine."
    first = "Dune Labs bought two start-ups in 2020."
    second = "The purchases were part of the move of Dune Labs into medicine."
    assert len(select(claim, node("a", first), node("b", second)).evidence) == 2
    assert verdict(claim, first, second).verdict is None
    assert verdict(claim, first).verdict is None


def test_of_a_claim_of_two_sentences_each_is_looked_for() -> None:
    claim = "The mill sold 41 tonnes of flour. The mill closed in May."
    assert (
        verdict(claim, "The mill sold 41 tonnes of flour.", "The mill closed in May.").verdict is FS
    )
    assert verdict(claim, "The mill sold 41 tonnes of flour.").verdict is None
    assert (
        verdict(claim, "The mill sold 37 tonnes of flour.", "The mill closed in May.").verdict
        is NFS
    )


def test_the_name_behind_a_pronoun_is_selected_as_context() -> None:
    claim = "Ilse Kramer led the observatory from 2006 to 2010."
    text = "Ilse Kramer was born in Graz. She led the observatory from 2006 to 2010."
    selection = select(claim, node("a", text))
    assert chosen(selection) == {("a", 0, EvidenceRole.CONTEXT), ("a", 1, EvidenceRole.EVIDENCE)}
    assert judge(claim, selection.evidence).verdict is FS
    assert verdict(claim, "She led the observatory from 2006 to 2010.").verdict is None
    other = "Ana Lobo was born in Graz. She led the observatory from 2006 to 2010."
    assert verdict(claim, other).verdict is None


@pytest.mark.parametrize(
    ("claim", "text", "expected"),
    [
        ("The firm sold 1,200 carts.", "The company sold 1200 carts.", FS),
        ("The firm sold 1,200 carts.", "The company sold twelve hundred carts.", FS),
        ("The firm sold 1,200 carts.", "The company sold 1,300 carts.", NFS),
        ("The bridge opened in the 1990s.", "The bridge opened in the 1980s.", NFS),
        ("The mill was the 3rd to close.", "The mill was the third to close.", FS),
        ("John Abara won the vote.", "Abara won the vote.", None),
        ("John Abara won the vote.", "Mary Abara won the vote.", None),
        ("Officials of the UN came.", "Officials of the United Nations came.", FS),
        ("The road was closed.", "The road wasn't closed.", NFS),
        ("The road was not closed.", "The road was closed.", NFS),
        ("The road was not closed.", "The road was never closed.", FS),
        ("Tolls fell on the road.", "Tolls rose on the road.", NFS),
        ("Tolls fell on the road.", "Tolls did not fall on the road.", NFS),
        ("All pupils passed the exam.", "Pupils passed the exam.", None),
        ("All pupils passed the exam.", "Every pupil passed the exam.", FS),
        ("The vote came before the flood.", "The vote came after the flood.", NFS),
        ("The share rose by 45 percent.", "The share rose by 4,5 percent.", NFS),
        ("The share rose by 4.5 percent.", "The share rose by 4,5 percent.", FS),
        ("The yard cost 1,200,000 crowns.", "The yard cost 1\u202f200\u00a0000 crowns.", FS),
        ("The yard cost 1,200 crowns.", "The yard cost 1'200 crowns.", FS),
        ("The quay had 5 degrees.", "The quay had -5 degrees.", NFS),
        ("The quay had -5 degrees.", "The quay had minus five degrees.", FS),
        ("The ferry left at 9:30 p.m.", "The ferry left at 9:30 a.m.", NFS),
        ("The ferry left at 9:30 p.m.", "The ferry left at 21:30.", FS),
        ("The ferry left at 21:30.", "The ferry left at 9:30.", None),
        ("The ferry left at 9:30.", "The ferry left at 21:30.", None),
        ("The ferry left at 9:30 p.m.", "The ferry left at 9:30.", None),
        ("The ferry left at 9:30.", "The ferry left at 9:30 p.m.", FS),
        ("The ferry left at 21:30.", "The ferry left at 9:30 in the evening.", FS),
        ("The ferry left at 21:30.", "The ferry left at 09:30.", NFS),
        ("At most 40 cars fit.", "At least 40 cars fit.", NFS),
        ("No more than 40 cars fit.", "At most 40 cars fit.", FS),
        ("Over 40 cars fit on it.", "40 cars fit on it.", None),
        ("The Tern carries cars.", "Neither the Tern nor the Gull carries cars.", None),
        ("All ferries carry cars.", "All ferries except the Tern carry cars.", None),
        ("The ferry runs in May.", "The ferry hardly runs in May.", NFS),
        ("The ferry runs in May.", "The ferry no longer runs in May.", NFS),
        ("The ferry ran in May.", "The ferry failed to run in May.", None),
        ("The socialist mayor won.", "The so\u00adcial\u00adist mayor won.", FS),
        ("The socialist mayor won.", "The so-\ncialist mayor won.", FS),
        ("The \ufb01rm sold 1,200 carts.", "The firm sold \uff11\uff12\uff10\uff10 carts.", FS),
        ("The vote was on 3 May 2024.", "The vote was on May 3rd, 2024.", FS),
        ("The vote was on 3 May 2024.", "The vote was on 2024-05-04.", NFS),
        ("The dairy used 5 kg of salt a day.", "The dairy used 5,000 grams of salt a day.", FS),
        ("The dairy sold 5 to 6 tonnes of salt.", "The dairy sold 5-6 tonnes of salt.", None),
        ("Two thirds of the boats sank.", "2/3 of the boats sank.", FS),
        ("Boats sank in the storm.", "Only some boats sank in the storm.", None),
        ("The dog bit the postman.", "The postman bit the dog.", None),
        ("The town may buy the ferry.", "The town bought the ferry.", None),
        ("The town bought the ferry.", "Did the town buy the ferry?", None),
        ("The bank paid 40 euros.", "The bank paid 40 euros in May, 45 in June.", FS),
        ("In June the bank paid 45 euros.", "In May the bank paid 40 euros.", None),
        (
            "\u6e2f\u53e3\u8d39\u6da8\u52304\u6b27\u5143\u3002",
            "\u6e2f\u53e3\u8d39\u6da8\u52304\u6b27\u5143\u3002",
            FS,
        ),
        (
            "\u6e21\u8f6e\u53ef\u8f7d48\u8f86\u6c7d\u8f66\u3002",
            "\u6e21\u8f6e\u53ef\u8f7d42\u8f86\u6c7d\u8f66\u3002",
            NFS,
        ),
        (
            "\u6e21\u8f6e\u53ef\u8f7d48\u8f86\u6c7d\u8f66\u3002",
            "\u6e21\u8f6e\u6bcf\u5929\u822a\u884c\u3002",
            None,
        ),
    ],
)
def test_numbers_names_denials_and_opposites(
    claim: str, text: str, expected: Verdict | None
) -> None:
    assert verdict(claim, text).verdict is expected


def test_a_denial_in_part_is_no_contradiction() -> None:
    claim = "The licence of the old ferry in the harbour of Tarn will not lapse."
    partly = "The licence of the old ferry in the harbour of Tarn will not immediately lapse."
    assert verdict(claim, partly).verdict is None
    assert verdict(claim, partly, claim).verdict is FS


@pytest.mark.parametrize("citation", ["(Smith 2020)", "(2020)", "(see Smith and Lee 2020)"])
def test_the_year_of_a_citation_contradicts_nothing(citation: str) -> None:
    judgement = verdict("The town bought barges in 1999.", f"The town bought barges {citation}.")
    assert judgement.verdict is None
    assert "its date 1999 does not stand in the nearest sentence" in judgement.reasoning


def test_the_pair_that_differs_is_named_with_its_sentence() -> None:
    judgement = verdict("The museum sold 41 paintings.", "Moreover the museum sold 37 paintings.")
    assert judgement.reasoning == (
        "Indicative (lexical, no model): \u201c41\u201d in the claim, \u201c37\u201d in the "
        "sentence: \u201cMoreover the museum sold 37 paintings.\u201d."
    )


def test_texts_that_do_not_agree_decide_nothing() -> None:
    claim = "The museum sold 40 paintings."
    judgement = verdict(claim, claim, "The museum sold 45 paintings.")
    assert judgement.verdict is None
    assert "“40” in the claim, “45” in the sentence" in judgement.reasoning
    paraphrase = "Of its paintings the museum has by now sold 40."
    assert verdict(claim, "The museum sold 45 paintings.", paraphrase).verdict is None


def test_a_value_that_may_be_of_something_else_leaves_a_claim_undecided() -> None:
    said = "The Brakke mill drove 87 looms in 1903."
    other = "The nine wheels of the Brakke mill drove 78 looms in 1903."
    claim = "The Brakke mill drove 87 looms in 1903."
    assert verdict(claim, said).verdict is FS
    told = verdict(claim, said, other)
    assert told.verdict is None
    assert "another value" in told.reasoning
    assert other in told.reasoning
    of_another_mill = "The Tarn mill drove 78 looms in 1904."
    assert verdict(claim, said, of_another_mill).verdict is FS


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("The board bought the mill in 2019.", "The board was bought by the mill in 2019."),
        ("The baker was fined.", "The man who cheated the baker was fined."),
        ("The abbot left on Monday.", "The nephew of the abbot left on Monday."),
        ("The nine barges sank.", "Two of the nine barges sank."),
        ("The board voted for the dam.", "The board voted against the dam."),
        ("The rent rose to 5 percent.", "The rent rose by 5 percent."),
        ("The board signed the lease.", "The board declined to sign the lease."),
        ("The dam is safe.", "Some engineers argue that the dam is safe."),
        ("The dam was called safe.", "The dam was called insufficiently safe."),
        (
            "In 2020 the yard built 14 boats.",
            "In 2019 the yard built 14 boats, in 2020 it built 9.",
        ),
        ("The inn is open.", "The inn is not open on Sundays."),
        ("The tram carries 42 dogs.", "The tram is never late and carries 42 dogs."),
        ("The inn closes at 9 p.m.", "The inn does not close until 9 p.m."),
        ("Anna won the vote.", "Nobody but Anna won the vote."),
        ("He left the board in May.", "He left the board in May."),
        ("Die Bahn f\u00e4hrt t\u00e4glich.", "Die Bahn f\u00e4hrt nicht t\u00e4glich."),
        ("\u4ed6\u662f\u533b\u751f\u3002", "\u4ed6\u4e0d\u662f\u533b\u751f\u3002"),
        ("Il tram porta cani.", "Il tram non porta cani."),
        ("The bank was searched.", "The bank robber was searched."),
        ("The mayor opened the fair.", "The deputy mayor opened the fair."),
        ("The dam is the longest in Tarn.", "The dam is the second longest in Tarn."),
        ("Anna Weber won the race.", "Anna Weber's brother won the race."),
        ("York banned the dam.", "New York banned the dam."),
        ("New York banned the dam.", "York banned the dam."),
        ("The mill has 40 rooms.", "The mill had 40 rooms in 1990."),
        ("The dam is safe.", "The dam is \u201csafe\u201d."),
        ("The dam is safe.", "The dam is officially safe."),
        ("The dam stops the river.", "The dam stops the river, in summer."),
        ("The law bans cars in the town.", "The law bans, with exceptions, cars in the town."),
        ("Section 5 applies to all members.", "Section 4 applies to all members."),
        ("The town has 12,000 inhabitants.", "The town has 12,345 inhabitants."),
        ("The rent rose by 13 percent.", "The rent rose by 12.9 percent."),
        ("30 G\u00e4ste haben Platz.", "H\u00f6chstens 40 G\u00e4ste haben Platz."),
    ],
)
def test_words_in_other_company_decide_nothing(claim: str, sentence: str) -> None:
    assert verdict(claim, sentence).verdict is None


@pytest.mark.parametrize(
    "sentence",
    [
        "In 2019 the board bought the mill.",
        "Moreover, the board bought the mill in 2019, and the inn.",
        "The inn burned, and the board bought the mill in 2019.",
        "In 2019 the board bought the mill, against the advice of its owner in 2018.",
        "The board (of seven) bought the mill in 2019.",
    ],
)
def test_harmless_words_around_a_claim_leave_it_as_it_is(sentence: str) -> None:
    assert verdict("The board bought the mill in 2019.", sentence).verdict is FS


@pytest.mark.parametrize(
    "text",
    [
        "There was a rumour. The board sold the mill in May. It was false.",
        "The board sold the mill in May. Correction: that was in June.",
        "The following is a myth. The board sold the mill in May.",
    ],
)
def test_a_sentence_that_the_one_beside_it_may_take_back_decides_nothing(text: str) -> None:
    claim = "The board sold the mill in May."
    source = node("a", text, Role.ROOT)
    told = judge(claim, select(claim, source).evidence, source)
    assert told.verdict is None
    assert "the sentence beside its words may say that it is not so" in told.reasoning


def test_a_name_may_be_short_where_a_sentence_before_has_the_whole() -> None:
    claim = "John Abara won the vote."
    source = node("a", "On Monday John Abara came. Abara won the vote.", Role.ROOT)
    assert judge(claim, select(claim, source).evidence, source).verdict is FS
    assert verdict(claim, "Abara won the vote.").verdict is None


def test_a_value_that_the_source_has_elsewhere_contradicts_nothing() -> None:
    claim = "The fine was 300 euros."
    assert verdict(claim, "The fine was 500 euros.").verdict is NFS
    source = node("a", "The fine was 500 euros. A judge cut it to 300.", Role.ROOT)
    assert judge(claim, select(claim, source).evidence, source).verdict is None


def test_what_only_a_later_text_says_is_not_decided_beside_a_source() -> None:
    claim = "The board met in May and bought the mill."
    source = node("s", "The board met in May. Its plans: see there.", Role.ROOT)
    later = node("e", claim)
    told = judge(claim, select(claim, source, later).evidence, source)
    assert told.verdict is None
    assert "no source that was read says so" in told.reasoning


def test_what_was_looked_for_is_named_where_nothing_was_found() -> None:
    judgement = verdict(
        "The museum sold 41 paintings of Ilse Kramer.",
        "The museum sold many paintings of Ilse Kramer.",
    )
    assert judgement.verdict is None
    assert judgement.reasoning == (
        "Cannot tell without a model: its figure 41 does not stand in the nearest sentence: "
        "\u201cThe museum sold many paintings of Ilse Kramer.\u201d."
    )


@pytest.mark.parametrize(
    ("claim", "sentence", "why"),
    [
        (
            "The mayor of Tarn sold the mill.",
            "Nobody knows whether the mayor sold a mill.",
            "no sentence says it in the same words; the nearest lacks \u201cTarn\u201d: ",
        ),
        ("The mayor sold the mill.", "The mayor sold the mill?", "its words stand in a question: "),
        ("The dam broke.", "The toy dam broke.", "its words stand in a sentence, but not said in "),
        ("It broke.", "It broke.", "it opens with \u201cIt\u201d, and words do not "),
    ],
)
def test_the_reason_says_no_more_of_the_nearest_sentence_than_is_so(
    claim: str, sentence: str, why: str
) -> None:
    told = verdict(claim, sentence)
    assert told.verdict is None
    assert told.reasoning.startswith(f"Cannot tell without a model: {why}")
    assert sentence in told.reasoning


def test_roots_that_were_carried_count_with_their_whole_text() -> None:
    claim = "Dune Labs bought two start-ups in 2020."
    carried = node("r", f"A heading\n\n{claim}", Role.ROOT)
    found = select(claim, node("s", "Dune Labs bought start-ups.")).evidence
    assert judge(claim, found).verdict is None
    assert judge(claim, found, carried).verdict is FS
    assert judge(claim, (), carried).verdict is FS


def test_without_evidence_nothing_is_decided() -> None:
    judgement = judge("The choir sang in Lisbon.", ())
    assert judgement.verdict is None
    assert judgement.reasoning.startswith("Cannot tell without a model: ")


@pytest.mark.parametrize("claim", ["", "…", "It was so.", "🎉🎉", "[Tarn]"])
def test_a_claim_with_nothing_to_compare_is_not_decided(claim: str) -> None:
    judgement = verdict(claim, claim or "text")
    assert judgement.verdict is None
    assert "to compare" in judgement.reasoning


def test_other_scripts_are_compared_as_they_stand() -> None:
    assert verdict("Πέτρος άνοιξε το θέατρο.", "Πέτρος άνοιξε το θέατρο.").verdict is FS
    assert verdict("合唱团 演唱 了", "合唱团 演唱 了").verdict is FS
    assert verdict("合唱团演唱了。", "别的东西。").verdict is None


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
        assert judgement.verdict is None

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
    assert verdict("The choir sang in Lisbon.", "word " * 50_000).verdict is None


SUBJECTS = ("The mill of Tarn", "Dune Labs", "Ilse Kramer", "The old ferry", "A choir")
VERBS = ("sold", "bought", "did not sell", "counted", "never saw", "lost")
VALUES = ("41", "7", "1,200", "4,5", "-5", "19", "at least 40", "two hundred and three")
NOUNS = ("boats", "percent", "kg of salt", "euros", "trees", "degrees", "miles")
ENDS = ("", " in May", " in 2019", " on 3 May 2024", " at 9:30 p.m.", " before the flood")
SENTENCES = st.tuples(*map(st.sampled_from, (SUBJECTS, VERBS, VALUES, NOUNS, ENDS)))


def stated(parts: tuple[str, ...]) -> str:
    subject, verb, value, noun, end = parts
    return f"{subject} {verb} {value} {noun}{end}."


@settings(max_examples=60, deadline=None)
@given(SENTENCES, st.lists(SENTENCES, max_size=3))
def test_a_claim_that_is_a_sentence_of_the_text_is_never_denied(
    own: tuple[str, ...], others: list[tuple[str, ...]]
) -> None:
    claim = stated(own)
    text = " ".join([*map(stated, others), claim])
    assert verdict(claim, text).verdict is not NFS
    assert verdict(claim, claim).verdict is FS


@settings(max_examples=60, deadline=None)
@given(SENTENCES, st.integers(1, 9), st.data())
def test_a_claim_with_another_digit_is_never_supported(
    own: tuple[str, ...], by: int, data: st.DataObject
) -> None:
    sentence = stated(own)
    digits = [place for place, sign in enumerate(sentence) if sign.isdecimal()]
    if not digits:
        return
    place = data.draw(st.sampled_from(digits))
    digit = str((int(sentence[place]) + by) % 10)
    assert verdict(sentence[:place] + digit + sentence[place + 1 :], sentence).verdict is not FS


@pytest.mark.parametrize("part", ["The mill sold 41 boats and ", "sold 41 ", "The. ", "\u6e21"])
def test_time_to_decide_grows_in_proportion_to_the_text(part: str) -> None:
    def taken(times: int) -> float:
        start = time.process_time()
        verdict("The mill sold 41 boats in May.", part * times)
        return time.process_time() - start

    taken(50)
    assert taken(3_200) < 30 * max(taken(400), 0.01)


def test_another_figure_is_told_where_a_named_one_is_described_further() -> None:
    said = "In 2023 the suction dredger Cornelis Bakker removed 48,200 cubic metres of sand."
    claim = "The dredger Cornelis Bakker removed {} cubic metres of sand."
    assert verdict(claim.format("84,200"), said).verdict is Verdict.NOT_FULLY_SUPPORTED
    assert verdict(claim.format("48,200"), said).verdict is None


@pytest.mark.parametrize(
    ("said", "claim"),
    [
        ("Python 3.10 was released in October.", "Python 3.1 was released in October."),
        ("Chapter 4.10 covers theft.", "Chapter 4.1 covers theft."),
        ("Flight 007 leaves from gate 12.", "Flight 7 leaves from gate 12."),
        ("The price is A$5.", "The price is US$5."),
        ("The fee is C$40.", "The fee is HK$40."),
        ("The invoice is dated 3/4/2024.", "The invoice is dated 3 April 2024."),
        ("The invoice is dated 3/4/2024.", "The invoice is dated 4 March 2024."),
        ("The invoice is dated 3/4/2024.", "The invoice is dated 4/3/2024."),
    ],
)
def test_what_may_be_written_of_another_thing_is_not_the_same(said: str, claim: str) -> None:
    assert verdict(claim, said).verdict is None


@pytest.mark.parametrize(
    ("heading", "claim"),
    [
        ("Myths about the ferry:\n- ", "The ferry carries 42 cars."),
        ("## Rejected proposals\n\n", "The council bans cars."),
    ],
)
def test_a_heading_may_take_back_what_is_below_it(heading: str, claim: str) -> None:
    assert judge(claim, (), node("r", heading + claim, Role.ROOT)).verdict is None
    assert judge(claim, (), node("r", "## Notes\n\n" + claim, Role.ROOT)).verdict is FS


def test_starting_and_opening_the_splitter_does_not_import_nltk() -> None:
    code = (
        "import sys, veritrail_graph.verifier.engines.lexical, veritrail_graph.api.client.local;"
        "from veritrail_graph.graph.sentences import SentenceSplitter as S;"
        "S.for_language('english'); assert not {'nltk', 'punkt'} & set(sys.modules)"
    )
    path = os.pathsep.join(sys.path)
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "PYTHONPATH": path})
