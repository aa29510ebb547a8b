"""Verifications as a person reads them: a table of verdicts, and a trail as a tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

from rich.text import Text
from rich.tree import Tree

from veritrail_graph.api.cli.terminal import laid_out, marked, table, verdict_words
from veritrail_graph.api.views.asking import asked_as, asking_words
from veritrail_graph.api.views.costs import (
    UNKNOWN,
    cost_words,
    money_words,
    step_words,
    usage_words,
)
from veritrail_graph.api.views.located import quote_pieces, went_wrong
from veritrail_graph.api.views.texts import clean, one_line
from veritrail_graph.api.views.trail import IterationView, TrailView, trail_view
from veritrail_graph.api.views.words import (
    either,
    indicative_words,
    reason_apart,
    reuse_words,
    unsaid_in_short,
)
from veritrail_graph.graph.asking import asking_behind
from veritrail_graph.graph.comparing import flat_settings
from veritrail_graph.graph.model import EvidenceRole, LocatedBy, Status, Verdict

if TYPE_CHECKING:
    from rich.table import Table

    from veritrail_graph.api.views.twists import Twist
    from veritrail_graph.graph.model import NodeRef, RunUsage, StepRecord, Usage, Verification
    from veritrail_graph.graph.model.attribution import CarriedSentence


T = TypeVar("T")

CHECKED_SHOWN = 8
NODES_SHOWN = 6
SENTENCES_SHOWN = 3


_RANKS = {
    Verdict.FULLY_SUPPORTED: 0,
    Verdict.INCONCLUSIVE: 1,
    Verdict.NOT_FULLY_SUPPORTED: 3,
}
_WITHOUT_VERDICT = {Status.UNDECIDED: 2}
_FAILED = 4
COLUMNS_LEFT_OUT = ("verification", "output", "input", "calls")
"""Columns of a run that a narrow terminal leaves out, the first ones first."""


def show_results(verifications: Sequence[Verification]) -> None:
    """One line a claim: claim_id, verdict, stage, cost and text; what needs attention comes last.

    That is nearest to the prompt. Calls, tokens and the id of the verification are shown where
    there is room.
    """
    has_cost = any(one.usage.calls or one.usage.cached_calls for one in verifications)
    columns = ("claim_id", "verdict", "stage")
    counts = ("calls", "input", "output", "cost") if has_cost else ()
    rows: list[list[str | Text]] = []
    for one in sorted(verifications, key=attention):
        spent: list[str] = []
        if has_cost:
            usage = one.usage
            numbers = (usage.calls, usage.input_tokens, usage.output_tokens)
            spent = [*(f"{number:,}" for number in numbers), cost_words(usage)]
        verdict = Text(*verdict_words(one.verdict, one.status))
        texts = (one_line(one.claim), one.verification_id)
        rows.append([one.claim_id, verdict, stage_cell(one), *spent, *texts])
    names = (*columns, *counts, "claim", "verification")
    table(names, rows, counts, ["claim"], COLUMNS_LEFT_OUT)


def attention(one: Verification) -> int:
    """How much a result needs attention; failures the most."""
    if one.verdict is not None:
        return _RANKS[one.verdict]
    return _WITHOUT_VERDICT.get(one.status, _FAILED)


def show_others(verifications: Sequence[Verification]) -> None:
    """Verifications whose verdict does not count, newest first."""
    names = ("claim_id", "verdict", "stage", "judged by", "verification")
    rows: list[list[str | Text]] = [
        [
            one.claim_id,
            Text(*verdict_words(one.verdict, one.status)),
            stage_cell(one),
            judge_words(one),
            one.verification_id,
        ]
        for one in verifications
    ]
    table(names, rows, texts=["judged by"])


def judge_words(one: Verification) -> str:
    """Who gave a verdict, with which q and when."""
    by = f"{one.engine} {one_line(one.model, 100)}" if one.model else one.engine
    by += asked_as(one)
    mark = " (indicative)" if one.indicative and one.verdict is not None else ""
    return f"{by}{mark}, q = {one.q}, {one.created_at[:10]}"


def stage_cell(verification: Verification) -> str:
    """The stages where an error came in, or that the answer is not known to say what was asked."""
    stages = ", ".join(map(str, verification.error_stages))
    return stages or unsaid_in_short(verification)


def trail_tree(
    verification: Verification,
    *,
    whole: bool = True,
    carried: Sequence[CarriedSentence] = (),
) -> Tree:
    """A verification: claim, verdict, iterations, evidence by node and stage.

    Args:
        verification: The verification.
        whole: Show everything; else long lists are cut and say how much is left out.
        carried: What its error nodes did with their sources, as far as that was attributed.
    """
    view = trail_view(verification, carried=carried)
    words, style = verdict_words(verification.verdict, verification.status)
    head = Text.assemble((one_line(verification.claim), "bold"), "  ", (words, f"bold {style}"))
    tree = Tree(head, guide_style="dim")
    facts = [f"{verification.verification_id}", f"engine {verification.engine}"]
    if verification.model:
        facts.append(one_line(verification.model))
    facts.append(f"q = {verification.q}")
    if verification.termination:
        facts.append(f"stopped: {verification.termination.value.replace('_', ' ')}")
    tree.add(Text(" · ".join(facts), style="dim"))
    if verification.run_id:
        tree.add(Text(f"run {one_line(verification.run_id)}", style="dim"))
    for words in asking_words(asking_behind(verification)):
        tree.add(Text(words, style="yellow"))
    if reused := reuse_words(verification):
        tree.add(Text(clean(reused), style="cyan"))
    if verification.score is not None:
        tree.add(Text(f"score: {verification.score:.2f}{_samples(verification)}"))
    if verification.indicative:
        tree.add(Text(indicative_words(verification.engine), style="yellow"))
    if view.appeals:
        tree.add(Text(view.appeals, style="yellow"))
    if why := reason_apart(verification):
        tree.add(Text(f"why: {clean(why)}", style="magenta"))
    if verification.reasoning:
        tree.add(Text(f"reasoning: {one_line(verification.reasoning)}"))
    if before := [step for step in verification.steps if step.iteration == 0]:
        _add_steps(tree.add(Text("before the first iteration", style="bold")), before)
    for step in view.iterations:
        branch = _add_iteration(tree, step, whole=whole)
        _add_cost(branch, verification, step, whole=whole)
    _add_unfinished(tree, verification)
    _add_error(tree, view, whole=whole)
    if verification.steps:
        tree.add(Text(f"in all: {usage_words(verification.usage)}"))
    return tree


def _samples(verification: Verification) -> str:
    """Of how many samples the score is a share, where the settings say so."""
    settings = flat_settings(verification.settings)
    if "samples.count" not in settings:
        return ""
    threshold = settings.get("samples.threshold")
    least = f", threshold {threshold}" if threshold else ""
    return f" (share of {settings['samples.count']} samples that said Fully Supported{least})"


def _add_cost(
    branch: Tree, verification: Verification, found: IterationView, *, whole: bool
) -> None:
    steps = [step for step in verification.steps if step.iteration == found.number]
    if steps and whole:
        _add_steps(branch, steps)
    elif steps:
        branch.add(Text(usage_words(found.spent.usage), style="dim"))


def _add_steps(branch: Tree, steps: Sequence[StepRecord]) -> None:
    """What was asked for, with which version of which prompt, and what it came to."""
    for step in steps:
        prompt = f"{step.prompt} {step.prompt_hash[:12]}"
        warmth = "" if step.temperature is None else f" at temperature {step.temperature:g}"
        line = f"{prompt}, {step.model}{warmth}: {usage_words(step.usage)}"
        branch.add(Text(f"{step_words(step.step)}: {one_line(line)}", style="dim"))


def _add_unfinished(tree: Tree, verification: Verification) -> None:
    """Steps of a round that gave no verdict: they were paid for all the same."""
    rounds = {iteration.number for iteration in verification.iterations} | {0}
    if left := [step for step in verification.steps if step.iteration not in rounds]:
        _add_steps(tree.add(Text("a round without a verdict", style="magenta")), left)


def _add_iteration(tree: Tree, found: IterationView, *, whole: bool) -> Tree:
    iteration = found.iteration
    branch = tree.add(
        Text.assemble(
            (f"iteration {found.number}", "bold"),
            "  ",
            (found.mark.word, verdict_words(iteration.verdict, Status.UNDECIDED)[1]),
            (f"  checked {_names(iteration.checked) or 'no node anew'}", "dim"),
        )
    )
    for remark in found.remarks:
        branch.add(Text(remark, style="yellow"))
    if iteration.carried_roots:
        branch.add(Text(f"carried roots: {_names(iteration.carried_roots)}", style="dim"))
    for node in _first(found.nodes, NODES_SHOWN, whole=whole):
        leaf = branch.add(
            Text.assemble(
                (one_line(node.node_id), "cyan"),
                (f"  stage {node.ref.stage}", "dim"),
                ("  unsourced" if node.ref.is_unsourced else "", "yellow"),
            )
        )
        for cited in _first(node.cited, SENTENCES_SHOWN, whole=whole):
            role = "" if cited.role is EvidenceRole.EVIDENCE else " (context)"
            leaf.add(Text(f"{cited.sentence}{role}: {one_line(cited.text)}"))
        _add_rest(leaf, len(node.cited), SENTENCES_SHOWN, "sentence", whole=whole)
    _add_rest(branch, len(found.nodes), NODES_SHOWN, "node", whole=whole)
    if found.not_found:
        branch.add(Text(found.not_found, style="dim"))
    return branch


def _add_error(tree: Tree, view: TrailView, *, whole: bool) -> None:
    if view.unsaid:
        tree.add(Text(view.unsaid, style="bold"))
    branch = _add_place(tree, view.verification, whole=whole)
    if branch is not None and view.verification.located_by is LocatedBy.VALUE:
        _add_twists(branch, view.twists, whole=whole)
        return
    if not view.introduced:
        return
    stages = either([str(stage) for stage in view.verification.error_stages])
    several = len(view.introduced) > 1
    among = ", in one of these nodes" if several else ""
    branch = tree.add(Text(f"error introduced at stage {stages}{among}", style="bold red"))
    for node in _first(view.introduced, NODES_SHOWN, whole=whole):
        before = "perhaps " if several else ""
        branch.add(Text(f"{before}introduced in {one_line(node.node_id)} ({node.place})"))
    _add_rest(branch, len(view.introduced), NODES_SHOWN, "node", whole=whole)
    for node in _first(view.inherited, NODES_SHOWN, whole=whole):
        branch.add(Text(f"carried on by {one_line(node.node_id)} ({node.place})", "dim"))
    _add_rest(branch, len(view.inherited), NODES_SHOWN, "node", whole=whole)
    _add_twists(branch, view.twists, whole=whole)


def _add_place(tree: Tree, one: Verification, *, whole: bool) -> Tree | None:
    """Where a value came in, with the two sentences: the words that matter between asterisks."""
    place, where = one.value_place, went_wrong(one)
    if place is None or where is None:
        return None
    branch = tree.add(Text(one_line(where, 200), style="bold red"))
    for side, said in (("source", place.source), ("wrote ", place.wrote)):
        at = f"{side}  {one_line(said.node_id, 40)} {said.sentence}: "
        branch.add(Text.assemble(at, marked(quote_pieces(said))))
    if place.carried_on:
        shown = _first(place.carried_on, NODES_SHOWN, whole=whole)
        branch.add(Text(f"carried on by {', '.join(one_line(n, 40) for n in shown)}", "dim"))
        _add_rest(branch, len(place.carried_on), NODES_SHOWN, "node", whole=whole)
    return branch


def _add_twists(branch: Tree, twists: Sequence[Twist], *, whole: bool) -> None:
    """What the step did with which sentence: words that differ are between asterisks."""
    for twist in _first(twists, SENTENCES_SHOWN, whole=whole):
        one = twist.carried
        indicative = "  (indicative)" if one.indicative else ""
        leaf = branch.add(Text(f"{one_line(clean(twist.words))}{indicative}", style="bold"))
        text = marked(twist.rewritten) if twist.rewritten else Text(one_line(clean(one.text)))
        place = f"{one_line(one.node_id, 40)} {one.sentence}: "
        leaf.add(Text.assemble(place, text, style="not bold"))
        for source in _first(twist.sources, SENTENCES_SHOWN, whole=whole):
            heading = one_line(clean(source.heading))
            place = f"{one_line(source.sentence.node_id, 40)} {source.sentence.sentence}: "
            leaf.add(Text.assemble(f"{heading}: {place}", marked(source.pieces), style="dim"))
        if twist.proposed:
            leaf.add(Text(f"proposed: {one_line(clean(twist.proposed))}"))
    _add_rest(branch, len(twists), SENTENCES_SHOWN, "sentence", whole=whole)


def _first(items: Sequence[T], most: int, *, whole: bool) -> Sequence[T]:
    return items if whole else items[:most]


def _add_rest(branch: Tree, count: int, most: int, what: str, *, whole: bool) -> None:
    if not whole and count > most:
        plural = "" if count - most == 1 else "s"
        branch.add(Text(f"… and {count - most} more {what}{plural}", style="dim"))


def _names(nodes: Sequence[NodeRef]) -> str:
    shown = ", ".join(one_line(node.node_id, 60) for node in nodes[:CHECKED_SHOWN])
    return (
        shown if len(nodes) <= CHECKED_SHOWN else f"{shown} and {len(nodes) - CHECKED_SHOWN} more"
    )


_COUNTS = ("calls", "from cache", "input", "cached input", "output")


def cost_table(
    verifications: Sequence[Verification], spent: RunUsage, explained: Usage | None = None
) -> Table:
    """What a run cost, and a finished claim on average; what each claim cost is in its own row.

    Args:
        verifications: Those that the run made.
        spent: What the run cost, retries and extraction included.
        explained: What the attribution of the sentences cost that carried claims; None: there was
            none.
    """
    rows: list[list[str | Text]] = []
    if explained is not None and (explained.calls or explained.cached_calls):
        rows.append(["error nodes", *_counts(explained), cost_words(explained)])
    number = len(verifications)
    label = f"{number:,} claim{'' if number == 1 else 's'}"
    rows.append([Text(label, style="bold"), *_counts(spent.usage), cost_words(spent.usage)])
    if spent.finished:
        average = _average(spent.usage, spent.finished)
        rows.append([Text("average", style="bold"), *average])
    numbers = (*_COUNTS, "cost")
    return laid_out(("this run", *numbers), rows, right=numbers)


def _counts(usage: Usage) -> list[str]:
    return [f"{count:,}" for count in _numbers(usage)]


def _numbers(usage: Usage) -> tuple[int, ...]:
    return (
        usage.calls,
        usage.cached_calls,
        usage.input_tokens,
        usage.cached_input_tokens,
        usage.output_tokens,
    )


def _average(total: Usage, number: int) -> list[str]:
    """A claim's share of the total; unknown money stays unknown."""
    money = cost_words(total)
    if total.cost_usd is not None and money != UNKNOWN:
        money = money_words(total.cost_usd / number)
    return [*(f"{count / number:,.1f}" for count in _numbers(total)), money]
