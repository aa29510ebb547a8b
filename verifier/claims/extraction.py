"""Claim extraction: every sentence of an answer gives claims, or the reason why it has none.

Source: VeriTrail 3.1; Claimify.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from veritrail_graph.graph.content_hash import derived_claim_id
from veritrail_graph.graph.model import Claim, Sentence
from veritrail_graph.graph.model.extraction import ExtractedSentence, SentenceOutcome
from veritrail_graph.verifier.claims.answer import SplitAnswer
from veritrail_graph.verifier.claims.steps import ClaimSteps, folded
from veritrail_graph.verifier.models.port import EndpointRefused, Meter, ModelError, OverBudget
from veritrail_graph.verifier.ports import Split
from veritrail_graph.verifier.prompted import results

SENTENCES_AT_ONCE = 64
"""Sentences looked at side by side; the model's own limit is what bounds the calls."""

_WORD = re.compile(r"[^\W_]")


@dataclass(frozen=True, slots=True)
class Extraction:
    """The sentences and claims extracted from an answer.

    Attributes:
        sentences: Every sentence of it, in order.
        claims: The claims, each once, in the order of their first sentence.
    """

    sentences: tuple[ExtractedSentence, ...]
    claims: tuple[Claim, ...]


@dataclass(frozen=True, slots=True)
class _Found:
    sentence: Sentence
    outcome: SentenceOutcome
    reason: str | None = None
    texts: tuple[str, ...] = ()


async def extract(
    node_id: str,
    text: str,
    question: str | None,
    steps: ClaimSteps,
    split: Split,
    meter: Meter,
    *,
    on_sentence: Callable[[int, int], None] = lambda _done, _total: None,
) -> Extraction:
    """Extract the claims of an answer.

    Args:
        node_id: The node whose text the answer is.
        text: The answer.
        question: What it answers, if that is known.
        steps: The stages with their model.
        split: Splits a text into sentences.
        meter: Records every call.
        on_sentence: Told how many sentences are done, 0 at first, and how many there are.

    Raises:
        OverBudget: The budget is used up.
        EndpointRefused: No call can succeed.

    Source: VeriTrail 3.1; Claimify.
    """
    answer = await asyncio.to_thread(SplitAnswer.of, node_id, text, question, split)
    on_sentence(0, len(answer.sentences))
    slots = asyncio.Semaphore(SENTENCES_AT_ONCE)
    done = 0
    ended: ModelError | None = None

    async def one(place: int) -> _Found:
        nonlocal done, ended
        async with slots:
            if ended is not None:  # no call can succeed any more: none is begun
                raise ended
            try:
                found = await _one(answer, place, steps, meter)
            except ModelError as error:
                ended = error
                raise
        done += 1
        on_sentence(done, len(answer.sentences))
        return found

    places = range(len(answer.sentences))
    return _merged(results(await asyncio.gather(*map(one, places), return_exceptions=True)))


async def claims_between(
    node_id: str,
    text: str,
    question: str | None,
    steps: ClaimSteps,
    split: Split,
    meter: Meter,
    *,
    start: int,
    end: int,
) -> tuple[Claim, ...]:
    """The claims of a part of an answer; the rest of it is context.

    Args:
        node_id: The node whose text the answer is.
        text: The answer.
        question: What it answers, if that is known.
        steps: The stages with their model.
        split: Splits a text into sentences.
        meter: Records every call.
        start: Where the part begins, in code points.
        end: The offset just behind it.

    Raises:
        ModelError: No answer could be had for one of its sentences.

    Source: VeriTrail 3.1; Claimify.
    """
    answer = await asyncio.to_thread(SplitAnswer.of, node_id, text, question, split)
    places = [
        place
        for place, one in enumerate(answer.sentences)
        if one.start < end and start < one.end and _WORD.search(one.text)
    ]
    works = (_through_the_stages(answer, place, steps, meter) for place in places)
    return _merged(results(await asyncio.gather(*works, return_exceptions=True))).claims


async def _one(answer: SplitAnswer, place: int, steps: ClaimSteps, meter: Meter) -> _Found:
    """One sentence; a call that fails is its outcome and ends no other sentence."""
    sentence = answer.sentences[place]
    if not _WORD.search(sentence.text):
        return _Found(sentence, SentenceOutcome.NO_VERIFIABLE_CLAIMS, "it holds no words")
    try:
        return await _through_the_stages(answer, place, steps, meter)
    except (OverBudget, EndpointRefused):
        raise
    except ModelError as error:
        return _Found(sentence, SentenceOutcome.FAILED, str(error))


async def _through_the_stages(
    answer: SplitAnswer, place: int, steps: ClaimSteps, meter: Meter
) -> _Found:
    sentence = answer.sentences[place]
    selected = await steps.select(answer, place, meter)
    if selected.sentence is None:
        why = selected.words or "the model finds no statement in it that could be checked"
        return _Found(sentence, SentenceOutcome.NO_VERIFIABLE_CLAIMS, why)
    clear = await steps.disambiguate(answer, place, selected.sentence, meter)
    if clear.sentence is None:
        why = clear.words or "the model finds that readers would not agree on what it means"
        return _Found(sentence, SentenceOutcome.CANNOT_BE_DISAMBIGUATED, why)
    texts = await steps.decompose(answer, place, clear.sentence, meter)
    if not texts:
        return _Found(
            sentence, SentenceOutcome.NO_CLAIMS, "the model breaks it down into no claims"
        )
    return _Found(sentence, SentenceOutcome.CLAIMS, texts=texts)


def _merged(found: Sequence[_Found]) -> Extraction:
    """Sentences and claims; a claim that several sentences state is kept once, with its places."""
    claims: dict[str, Claim] = {}
    sentences: list[ExtractedSentence] = []
    for one in found:
        sentence, place = one.sentence, (one.sentence.start, one.sentence.end)
        stated: dict[str, None] = {}
        for text in one.texts:
            claim = claims.setdefault(folded(text), _claim(sentence, text))
            stated[claim.claim_id] = None
            if place != (claim.start, claim.end) and place not in claim.also:
                claims[folded(text)] = claim.replace(also=(*claim.also, place))
        sentences.append(
            ExtractedSentence(
                node_id=sentence.node_id,
                position=sentence.index,
                start=sentence.start,
                end=sentence.end,
                text=sentence.text,
                outcome=one.outcome,
                reason=one.reason,
                claim_ids=tuple(stated),
            )
        )
    return Extraction(tuple(sentences), tuple(claims.values()))


def _claim(sentence: Sentence, text: str) -> Claim:
    node_id = sentence.node_id
    return Claim(
        claim_id=derived_claim_id(node_id, text),
        text=text,
        node_id=node_id,
        start=sentence.start,
        end=sentence.end,
    )
