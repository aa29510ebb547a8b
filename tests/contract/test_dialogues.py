"""Dialogues in the graph: stored turn by turn, read back, queried, exported, and gone again."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fakes.dialogues import gold_run, sample_dialogue
from fakes.exporting import statements
from fakes.graph_dump import dump

from veritrail_graph.api.app import Application
from veritrail_graph.api.app.dialogues import DialogueOptions, DialogueProgress
from veritrail_graph.api.requests.dialogue import DialogueParameters
from veritrail_graph.api.settings import Settings
from veritrail_graph.graph.errors import NotFound
from veritrail_graph.graph.exporters.cypher_script import write_script
from veritrail_graph.graph.exporters.graphml import GraphMl
from veritrail_graph.graph.exporters.property_graph import counts_of, parts
from veritrail_graph.graph.importers.dialogue import process_of
from veritrail_graph.graph.ingest import ingest
from veritrail_graph.graph.model import Origin, Role, Status, Usage
from veritrail_graph.graph.model.canonical import canonical_text
from veritrail_graph.graph.model.conversation import (
    DialogueCost,
    DialogueSize,
    Unfinished,
    course_of,
)
from veritrail_graph.graph.model.dialogue import (
    ClaimCategory,
    DialogueRun,
    Speaker,
    Turn,
    TurnCheck,
    TurnVerification,
)
from veritrail_graph.graph.model.job import Job
from veritrail_graph.graph.model.listed import ClaimFilter
from veritrail_graph.graph.store import Store
from veritrail_graph.graph.store.dialogues import RunOfTurns
from veritrail_graph.graph.store.export import StoredProcess

pytestmark = pytest.mark.engine

GOLD = gold_run().turns
ROOT = Path(__file__).parents[2]
COUNTS = """
    MATCH (x {process_id: $p}) WITH labels(x)[0] AS label, count(x) AS nodes
    RETURN label, nodes ORDER BY label
