"""A person reviews with the keyboard alone: blind, with a slip and a draft, on to the agreement."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from fakes.browser import PHONE, serious
from fakes.service_process import ServiceProcess
from playwright.sync_api import Page, expect

pytestmark = [pytest.mark.engine, pytest.mark.slow]

REVIEW = "/processes/pump-log/review"
Shoot = Callable[..., None]


def begin(page: Page, name: str, address: str = REVIEW) -> None:
    """Say who reviews; blind is what is offered."""
    page.goto(address)
    page.get_by_label("Your name").fill(name)
    expect(page.get_by_label("Review blind")).to_be_checked()
    page.keyboard.press("Enter")
    expect(page.locator(".who-name")).to_have_text(name)


def opened(page: Page) -> str:
    return page.locator("[data-review]").get_attribute("data-claim") or ""


def expect_opened(page: Page, claim: str) -> None:
    expect(page.locator(f'[data-review][data-claim="{claim}"]')).to_be_attached()
    page.wait_for_load_state()  # keys mean something when the script of the page has run


def test_a_person_reviews_blind_by_keyboard_alone(
    page: Page, site: ServiceProcess, shoot: Shoot
) -> None:
    begin(page, "Ada")
    expect_opened(page, "k0")
    expect(page.locator(".mark-hidden")).to_be_visible()
    expect(
        page.locator(".mark:not(.mark-hidden):not(.mark-unchecked):not(.mark-failed)")
    ).to_have_count(0)
    shoot(page, "review-blind")

    page.keyboard.press("j")
    expect_opened(page, "k1")
    page.keyboard.press("k")
    expect_opened(page, "k0")
    page.keyboard.press("k")
    expect(page.locator("[data-told]")).to_have_text("This is the first claim of the list.")

    page.keyboard.press("ArrowRight")
    expect(page.locator("[data-levels] > li").first).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(page.locator("[data-levels] > li").first).to_be_focused()

    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect_opened(page, "k0")

    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-told]")).to_contain_text("Choose a verdict first")
    page.keyboard.press("3")
    expect(page.get_by_role("radio", name="Inconclusive")).to_be_checked()
    page.keyboard.press("r")
    page.keyboard.type("j 1 2 k? One number is not given.")
    expect(page.get_by_role("radio", name="Inconclusive")).to_be_checked()
    page.keyboard.press("Control+Enter")
    expect_opened(page, "k1")
    saved = page.locator(".saved")
    expect(saved).to_contain_text("Saved k0")
    expect(saved.locator(".beside .mark")).to_have_count(2)
    shoot(page, "review-saved")
    kept = site.get("/v1/processes/pump-log/claims/k0/reviews").json()["reviews"]
    assert [(one["reviewer"], one["verdict"], one["reason"]) for one in kept] == [
        ("Ada", "INCONCLUSIVE", "j 1 2 k? One number is not given.")
    ]

    # What is typed outlives a reload, and goes when it is saved.
    page.keyboard.press("2")
    page.keyboard.press("r")
    page.keyboard.type("Half a thought")
    page.reload()
    expect(page.get_by_label("Reason")).to_have_value("Half a thought")
    expect(page.get_by_role("radio", name="Not Fully Supported")).to_be_checked()
    page.keyboard.press("Control+Enter")
    expect_opened(page, "k2")
    page.keyboard.press("k")
    expect_opened(page, "k1")
    expect(page.get_by_label("Reason")).to_have_value("")

    # In the list, without opening the claim.
    page.locator("#row-k3").get_by_role("button", name="Fully Supported: k3", exact=True).click()
    expect(page.locator("#row-k3 .is-said")).to_have_count(1)
    expect_opened(page, "k1")

    # A failed claim, and one that was not checked, have no verdict to compare with.
    page.locator("#row-k5 a").click()
    expect_opened(page, "k5")
    page.keyboard.press("1")
    expect(page.locator("[data-told]")).to_contain_text("only 4 can be said")

    page.get_by_role("link", name="Agreement").click()
    expect(page.get_by_role("heading", name="Disagreements")).to_be_visible()
    shoot(page, "agreement", whole=True)


def test_single_keys_can_be_switched_off(page: Page, site: ServiceProcess) -> None:
    begin(page, "Bo", f"{REVIEW}?claim=k6")
    page.get_by_text("Keys, and what blind mode hides").click()
    page.get_by_label("Single keys work on this page").uncheck()
    page.locator("h1").click()
    page.keyboard.press("j")
    page.keyboard.press("1")
    expect_opened(page, "k6")
    expect(page.get_by_role("radio", checked=True)).to_have_count(0)
    page.reload()
    page.keyboard.press("2")
    expect(page.get_by_role("radio", checked=True)).to_have_count(0)
    page.get_by_text("Not Fully Supported", exact=True).first.click()
    page.keyboard.press("Control+Enter")
    expect(page.locator(".saved")).to_contain_text("Saved k6")


def test_on_a_phone_and_in_the_dark_nothing_is_wider_than_the_screen(
    open_page: Callable[..., Page], site: ServiceProcess, shoot: Shoot
) -> None:
    phone = open_page(site.url, color_scheme="dark", **PHONE)
    begin(phone, "Cy", f"{REVIEW}?claim=k7")
    for address, name in (
        (f"{REVIEW}?claim=k7", "review"),
        ("/processes/pump-log/agreement", "agreement"),
    ):
        phone.goto(address)
        assert phone.evaluate("document.documentElement.scrollWidth") <= 390
        shoot(phone, f"{name}-phone-dark", whole=True)


def test_without_scripts_everything_can_still_be_done(
    open_page: Callable[..., Page], site: ServiceProcess
) -> None:
    plain = open_page(site.url, java_script_enabled=False)
    begin(plain, "Di", f"{REVIEW}?claim=k8")
    plain.get_by_text("Inconclusive", exact=True).first.click()
    plain.get_by_label("Reason").fill("I read it.")
    plain.get_by_role("button", name=re.compile("Save and next")).click()
    expect(plain.locator(".saved")).to_contain_text("Saved k8")
    expect_opened(plain, "k9")
    plain.get_by_role("link", name=re.compile("Previous")).click()
    expect_opened(plain, "k8")
    assert len(site.get("/v1/processes/pump-log/claims/k8/reviews").json()["reviews"]) == 1


@pytest.mark.soak
def test_the_pages_of_a_reviewer_have_no_serious_fault_of_access(
    page: Page, site: ServiceProcess
) -> None:
    begin(page, "Eve", f"{REVIEW}?claim=k2")
    agreement = "/processes/pump-log/agreement"
    for address in (f"{REVIEW}?claim=k2", f"{REVIEW}?claim=k2&blind=0", agreement):
        page.goto(address)
        assert not serious(page), address
