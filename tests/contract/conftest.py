"""One suite, two engines: everything here runs on the embedded engine and on a real Neo4j."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import uuid
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import neo4j
import pytest
from filelock import FileLock

from veritrail_graph.graph.embedded import EngineSettings, running_engine, stop_engine
from veritrail_graph.graph.store import DatabaseAddress, Store, open_store

# What these modules test is Python over rows, whose statements other modules run on both engines;
# on Neo4j they are part of `make soak`.
ON_NEO4J_IN_SOAK = {
    f"test_{name}.py"
    for name in (
        "application", "asked", "edge_counts", "export_formats", "export_fuzz", "export_lineage",
        "export_process", "export_verdicts", "faults", "judged_claims", "loading", "many_answers",
        "one_more_field", "page_reads", "picture", "queries_page", "queries_pasted",
        "report_origins", "resuming", "resuming_kills", "review_queue", "standings", "traces",
    )
}  # fmt: skip
# The same of tests of large processes, and of all queries once more, whose statements their own
# modules run there.
TESTS_ON_NEO4J_IN_SOAK = {
    "test_a_deep_and_wide_process_is_answered_in_bounded_time",
    "test_a_frontier_larger_than_one_answer_is_read_whole",
    "test_a_process_that_is_not_ready_is_never_shown",
    "test_a_process_that_nobody_verified",
    "test_a_trail_of_many_nodes_is_stored_whole_and_again",
    "test_a_trail_over_a_large_node_is_stored_in_small_batches",
    "test_many_chunks_are_read_in_pages_and_in_order",
    "test_the_ends_of_many_claims_are_few_statements",
    "test_very_many_sentences_are_stored_in_parts",
    # Python that refuses, compares or goes on, over statements that other tests run there.
    "test_a_caption_is_one_short_line_whoever_makes_it",
    "test_a_claim_gets_another_text_and_keeps_the_rest",
    "test_a_claim_may_be_unclear_with_or_without_a_verdict",
    "test_a_claim_that_was_edited_keeps_what_was_said_of_its_former_text",
    "test_a_copy_can_be_repeated_and_adds_what_is_new",
    "test_a_copy_that_differs_is_told",
    "test_a_copy_that_was_cut_off_is_finished_by_the_next",
    "test_a_correction_that_failed_takes_nothing_from_an_earlier_one",
    "test_a_dialogue_is_a_process_whose_edges_grow_with_its_turns",
    "test_a_later_verification_changes_what_a_review_is_to_the_verdict",
    "test_a_node_without_attributions_has_none_and_an_unknown_one_is_not_found",
    "test_a_page_ends_before_its_texts_are_too_long",
    "test_a_review_that_breaks_rules_is_told_what_is_wrong",
    "test_a_run_that_is_stopped_goes_on_behind_its_last_turn",
    "test_a_superseded_run_keeps_what_it_linked_and_not_what_was_judged",
    "test_a_verification_of_another_process_is_not_reviewed_here",
    "test_a_verification_that_ended_without_a_verdict_counts",
    "test_an_append_that_breaks_rules_stores_nothing",
    "test_an_append_that_others_always_come_before_is_told_and_stores_nothing",
    "test_an_unknown_claim_among_those_to_remove_keeps_all",
    "test_an_unknown_process_and_one_that_is_not_named_are_told",
    "test_claims_alone_can_be_appended",
    "test_cut_short_anywhere_it_leaves_the_process_as_it_was",
    "test_every_label_and_property_of_the_graph_is_in_the_model",
    "test_every_node_with_a_caption_reads_well",
    "test_every_relationship_of_the_graph_is_in_the_model",
    "test_extracting_again_leaves_an_edited_claim_as_it_is",
    "test_other_content_is_replaced_only_when_that_is_said",
    "test_the_latest_verification_with_the_same_settings_is_found",
    "test_the_graph_and_a_file_keep_the_same_rule",
    "test_the_same_appended_again_is_unchanged",
    "test_the_same_verdict_confirms_and_needs_no_reason",
    "test_too_much_for_one_transaction_is_told_before_it_is_sent",
    "test_what_cannot_be_edited_is_refused",
    "test_what_cannot_be_reviewed_is_told_and_nothing_is_stored",
    "test_what_is_not_there_cannot_be_copied",
    "test_what_was_judged_stays_while_the_sentence_rests_on_the_same",
    "test_wordings_are_replaced_by_those_of_the_same_engine_alone",
    "test_words_never_take_the_place_of_a_model",
}
# On the embedded engine in `make soak`: programs of several machines meet on a server.
ON_EMBEDDED_IN_SOAK = {
    "test_two_programs_at_once_apply_a_migration_that_one_began_and_was_killed_in"
}

SCHEMA = "test_schema.py"

T = TypeVar("T")
Arun = Callable[[Coroutine[Any, Any, T]], T]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        engines = getattr(getattr(item, "callspec", None), "params", {}).values()
        name = getattr(item, "originalname", item.name)
        if "neo4j" in engines:
            is_soak = item.path.name in ON_NEO4J_IN_SOAK or name in TESTS_ON_NEO4J_IN_SOAK
        else:
            is_soak = "embedded" in engines and name in ON_EMBEDDED_IN_SOAK
        if is_soak:
            item.add_marker(pytest.mark.soak)
    # What changes the schema makes the server plan every statement anew: it comes first.
    here = [place for place, item in enumerate(items) if "tests/contract" in item.nodeid]
    first = sorted((items[place] for place in here), key=lambda item: item.path.name != SCHEMA)
    for place, item in zip(here, first, strict=True):
        items[place] = item


@pytest.fixture(scope="session", autouse=True)
def _quick_retries() -> Iterator[None]:
    """Let the driver try again after 50 ms instead of a second."""
    quick = partial(neo4j.GraphDatabase.driver, initial_retry_delay=0.05)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(neo4j.GraphDatabase, "driver", quick)
        yield


@pytest.fixture(scope="session")
def arun() -> Iterator[Arun[Any]]:
    """Run a coroutine on the one event loop of the session."""
    with asyncio.Runner() as runner:
        yield runner.run


@pytest.fixture(scope="session")
def embedded_address(arun: Arun[Any]) -> Iterator[DatabaseAddress]:
    """An embedded engine of the session's own: where several write at once, commits collide."""
    home = Path(tempfile.mkdtemp(prefix="vt-contract-", dir="/tmp"))
    settings = EngineSettings(home=home)
    stack = AsyncExitStack()
    engine = arun(stack.enter_async_context(running_engine(settings)))
    yield engine
    arun(stack.aclose())
    arun(stop_engine(settings))
    shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(scope="session", params=["embedded", "neo4j"])
