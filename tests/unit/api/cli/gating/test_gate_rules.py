"""What a gate counts, what it compares with, and that its outcome is one."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from fakes.trails import a_trail
from hypothesis import given
from hypothesis import strategies as st

from veritrail_graph.api.cli.gating.entries import BaselineChange, Entry, entries_of, match
from veritrail_graph.api.cli.gating.rules import (
    Check,
    GateLimits,
    Outcome,
    judge,
    judge_changed,
    judges,
    notes_on,
)
from veritrail_graph.api.show.reports.data import ReportData, ReportedClaim
from veritrail_graph.api.show.words import State
from veritrail_graph.graph.model import Claim, Process, Verdict
from veritrail_graph.graph.model.dialogue import ClaimCategory

GOOD, BAD, OPEN = State.SUPPORTED, State.NOT_SUPPORTED, State.INCONCLUSIVE
FAILED, NEVER = State.FAILED, State.UNCHECKED
UNDECIDED = State.UNDECIDED


def entry(name: str, state: State, *stages: int, text: str | None = None) -> Entry:
    return Entry(name, text or f"text of {name}", state, stages)


def claims(*states: State) -> list[Entry]:
    return [entry(f"k{number}", state) for number, state in enumerate(states)]


def broken(outcome: Outcome) -> list[str]:
    return [check.name for check in outcome.checks if not check.met]


def check(outcome: Outcome, name: str) -> Check:
    return next(one for one in outcome.checks if one.name == name)


@pytest.mark.parametrize(
    ("states", "limits", "rules"),
    [
        ([GOOD, GOOD], GateLimits(), []),
        ([GOOD, BAD], GateLimits(), ["unsupported"]),
        ([GOOD, BAD], GateLimits(1), []),
        ([GOOD, OPEN], GateLimits(), []),
        ([GOOD, OPEN], GateLimits(strict=True), ["unsupported"]),
        ([GOOD, FAILED], GateLimits(), ["failed"]),
        ([GOOD, UNDECIDED], GateLimits(rate=0), []),  # never unsupported
        ([GOOD, UNDECIDED], GateLimits(strict=True), ["undecided"]),
        ([UNDECIDED, UNDECIDED], GateLimits(undecided=1), ["undecided"]),
        ([UNDECIDED, UNDECIDED], GateLimits(), ["decided"]),
        ([UNDECIDED, FAILED, NEVER], GateLimits(None, 0.0, failed=1, unchecked=1), ["decided"]),
        ([UNDECIDED], GateLimits(undecided=1), []),
        ([UNDECIDED, BAD], GateLimits(1), []),
        ([UNDECIDED, UNDECIDED], GateLimits(undecided=2, strict=True), []),
        ([GOOD, FAILED], GateLimits(failed=1), []),
        ([GOOD, NEVER], GateLimits(), ["unchecked"]),
        ([GOOD, NEVER], GateLimits(unchecked=1), []),
        ([NEVER, NEVER], GateLimits(), ["unchecked"]),
        ([NEVER, NEVER], GateLimits(None, 0.0, unchecked=2), []),
        ([], GateLimits(unchecked=5, failed=5), ["claims"]),
    ],
)
def test_without_a_baseline_every_claim_counts(
    states: list[State], limits: GateLimits, rules: list[str]
) -> None:
    assert broken(judge("p", claims(*states), limits)) == rules


def test_what_could_not_be_checked_is_not_counted_as_unsupported() -> None:
    outcome = judge("p", claims(FAILED, NEVER, GOOD), GateLimits(failed=1, unchecked=1))
    assert outcome.passed
    assert outcome.counts[BAD] == 0
    assert check(outcome, "failed").found == check(outcome, "unchecked").found == 1


@pytest.mark.parametrize(("bad", "all_", "met"), [(1, 20, True), (2, 39, False), (0, 3, True)])
def test_a_rate_counts_claims_with_a_verdict_and_is_exact(bad: int, all_: int, met: bool) -> None:
    states = [BAD] * bad + [GOOD] * (all_ - bad) + [FAILED, NEVER]
    outcome = judge("p", claims(*states), GateLimits(None, 0.05, failed=1, unchecked=1))
    assert outcome.passed is met
    assert outcome.rate == float(Fraction(bad, all_))


def test_a_stage_is_forbidden_whatever_the_number_of_claims() -> None:
    entries = [entry("a", BAD, 2), entry("b", BAD, 3, 4), entry("c", BAD), entry("d", GOOD)]
    outcome = judge("p", entries, GateLimits(None, stages=(4, 1)))
    assert broken(outcome) == ["error_stage_4"]
    assert check(outcome, "error_stage_4").claim_ids == ("b",)


@pytest.mark.parametrize(
    ("then", "now", "change", "rules"),
    [
        (GOOD, BAD, BaselineChange.REGRESSED, ["regressions"]),
        (OPEN, BAD, BaselineChange.REGRESSED, ["regressions"]),
        (BAD, BAD, BaselineChange.KNOWN, []),
        (FAILED, BAD, BaselineChange.NEW, ["unsupported"]),
        (NEVER, BAD, BaselineChange.NEW, ["unsupported"]),
        (None, BAD, BaselineChange.NEW, ["unsupported"]),
        (BAD, GOOD, BaselineChange.FIXED, []),
        (OPEN, GOOD, BaselineChange.FIXED, []),
        (GOOD, OPEN, BaselineChange.SAME, []),
        (GOOD, GOOD, BaselineChange.SAME, []),
        (BAD, FAILED, BaselineChange.SAME, ["failed"]),
        (GOOD, NEVER, BaselineChange.SAME, ["unchecked"]),
    ],
)
def test_with_a_baseline_only_what_is_worse_fails(
    then: State | None, now: State, change: BaselineChange, rules: list[str]
) -> None:
    before = [entry("k", then)] if then else []
    outcome = judge("p", [entry("k", now)], GateLimits(), before)
    assert (outcome.entries[0].change, broken(outcome)) == (change, rules)


def test_a_rate_above_the_limit_passes_while_the_baseline_had_it_too() -> None:
    before = claims(BAD, GOOD)
    limits = GateLimits(None, 0.1)
    assert judge("p", before, limits, before).passed
    worse = [*before, entry("new", BAD)]
    assert broken(judge("p", worse, limits, before)) == ["rate"]


def test_a_known_claim_that_now_goes_wrong_at_a_forbidden_stage_counts() -> None:
    limits = GateLimits(None, stages=(4,))
    assert judge("p", [entry("k", BAD, 4)], limits, [entry("k", BAD, 4)]).passed
    moved = judge("p", [entry("k", BAD, 4)], limits, [entry("k", BAD, 2)])
    assert broken(moved) == ["error_stage_4"]


def test_claims_are_matched_by_text_when_ids_were_counted_anew() -> None:
    before = [entry("k1", GOOD, text="A  claim."), entry("k2", BAD, text="Another.")]
    now = [entry("k1", BAD, text="Another."), entry("k2", GOOD, text="A claim.")]
    assert judge("p", now, GateLimits(), before).passed
    assert {place: one.claim_id for place, one in match(now, before).items()} == {0: "k2", 1: "k1"}


@pytest.mark.parametrize(
    ("text", "now", "rules"),
    [
        ("The library was founded in 1820 by monks.", BAD, ["unsupported"]),
        ("The repairs cost 990,000 euros.", BAD, ["unsupported"]),
        ("The repairs cost 130,000  euros.", BAD, []),
        ("The library was founded in 1820 by monks.", GOOD, []),
    ],
)
def test_a_new_statement_under_an_old_id_is_not_known(
    text: str, now: State, rules: list[str]
) -> None:
    before = [entry("k1", BAD, text="The repairs cost 130,000 euros.")]
    assert broken(judge("p", [entry("k1", now, text=text)], GateLimits(), before)) == rules


@pytest.mark.parametrize(
    ("prompts", "name"),
    [
        (("evidence_selection.v1", "verdict.v1"), "openai m"),
        (("evidence_selection.v2", "verdict.v2"), "openai m, prompts v2"),
        (("evidence_selection.v1_brief", "verdict.v1"), "openai m, prompts v1 and v1_brief"),
        (("evidence_selection.v1_decision", "verdict.v1_decision"), "openai m"),
    ],
)
def test_a_judge_is_named_with_the_wording_of_its_prompts_where_that_is_not_the_papers(
    prompts: tuple[str, str], name: str
) -> None:
    material = judged_with(*prompts)
    assert judges(material) == (name,)
    assert judge_changed(material, [name]) is None
    other = judge_changed(material, ["openai m, prompts mine"]) or ""
    assert other.startswith("the prompts have another wording than those of the baseline: ")
    assert f"by openai m, prompts mine, this by {name};" in other
    assert "where no prompts are named they are the paper's (--prompts paper)" in other
    assert (
        judge_changed(material, ["lexical"])
        == f"the baseline was judged by lexical, this by {name}"
    )


def judged_with(selection: str, verdict: str) -> ReportData:
    steps = {"evidence_selection": {"prompt": selection}, "verdict": {"prompt": verdict}}
    settings = json.dumps({"steps": steps})
    one = a_trail(engine="openai", model="m", verdict=Verdict.FULLY_SUPPORTED, settings=settings)
    claim = Claim(claim_id="k1", text="It is open.", node_id="t")
    process = Process.model_construct(process_id="p", content_hash="h")
    return ReportData(process, (ReportedClaim(claim, verification=one),), 1)


@pytest.mark.parametrize("strict", [False, True])
def test_another_judge_than_that_of_the_baseline_fails_unless_it_is_allowed(strict: bool) -> None:
    material = judged_with("evidence_selection.v1", "verdict.v1")
    changed = judge_changed(material, ["lexical"]) or ""
    for allowed, found in ((False, ["judge"]), (True, [])):
        limits = GateLimits(strict=strict, other_judge=allowed)
        outcome = judge("p", claims(GOOD), limits, claims(GOOD), changed=changed)
        assert broken(outcome) == found
        notes = notes_on(material, ["lexical"], limits)
        assert any(one.startswith(changed) for one in notes) is allowed
        if not allowed:
            words = check(outcome, "judge").words
            assert words.startswith("the baseline was judged by lexical, this by openai m: ")
            assert "--write-baseline" in words
            assert "--other-judge" in words
    assert not broken(judge("p", claims(GOOD), GateLimits(strict=strict), claims(GOOD)))


def test_without_verdicts_on_one_side_no_judge_has_changed() -> None:
    material = judged_with("evidence_selection.v1", "verdict.v1")
    assert judge_changed(material, []) is None
    assert judge_changed(ReportData(material.process, (), 0), ["lexical"]) is None


def test_claims_of_the_baseline_that_are_gone_are_told_and_fail_nothing() -> None:
    outcome = judge("p", [entry("a", GOOD)], GateLimits(), [entry("a", GOOD), entry("b", BAD)])
    assert outcome.passed
    assert [one.claim_id for one in outcome.gone] == ["b"]


STATES = st.sampled_from(State)
ENTRIES = st.lists(
    st.builds(
        Entry,
        claim_id=st.sampled_from([f"k{number}" for number in range(8)]),
        text=st.sampled_from(["one", "two", "three"]),
        state=STATES,
        error_stages=st.lists(st.integers(0, 4), max_size=2).map(tuple),
    ),
    max_size=8,
    unique_by=lambda one: one.claim_id,
)
LIMITS = st.builds(
    GateLimits,
    st.none() | st.integers(0, 4),
    st.none() | st.floats(0, 1),
    st.lists(st.integers(0, 4), max_size=2).map(tuple),
    st.integers(0, 3),
    st.integers(0, 3),
    st.booleans(),
)


@given(ENTRIES, LIMITS)
def test_held_against_itself_nothing_is_worse(entries: list[Entry], limits: GateLimits) -> None:
    outcome = judge("p", entries, limits, entries)
    assert {"regressions", "rate"}.isdisjoint(broken(outcome))
    assert not outcome.gone
    assert not [one for one in broken(outcome) if one.startswith("error_stage")]


@given(ENTRIES, LIMITS, st.none() | ENTRIES)
def test_an_outcome_passes_exactly_when_every_check_is_met(
    entries: list[Entry], limits: GateLimits, before: list[Entry] | None
) -> None:
    outcome = judge("p", entries, limits, before)
    assert outcome.passed is (outcome.status == 0) is (not broken(outcome))
    assert sum(outcome.counts.values()) == len(entries)
    kept = len(match(entries, before or []))
    assert len(outcome.gone) == len(before or []) - kept


def test_claims_that_were_checked_by_turn_are_called_so() -> None:
    claim = Claim(claim_id="k1", text="It is open.", node_id="turn/t2")
    one = ReportedClaim(claim, category=ClaimCategory.LACKING_EVIDENCE)
    (found,) = entries_of(ReportData(Process.model_construct(process_id="p"), (one,), 1))
    assert (found.state, found.reason) == (NEVER, "checked by turn: lacking evidence")
    words = check(judge("p", [found], GateLimits()), "unchecked").words
    assert "1 of them by turn only, which gives no verdict" in words
    open_ = ReportedClaim(claim, is_undecided_turn=True)
    (found,) = entries_of(ReportData(Process.model_construct(process_id="p"), (open_,), 1))
    assert (found.state, found.indicative) == (State.UNDECIDED, True)
    assert (found.reason or "").startswith("Cannot tell without a model")
    assert check(judge("p", [found], GateLimits()), "unchecked").met
