"""The verified turns of a dialogue as a document: every door shows this one.

Source: VISTA 3, A.1.4; the score is ours (docs/adr/0037-dialogues.md).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from veritrail_graph.api.show.costs import usage_words
from veritrail_graph.api.show.dialogue import (
    SCORE_WORDS,
    SPEAKER_WORDS,
    check_words,
    claim_counts,
    claim_mark,
    cut_words,
    left_out_words,
    score_words,
    setting_words,
    turn_mark,
)
from veritrail_graph.api.show.document import (
    Block,
    Branch,
    Document,
    Fact,
    Facts,
    Heading,
    Line,
    Passage,
    Picture,
    Remark,
    Style,
    Tree,
    name,
    ours,
    quoting,
    said,
    verdict,
)
from veritrail_graph.api.show.picture_turn import turn_picture
from veritrail_graph.api.show.words import Mark, indicative_words
from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.model import Status
from veritrail_graph.graph.model.dialogue import (
    TURN,
    ClaimCategory,
    DialogueRun,
    Speaker,
    Turn,
    TurnCheck,
    TurnClaim,
    TurnVerification,
)
from veritrail_graph.graph.model.turn_claim import TurnClaimFound

NOT_SHOWN: Mapping[str, str] = MappingProxyType(
    {
        "DialogueRun.course": "the score is its last value; the page and reports draw it",
        "TurnVerification.usage": "the usage of the run is the sum",
        "TurnClaim.compared_with": "those that it contradicts are shown; the page opens the others",
    }
)
"""Fields of the nouns that no writer shows, by class and name, and why."""

OF_CLAIM_NOT_SHOWN: Mapping[str, str] = MappingProxyType(
    {
        "TurnClaimFound.turn": "the turn is named by its id",
        "TurnClaimFound.finding": "the picture shows it",
        "TurnClaimFound.result": "the mark and the reason say it",
    }
)

CLAIMS_KEPT = 20
"""Claims of a turn that every writer shows; behind them no reason is taken as read."""


@dataclass(frozen=True, slots=True)
class ClaimMade:
    """A claim that another one is linked with.

    Attributes:
        turn_id: Its turn; None: not known.
        text: Its text, or its id.
    """

    turn_id: str | None
    text: str


@dataclass(frozen=True, slots=True)
class Linked:
    """Texts of what claims contradict, and later claims that contradict them.

    Attributes:
        earlier: Claims by claim_id.
        later: Later claims that contradict a claim, by its claim_id.
        more_later: How many more of them there are.
        knowledge: Texts of initial knowledge by node_id.
    """

    earlier: Mapping[str, ClaimMade] = field(default_factory=dict)
    later: Mapping[str, Sequence[ClaimMade]] = field(default_factory=dict)
    more_later: Mapping[str, int] = field(default_factory=dict)
    knowledge: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TurnShown:
    """A turn of a dialogue.

    Attributes:
        turn_id: The turn.
        found: What was found of it; None: it was not verified.
        said: What was said; None: not read.
        number: Its number in the dialogue; None: not known.
    """

    turn_id: str
    found: TurnVerification | None
    said: Turn | None = None
    number: int | None = None


def run_shown(run: DialogueRun) -> Document:
    """Show the turns that were verified in a run, or whose verification counts."""
    facts = [Fact("run", (name(run.run_id),)), Fact("engine", (name(run.engine),))]
    if run.model:
        facts.append(Fact("model", (name(run.model),)))
    if how := setting_words(run.settings):
        facts.append(Fact("asked", (ours(how),)))
    if run.created_at is not None:
        facts.append(Fact("made at", (ours(run.created_at),)))
    turns = [TurnShown(one.turn_id, one) for one in run.turns]
    blocks: list[Block] = [
        Heading((name(run.dialogue_id),)),
        Facts(tuple(facts)),
        outcome(len(run.turns), claim_counts(run.claims), run.score),
    ]
    if lacks := left_out_words(run.settings):
        line = (ours(f"Parts of the method were left out: {lacks}."),)
        blocks.append(Remark(line, Style.WARNING))
    if run.indicative:
        words = (name(run.engine), ours(f": {indicative_words(run.engine)}."))
        blocks.append(Remark(words, Style.WARNING))
    blocks.append(Tree((), turns_shown(turns, _linked_of(run.turns))))
    if run.model is not None:
        blocks.append(Facts((Fact("in all", (ours(usage_words(run.usage)),)),)))
    return Document(tuple(blocks))


def turn_claim_shown(found: TurnClaimFound) -> Document:
    """Show a claim of a turn, with what it was checked against."""
    claim = found.claim
    facts = [Fact("dialogue", (name(found.dialogue_id),)), Fact("turn", (name(found.turn_id),))]
    facts += [Fact("run", (name(found.run_id),)), Fact("engine", (name(found.engine),))]
    facts += [Fact("model", (name(found.model),))] if found.model else []
    blocks: list[Block] = [
        Heading((said(claim.claim),), claim_mark(claim)),
        Picture(turn_picture(found)),
        Facts((*facts, Fact("claim", (name(claim.claim_id),)))),
    ]
    if found.indicative:
        words = (name(found.engine), ours(f": {indicative_words(found.engine)}."))
        blocks.append(Remark(words, Style.WARNING))
    if reason := found.result.reason or claim.reason:
        blocks.append(Passage("reason", (said(reason),)))
    return Document(tuple(blocks))


def outcome(turns: int, counts: Iterable[tuple[Mark, int]], score: float | None) -> Facts:
    """Show how many turns and claims there are, by mark, and the score.

    Args:
        turns: How many turns were verified.
        counts: Their claims by mark.
        score: The score; None: no claim could be confirmed, or one is undecided.
    """
    every = list(counts)
    claims: Line = (ours(f"{sum(number for _, number in every):,}"),)
    for place, (mark, number) in enumerate(every):
        claims += (ours(f"{', ' if place else ': '}{number:,} "), verdict(mark))
    words = score_words(score, every)
    facts = (Fact("turns", (ours(f"{turns:,}"),)), Fact("claims", claims))
    return Facts((*facts, Fact("score", (ours(f"{words} ({SCORE_WORDS})"),))))


def _linked_of(turns: Sequence[TurnVerification]) -> Linked:
    """Return the links between the claims of the turns."""
    made = {
        claim.claim_id: ClaimMade(turn.turn_id, claim.claim)
        for turn in turns
        for claim in turn.claims
    }
    later = defaultdict[str, list[ClaimMade]](list)
    for turn in turns:
        for claim in turn.claims:
            for earlier in claim.contradicts:
                later[earlier].append(made[claim.claim_id])
    return Linked(made, later)


def turns_shown(turns: Sequence[TurnShown], linked: Linked) -> tuple[Branch, ...]:
    """Show turns with their claims; turns in a row that ended alike are shown together.

    Args:
        turns: The turns, in their order.
        linked: What their claims are linked with.
    """
    reasons: set[str] = set()
    return tuple(_turn(alike, linked, reasons) for alike in _alike(turns))


def _alike(turns: Sequence[TurnShown]) -> Iterator[list[TurnShown]]:
    """Yield turns in a row that ended for one reason without a claim together, others alone."""
    group: list[TurnShown] = []
    before = None
    for turn in turns:
        found = turn.found
        is_bare = found is not None and found.status is not Status.SUCCEEDED and not found.claims
        ended = (found.status, found.error) if found is not None and is_bare else None
        if turn.said is not None or ended is None or ended != before:
            if group:
                yield group
            group = []
        group.append(turn)
        before = ended
    if group:
        yield group


def _turn(alike: Sequence[TurnShown], linked: Linked, reasons: set[str]) -> Branch:
    turn = alike[0]
    found, spoken = turn.found, turn.said
    line: Line = (ours(f"turn {turn.number:,} "),) if turn.number is not None else ()
    line += (name(turn.turn_id, Style.STRONG),)
    if len(alike) > 1:
        line += (ours(" to "), name(alike[-1].turn_id, Style.STRONG))
        line += (ours(f" ({counted(len(alike), 'turn')})", Style.QUIET),)
    if spoken is None or spoken.role is Speaker.ASSISTANT:
        line += (ours("  "), verdict(turn_mark(found)))
    if found is not None and found.score is not None:
        line += (ours(f"  {found.score:.2f}", Style.QUIET),)
    if found is not None and len(found.claims) > 1:
        counts = (f"{number:,} {mark.word}" for mark, number in claim_counts(found.claims))
        line += (ours(f"  {', '.join(counts)}", Style.QUIET),)
    below: list[Branch] = []
    if spoken is not None:
        speaker = ours(f"{SPEAKER_WORDS[spoken.role].lower()}: ", Style.QUIET)
        below.append(Branch((speaker, said(spoken.text))))
    if found is not None:
        below += _of_turn(found, linked, reasons, is_alone=len(alike) == 1)
    return Branch(line, tuple(below), "turn")


def _of_turn(
    found: TurnVerification, linked: Linked, reasons: set[str], *, is_alone: bool
) -> Iterator[Branch]:
    for place, claim in enumerate(found.claims):
        yield _claim(claim, linked, reasons if place < CLAIMS_KEPT else set(reasons))
    if is_alone:
        yield from _check(found.turn_check)
        for words in cut_words(found):
            yield Branch((ours(words, Style.QUIET),))
    if found.error and found.error not in {one.error for one in found.claims[:CLAIMS_KEPT]}:
        yield _why(found.error, reasons)


def _check(check: TurnCheck | None) -> Iterator[Branch]:
    """Show what the check of a whole turn found; nothing where it was not asked."""
    if check is None:
        return
    line: Line = (ours(check_words(check).rstrip(".")),)
    if check.turn_id:
        line += (ours(" ("), name(check.turn_id), ours(")"))
    for place, quote in enumerate(check.quotes):
        line += (ours(" against “" if place else ": “"), said(quote), ours("”"))
    if check.model:
        line += (ours("  asked ", Style.QUIET), name(check.model, Style.QUIET))
    yield Branch(line, (Branch((said(check.reason),)),) if check.reason else ())


def _claim(claim: TurnClaim, linked: Linked, reasons: set[str]) -> Branch:
    line = (verdict(claim_mark(claim)), ours("  "), said(claim.claim))
    return Branch(
        (*line, ours("  "), name(claim.claim_id, Style.QUIET)),
        tuple(_of_claim(claim, linked, reasons)),
        "claim",
    )


def _of_claim(claim: TurnClaim, linked: Linked, reasons: set[str]) -> Iterator[Branch]:
    if claim.reason and claim.category is not ClaimCategory.VERIFIED:
        yield Branch((said(claim.reason, Style.QUIET),))
    for other in claim.contradicts:
        made = linked.earlier.get(other) or ClaimMade(None, other)
        yield Branch(_other("said before", made), (), "contradicted claim")
    for node_id in claim.contradicts_knowledge:
        fact = linked.knowledge.get(node_id)
        is_turn = node_id.startswith(TURN)
        words = "said before: " if is_turn else "against the initial knowledge: "
        line: Line = (ours(words), name(node_id))
        yield Branch(line if fact is None else (*line, ours(" "), said(fact)))
    if claim.category is ClaimCategory.CONTRADICTED and not (
        claim.contradicts or claim.contradicts_knowledge
    ):
        yield Branch((ours("contradicts the documents of its turn"),))
    for made in linked.later.get(claim.claim_id, ()):
        yield Branch(_other("contradicted later", made), (), "later claim")
    if more := linked.more_later.get(claim.claim_id):
        yield Branch((ours(f"and by {counted(more, 'more claim')}", Style.QUIET),))
    if claim.error:
        yield _why(claim.error, reasons)


def _other(words: str, made: ClaimMade) -> Line:
    place: Line = () if made.turn_id is None else (ours(" in turn "), name(made.turn_id))
    return (ours(words), *place, ours(": "), said(made.text))


def _why(error: str, reasons: set[str]) -> Branch:
    """Show the reason of a failure, in full where it stands for the first time."""
    if error in reasons:
        return Branch((ours("for the same reason as above", Style.QUIET),))
    reasons.add(error)
    return Branch((quoting(error, Style.QUIET),))
