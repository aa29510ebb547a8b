"""The likely cost of a job and what it starts, as the page before it says.

Source: VeriTrail D (computational cost).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from veritrail_graph.api.show.asking import whole_sentences
from veritrail_graph.api.show.costs import cost_words, way_words

if TYPE_CHECKING:
    from veritrail_graph.api.app.attribution_estimate import EstimatedSentences
    from veritrail_graph.api.app.estimation import Estimated
    from veritrail_graph.api.app.jobs import Plan
    from veritrail_graph.api.app.kept_estimate import Kept
    from veritrail_graph.api.requests.verify import VerifyRequest

ESTIMATE_SECONDS = 15.0
"""How long a page waits for an estimate."""


@dataclass(frozen=True, slots=True)
class Cost:
    """The estimated cost of a job, in words.

    Attributes:
        claims: How many claims; None: that is not known before they are extracted.
        engine: The engine.
        model: The model; None: none is asked.
        is_asked: Whether a language model is asked at all.
        is_by_words: Whether words are compared, so that verdicts are indicative only.
        is_priced: Whether the price is known.
        likely: What is likely, and `low` and `high` around it: calls, tokens, US dollars.
        why_unknown: Why nothing can be said.
        ways: What is likely in other ways to ask: the way, its cost in words, and whether it is the
            chosen one.
        kept: What an earlier version spares; None: nothing.
    """

    claims: int | None
    engine: str
    model: str | None = None
    is_asked: bool = False
    is_priced: bool = False
    ways: tuple[tuple[str, str, bool], ...] = ()
    low: Mapping[str, Any] = field(default_factory=dict)
    likely: Mapping[str, Any] = field(default_factory=dict)
    high: Mapping[str, Any] = field(default_factory=dict)
    why_unknown: str | None = None
    is_by_words: bool = False
    kept: Kept | None = None


def cost_of(found: Estimated, engine: str) -> Cost:
    """Return what an estimate says."""
    sums = found.estimates
    return Cost(
        claims=found.claims,
        engine=engine,
        kept=found.kept,
        model=found.model,
        is_asked=True,
        is_priced=found.is_priced,
        low=_cost_json(sums.low),
        likely=_cost_json(sums.likely),
        high=_cost_json(sums.high),
        ways=tuple(
            (
                way_words(way.name, way.share),
                cost_words(sums.likely.ways[way.name]),
                way.name == found.chosen,
            )
            for way in found.ways
            if way.name in sums.likely.ways and found.is_priced
        ),
    )


def started_lines(plan: Plan, wanted: VerifyRequest, *, asks_models: bool) -> tuple[str, ...]:
    """Return what is started, a sentence each: how models are asked, and what is kept.

    Args:
        plan: What the job would be.
        wanted: What is asked for.
        asks_models: Whether its engine asks models.
    """
    found: list[str] = []
    if asks_models:
        found.append(batch_words(wanted) if wanted.mode == "batch" else LIVE_WORDS)
        if plan.asking.share is None:
            found.append("Each prompt asks about one claim, as in the paper.")
        found += whole_sentences(plan.asking)
    if plan.since is not None:
        since = plan.since
        name = "this process" if since.process_id == wanted.process_id else since.process_id
        found.append(
            "Only what changed is verified (ours, not the paper's): verdicts of the earlier "
            f"version {name}, content {since.content_hash[:12]}, are kept where the changes cannot "
            "have touched them."
        )
    return tuple(found)


LIVE_WORDS = "Live: each call is made at once, at the whole price."


def batch_words(wanted: VerifyRequest) -> str:
    """Return how batches are made and finished."""
    at = "at a lower price"
    if wanted.batch_price_factor is not None:
        at = f"at {wanted.batch_price_factor:g} of the price"
    rest = "waits for the next one"
    if wanted.batch_finish == "live":
        rest = "is asked by a single call, at the whole price"
    return (
        f"In batches: calls go out in files, {at}, and answers come within a day; what has no "
        f"valid answer in a batch {rest}."
    )


@dataclass(frozen=True, slots=True)
class SentenceCost:
    """The estimated cost of an attribution, in words.

    Attributes:
        sentences: How many sentences; None: not known.
        engine: The engine.
        why_unknown: Why nothing can be said.
        model: The model; None: none is asked.
        is_priced: Whether the price is known.
        has_walks: Whether walks that verify corrections come on top.
        likely: What is likely, and `low` and `high` around it: calls, tokens, US dollars.
    """

    sentences: int | None
    engine: str
    why_unknown: str | None = None
    model: str | None = None
    is_priced: bool = False
    has_walks: bool = False
    low: Mapping[str, Any] = field(default_factory=dict)
    likely: Mapping[str, Any] = field(default_factory=dict)
    high: Mapping[str, Any] = field(default_factory=dict)


def sentence_cost(found: EstimatedSentences) -> SentenceCost:
    """Return what an estimate of an attribution says."""
    sums = found.estimates
    if sums is None:
        return SentenceCost(found.sentences, found.engine, found.why_unknown, found.model)
    return SentenceCost(
        found.sentences,
        found.engine,
        model=found.model,
        is_priced=found.is_priced,
        has_walks=found.has_walks,
        low=_cost_json(sums.low),
        likely=_cost_json(sums.likely),
        high=_cost_json(sums.high),
    )


def _cost_json(one: Any) -> dict[str, Any]:
    usage = one.usage
    tokens = usage.input_tokens + usage.output_tokens
    return {"calls": usage.calls, "tokens": tokens, "cost_usd": usage.cost_usd}
