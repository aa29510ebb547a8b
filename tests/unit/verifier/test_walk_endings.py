"""How a walk ends, and what it refuses, on processes small enough to follow by eye."""

from __future__ import annotations

import pytest
from fakes.dag import Dag
from fakes.scripted_judge import FS, INC, NFS
from fakes.walking import Walker

from veritrail_graph.graph.model import Termination
from veritrail_graph.verifier.ports import Judgement, Selection, SourceNodes
from veritrail_graph.verifier.walk import NeedEvidence, walk

NO_CANDIDATES = Termination.NO_CANDIDATES
ONLY_ROOTS = Termination.ONLY_ROOTS_WITH_EVIDENCE_LEFT
MAX_CONSECUTIVE = Termination.MAX_CONSECUTIVE_NOT_FULLY_SUPPORTED

# A chain of two steps over one root: r -> s -> t.
CHAIN = Dag.of({"t": ["s"], "s": ["r"]})


@pytest.mark.parametrize(
    ("dag", "q", "finds", "verdicts", "interim", "termination", "final"),
    [
        # Roots were reached, none of them had evidence: the last interim verdict does not hold.
        (CHAIN, 3, {"s"}, [FS], [FS, NFS], NO_CANDIDATES, NFS),
        (CHAIN, 1, {"s"}, [FS], [FS, NFS], NO_CANDIDATES, NFS),
        (CHAIN, 3, set(), [FS], [NFS, NFS], NO_CANDIDATES, NFS),
        # The only source of the node with evidence was read beside it: no root is ever reached.
        (Dag.of({"t": ["x", "y"], "x": ["y"], "y": ["r"]}), 3, {"x"}, [FS], [FS],
         NO_CANDIDATES, NFS),
        # Evidence came down to a root: the latest verdict is final, whatever it is.
        (CHAIN, 3, {"s", "r"}, [FS], [FS, FS], ONLY_ROOTS, FS),
        (CHAIN, 3, {"s", "r"}, [FS, INC], [FS, INC], ONLY_ROOTS, INC),
        (CHAIN, 3, {"s", "r"}, [FS, NFS], [FS, NFS], ONLY_ROOTS, NFS),
        # q counts, but a root with evidence and nothing else left is named first.
        (CHAIN, 2, {"s", "r"}, [NFS], [NFS, NFS], ONLY_ROOTS, NFS),
        (CHAIN, 1, {"s", "r"}, [NFS], [NFS], MAX_CONSECUTIVE, NFS),
        (CHAIN, 1, set(), [FS], [NFS], MAX_CONSECUTIVE, NFS),
        (Dag.of({"t": ["c"], "c": ["b"], "b": ["a"]}), 2, {"c"}, [NFS], [NFS, NFS],
         MAX_CONSECUTIVE, NFS),
    ],
)  # fmt: skip
def test_each_termination_is_reached_with_its_final_verdict(
    dag, q, finds, verdicts, interim, termination, final
):
    outcome = Walker(dag, "t", q, finds, verdicts).run()
    assert [it.verdict for it in outcome.iterations] == interim
    assert outcome.termination is termination
    assert outcome.verdict is final


@pytest.mark.parametrize("between", [FS, INC])
def test_any_other_verdict_starts_the_count_of_consecutive_verdicts_anew(between):
    dag = Dag.of({"t": ["e"], "e": ["d"], "d": ["c"], "c": ["b"], "b": ["a"]})
    verdicts = [NFS, between, NFS, NFS]
    outcome = Walker(dag, "t", 2, set(dag.sources), verdicts).run()
    assert [it.verdict for it in outcome.iterations] == verdicts
    assert outcome.termination is MAX_CONSECUTIVE


def test_not_fully_supported_widens_the_next_frontier_to_all_sources():
    dag = Dag.of({"t": ["x", "y"], "x": ["a"], "y": ["b"]})
    for verdict, frontier in [(FS, {"a"}), (INC, {"a"}), (NFS, {"a", "b"})]:
        outcome = Walker(dag, "t", 2, {"x", "a"}, [verdict]).run()
        assert {ref.node_id for ref in outcome.iterations[1].checked} == frontier


