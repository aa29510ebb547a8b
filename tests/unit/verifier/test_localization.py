"""What a finished walk says about where a claim came from and where it went wrong."""

from __future__ import annotations

from itertools import pairwise

import pytest
from fakes.dag import Dag, dags
from fakes.scripted_judge import FS, INC, NFS, select
from fakes.walking import Walked, Walker, traced
from hypothesis import event, given, settings
from hypothesis import strategies as st

from veritrail_graph.graph.model import ErrorLocation, EvidenceRole, Iteration, frontier_order
from veritrail_graph.verifier.localization import bears_on, locate_error


@st.composite
def walks(draw) -> tuple[Dag, str, Walked]:
    """A finished walk over a random process."""
    dag, target = draw(dags())
    silent = draw(st.sets(st.sampled_from(sorted(dag.sources))))
    finds = draw(st.sampled_from([silent, dag.sources.keys() - silent]))
    q = draw(st.integers(1, 4))
    later = draw(st.lists(st.sampled_from([FS, NFS, INC]), min_size=1, max_size=4))
    verdicts = [NFS] * draw(st.integers(0, q - 1)) + later
    outcome = Walker(dag, target, q, finds, verdicts).run()
    return dag, target, traced(dag, target, outcome)


def with_evidence(walked: Walked) -> dict[str, int]:
    """The iteration that found evidence, by node."""
    return {
        name: it.number for it in walked.outcome.iterations for name in it.node_ids_with_evidence
    }


@settings(max_examples=20)
@given(walks())
def test_every_path_is_a_way_of_edges_through_checked_nodes_without_evidence(case):
    dag, target, walked = case
    found = with_evidence(walked)
    checked = {ref.node_id for it in walked.outcome.iterations for ref in it.checked}
    for path in walked.paths:
        assert found[path.source] == path.iteration
        assert path.target == target or path.target in found
        way = [path.source, *path.via, path.target]
        assert set(pairwise(way)) <= dag.edges
        assert set(path.via) <= checked - found.keys()
    assert len(set(walked.links)) == len(walked.links)


def test_a_long_way_without_evidence_is_gone_to_its_end():
    steps = [f"n{number:02}" for number in range(30)]
    dag = Dag.of({**{end: (start,) for start, end in pairwise(steps)}, "side": ("n03",)})
    walked = traced(dag, "n29", Walker(dag, "n29", 99, {"n00"}, [NFS]).run())
    (path,) = walked.paths
    assert (path.source, path.target, path.via) == ("n00", "n29", tuple(steps[1:-1]))


@settings(max_examples=20)
@given(walks())
def test_every_node_with_evidence_reaches_the_verified_node_along_the_paths(case):
    _, target, walked = case
    links = set(walked.links)
    arrived = {target}
    while more := {source for source, end in links if end in arrived} - arrived:
        arrived |= more
    assert arrived == {target, *with_evidence(walked)}
    assert {source for source, _ in links} == set(with_evidence(walked))


@settings(max_examples=20)
@given(walks())
def test_paths_lead_to_direct_dependants_else_to_the_nearest_on_every_way(case):
    """Told again with sets: rings of known edges around the source, stopping at evidence."""
    dag, target, walked = case
    found = with_evidence(walked)
    stops = {target, *found}
    known = {(s, t) for t in walked.outcome.sources for s in dag.sources[t]}
    lengths: dict[tuple[str, str], int] = {}
    for start in found:
        # Every stop that is a dependant was asked about, so `dag.edges` would say the same.
        ring, distance, seen = {start}, 0, {start}
        while ring:
            ahead = {t for s, t in known if s in ring} - seen
            lengths |= {(start, stop): distance for stop in ahead & stops}
            if distance == 0 and ahead & stops:
                break
            seen |= ahead
            ring, distance = ahead - stops, distance + 1
        assert {t for s, t in dag.edges if s == start} & stops == {
            end for (source, end), far in lengths.items() if source == start and far == 0
        }
    assert {(path.source, path.target): len(path.via) for path in walked.paths} == lengths
    if any(lengths.values()):
        event("a path leads through nodes without evidence")


