"""Text that no inputs are recorded of and that is no source: it never counts as true."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from fakes.dag import Dag
from fakes.process_files import as_json, document, edges, nodes, read, violations
from fakes.processes import process
from fakes.scripted_judge import FS, INC, NFS
from fakes.walking import Walker, traced, verify

from veritrail_graph.graph.errors import InvalidProcess
from veritrail_graph.graph.ingest.check import survey
from veritrail_graph.graph.model import Claim, Origin, Role, Termination
from veritrail_graph.verifier.engines.lexical import LexicalJudge
from veritrail_graph.verifier.walk import NeedEvidence

SHAPE = edges("c1 s", "u s", "s t")


def with_origin(origin: str | None = None, **metadata: str) -> dict:
    """Two inputs of a summary, `u` with this origin and metadata."""
    node = {"node_id": "u", "text": "Said by whom?"}
    node |= {"origin": origin} if origin else {}
    node |= {"metadata": metadata} if metadata else {}
    return document(nodes=[*nodes("c1", "s", "t"), node], edges=SHAPE)


def role_of(found, name: str = "u") -> Role:
    return found.roles[found.topology.numbers[name]]


@pytest.mark.parametrize(
    ("made", "role", "origin"),
    [
        (with_origin(), Role.ROOT, Origin.SOURCE),
        (with_origin("source"), Role.ROOT, Origin.SOURCE),
        (with_origin("generated"), Role.UNSOURCED, Origin.GENERATED),
        (with_origin("given"), Role.UNSOURCED, Origin.GIVEN),
        (with_origin(model="m"), Role.UNSOURCED, Origin.GENERATED),
        (with_origin(prompt="p"), Role.UNSOURCED, Origin.GENERATED),
        (with_origin("source", model="m"), Role.ROOT, Origin.SOURCE),
        (with_origin(page="3"), Role.ROOT, Origin.SOURCE),
    ],
)
def test_what_has_no_inputs_is_source_text_or_unsourced(made, role, origin):
    found = read(made)
    assert (role_of(found), found.origins[found.topology.numbers["u"]]) == (role, origin)
    assert found.unsourced == (role is Role.UNSOURCED)
    is_warned = any("'u'" in warning for warning in found.warnings)
    assert is_warned == (role is Role.UNSOURCED and origin is Origin.GENERATED)


def test_an_origin_that_follows_anyway_makes_no_other_content():
    assert read(with_origin("source")).hash == read(with_origin()).hash
    assert read(with_origin("generated", model="m")).hash == read(with_origin(model="m")).hash
    hashes = {read(with_origin(origin)).hash for origin in ("source", "generated", "given")}
    assert len(hashes) == 3
    asked = document()
    asked["nodes"][3]["question"] = "When?"
    assert read(asked).hash != read(document()).hash


def test_a_node_that_is_repeated_with_another_origin_is_a_violation():
    twice = with_origin("generated")
    twice["nodes"].append({**twice["nodes"][-1], "origin": "given"})
    (found,) = violations(twice)
    assert found.kind == "duplicate_node_id"
    assert "origin generated" in found.message
    twice["nodes"][-1] = {**twice["nodes"][-1], "origin": "generated"}
    assert read(twice).unsourced == 1


def test_an_unknown_origin_is_told_with_those_that_there_are():
    (found,) = violations(with_origin("model"))
    assert (found.kind, "source, generated, given" in found.message) == ("unknown_word", True)


def test_unsourced_text_may_stand_at_any_stage_and_roots_at_the_lowest_of_the_others():
    made = document(nodes=nodes(c1=1, u=0, s=2, t=3), edges=SHAPE)
    assert {each.kind for each in violations(made)} == {"root_stage"}
    made["nodes"][1]["origin"] = "given"
    assert role_of(read(made)) is Role.UNSOURCED


def test_a_source_that_has_inputs_is_told():
    made = document()
    made["nodes"][2]["origin"] = "source"
    (warning,) = read(made).warnings
    assert "'s'" in warning
    assert "with inputs" in warning


def test_a_strict_reading_refuses_it_and_names_every_node():
    source = process({"c": "C.", "t": "T."}, [("c", "t")])
    assert survey(source, strict=True).unsourced == 0
    source.nodes[0] = replace(source.nodes[0], origin=Origin.GENERATED)
    with pytest.raises(InvalidProcess) as told:
        survey(source, strict=True)
    (found,) = told.value.violations
    assert (found.kind, found.where) == ("unsourced", "node 'c'")


def test_a_claim_about_it_keeps_the_rules_and_one_about_a_root_does_not():
    made = with_origin("generated")
    made["claims"] = [{"claim_id": "k1", "text": "Who?", "node_id": "u"}]
    assert [claim.node_id for claim in read(as_json(made)).claims] == ["u"]
    made["claims"][0]["node_id"] = "c1"
    assert [each.kind for each in violations(made)] == ["claim_on_root"]


def dag(sources: dict[str, list[str]], *unsourced: str) -> Dag:
    made = Dag.of(sources)
    refs = {
        name: replace(ref, role=Role.UNSOURCED) if name in unsourced else ref
        for name, ref in made.refs.items()
    }
    return replace(made, refs=refs)


@pytest.mark.parametrize(
    ("shape", "finds", "verdicts", "interim", "final", "introduced"),
    [
        # It alone bears the claim, directly or through a summary.
        ({"t": ["u", "r"]}, {"u"}, [FS], [FS], NFS, ["u"]),
        ({"t": ["s"], "s": ["u", "r"]}, {"s", "u"}, [FS], [FS, FS], NFS, ["u"]),
        # A root bears a part: the roots are judged again without it, and that verdict is final.
        ({"t": ["u", "r"]}, {"u", "r"}, [FS, NFS], [FS, NFS], NFS, ["u"]),
        ({"t": ["u", "r"]}, {"u", "r"}, [FS, FS], [FS, FS], FS, []),
        ({"t": ["u", "r"]}, {"u", "r"}, [INC, FS], [INC, FS], FS, []),
        # Not supported even with it, or not resting on it: nothing is judged again.
        ({"t": ["u", "r"]}, {"u", "r"}, [NFS], [NFS], NFS, ["t"]),
        ({"t": ["u", "r"]}, {"r"}, [FS], [FS], FS, []),
    ],
)
def test_a_claim_is_never_supported_by_it(shape, finds, verdicts, interim, final, introduced):
    made = dag(shape, "u")
    walker = Walker(made, "t", 3, finds, verdicts)
    outcome = walker.run()
    assert [it.verdict for it in outcome.iterations] == interim
    assert outcome.verdict is final
    found = traced(made, "t", outcome)
    assert [ref.node_id for ref in found.error.nodes] == introduced
    if introduced == ["u"]:
        assert "unsourced text" in outcome.reasoning
        assert "'u'" in outcome.reasoning
    asked = {ref.node_id for need in walker.needs for ref in getattr(need, "of", ())}
    assert "u" not in asked  # it has no source nodes


def test_a_judge_that_cannot_tell_says_that_only_unsourced_text_bears_the_claim():
    outcome = Walker(dag({"t": ["u"]}, "u"), "t", 3, {"u"}, [FS], silence="Cannot tell.").run()
    assert outcome.verdict is None
    assert outcome.reasoning.startswith(
        "Cannot tell, as far as source text was read. It rests on unsourced text"
    )
    assert "'u'" in outcome.reasoning


def test_a_claim_about_it_is_not_supported_and_costs_no_call():
    made = dag({"t": ["u"]}, "u")
    walker = Walker(made, "u", 3, set(), [FS])
    outcome = walker.run()
    assert walker.needs == [NeedEvidence(())]  # only whether the judge can tell; it reads nothing
    assert (outcome.verdict, outcome.termination) == (NFS, Termination.NO_CANDIDATES)
    assert [ref.node_id for ref in traced(made, "u", outcome).error.nodes] == ["u"]


@pytest.mark.parametrize("shape", [{"u": []}, {"t": ["u"]}, {"t": ["s"], "s": ["u"]}])
def test_without_a_model_it_is_no_error_that_nothing_else_is_recorded(shape):
    made = dag(shape, "u")
    text = "The ferry carries 42 cars."
    made = replace(made, texts={name: [text.replace("42", "90")] for name in made.refs})
    claim = Claim(claim_id="k", text=text, node_id=next(iter(shape)))
    found = asyncio.run(verify(LexicalJudge(), made, claim, 3))
    assert (found.outcome.verdict, found.error.nodes) == (None, ())
    assert found.outcome.reasoning.startswith("Cannot tell without a model")
    if "t" not in shape:
        assert found.outcome.reasoning == (
            "Cannot tell without a model. No input of this text is recorded, so there is nothing "
            "to check it against: 'u'."
        )
