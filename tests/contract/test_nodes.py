"""Nodes by the page and by id on both engines: order, filters, texts, bounds, awkward ids."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from fakes.processes import MemoryInput, process

from veritrail_graph.graph.errors import InputError, NotFound
from veritrail_graph.graph.ingest import ingest
from veritrail_graph.graph.model import Role
from veritrail_graph.graph.model.listed import NodeFilter
from veritrail_graph.graph.store import Store
from veritrail_graph.graph.store import nodes as nodes_module

pytestmark = pytest.mark.engine

AWKWARD = "a/../b?x=1&y#%2F ÄÖ\u2028 😀 ' \" \\ $p {} */ //"
TEXTS = {
    "r1": "The HARBOUR opened in 1901.",
    "r2": "İstanbul and the pier",
    AWKWARD: "Two piers, one harbour.",
    "m": "A harbour with 100% (two) piers; it's [a-z]* $text",
    "t": "",
}
EDGES = [("r1", "m"), ("r2", "m"), (AWKWARD, "m"), ("m", "t")]


def test_a_stage_that_one_step_produced_is_called_as_it(
    store: Store, arun: Any, process_id: str
) -> None:
    steps = {"r1": "reader", "r2": "reader", AWKWARD: "reader", "m": "writer"}
    found = a_process(process_id)
    found.nodes[:] = [replace(one, step=steps.get(one.node_id)) for one in found.nodes]
    arun(ingest(store, found))
    assert arun(store.nodes.steps_of_stages(process_id)) == {1: "reader", 2: "writer"}


@pytest.fixture
def stored(store: Store, arun: Any, process_id: str) -> str:
    arun(ingest(store, a_process(process_id)))
    return process_id


def a_process(name: str) -> MemoryInput:
    return process(TEXTS, EDGES, process_id=name)


def ids(found: tuple[list[Any], bool]) -> list[str]:
    return [node.node_id for node in found[0]]


def test_nodes_come_by_stage_and_place_page_by_page(store: Store, arun: Any, stored: str) -> None:
    whole, more = arun(store.nodes.page(stored))
    assert ([node.node_id for node in whole], more) == (["r1", "r2", AWKWARD, "m", "t"], False)
    seen, after = [], (-1, -1)
    for _ in range(5):
        (node,), more = arun(store.nodes.page(stored, after=after, limit=1))
        seen.append(node)
        after = (node.stage, node.position)
    assert (seen, more) == (whole, False)
    assert arun(store.nodes.page(stored, after=after)) == ([], False)
    assert [(node.stage, node.role) for node in whole] == [
        (1, Role.ROOT), (1, Role.ROOT), (1, Role.ROOT), (2, Role.INTERMEDIATE), (3, Role.TERMINAL),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        (NodeFilter(stage=1), ["r1", "r2", AWKWARD]),
        (NodeFilter(stage=9), []),
        (NodeFilter(role=Role.TERMINAL), ["t"]),
        (NodeFilter(text="harbour"), ["r1", AWKWARD, "m"]),
        (NodeFilter(text="HARBOUR", stage=2), ["m"]),
        (NodeFilter(text="it's [a-z]* $TEXT"), ["m"]),
        (NodeFilter(text=".*"), []),
        (NodeFilter(text="100% ("), ["m"]),
    ],
)
def test_filters_narrow_the_list(
    store: Store, arun: Any, stored: str, wanted: NodeFilter, names: list[str]
) -> None:
    assert ids(arun(store.nodes.page(stored, wanted))) == names


def test_nodes_are_found_by_any_id_in_the_order_asked_for(
    store: Store, arun: Any, stored: str
) -> None:
    asked = ["t", AWKWARD, "no such node", "t", "r1", ""]
    found = arun(store.nodes.get(stored, asked))
    assert [node.node_id for node in found] == ["t", AWKWARD, "r1"]
    contents = arun(store.nodes.contents(stored, found))
    assert {name: content.text for name, content in contents.items()} == {
        name: TEXTS[name] for name in ("t", AWKWARD, "r1")
    }
    assert arun(store.nodes.get(stored, ["no such node"])) == []


def test_an_unknown_process_is_an_error_and_no_empty_list(store: Store, arun: Any) -> None:
    for call in (store.nodes.page("no-such"), store.nodes.get("no-such", ["a"])):
        with pytest.raises(NotFound, match="no-such"):
            arun(call)


def test_a_process_that_is_being_written_shows_no_nodes(
    store: Store, arun: Any, stored: str
) -> None:
    arun(store.processes.mark(stored, "loading"))
    for call in (store.nodes.page(stored), store.nodes.get(stored, ["t"])):
        with pytest.raises(NotFound, match="loading"):
            arun(call)


def test_a_page_ends_where_its_texts_come_to_too_much(store: Store, arun: Any, stored: str) -> None:
    least = len(TEXTS["r1"]) + 1
    page, more = arun(store.nodes.page(stored, most=least))
    assert ([node.node_id for node in page], more) == (["r1"], True)
    first, more = arun(store.nodes.page(stored, most=1))
    assert (len(first), more) == (1, True), "one node comes however long it is"


def test_too_much_text_at_a_time_is_refused(
    store: Store, arun: Any, stored: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nodes_module, "MOST_CONTENT", 10)
    nodes = arun(store.nodes.get(stored, ["r1", "r2"]))
    with pytest.raises(InputError, match="fewer"):
        arun(store.nodes.contents(stored, nodes))
    assert list(arun(store.nodes.contents(stored, nodes[:1]))) == ["r1"]
