"""The rules that a process must keep to pass, checked.

Source: VeriTrail 3.2 (verdicts, error localization); the rules are ours.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from veritrail_graph.api.cli.gating.entries import (
    BaselineChange,
    Entry,
    entries_of,
    failed_again,
    match,
    same_text,
)
from veritrail_graph.api.cli.terminal import quoted
from veritrail_graph.api.show.reports.data import ReportData, ReportedClaim
from veritrail_graph.api.show.words import State, indicative_reason, judged_by, mark_now
from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.judge_mode import PROMPTS, with_wording, wording_of_settings
from veritrail_graph.graph.model import Status, Verification

PASSED = 0
NOT_MET = 1
_COMMANDS = 3
"""Runs whose command to go on is named."""


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
        undecided: Claims that are undecided; None: any number, where at least one claim could be
            decided.
        other_judge: Whether others may judge than judged the baseline.
    """

    unsupported: int | None = 0
    rate: float | None = None
    stages: tuple[int, ...] = ()
    failed: int = 0
    unchecked: int = 0
    strict: bool = False
    undecided: int | None = None
    other_judge: bool = False

    def counts(self, state: State) -> bool:
        """Return whether a claim in this state counts as not fully supported."""
        return state is State.NOT_SUPPORTED or (self.strict and state is State.INCONCLUSIVE)


@dataclass(frozen=True, slots=True)
class Check:
    """One rule, and whether it is kept.

    Attributes:
        name: Its name: `claims`, `unchecked`, `failed`, `decided`, `undecided`, `appeals`,
            `regressions`, `unsupported`, `rate`, `error_stage_N`, `judge`.
        met: Whether it is kept.
        found: What was counted.
        limit: The bound: the most that is allowed, for `claims` and `decided` the least.
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
        undecided, decided = self.counts[State.UNDECIDED], _decided(self.entries)
        is_limited = self.limits.undecided is not None or self.limits.strict
        if is_limited or not decided or decided >= undecided:
            return ()
        return (
            f"the judge decided {decided:,} of {decided + undecided:,} claims that it checked, and "
            "what is undecided breaks no rule. Set --max-undecided to bound it, or verify with a "
            "model",
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
    changed: str | None = None,
) -> Outcome:
    """Hold the claims of a process against what is allowed.

    Args:
        process_id: The process.
        entries: Its claims.
        limits: What is allowed.
        baseline: The claims of an earlier time: only what is worse than then fails.
        notes: What a reader should know beside the rules.
        changed: Who judged the baseline and who judges now; None: the same.
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
        *_undecided(process_id, entries, limits),
        *_appeals(entries, limits),
        *same_judge(changed, limits),
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
            "; there is nothing to judge. To take some from the answer and verify them: "
            f"veritrail check {quoted(process_id)}"
        )
    return Check("claims", bool(entries), len(entries), 1, words)


def _unchecked(process_id: str, entries: Sequence[Entry], limits: GateLimits) -> Check:
    found = _ids(entries, lambda entry: entry.state is State.UNCHECKED)
    words = f"not checked: {len(found):,}, at most {limits.unchecked:,} (--max-unchecked)"
    if of_turns := sum(one.of_turn and one.state is State.UNCHECKED for one in entries):
        words += f"; {of_turns:,} of them by turn only, which gives no verdict"
    if len(found) > limits.unchecked:
        words += f". Verify them with: veritrail verify {quoted(process_id)}"
    return _at_most("unchecked", found, limits.unchecked, words)


def _failed(entries: Sequence[Entry], limits: GateLimits) -> Check:
    found = _ids(entries, lambda entry: entry.is_failed)
    words = f"could not be checked: {failed_words(entries)}"
    words += f", at most {limits.failed:,} (--max-failed)"
    if len(found) > limits.failed:
        words += ". What could not be checked is not passed"
    return _at_most("failed", found, limits.failed, words)


def failed_words(entries: Sequence[Entry]) -> str:
    """Return how many claims could not be checked, and of how many another check has a result."""
    count, kept = (sum(one.is_failed for one in entries), sum(bool(one.again) for one in entries))
    return f"{count:,} ({kept:,} with another result in force)" if kept else f"{count:,}"


def _decided(entries: Sequence[Entry]) -> int:
    """Return how many claims were decided: with a verdict, or in the check of their turn."""
    return sum(
        one.state in _ORDER or (one.of_turn and one.state is State.UNCHECKED) for one in entries
    )