def error_nodes(dag: Dag, target: str, walked: Walked) -> set[str]:
    """Rule 7, in names of nodes."""
    if walked.outcome.verdict is not NFS:
        return set()
    rounds = [(it.verdict, set(it.node_ids_with_evidence)) for it in walked.outcome.iterations]
    if {verdict for verdict, _ in rounds} == {NFS}:
        return {target}
    supported = [found for verdict, found in rounds if verdict is FS]
    return supported.pop() - dag.roots if supported else set()


@settings(max_examples=25)
@given(walks())
def test_error_stages_follow_rule_7(case):
    dag, target, walked = case
    expected = error_nodes(dag, target, walked)
    event(f"{walked.outcome.verdict}: {'some' if expected else 'no'} error nodes")
    assert {ref.node_id for ref in walked.error.nodes} == expected
    assert walked.error.stages == tuple(sorted({dag.refs[name].stage for name in expected}))
    assert list(walked.error.nodes) == sorted(walked.error.nodes, key=frontier_order)


@settings(max_examples=20)
@given(walks())
def test_content_is_carried_on_by_all_that_lies_between_its_origin_and_the_verified_node(case):
    dag, target, walked = case
    origin = {ref.node_id for ref in walked.error.nodes}
    carried = [ref.node_id for ref in walked.error.propagated]
    if not origin or origin == {target}:
        assert carried == []
        return
    assert carried[-1] == target
    assert len(set(carried)) == len(carried)
    assert not origin & set(carried)
    reached = set(origin)
    while (
        more := {
            name
            for path in walked.paths
            if path.source in reached
            for name in (*path.via, path.target)
        }
        - reached
    ):
        reached |= more
    assert set(carried) == reached - origin
    before = [frontier_order(dag.refs[name]) for name in carried[:-1]]
    assert before == sorted(before)


def located(sources, finds, verdicts, q=3, stages=None) -> Walked:
    dag = Dag.of(sources, stages=stages)
    return traced(dag, "t", Walker(dag, "t", q, finds, verdicts).run())


CHAIN = {"t": ["c"], "c": ["b"], "b": ["a"]}


@pytest.mark.parametrize(
    ("finds", "verdicts", "nodes", "propagated"),
    [
        # Supported once, at the last step: that step brought it in.
        ("cba", [FS, NFS, NFS], ["c"], ["t"]),
        # The last Fully Supported iteration counts, also after another verdict.
        ("cba", [NFS, FS, NFS], ["b"], ["c", "t"]),
        ("cba", [FS, FS, NFS], ["b"], ["c", "t"]),
        # Never supported: the verified node itself.
        ("cba", [NFS, NFS, NFS], ["t"], []),
        # Never supported, but not always Not Fully Supported: this cannot be known.
        ("cba", [INC, NFS, NFS], [], []),
        ("cba", [NFS, INC, NFS], [], []),
        # Final verdicts that are no error.
        ("cba", [NFS, FS, FS], [], []),
        ("cba", [NFS, FS, INC], [], []),
        # All interim verdicts Inconclusive, then nothing left to check and no root with evidence.
        ("c", [INC], [], []),
        # The root said nothing: the last node that did brought it in.
        ("cb", [FS], ["b"], ["c", "t"]),
    ],
)
def test_the_error_stage_is_where_support_was_last_seen(finds, verdicts, nodes, propagated):
    walked = located(CHAIN, set(finds), verdicts)
    assert [ref.node_id for ref in walked.error.nodes] == nodes
    assert [ref.node_id for ref in walked.error.propagated] == propagated


def test_a_last_supported_iteration_with_evidence_in_roots_alone_names_no_stage():
    dag = Dag.of({"t": ["m", "r"], "m": ["o"]})
    found = {name: select({name: (0,)}, dag.read([dag.refs[name]])).evidence for name in "mro"}
    by_roots = Iteration(
        number=1,
        verdict=FS,
        reasoning="",
        checked=(dag.refs["m"], dag.refs["r"]),
        carried_roots=(),
        summaries=found["r"],
    )
    by_both = by_roots.replace(summaries=found["r"] + found["m"])
    against = Iteration(
        number=2,
        verdict=NFS,
        reasoning="",
        checked=(dag.refs["o"],),
        carried_roots=(dag.refs["r"],),
        summaries=found["o"],
    )
    assert locate_error(dag.refs["t"], NFS, [by_roots, against], ()) == ErrorLocation()
    assert locate_error(dag.refs["t"], NFS, [by_both, against], ()).nodes == (dag.refs["m"],)


