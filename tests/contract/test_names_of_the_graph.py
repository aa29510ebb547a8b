"""What is found among the verifications of the whole graph: the latest, ids, kept verdicts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from veritrail_graph.graph.store import Store
from veritrail_graph.graph.store.short_ids import ShortIds

pytestmark = pytest.mark.engine

LAST = "9999-12-31T23:59:59.0000{:02}+00:00"
"""Moments behind those of the tests that run beside these."""


def run(store: Store, arun: Any, text: str, **parameters: Any) -> list[tuple[Any, ...]]:
    return list(arun(store.database.run_text(text, parameters, 100, write=True)).rows)


@pytest.fixture
def make(store: Store, arun: Any, process_id: str) -> Iterator[Any]:
    """Write a verification that has these properties alone; it goes after the test."""

    def made(name: str, **properties: Any) -> str:
        row = {"process_id": process_id, "method": "veritrail", **properties}
        row["verification_id"] = f"v-{process_id}-{name}"
        run(store, arun, "CREATE (v:Verification) SET v = $row", row=row)
        return str(row["verification_id"])

    yield made
    run(
        store,
        arun,
        "MATCH (v:Verification) WHERE v.process_id STARTS WITH $name DETACH DELETE v",
        name=process_id,
    )


def test_the_latest_verification_is_no_claim_of_a_dialogue(
    store: Store, arun: Any, make: Any
) -> None:
    ids = ShortIds(store.database)
    make("a", created_at=LAST.format(1), run_id="one")
    make("b", created_at=LAST.format(2), run_id="two")
    latest = make("c", created_at=LAST.format(2), run_id="two")  # of one moment the higher id
    assert arun(ids.latest_verification()) == (latest, "two")
    make("d", created_at=LAST.format(3), run_id="three", method="vista")
    assert arun(ids.latest_verification()) == (latest, "two")


def test_ids_that_begin_with_some_letters_are_those_of_verifications_of_claims(
    store: Store, arun: Any, make: Any, process_id: str
) -> None:
    ids = ShortIds(store.database)
    made = [make(f"x{number}", run_id=f"{process_id}-r{number % 2}") for number in range(3)]
    make("x9", run_id=f"{process_id}-r9", method="vista")
    assert arun(ids.verifications(f"v-{process_id}-x", 9)) == made
    assert arun(ids.runs(f"{process_id}-r", 9)) == [f"{process_id}-r0", f"{process_id}-r1"]
    assert arun(ids.runs(f"{process_id}-r", 1)) == [f"{process_id}-r0"]


@pytest.mark.parametrize("which", ["earlier", "later"])
def test_a_kept_verdict_is_linked_to_the_earlier_one_whichever_of_them_came_last(
    store: Store, arun: Any, make: Any, process_id: str, which: str
) -> None:
    places = {"earlier": f"{process_id}-0", "later": f"{process_id}-1"}
    earlier = make("e", process_id=places["earlier"])
    later = make("l", process_id=places["later"], reused_from=earlier)
    make("n", process_id=places[which], reused_from="v-that-is-not-stored")
    for _ in range(2):  # again it changes nothing
        arun(store.trails.link_reused(places[which]))
    links = run(
        store,
        arun,
        "MATCH (v:Verification)-[:REUSED_FROM]->(e:Verification) "
        "WHERE v.process_id STARTS WITH $name RETURN v.verification_id, e.verification_id",
        name=process_id,
    )
    assert links == [(later, earlier)]