@pytest.mark.parametrize(
    ("dag", "finds", "verdicts", "interim", "termination", "final"),
    [
        # Nothing was found anywhere, and that tells such a judge nothing.
        (CHAIN, set(), [FS], [None, None], NO_CANDIDATES, None),
        # The last iteration decides: a conflict in a root, or silence of the roots.
        (CHAIN, {"r"}, [NFS], [None, NFS], ONLY_ROOTS, NFS),
        (CHAIN, {"s", "r"}, [None, FS], [None, FS], ONLY_ROOTS, FS),
        (CHAIN, {"s"}, [FS], [FS, None], NO_CANDIDATES, None),
        (CHAIN, {"s"}, [NFS], [NFS, None], NO_CANDIDATES, None),
        (CHAIN, {"s", "r"}, [FS, None], [FS, None], ONLY_ROOTS, None),
        # Only a step says it, and its source was read before: no source text says it or denies it.
        (Dag.of({"t": ["x", "y"], "x": ["y"], "y": ["r"]}), {"x"}, [FS], [FS],
         NO_CANDIDATES, None),
    ],
)  # fmt: skip
def test_a_judge_that_cannot_tell_ends_without_a_verdict_and_the_last_iteration_decides(
    dag, finds, verdicts, interim, termination, final
):
    walker = Walker(dag, "t", 3, finds, verdicts, silence="Cannot tell.")
    outcome = walker.run()
    assert [it.verdict for it in outcome.iterations] == interim
    assert (outcome.termination, outcome.verdict) == (termination, final)
    is_other = final is not outcome.iterations[-1].verdict
    is_last = is_other or interim[0] is None or interim[-1] is not None or "r" in finds
    told = outcome.iterations[-1 if is_last else 0]
    assert outcome.reasoning.endswith(told.reasoning)
    said = "Cannot tell, as far as source text was read. The last"
    assert outcome.reasoning.startswith(said) == is_other


def test_where_the_last_texts_are_silent_the_reason_says_what_nearer_ones_told():
    outcome = Walker(CHAIN, "t", 3, {"s"}, [FS], silence="Cannot tell.").run()
    assert outcome.verdict is None
    assert outcome.reasoning == (
        "Cannot tell, as far as iteration 2 read. Iteration 1, nearer to the answer: "
        + outcome.iterations[0].reasoning
    )


def test_an_iteration_without_a_verdict_is_walked_on_from_as_an_inconclusive_one():
    dag = Dag.of({"t": ["x", "y"], "x": ["a"], "y": ["b"]})
    for verdict in (INC, None):
        outcome = Walker(dag, "t", 2, {"x", "a"}, [verdict]).run()
        assert {ref.node_id for ref in outcome.iterations[1].checked} == {"a"}
    deep = Dag.of({"t": ["e"], "e": ["d"], "d": ["c"], "c": ["b"], "b": ["a"]})
    verdicts = [NFS, None, NFS, NFS]
    outcome = Walker(deep, "t", 2, set(deep.sources), verdicts).run()
    assert [it.verdict for it in outcome.iterations] == verdicts


def test_where_a_judge_finds_nothing_and_cannot_tell_the_sources_of_all_nodes_are_next():
    dag = Dag.of({"t": ["x", "y"], "x": ["a"], "y": ["b"]})
    outcome = Walker(dag, "t", 1, set(), [FS], silence="Cannot tell.").run()
    assert {ref.node_id for ref in outcome.iterations[1].checked} == {"a", "b"}
    assert outcome.verdict is None


def test_a_root_cannot_be_verified():
    machine = walk(CHAIN.refs["r"], 1)
    with pytest.raises(ValueError, match="'r' has no source nodes"):
        next(machine)


@pytest.mark.parametrize(
    ("answers", "wanted"),
    [
        ([Selection()], "expected SourceNodes, got Selection"),
        ([CHAIN.source_nodes(["t"]), Judgement(FS, "")], "expected Selection, got Judgement"),
        (
            [CHAIN.source_nodes(["t"]), "found", SourceNodes((), {})],
            "expected Judgement, got SourceNodes",
        ),
    ],
)
def test_an_answer_to_another_question_is_refused(answers, wanted):
    walker = Walker(CHAIN, "t", 1, {"s"}, [FS])
    found = walker._answer(NeedEvidence((CHAIN.refs["s"],)))
    machine = walk(CHAIN.refs["t"], 1)
    next(machine)
    given_answers = [found if answer == "found" else answer for answer in answers]
    for answer in given_answers[:-1]:
        machine.send(answer)
    with pytest.raises(TypeError, match=wanted):
        machine.send(given_answers[-1])
