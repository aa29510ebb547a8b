"""The place of an error by the sides of its evidence."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from fakes.dag import Dag
from fakes.scripted_judge import FS, INC, NFS

from veritrail_graph.graph.model import (
    CitedSentence,
    ErrorLocation,
    Evidence,
    EvidenceRole,
    Iteration,
    JudgedPart,
    LocatedBy,
    PartVerdict,
    Side,
    Verdict,
)
from veritrail_graph.verifier.localization import evidence_paths
from veritrail_graph.verifier.sides import locate_by_sides
from veritrail_graph.verifier.value_place import located

# r1 and r2 were made into a and b, these into s, and s into the answer t.
DAG = Dag.of({"t": ("s",), "s": ("a", "b"), "a": ("r1",), "b": ("r2",)})
LEVELS = (("s",), ("a", "b"), ("r1", "r2"))
FAILED = (JudgedPart(part=1, verdict=PartVerdict.CONTRADICTED),)


def said(name: str, *sides: tuple[int, str], role: str = "evidence") -> Evidence:
    """Evidence in a node, with what it says of parts."""
    of = tuple(Side.model_validate({"part": part, "says": says}) for part, says in sides)
    sentence = DAG.read([DAG.refs[name]])[0].sentences[0]
    cited = CitedSentence.of(sentence, EvidenceRole(role), of)
    return Evidence(text="S.", sentences=(cited,))


def located_in(
    found: Mapping[str, str],
    parts: tuple[JudgedPart, ...] = FAILED,
    levels: tuple[tuple[str, ...], ...] = LEVELS,
    verdict: Verdict | None = NFS,
    role: str = "evidence",
) -> tuple[list[str], list[str]]:
    """Where an error came in and what carried it on, by what each node says of part 1."""
    iterations = tuple(
        Iteration(
            number=number,
            verdict=INC,
            reasoning="",
            checked=tuple(DAG.refs[name] for name in level),
            summaries=tuple(
                said(name, (1, found[name]), role=role) for name in level if name in found
            ),
        )
        for number, level in enumerate(levels, start=1)
    )
    paths = evidence_paths(DAG.refs["t"], iterations, DAG.sources)
    error = locate_by_sides(DAG.refs["t"], verdict, parts, iterations, DAG.sources, paths)
    return [ref.node_id for ref in error.nodes], [ref.node_id for ref in error.propagated]


@pytest.mark.parametrize(
    ("found", "introduced", "carried"),
    [
        ({"s": "for", "a": "for", "r1": "against"}, ["a"], ["s", "t"]),
        ({"s": "for", "a": "for"}, ["a"], ["s", "t"]),  # its inputs are silent
        ({"s": "both", "a": "against", "r1": "against"}, ["s"], ["t"]),
        ({"s": "for", "a": "for", "b": "for", "r1": "against"}, ["a", "b"], ["s", "t"]),
        ({"s": "against", "a": "for"}, ["a"], ["s", "t"]),
    ],
)
def test_the_nearest_to_the_sources_that_speaks_for_the_failed_part_while_its_inputs_do_not(
    found, introduced, carried
):
    assert located_in(found) == (introduced, carried)


def test_a_source_that_speaks_for_it_blames_nobody_that_was_made_from_it():
    assert located_in({"s": "for", "a": "for", "r1": "for", "r2": "against"}) == ([], [])


def test_a_node_whose_inputs_were_not_read_is_not_blamed():
    assert located_in({"s": "for", "a": "for"}, levels=LEVELS[:2]) == ([], [])
    assert located_in({"s": "for", "a": "against"}, levels=LEVELS[:2]) == (["s"], ["t"])


@pytest.mark.parametrize(
    ("parts", "verdict", "role"),
    [
        ((JudgedPart(part=2, verdict=PartVerdict.NOT_ADDRESSED),), FS, "evidence"),
        ((JudgedPart(part=1, verdict=PartVerdict.CONTESTED),), NFS, "evidence"),
        ((), NFS, "evidence"),
        (FAILED, INC, "evidence"),
        (FAILED, None, "evidence"),
        (FAILED, NFS, "context"),
    ],
)
def test_without_a_part_that_is_known_to_have_failed_there_is_no_place(parts, verdict, role):
    assert located_in({"s": "for"}, parts, verdict=verdict, role=role) == ([], [])


def test_another_part_says_nothing_about_the_one_that_failed():
    parts = (JudgedPart(part=2, verdict=PartVerdict.CONTRADICTED),)
    assert located_in({"s": "for", "a": "for"}, parts) == (["t"], [])


def test_verdicts_tell_the_place_before_sides_do():
    by_verdicts, by_sides = (ErrorLocation(nodes=(DAG.refs[name],)) for name in "sa")
    first = located(by_verdicts, None, indicative=False, by_sides=by_sides)
    assert (first["located_by"], first["error_nodes"]) == (LocatedBy.VERDICTS, by_verdicts.nodes)
    second = located(ErrorLocation(), None, indicative=False, by_sides=by_sides)
    assert (second["located_by"], second["error_nodes"]) == (LocatedBy.SIDES, by_sides.nodes)
