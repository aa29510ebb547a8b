"""What a person does first: sign in, upload a process, verify it, watch it, stop it, go on."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from acceptance.command import Veritrail
from acceptance.homes import home_beside
from acceptance.model_fixtures import asking, pumps
from fakes import browser as browsers
from fakes.model_server import ModelServer, Received
from fakes.service_process import ServiceProcess, serving
from playwright.sync_api import Page, Route, expect

ROWS = Path(__file__).resolve().parents[2] / "examples" / "rag.jsonl"
CLAIMS = 8
QUICK = re.compile("Claim: Pump[012] ")


@dataclass(frozen=True)
class Desk:
    """A service that asks for keys and has a model that takes its time."""

    service: ServiceProcess
    veritrail: Veritrail
    key: str
    file: Path
    hurry: Event


@pytest.fixture(scope="module")
def desk(home: Veritrail, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    file = tmp_path_factory.mktemp("desk") / "pump-desk.json"
    hurry = Event()

    def latency(asked: Received) -> float:
        """The first claims are quick, the others when the test lets them."""
        return 0.02 if hurry.is_set() or QUICK.search(asked.user) else 3.0

    with home_beside(home) as veritrail, ModelServer(latency=latency) as server:
        pumps(file, CLAIMS)
        words = ("--scope", "read,write,verify", "--json")
        key = veritrail("keys", "create", "--name", "Ada", *words).json["key"]
        settings = {**asking(server), "VERITRAIL_CONCURRENCY": "32"}
        with serving(veritrail, env=settings) as service:
            service.until_ready()
            yield Desk(service, veritrail, key, file, hurry)


STREAM = """window.EventSource = class extends EventSource {
  constructor(address) { super(address); window.stream = this; }
};"""
"""Lets a test say that something happened."""

SENT_ONCE = """() => {
  const form = document.createElement("form");
  form.dataset.once = "";
  document.querySelector("[data-live=actions]").append(form);
  const found = [];
  form.dispatchEvent(new Event("submit", { bubbles: true, cancelable: true }));
  found.push(form.getAttribute("aria-busy"));
  dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }));
  found.push(form.getAttribute("aria-busy"));
  return found;
}"""
"""What becomes of a form that came after the page: it is sent once, and again after going back."""


def asked_less_and_less_often(page: Page, address: str, expected_faults: list[str]) -> None:
    """A job that cannot be read is asked for less and less, one that was removed not again."""
    status, asked = 500, 0

    def answered(route: Route) -> None:
        nonlocal asked
        asked += 1
        route.fulfill(status=status, body="no")

    expected_faults += ["status of 500", "status of 404"]
    page.clock.install()
    page.goto(address)
    page.route(address, answered)
    page.clock.run_for(16_000)
    for _ in range(10):
        page.wait_for_timeout(60)
        page.clock.run_for(4_000)
    assert 2 <= asked <= 6
    status = 404
    page.clock.run_for(61_000)
    expect(page.get_by_role("alert")).to_have_text("This job is not there any more.")
    asked = 0
    page.clock.run_for(90_000)
    page.wait_for_timeout(40)
    assert asked == 0
    page.close()


def sign_in(page: Page, desk: Desk) -> None:
    page.get_by_label("Key").fill(desk.key)
    page.get_by_role("button", name="Sign in").click()


def test_a_process_is_uploaded_verified_watched_stopped_and_resumed(
    desk: Desk, open_page: Callable[..., Page], shoot: Callable[..., None], expected_faults: Any
) -> None:
    page = open_page(desk.service.url)
    page.goto("/upload")
    expect(page).to_have_title("Sign in · VeriTrail")
    shoot(page, "sign-in")
    sign_in(page, desk)
    expect(page.get_by_role("heading", level=1)).to_have_text("Upload a process")

    # A file with a fault: described in words, with nothing stored and the file still chosen.
    whole = json.loads(desk.file.read_text(encoding="utf-8"))
    whole["edges"].append({"source": "<img src=x onerror=alert(1)>", "target": "nowhere"})
    broken = desk.file.with_name("broken.json")
    broken.write_text(json.dumps(whole), encoding="utf-8")
    expected_faults.append("status of 422")
    page.set_input_files("#file", broken)
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_role("alert")).to_contain_text("Nothing was stored")
    expect(page.get_by_role("alert")).to_contain_text("<img src=x onerror=alert(1)>")
    assert page.evaluate("document.querySelector('#file').files[0].name") == "broken.json"
    shoot(page, "upload-refused")

    # A file of another format, which holds several processes.
    page.set_input_files("#file", ROWS)
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_text("Several processes: 2 stored, 0 not")).to_be_visible()
    expect(page.get_by_text("rag.jsonl#2: p-")).to_be_visible()
    shoot(page, "upload-many")

    page.set_input_files("#file", desk.file)
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_text("It is stored")).to_be_visible()
    shoot(page, "upload")
    page.get_by_role("link", name="Verify its claims").click()
    shoot(page, "verify")
    expect(page.get_by_label("Statements to check, one on a line")).to_be_hidden()
    page.get_by_label("Statements that I type in").check()
    expect(page.get_by_label("Statements to check, one on a line")).to_be_visible()
    page.get_by_label("Stored claims without a verdict").check()
    page.get_by_role("button", name="Next: what it may cost").click()
    expect(page.get_by_role("row", name="Likely")).to_contain_text("unknown")
    shoot(page, "verify-cost")
    # The first stream of events fails, as while the service is started anew; it is asked for again.
    expected_faults.append("status of 503")
    page.route("**/events?*", lambda route: route.fulfill(status=503, body="away"), times=1)
    page.add_init_script(STREAM)
    with page.expect_response(lambda got: "/events?" in got.url and got.ok):
        page.get_by_role("button", name="Start").click()

    # It is followed without loading the page again; what stays the same is not even replaced.
    expect(page.get_by_text("Being checked").first).to_be_visible()
    page.evaluate("window.isTheSamePage = true")
    kept = ("[data-live=actions] button", "[data-live=state] [role=status]")
    for part in kept:
        page.locator(part).evaluate("(part) => { part.isTheSame = true; }")
    page.get_by_role("button", name="Cancel").focus()
    with page.expect_response(page.url):
        page.evaluate("stream.dispatchEvent(new Event('claim.started'))")
    page.wait_for_timeout(300)
    expect(page.get_by_role("status")).to_contain_text(f"3 of {CLAIMS} claims", timeout=30_000)
    shoot(page, "job")
    assert page.evaluate("window.isTheSamePage") is True
    assert all(page.locator(part).evaluate("(part) => part.isTheSame === true") for part in kept)
    expect(page.get_by_role("button", name="Cancel")).to_be_focused()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("button", name="Resume")).to_be_visible()
    expect(page.get_by_role("status")).to_contain_text("Cancelled")
    shoot(page, "job-cancelled", whole=True)
    asked_less_and_less_often(page.context.new_page(), page.url, expected_faults)
    desk.hurry.set()
    watcher = page.context.new_page()
    watcher.clock.install()
    watcher.goto(page.url)
    expect(watcher.get_by_role("status")).to_contain_text("Cancelled")
    page.get_by_role("button", name="Resume").click()
    expect(page.get_by_role("status")).not_to_contain_text("Cancelled")
    watcher.clock.run_for(16_000)
    expect(watcher.get_by_role("status")).not_to_contain_text("Cancelled")
    assert watcher.evaluate(SENT_ONCE) == ["true", None]
    watcher.close()
    expect(page.get_by_role("link", name="See the result")).to_be_visible(timeout=60_000)
    expect(page.get_by_role("status")).to_contain_text(f"{CLAIMS} of {CLAIMS} claims")
    assert "$0" not in page.inner_text("main")
    page.get_by_role("link", name="See the result").click()
    expect(page).to_have_url(f"{desk.service.url}/processes/pump-desk")

    # The choice of colours stays, and signing out closes the door.
    page.goto("/")
    page.get_by_role("button", name="Light or dark").click()
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    shoot(page, "processes-dark")
    page.get_by_role("button", name="Sign out").click()
    expect(page).to_have_title("Sign in · VeriTrail")
    page.goto("/upload")
    expect(page).to_have_title("Sign in · VeriTrail")

    # A session that ends while a file is chosen: the way back in is a link.
    sign_in(page, desk)
    page.set_input_files("#file", desk.file)
    page.context.clear_cookies()
    page.get_by_role("button", name="Upload").click()
    expect(page.locator("[data-said]").get_by_role("link", name="Sign in")).to_be_visible()


def test_everything_works_on_a_phone_without_scripts(
    desk: Desk, open_page: Callable[..., Page], shoot: Callable[..., None]
) -> None:
    desk.hurry.set()
    page = open_page(desk.service.url, java_script_enabled=False, **browsers.PHONE)
    page.goto("/upload")
    sign_in(page, desk)
    page.set_input_files("#file", pumps(desk.file.with_name("few.json"), 2))
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_text("It is stored")).to_be_visible()
    shoot(page, "upload-phone")
    page.get_by_role("link", name="Verify its claims").click()
    shoot(page, "verify-phone")
    page.get_by_role("button", name="Next: what it may cost").click()
    page.get_by_role("button", name="Start").click()
    # The page loads itself again until it has ended.
    expect(page.get_by_role("link", name="See the result")).to_be_visible(timeout=60_000)
    shoot(page, "job-phone")
    page.goto("/")
    expect(page.get_by_role("link", name="few", exact=False).first).to_be_visible()
    shoot(page, "processes-phone")
