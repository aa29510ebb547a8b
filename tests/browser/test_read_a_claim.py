"""Somebody reads an answer, opens what is not supported, and follows it to its source."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from fakes.browser import PHONE
from fakes.service_process import ServiceProcess
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.engine


def test_from_an_answer_to_the_sentence_in_the_source(
    page: Page, site: ServiceProcess, shoot: Callable[..., None]
) -> None:
    page.goto("/processes/harbour-summary")
    page.keyboard.press("n")
    expect(page).to_have_url(re.compile("#in-k04$"))
    picture = page.locator(".picture-side svg.vp-narrow")
    expect(picture).to_contain_text("48,200→84,200")
    page.keyboard.press("n")
    expect(page).to_have_url(re.compile("#in-(?!k04)"))
    expect(picture).not_to_contain_text("48,200→84,200")
    page.keyboard.press("p")
    expect(page).to_have_url(re.compile("#in-k04$"))
    expect(picture).to_contain_text("48,200→84,200")
    page.locator("a.in-text", has_text="84,200 cubic metres").hover()
    expect(page.locator(".claim-row.lit")).to_contain_text("Cornelis Bakker")
    shoot(page, "claim-1-process")
    page.get_by_role("link", name=re.compile(r"^Not Fully Supported \d")).click()
    expect(page.locator(".claim-row")).to_have_count(7)
    expect(page.locator(".u.aside").first).to_be_visible()
    page.locator("a.in-text", has_text="84,200 cubic metres").click()
    expect(page.locator(".verdict-row")).to_contain_text("introduced at chunk summary")
    # The answer is scrolled to the claim inside its own box, which stands below the reasons.
    page.locator(".answer-side").evaluate("(side) => side.scrollIntoView()")
    expect(page.locator(".answer-box .u-not-supported")).to_be_in_viewport()
    page.get_by_text("Every sentence of the trail").click()
    source = page.locator("article", has_text="removed 48,200 cubic metres")
    source.hover()
    expect(page.locator(".node-card.lit")).to_have_count(3)
    sentence = source.locator("a.ev")
    with page.context.expect_page() as other:
        sentence.click(modifiers=["ControlOrMeta"])
    expect(other.value).to_have_url(re.compile(r"#n3-\d+$"))
    expect(page.locator(".pinned")).to_have_count(0)
    other.value.close()
    sentence.click()
    expect(page).to_have_url(re.compile(r"#n3-\d+$"))
    expect(sentence).to_have_class(re.compile("pinned"))
    page.reload()
    expect(page.locator("a.ev.pinned")).to_contain_text("48,200")
    shoot(page, "claim-2-pinned")
    page.keyboard.press("Escape")
    expect(page.locator(".pinned")).to_have_count(0)
    page.locator("#comments > summary").click()
    page.locator("textarea[name=text]").press_sequentially("jn")  # typed, not gone on
    expect(page).to_have_url(re.compile("/claims/k04"))
    page.locator("h1").click()
    page.keyboard.press("j")
    expect(page).to_have_url(re.compile("/claims/k05"))


def test_an_answer_is_seen_at_once_with_the_picture_of_its_first_wrong_claim_beside_it(
    open_page: Callable[..., Page], site: ServiceProcess, shoot: Callable[..., None]
) -> None:
    page = open_page(site.url, java_script_enabled=False)
    page.goto("/processes/harbour-summary")
    text = page.locator(".answer").bounding_box()
    side = page.locator(".picture-side").bounding_box()
    assert text is not None
    assert side is not None
    assert text["y"] < 800 / 3
    assert side["x"] > text["x"] + text["width"]
    assert side["y"] < 800 / 3
    expect(page.locator(".picture-side svg.vp-narrow")).to_contain_text("48,200→84,200")
    page.locator(".menu summary").click()  # without scripts, too
    expect(page.locator(".menu").get_by_role("link", name="Review")).to_be_visible()
    shoot(page, "process-menu")
    phone = open_page(site.url, **PHONE)
    phone.goto("/processes/harbour-summary")
    expect(phone.locator(".answer")).to_be_in_viewport()


def test_a_picture_shows_the_error_and_a_click_opens_the_text_of_a_box(
    page: Page, site: ServiceProcess, shoot: Callable[..., None]
) -> None:
    page.goto("/processes/harbour-summary/claims/k04")
    picture = page.locator("svg.vp-wide")
    expect(picture).to_contain_text("48,200→84,200")
    expect(page.locator("svg.vp-narrow")).to_be_hidden()
    # Whatever font is here, no text is wider than its box.
    beyond = picture.evaluate(
        """(svg) => [...svg.querySelectorAll("a.vp-link")].flatMap((box) => {
          const frame = box.querySelector("rect").getBoundingClientRect();
          return [...box.querySelectorAll("text")].filter((text) => {
            const area = text.getBoundingClientRect();
            return area.left < frame.left || area.right > frame.right;
          }).map((text) => text.textContent);
        })"""
    )
    assert beyond == []
    box = picture.get_by_role("link", name="Open the text of s03")
    box.click()
    reader = page.locator(".vp-reader")
    expect(reader).to_contain_text("84,200 cubic metres of sand and silt")
    expect(reader.get_by_role("link")).to_have_attribute("href", re.compile("/nodes/s03$"))
    shoot(page, "claim-picture")
    box.click()
    expect(reader).to_have_count(0)


def test_who_was_signed_out_meanwhile_is_told_so_where_more_was_to_be_loaded(page: Page) -> None:
    page.goto("/processes/harbour-summary/claims/k04")
    # An address that leads elsewhere, as every one does when a session has ended.
    page.locator("main").evaluate(
        """(main) => {
          const link = document.createElement("a");
          link.href = "/sign-in?next=/";
          link.dataset.more = "";
          link.textContent = "more";
          main.append(link);
        }"""
    )
    page.get_by_role("link", name="more", exact=True).click()
    expect(page.get_by_role("status").last).to_contain_text("you are signed out")


def test_a_claim_can_be_read_without_scripts_and_on_a_phone(
    open_page: Callable[..., Page], site: ServiceProcess, shoot: Callable[..., None]
) -> None:
    page = open_page(site.url, java_script_enabled=False, color_scheme="dark", **PHONE)
    page.goto("/processes/harbour-summary/claims/k04")
    expect(page.locator("svg.vp-narrow")).to_contain_text("went wrong here")
    expect(page.locator("svg.vp-wide")).to_be_hidden()
    expect(page.locator(".answer-box .u-not-supported")).to_be_visible()
    page.emulate_media(media="print")
    expect(page.locator(".answer-box .u-not-supported")).to_be_visible()
    page.emulate_media(media="screen")
    page.get_by_text("Every sentence of the trail").click()
    page.locator("a.ev").first.click()
    expect(page).to_have_url(re.compile("#n3-"))
    expect(page.locator("textarea#cypher")).to_have_value(re.compile("MATCH"))
    shoot(page, "claim-3-phone-dark")
    page.goto("/processes/harbour-summary")
    expect(page.locator(".badge-word").first).to_be_visible()
    shoot(page, "claim-4-process-phone-dark")


def test_a_check_that_failed_and_one_of_a_model_are_told_in_words(
    page: Page, site: ServiceProcess
) -> None:
    page.goto("/processes/pump-log/claims/k5")
    expect(page.locator(".note-warn")).to_contain_text(
        "This verification failed, so there is no verdict."
    )
    expect(page.locator(".mark-not-supported")).to_have_count(0)
    page.goto("/processes/pump-log/claims/k1")
    page.get_by_text("Every sentence of the trail").click()
    page.get_by_text("What the model made of it").first.click()
    expect(page.locator(".summary p").first).to_be_visible()
    expect(page.locator("main")).not_to_contain_text("indicative")
