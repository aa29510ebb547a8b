"""The rules that a process must keep to pass, checked; claims matched with a baseline.

Source: VeriTrail 3.2 (verdicts, error localization); the rules are ours.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from enum import StrEnum
from fractions import Fraction

from veritrail_graph.api.show.reports.data import ReportData, ReportedClaim
from veritrail_graph.api.show.words import State, indicative_reason, mark_now
from veritrail_graph.graph.model import Reviewed, ReviewKind, Status, Verification

AGAIN = "its latest check {ended}; the verdict in force is older"
EDITED = "its text was changed after it was verified"
NEVER = "it was never verified"
WAITS = "its verification has not ended"
OF_TURN = "checked by turn: {}"

_ENDED = {
    Status.FAILED: "failed",
    Status.OVER_BUDGET: "went over budget",
    Status.CANCELLED: "was cancelled",
}

ALIKE = 0.6
"""Share of words that two wordings of one claim have in common at least."""

MOST_WORDS = 200
"""Words of a claim that are compared."""


class BaselineChange(StrEnum):
    """The change of a claim since the baseline."""

    REGRESSED = "regressed"
    NEW = "new"
    KNOWN = "known"
    FIXED = "fixed"
    SAME = "same"


@dataclass(frozen=True, slots=True)
class Entry:
    """A claim and its state.

    Attributes:
        claim_id: Its id.
        text: What it says.
        state: Its state.
        error_stages: Where unsupported content came in; empty where no stage is known.
        reason: Why it has this state, or None.
        indicative: Whether no model judged, verdict or not.
        of_turn: Whether it was checked as a claim of a dialogue's turn alone, without a verdict.
        change: What became of it since the baseline; None: there is no baseline.
        again: What became of its latest check, where that ended without a verdict and an older
            one is in force; None: the verdict in force is of the latest check.
        judged: The verification that the state is of, without its trail; None: there is none.
        reviewed: What people said of the claim, which no rule counts; None: nothing.
    """

    claim_id: str
    text: str
    state: State
    error_stages: tuple[int, ...] = ()
    reason: str | None = None
    indicative: bool = False
    of_turn: bool = False
    change: BaselineChange | None = None
    again: str | None = None
    judged: Verification | None = field(default=None, compare=False)
    reviewed: Reviewed | None = field(default=None, compare=False)

    @property
    def is_overridden(self) -> bool:
        """Return whether the latest review of the claim differs from the verdict that counts."""
        is_judged = self.judged is not None and self.judged.verdict is not None
        overridden = ReviewKind.OVERRIDDEN
        return is_judged and self.reviewed is not None and self.reviewed.kind is overridden


def counted(material: ReportData) -> ReportData:
    """The material as a gate counts it: an edited claim has not been checked as it reads now."""
    claims = tuple(
        replace(one, verification=None) if one.was_edited else one for one in material.claims
    )
    return replace(material, claims=claims)


def failed_again(one: ReportedClaim) -> bool:
    """Return whether a claim has a result, and a later check that came to no end."""
    has_result = one.verdict is not None or one.state is State.UNDECIDED
    return has_result and one.later is not None and mark_now(one.later).kind is State.FAILED


def _again(one: ReportedClaim) -> str | None:
    """Return what became of the latest check of a claim, where that ended without a verdict."""
    if one.later is None or not failed_again(one):
        return None
    reason = AGAIN.format(ended=_ENDED.get(one.later.status, "failed"))
    return f"{reason}: {one.later.error}" if one.later.error else reason


def entries_of(material: ReportData) -> tuple[Entry, ...]:
    """The claims of a process as entries, in its order."""
    return tuple(map(_entry, material.claims))


def _entry(one: ReportedClaim) -> Entry:
    if one.was_edited:
        edited = Entry(one.claim.claim_id, one.claim.text, State.UNCHECKED, reason=EDITED)
        return replace(edited, reviewed=one.reviewed)
    reason = one.reason
    if one.state is State.UNCHECKED:
        reason = NEVER if one.verification is None else WAITS
        reason = OF_TURN.format(one.mark.word) if one.is_of_turn else reason
    return Entry(
        claim_id=one.claim.claim_id,
        text=one.claim.text,
        state=one.state,
        error_stages=one.error_stages,
        reason=reason,
        indicative=one.is_without_model,
        of_turn=one.is_of_turn,
        again=_again(one),
        judged=one.verification,
        reviewed=one.reviewed,
    )


def same_text(text: str) -> str:
    """Return what two spellings of one claim have in common: the text without its line breaks."""
    return " ".join(text.split())


def match(now: Iterable[Entry], before: Iterable[Entry]) -> dict[int, Entry]:
    """The entry of the baseline for each claim that has one, by the claim's place.

    A claim is the same when id and text are; else when the text is, as ids are often counted up
    anew; else when the id is and the texts are alike, as wordings get corrected. No entry is taken
    twice.
    """
    waiting = dict(enumerate(now))
    left = list(before)
    found: dict[int, Entry] = {}
    for key, is_same in ((_by_both, _always), (_by_text, _always), (_by_id, _are_alike)):
        known: dict[object, list[int]] = {}
        for place, one in enumerate(left):
            known.setdefault(key(one), []).append(place)
        taken = set()
        for place, one in list(waiting.items()):
            places = known.get(key(one))
            if places and is_same(one, left[places[0]]):
                taken.add(places[0])
                found[place] = left[places.pop(0)]
                del waiting[place]
        left = [one for place, one in enumerate(left) if place not in taken]
    return found


def _by_both(one: Entry) -> object:
    return one.claim_id, same_text(one.text)


def _by_text(one: Entry) -> object:
    return same_text(one.text)


def _by_id(one: Entry) -> object:
    return one.claim_id


def _always(_one: Entry, _other: Entry) -> bool:
    return True


def _are_alike(one: Entry, other: Entry) -> bool:
    """Say whether the words are mostly the same: an id that was counted up alone proves nothing."""
    return SequenceMatcher(None, _words(one), _words(other), autojunk=False).ratio() >= ALIKE


def _words(one: Entry) -> list[str]:
    return one.text.lower().split()[:MOST_WORDS]


PASSED = 0
NOT_MET = 1


@dataclass(frozen=True, slots=True)
class GateLimits:
    """The limits of the gate; None: no limit.

    Attributes:
        unsupported: Claims that are not fully supported; with a baseline those that are new.
        rate: Their share of the claims with a verdict, 0 to 1.
        stages: Stages that may not introduce unsupported content.
        failed: Claims that could not be checked.
        unchecked: Claims that were not checked.
        strict: Whether an inconclusive claim counts as one that is not fully supported, whether
            undecided claims are not allowed without a limit of their own, and whether evidence
            that speaks to its reader is not allowed.
        undecided: Claims that are undecided.
    """

    unsupported: int | None = 0
    rate: float | None = None
    stages: tuple[int, ...] = ()
    failed: int = 0
    unchecked: int = 0
    strict: bool = False
    undecided: int | None = None

    def counts(self, state: State) -> bool:
        """Return whether a claim in this state counts as not fully supported."""
        return state is State.NOT_SUPPORTED or (self.strict and state is State.INCONCLUSIVE)


@dataclass(frozen=True, slots=True)
class Check:
    """One rule, and whether it is kept.

    Attributes:
        name: Its name: `claims`, `unchecked`, `failed`, `undecided`, `appeals`, `regressions`,
            `unsupported`, `rate`, `error_stage_N`.
        met: Whether it is kept.
        found: What was counted.
        limit: The bound: the most that is allowed, for `claims` the least.
        words: Both in words, with the option that sets the limit.
        claim_ids: The claims that break it, in their order.
    """

    name: str
    met: bool
    found: float
    limit: float
    words: str
    claim_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """A process compared with its limits.

    Attributes:
        process_id: The process.
        limits: What was allowed.
        checks: Every rule that was asked for.
        entries: The claims, with what became of them since the baseline.
        gone: Claims of the baseline that are not there any more.
        has_baseline: Whether there was one.
        notes: What a reader should know beside the rules.
    """

    process_id: str
    limits: GateLimits
    checks: tuple[Check, ...]
    entries: tuple[Entry, ...]
    gone: tuple[Entry, ...] = ()
    has_baseline: bool = False
    notes: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Return whether every rule is kept."""
        return all(check.met for check in self.checks)

    @property
    def status(self) -> int:
        """The exit status that says the same."""
        return PASSED if self.passed else NOT_MET

    @property
    def counts(self) -> dict[State, int]:
        """Claims by how they stand; every state is there."""
        found = Counter(entry.state for entry in self.entries)
        return {state: found[state] for state in State}

    @property
    def rate(self) -> float | None:
        """Share of unsupported claims among those with a verdict; None: there is no verdict."""
        share = _rate(self.entries, self.limits)
        return None if share is None else float(share)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return what a reader may not miss: that it passes, or not, by few verdicts."""
        counts = self.counts
        undecided, decided = counts[State.UNDECIDED], sum(counts[state] for state in _ORDER)
        is_limited = self.limits.undecided is not None or self.limits.strict
        if is_limited or not undecided or decided >= undecided:
            return ()
        return (
            f"the judge decided {decided or 'none'} of {decided + undecided:,} claims that it "
            "checked, and what is undecided breaks no rule. Set --max-undecided to bound it, or "
            "verify with a model",
        )

    def changed(self, change: BaselineChange) -> tuple[Entry, ...]:
        """The claims of which this became since the baseline."""
        return tuple(entry for entry in self.entries if entry.change is change)


def judge(
    process_id: str,
    entries: Sequence[Entry],
    limits: GateLimits,
    baseline: Sequence[Entry] | None = None,
    notes: Sequence[str] = (),
) -> Outcome:
    """Hold the claims of a process against what is allowed.

    Args:
        process_id: The process.
        entries: Its claims.
        limits: What is allowed.
        baseline: The claims of an earlier time: only what is worse than then fails.
        notes: What a reader should know beside the rules.
    """
    before = match(entries, baseline) if baseline is not None else {}
    if baseline is not None:
        entries = [
            replace(entry, change=_change(entry, before.get(place), limits))
            for place, entry in enumerate(entries)
        ]
    kept = {id(entry) for entry in before.values()}
    checks = [
        _claims(process_id, entries),
        _unchecked(process_id, entries, limits),
        _failed(entries, limits),
        *_undecided(entries, limits),
        *_appeals(entries, limits),
    ]
    if baseline is not None:
        checks.append(_regressions(entries))
    if limits.unsupported is not None:
        checks.append(_unsupported(entries, limits, limits.unsupported))
    if limits.rate is not None:
        checks.append(_share(entries, limits, limits.rate, baseline))
    checks += [_stage(stage, entries, limits, before) for stage in sorted(set(limits.stages))]
    return Outcome(
        process_id=process_id,
        limits=limits,
        checks=tuple(checks),
        entries=tuple(entries),
        gone=tuple(one for one in baseline or () if id(one) not in kept),
        has_baseline=baseline is not None,
        notes=tuple(notes),
    )


def _change(entry: Entry, before: Entry | None, limits: GateLimits) -> BaselineChange:
    """Return what became of a claim; without a verdict on either side nothing can be compared.

    Only the same text is known: a corrected one may say something else, such as another number.
    """
    is_bad = limits.counts(entry.state)
    then = before.state if before else State.UNCHECKED
    if is_bad and then in (State.UNCHECKED, State.FAILED, State.UNDECIDED):
        return BaselineChange.NEW
    if is_bad and _is_worse(entry.state, then):
        return BaselineChange.REGRESSED
    if is_bad and before and same_text(before.text) != same_text(entry.text):
        return BaselineChange.NEW
    if is_bad:
        return BaselineChange.KNOWN
    if entry.state is State.SUPPORTED and then in (State.NOT_SUPPORTED, State.INCONCLUSIVE):
        return BaselineChange.FIXED
    return BaselineChange.SAME


_ORDER = (State.SUPPORTED, State.INCONCLUSIVE, State.NOT_SUPPORTED)


def _is_worse(state: State, than: State) -> bool:
    return _ORDER.index(state) > _ORDER.index(than)


def _claims(process_id: str, entries: Sequence[Entry]) -> Check:
    words = f"claims: {len(entries):,}"
    if not entries:
        words += (
            f"; there is nothing to judge. Give some with: veritrail verify {process_id} "
            "--claim TEXT, or --extract"
        )
    return Check("claims", bool(entries), len(entries), 1, words)


def _unchecked(process_id: str, entries: Sequence[Entry], limits: GateLimits) -> Check:
    found = _ids(entries, lambda entry: entry.state is State.UNCHECKED)
    words = f"not checked: {len(found):,}, at most {limits.unchecked:,} (--max-unchecked)"
    if of_turns := sum(entry.of_turn for entry in entries):
        words += f"; {of_turns:,} of them by turn only, which gives no verdict"
    if len(found) > limits.unchecked:
        words += f". Verify them with: veritrail verify {process_id}"
    return _at_most("unchecked", found, limits.unchecked, words)


def _failed(entries: Sequence[Entry], limits: GateLimits) -> Check:
    found = _ids(entries, lambda entry: entry.state is State.FAILED or entry.again is not None)
    words = f"could not be checked: {len(found):,}, at most {limits.failed:,} (--max-failed)"
    if len(found) > limits.failed:
        words += ". What could not be checked is not passed"
    return _at_most("failed", found, limits.failed, words)


def _undecided(entries: Sequence[Entry], limits: GateLimits) -> list[Check]:
    """Claims that are undecided: no failure and never unsupported.

    There is no rule where there are none, and no limit is given.
    """
    found = _ids(entries, lambda entry: entry.state is State.UNDECIDED)
    if limits.undecided is None and not found:
        return []
    words = f"cannot tell: {len(found):,}"
    if limits.undecided is not None:
        words += f", at most {limits.undecided:,} (--max-undecided)"
        return [_at_most("undecided", found, limits.undecided, words)]
    if limits.strict:
        return [_at_most("undecided", found, 0, f"{words}, at most 0 (--strict)")]
    return [
        _at_most(
            "undecided",
            found,
            len(entries),
            f"{words}, allowed without --max-undecided or --strict",
        )
    ]


def _appeals(entries: Sequence[Entry], limits: GateLimits) -> list[Check]:
    """Claims whose evidence speaks to its reader; a rule where no doubt is let pass."""
    found = appealing(entries)
    if not (limits.strict and found):
        return []
    words = f"rest on evidence that speaks to its reader or a judge: {len(found):,}"
    return [_at_most("appeals", found, 0, f"{words}, at most 0 (--strict)")]


def appealing(entries: Sequence[Entry]) -> tuple[str, ...]:
    """The claims of which a cited sentence speaks to its reader, in their order."""
    return _ids(entries, lambda entry: entry.judged is not None and bool(entry.judged.appeals))


def _regressions(entries: Sequence[Entry]) -> Check:
    found = _ids(entries, lambda entry: entry.change is BaselineChange.REGRESSED)
    return _at_most("regressions", found, 0, f"worse than in the baseline: {len(found):,}")


def _unsupported(entries: Sequence[Entry], limits: GateLimits, most: int) -> Check:
    has_baseline = any(entry.change is not None for entry in entries)
    found = _ids(
        entries,
        lambda entry: limits.counts(entry.state) and entry.change in (None, BaselineChange.NEW),
    )
    what = "not fully supported and not in the baseline" if has_baseline else "not fully supported"
    if limits.strict:
        what += ", inconclusive ones counted"
    return _at_most(
        "unsupported", found, most, f"{what}: {len(found):,}, at most {most:,} (--max-unsupported)"
    )


def _share(
    entries: Sequence[Entry], limits: GateLimits, most: float, baseline: Sequence[Entry] | None
) -> Check:
    share = _rate(entries, limits)
    allowed = Fraction(str(most))
    then = _rate(baseline, limits) if baseline is not None else None
    option = f"at most {most:g} (--max-rate)"
    if share is None:
        return Check(
            "rate", True, 0.0, most, f"no claim has a verdict, so there is no rate; {option}"
        )
    found = _ids(entries, lambda entry: limits.counts(entry.state))
    words = f"share not fully supported: {float(share):.4g}, {option}"
    if then is not None and then > allowed:
        allowed = then  # only what is worse than the baseline fails
        words += f" or as in the baseline, {float(then):.4g}"
    met = share <= allowed
    return Check("rate", met, float(share), most, words, () if met else found)


def _stage(
    stage: int, entries: Sequence[Entry], limits: GateLimits, before: dict[int, Entry]
) -> Check:
    found = tuple(
        entry.claim_id
        for place, entry in enumerate(entries)
        if limits.counts(entry.state)
        and stage in entry.error_stages
        and not (entry.change is BaselineChange.KNOWN and stage in before[place].error_stages)
    )
    words = f"introduced at stage {stage}: {len(found):,}, none allowed (--forbid-error-stage)"
    return _at_most(f"error_stage_{stage}", found, 0, words)


def _at_most(name: str, found: tuple[str, ...], most: int, words: str) -> Check:
    met = len(found) <= most
    return Check(name, met, len(found), most, words, () if met else found)


def _ids(entries: Sequence[Entry], holds: Callable[[Entry], bool]) -> tuple[str, ...]:
    return tuple(entry.claim_id for entry in entries if holds(entry))


def _rate(entries: Sequence[Entry], limits: GateLimits) -> Fraction | None:
    judged = [entry for entry in entries if entry.state in _ORDER]
    if not judged:
        return None
    return Fraction(sum(limits.counts(entry.state) for entry in judged), len(judged))


def judges(material: ReportData) -> tuple[str, ...]:
    """Return who judged: the engines, with their models."""
    found = {
        f"{one.engine} {one.model}" if one.model else one.engine for one in material.verifications
    }
    return tuple(sorted(found))


def notes_on(
    material: ReportData, judged_before: Sequence[str] | None, limits: GateLimits
) -> tuple[str, ...]:
    """Return what a reader should know beside the rules.

    Args:
        material: The process and its claims.
        judged_before: Who judged when the baseline was made; None: there is no baseline.
        limits: What is allowed.
    """
    claims = material.claims
    notes = []
    notes += [f"verdicts in force: {line}" for line in material.judgements]
    notes += [line.rstrip(".") for line in material.ways]
    notes += [material.since.rstrip(".")] if material.since else []
    judged = _count(claims, lambda one: one.verdict is not None)
    if indicative := _count(claims, lambda one: one.is_indicative):
        notes.append(
            f"{indicative:,} of {judged:,} verdicts are indicative only: "
            f"{indicative_reason(*(one.engine for one in claims if one.is_indicative))}"
        )
    if speaking := appealing(entries_of(material)):
        more = f" and {len(speaking) - 5:,} more" if len(speaking) > 5 else ""
        notes.append(
            f"{len(speaking):,} claim(s) rest on evidence that speaks to its reader or a judge: "
            f"{', '.join(speaking[:5])}{more}. It changes no verdict; read it, or let it fail with "
            "--strict"
        )
    if failed := _count(claims, failed_again):
        notes.append(
            f"of {failed:,} claim(s) the latest check ended without a verdict; an older verdict "
            "is in force, and they count as could not be checked too. Verify them anew with: "
            f"veritrail verify {material.process.process_id} --again"
        )
    if open_ := _count(claims, _undecided_later):
        notes.append(
            f"of {open_:,} claim(s) a later check by another judge was undecided; the verdict "
            "before it counts"
        )
    if waiting := _count(claims, _waits_again):
        notes.append(
            f"{waiting:,} claim(s) have a later verification that has not ended; the verdict "
            "before it counts"
        )
    if edited := _count(claims, lambda one: one.was_edited):
        notes.append(f"{edited:,} claim(s) were edited after they were verified: not checked")
    if older := _count(claims, lambda one: _is_older(one, material.process.content_hash)):
        notes.append(f"{older:,} verdict(s) were given before the process was appended to")
    nowhere = _count(claims, lambda one: one.state is State.NOT_SUPPORTED and not one.error_stages)
    if limits.stages and nowhere:
        notes.append(
            f"of {nowhere:,} claim(s) no error stage could be identified; no forbidden stage "
            "counts them"
        )
    if judged_before is not None and set(judged_before) != set(judges(material)):
        then, now = (", ".join(each) or "no judge" for each in (judged_before, judges(material)))
        notes.append(
            f"the baseline was judged by {then}, this by {now}: a verdict may differ by that"
        )
    return tuple(notes)


def _undecided_later(one: ReportedClaim) -> bool:
    """Return whether a model could not decide later what another judge decided."""
    later = one.later
    return later is not None and later.status is Status.UNDECIDED and not later.indicative


def _waits_again(one: ReportedClaim) -> bool:
    return one.later is not None and mark_now(one.later).kind is State.UNCHECKED


def _is_older(one: ReportedClaim, content_hash: str) -> bool:
    found = one.verification
    if found is None or found.verdict is None or found.content_hash is None:
        return False
    return found.content_hash != content_hash


def _count(claims: Iterable[ReportedClaim], holds: Callable[[ReportedClaim], bool]) -> int:
    return sum(map(holds, claims))