def test_context_alone_blames_no_node_and_the_node_that_carries_most_of_the_claim_comes_first():
    texts = {"x": ["The pier grew."], "y": ["The pier is 80 metres long."], "z": ["A pier."]}
    dag = Dag.of({"t": ["x", "y", "z"], "x": ["r"], "y": ["r"], "z": ["r"]}, texts=texts)
    nodes = dag.read([dag.refs[name] for name in "xyz"])
    (found,) = select(dict.fromkeys("xyz", (0,)), nodes).evidence
    *evidence, context = found.sentences
    sentences = (*evidence, context.replace(role=EvidenceRole.CONTEXT))
    supported = Iteration(
        number=1,
        verdict=FS,
        reasoning="",
        checked=tuple(dag.refs[name] for name in "xyz"),
        summaries=(found.replace(sentences=sentences),),
    )
    against = Iteration(number=2, verdict=NFS, reasoning="", checked=(dag.refs["r"],))
    claim = "The pier is 80 metres long."
    error = locate_error(dag.refs["t"], NFS, [supported, against], (), claim)
    assert [ref.node_id for ref in error.nodes] == ["y", "x"]
    only_context = supported.replace(
        evidence=(), summaries=(found.replace(sentences=(sentences[-1],)),)
    )
    assert locate_error(dag.refs["t"], NFS, [only_context, against], (), claim) == ErrorLocation()


def test_several_nodes_of_two_stages_name_two_error_stages():
    sources = {"t": ["x", "y"], "x": ["y", "r"], "y": ["r"]}
    walked = located(sources, {"x", "y", "r"}, [FS, NFS])
    assert [ref.node_id for ref in walked.error.nodes] == ["y", "x"]
    assert walked.error.stages == (2, 3)
    assert [ref.node_id for ref in walked.error.propagated] == ["t"]


def test_a_path_leads_around_a_node_that_evidence_selection_overlooked():
    walked = located(CHAIN, {"b", "a"}, [NFS, FS, FS])
    assert walked.links == [("b", "t"), ("a", "b")]
    assert walked.paths[0].via == ("c",)
    assert walked.paths[0].iteration == 2


def test_a_direct_dependant_with_evidence_is_preferred_to_a_way_around():
    sources = {"t": ["x", "y"], "x": ["r"], "y": ["r"]}
    walked = located(sources, {"x", "r"}, [NFS, FS])
    assert walked.links == [("x", "t"), ("r", "x")]
    walked = located(sources, {"r"}, [NFS, FS])
    assert walked.links == [("r", "t")]
    assert walked.paths[0].via in {("x",), ("y",)}


def test_nodes_that_carried_the_content_unseen_count_as_carriers():
    sources = {"t": ["c"], "c": ["b"], "b": ["a"], "a": ["r"]}
    walked = located(sources, {"b", "a", "r"}, [NFS, NFS, FS, NFS], q=3)
    assert [ref.node_id for ref in walked.error.nodes] == ["a"]
    assert [ref.node_id for ref in walked.error.propagated] == ["b", "c", "t"]


@pytest.mark.parametrize(
    ("claim", "is_said"),
    [
        ("The quay reopened in 2021.", True),
        ("The mayor of the town resigned in 2021.", False),
        ("It is.", False),
        ("x", False),
        ("They were there.", False),
        ("\u2026", False),
        ("So it was!", True),
    ],
)
def test_a_text_says_a_question_when_a_sentence_has_half_of_its_content(claim, is_said):
    text = (
        "It is said that the quay reopened in 2021. They were all there, with x boats. So it was."
    )
    assert bears_on(text, claim) is is_said
