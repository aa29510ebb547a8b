"""Somebody downloads a report and a dossier and opens them from files, without the service."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fakes import browser as browsers
from playwright.sync_api import Page, expect

pytestmark = [pytest.mark.engine, pytest.mark.slow]


def saved(page: Page, link: str, folder: Path) -> str:
    """Click a link, which may stand in a menu, keep the file that comes, and give its address."""
    for menu in page.locator("details.menu > summary").all():
        menu.click()
    with page.expect_download() as download:
        page.get_by_role("link", name=link, exact=True).click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path.as_uri()


def test_a_report_is_downloaded_and_read_from_its_file(
    page: Page, open_page: Callable[..., Page], tmp_path: Path, shoot: Callable[..., None]
) -> None:
    page.goto("/processes/pump-log")
    address = saved(page, "Report", tmp_path)
    report = open_page(address)
    report.goto(address)
    expect(report.get_by_role("heading", level=1)).to_be_visible()
    claims = report.locator(".claim")
    assert claims.count() == 12
    for kind in ("supported", "not-supported", "failed", "unchecked"):
        assert report.locator(f".claim.is-{kind}").count() >= 1
    shoot(report, "report-desk", whole=True)

    # A claim opens, and shows the way down to the source.
    worst = report.locator("details.claim").first
    worst.locator("summary").first.click()
    expect(worst.locator(".r-iteration").first).to_be_visible()
    expect(worst.locator("svg.vp-wide")).to_contain_text("went wrong here")
    assert not browsers.serious(report)
    shoot(report, "report-claim")

    # Only what could not be checked, then a word, then nothing that fits.
    report.get_by_role("radio", name="Could not be checked").check(force=True)
    expect(report.locator(".claim:visible")).to_have_count(1)
    expect(report.locator(".claim:visible")).to_contain_text("Could not be checked")
    # A claim that is asked for in the text is shown, whatever is chosen.
    other = report.locator("details.claim.is-supported").first
    badge = report.locator(f".r-badge[href='#{other.get_attribute('id')}']")
    for _ in range(2):
        badge.click()
        expect(other.locator(".claim-body")).to_be_in_viewport()
        expect(report.get_by_role("radio", name="All")).to_be_checked()
        report.get_by_role("radio", name="Could not be checked").check(force=True)
        expect(report.locator(".claim:visible")).to_have_count(1)
    report.get_by_role("radio", name="All").check(force=True)
    report.get_by_role("searchbox").fill("pump11")
    expect(report.locator(".claim:visible")).to_have_count(1)
    expect(report.get_by_role("status")).to_have_text("1 claim found")
    report.get_by_role("searchbox").fill("no such words")
    expect(report.get_by_role("status")).to_have_text("0 claims found")

    report.get_by_role("searchbox").fill("")
    report.emulate_media(media="print")
    report.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert report.locator("details.claim:not([open])").count() == 0
    expect(report.get_by_role("searchbox")).to_be_hidden()


def test_without_scripts_a_report_can_be_read_and_filtered(
    page: Page, open_page: Callable[..., Page], tmp_path: Path, shoot: Callable[..., None]
) -> None:
    page.goto("/processes/harbour-summary")
    address = saved(page, "Report", tmp_path)
    bare = open_page(address, java_script_enabled=False, color_scheme="dark", **browsers.PHONE)
    bare.goto(address)
    expect(bare.get_by_role("searchbox")).to_be_hidden()
    bare.locator("label.chip", has_text="Inconclusive").click()
    expect(bare.locator(".claim:visible")).to_have_count(1)
    bare.locator(".claim:visible summary").first.click()
    expect(bare.locator(".claim:visible .claim-body")).to_be_visible()
    shoot(bare, "report-phone-dark")


def test_a_dossier_says_all_there_is_and_gives_its_data(
    page: Page, open_page: Callable[..., Page], tmp_path: Path, shoot: Callable[..., None]
) -> None:
    page.goto("/processes/harbour-summary/claims/k04")
    address = saved(page, "Dossier", tmp_path)
    dossier = open_page(address)
    dossier.goto(address)
    expect(dossier.get_by_role("heading", name="How to read this")).to_be_visible()
    expect(dossier.get_by_text("Introduced").first).to_be_visible()
    assert not browsers.serious(dossier)
    shoot(dossier, "dossier-desk", whole=True)
    with dossier.expect_download() as download:
        dossier.get_by_role("button", name="Save as JSON").click()
    assert download.value.suggested_filename == "harbour-summary-k04.json"
    told: dict[str, Any] = json.loads(Path(download.value.path()).read_text("utf-8"))
    assert told["format"] == "veritrail/report"
    assert told["claims"][0]["claim_id"] == "k04"
