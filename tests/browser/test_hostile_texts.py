"""Whatever a pipeline, a file or a reviewer writes is shown as text: nothing of it runs.

Every field that a person controls holds the usual payloads; every page, report and dossier is
opened. A window of these tests fails on a dialog, on anything that the content security policy
refuses, and on a request to another machine.
"""

from __future__ import annotations

from collections import Counter
from html import unescape
from pathlib import Path

import httpx2
import pytest
from acceptance.command import Veritrail
from fakes.crawling import Crawl, Links, kind_of
from fakes.hostile_file import NODE_IDS, PAYLOADS, hostile_process
from fakes.service_process import ServiceProcess
from playwright.sync_api import Page

from veritrail_graph.api.page.links import url

pytestmark = [pytest.mark.engine, pytest.mark.slow]

PROCESS = "hostile"
HERE = f"/processes/{PROCESS}"
SAMPLES = ("harbour-summary", "graphrag-energy", "pump-log")
PLAIN = [0, 1, 2, 4, 5, 6, 7, 13, 15]
"""Payloads without a character that is shown as a symbol."""
REPORTS = ("html", "md", "csv", "json", "xml")
LOOK = """() => ({
  hit: window.__hit ?? null,
  wrong: [...document.querySelectorAll(
    'hostile-mark, iframe, object, embed, base, meta[http-equiv=refresh], [data-hostile], [style]'
    + ', [onerror], [onload], [onclick], [srcdoc], [href^="javascript:" i], [src^="//"]'
  )].map((one) => one.outerHTML.slice(0, 200)),
  text: document.body.innerText,
})"""


@pytest.fixture(scope="module")
def crawl(home: Veritrail, site: ServiceProcess, tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    """A page of every kind: of the process where it has one, else of the samples or of none."""
    home("ingest", hostile_process(tmp_path_factory.mktemp("hostile") / "hostile.json"))
    with httpx2.Client(base_url=site.url, timeout=60, trust_env=False) as client:
        reports = [f"{HERE}/report.{kind}" for kind in REPORTS]
        crawl = Crawl(client, each=1).walk(HERE, *reports)
        return crawl.walk("/", *(f"/processes/{name}" for name in SAMPLES))


def test_no_link_is_broken_nothing_is_markup_and_every_answer_carries_a_policy(
    crawl: Crawl,
) -> None:
    assert not crawl.faults
    kinds = Counter(kind_of(address).partition("?")[0] for address in crawl.pages())
    for page in ("/processes/*", "/processes/*/claims/*", "/processes/*/graph"):
        assert kinds[page], kinds
    assert kinds["/processes/*/nodes/*"], kinds
    for address in crawl.pages():
        policy = crawl.answers[address].headers["content-security-policy"]
        assert "default-src 'none'" in policy, address
        assert "unsafe" not in policy, address
        assert crawl.answers[address].headers["x-content-type-options"] == "nosniff", address


@pytest.mark.usefixtures("crawl")
def test_a_hostile_claim_is_shown_as_it_reads(site: ServiceProcess) -> None:
    for number in PLAIN:
        got = site.get(f"{HERE}/claims/k{number}")
        assert got.status_code == 200
        assert PAYLOADS[number] not in got.text or "<" not in PAYLOADS[number]
        assert " ".join(PAYLOADS[number].split()) in " ".join(unescape(got.text).split())
        assert Links(got.text).wrong == []


@pytest.mark.usefixtures("crawl")
def test_a_node_of_any_id_has_a_page(site: ServiceProcess) -> None:
    for node_id in NODE_IDS:
        asked = {"node_ids": [node_id]}
        found = site.post(f"/v1{HERE}/nodes:batchGet", json=asked).json()
        assert [node["node_id"] for node in found["nodes"]] == [node_id]
        got = site.get(url("processes", PROCESS, "nodes", node_id))
        assert (got.status_code, Links(got.text).wrong) == (200, []), node_id


def test_nothing_runs_on_any_page(page: Page, crawl: Crawl) -> None:
    for address in _some(crawl):
        page.goto(address)
        _poke(page)
        found = page.evaluate(LOOK)
        assert found["hit"] is None, address
        assert found["wrong"] == [], address
        assert "49#49" not in found["text"], address


@pytest.mark.usefixtures("crawl")
def test_nothing_runs_in_a_report_or_a_dossier_opened_from_a_file(
    page: Page, site: ServiceProcess, tmp_path: Path
) -> None:
    names = [f"{HERE}/report.html", f"{HERE}/dossier.html"]
    names += [f"{HERE}/claims/k{number}/dossier.html" for number in (0, 1, 3)]
    for number, name in enumerate(names):
        got = site.get(name)
        assert got.status_code == 200, name
        file = tmp_path / f"{number}.html"
        file.write_bytes(got.content)
        page.goto(file.as_uri())
        _poke(page)
        found = page.evaluate(LOOK)
        assert (found["hit"], found["wrong"]) == (None, []), name
        assert page.locator("meta[http-equiv=Content-Security-Policy]").count() == 1, name


def test_nothing_runs_on_the_docs_page(
    page: Page, site: ServiceProcess, expected_faults: list[str]
) -> None:
    expected_faults += ["status of 404", "(?i)content security policy"]  # what the policy refuses
    title, hostile = " ".join(PAYLOADS[:8]), "\n\n".join(PAYLOADS[:8])
    told = site.get("/openapi.json").json()
    told["info"] |= {"title": title, "description": hostile}
    told["tags"] = [{"name": tag["name"], "description": hostile} for tag in told["tags"]]
    # A few operations without their schemas show it as well as all, and are drawn in no time.
    told["paths"] = dict(list(told["paths"].items())[:8])
    told["components"] = {}
    for calls in told["paths"].values():
        for call in calls.values():
            call |= {"summary": title, "description": hostile}
            call["responses"] = {"200": {"description": hostile}}
            for part in ("requestBody", "parameters"):
                call.pop(part, None)
    page.route("**/openapi.json", lambda route: route.fulfill(json=told))
    page.goto("/docs")
    page.locator(".opblock-summary").first.click()
    page.locator(".opblock-description").first.wait_for(state="attached")
    assert title in page.locator("h1.title").inner_text()
    assert title in page.locator(".opblock-summary-description").first.inner_text()
    found = page.evaluate(LOOK.replace(", [style]", ""))
    assert (found["hit"], found["wrong"]) == (None, [])


def _some(crawl: Crawl) -> list[str]:
    """An address of the process of every kind."""
    chosen: dict[str, str] = {}
    for address in crawl.pages():
        is_file = "attachment" in crawl.answers[address].headers.get("content-disposition", "")
        if address.startswith(HERE) and not is_file:
            chosen.setdefault(kind_of(address).partition("?")[0], address)
    return list(chosen.values())


def _poke(page: Page) -> None:
    """Do what may wake a script up: point at things, press keys, open what is folded."""
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    for one in page.locator("main a:visible, main button[type=button]:visible").all()[:6]:
        one.hover(timeout=2_000, force=True)
    for key in ("?", "Escape"):
        page.keyboard.press(key)
