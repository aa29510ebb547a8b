"""The trail of a verification as a document: every door shows this one.

Each field of the noun is shown here, or `NOT_SHOWN` names it with the reason.

Source: VeriTrail 3.1.2 to 3.1.4 (interim verdicts), 3.2 (evidence trail, provenance, error
localization).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from veritrail_graph.api.show.asking import asked_as, asking_words
from veritrail_graph.api.show.context import NAMED, Context, Quoted, quoted
from veritrail_graph.api.show.contrast import Contrast, contrast_of
from veritrail_graph.api.show.contrast import Quote as Side
from veritrail_graph.api.show.costs import cost_words, step_words, usage_words
from veritrail_graph.api.show.document import (
    PLACE,
    Block,
    Branch,
    Document,
    Fact,
    Facts,
    Heading,
    Line,
    Passage,
    Picture,
    Quote,
    Quotes,
    Remark,
    Style,
    TextRun,
    Tree,
    compared,
    name,
    names,
    ours,
    quoting,
    said,
    verdict,
)
from veritrail_graph.api.show.located import BY_SIDES
from veritrail_graph.api.show.node_names import with_names
from veritrail_graph.api.show.parts import part_views
from veritrail_graph.api.show.picture import picture_of
from veritrail_graph.api.show.review import review_line
from veritrail_graph.api.show.routes import MOST_ROUTES, Route, routes_of
from veritrail_graph.api.show.trail_view import ErrorNode, IterationView, TrailView
from veritrail_graph.api.show.twists import Twist
from veritrail_graph.api.show.words import (
    State,
    either,
    indicative_words,
    introduced_words,
    reason_apart,
    reuse_reason,
)
from veritrail_graph.graph.comparing import flat_settings
from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.evidence_nodes import EvidenceNode
from veritrail_graph.graph.judge_mode import judge_mode_of
from veritrail_graph.graph.model import (
    Evidence,
    EvidenceRole,
    JudgedPart,
    LocatedBy,
    NodeRef,
    Review,
    StepRecord,
    Verification,
    stages_of,
)
from veritrail_graph.graph.word_diff import word_diff

NOT_SHOWN: Mapping[str, str] = MappingProxyType(
    {
        "Verification.method": "it is the same for all that is stored",
        "Verification.settings": "models, q and samples are facts of their own; JSON has the rest",
        "Verification.run_options": "they are of the run, which shows them",
        "Verification.located_by": "beside a pair by a value it says so; else it is the usual way",
        "Verification.origin": "a question is named as one where no node is at fault",
        "Iteration.evidence": "it stands below the nodes that it was selected from",
        "Iteration.usage": "it is the sum of the steps, which are shown",
        "Evidence.sentences": "they stand below their nodes",
        "CitedSentence.start": "the sentence is quoted as a whole",
        "CitedSentence.end": "the sentence is quoted as a whole",
    }
)
"""Fields of the noun that no writer shows, by class and name, and why."""


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """A node of a trail and where its text comes from.

    Attributes:
        ref: Its id, stage, place and role.
        kind: What sort of text it is, or None.
        step: The step that produced it, or None.
        model: The model that produced it, or None.
    """

    ref: NodeRef
    kind: str | None = None
    step: str | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True)
class Beside:
    """Facts of a trail beside the verification itself.

    Attributes:
        reviews: Reviews of the claim, newest first.
        further_reviews: How many more reviews there are.
        remarks: What else a reader must know.
        nodes: Nodes of the trail, by node_id.
        around: The sentences around cited ones.
        routes: Routes that are listed.
        names: What people call nodes, by node_id.
    """

    reviews: Sequence[Review] = ()
    further_reviews: int = 0
    remarks: Sequence[str] = ()
    nodes: Mapping[str, NodeFacts] = field(default_factory=dict)
    around: Context = field(default_factory=dict)
    routes: int = MOST_ROUTES
    names: Mapping[str, str] = field(default_factory=dict)


def shown(view: TrailView, beside: Beside | None = None) -> Document:
    """Show a verification with its trail.

    Args:
        view: The trail.
        beside: What else is known; None: nothing.
    """
    beside = beside or Beside()
    found, pair = view.verification, contrast_of(view)
    blocks: list[Block] = [
        Heading((said(found.claim),), view.mark),
        Picture(picture_of(view, pair)),
        Facts(tuple(_facts(view))),
        Facts(tuple(_run_facts(view)), is_detail=True),
        *(Remark(line, style) for line, style in _remarks(view, beside)),
        *_reasons(view),
    ]
    if found.parts:
        blocks.append(Tree((ours("part by part"),), tuple(_parts(found, found.parts))))
    elif found.sub_claims:
        parts = tuple(Branch((said(one),), (), "simpler statement") for one in found.sub_claims)
        blocks.append(Tree((ours("made of"),), parts, is_detail=True))
    if pair is not None and view.mark.kind is not State.SUPPORTED:
        blocks.append(_quotes(pair))
    if found.correction is not None:
        pieces = word_diff(found.claim, found.correction).after
        blocks.append(Passage(SUPPORTED_WORDING, compared(pieces)))
    if branches := tuple(_iterations(view, beside)):
        blocks.append(Tree((), branches))
    blocks += _where(view)
    blocks += _routes(found, beside.routes)
    if beside.reviews:
        blocks.append(_reviews(found, beside))
    blocks.append(Facts(tuple(_further_facts(view)), is_detail=True))
    if spent := _spent(view):
        blocks.append(Facts((spent,), is_detail=not found.usage.calls))
    return with_names(Document(tuple(blocks)), beside.names)


def facts_of(view: TrailView) -> tuple[Fact, ...]:
    """Return the facts of a trail, all of them beside one another."""
    spent = _spent(view)
    whole = (*_facts(view), *_run_facts(view), *_further_facts(view))
    return whole if spent is None else (*whole, spent)


def _facts(view: TrailView) -> Iterator[Fact]:
    """Return what was judged, the judge, and how it ended."""
    found = view.verification
    yield Fact("claim", (name(found.claim_id),))
    yield Fact("node", (name(found.node_id),))
    yield Fact("engine", (name(found.engine),))
    if found.model:
        yield Fact("model", (name(found.model), ours(asked_as(found))))
    yield Fact("q", (ours(str(found.q)),))
    if not view.mark.is_verdict:
        yield Fact("status", (ours(found.status.value.replace("_", " ")),))
    if found.score is not None:
        yield Fact("score", (ours(f"{found.score:.2f}{_samples(found)}"),))


def _run_facts(view: TrailView) -> Iterator[Fact]:
    """Return its id, its time, its run, and why the walk ended."""
    found = view.verification
    yield Fact("verification", (name(found.verification_id),))
    if view.ending:
        yield Fact("stopped because", (ours(view.ending),))
    yield Fact("made at", (ours(found.created_at),))
    if found.run_id:
        yield Fact("run", (name(found.run_id),))


def _further_facts(view: TrailView) -> Iterator[Fact]:
    """Return its links to its process and to other verifications."""
    found = view.verification
    yield Fact("process", (name(found.process_id),))
    if found.place is not None:
        yield Fact("place in its run", (ours(f"{found.place:,}"),))
    if found.content_hash:
        yield Fact("content hash", (ours(found.content_hash),))
    if found.compared_with:
        yield Fact("compared with", (name(found.compared_with),))
    if found.saved_calls is not None:
        yield Fact("saved", (ours(counted(found.saved_calls, "call")),))


def _spent(view: TrailView) -> Fact | None:
    """Calls, tokens and money; None where no model judges."""
    found = view.verification
    usage = found.usage
    if found.steps or usage.calls or usage.cached_calls:
        return Fact("in all", (ours(usage_words(usage)),))
    if found.model is None:
        return None
    return Fact("cost", (ours(view.spent.words or cost_words(usage)),))


def _samples(found: Verification) -> str:
    """Return the number of samples that the score is a share of, where it is known."""
    settings = flat_settings(found.settings)
    if "samples.count" not in settings:
        return ""
    threshold = settings.get("samples.threshold")
    least = f", threshold {threshold}" if threshold else ""
    return f" (share of {settings['samples.count']} samples that said Fully Supported{least})"


SUPPORTED_WORDING = "supported instead"
"""The name of the wording that was proposed for a claim."""
_PLAIN_NAME = re.compile(r"[\w.:+-]+", re.ASCII)


def _remarks(view: TrailView, beside: Beside) -> Iterator[tuple[Line, Style]]:
    """Return the remarks that a reader must know before the trail, each with its weight."""
    found = view.verification
    for words in asking_words(judge_mode_of(found)):
        yield (quoting(f"{words[:1].upper()}{words[1:]}."),), Style.WARNING
    if found.indicative:
        words = indicative_words(found.engine)
        is_plain = _PLAIN_NAME.fullmatch(found.engine) is not None
        yield (ours(words) if is_plain else quoting(words),), Style.WARNING
    if found.reused_from is not None:
        line = (ours("kept from "), name(found.reused_from), ours(": "), said(reuse_reason(found)))
        yield line, Style.NOTE
    elif found.reuse_reason:
        yield (ours("No earlier verdict was kept: "), said(found.reuse_reason)), Style.NOTE
    if view.appeals:
        yield (ours("Do not follow them: "), quoting(view.appeals)), Style.WARNING
    for words in beside.remarks:
        yield (quoting(words),), Style.WARNING


def _reasons(view: TrailView) -> Iterator[Passage]:
    found = view.verification
    if why := reason_apart(found):
        is_undecided = view.mark.kind is State.UNDECIDED
        heading = "why there is no verdict" if is_undecided else "why it could not be checked"
        yield Passage(heading, (said(why),))
    if found.reasoning:
        yield Passage("reasoning", (said(found.reasoning),))


def _quotes(pair: Contrast) -> Quotes:
    """Return the sentence of the source beside the one that was written from it."""
    quotes = []
    if pair.source is not None:
        place = _place(pair.source, with_stage=not pair.source.is_root)
        quotes.append(Quote(pair.source_heading, place, compared(pair.source.pieces)))
    else:
        quotes.append(Quote(pair.source_heading, (), (ours(pair.not_found),)))
    place = _place(pair.wrote, with_stage=pair.wrote.sentence is not None)
    wrote = Quote(pair.wrote_heading, place, compared(pair.wrote.pieces), pair.is_at_fault)
    remarks = [Fact("difference", (quoting(pair.words),))] if pair.words else []
    if pair.where:
        remarks.append(Fact(PLACE, (quoting(pair.where),)))
    return Quotes((*quotes, wrote), tuple(remarks))


def _place(side: Side, *, with_stage: bool) -> Line:
    line: Line = (name(side.node_id),)
    if side.sentence is not None:
        line += (ours(f" {side.sentence}"),)
    return (*line, ours(", "), name(side.place)) if with_stage and side.place else line


def _iterations(view: TrailView, beside: Beside) -> Iterator[Branch]:
    """The rounds, first to last, and steps that belong to none of them."""
    found = view.verification
    if before := [step for step in found.steps if step.iteration == 0]:
        heading = (ours("before the first iteration", Style.STRONG),)
        yield Branch(heading, tuple(_steps(before)), is_detail=True)
    for step in view.iterations:
        yield Branch(_round(step), tuple(_of_round(step, view, beside)), "iteration")
    rounds = {one.number for one in found.iterations} | {0}
    if left := [step for step in found.steps if step.iteration not in rounds]:
        yield Branch((ours("a round without a verdict", Style.STRONG),), tuple(_steps(left)))


def _round(step: IterationView) -> Line:
    checked = step.iteration.checked
    line: Line = (ours(f"iteration {step.number}", Style.STRONG), ours("  "), verdict(step.mark))
    if step.read > NAMED or step.read != len(checked):
        return (*line, ours(f"  checked {counted(step.read, 'node')}", Style.QUIET))
    nodes = names([ref.node_id for ref in checked], NAMED) or (ours("no node anew"),)
    return (*line, ours("  checked ", Style.QUIET), *nodes)


def _of_round(step: IterationView, view: TrailView, beside: Beside) -> Iterator[Branch]:
    one, found = step.iteration, view.verification
    for remark in step.remarks:
        yield Branch((quoting(remark, Style.WARNING),))
    if one.carried_roots:
        roots = names([ref.node_id for ref in one.carried_roots], NAMED)
        yield Branch((ours("carried roots: ", Style.QUIET), *roots))
    if one.score is not None:
        yield Branch((ours(f"score {one.score:.2f}"),))
    for node in step.nodes:
        yield _node(node, view, beside)
    if step.not_found:
        yield Branch((ours(step.not_found, Style.QUIET),))
    if one.reasoning and one.reasoning != found.reasoning:
        yield Branch((ours("reasons: ", Style.QUIET), said(one.reasoning)), is_detail=True)
    if one.parts and one.parts != found.parts:
        yield Branch((ours("part by part"),), tuple(_parts(found, one.parts)), is_detail=True)
    if one.judged_by:
        yield Branch((ours("judged by ", Style.QUIET), name(one.judged_by)), is_detail=True)
    yield from _summaries("summary of", one.summaries)
    yield from _summaries("after reruns the verdict saw of", one.judged)
    if steps := [each for each in found.steps if each.iteration == step.number]:
        spent = usage_words(step.spent.usage)
        calls = tuple(_steps(steps, is_detail=True))
        yield Branch((ours(spent, Style.QUIET),), calls, is_detail=not step.spent.usage.calls)


def _parts(found: Verification, parts: Sequence[JudgedPart]) -> Iterator[Branch]:
    """The parts of a claim, with the verdict on each and its reason."""
    for one in part_views(found, parts):
        style = Style.WRONG if one.is_failed else Style.STRONG
        line = (ours(f"{one.number} "), ours(one.words, style), ours(": "), said(one.text))
        reason = (Branch((said(one.reason, Style.QUIET),)),) if one.reason else ()
        yield Branch(line, reason, "part")


def _node(node: EvidenceNode, view: TrailView, beside: Beside) -> Branch:
    """A node with evidence and its sentences."""
    stage = node.ref.stage
    line: Line = (name(node.node_id, Style.NOTE),)
    if stage is not None:
        line += (ours(f"  stage {stage}", Style.QUIET),)
        if called := view.stage_names.get(stage):
            line += (ours(" ", Style.QUIET), name(called, Style.QUIET))
    if node.ref.is_unsourced:
        line += (ours("  unsourced", Style.WARNING),)
    if known := beside.nodes.get(node.node_id):
        for words, value in (("", known.kind), ("step ", known.step), ("made by ", known.model)):
            if value:
                line += (ours(f", {words}", Style.QUIET), name(value, Style.QUIET))
    if node.introduced:
        line += (ours(f"  {introduced_words(node.among)}", Style.WRONG),)
    elif node.inherited:
        line += (ours("  inherited", Style.QUIET),)
    sentences = quoted(node.cited, beside.around)
    return Branch(line, tuple(map(_sentence, sentences)), "node")


def _sentence(one: Quoted) -> Branch:
    role = "" if one.role is EvidenceRole.EVIDENCE else " (context)"
    side = f" ({one.side})" if one.side else ""
    line: Line = (ours(f"{one.index}{role}{side}: "),)
    if one.before:
        line += (said(one.before, Style.QUIET), ours(" "))
    line += (said(one.text),)
    if one.after:
        line += (ours(" "), said(one.after, Style.QUIET))
    return Branch(line, (), "sentence")


def _summaries(words: str, every: Sequence[Evidence]) -> Iterator[Branch]:
    """Return the findings of prompts; one that only repeats its sentences adds what is missing."""
    for one in every:
        nodes = names(one.node_ids, NAMED)
        missing = (said(one.missing),) if one.missing else ()
        if one.text == " ".join(cited.text for cited in one.sentences):
            if missing:
                line = (ours("missing in ", Style.QUIET), *nodes, ours(": "), *missing)
                yield Branch(line, (), "summary", is_detail=True)
            continue
        below = (Branch((ours("missing: "), *missing)),) if missing else ()
        line = (ours(f"{words} ", Style.QUIET), *nodes, ours(": "), said(one.text))
        yield Branch(line, below, "summary", is_detail=True)


def _steps(steps: Iterable[StepRecord], *, is_detail: bool = False) -> Iterator[Branch]:
    """Return the calls: the step, the version of its prompt, the model, the cost."""
    for step in steps:
        warmth = "" if step.temperature is None else f" at temperature {step.temperature:g}"
        effort = "" if step.effort is None else f" with effort {step.effort}"
        line = (
            name(step_words(step.step), Style.QUIET),
            ours(": ", Style.QUIET),
            name(step.prompt, Style.QUIET),
            ours(" ", Style.QUIET),
            name(step.prompt_hash[:12], Style.QUIET),
            ours(", ", Style.QUIET),
            name(step.model, Style.QUIET),
            ours(f"{warmth}{effort}: {usage_words(step.usage)}", Style.QUIET),
        )
        yield Branch(line, (), "step", is_detail)


def _where(view: TrailView) -> Iterator[Block]:
    """Return the nodes where unsupported content came in, with what each step did."""
    found = view.verification
    if view.unsaid:
        yield Remark((ours(view.unsaid),), Style.STRONG)
    if not view.introduced:
        if found.value_place is None and view.mark.kind is State.NOT_SUPPORTED and not view.unsaid:
            words = "no stage could be identified where unsupported content was introduced"
            yield Remark((ours(words),), Style.QUIET)
        return
    several = len(view.introduced) > 1
    stages = either([str(stage) for stage in found.error_stages or stages_of(found.error_nodes)])
    at = f" at stage {stages}" if stages else ""
    among = ", in one of these nodes" if several else ""
    how = f", {BY_SIDES}" if found.located_by is LocatedBy.SIDES else ""
    title = (ours(f"error introduced{at}{among}{how}", Style.WRONG),)
    before = "perhaps introduced in " if several else "introduced in "
    branches = [Branch(_error(before, one), (), "node") for one in view.introduced]
    branches += [
        Branch(_error("carried on by ", one, Style.QUIET), (), "later node")
        for one in view.inherited
    ]
    branches += map(_twist, view.twists)
    yield Tree(title, tuple(branches))


def _error(words: str, node: ErrorNode, style: Style = Style.PLAIN) -> Line:
    called = (ours(", "), name(node.name)) if node.name else ()
    line = (ours(words, style), name(node.node_id))
    if node.stage is None:  # it was read from JSON
        return line
    return (*line, ours(f" ({node.place}"), *called, ours(")"))


def _twist(twist: Twist) -> Branch:
    """Return one sentence of a step, and the sentences that it was made from."""
    one = twist.carried
    at = (name(one.node_id), ours(f" {one.sentence}: "))
    text = compared(twist.rewritten) if twist.rewritten else (said(one.text),)
    leaves = [Branch((*at, *text))]
    for source in twist.sources:
        sentence = source.sentence
        place = (name(sentence.node_id), ours(f" {sentence.sentence}: "))
        heading = (quoting(source.heading), ours(": "))
        leaves.append(Branch((*heading, *place, *compared(source.pieces)), (), "source"))
    if twist.proposed:
        leaves.append(Branch((ours("proposed: "), said(twist.proposed))))
    line: Line = (quoting(twist.words, Style.STRONG),)
    if one.indicative:
        line += (ours("  (indicative)"),)
    return Branch(line, tuple(leaves), "carrying sentence")


def _routes(found: Verification, most: int) -> Iterator[Tree]:
    """The ways of the evidence from the sources to the answer."""
    routes = routes_of(found, most)
    if not routes.routes:
        return
    branches = [Branch(_route(one), (), "route") for one in routes.routes]
    if not routes.are_all_shown:
        more = routes.total - len(routes.routes)
        branches.append(Branch((ours(f"… and {counted(more, 'more route')}", Style.QUIET),)))
    yield Tree((ours("routes of evidence"),), tuple(branches), is_detail=True)


def _route(route: Route) -> Line:
    line: list[TextRun] = []
    for stop in route.stops:
        line.append(name(stop.node_id))
        if stop is not route.stops[-1]:
            line.append(ours(" → "))
            for via in stop.via:
                line += [ours("("), name(via), ours(") → ")]
    if not route.complete and route.stops[0].stage is not None:
        line.append(ours(", which does not begin in a source", Style.QUIET))
    return tuple(line)


def _reviews(found: Verification, beside: Beside) -> Tree:
    """Return the reviews of the claim."""
    branches = [
        Branch(review_line(one, found.verification_id), (), "review") for one in beside.reviews
    ]
    if beside.further_reviews:
        more = f"… and {counted(beside.further_reviews, 'more review')}"
        branches.append(Branch((ours(more, Style.QUIET),)))
    return Tree((ours("reviews by people"),), tuple(branches))
