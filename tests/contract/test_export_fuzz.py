"""Random processes with texts of every kind, through every format and back."""

from __future__ import annotations

import csv
import io
import json
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import hypothesis.strategies as st
import pytest
from fakes.exporting import document_of, lines_of, prov_of
from fakes.processes import MemoryInput
from hypothesis import HealthCheck, given, settings

from veritrail_graph.graph.exporters.cypher_script import literal
from veritrail_graph.graph.exporters.graphml import _FORBIDDEN, GraphMl
from veritrail_graph.graph.exporters.tables import Tables
from veritrail_graph.graph.importers.records import ClaimRecord, EdgeRecord, Header, NodeRecord
from veritrail_graph.graph.importers.registry import open_input
from veritrail_graph.graph.ingest import ingest
from veritrail_graph.graph.store import Store
from veritrail_graph.graph.store.export import StoredProcess

XML = "{http://graphml.graphdrawing.org/xmlns}"
SNIPPETS = (
    "\r\n",
    "\r",
    "\n",
    "\x00",
    "'",
    '"',
    "\\",
    "\\u0027",
    "]]>",
    "&amp;",
    "=",
    "\u202e",
    "😀",
    "\U000e0041",
    "\ufe0f",
)
texts = st.lists(
    st.sampled_from(SNIPPETS) | st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    max_size=6,
).map("".join)
names = texts.filter(lambda text: 0 < len(text) <= 1_024)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | texts
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
literals = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | texts,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.from_regex(r"[a-z]\w{0,9}", fullmatch=True), inner, max_size=3)
    ),
    max_leaves=6,
)


@st.composite
def processes(draw: Callable[..., Any]) -> MemoryInput:
    """A directed graph without cycles, with its nodes in any order."""
    ids = draw(st.lists(names, min_size=2, max_size=8, unique=True))
    pairs = [(a, b) for b in range(1, len(ids)) for a in range(b)]
    chosen = draw(st.lists(st.sampled_from(pairs), min_size=1, unique=True))
    edges = [EdgeRecord(ids[a], ids[b], "e", draw(st.none() | st.booleans())) for a, b in chosen]
    nodes = [
        NodeRecord(
            name,
            draw(texts),
            "n",
            None,
            draw(st.none() | texts),
            draw(st.none() | texts),
            draw(st.dictionaries(texts | st.sampled_from(["model", "prompt"]), json_values)),
        )
        for name in draw(st.permutations(ids))
    ]
    produced = sorted({ids[b] for _, b in chosen})
    claims = [
        ClaimRecord(
            draw(texts.filter(str.strip)), "c", f"k{number}", draw(st.sampled_from(produced)),
            sub_claims=tuple(draw(st.lists(texts, max_size=2))),
        )
        for number in range(draw(st.integers(0, 3)))
    ]  # fmt: skip
    stages = draw(st.dictionaries(st.integers(0, 9), texts, max_size=2))
    header = Header("test", name=draw(names), question=draw(st.none() | texts), stage_names=stages)
    return MemoryInput(nodes, edges, claims, header)


@pytest.mark.engine
@pytest.mark.slow
@given(source=processes())
@settings(
    max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_every_process_comes_back_from_every_format(
    store: Store, arun: Any, tmp_path: Path, source: MemoryInput
) -> None:
    name = f"t-{uuid.uuid4().hex[:12]}"
    report = arun(ingest(store, source, process_id=name))
    try:
        for form, path in (
            (lines_of, "p.jsonl"), (document_of, "p.json"), (prov_of, "p.prov.json"),
        ):  # fmt: skip
            content = arun(form(store, name))
            Path(path).write_bytes(content)
            arun(store.processes.delete(name))
            again = arun(ingest(store, open_input(Path(path))))
            assert again.survey.hash == report.survey.hash
            assert again.survey.claims == report.survey.claims
            assert arun(form(store, name)) == content
        stored = arun(StoredProcess.open(store.database, name))
        assert _from_graphml(store, arun, stored) == _texts(source, _FORBIDDEN.sub)
        assert _from_tables(store, arun, stored, tmp_path) == _texts(source)
    finally:
        arun(store.processes.delete(name))


def _texts(source: MemoryInput, sub: Any = lambda _new, text: text) -> list[tuple[str, str]]:
    return [(sub("\ufffd", node.node_id), sub("\ufffd", node.text)) for node in source.nodes]


def _from_graphml(store: Store, arun: Any, stored: StoredProcess) -> list[tuple[str, str]]:
    out = io.BytesIO()
    arun(GraphMl(stored, out.write).run(store))
    found = []
    for node in ElementTree.fromstring(out.getvalue()).iter(f"{XML}node"):
        data = {one.get("key"): one.text or "" for one in node}
        if data["n_labels"] == ":Span":
            found.append((data["n_p_node_id"], data["n_p_text"]))
    return found


def _from_tables(
    store: Store, arun: Any, stored: StoredProcess, folder: Path
) -> list[tuple[str, str]]:
    arun(Tables(folder).run(store, stored))
    with (folder / "nodes.csv").open(encoding="utf-8", newline="") as file:
        return [(row["node_id"], row["text"]) for row in csv.DictReader(file)]


@pytest.mark.engine
@given(value=literals)
@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_an_engine_reads_a_literal_as_the_value_that_it_was_made_of(
    store: Store, arun: Any, value: Any
) -> None:
    text = literal(value)
    assert len(text.splitlines()) == 1
    found = arun(store.database.run_text(f"RETURN {text} AS value", {}, 1)).rows[0][0]
    assert json.dumps(found, sort_keys=True) == json.dumps(value, sort_keys=True)
