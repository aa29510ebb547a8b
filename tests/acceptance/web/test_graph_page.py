"""The graph page over HTTP: stages, a claim's trail, opening step by step, limits, lists."""

from __future__ import annotations

import html
import json
import re
import time
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from acceptance.command import Veritrail
from fakes.service_process import ServiceProcess

AWKWARD = "a/../b?x=1&y#%2F 😀 ' \" <b>"
HOSTILE = "<script>alert(1)</script> \u202eevil"
STUB = re.compile(r'class="stub" href="([^"]*)" data-open="(up|down)">\s*<title>([^<]*)')


@pytest.fixture(scope="module")
def fan_id(veritrail: Veritrail, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A node with 400 sources and hostile names and texts."""
    name = f"fan-{uuid.uuid4().hex[:8]}"
    roots = [{"node_id": f"r{n:03}", "text": f"Root {n}."} for n in range(400)]
    nodes = [*roots, {"node_id": AWKWARD, "text": HOSTILE}, {"node_id": "t", "text": "End."}]
    edges = [{"source": node["node_id"], "target": "t"} for node in nodes[:-1]]
    file = tmp_path_factory.mktemp("fan") / "fan.json"
    store(veritrail, file, name, nodes, edges)
    return name


def store(
    veritrail: Veritrail,
    file: Path,
    name: str,
    nodes: list[dict[str, str]],
    edges: list[dict[str, str]],
    **other: Any,
) -> None:
    document = {"format": "veritrail.process/1", "process_id": name, "nodes": nodes, "edges": edges}
    file.write_text(json.dumps({**document, **other}), encoding="utf-8")
    veritrail("ingest", str(file))


def graph(
    service: ServiceProcess, process_id: str, query: str | Mapping[str, str] = "", status: int = 200
) -> str:
    path = f"/processes/{process_id}/graph"
    if isinstance(query, str):
        answer = service.get(path + query)
    else:
        answer = service.get(path, params=dict(query))
    assert answer.status_code == status, answer.text[:2000]
    assert answer.headers["content-type"].startswith("text/html")
    return answer.text


def boxes(page: str) -> int:
    return page.count('<a class="n')


def names(page: str) -> list[str]:
    return [html.unescape(one) for one in re.findall(r'class="n-id"[^>]*>([^<]*)<', page)]


def stubs(page: str) -> list[tuple[str, str, str]]:
    return [tuple(map(html.unescape, found)) for found in STUB.findall(page)]  # type: ignore[misc]


def test_the_graph_opens_on_stages(shared_service: ServiceProcess, harbour_id: str) -> None:
    page = graph(shared_service, harbour_id)
    for _ in range(20):  # edges are counted behind the page
        if "data-counting" not in page:
            break
        time.sleep(0.3)
        page = graph(shared_service, harbour_id)
    assert page.count('class="stage-box') == 4
    assert boxes(page) == 0
    assert "14 edges from stage 1 to stage 2" in page
    assert "1 of 4 claims with a verdict went wrong here" in page
    assert "Stage 1, source chunk: 14 nodes" in page
    assert f'class="sb-claims" href="/processes/{harbour_id}?error_stage=2"' in page
    listed = graph(shared_service, harbour_id, "?all=1&stage=2")
    wrong = re.findall(r'nodes/(s\d\d)">1<span class="only-read"> claim that went wrong', listed)
    assert sorted(wrong) == ["s03"]


def test_the_trail_of_a_claim_is_drawn_with_its_marks(
    shared_service: ServiceProcess, harbour_id: str
) -> None:
    page = graph(shared_service, harbour_id, "?claim=k04")
    assert {"c03", "s03", "g1", "final"} <= set(names(page))
    assert "introduced here" in page
    assert "states the claim" in page
    assert "1 sentence cited" in page
    assert "Not Fully Supported" in page
    assert "Indicative only: it rests on a comparison of words" in page
    assert page.count('class="on"') == 3
    culprit = re.search(r'<a class="n n-error at" id="(n\d+)"', page)  # its text is shown first
    assert culprit is not None
    assert f'<a href="#{culprit[1]}">' in page
    rows = re.findall(r'<th scope="row"><a href="/processes/[^"]+/nodes/([^"]+)">', page)
    assert set(rows) == set(names(page))


def test_one_hop_is_opened_at_a_time_and_folded_again(
    shared_service: ServiceProcess, harbour_id: str
) -> None:
    page = graph(shared_service, harbour_id, "?claim=k04")
    # A link of the list is called what is read in it, and of which node.
    more = re.findall(r'class="nowrap"([^>]*)>(\+[^<]+)<span class="only-read"> ([^<]+)<', page)
    assert ("", "more sources of final") in [(rest, words) for rest, _, words in more]
    assert len({words for _, _, words in more}) == len(more)
    before = names(page)
    link = next(link for link, way, words in stubs(page) if "source nodes of final" in words)
    opened = graph(shared_service, harbour_id, link)
    assert set(before) < set(names(opened))
    # What was there keeps its order.
    assert [name for name in names(opened) if name in before] == before
    at = re.search(r'data-p="(\d+)"><title>final', opened)
    assert at is not None
    looked = graph(shared_service, harbour_id, f"{link}&at={at[1]}")
    fold = re.search(r'href="([^"]*)#picture" data-open>Fold its sources away', looked)
    assert fold is not None
    assert names(graph(shared_service, harbour_id, html.unescape(fold[1]))) == before


def test_at_most_three_hundred_nodes_are_drawn_and_the_page_says_so(
    shared_service: ServiceProcess, fan_id: str
) -> None:
    page = graph(shared_service, fan_id, {"node": "t"})
    assert boxes(page) == 26
    for _ in range(12):
        (link,) = [link for link, way, words in stubs(page) if "of t" in words]
        page = graph(shared_service, fan_id, link)
        if "300 nodes are drawn" in page:
            break
    assert boxes(page) == 300
    assert "300 nodes are drawn, which is the most" in page
    assert stubs(page) == []
    assert "102 more source nodes of t: see its page" in page
    assert len(page.encode()) < 400_000
    assert page.count('<th scope="row"><a') == 50
    assert "300 nodes of 300 in the drawing" in page


def test_ids_and_texts_are_shown_as_text(shared_service: ServiceProcess, fan_id: str) -> None:
    page = graph(shared_service, fan_id, {"node": AWKWARD})
    assert "<script>alert" not in page
    assert "<b>" not in page.replace("<bdi>", "")
    assert "a/../b?x=1" in html.unescape(page)
    assert "\u202e" not in page
    assert "⟨RLO⟩evil" in page
    address = re.search(r'<a class="n[^"]*" id="n0"[^>]* href="([^"]*)"', page)
    assert address is not None
    node = shared_service.get(html.unescape(address[1]))
    assert node.status_code == 200
    assert "&lt;script&gt;alert(1)" in node.text


@pytest.mark.parametrize(
    ("query", "status", "words"),
    [
        ("?claim=nobody", 404, "Not found"),
        ("?node=nobody", 404, "Not found"),
        ("?verification=v-nobody", 404, "Not found"),
        ("?at=-1", 422, "Something is wrong with the input"),
        ("?role=king", 422, "Something is wrong with the input"),
        ("?cursor=abc&all=1", 422, "Something is wrong with the input"),
        (f"?node=final&open={'x' * 3000}", 422, "Something is wrong with the input"),
    ],
)
def test_what_is_not_there_is_said_on_a_page(
    shared_service: ServiceProcess, harbour_id: str, query: str, status: int, words: str
) -> None:
    assert words in graph(shared_service, harbour_id, query, status)


def test_openings_that_lead_nowhere_and_too_many_are_passed_over(
    shared_service: ServiceProcess, harbour_id: str
) -> None:
    plain = graph(shared_service, harbour_id, "?node=final&open=")
    odd = graph(shared_service, harbour_id, "?node=final&open=zzzzU9D!!")
    assert names(odd) == names(plain)
    many = graph(shared_service, harbour_id, f"?node=final&open={'9U' * 70}")
    assert "10 openings of the address were left out" in many
