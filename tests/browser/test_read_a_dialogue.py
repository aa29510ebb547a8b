"""A person reads a conversation by keyboard, follows a contradiction both ways, and on a phone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from acceptance.command import Veritrail
from acceptance.model_fixtures import asking
from fakes.browser import PHONE, serious
from fakes.dialogues import SAMPLE, DialogueReader
from fakes.model_server import ModelServer
from fakes.service_process import ServiceProcess
from playwright.sync_api import Page, expect

pytestmark = [pytest.mark.engine, pytest.mark.slow]

DIALOGUE = "/processes/lindholm-dialogue/dialogue"
DENIES = "The Lindholm Tram Museum is open on Mondays."
SAID = "The Lindholm Tram Museum is closed on Mondays."
WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def verified(home: Veritrail, site: ServiceProcess) -> ServiceProcess:
    """The site with the sample dialogue, verified with the check of its turns."""
    home("ingest", str(SAMPLE))
    with ModelServer(DialogueReader()) as server:
        home("dialogue", "verify", "lindholm-dialogue", "--turn-check", **asking(server))
    return site


def test_a_person_follows_a_contradiction_by_keyboard_and_opens_the_background(
    verified: ServiceProcess, page: Page, shoot: Callable[..., None]
) -> None:
    page.goto("/processes/lindholm-dialogue")
    page.get_by_role("link", name="Conversation", exact=True).press("Enter")
    expect(page.get_by_role("heading", name="Conversation")).to_be_visible()
    expect(page.get_by_role("img", name="Score over all turns")).to_be_visible()
    shoot(page, "dialogue", whole=True)
    page.get_by_role("link", name="Later turns").first.press("Enter")
    denies = page.locator(".turn-claim").filter(has_text=DENIES)
    denies.get_by_role("link", name="turn 4").press("Enter")
    said = page.locator(".turn-claim:target")
    expect(said).to_contain_text(SAID)
    expect(said).to_be_in_viewport()
    said.get_by_role("link", name="turn 24").press("Enter")
    expect(page.locator(".turn-claim:target")).to_contain_text(DENIES)
    page.locator(".turn-claim:target").get_by_role("link", name="Compared with").press("Enter")
    expect(page.locator(".background")).to_contain_text(SAID)
    expect(page.locator(".turn-claim:target")).to_be_in_viewport()
    assert not serious(page)
    shoot(page, "dialogue-background")
    page.get_by_label("Results of").select_option(index=1)
    page.get_by_role("button", name="Show").press("Enter")
    expect(page.get_by_label("Results of")).not_to_have_value("")
    page.get_by_role("link", name="Verify again").press("Enter")
    expect(page.get_by_label("Engine")).to_have_value("lexical")
    assert not serious(page)
    shoot(page, "dialogue-verify", whole=True)


def test_on_a_phone_in_the_dark_and_without_scripts_it_can_be_read(
    verified: ServiceProcess, open_page: Callable[..., Page], shoot: Callable[..., None]
) -> None:
    phone = open_page(verified.url, color_scheme="dark", **PHONE)
    phone.goto(f"{DIALOGUE}?turn=24")
    assert phone.evaluate(WIDER) <= 1
    assert not serious(phone)
    shoot(phone, "dialogue-phone-dark", whole=True)
    plain = open_page(verified.url, java_script_enabled=False, **PHONE)
    plain.goto(f"{DIALOGUE}?turn=24#turn-24")
    shoot(plain, "dialogue-phone")
    plain.locator(".turn-claim").filter(has_text=DENIES).get_by_role("link", name="turn 4").click()
    expect(plain.locator(".turn-claim:target")).to_contain_text(SAID)
    expect(plain.locator(".turn-claim:target")).to_be_in_viewport()
    plain.get_by_text("The figures of the chart").click()
    expect(plain.get_by_role("cell", name="0.50").first).to_be_visible()


LABELS = f"{DIALOGUE}/labels"


def test_a_person_labels_a_turn_by_keyboard_and_on_a_phone_without_scripts(
    verified: ServiceProcess,
    page: Page,
    open_page: Callable[..., Page],
    shoot: Callable[..., None],
    expected_faults: list[str],
) -> None:
    expected_faults.append("status of 422")
    page.goto(DIALOGUE)
    page.get_by_role("link", name="Labels", exact=True).press("Enter")
    page.get_by_label("Your name").fill("Ada")
    page.get_by_role("button", name="Begin").press("Enter")
    page.goto(f"{LABELS}/turn?number=24")
    first = page.locator(".claim-card").first
    expect(first.get_by_label("The claim as it should be")).to_be_hidden()
    first.get_by_label("Edit").press("Space")
    first.get_by_label("The claim as it should be").fill("The museum is open next Monday.")
    first.get_by_label("Contradicted").press("Space")
    page.get_by_role("button", name="Save and go on").press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("Claim 2 has no answer")
    expect(first.get_by_label("The claim as it should be")).to_have_value(
        "The museum is open next Monday."
    )
    assert not serious(page)
    shoot(page, "labels", whole=True)
    page.locator(".claim-card").nth(1).get_by_label("Delete").press("Space")
    page.get_by_role("button", name="Save and go on").press("Enter")
    expect(page.get_by_role("heading", name="Label turn 26")).to_be_visible()
    page.goto(LABELS)
    expect(page.get_by_role("listitem").filter(has_text="turn 24")).to_contain_text("labelled")
    assert not serious(page)
    known = {"storage_state": page.context.storage_state(), **PHONE}
    phone = open_page(verified.url, color_scheme="dark", **known)
    for place in (LABELS, f"{LABELS}/turn?number=24"):
        phone.goto(place)
        assert phone.evaluate(WIDER) <= 1
    assert not serious(phone)
    shoot(phone, "labels-phone-dark", whole=True)
    plain = open_page(verified.url, java_script_enabled=False, **known)
    plain.goto(f"{LABELS}/turn?number=30")
    plain.get_by_role("button", name="More rows for new claims").click()
    expect(plain.locator(".claim-card")).to_have_count(6)
    plain.get_by_label("This turn makes no claim").check()
    plain.get_by_role("button", name="Save and go on").click()
    expect(plain.get_by_role("listitem").filter(has_text="turn 30")).to_contain_text("labelled")
