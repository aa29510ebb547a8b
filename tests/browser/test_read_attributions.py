"""A person reads what a text rests on by keyboard, judges it in a study, and reads on a phone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from acceptance.command import Veritrail
from acceptance.model_fixtures import asking
from fakes.attributing import SAMPLE, AttributionReader
from fakes.browser import PHONE, serious
from fakes.model_server import ModelServer
from fakes.service_process import ServiceProcess
from playwright.sync_api import Page, expect

pytestmark = [pytest.mark.engine, pytest.mark.slow]

PROCESS = "harbour-attribution"
READING = f"/processes/{PROCESS}/nodes/summary/attribution"
WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def attributed(home: Veritrail, site: ServiceProcess) -> ServiceProcess:
    """The site with the sample of attribution, judged and corrected."""
    home("ingest", str(SAMPLE))
    with ModelServer(AttributionReader()) as server:
        home("attribute", PROCESS, "--judge", "--correct", **asking(server))
    return site


def test_a_person_reads_by_keyboard_what_each_sentence_rests_on(
    attributed: ServiceProcess, page: Page, shoot: Callable[..., None]
) -> None:
    page.goto(READING)
    links = page.locator(".sentence-link")
    links.first.focus()
    page.keyboard.press("Enter")
    expect(links.nth(0)).to_have_attribute("aria-current", "true")
    expect(page.locator("mark")).to_have_text("1 evidence: The board met on 4 March.")
    page.keyboard.press("ArrowDown")
    expect(links.nth(1)).to_have_attribute("aria-current", "true")
    expect(links.nth(1)).to_be_focused()
    expect(page.locator("mark")).to_contain_text("near match: It may close the east quay")
    expect(page.locator("mark")).to_be_in_viewport()
    expect(page.locator("ins")).to_have_text("may")
    expect(page.locator("[data-told]")).to_contain_text("unfaithful")
    assert "sentence=1" in page.url
    assert not serious(page)
    shoot(page, "attribution")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")  # the end is told, also while the first sentence is on its way
    expect(links.nth(0)).to_have_attribute("aria-current", "true")
    expect(page.locator("[data-told]")).to_contain_text("This is the first sentence")
    page.go_back()
    expect(links.nth(1)).to_have_attribute("aria-current", "true")
    links.nth(4).click()
    expect(page.locator("#open")).to_contain_text("It rests on nothing")
    expect(page.locator("mark")).to_have_count(0)


def test_on_a_phone_in_the_dark_and_without_scripts_it_can_be_read(
    attributed: ServiceProcess, open_page: Callable[..., Page], shoot: Callable[..., None]
) -> None:
    phone = open_page(attributed.url, color_scheme="dark", **PHONE)
    phone.goto(f"{READING}?sentence=5")
    assert phone.evaluate(WIDER) <= 1
    assert not serious(phone)
    shoot(phone, "attribution-phone-dark", whole=True)
    plain = open_page(attributed.url, java_script_enabled=False, **PHONE)
    plain.goto(READING)
    plain.get_by_role("link", name="The board raised").click()
    plain.get_by_role("link", name="See it in the source").click()
    expect(plain.locator("mark")).to_contain_text("contradiction")
    expect(plain.locator("mark")).to_be_in_viewport()
    plain.get_by_role("link", name="Back to the sentence").click()
    expect(plain.locator("#open")).to_be_in_viewport()


def test_a_reader_judges_in_a_study_by_keyboard(
    attributed: ServiceProcess, page: Page, shoot: Callable[..., None]
) -> None:
    page.goto(f"/processes/{PROCESS}/studies")
    assert not serious(page)
    page.get_by_label("Annotate").check()
    page.get_by_role("button", name="Make the study").press("Enter")
    page.get_by_label("Your name").fill("Ada")
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Go on").press("Enter")
    expect(page.get_by_role("button", name="Start")).to_be_focused()
    expect(page.locator("body")).not_to_contain_text("The board met on 4 March.")
    with page.expect_request(lambda one: "act=heartbeat" in (one.post_data or "")) as heard:
        page.keyboard.press("Enter")
    response = heard.value.response()
    assert response is not None
    assert response.status == 204
    expect(page.get_by_role("heading", name="The board met on 4 March.")).to_be_focused()
    expect(page.locator("[data-clock-words]")).not_to_have_text("0:00")
    assert not serious(page)
    shoot(page, "study")
    page.get_by_label("evidence").first.press("Space")
    page.get_by_label("Faithful", exact=True).press("Space")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", name="The east quay will close")).to_be_focused()
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate(WIDER) <= 1
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    for name in ("Save and start the next", "Pause"):  # they stay in reach behind the sources
        expect(page.get_by_role("button", name=name)).to_be_in_viewport(ratio=1)
    expect(page.get_by_text("Back to the answer")).to_be_in_viewport(ratio=1)
    shoot(page, "study-phone")
    page.get_by_role("button", name="Pause").press("Enter")
    expect(page.get_by_role("heading", name="Paused")).to_be_visible()
    expect(page.locator("body")).not_to_contain_text("The east quay will close")
    page.get_by_role("link", name="Study", exact=True).click()
    expect(page.get_by_text("1 of 6").first).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="Annotations").click()
    assert '"EVIDENCE"' in Path(download.value.path()).read_text(encoding="utf-8")
