"""A real browser for tests: nothing of it leaves this machine, and no fault of a page is lost."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Dialog,
    Page,
    Playwright,
    Request,
    sync_playwright,
)

NAMES = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)
HERE = ("127.0.0.1", "localhost", "::1")
LOCAL_SCHEMES = ("file", "data", "blob", "about", "chrome", "devtools")
SHOTS = "VERITRAIL_SHOTS"
"""The variable that names a folder for the pictures, where somebody wants to look at them."""
DESK: dict[str, Any] = {"viewport": {"width": 1280, "height": 800}}
PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 844},
    "device_scale_factor": 2,
    "is_mobile": True,
    "has_touch": True,
}
ARGUMENTS = (
    "--disable-dev-shm-usage",
    "--disable-gpu",
    # Names are not even looked up: whatever asks for another host fails, and is noted.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
)
WATCH = """
addEventListener("securitypolicyviolation", (event) => console.error(
  `content security policy: ${event.violatedDirective} refuses ${event.blockedURI}`
  + ` ${event.sample} (${event.sourceFile}:${event.lineNumber})`));
"""
PATIENCE = 15_000.0


class NoBrowser(RuntimeError):
    """There is no browser here."""


def find_browser() -> str:
    """The program of the browser.

    Raises:
        NoBrowser: When there is none.
    """
    for name in NAMES:
        if found := shutil.which(name):
            return found
    raise NoBrowser(f"no browser on the path (looked for {', '.join(NAMES)})")


@contextmanager
def a_browser() -> Iterator[Browser]:
    """A browser until the end of the block; while it runs, asyncio.run works in no other code."""
    program = find_browser()
    arguments = [*ARGUMENTS, *(["--no-sandbox"] if _is_root() else [])]
    with sync_playwright() as playwright:
        browser = _launch(playwright, program, arguments)
        try:
            yield browser
        finally:
            browser.close()


def _launch(playwright: Playwright, program: str, arguments: list[str]) -> Browser:
    return playwright.chromium.launch(executable_path=program, args=arguments)


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


@dataclass
class Window:
    """One person's browser: a context of its own, with everything that went wrong in it.

    Attributes:
        faults: What its pages did wrong, in words.
        expected: Patterns of faults that a test asks for, such as `status of 404`.
    """

    context: BrowserContext
    faults: list[str] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)
    answers: list[tuple[int, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.context.set_default_timeout(PATIENCE)
        self.context.add_init_script(WATCH)
        self.context.on("request", self._asked)
        self.context.on("response", lambda got: self.answers.append((got.status, got.url)))
        self.context.on("console", self._said)
        self.context.on(
            "weberror", lambda error: self.faults.append(f"error on a page: {error.error}")
        )
        self.context.on("dialog", self._asked_a_person)

    def page(self) -> Page:
        """A new page, watched as all of them."""
        return self.context.new_page()

    def close(self) -> None:
        """Close it, and fail when something went wrong that no test asked for."""
        self.context.close()
        assert not self.unexpected(), "\n".join(self.unexpected()[:10])

    def unexpected(self) -> list[str]:
        """What went wrong and was not expected."""
        patterns = [re.compile(each) for each in self.expected]
        return [one for one in self.faults if not any(each.search(one) for each in patterns)]

    def _asked(self, request: Request) -> None:
        address = urlsplit(request.url)
        if address.scheme not in LOCAL_SCHEMES and address.hostname not in HERE:
            self.faults.append(f"a request left this machine: {request.url}")

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning", "assert"):
            where = message.location
            self.faults.append(f"console, {where.get('url')}: {message.text}")

    def _asked_a_person(self, dialog: Dialog) -> None:
        if dialog.type == "beforeunload":
            dialog.accept()
            return
        self.faults.append(f"a dialog opened: {dialog.message}")
        dialog.dismiss()


@contextmanager
def window(browser: Browser, base_url: str | None = None, **options: Any) -> Iterator[Window]:
    """A browser window; whatever its pages did wrong is raised at the end of the block."""
    settings: dict[str, Any] = {**DESK, "locale": "en-GB", "reduced_motion": "reduce", **options}
    opened = Window(browser.new_context(base_url=base_url, **settings))
    try:
        yield opened
    except BaseException:
        opened.context.close()
        raise
    opened.close()


def shoot(page: Page, name: str, *, whole: bool = False) -> None:
    """Take a picture of a page, to look at: `name.png` in the folder that `SHOTS` names, if any."""
    folder = os.environ.get(SHOTS)
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=whole)


LOOK_CLOSELY = """(options) => axe.run({resultTypes: ["violations"], ...options}).then((found) =>
  found.violations
    .filter((one) => ["serious", "critical"].includes(one.impact))
    .flatMap((one) => one.nodes.slice(0, 4).map((node) =>
      `${one.id} (${one.impact}): ${node.target} ${node.html.slice(0, 160)} `
      + `${(node.failureSummary ?? "").split("\\n")[1] ?? ""}`)))"""


def serious(page: Page, **options: Any) -> list[str]:
    """What axe finds on a page that matters, one line each: rule, impact, element, what to do.

    A page that was looked at before has axe already: it is half a megabyte of script.
    """
    if page.evaluate("typeof axe") == "undefined":
        page.evaluate(AXE_SCRIPT)
    found: list[str] = page.evaluate(LOOK_CLOSELY, options)
    return found
