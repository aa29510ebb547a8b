"""A person follows a claim through the graph: opens, folds, walks by keys, reads, goes back."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fakes.service_process import ServiceProcess
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.engine

Shoot = Callable[..., Path]
PICTURE = "/processes/graphrag-energy/graph"


def order(page: Page) -> list[str]:
    """Names of the nodes that are drawn, column by column from above."""
    return page.locator("a.n .n-id").all_text_contents()


def test_a_claim_is_followed_through_the_graph(page: Page, shoot: Shoot) -> None:
    page.goto(PICTURE)
    expect(page.locator("a.stage-box")).to_have_count(6)
    expect(page.locator("[data-counting]")).to_have_count(0)
    expect(page.locator(".flow")).to_have_count(6)
    shoot(page, "graph-stages")

    page.get_by_role("link", name="The Ketterau battery cost €28 million.").click()
    expect(page.locator("a.n.n-error")).to_have_count(1)
    expect(page.locator("a.n.at")).to_have_attribute("data-l", re.compile(r"\d"))
    expect(page.locator("[data-text]")).to_contain_text("The towns of the Ostra valley")
    shoot(page, "graph-claim")

    # Opening what is hidden leaves everything in its order, and says so in the address.
    before = order(page)
    page.locator("a.stub[data-open=up]").last.click()
    expect(page.locator("a.n")).not_to_have_count(len(before))
    after = order(page)
    assert [name for name in after if name in before] == before
    assert "open=" in page.url
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
    assert "at=" in page.url
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text(str(name))


def test_a_node_is_read_and_its_claims_come_by_themselves(page: Page, shoot: Shoot) -> None:
    page.goto("/processes/harbour-summary/nodes/c03")
    page.locator("#rest").scroll_into_view_if_needed()
    expect(page.locator(".resting li").first).to_contain_text("its evidence stands here")
    shoot(page, "node")
    page.get_by_role("link", name="See it in the graph").click()
    expect(page.locator("a.n.at .n-id")).to_have_text("c03")


def test_the_graph_works_without_scripts(open_page: Any, site: ServiceProcess) -> None:
    page = open_page(site.url, java_script_enabled=False)
    page.goto(f"{PICTURE}?node=answer")
    count = page.locator("a.n").count()
    page.locator("a.stub").first.click()
    assert page.locator("a.n").count() > count
    page.get_by_label("Text or id").fill("turbines")
    page.get_by_role("button", name="Find").click()
    assert page.locator("a.n").count() > count
    assert page.locator("table.nodes tbody tr").count() > 0
    page.locator("table.nodes th a").first.click()
    assert "/nodes/" in page.url
    page.get_by_role("link", name="Look for them").click()
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
