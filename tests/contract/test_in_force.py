"""The verification in force of a claim, on both engines: one rule, one edge."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest
from fakes.processes import process
from fakes.trails import a_trail

from veritrail_graph.graph.ingest import ingest
from veritrail_graph.graph.model import Claim, Status, Verdict, Verification, in_force
from veritrail_graph.graph.store import DatabaseAddress, Store, open_store

pytestmark = pytest.mark.engine

CLAIM = Claim(claim_id="k1", text="It rained.", node_id="t")
EDITED = CLAIM.model_copy(update={"text": "It snowed."})
WITHOUT_STOP = CLAIM.model_copy(update={"text": "It rained"})
FS, NFS = Verdict.FULLY_SUPPORTED, Verdict.NOT_FULLY_SUPPORTED
MODEL = {"engine": "openai", "model": "m", "indicative": False}
LEXICAL = {"engine": "lexical", "model": None, "indicative": True}
UNDECIDED = {"status": Status.UNDECIDED, "verdict": None, "error": "Cannot tell."}
NLI = {"engine": "nli", "model": "n", "indicative": False}
DECIDING = {"engine": "openai+decisions", "model": "m + d", "indicative": False}


@pytest.fixture
def stored(store: Store, arun: Any, process_id: str) -> str:
    source = process(
        {"a": "One.", "t": "T."}, [("a", "t")], {"k1": CLAIM.text}, process_id=process_id
    )
    arun(ingest(store, source))
    return process_id


def made(process_id: str, name: str, day: int, **facts: Any) -> Verification:
    """A verification that succeeded on a day of January, in a run of its own name."""
    known = {"process_id": process_id, "claim": CLAIM, "run_id": f"{process_id}-{name}"}
    when = f"2026-01-{day:02}T00:00:00.000000Z"
    return a_trail(f"{process_id}/{name}", created_at=when, **{**known, **MODEL, **facts})


def edges(store: Store, arun: Any, process_id: str) -> list[str]:
    text = "MATCH (:Claim {process_id: $p})-[:IN_FORCE]->(v) RETURN v.verification_id"
    return [name for (name,) in arun(store.database.run_text(text, {"p": process_id}, 9)).rows]


def shown(store: Store, arun: Any, process_id: str) -> tuple[str | None, Verdict | None]:
    one = arun(store.claims.get(process_id, "k1"))
    return one.verification_id, one.verdict


def test_the_strongest_judge_counts_then_the_latest(store: Store, arun: Any, stored: str) -> None:
    assert edges(store, arun, stored) == []
    steps = [
        (made(stored, "words", 2, **LEXICAL), "words"),
        (made(stored, "entailed", 1, **NLI), "entailed"),  # stronger, whenever it was made
        (made(stored, "model", 1), "model"),
        (made(stored, "words-again", 9, **LEXICAL), "model"),
        (made(stored, "entailed-again", 9, **NLI), "model"),
        (made(stored, "decided", 9, **DECIDING), "model"),  # it gave figures alone
        (made(stored, "later", 3, verdict=NFS), "later"),
        (made(stored, "earlier", 2), "later"),
        (made(stored, "failed", 8, status=Status.FAILED, verdict=None, error="No."), "later"),
    ]
    for written, counting in steps:
        arun(store.trails.write(written))
        assert edges(store, arun, stored) == [f"{stored}/{counting}"]
    assert shown(store, arun, stored) == (f"{stored}/later", NFS)
    # One that is written again without a verdict counts no more.
    arun(store.trails.write(made(stored, "later", 3, status=Status.FAILED, verdict=None)))
    assert edges(store, arun, stored) == [f"{stored}/earlier"]


def test_a_run_of_record_counts_until_it_is_unpinned(store: Store, arun: Any, stored: str) -> None:
    arun(store.trails.write(made(stored, "words", 1, **LEXICAL), made(stored, "model", 2)))
    arun(store.trails.pin(stored, f"{stored}-words"))
    assert arun(store.processes.get(stored)).run_of_record == f"{stored}-words"
    assert edges(store, arun, stored) == [f"{stored}/words"]
    arun(store.trails.write(made(stored, "later", 3)))
    assert edges(store, arun, stored) == [f"{stored}/words"]
    arun(store.trails.pin(stored, None))
    assert arun(store.processes.get(stored)).run_of_record is None
    assert edges(store, arun, stored) == [f"{stored}/later"]
    # A run that has no verdict on a claim decides nothing there.
    arun(store.trails.pin(stored, "r-of-other-claims"))
    assert edges(store, arun, stored) == [f"{stored}/later"]


def test_a_lower_q_never_replaces_a_higher_one_of_the_same_judge(
    store: Store, arun: Any, stored: str
) -> None:
    steps = [
        (made(stored, "three", 1), "three"),
        (made(stored, "trial", 2, q=1, verdict=NFS), "three"),
        (made(stored, "again", 3, verdict=NFS), "again"),  # an equal q: the latest
        (made(stored, "other-model", 4, q=1, model="m-2"), "other-model"),  # another judge
        (made(stored, "five", 5, q=5), "five"),
    ]
    for written, counting in steps:
        arun(store.trails.write(written))
        assert edges(store, arun, stored) == [f"{stored}/{counting}"]
    arun(store.trails.pin(stored, f"{stored}-trial"))
    assert edges(store, arun, stored) == [f"{stored}/trial"]


def test_an_undecided_result_ends_the_verdicts_of_its_own_judge_alone(
    store: Store, arun: Any, stored: str
) -> None:
    steps = [
        (made(stored, "words", 1, **LEXICAL), "words"),
        (made(stored, "no-more", 2, **LEXICAL, **UNDECIDED), "no-more"),
        (made(stored, "failed", 3, **LEXICAL, status=Status.FAILED, verdict=None), "no-more"),
        (made(stored, "trial", 4, q=1, **LEXICAL), "no-more"),
        (made(stored, "model", 1), "model"),
        (made(stored, "words-again", 9, **LEXICAL, **UNDECIDED), "model"),
    ]
    for written, counting in steps:
        arun(store.trails.write(written))
        assert edges(store, arun, stored) == [f"{stored}/{counting}"]
        claim = arun(store.claims.get(stored, "k1"))
        assert (claim.verdict is None) == (counting == "no-more")
        assert claim.verdict or claim.status is Status.UNDECIDED
    assert arun(store.claims.tally(stored)).states == {"FULLY_SUPPORTED": 1}


def test_the_graph_and_a_file_keep_the_same_rule(store: Store, arun: Any, stored: str) -> None:
    drawn = random.Random(7)
    written: list[Verification] = []
    texts = [CLAIM, CLAIM, EDITED, WITHOUT_STOP]
    seen = set()
    for number in range(24):
        failed = {"status": Status.FAILED, "verdict": None}
        ended = drawn.choice([{}, {}, failed, UNDECIDED])
        judge = drawn.choice([MODEL, NLI, DECIDING, LEXICAL])
        facts = {**judge, **ended, "q": drawn.choice([1, 3, 3])}
        facts["claim"] = drawn.choice(texts)
        one = made(stored, f"v{number:02}", drawn.randint(1, 4), **facts)
        written.append(one)
        arun(store.trails.write(one))
        record = drawn.choice([None, drawn.choice(written).run_id])
        arun(store.trails.pin(stored, record))
        text = drawn.choice(texts).text
        arun(store.claims.edit(stored, "k1", text, force=True))
        found = in_force(written, text, record)
        assert edges(store, arun, stored) == ([found.verification_id] if found else [])
        seen.add((text, found.claim if found else None))
    assert {(CLAIM.text, WITHOUT_STOP.text), (EDITED.text, EDITED.text)} <= seen


def test_a_claim_has_no_verdict_on_a_text_that_it_had_before(
    store: Store, arun: Any, stored: str
) -> None:
    def states() -> dict[str, int]:
        return arun(store.claims.tally(stored)).states

    arun(store.trails.write(made(stored, "model", 1)))
    arun(store.trails.write(made(stored, "failed", 2, status=Status.FAILED, verdict=None)))
    arun(store.claims.edit(stored, "k1", "It snowed.", force=True))
    one = arun(store.claims.get(stored, "k1"))
    assert (one.verdict, one.status, one.verifications) == (None, None, 2)
    assert states() == {"unchecked": 1}
    assert arun(store.processes.outcomes([stored]))[stored].outcomes == {"none": 1}
    # A weak judge that cannot tell is what counts for the new text, whatever was said of the old.
    arun(store.trails.write(made(stored, "words", 3, **LEXICAL, **UNDECIDED, claim=EDITED)))
    assert edges(store, arun, stored) == [f"{stored}/words"]
    assert states() == {"undecided": 1}
    arun(store.trails.pin(stored, f"{stored}-model"))  # the run of record read another text
    assert edges(store, arun, stored) == [f"{stored}/words"]
    arun(store.claims.edit(stored, "k1", "It rained", force=True))  # it lacks the full stop alone
    assert shown(store, arun, stored) == (f"{stored}/model", FS)
    arun(store.claims.edit(stored, "k1", CLAIM.text, force=True))
    assert shown(store, arun, stored) == (f"{stored}/model", FS)


def test_of_two_that_are_written_at_once_one_counts(
    store: Store, arun: Any, stored: str, address: DatabaseAddress
) -> None:
    async def work() -> None:
        async with open_store(address) as other:
            for number in range(12):
                await asyncio.gather(
                    store.trails.write(made(stored, f"a{number}", number + 1)),
                    other.trails.write(made(stored, f"b{number}", number + 1)),
                )

    arun(work())
    assert edges(store, arun, stored) == [f"{stored}/b11"]
