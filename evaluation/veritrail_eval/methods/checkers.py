"""The checkers of the paper, and two more, by name: their adapters, parameters and grids.

Source: VeriTrail 4.2 (a) to (c), E.4, F; SummaC-ZS, SummaC-Conv and HHEM are not in the paper.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from veritrail_eval.methods.checking import ALL, ONE, Checker, Rule
from veritrail_eval.methods.gathering import Gathering
from veritrail_eval.methods.judging import sources_of, whole_number
from veritrail_eval.methods.method import Method, Resources
from veritrail_eval.methods.registry import MethodKind
from veritrail_graph.graph.errors import InputError
from veritrail_graph.verifier.nli.adapters import (
    Adapter,
    AlignScore,
    ConvWeights,
    Hhem,
    Infuse,
    MiniCheck,
    SummaCConv,
    SummaCZs,
)
from veritrail_graph.verifier.nli.port import EntailmentModel
from veritrail_graph.verifier.ports import Split

THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9)
SPLIT_TEXTS = 4_096
"""Texts whose sentences are remembered: documents are split once, and not for every claim."""

MINICHECK_WORDS = 350
_WORDS_OF_TOKENS = 0.7
"""Words of a token, on the safe side: what is too long is read in windows all the same."""
_FOR_CLAIM = 100
"""Tokens of a window that are left for the claim."""

Makes = Callable[[EntailmentModel, Split, Mapping[str, Any]], Adapter]

_K = {"k": "chunks whose scores are averaged, the highest ones"}
_COMMON: Mapping[str, str] = {
    "threshold": "the score from which a claim is Fully Supported",
    "model": "the entailment model: a folder, an address, or the name of a fetched model",
    "documents": "one: all source text is one document; all: each document is scored apart",
    "sources": "which source text: process, below or documents",
    "window": "the most tokens that the model reads (words, of a server)",
    "labels": "what the model's outputs mean",
    "template": "one text with {premise} and {hypothesis}, for models that read one",
}
WEIGHTS = "weights"
"""The parameter that names a file of trained weights."""
_READING = ("window", "labels", "template")


def _kind(
    name: str,
    summary: str,
    makes: Makes,
    *,
    ks: tuple[int, ...] = (),
    more: Mapping[str, str] | None = None,
    lowest: float = 0.0,
) -> MethodKind:
    async def make(parameters: Mapping[str, Any], resources: Resources) -> Method:
        faults = Gathering()
        with faults.keep():
            threshold = _threshold(parameters, lowest)
        with faults.keep():
            k = whole_number(parameters, "k", 1) if ks else 1
        with faults.keep():
            if "words" in parameters:
                whole_number(parameters, "words")
        documents = parameters.get("documents", ALL)
        with faults.keep():
            if documents not in (ONE, ALL):
                raise InputError(f"documents must be {ONE} or {ALL}, not {documents!r}")
        with faults.keep():
            sources = sources_of(parameters)
        given = dict(parameters)
        with faults.keep():
            if WEIGHTS in (more or {}):
                path = resources.path(parameters.get(WEIGHTS), WEIGHTS)
                given[WEIGHTS] = await asyncio.to_thread(ConvWeights.read, path)
        with faults.keep():
            reading = {key: parameters[key] for key in _READING if key in parameters}
            model = await resources.entailment(parameters.get("model"), reading)
        faults.refuse()
        rule = Rule(threshold, k, documents, sources, lowest)
        split = lru_cache(SPLIT_TEXTS)(resources.splitter.split)
        adapter = makes(model, split, given)
        return Checker(name, adapter, model, rule, resources.memory.scores)

    grid: dict[str, tuple[Any, ...]] = {"k": ks} if ks else {}
    parameters = {**(_K if ks else {}), **_COMMON, **(more or {})}
    return MethodKind(name, summary, parameters, make, {**grid, "threshold": THRESHOLDS})


def _threshold(parameters: Mapping[str, Any], lowest: float) -> float:
    """The threshold, on the scale of the checker's own scores."""
    value = parameters.get("threshold", THRESHOLDS[0])
    if isinstance(value, bool) or not isinstance(value, int | float) or not lowest <= value <= 1:
        raise InputError(f"threshold must be a number from {lowest:g} to 1, not {value!r}")
    return float(value)


def _minicheck(model: EntailmentModel, split: Split, parameters: Mapping[str, Any]) -> Adapter:
    return MiniCheck(model, split, whole_number(parameters, "words", words_of(model.settings)))


def words_of(settings: Mapping[str, Any]) -> int:
    """The words of a chunk that fills an entailment model's window, with a claim beside it."""
    words, tokens = settings.get("window_words"), settings.get("window")
    if isinstance(words, int):
        return words
    if isinstance(tokens, int):
        claim = min(_FOR_CLAIM, tokens // 2)
        return max(1, int((tokens - claim) * _WORDS_OF_TOKENS))
    return MINICHECK_WORDS


def _alignscore(model: EntailmentModel, split: Split, parameters: Mapping[str, Any]) -> Adapter:
    return AlignScore(model, split, whole_number(parameters, "words", 350))


def _make_simple(made: Callable[[EntailmentModel, Split], Adapter]) -> Makes:
    return lambda model, split, _parameters: made(model, split)


INFUSE = _kind(
    "infuse",
    "grows a premise from the sentences nearest in entailment until the neutral probability rises",
    _make_simple(Infuse),
)
ALIGNSCORE = _kind(
    "alignscore",
    "scores chunks of about 350 words against the claim's sentences",
    _alignscore,
    ks=tuple(range(1, 16)),
    more={"words": "words of a chunk; default: 350"},
)
MINICHECK = _kind(
    "minicheck",
    "scores chunks as long as the model reads against the claim",
    _minicheck,
    ks=tuple(range(1, 6)),
    more={"words": "words of a chunk; default: what the model's window holds"},
)
SUMMAC_ZS = _kind(
    "summac_zs",
    "takes entailment less contradiction over pairs of sentences",
    _make_simple(SummaCZs),
    lowest=SummaCZs.lowest,
)
SUMMAC_CONV = _kind(
    "summac_conv",
    "takes a trained histogram of the probabilities of pairs of sentences",
    lambda model, split, parameters: SummaCConv(model, split, parameters[WEIGHTS]),
    more={WEIGHTS: "the file of the trained weights, JSON or .npz; see docs/judges.md"},
)
HHEM = _kind(
    "hhem",
    "scores the whole document against the claim",
    _make_simple(lambda model, _split: Hhem(model)),
)
