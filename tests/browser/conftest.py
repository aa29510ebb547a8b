"""A browser, and a service with samples to look at.

`page` is a window at desk width, `phone` one at phone width, `site` the service. A window fails
its test when a page says an error on its console, breaks the content security policy, opens a
dialog or asks another machine for anything; a test that wants an error page says so first:
`expected_faults.append("status of 404")`. `shoot(page, "name")` takes a picture to look at.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from acceptance.command import Veritrail
from acceptance.homes import a_home
from acceptance.model_fixtures import asking, pumps
from fakes import browser as browsers
from fakes.model_faults import Fault
from fakes.model_server import ModelServer, Received
from fakes.service_process import ServiceProcess, serving
from playwright.sync_api import Browser, Page

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PUMPS = 12
UNLUCKY = "Pump5 "
"""The claim of this pump gets no usable answer; the last one is not verified at all."""

Open = Callable[..., Page]


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """One browser for this folder: while it runs, tests of this process cannot use asyncio.run."""
    with ExitStack() as stack:
        try:
            opened = stack.enter_context(browsers.a_browser())
        except browsers.NoBrowser as missing:
            if os.environ.get("CI"):
                pytest.fail(str(missing))
            pytest.skip(str(missing))
        yield opened


@pytest.fixture(scope="package")
def home() -> Iterator[Veritrail]:
    """The command, over the graph that `site` shows."""
    with a_home() as veritrail:
        yield veritrail


@pytest.fixture(scope="package")
def site(home: Veritrail, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    """The service with `harbour-summary`, `graphrag-energy` (by recorded answers) and `pump-log`.

    `crane-run` is the log of an agent that turned a figure.
    The claims of `pump-log` were judged by a (scripted) model: k0 to k10 have every verdict that
    there is, k5 failed, k11 was never verified.
    """
    for name in ("harbour-summary", "graphrag-energy"):
        home("ingest", str(EXAMPLES / f"{name}.json"))
        home("verify", name, "--engine", "recorded")
    home("check", str(EXAMPLES / "tasks" / "agent.json"), "--process-id", "crane-run")
    home("ingest", pumps(tmp_path_factory.mktemp("site") / "pump-log.json", PUMPS))
    chosen = [part for number in range(PUMPS - 1) for part in ("--claim-id", f"k{number}")]
    with ModelServer(faults=_unlucky) as server:
        home("verify", "pump-log", *chosen, status=1, **asking(server))
    # It works on no jobs: the service that does (`test_upload_and_watch`) then fits in here too.
    with serving(home, args=["--no-worker"]) as service:
        service.until_ready()
        yield service


def _unlucky(asked: Received) -> Fault | None:
    is_met = asked.step == "verdict" and f"Claim: {UNLUCKY}" in asked.user
    return Fault.NO_JSON if is_met else None


@pytest.fixture
def expected_faults() -> list[str]:
    """Patterns of faults that a test asks for; it appends them."""
    return []


@pytest.fixture
def open_page(
    request: pytest.FixtureRequest, browser: Browser, expected_faults: list[str]
) -> Iterator[Open]:
    """Opens a page in a window of its own: `open_page(color_scheme="dark", **PHONE)`."""
    with ExitStack() as stack:

        def opened(base_url: str | None = None, **options: Any) -> Page:
            address = base_url or request.getfixturevalue("site").url
            window = stack.enter_context(browsers.window(browser, address, **options))
            window.expected = expected_faults
            return window.page()

        yield opened


@pytest.fixture
def page(open_page: Open, site: ServiceProcess) -> Page:
    """A page at desk width; `page.goto("/")` opens the site."""
    return open_page(site.url)


@pytest.fixture
def phone(open_page: Open, site: ServiceProcess) -> Page:
    """A page at phone width."""
    return open_page(site.url, **browsers.PHONE)


@pytest.fixture
def shoot() -> Callable[..., None]:
    """Takes a picture to look at, where `VERITRAIL_SHOTS` names a folder."""
    return browsers.shoot