def _undecided(process_id: str, entries: Sequence[Entry], limits: GateLimits) -> list[Check]:
    """Claims that are undecided: no failure and never unsupported.

    There is no rule where there are none, and no limit is given. Without a limit at least one
    claim must be decided: what could not be decided is not passed.
    """
    found = _ids(entries, lambda entry: entry.state is State.UNDECIDED)
    if limits.undecided is None and not found:
        return []
    if limits.undecided is None and not limits.strict and not _decided(entries):
        words = (
            f"could be decided: none of {counted(len(entries), 'claim')}, at least 1. Name a model "
            f"that judges: veritrail check {quoted(process_id)} --model NAME; or allow it: "
            f"--max-undecided {len(found)}"
        )
        return [Check("decided", False, 0, 1, words, found)]
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
    """Return who judged: engines with their models, and the prompts where not the paper's."""
    found = {
        with_wording(judged_by(each.engine, each.model), wording_of_settings(each.settings))
        for each in material.verifications
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
    notes += _on_failed(material)
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
        notes.append(
            f"{counted(older, 'verdict')} given before the process was appended to: what was added "
            "is not in them. To verify again what it could change: "
            f"veritrail verify {quoted(material.process.process_id)} --since last"
        )
    nowhere = _count(claims, lambda one: one.state is State.NOT_SUPPORTED and not one.error_stages)
    if limits.stages and nowhere:
        notes.append(
            f"of {nowhere:,} claim(s) no error stage could be identified; no forbidden stage "
            "counts them"
        )
    if (changed := judge_changed(material, judged_before)) is not None and limits.other_judge:
        notes.append(f"{changed}: a verdict may differ by that; --other-judge allows it")
    return tuple(notes)


def _on_failed(material: ReportData) -> list[str]:
    """Say whose checks ended without a verdict, and how to go on with the same judge."""
    failed = [attempt for one in material.claims if (attempt := _failed_check(one)) is not None]
    if not failed:
        return []
    judges = ", ".join(sorted({judged_by(one.engine, one.model) for one in failed}))
    words = (
        f"of {counted(len(failed), 'claim')} the latest check by {judges} ended without a verdict"
    )
    if kept := _count(material.claims, failed_again):
        words += f"; of {kept:,} another result is in force, and they count here all the same"
    commands = dict.fromkeys(_to_go_on(one) for one in failed)
    more = f" (and {len(commands) - _COMMANDS:,} more runs)" if len(commands) > _COMMANDS else ""
    return [f"{words}. To go on: {'; '.join([*commands][:_COMMANDS])}{more}"]


def _failed_check(one: ReportedClaim) -> Verification | None:
    """Return the check of a claim that failed and was not made good since; None: there is none."""
    if one.was_edited:
        return None
    if failed_again(one):
        return one.later
    return one.verification if one.state is State.FAILED else None


def _to_go_on(failed: Verification) -> str:
    """Return the command that checks anew what failed, by the judge that was asked."""
    if failed.run_id is not None:
        return f"veritrail verify --resume {failed.run_id}"
    evidence, _, verdicts = failed.engine.partition("+")
    engines = f"--engine {evidence}" + (f" --verdict-engine {verdicts}" if verdicts else "")
    model = f" --model {quoted(failed.model)}" if failed.model else ""
    return f"veritrail verify {quoted(failed.process_id)} --again {engines}{model}"


def judge_changed(material: ReportData, judged_before: Sequence[str] | None) -> str | None:
    """Return who judged the baseline and who judges now; None: the same, or one has no verdicts.

    Args:
        material: The process and its claims.
        judged_before: Who judged when the baseline was made; None: there is no baseline.
    """
    judged_now = judges(material)
    if not (judged_before and judged_now) or set(judged_before) == set(judged_now):
        return None  # without a verdict on one side there is nothing that a judge could change
    then, now = (", ".join(each) for each in (judged_before, judged_now))
    words = f"the baseline was judged by {then}, this by {now}"
    before, after = (
        {one.partition(PROMPTS)[0] for one in each} for each in (judged_before, judged_now)
    )
    if before != after:
        return words
    return (
        f"the prompts have another wording than those of the baseline: {words}; where no prompts "
        "are named they are the paper's (--prompts paper), the default of earlier versions"
    )


def same_judge(changed: str | None, limits: GateLimits) -> list[Check]:
    """The rule that those judge who judged the baseline; there is none where it is kept."""
    if changed is None or limits.other_judge:
        return []
    words = (
        f"{changed}: what differs may come of that, and not of the answer. Verify as then, write "
        "the baseline anew (--write-baseline without --baseline), or allow it with --other-judge"
    )
    return [Check("judge", False, 1, 0, words)]


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
