"""The page of a node over HTTP: its text in parts, its neighbours, what rests on it."""

from __future__ import annotations

import html
import json
import re
import uuid
from typing import Any
from urllib.parse import quote

import pytest
from acceptance.command import Veritrail
from fakes.service_process import ServiceProcess

HOSTILE = "</main><img src=x onerror=alert(1)> \u202eevil \x07"
DOTS = ".."
LONG = "".join(f"Sentence number {n} of a long text. 😀\n" for n in range(60_000))


@pytest.fixture(scope="module")
def odd_id(veritrail: Veritrail, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Long and hostile texts under awkward ids."""
    name = f"odd-{uuid.uuid4().hex[:8]}"
    metadata = {"page": HOSTILE, "model": HOSTILE, "prompt": HOSTILE}
    nodes: list[dict[str, Any]] = [
        {"node_id": DOTS, "text": LONG},
        {"node_id": "a/b'\"<i>", "text": HOSTILE, "kind": HOSTILE, "step": HOSTILE},
        {"node_id": "t", "text": "", "metadata": metadata},
        *({"node_id": f"r{n:02}", "text": f"Root {n}."} for n in range(60)),
    ]
    edges = [{"source": node["node_id"], "target": "t"} for node in nodes if node["node_id"] != "t"]
    document = {"format": "veritrail.process/1", "process_id": name, "nodes": nodes, "edges": edges}
    file = tmp_path_factory.mktemp("odd") / "odd.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    veritrail("ingest", str(file))
    return name


def node(
    service: ServiceProcess, process_id: str, node_id: str, query: str = "", status: int = 200
) -> str:
    # As the pages write it: browsers go up a folder at a segment of dots.
    segment = quote("~" + node_id if node_id in (".", "..") else node_id, safe="")
    answer = service.get(f"/processes/{process_id}/nodes/{segment}{query}")
    assert answer.status_code == status, answer.text[:2000]
    return answer.text


def link(page: str, words: str) -> str:
    found = re.search(rf'href="[^"?]*(\?[^"#]*)(?:#[a-z]*)?"[^>]*>(?:<svg.*?</svg>)?{words}', page)
    assert found is not None, words
    return html.unescape(found[1])


def test_a_node_shows_what_there_is_of_it(shared_service: ServiceProcess, harbour_id: str) -> None:
    page = node(shared_service, harbour_id, "s03")
    for words in ("Stage 2", "chunk summary", "intermediate", "example-model", "dredger"):
        assert words in page
    assert f'href="/processes/{harbour_id}/nodes/c03"' in page
    assert f'href="/processes/{harbour_id}/nodes/g1"' in page
    assert f"/processes/{harbour_id}/graph?node=s03" in page
    assert "What else the input says of it" not in page


def test_metadata_is_shown_with_a_line_a_value(shared_service: ServiceProcess, odd_id: str) -> None:
    page = html.unescape(node(shared_service, odd_id, "t"))
    assert re.search(r'What else the input says of it</summary><pre[^>]*>\{\n  "page": "', page)


def test_a_long_text_is_read_in_parts(shared_service: ServiceProcess, odd_id: str) -> None:
    page = node(shared_service, odd_id, DOTS)
    assert len(page.encode()) < 60_000
    assert "part 1 of" in page
    assert LONG[:2000] in html.unescape(page)
    second = node(shared_service, odd_id, DOTS, link(page, "Next part"))
    assert LONG[20_000:22_000] in html.unescape(second)
    assert link(second, "Previous part") == "?piece=1"
    last = node(shared_service, odd_id, DOTS, "?piece=9999999")
    assert LONG[-100:] in html.unescape(last)
    assert "Next part" not in last


def test_hostile_texts_and_ids_are_shown_as_text(
    shared_service: ServiceProcess, odd_id: str
) -> None:
    for name in ("a/b'\"<i>", "t"):
        page = node(shared_service, odd_id, name)
        assert "<img" not in page
        assert "<i>" not in page
        assert "onerror=alert(1)" in page
        assert "\u202e" not in page
        assert "\x07" not in page
    assert node(shared_service, odd_id, DOTS).count(f"/nodes/~{DOTS}") >= 1


@pytest.mark.parametrize("query", ["", "?part=text", "?part=rest", "?rest=25"])
def test_what_is_not_there_is_said_on_a_page(
    shared_service: ServiceProcess, harbour_id: str, query: str
) -> None:
    assert "Not found" in node(shared_service, harbour_id, "nobody", query, 404)
    assert "Not found" in node(shared_service, "no-such-process", "t", query, 404)
