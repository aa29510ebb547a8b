"""Algorithm 1 against a second telling of section 3.1.4, on random processes."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile

from fakes.dag import Dag, dags
from fakes.scripted_judge import FS, INC, NFS
from fakes.walking import Walker, traced
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from veritrail_graph.graph import adjacency
from veritrail_graph.graph.adjacency import AdjacencyBuilder, JoinedSources
from veritrail_graph.graph.model import Termination, Verdict, frontier_order
from veritrail_graph.verifier.ports import SourceNodes
from veritrail_graph.verifier.walk import (
    NOTHING_FOUND,
    NeedEvidence,
    NeedSources,
    NeedVerdict,
    Outcome,
)

NO_CANDIDATES = Termination.NO_CANDIDATES
ONLY_ROOTS = Termination.ONLY_ROOTS_WITH_EVIDENCE_LEFT
MAX_CONSECUTIVE = Termination.MAX_CONSECUTIVE_NOT_FULLY_SUPPORTED


@dataclass(frozen=True)
class Round:
    """An iteration as the prose has it, in names of nodes."""

    read: frozenset[str]
    carried: frozenset[str]
    yielded: frozenset[str]
    verdict: Verdict


def as_in_prose(dag, target, q, finds, verdicts):
    """Section 3.1.4 and the rulings, sentence by sentence; nothing of `walk` is used."""
    rounds: list[Round] = []
    candidates, roots_with_evidence = dag.src({target}), set()
    while True:
        carried = candidates & roots_with_evidence
        read = candidates - carried  # "these nodes are not reprocessed during Evidence Selection"
        yielded = read & finds
        verdict = NFS  # "if no sentences are selected", and none were carried here
        if yielded or carried:
            verdict = verdicts[len(rounds) % len(verdicts)]
        rounds.append(Round(frozenset(read), frozenset(carried), frozenset(yielded), verdict))

        # "all nodes verified in the latest iteration", or those that yielded evidence
        candidates = dag.src(read if verdict is NFS else yielded)
        # "exclude any candidate nodes that were verified in earlier iterations"
        candidates -= {name for each in rounds for name in each.read}
        # "include any root nodes from which evidence was selected in previous iterations"
        roots_with_evidence = {name for each in rounds for name in each.yielded & dag.roots}
        candidates |= roots_with_evidence

        latest_first = [each.verdict for each in reversed(rounds)]
        consecutive = len(list(takewhile(lambda given: given is NFS, latest_first)))
        if not candidates:
            return rounds, NO_CANDIDATES, NFS
        if candidates == roots_with_evidence:
            return rounds, ONLY_ROOTS, verdict
        if consecutive == q:
            return rounds, MAX_CONSECUTIVE, NFS


def rounds_of(outcome: Outcome) -> list[Round]:
    return [
        Round(
            frozenset(ref.node_id for ref in it.checked),
            frozenset(ref.node_id for ref in it.carried_roots),
            frozenset(it.node_ids_with_evidence),
            it.verdict,
        )
        for it in outcome.iterations
    ]


@st.composite
def cases(draw):
    """A process, a node of it, q, the nodes with evidence, and the verdicts by iteration."""
    dag, target = draw(dags())
    silent = draw(st.sets(st.sampled_from(sorted(dag.sources))))
    finds = draw(st.sampled_from([silent, dag.sources.keys() - silent]))
    verdicts = draw(st.lists(st.sampled_from([FS, NFS, INC]), min_size=1, max_size=5))
    return dag, target, draw(st.integers(1, 4)), frozenset(finds), tuple(verdicts)


@settings(max_examples=40)
@given(cases())
def test_the_walk_is_what_the_prose_tells(case):
    dag, target, q, finds, verdicts = case
    rounds, termination, verdict = as_in_prose(dag, target, q, finds, verdicts)
    outcome = Walker(dag, target, q, finds, verdicts).run()
    event(f"stops: {termination}, after {len(rounds)} iterations")
    assert rounds_of(outcome) == rounds
    assert outcome.termination is termination
    assert outcome.verdict is verdict


@settings(max_examples=15)
@given(cases())
def test_no_node_is_read_twice_and_carried_roots_are_not_read_again(case):
    outcome = Walker(*case).run()
    read = [ref.node_id for it in outcome.iterations for ref in it.checked]
    assert len(read) == len(set(read))
    before: set[str] = set()
    roots: set[str] = set()
    for it in outcome.iterations:
        checked = {ref.node_id for ref in it.checked}
        carried = {ref.node_id for ref in it.carried_roots}
        assert carried == roots
        assert carried <= before
        assert not carried & checked
        before |= checked
        roots |= {ref.node_id for ref in it.nodes_with_evidence if ref.is_root}


@settings(max_examples=15)
@given(cases())
def test_iterations_are_numbered_never_empty_and_bounded_by_the_nodes(case):
    dag = case[0]
    outcome = Walker(*case).run()
    assert [it.number for it in outcome.iterations] == [*range(1, len(outcome.iterations) + 1)]
    assert all(it.checked for it in outcome.iterations)
    assert len(outcome.iterations) < len(dag.sources)


@settings(max_examples=15)
@given(cases())
def test_sources_are_asked_once_at_first_and_once_an_iteration_at_most(case):
    walker = Walker(*case)
    outcome = walker.run()
    asked = [need for need in walker.needs if isinstance(need, NeedSources)]
    assert len(asked) <= len(outcome.iterations) + 1
    of = [ref.node_id for need in asked for ref in need.of]
    assert len(of) == len(set(of))
    assert of[0] == case[1]
    assert not any(ref.is_root for need in asked for ref in need.of)
    assert set(of) == set(outcome.sources)
    seen = {case[1], *(ref.node_id for it in outcome.iterations for ref in it.checked)}
    for name in of:
        said, real = set(outcome.sources[name]), set(case[0].sources[name])
        assert real & seen <= said <= real
        assert list(outcome.sources[name]) == sorted(said)


class Generous(Dag):
    """Answers in full where one node that was not checked would do for all others."""

    def left(self, of, checked):
        return self.source_nodes(of)


@settings(max_examples=15)
@given(cases())
def test_one_node_that_is_left_is_as_good_as_all(case):
    dag, target, q, finds, verdicts, *_ = case
    how = (q, finds, verdicts)
    short = traced(dag, target, Walker(dag, target, *how).run())
    generous = Generous(dag.sources, dag.refs, dag.texts)
    full = traced(dag, target, Walker(generous, target, *how).run())
    assert replace(short.outcome, sources={}) == replace(full.outcome, sources={})
    assert (short.paths, short.error) == (full.paths, full.error)


class InArrays(Dag):
    """Answers from arrays; of source nodes that are very many, the ids are made at each use."""

    def source_nodes(self, of, checked=()):
        read = self._whole().source_nodes(of)
        return SourceNodes(tuple(ref for ref in read.nodes if ref not in checked), read.sources)

    def left(self, of, checked):
        read = self._whole().left(of, checked)
        return SourceNodes(read.nodes, read.sources)

    def _whole(self):
        building = AdjacencyBuilder()
        for name, ref in self.refs.items():
            places = [self.refs[source].position for source in self.sources[name]]
            building.add(name, ref.stage, ref.position, ref.role.value, places)
        return building.build()


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(case=cases())
def test_sources_that_are_made_at_each_use_tell_the_same(case, monkeypatch):
    monkeypatch.setattr(adjacency, "LATE_FROM", 0)
    dag, target, *how = case
    arrays = InArrays(dag.sources, dag.refs, dag.texts)
    late = traced(dag, target, Walker(arrays, target, *how).run())
    now = traced(dag, target, Walker(*case).run())
    assert isinstance(late.outcome.sources, JoinedSources)
    assert replace(late.outcome, sources={}) == replace(now.outcome, sources={})
    assert (late.paths, late.error) == (now.paths, now.error)


@settings(max_examples=15)
@given(cases())
def test_texts_are_announced_exactly_while_another_iteration_may_follow(case):
    """`will_read` is false only where q ends the walk whatever the answer is."""
    _, _, q, _, _ = case
    walker = Walker(*case)
    outcome = walker.run()
    run_of = 0
    numbers = iter(outcome.iterations)
    for need, following in pairwise([*walker.needs, None]):
        if isinstance(need, NeedEvidence):
            it = next(numbers)
            run_of = run_of + 1 if it.verdict is NFS else 0
        if isinstance(need, NeedSources):
            assert need.will_read is (run_of < q)
            assert need.will_read or following is None


@settings(max_examples=15)
@given(cases())
def test_a_verdict_is_asked_for_with_all_roots_that_gave_evidence_so_far(case):
    walker = Walker(*case)
    outcome = walker.run()
    asked = {}
    number = 0
    for need in walker.needs:
        if isinstance(need, NeedEvidence):
            number += 1
            assert list(need.nodes) == sorted(need.nodes, key=frontier_order)
        if isinstance(need, NeedVerdict):
            asked[number] = need
    for it in outcome.iterations:
        roots = {*it.carried_roots, *(ref for ref in it.nodes_with_evidence if ref.is_root)}
        if it.summaries or it.carried_roots:
            need = asked.pop(it.number)
            assert need.selection.evidence == it.summaries
            assert list(need.roots) == sorted(roots, key=frontier_order)
        else:
            assert it.verdict is NFS
            assert it.reasoning == NOTHING_FOUND
    assert not asked


@settings(max_examples=15)
@given(cases())
def test_interim_verdicts_stay_as_given_whatever_the_final_one_is(case):
    dag, target, q, finds, verdicts = case
    walker = Walker(dag, target, q, finds, verdicts)
    outcome = walker.run()
    assert tuple(walker.finished) == outcome.iterations  # each is announced, empty ones too
    for it in outcome.iterations:
        if it.summaries or it.carried_roots:
            assert it.verdict is verdicts[(it.number - 1) % len(verdicts)]
    last = outcome.iterations[-1]
    if outcome.termination is ONLY_ROOTS:
        assert outcome.verdict is last.verdict
        assert outcome.reasoning == last.reasoning
    else:
        assert outcome.verdict is NFS
    if outcome.verdict is not last.verdict:
        event("the final verdict differs from the last interim one")
        assert str(last.verdict) in outcome.reasoning
        assert last.reasoning in outcome.reasoning


def comparable(dag: Dag, target: str, outcome: Outcome):
    """All of an outcome that no order of answers may touch."""
    walked = traced(dag, target, outcome)
    frontiers = [(it.checked, it.carried_roots) for it in outcome.iterations]
    sources = {target: set(ids) for target, ids in outcome.sources.items()}
    texts = (outcome.verdict, outcome.reasoning, outcome.termination, sources)
    return rounds_of(outcome), frontiers, texts, walked.paths, walked.error


@settings(max_examples=15)
@given(cases(), st.integers(0, 2**32))
def test_the_order_of_answers_does_not_matter(case, seed):
    plain = Walker(*case).run()
    mixed = Walker(*case, shuffle=random.Random(seed)).run()
    assert comparable(*case[:2], mixed) == comparable(*case[:2], plain)


@settings(max_examples=15)
@given(st.lists(cases(), min_size=2, max_size=4), st.randoms(use_true_random=False))
def test_walks_that_take_turns_do_not_touch_each_other(several, turns):
    alone = [Walker(*case).run() for case in several]
    walkers = [Walker(*case) for case in several]
    while unfinished := [walker for walker in walkers if walker.outcome is None]:
        turns.choice(unfinished).step()
    assert [walker.outcome for walker in walkers] == alone