"""


def run_of(process_id: str, hash_: str, run_id: str = "r-1", **changes: Any) -> RunOfTurns:
    run = RunOfTurns(
        process_id, hash_, run_id, "openai", "m", False, "2026-01-01T12:00:00.000000Z", "{}"
    )
    return replace(run, **changes)


def turn_of(found: TurnVerification) -> Turn:
    return next(one for one in sample_dialogue().turns if one.turn_id == found.turn_id)


def quotes() -> dict[tuple[str, str], tuple[str, str]]:
    claims = {one.claim_id: one.claim for turn in GOLD for one in turn.claims}
    return {
        (one.claim_id, name): (one.claim, claims[name])
        for turn in GOLD
        for one in turn.claims
        for name in one.contradicts
    }


async def write(store: Store, run: RunOfTurns, *turns: TurnVerification) -> None:
    for found in turns:
        position = await store.dialogues.next_position(run.process_id)
        await store.dialogues.write(run, turn_of(found), found, quotes(), position)


@pytest.fixture
def dialogue(store: Store, arun: Any, process_id: str) -> tuple[str, str]:
    """The sample without results: process_id and content hash."""
    given = process_of(sample_dialogue().replace(dialogue_id=process_id))
    return process_id, arun(ingest(store, given)).survey.hash


@pytest.fixture
def verified(store: Store, arun: Any, dialogue: tuple[str, str]) -> tuple[str, str]:
    """The sample with what its gold file says."""
    arun(write(store, run_of(*dialogue), *GOLD))
    return dialogue


def answers(store: Store, arun: Any, name: str, **parameters: Any) -> list[dict[str, Any]]:
    found = arun(store.queries.run(name, parameters))
    return [dict(zip(found.columns, row, strict=True)) for row in found.rows]


def rows(store: Store, arun: Any, text: str, process_id: str) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = arun(
        store.database.run_text(text, {"p": process_id}, 10_000)
    ).rows
    return found


def test_a_dialogue_is_a_process_whose_edges_grow_with_its_turns(
    store: Store, arun: Any, dialogue: tuple[str, str]
) -> None:
    name, _ = dialogue
    stored = arun(store.processes.get(name))
    # 14 turns have the turn before them and the user's words, the first one has a fact instead.
    assert (stored.nodes, stored.edges) == (35, 15 * 2 + 10)
    assert stored.terminals == ("turn/t30",)
    found = rows(
        store, arun, "MATCH (s:Span {process_id: $p}) RETURN s.node_id, s.stage, s.role, s.origin",
        name,
    )  # fmt: skip
    known = {node: tuple(rest) for node, *rest in found}
    assert known["turn/t1"] == (1, Role.UNSOURCED, Origin.GIVEN)
    assert known["turn/t2"] == (2, Role.INTERMEDIATE, Origin.GENERATED)
    assert known["document/hours"] == (0, Role.ROOT, Origin.SOURCE)
    assert known["knowledge/0"] == (0, Role.ROOT, Origin.SOURCE)
    sources = arun(store.reading.source_nodes(name, ["turn/t18"], with_texts=False)).sources
    assert set(sources["turn/t18"]) == {"turn/t16", "turn/t17", "document/holm"}


def test_the_turns_are_read_as_they_were_said(
    store: Store, arun: Any, dialogue: tuple[str, str]
) -> None:
    read = arun(store.dialogues.turns(dialogue[0]))
    given = sample_dialogue()
    assert [one.replace(documents=()) for one in given.turns] == list(read.turns)
    assert read.knowledge == (("knowledge/0", given.initial_knowledge[0]),)
    names = [one.node_id for one in given.turns if one.role is Speaker.ASSISTANT]
    documents = arun(store.dialogues.documents(dialogue[0], names))
    found = {name: [ref.node_id for ref in refs] for name, refs in documents.items()}
    assert found == {
        one.node_id: [f"document/{name}" for name in one.documents]
        for one in given.turns
        if one.documents
    }


def test_what_was_found_is_read_back_whole(
    store: Store, arun: Any, verified: tuple[str, str]
) -> None:
    name, _ = verified
    assert arun(store.dialogues.results(name, "r-1")) == list(GOLD)
    assert arun(store.dialogues.results(name)) == list(GOLD)
    assert arun(store.dialogues.results(name, "r-2")) == []
    (summary,) = arun(store.dialogues.runs(name))
    assert (summary.run_id, summary.turns, summary.counting) == ("r-1", 15, 15)
    assert not answers(store, arun, "check_trails", process_id=name)
    for check in ("check_loose_ends", "check_orphans"):
        ends = answers(store, arun, check, limit=10_000)
        assert not [one for one in ends if name in one.values() or one["label"] == "Claim"]


def test_everything_a_turn_can_hold_comes_back(
    store: Store, arun: Any, dialogue: tuple[str, str]
) -> None:
    first = GOLD[0]
    (claim,) = first.claims
    failed = claim.replace(
        status=Status.FAILED, category=None, label=None, reason=None, error="the call failed"
    )
    full = TurnVerification.of_claims(
        first.turn_id,
        [failed],
        turn_check=TurnCheck(
            contradiction=True, quotes=("a", "b"), turn_id="t1", reason="r", model="m2"
        ),
        history_left_out=1,
        background_left_out=2,
        background_lacks=3,
        usage=Usage(calls=2, input_tokens=5, cost_usd=0.5),
    )
    arun(write(store, run_of(*dialogue), full))
    assert arun(store.dialogues.results(dialogue[0], "r-1")) == [full]
    assert arun(store.dialogues.results(dialogue[0])) == []  # a failure does not count
    denies = claim.replace(
        category=ClaimCategory.CONTRADICTED, contradicts_knowledge=("knowledge/0",)
    )
    again = TurnVerification.of_claims(first.turn_id, [denies])
    found = again.claims[0]
    arun(write(store, run_of(*dialogue), again))
    (read,) = arun(store.dialogues.results(dialogue[0]))
    assert read.claims[0].contradicts_knowledge == found.contradicts_knowledge
    assert read.turn_check is None


def test_the_claims_of_a_dialogue_are_claims_without_verdicts(
    store: Store, arun: Any, verified: tuple[str, str]
) -> None:
    name, _ = verified
    claims = arun(store.claims.all(name))
    assert [one.text for one in claims] == [one.claim for turn in GOLD for one in turn.claims]
    tally = arun(store.claims.tally(name))
    assert (tally.states, tally.of_turns) == ({"unchecked": len(claims)}, len(claims))
    (summary,) = arun(store.processes.outcomes([name])).values()
    assert (summary.outcomes, summary.of_turns) == ({"none": len(claims)}, len(claims))
    found = [claim.category for turn in GOLD for claim in turn.claims]
    assert list(arun(store.dialogues.categories(name)).values()).count("CONTRADICTED") == 2
    listed, _ = arun(store.claims.page(name, ClaimFilter()))
    assert [one.category for one in listed] == found
    placed, _ = arun(store.claims.in_text(name, "turn/t24", 0, 1_000))
    assert [one.category for one in placed] == ["CONTRADICTED", "VERIFIED"]
    assert arun(store.trails.all_ids(name)) == []
    assert arun(store.trails.runs(name)) == []
    one = f"r-1/{claims[0].claim_id}"
    assert arun(store.trails.read([one])) == []
    arun(store.trails.pin(name, None))
    assert arun(store.claims.tally(name)).states == {"unchecked": len(claims)}
    categories = rows(
        store, arun,
        "MATCH (c:Claim {process_id: $p}) RETURN c.category, count(c) ORDER BY c.category", name,
    )  # fmt: skip
    assert dict(categories) == {
        "ABSTENTION": 1, "CONTRADICTED": 2, "LACKING_EVIDENCE": 3, "OUT_OF_SCOPE": 5,
        "VERIFIED": 19,
    }  # fmt: skip


def test_what_a_run_could_not_tell_is_undecided_wherever_claims_are_listed(
    store: Store, arun: Any, dialogue: tuple[str, str]
) -> None:
    name, _ = dialogue
    hint = run_of(*dialogue, "r-hint", indicative=True, model=None, engine="lexical")
    said, open_ = (one.replace(compared_with=()) for one in GOLD[1].claims[:2])
    open_ = open_.replace(status=Status.UNDECIDED, category=None, label=None, reason="words")
    found = TurnVerification.of_claims(GOLD[1].turn_id, [said, open_])
    arun(write(store, hint, found))
    assert (found.status, found.label, found.score) == (Status.UNDECIDED, None, None)
    assert arun(store.dialogues.results(name)) == [found]
    assert arun(store.claims.tally(name)).states == {"unchecked": 1, "undecided": 1}
    (summary,) = arun(store.processes.outcomes([name])).values()
    assert (summary.outcomes, summary.of_turns) == ({"none": 1, "undecided": 1}, 1)
    assert arun(store.dialogues.categories(name)) == {
        said.claim_id: ClaimCategory.VERIFIED, open_.claim_id: None,
    }  # fmt: skip
    (listed,), _ = arun(store.claims.page(name, ClaimFilter(verdict="undecided")))
    assert (listed.claim_id, listed.status) == (open_.claim_id, Status.UNDECIDED)
    placed, _ = arun(store.claims.in_text(name, f"turn/{found.turn_id}", 0, 1_000))
    assert [one.status for one in placed] == [None, Status.UNDECIDED]
    (turn,) = answers(store, arun, "verifiable_by_turn", process_id=name)
    assert (turn["claims"], turn["undecided"], turn["share_verifiable"]) == (2, 1, None)
    (counts,) = arun(store.dialogues.counts(name))
    assert (counts.verified, counts.undecided, counts.failed) == (1, 1, 0)
    arun(write(store, run_of(*dialogue), GOLD[1]))
    assert arun(store.claims.tally(name)).states == {"unchecked": len(GOLD[1].claims)}


def test_the_queries_say_when_it_contradicts_itself_what_recurs_and_what_is_verifiable(
    store: Store, arun: Any, verified: tuple[str, str]
) -> None:
    name, _ = verified
    first, second = answers(store, arun, "self_contradictions", process_id=name)
    assert (first["turn"], first["earlier_turn"]) == (24, 4)
    assert first["quotes"] == [
        "The Lindholm Tram Museum is open on Mondays.",
        "The Lindholm Tram Museum is closed on Mondays.",
    ]
    assert (second["turn"], second["earlier_node_id"]) == (28, "turn/t22")
    (fact,) = answers(store, arun, "recurring_facts", process_id=name)
    assert fact == {
        "claim": "The Heron is the oldest horse tram of the country.", "turns": 2,
        "first_turn": 10, "last_turn": 26, "categories": ["VERIFIED"],
    }  # fmt: skip
    turns = answers(store, arun, "verifiable_by_turn", process_id=name)
    assert [one["turn"] for one in turns] == list(range(2, 31, 2))
    assert [one["score"] for one in turns] == [one.score for one in GOLD]
    assert [one["claims"] for one in turns] == [len(one.claims) for one in GOLD]
    visit = next(one for one in turns if one["node_id"] == "turn/t22")
    assert (visit["verifiable"], visit["share_verifiable"], visit["out_of_scope"]) == (
        1, pytest.approx(1 / 3), 2,
    )  # fmt: skip


def test_a_turn_written_again_replaces_what_the_run_had_of_it(
    store: Store, arun: Any, verified: tuple[str, str]
) -> None:
    name, _ = verified
    before = rows(store, arun, COUNTS, name)
    monday = GOLD[11]
    arun(write(store, run_of(*verified), monday))
    assert rows(store, arun, COUNTS, name) == before
    assert arun(store.dialogues.results(name)) == list(GOLD)
    links = "MATCH (:Claim {process_id: $p})-[r:CONTRADICTS]->(:Claim) RETURN count(r)"
    assert rows(store, arun, links, name) == [(2,)]
    fewer = TurnVerification.of_claims(monday.turn_id, monday.claims[1:])
    arun(write(store, run_of(*verified), fewer))
    assert rows(store, arun, links, name) == [(1,)]
    assert arun(store.dialogues.results(name))[11] == fewer


def test_the_latest_run_counts_but_never_one_without_a_model_in_the_place_of_a_model(
    store: Store, arun: Any, verified: tuple[str, str]
) -> None:
    name, hash_ = verified
    other = GOLD[11].replace(claims=())
    hint = run_of(name, hash_, "r-hint", engine="lexical", model=None, indicative=True)
    arun(write(store, hint, other))
    assert arun(store.dialogues.results(name)) == list(GOLD)
    later = run_of(name, hash_, "r-2", created_at="2026-01-02T12:00:00.000000Z")
    arun(write(store, later, TurnVerification.of_claims("t24", ())))
    counting = arun(store.dialogues.results(name))
    assert counting[11].claims == ()
    assert counting[:11] == list(GOLD[:11])
    (contradiction,) = answers(store, arun, "self_contradictions", process_id=name)
    assert contradiction["turn"] == 28
    page = (ROOT / "docs/dialogues.md").read_text(encoding="utf-8")
    written = page.split("```cypher\n")[1].split("```")[0].replace("lindholm-dialogue", name)
    assert [row[0] for row in rows(store, arun, written, name)] == ["turn/t28"]
    runs = {one.run_id: (one.turns, one.counting) for one in arun(store.dialogues.runs(name))}
    assert runs == {"r-1": (15, 14), "r-2": (1, 1), "r-hint": (1, 0)}


@pytest.mark.parametrize(
    "settings",
    [
        {"background": False},
        {"history": False},
        {"categories": False},
        {"most_facts": 0},
        {"judge": {"most_turns": 199}},
        {"judge": {"extraction": {"prompt": "dialogue_extraction.v1_zero_shot"}}},
    ],
)
def test_a_run_that_leaves_a_part_out_never_takes_the_place_of_a_whole_one(
    store: Store, arun: Any, dialogue: tuple[str, str], settings: dict[str, Any]
) -> None:
    name, hash_ = dialogue
    less = run_of(name, hash_, "r-less", settings=canonical_text(settings))
    bare = GOLD[11].replace(claims=())

    def counting() -> list[str]:
        return [one.run_id for one in arun(store.dialogues.runs(name)) if one.counting]

    hint = run_of(name, hash_, "r-hint", engine="lexical", model=None, indicative=True)
    arun(write(store, hint, GOLD[11]))
    arun(write(store, less, bare))
    assert counting() == ["r-less"]  # a part of the method with a model is more than words
    arun(write(store, run_of(name, hash_, "r-whole"), GOLD[11]))
    assert counting() == ["r-whole"]
    arun(write(store, replace(less, run_id="r-later"), bare))
    arun(write(store, replace(hint, run_id="r-hint-2"), bare))
    assert counting() == ["r-whole"]


def test_nothing_is_stored_of_a_dialogue_that_was_replaced(
    store: Store, arun: Any, dialogue: tuple[str, str]
) -> None:
    with pytest.raises(NotFound, match="was removed or replaced meanwhile"):
        arun(write(store, run_of(dialogue[0], "0" * 64), GOLD[0]))
    assert arun(store.dialogues.results(dialogue[0])) == []
    assert arun(store.claims.all(dialogue[0])) == []


def test_results_go_with_their_dialogue(
    store: Store, arun: Any, dialogue: tuple[str, str], process_id: str
) -> None:
    made = ("created_at", "updated_at", "ready_at", "heartbeat", "owner")
    before = arun(dump(store, process_id, *made))
    arun(write(store, run_of(*dialogue), *GOLD))
    arun(write(store, run_of(*dialogue, "r-2"), GOLD[11]))
    assert len(arun(dump(store, process_id, *made))) > len(before)
    arun(store.processes.delete(process_id))
    assert arun(dump(store, process_id)) == []
    assert rows(store, arun, COUNTS, process_id) == []
    arun(ingest(store, process_of(sample_dialogue().replace(dialogue_id=process_id))))
    assert arun(dump(store, process_id, *made)) == before


def test_a_dialogue_is_read_by_the_page(store: Store, arun: Any, verified: tuple[str, str]) -> None:
    name, _ = verified
    assert arun(store.dialogues.size(name)) == DialogueSize(30, 15, 30)
    said: list[Any] = []
    while page := arun(
        store.dialogues.said(name, said[-1].place if said else (-1, -1), 7, longest=10)
    ):
        said += page
    wanted = sample_dialogue().turns
    assert [(one.turn.turn_id, one.stage) for one in said] == [
        (one.turn_id, number) for number, one in enumerate(wanted, start=1)
    ]
    assert [one.turn.text for one in said] == [one.text[:10] for one in wanted]
    assert [one.length for one in said] == [len(one.text) for one in wanted]
    assert [one.turn.documents for one in said] == [one.documents for one in wanted]
    assert len(arun(store.dialogues.said(name, (20, 10**6), 50, until=25))) == 5
    found = arun(store.dialogues.page(name, None, 20, 2))
    assert [(one.stage, one.found) for one in found] == [(22, GOLD[10]), (24, GOLD[11])]

    counts = arun(store.dialogues.counts(name))
    assert [one.stage for one in counts] == list(range(2, 31, 2))
    assert tuple(course_of(counts).values()) == gold_run().course
    assert [sum(one.by_category[kind] for one in counts) for kind in ClaimCategory] == [
        19, 5, 2, 3, 1,
    ]  # fmt: skip
    denied = {one.claim_id: one for turn in GOLD for one in turn.claims if one.contradicts}
    earlier = {claim.contradicts[0]: name for name, claim in denied.items()}
    places = arun(store.dialogues.places(name, [*earlier, "no-such"], 11))
    assert {key: one.stage for key, one in places.items()} == dict(
        zip(earlier, (4, 22), strict=True)
    )
    assert {len(one.text) for one in places.values()} == {11}
    later = arun(store.dialogues.denied(name, [*earlier, *denied], None, 1))
    assert {key: one.later[0].claim_id for key, one in later.items()} == earlier
    assert [one.number for one in later.values()] == [1, 1]
    assert arun(store.dialogues.denied(name, list(earlier), "r-other", 1)) == {}


def test_what_turns_cost_and_how_they_failed_is_known(
    store: Store, arun: Any, dialogue: tuple[str, str]
) -> None:
    name, _ = dialogue
    failed = TurnVerification(
        turn_id="t2", status=Status.FAILED, error="no answer",
        usage=Usage(calls=2, input_tokens=5, cost_usd=0.5),
    )  # fmt: skip
    fine = GOLD[1].replace(usage=Usage(calls=3, output_tokens=7, cost_usd=0.25))
    arun(write(store, run_of(*dialogue), failed, fine))
    hint = run_of(*dialogue, "r-hint", indicative=True, model=None, engine="lexical")
    arun(write(store, hint, GOLD[2]))
    cost = arun(store.dialogues.costs([name, "no-such"]))
    assert list(cost) == [name]
    spent = Usage(calls=5, input_tokens=5, output_tokens=7, cost_usd=0.75)
    assert cost[name] == DialogueCost(3, spent, 2, 0, "2026-01-01T12:00:00.000000Z")
    assert arun(store.dialogues.costs([name], counting=True))[name].usage == fine.usage
    assert arun(store.dialogues.costs([name], "r-1"))[name].usage == spent
    (row,) = answers(store, arun, "cost", process_id=name)
    assert (row["step"], row["model"], row["prompt"], row["verifications"]) == (
        "dialogue", "m", None, 2
    )  # fmt: skip
    assert (row["calls"], row["cost_usd"]) == (5, 0.75)
    left = arun(store.dialogues.unfinished(name, ["turn/t2", "turn/t10"]))
    assert left == {"turn/t2": Unfinished(Status.FAILED, "no answer", "r-1")}

    async def shown() -> Any:
        async with Application.over(store) as app:
            return await app.verifications.cost(name), await app.processes.summaries([name])

    process, summaries = arun(shown())
    assert (process.turns, process.usage, process.modelled) == (3, spent, 2)
    assert summaries[name].usage == Usage(calls=5, cost_usd=0.75) + Usage(
        input_tokens=5, output_tokens=7
    )


def test_results_survive_an_export(store: Store, arun: Any, verified: tuple[str, str]) -> None:
    name, _ = verified
    arun(write(store, run_of(*verified, "r-2"), GOLD[11]))

    async def collected() -> tuple[StoredProcess, dict[str, int]]:
        stored = await StoredProcess.open(store.database, name)
        counts: dict[str, int] = {}
        async for part in parts(store, stored):
            counts_of(counts, part)
        return stored, counts

    stored, before = arun(collected())
    compared = sum(len(one.compared_with) for turn in GOLD for one in turn.claims)
    compared += sum(len(one.compared_with) for one in GOLD[11].claims)
    expected = {
        "TurnVerification": 16, "OF_TURN": 16, "Verification": 32, "VERIFIES": 32, "PART_OF": 32,
        "Claim": 30, "CONTRADICTS": 3, "COMPARED_WITH": compared,
    }  # fmt: skip
    assert {key: before[key] for key in expected} == expected
    out = io.BytesIO()
    arun(write_script(store, stored, out.write))
    graphml = GraphMl(stored, io.BytesIO().write)
    arun(graphml.run(store))
    assert graphml.counts == before
    arun(store.processes.delete(name))
    for text, parameters in statements(store, arun, out.getvalue().decode()):
        arun(store.database.run_text(text, parameters, 1, write=True))
    assert arun(collected())[1] == before
    assert arun(store.dialogues.results(name, "r-1")) == list(GOLD)
    assert arun(store.dialogues.results(name, "r-2")) == [GOLD[11]]


def test_a_run_that_is_stopped_goes_on_behind_its_last_turn(
    store: Store, arun: Any, dialogue: tuple[str, str]
) -> None:
    name, _ = dialogue

    async def verify(stop_after: int | None, **how: Any) -> Any:
        stops: list[Any] = []
        ended: list[str] = []

        def turn_done(_dialogue: str, found: TurnVerification, kept: bool) -> None:
            ended.append(found.turn_id)
            if len(ended) == stop_after:
                stops[0]()

        progress = DialogueProgress(begun=lambda stop, _turns: stops.append(stop), turn=turn_done)
        async with Application.over(store) as app:
            options = DialogueOptions(DialogueParameters(engine="lexical"), **how)
            (done,) = await app.dialogues.verify([name], options, progress)
            return done

    whole = arun(verify(None))
    cut = arun(verify(4))
    statuses = [one.status for one in cut.run.turns]
    assert all(one.is_result for one in statuses[:4])
    assert set(statuses[4:]) == {Status.CANCELLED}
    assert cut.stored == 4
    assert len(arun(store.dialogues.results(name, cut.run.run_id))) == 4
    again = arun(verify(None, resume=cut.run.run_id))
    assert (again.kept, again.stored, again.run.run_id) == (4, 11, cut.run.run_id)
    assert again.run.turns == whole.run.turns
    done = arun(verify(None, resume=cut.run.run_id))
    assert (done.kept, done.stored, done.run.turns) == (15, 0, whole.run.turns)


def test_a_run_is_a_job_and_one_of_which_no_job_is_known_goes_on(
    store: Store, arun: Any, dialogue: tuple[str, str], tmp_path: Path
) -> None:
    name, hash_ = dialogue

    async def verify(home: Path, resume: str | None) -> tuple[DialogueRun, list[Job]]:
        async with Application.over(store, Settings(home=home)) as app:
            options = DialogueOptions(DialogueParameters(engine="lexical"), resume=resume)
            (done,) = await app.dialogues.verify([name], options)
            return done.run, await app.jobs.page(process_id=name)

    whole, (job,) = arun(verify(tmp_path / "first", None))
    assert (job.run_id, job.kind, job.status) == (whole.run_id, "dialogue", "succeeded")
    assert job.counts == {"succeeded": 4, "undecided": 11}
    known = f"r-{'7' * 32}"
    before = run_of(name, hash_, known, settings=whole.settings)
    text = arun(store.dialogues.turns(name)).turns[1]
    arun(store.dialogues.write(before, text, whole.turns[0], {}, 100))
    on, (job,) = arun(verify(tmp_path / "second", known))
    assert (on.run_id, on.turns, job.run_id) == (known, whole.turns, known)
