"""What pictures are drawn from, on both engines: stages, next nodes, edges, a trail."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
from contract.test_node_search import a_verification
from fakes.processes import process
from fakes.trails import FS, path

from veritrail_graph.graph.ingest import ingest
from veritrail_graph.graph.model.lineage import Degrees, Direction
from veritrail_graph.graph.store import Store
from veritrail_graph.graph.store.lineage import LineageReader

pytestmark = pytest.mark.engine

UP, DOWN = Direction.UPSTREAM, Direction.DOWNSTREAM
# Two roots feed two summaries, one of them feeds the end past the other.
EDGES = [("a", "m"), ("b", "m"), ("b", "n"), ("m", "t"), ("n", "t"), ("a", "t")]


def stored(store: Store, arun: Any, name: str, edges: list[tuple[str, str]]) -> None:
    texts = dict.fromkeys(end for edge in edges for end in edge)
    arun(ingest(store, process({one: f"Text of {one}." for one in texts}, edges, process_id=name)))


def degrees(edges: list[tuple[str, str]], nodes: str) -> list[Degrees]:
    up = Counter(target for _, target in edges)
    down = Counter(source for source, _ in edges)
    return [Degrees(name, up[name], down[name]) for name in nodes]


@pytest.mark.parametrize("window", [1, 2, 100_000])
def test_edges_are_counted_from_stage_to_stage(
    store: Store, arun: Any, process_id: str, window: int
) -> None:
    stored(store, arun, process_id, EDGES)
    reader = LineageReader(store.database, window=window)
    found = arun(reader.stage_edges(arun(store.processes.get(process_id))))
    assert found == {(1, 2): 3, (2, 3): 2, (1, 3): 1}


def test_the_next_nodes_are_the_first_that_are_not_known(
    store: Store, arun: Any, process_id: str
) -> None:
    stored(store, arun, process_id, EDGES)
    reader = LineageReader(store.database)

    def following(*asked: Any) -> dict[str, list[str]]:
        found: dict[str, list[str]] = arun(reader.next_nodes(process_id, *asked))
        return found

    assert following(UP, ["t", "m"], [], 9) == {"t": ["a", "m", "n"], "m": ["a", "b"]}
    assert following(UP, ["t"], ["a"], 1) == {"t": ["m"]}
    assert following(DOWN, ["b", "t"], ["t"], 9) == {"b": ["m", "n"], "t": []}
    assert following(UP, [], [], 9) == {}


@pytest.mark.parametrize("many", [0, 1, 2, 1_000])
def test_all_edges_between_nodes_are_found_from_whichever_end(
    store: Store, arun: Any, process_id: str, many: int
) -> None:
    drawn = random.Random(3)  # nothing secret
    names = "abcdefghijkl"
    edges = sorted(
        {(names[a], names[b]) for b in range(1, 12) for a in drawn.choices(range(b), k=4)}
    )
    stored(store, arun, process_id, edges)
    reader = LineageReader(store.database, many=many)
    for chosen in (names, "acegl", "kl", "l"):
        found = arun(reader.edges(process_id, degrees(edges, chosen)))
        assert set(found) == {edge for edge in edges if set(edge) <= set(chosen)}, chosen
        assert len(found) == len(set(found))


def test_a_trail_is_read_as_links_and_counts(store: Store, arun: Any, process_id: str) -> None:
    texts = {"c1": "The pier opened in 1901. It has two lamps.", "s1": "A pier of 1901.", "t": "T."}
    claims = {"k1": "The pier opened in 1901."}
    source = process(texts, [("c1", "s1"), ("s1", "t")], claims, process_id=process_id)
    arun(ingest(store, source))
    made = a_verification(process_id, "v1", "k1", FS)
    paths = (*made.paths, path("c1", "t", 2, "s1"))
    arun(store.trails.write(made.replace(paths=paths)))
    assert set(arun(store.trails.paths(made.verification_id))) == {
        path("c1", "s1", 2), path("s1", "t", 1), path("c1", "t", 2, "s1")
    }  # fmt: skip
    assert arun(store.trails.cited(made.verification_id)) == {"c1": 2, "s1": 1}
    assert (arun(store.trails.paths("none")), arun(store.trails.cited("none"))) == ([], {})
