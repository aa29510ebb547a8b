"""Keeping verdicts where only a part changed: the result is that of a full run, or none is kept."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from fakes.changing import Content, FussyJudge, contents, edits
from fakes.dag import DagSource
from hypothesis import given, note, settings
from hypothesis import strategies as st

from veritrail_graph.graph.model import Claim, Status, Verification
from veritrail_graph.graph.model.trail import NO_USAGE
from veritrail_graph.verifier.driver import Task, verify_claim, without_verdict
from veritrail_graph.verifier.reuse import Reuse, calls_behind, reuse

TRAIL = (
    "status", "verdict", "reasoning", "score", "termination", "sub_claims", "paths",
    "error_stages", "error_nodes", "propagated_nodes",
)  # fmt: skip


def task(content: Content, node: str) -> Task:
    claim = Claim(claim_id=f"k-{node}", text=f"What {node} claims.", node_id=node)
    return Task(claim, content.dag().refs[node], f"v-{node}")


async def full(content: Content, node: str, judge: FussyJudge, q: int) -> Verification:
    source = DagSource(content.dag())
    return await verify_claim(task(content, node), "p", judge, source, q=q)


async def looked(
    before: Content,
    now: Content,
    earlier: Verification,
    node: str,
    *,
    by_id: bool = True,
    text: str | None = None,
) -> Reuse:
    wanted = task(now, node)
    if text is not None:
        wanted = replace(wanted, claim=wanted.claim.replace(text=text))
    judge = FussyJudge()
    base = without_verdict(wanted, "p", judge, earlier.q, Status.RUNNING, None)
    old, new = DagSource(before.dag()), DagSource(now.dag())
    found = await reuse(wanted, base, earlier, old, new, by_id=by_id)
    assert judge.questions == []
    return found


def trail(one: Verification) -> list[object]:
    """All that a verification says of its claim, places of nodes included, without the cost."""
    rounds = [it.replace(usage=NO_USAGE) for it in one.iterations]
    refs = [
        (it.checked, it.carried_roots, [(r.stage, r.position, r.role) for r in it.checked])
        for it in rounds
    ]
    return [[getattr(one, name) for name in TRAIL], rounds, refs]


@settings(max_examples=15, deadline=None)
@given(before=contents(), data=st.data(), seed=st.integers(0, 99), q=st.integers(1, 3))
@pytest.mark.parametrize("silence", [None, "Cannot tell without a model."])
def test_a_verdict_that_is_kept_is_that_of_a_full_run(before, data, seed, q, silence):
    now = data.draw(edits(before))

    async def check() -> None:
        for node in sorted(set(before.verifiable) & set(now.verifiable)):
            earlier = await full(before, node, FussyJudge(seed, silence=silence), q)
            anew = await full(now, node, FussyJudge(seed, silence=silence), q)
            found = await looked(before, now, earlier, node)
            note(f"{node}: {found.reason}")
            if found.kept is not None:
                assert trail(found.kept) == trail(anew)
                assert found.kept.usage.calls == 0
                assert found.kept.saved_calls == anew.usage.calls

    asyncio.run(check())


@settings(max_examples=30, deadline=None)
@given(before=contents(), data=st.data(), seed=st.integers(0, 99), q=st.integers(1, 3))
def test_a_verdict_is_kept_wherever_a_full_run_asks_the_same_questions(before, data, seed, q):
    """The rule is not only safe but exact: nothing is verified anew that had to ask nothing new."""
    now = data.draw(edits(before))

    async def check() -> None:
        for node in sorted(set(before.verifiable) & set(now.verifiable)):
            then, here = FussyJudge(seed), FussyJudge(seed)
            earlier, anew = await full(before, node, then, q), await full(now, node, here, q)
            is_same = then.questions == here.questions and [
                [ref.node_id for ref in it.checked] for it in earlier.iterations
            ] == [[ref.node_id for ref in it.checked] for it in anew.iterations]
            ends = (earlier.verdict, earlier.termination) == (anew.verdict, anew.termination)
            found = await looked(before, now, earlier, node)
            assert (found.kept is not None) is (is_same and ends), found.reason

    asyncio.run(check())


@settings(max_examples=15, deadline=None)
@given(before=contents(), data=st.data(), seed=st.integers(0, 99))
def test_nodes_may_have_other_ids_where_the_judge_sees_none(before, data, seed):
    edited = data.draw(edits(before))
    new = {name: f"other-{name}" for name in edited.order}
    now = Content(
        {new[name]: tuple(new[one] for one in inputs) for name, inputs in edited.sources.items()},
        {new[name]: edited.texts[name] for name in edited.order},
        tuple(new[name] for name in edited.order),
        frozenset(new[name] for name in edited.unsourced),
    )

    async def check() -> None:
        for node in sorted(set(before.verifiable) & set(edited.verifiable)):
            earlier = await full(before, node, FussyJudge(seed), 2)
            text = earlier.claim
            wanted = task(now, new[node])
            wanted = replace(wanted, claim=wanted.claim.replace(text=text))
            source = DagSource(now.dag())
            anew = await verify_claim(wanted, "p", FussyJudge(seed), source, q=2)
            found = await looked(before, now, earlier, new[node], by_id=False, text=text)
            if found.kept is not None:
                assert trail(found.kept) == trail(anew)
            with_ids = await looked(before, now, earlier, new[node], text=text)
            assert with_ids.kept is None  # a judge that looks at ids is asked again

    asyncio.run(check())


CHAIN = Content(
    {"t": ("s1", "s2"), "s1": ("c1",), "s2": ("c2",), "c1": (), "c2": ()},
    {name: [f"{name} says so."] for name in ("t", "s1", "s2", "c1", "c2")},
    ("c1", "c2", "s1", "s2", "t"),
)


class Selects(FussyJudge):
    """Selects what some nodes say, whatever else it is shown."""

    nodes: tuple[str, ...] = ("s1", "c1")

    def _answer(self, *shown: object) -> int:
        self.questions.append(repr(shown))
        if shown[0] == "judge":
            return 0
        texts = [text for _, text in shown[3]]  # type: ignore[attr-defined]
        named = [f"{name} says so." for name in self.nodes]
        return sum(1 << place for place, text in enumerate(texts) if text in named)


def changed(**texts: str) -> Content:
    return replace(CHAIN, texts={**CHAIN.texts, **{name: [text] for name, text in texts.items()}})


@pytest.mark.parametrize(
    ("now", "says"),
    [
        (CHAIN, None),
        (changed(t="Another answer."), None),  # no prompt shows the verified node
        (changed(c2="Other source text."), None),  # the walk never reads it
        (replace(CHAIN, order=("c2", "c1", "s1", "s2", "t")), None),
        (changed(s2="Another summary."), "the text of 's2' changed"),
        (changed(c1="Other source text."), "iteration 2: the text of 'c1' changed"),
        (replace(CHAIN, order=("c1", "c2", "s2", "s1", "t")), "have another order"),
        (
            replace(CHAIN, sources={**CHAIN.sources, "s1": ("c1", "c2")}),
            "iteration 2: reads 'c2', which it did not",
        ),
        (
            replace(CHAIN, sources={**CHAIN.sources, "t": ("s1",)}),
            "iteration 1: does not read 's2' any more",
        ),
        (replace(CHAIN, unsourced=frozenset({"c1"})), "'c1' is no longer source text"),
    ],
)
def test_it_says_what_keeps_a_verdict_from_being_kept(now: Content, says: str | None):
    earlier = asyncio.run(full(CHAIN, "t", Selects(), 3))
    found = asyncio.run(looked(CHAIN, now, earlier, "t"))
    assert [[ref.node_id for ref in it.checked] for it in earlier.iterations] == [
        ["s1", "s2"],
        ["c1"],
    ]
    if says is None:
        assert found.kept is not None
        assert found.kept.reused_from == earlier.verification_id
    else:
        assert found.kept is None
        assert says in found.reason


def test_a_verdict_that_is_kept_twice_still_knows_what_it_rests_on():
    first = asyncio.run(full(CHAIN, "t", Selects(), 3))
    second = asyncio.run(looked(CHAIN, changed(t="Two."), first, "t")).kept
    assert second is not None
    third = asyncio.run(looked(changed(t="Two."), changed(t="Three."), second, "t")).kept
    assert third is not None
    assert third.saved_calls == calls_behind(first) == first.usage.calls > 0
    assert [step.step for step in third.steps] == [step.step for step in first.steps]


def test_claims_that_a_person_matched_are_said_to_be_matched():
    earlier = asyncio.run(full(CHAIN, "t", Selects(), 3))
    found = asyncio.run(looked(CHAIN, CHAIN, earlier, "t", text="The same in other words."))
    assert found.kept is not None
    assert found.kept.claim == "The same in other words."
    assert "a person confirmed" in found.reason
