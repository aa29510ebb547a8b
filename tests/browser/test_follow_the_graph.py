"""A person follows a claim through the graph: opens, folds, walks by keys, reads, goes back."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from fakes.browser import PHONE
from fakes.service_process import ServiceProcess
from playwright.sync_api import Page, Route, expect

pytestmark = pytest.mark.engine

Shoot = Callable[..., None]
PICTURE = "/processes/graphrag-energy/graph"
PICTURE_ONLY = re.compile(r"/processes/graphrag-energy/graph$")


def order(page: Page) -> list[str]:
    """Positions of the nodes that are drawn, column by column from above."""
    places: list[str] = page.locator("a.n").evaluate_all("(all) => all.map((one) => one.dataset.p)")
    return places


def test_a_claim_is_followed_through_the_graph(page: Page, shoot: Shoot) -> None:
    page.goto(PICTURE)
    expect(page.locator("a.stage-box")).to_have_count(6)
    expect(page.locator("[data-counting]")).to_have_count(0)
    expect(page.locator(".flow")).to_have_count(6)
    shoot(page, "graph-stages")

    page.get_by_role("link", name=re.compile("wind farm produced 87 gigawatt hours")).click()
    expect(page.locator("a.n.n-error")).to_have_count(1)
    expect(page.locator("a.n.at")).to_have_attribute("data-l", re.compile(r"\d"))
    expect(page.locator("[data-text]")).to_contain_text("87 gigawatt hours")
    shoot(page, "graph-claim")

    # Opening what is hidden leaves everything in its order, and says so in the address.
    before = order(page)
    page.locator("a.stub[data-open=up]").last.click()
    expect(page.locator("a.n")).not_to_have_count(len(before))
    after = order(page)
    assert [place for place in after if place in before] == before
    expect(page).to_have_url(re.compile("open="))
    assert page.locator("a.n.off").count() > 0
    shoot(page, "graph-opened")
    page.go_back()
    expect(page.locator("a.n")).to_have_count(len(before))
    page.go_forward()
    expect(page.locator("a.n")).to_have_count(len(after))
    page.reload()
    assert order(page) == after


def test_nodes_are_reached_and_read_by_keys(page: Page) -> None:
    page.goto(f"{PICTURE}?node=answer")
    page.locator("a.n.at").focus()
    page.keyboard.press("ArrowLeft")
    focused = page.locator("a.n:focus")
    expect(focused).to_have_attribute("data-l", "0")
    name = focused.locator(".n-id").text_content()
    page.keyboard.press("ArrowDown")
    assert page.locator("a.n:focus .n-id").text_content() != name
    page.keyboard.press("ArrowUp")
    assert page.locator("a.n:focus .n-id").text_content() == name
    assert page.locator(".lines path.near").count() > 0

    page.keyboard.press("Enter")
    panel = page.locator("[data-panel]")
    expect(panel.locator("h2")).to_have_text(str(name))
    expect(page.locator("a.n:focus .n-id")).to_have_text(str(name))
    expect(page).to_have_url(re.compile("at="))
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text(str(name))


def test_a_click_that_fails_late_does_not_undo_the_next_one(
    page: Page, expected_faults: list[str]
) -> None:
    expected_faults.append("Failed to load resource")
    page.goto(f"{PICTURE}?node=answer")
    page.evaluate("window.isTheSamePage = true")
    places = page.locator("a.n:not(.at)").evaluate_all("(nodes) => nodes.map((n) => n.dataset.p)")
    held: list[Route] = []

    def answered(route: Route) -> None:
        if held:
            route.continue_()
        held.append(route)

    page.route(re.compile(f"[?&]at={places[0]}$"), answered)
    page.locator(f"a.n[data-p='{places[0]}']").click()
    page.locator(f"a.n[data-p='{places[1]}']").click()
    expect(page.locator(f"a.n.at[data-p='{places[1]}']")).to_be_visible()
    with page.expect_event("requestfailed"):
        held[0].abort()
    page.wait_for_timeout(200)
    assert page.evaluate("window.isTheSamePage") is True
    assert page.url.endswith(f"at={places[1]}")


def test_a_node_is_read_and_its_claims_come_by_themselves(page: Page, shoot: Shoot) -> None:
    page.goto("/processes/harbour-summary/nodes/c03")
    page.locator("#rest").scroll_into_view_if_needed()
    expect(page.locator(".resting li").first).to_contain_text("its evidence is here")
    shoot(page, "node")
    page.get_by_role("link", name="See it in the graph").click()
    expect(page.locator("a.n.at .n-id")).to_have_text("c03")


def test_what_cannot_be_loaded_is_said_and_the_link_stays(
    page: Page, expected_faults: list[str]
) -> None:
    expected_faults.append("Failed to load resource")
    page.route("**/nodes/c03?part=rest", lambda route: route.abort())
    page.goto("/processes/harbour-summary/nodes/c03")
    page.locator("#rest").scroll_into_view_if_needed()
    expect(page.locator("#rest [role=status]")).to_contain_text("could not be loaded")
    expect(page.get_by_role("link", name="Look for them")).to_be_visible()


def test_a_process_that_is_gone_is_not_asked_for_again(
    page: Page, expected_faults: list[str]
) -> None:
    expected_faults.append("status of 404")
    asked: list[str] = []

    def answered(route: Route) -> None:
        asked.append(route.request.url)
        if len(asked) > 1:
            route.fulfill(status=404, body="gone")
            return
        found = route.fetch()
        body = found.text().replace('aria-label="Stages"', 'aria-label="Stages" data-counting')
        route.fulfill(response=found, body=body)

    page.clock.install()
    page.route(PICTURE_ONLY, answered)
    page.goto(PICTURE)
    page.clock.run_for(3_000)
    expect(page.get_by_text("not stored any more")).to_be_visible()
    expect(page.locator(".stages-drawing")).to_be_visible()
    page.clock.run_for(30_000)
    assert len(asked) == 2


def test_a_long_reason_does_not_widen_the_page_and_more_sideways_shows(
    phone: Page,
) -> None:
    def longer(route: Route) -> None:
        found = route.fetch()
        body = found.text().replace("Reason: ", "Reason: " + "x" * 2000)
        route.fulfill(response=found, body=body)

    address = "/processes/pump-log/graph?claim=k5"
    phone.route(re.compile(re.escape(address)), longer)
    phone.goto(address)
    expect(phone.get_by_text("xxxxxxxx").first).to_be_visible()
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390
    phone.goto(PICTURE)
    expect(phone.locator("[data-worst]")).to_be_in_viewport()  # the last of six stages
    room = phone.locator(".drawing-room")
    for scroll, left, right in (("scrollTo(0, 0)", 0, 40), ("scrollBy(10000, 0)", 40, 0)):
        # Not `wait_for_function`: what is not so at once is asked for by eval, which pages refuse.
        room.evaluate(f"(room) => room.{scroll}")
        expect(room).to_have_css("--fade-left", f"{left}px")
        expect(room).to_have_css("--fade-right", f"{right}px")


def test_the_graph_works_without_scripts(open_page: Any, site: ServiceProcess) -> None:
    page = open_page(site.url, java_script_enabled=False, **PHONE)
    page.goto(PICTURE)
    page.get_by_role("link", name="To the stage where most went wrong").click()
    expect(page.locator("[data-worst]")).to_be_in_viewport()
    page.goto(f"{PICTURE}?node=answer")
    count = page.locator("a.n").count()
    page.locator("a.stub").first.click()
    page.wait_for_load_state()
    assert page.locator("a.n").count() > count
    page.get_by_label("Text or id").fill("turbines")
    page.get_by_role("button", name="Find").click()
    page.wait_for_load_state()
    assert page.locator("a.n").count() > count
    assert page.locator("table.nodes tbody tr").count() > 0
    page.locator("table.nodes th a").first.click()
    page.wait_for_load_state()
    assert "/nodes/" in page.url
    page.get_by_role("link", name="Look for them").click()
    page.wait_for_load_state()
    assert page.locator(".resting li").count() > 0


def test_the_graph_fits_a_phone(phone: Page, shoot: Shoot) -> None:
    for name, path in (
        ("graph-stages-phone", PICTURE),
        ("graph-node-phone", f"{PICTURE}?node=answer"),
        ("node-phone", "/processes/harbour-summary/nodes/final"),
    ):
        phone.goto(path)
        assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
        shoot(phone, name)
