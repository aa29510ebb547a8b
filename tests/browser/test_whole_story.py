"""One person's afternoon: from a file of a pipeline to a report that is handed on."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from acceptance.command import Veritrail
from fakes.service_process import ServiceProcess
from playwright.sync_api import Page, expect

pytestmark = [pytest.mark.engine, pytest.mark.slow]

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "harbour-summary.json"
WRONG = "The ferry Lady Brae was built in Gdańsk."


@pytest.mark.soak
def test_upload_verify_follow_a_claim_review_and_hand_on_a_report(
    page: Page, home: Veritrail, site: ServiceProcess, tmp_path: Path, shoot: Callable[..., None]
) -> None:
    process_id = "harbour-story"
    _upload(page, tmp_path, process_id)
    _verify_and_watch(page, shoot)
    _open_a_claim_and_step_through(page, shoot)
    _follow_into_the_graph(page, shoot)
    _review_by_keyboard(page, site, process_id, shoot)
    _hand_on_a_report(page, process_id, tmp_path, shoot)


def _upload(page: Page, folder: Path, process_id: str) -> None:
    file = folder / "harbour.json"
    document = {**json.loads(EXAMPLE.read_text(encoding="utf-8")), "process_id": process_id}
    file.write_text(json.dumps(document), encoding="utf-8")
    page.goto("/")
    page.get_by_role("link", name="Upload").first.click()
    page.set_input_files("input[type=file]", file)
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_text("33 nodes").first).to_be_visible()
    page.get_by_role("link", name="Verify its claims").click()


def _verify_and_watch(page: Page, shoot: Callable[..., None]) -> None:
    page.get_by_label(re.compile("All claims|All stored|24 are stored", re.IGNORECASE)).check()
    page.get_by_label("Engine", exact=True).select_option("lexical")
    page.get_by_role("button", name="Next: what it may cost").click()
    expect(page.get_by_text("It costs nothing: no model is asked.")).to_be_visible()
    page.get_by_role("button", name="Start").click()
    expect(page).to_have_url(re.compile("/jobs/"))
    shoot(page, "story-1-watching")
    expect(page.get_by_text("24 of 24 claims")).to_be_visible(timeout=60_000)
    page.get_by_role("link", name="See the result").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Harbour of Tarnmouth")
    shoot(page, "story-2-process")


def _open_a_claim_and_step_through(page: Page, shoot: Callable[..., None]) -> None:
    page.get_by_role("link", name=re.compile(r"^Not Fully Supported \d")).click()
    expect(page).to_have_url(re.compile("verdict=not-supported|verdict=NOT"))
    page.get_by_role("listitem").filter(has_text=WRONG).get_by_role("link", name=WRONG).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(WRONG)
    expect(page.locator("main")).to_contain_text("introduced at")
    page.get_by_role("link", name=re.compile("^Iteration 1")).first.click()
    expect(page).to_have_url(re.compile("iteration=1"))
    expect(page.get_by_role("heading", name="The trail after iteration 1")).to_be_visible()
    page.get_by_role("link", name=re.compile("^Iteration 2")).first.click()
    expect(page).to_have_url(re.compile("iteration=2"))
    page.go_back()
    expect(page).to_have_url(re.compile("iteration=1"))
    shoot(page, "story-3-claim")


def _follow_into_the_graph(page: Page, shoot: Callable[..., None]) -> None:
    page.get_by_role("link", name="Graph", exact=True).click()
    expect(page).to_have_url(re.compile(r"/graph\?claim="))
    expect(page.locator("main svg").first).to_be_visible()
    expect(page.locator("main")).to_contain_text("introduced here")
    shoot(page, "story-4-graph")
    page.get_by_role("rowheader").get_by_role("link").first.click()
    opened = page.get_by_role("link", name="Open the node")
    if opened.count():  # a click on the row chooses the node, in the drawing too
        opened.click()
    expect(page).to_have_url(re.compile("/nodes/"))


def _review_by_keyboard(
    page: Page, site: ServiceProcess, process_id: str, shoot: Callable[..., None]
) -> None:
    page.goto(f"/processes/{process_id}/review")
    page.get_by_label("Your name").fill("Ada")
    page.get_by_role("button", name="Begin").click()
    first = page.locator("#claim-heading").inner_text()
    page.keyboard.press("j")
    expect(page.locator("#claim-heading")).not_to_have_text(first)
    page.keyboard.press("k")
    expect(page.locator("#claim-heading")).to_have_text(first)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("1")
    page.keyboard.press("r")
    page.keyboard.type("I read the source.")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text(re.compile("^Saved")).first).to_be_visible()
    expect(page.locator("#claim-heading")).not_to_have_text(first)
    shoot(page, "story-5-review")
    stored = site.get(f"/v1/processes/{process_id}/reviews").json()["reviews"]
    assert [(one["reviewer"], one["reason"]) for one in stored] == [("Ada", "I read the source.")]
    assert [one["claim"] for one in stored] == [first]


def _hand_on_a_report(
    page: Page, process_id: str, folder: Path, shoot: Callable[..., None]
) -> None:
    page.goto(f"/processes/{process_id}")
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Report", exact=True).click()
    report = folder / "report.html"
    waiting.value.save_as(report)
    page.goto(report.as_uri())
    expect(page.get_by_role("heading", level=1)).to_contain_text("Harbour of Tarnmouth")
    expect(page.get_by_text(WRONG).first).to_be_visible()
    shoot(page, "story-6-report")