def address(request: pytest.FixtureRequest) -> DatabaseAddress:
    """Where the engine under test listens."""
    if request.param == "embedded":
        embedded: DatabaseAddress = request.getfixturevalue("embedded_address")
        return embedded
    server = request.getfixturevalue("neo4j_server")
    return DatabaseAddress(server.uri, server.username, server.password, server.database)


@pytest.fixture(scope="session")
def schema_lock(run_folder: Path) -> FileLock:
    """Held while a store is opened, and while a test gives the shared Neo4j another version."""
    return FileLock(run_folder / "schema.lock")


@pytest.fixture(scope="session")
def store(address: DatabaseAddress, arun: Arun[Any], schema_lock: FileLock) -> Iterator[Store]:
    """A store over the engine under test, its schema made."""
    stack = AsyncExitStack()
    with schema_lock:
        opened = arun(stack.enter_async_context(open_store(address)))
    yield opened
    arun(stack.aclose())


@pytest.fixture
def process_id(store: Store, arun: Arun[Any]) -> Iterator[str]:
    """A process_id that no other test uses; what is stored under it goes after the test."""
    name = f"t-{uuid.uuid4().hex[:12]}"
    yield name
    for left in (name, store.processes.staged_id(name)):
        if arun(store.processes.state(left)) is not None:
            arun(store.processes.mark(left, "deleting"))
            arun(store.processes.delete(left))
