"""Tools for assistants that look around: search, nodes, runs, projects, comments."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from acceptance.command import Veritrail, process_file
from acceptance.test_mcp import assistant_here, text_of

pytestmark = pytest.mark.engine

NAME = "mcp-lookups"
LONG = "Gulls. " * 1_000


@pytest.fixture(scope="module")
def stored(veritrail: Veritrail, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("lookups") / "p.json"
    nodes = [
        {
            "node_id": "s",
            "text": f"The zeppelin\nhad 12 cabins. The crew had 9 bunks. {LONG}",
            "metadata": {"title": "Inventory of 1911"},
        },
        {"node_id": "t", "text": "The zeppelin had 13 cabins. The crew had 9 bunks."},
    ]
    claims = [
        {"claim_id": "k1", "text": "The zeppelin had 13 cabins."},
        {"claim_id": "k2", "text": "The crew had 9 bunks."},
    ]
    edges = [{"source": "s", "target": "t"}]
    process_file(path, process_id=NAME, nodes=nodes, edges=edges, claims=claims)
    veritrail("ingest", str(path))
    veritrail("tag", NAME, "--project", "mcp-airships")
    for q in ("1", "2"):
        veritrail("verify", NAME, "--q", q)
    return NAME


def ask(veritrail: Veritrail, *calls: tuple[str, dict[str, Any]]) -> list[Any]:
    async def whole() -> list[Any]:
        async with assistant_here(veritrail, "--engine", "lexical") as client:
            return [await client.call_tool(name, given) for name, given in calls]

    return asyncio.run(whole())


def test_texts_are_found_and_nodes_are_read_in_parts(veritrail: Veritrail, stored: str) -> None:
    node = {"process_id": stored, "node_id": "s"}
    found, first, second, none, wrong = ask(
        veritrail,
        ("search", {"words": "zeppelin cabins", "process_id": stored}),
        ("show_node", node),
        ("show_node", {**node, "offset": 4_000}),
        ("search", {"words": "nothing-like-it", "process_id": stored}),
        ("show_node", {**node, "node_id": "x"}),
    )
    hits = {one["claim_id"] or one["node_id"] for one in found.structured_content["results"]}
    assert hits == {"k1", "s", "t"}
    assert "Nothing holds all of these words." in text_of(none)
    value = first.structured_content
    assert (value["role"], value["more"], value["made_of"]) == ("root", True, [])
    assert len(value["text"]) == 4_000
    assert "More follows: offset=4000" in text_of(first)
    assert "\n" not in text_of(first).splitlines()[1]
    rest = second.structured_content
    assert (rest["offset"], rest["more"]) == (4_000, False)
    assert value["length"] == 4_000 + len(rest["text"])
    assert wrong.is_error
    assert "no node 'x'" in text_of(wrong)


def test_nodes_are_called_by_their_titles(veritrail: Veritrail, stored: str) -> None:
    own, above = ask(
        veritrail,
        ("show_node", {"process_id": stored, "node_id": "s"}),
        ("show_node", {"process_id": stored, "node_id": "t"}),
    )
    assert own.structured_content["title"] == "Inventory of 1911"
    assert "Inventory of 1911" in text_of(own).splitlines()[0]
    assert above.structured_content["title"] is None
    assert "Made of: 'Inventory of 1911' (s)" in text_of(above).replace('"', "'")


def test_runs_are_listed_and_compared_and_projects_shown(veritrail: Veritrail, stored: str) -> None:
    about = {"process_id": stored}
    (listed,) = ask(veritrail, ("list_runs", about))
    runs = [one["run_id"] for one in listed.structured_content["runs"]]
    assert len(runs) == 2
    assert "lexical" in text_of(listed)
    one = listed.structured_content["runs"][0]
    assert (one["mode"], one["since"], one["kept"]) == ("live", None, 0)
    compared, same, names, trend = ask(
        veritrail,
        ("compare_runs", {**about, "a": runs[1], "b": runs[0]}),
        ("compare_runs", {**about, "a": runs[0], "b": runs[0]}),
        ("show_trend", {}),
        ("show_trend", {"project": "mcp-airships", "by": "judge"}),
    )
    assert compared.structured_content["changes"]["same"] == 2
    assert same.is_error
    assert "mcp-airships" in names.structured_content["projects"]
    (group,) = trend.structured_content["groups"]
    assert (group["judged"], group["unsupported"]) == (2, 1)


def test_a_comment_of_an_assistant_says_so(veritrail: Veritrail, stored: str) -> None:
    about = {"process_id": stored, "claim_id": "k1"}
    before, made, after, empty = ask(
        veritrail,
        ("list_comments", about),
        ("comment_on_claim", {**about, "text": "Page 3\nsays 12."}),
        ("list_comments", about),
        ("comment_on_claim", {**about, "text": ""}),
    )
    assert "no comment yet" in text_of(before)
    assert made.structured_content["author"] == "assistant"
    assert '"assistant"' in text_of(after)
    assert [one["text"] for one in after.structured_content["comments"]] == ["Page 3 says 12."]
    assert empty.is_error
