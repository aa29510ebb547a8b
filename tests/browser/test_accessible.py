"""axe on a page of each kind at desk width, on some also in the dark; no page is too wide.

In `make soak` axe reads every page, and more of them in the dark and on a phone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from fakes.browser import DESK, PHONE, serious
from fakes.service_process import ServiceProcess
from playwright.sync_api import Page

pytestmark = [pytest.mark.engine, pytest.mark.slow]

PROCESS = "pump-log"
PAGES = {
    "processes": "/",
    "check": "/check",
    "upload": "/upload",
    "process": f"/processes/{PROCESS}",
    "run of an agent": "/processes/crane-run",
    "process, filtered to nothing": f"/processes/{PROCESS}?q=nothing-says-this",
    "claim": f"/processes/{PROCESS}/claims/k2",
    "claim that failed": f"/processes/{PROCESS}/claims/k5",
    "claim that was not checked": f"/processes/{PROCESS}/claims/k11",
    "graph": f"/processes/{PROCESS}/graph",
    "graph at a claim": f"/processes/{PROCESS}/graph?claim=k2",
    "node": f"/processes/{PROCESS}/nodes/s2",
    "review": f"/processes/{PROCESS}/review",
    "blind review": f"/processes/{PROCESS}/review?blind=1",
    "agreement": f"/processes/{PROCESS}/agreement",
    "verify": f"/processes/{PROCESS}/verify",
    "runs": f"/processes/{PROCESS}/runs",
    "edit": f"/processes/{PROCESS}/edit",
    "edit a claim": f"/processes/{PROCESS}/claims/k2/edit",
    "share": f"/processes/{PROCESS}/share",
    "team": f"/processes/{PROCESS}/rounds",
    "search": "/search?q=pump",
    "projects": "/projects",
    "jobs": "/jobs",
    "nothing there": "/processes/no-such-process",
}
KINDS = (
    "processes", "check", "process", "run of an agent", "claim", "graph at a claim", "node",
    "review", "jobs", "report",
)  # fmt: skip
"""One page of each kind: a list, a form, texts with marks, drawings, a table, a file."""
AGAIN = (
    "processes", "process", "run of an agent", "claim", "graph at a claim", "review", "report",
)  # fmt: skip
"""What is looked at in the dark and on a phone too: every style sheet and every kind of mark."""
AGAIN_ALWAYS = ("process", "claim", "graph at a claim", "report")
CONTRAST = {"runOnly": ["color-contrast"]}
WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.mark.parametrize(
    ("read", "again"),
    [
        pytest.param(KINDS, AGAIN_ALWAYS, id="kinds"),
        pytest.param((*PAGES, "report"), AGAIN, id="all", marks=pytest.mark.soak),
    ],
)
def test_no_page_has_a_serious_fault(
    open_page: Callable[..., Page],
    site: ServiceProcess,
    expected_faults: list[str],
    tmp_path: Path,
    read: Sequence[str],
    again: Sequence[str],
) -> None:
    expected_faults.append("status of 404.*no-such-process|no-such-process.*status of 404")
    page, phone = open_page(site.url), open_page(site.url, **PHONE)
    report = tmp_path / "report.html"
    report.write_bytes(site.get(f"/processes/{PROCESS}/report.html").content)
    faults = []
    for name, address in {**PAGES, "report": report.as_uri()}.items():
        page.set_viewport_size(DESK["viewport"])
        opened(page, address)
        found = [*(serious(page) if name in read else ()), *too_wide(page)]
        faults += [f"{name}: {fault}" for fault in found]
        if page.locator("h1").count() != 1:
            faults.append(f"{name}: {page.locator('h1').count()} headings of the first level")
        if name in again:
            page.emulate_media(color_scheme="dark")  # changes colours and nothing else
            faults += [f"{name}, dark: {fault}" for fault in serious(page, **CONTRAST)]
            page.emulate_media(color_scheme="light")
            opened(phone, address)
            found = [*serious(phone), *too_wide(phone)]
            faults += [f"{name}, on a phone: {fault}" for fault in found]
        else:  # a narrow window shows what is too wide as a phone does
            page.set_viewport_size(PHONE["viewport"])
            faults += [f"{name}, narrow: {fault}" for fault in too_wide(page)]
    assert not faults, "\n".join(faults)


def opened(page: Page, address: str) -> None:
    """Open a page; parts that are being fetched are dimmed until they are there."""
    page.goto(address)
    page.wait_for_selector('[aria-busy="true"]', state="detached")


def too_wide(page: Page) -> list[str]:
    """What there is to say of a page that is wider than its window."""
    more = page.evaluate(WIDER)
    return [f"{more} pixels wider than the window"] if more > 1 else []
