"""From a trail to what a file shows of it.

Source: VeriTrail 3.2 (evidence trail, interim verdicts, provenance, error localization).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from veritrail_graph.api.reports.data import CheckedClaim, NodeFacts, Surroundings, Trail
from veritrail_graph.api.reports.view import (
    ClaimView,
    Fact,
    Level,
    Limits,
    Located,
    NodeView,
    ReviewView,
    RoundView,
    SentenceView,
    SummaryView,
    Words,
)
from veritrail_graph.api.views.costs import cost_words, counted, spent_by
from veritrail_graph.api.views.routes import routes_of
from veritrail_graph.api.views.words import Mark, ending_words, mark_now, mark_of, review_mark
from veritrail_graph.graph.exporters.results import selected_sentences
from veritrail_graph.graph.model import (
    CitedSentence,
    EvidenceRole,
    Iteration,
    NodeRef,
    Verification,
    frontier_order,
)


def mark_of_claim(one: CheckedClaim) -> Mark:
    """How a claim stands."""
    found = one.verification
    return mark_of(None) if found is None else mark_now(found)


def brief_view(one: CheckedClaim, stage_names: Mapping[int, str], limits: Limits) -> ClaimView:
    """A claim without its trail."""
    return ClaimView(
        number=one.number,
        checked=one,
        mark=mark_of_claim(one),
        said=review_mark(one.reviewed.latest.verdict) if one.reviewed else None,
        error_stages=tuple(_stage_words(stage, stage_names) for stage in one.error_stages),
        text=cut(one.claim.text, limits.characters),
        reasons=cut(one.reason, limits.characters) if one.reason else None,
        remarks=tuple(_remarks(one)),
    )


def _stage_words(stage: int, names: Mapping[int, str]) -> str:
    return f"{stage} {names[stage]}" if stage in names else str(stage)


def _remarks(one: CheckedClaim) -> Iterable[str]:
    if one.is_indicative:
        yield "Indicative only: no language model judged, words were compared."
    if one.was_edited:
        yield "The claim was edited after this verification, which is about its former text."
    if one.verifications > 1:
        yield f"The claim has {one.verifications:,} verifications; this is the one that counts."
    if one.later is not None:
        status = one.later.status.value.replace("_", " ")
        why = f": {one.later.failure}" if one.later.failure else ""
        yield f"A later verification gave no verdict ({status}{why})."


def when(at: str) -> str:
    """A moment that is stored, for people: to the minute, in UTC."""
    return f"{at[:10]} {at[11:16]} UTC"


def cut(text: str, most: int) -> Words:
    """A text, cut at a number of characters."""
    return Words(text) if len(text) <= most else Words(text[:most], len(text) - most)


def whole_view(trail: Trail, stage_names: Mapping[int, str], limits: Limits) -> ClaimView:
    """A claim with its trail.

    Args:
        trail: The trail.
        stage_names: What the stages are called.
        limits: How much is shown.
    """
    brief = brief_view(trail.checked, stage_names, limits)
    reviews = tuple(ReviewView(one, review_mark(one.verdict)) for one in trail.reviews)
    found = trail.verification
    if found is None:
        return replace(brief, reviews=reviews, has_trail=True)
    return replace(
        brief,
        facts=tuple(_facts(found)),
        introduced=tuple(_located(ref, stage_names) for ref in found.error.nodes[: limits.nodes]),
        inherited=tuple(
            _located(ref, stage_names) for ref in found.error.propagated[: limits.nodes]
        ),
        levels=tuple(_levels(trail, found, stage_names, limits)),
        rounds=tuple(_round(one, limits) for one in found.iterations),
        routes=routes_of(found, limits.routes),
        reviews=reviews,
        has_trail=True,
    )


def _facts(found: Verification) -> Iterable[Fact]:
    yield Fact("Judged by", found.model or found.engine)
    if found.model:
        yield Fact("Engine", found.engine)
    yield Fact("Checked at", when(found.created_at))
    yield Fact("Stops after", f"{found.q} times not fully supported in a row (q)")
    if ending := ending_words(found):
        yield Fact("Ended because", ending)
    if found.score is not None:
        yield Fact("Score", f"{found.score:.2f}")
    money = spent_by(found)
    cost = money.words or cost_words(found.usage)
    yield Fact("Cost", f"{cost}, {found.usage.calls:,} calls" if found.usage.calls else cost)
    yield Fact("Verification", found.verification_id, is_id=True)
    if found.content_hash:
        yield Fact("Content hash", found.content_hash, is_id=True)


def _located(ref: NodeRef, names: Mapping[int, str]) -> Located:
    return Located(ref.node_id, ref.stage, names.get(ref.stage))


def _levels(
    trail: Trail, found: Verification, names: Mapping[int, str], limits: Limits
) -> Iterable[Level]:
    """Nodes with evidence by stage, that nearest to the answer first."""
    by_stage: dict[int, list[tuple[NodeRef, int, list[CitedSentence]]]] = {}
    for iteration in found.iterations:
        cited_of: dict[str, list[CitedSentence]] = {}
        for cited in selected_sentences(iteration):
            cited_of.setdefault(cited.sentence.node_id, []).append(cited)
        for ref in iteration.checked:
            if ref.node_id in cited_of:
                of_stage = by_stage.setdefault(ref.stage, [])
                of_stage.append((ref, iteration.number, cited_of[ref.node_id]))
    introduced = {ref.node_id for ref in found.error.nodes}
    inherited = {ref.node_id for ref in found.error.propagated}
    left = limits.nodes
    for stage in sorted(by_stage, reverse=True):
        ones = sorted(by_stage[stage], key=lambda one: frontier_order(one[0]))
        nodes = [
            NodeView(
                node_id=ref.node_id,
                role=ref.role.value,
                about=_about(trail.nodes.get(ref.node_id)),
                iteration=number,
                sentences=tuple(_sentence(one, trail, limits) for one in cited[: limits.sentences]),
                more=max(len(cited) - limits.sentences, 0),
                introduced=ref.node_id in introduced,
                inherited=ref.node_id in inherited,
            )
            for ref, number, cited in ones[: max(left, 1)]
        ]
        left -= len(nodes)
        more = len(ones) - len(nodes)
        yield Level(stage, names.get(stage), tuple(nodes), more, stage in found.error.stages)


def _about(node: NodeFacts | None) -> tuple[str, ...]:
    if node is None:
        return ()
    made_by = f"made by {node.model}" if node.model else None
    step = f"step {node.step}" if node.step else None
    return tuple(one for one in (node.kind, step, made_by) if one)


def _sentence(cited: CitedSentence, trail: Trail, limits: Limits) -> SentenceView:
    one = cited.sentence
    around = trail.around.get((one.node_id, one.start, one.end), Surroundings())
    return SentenceView(
        words=cut(one.text, limits.characters),
        is_context=cited.role is EvidenceRole.CONTEXT,
        before=around.before,
        after=around.after,
    )


def _round(one: Iteration, limits: Limits) -> RoundView:
    sentences = selected_sentences(one)
    shown = one.evidence[: limits.nodes]
    remarks = []
    if one.left_out:
        remarks.append(
            f"{counted(one.left_out, 'sentence')} of the evidence did not fit and "
            f"{'was' if one.left_out == 1 else 'were'} left out."
        )
    if one.dropped_ids:
        ids = f"{counted(one.dropped_ids, 'id')} of sentences that the model made up"
        remarks.append(f"{ids} {'was' if one.dropped_ids == 1 else 'were'} dropped.")
    if one.reruns:
        remarks.append(
            f"Evidence was selected again {counted(one.reruns, 'time')}, as it did not fit."
        )
    if len(one.evidence) > len(shown):
        remarks.append(f"{len(one.evidence) - len(shown):,} more summaries are not shown.")
    return RoundView(
        number=one.number,
        mark=mark_of(one.verdict),
        reasons=cut(one.reasoning, limits.characters),
        checked=len(one.checked),
        carried=len(one.carried_roots),
        sentences=(len(sentences), len({cited.sentence.node_id for cited in sentences})),
        summaries=tuple(
            SummaryView(
                cut(found.summary, limits.characters),
                cut(found.missing, limits.characters) if found.missing else None,
                len(found.node_ids),
            )
            for found in shown
        ),
        remarks=tuple(remarks),
    )
