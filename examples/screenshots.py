"""Take the pictures of the documentation: the pages of a sample, light, dark and on a phone.

`make screenshots` runs it. It serves the samples from a folder of its own, opens them in a browser
of this machine, and writes docs/images/page-*.png and claim.svg. Nothing leaves the machine.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
LARGEST = 250_000
START_SECONDS = 60.0
BROWSERS = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)
SAMPLES = ("harbour-summary", "graphrag-energy")
PROCESS, CLAIM = "harbour-summary", "k04"
RUN = "crane"
"""The log of an agent, whose steps are shown."""
DRAWN = ("graphrag-energy", "q02")
"""The process and the claim whose picture is docs/images/claim.svg."""
PAGES = {
    "processes": "/",
    "process": f"/processes/{PROCESS}",
    "run": f"/processes/{RUN}#timeline",
    "claim": f"/processes/{PROCESS}/claims/{CLAIM}",
    "graph": f"/processes/{PROCESS}/graph",
    "graph-claim": f"/processes/{PROCESS}/graph?claim={CLAIM}",
    "review": f"/processes/{PROCESS}/review?blind=1&claim={CLAIM}",
}
REPORT = "report"
ON_A_DESK = (*PAGES, REPORT)
IN_THE_DARK = ("claim", "graph-claim")
ON_A_PHONE = ("process", "claim")
DESK = {"viewport": {"width": 1120, "height": 860}}
PHONE = {
    "viewport": {"width": 390, "height": 844},
    "is_mobile": True,
    "has_touch": True,
}
REVIEWER = "Ada"
COUNTING = "are being counted"
"""What a graph says while its edges are not counted yet."""


def main() -> int:
    """Take all pictures; 0 unless there is no browser."""
    program = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if program is None:
        print(f"There is no browser here (looked for {', '.join(BROWSERS)}).", file=sys.stderr)
        return 1
    arguments = ["--disable-lcd-text"]  # letters in shades of one colour: a third less to store
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        arguments.append("--no-sandbox")
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="vt-", ignore_cleanup_errors=True) as folder:
        environment = {**os.environ, "VERITRAIL_HOME": str(Path(folder) / "home")}
        try:
            _store(environment)
            with (
                _served(environment) as url,
                sync_playwright() as playwright,
                playwright.chromium.launch(executable_path=program, args=arguments) as browser,
            ):
                address = f"{url}/processes/{DRAWN[0]}/claims/{DRAWN[1]}/picture.svg"
                with urllib.request.urlopen(address, timeout=60) as drawn:  # noqa: S310 (our own)
                    (IMAGES / "claim.svg").write_bytes(drawn.read())
                report = Path(folder) / "report.html"
                _veritrail(environment, "report", PROCESS, "-o", str(report))
                pages = {**PAGES, REPORT: report.as_uri()}
                _take(browser, url, _some(pages, ON_A_DESK), "light", "light", DESK)
                _take(browser, url, _some(pages, IN_THE_DARK), "dark", "dark", DESK)
                _take(browser, url, _some(pages, ON_A_PHONE), "light", "phone", PHONE)
        finally:
            _veritrail(environment, "db", "stop")
    return 0


def _some(pages: dict[str, str], names: Iterable[str]) -> dict[str, str]:
    return {name: pages[name] for name in names}


def _take(
    browser: Browser,
    url: str,
    pages: dict[str, str],
    scheme: Literal["light", "dark"],
    look: str,
    window: dict[str, Any],
) -> None:
    """Pictures of some pages in one look."""
    context = browser.new_context(
        base_url=url, color_scheme=scheme, reduced_motion="reduce", locale="en-GB", **window
    )
    page = context.new_page()
    page.goto(PAGES["review"])
    name = page.get_by_label("Your name")
    if name.count():  # a reviewer who has begun sees the form
        name.fill(REVIEWER)
        page.get_by_role("button", name="Begin").click()
    for each, address in pages.items():
        page.goto(address)
        page.wait_for_load_state("networkidle")
        while page.get_by_text(COUNTING).count():  # once: the number is kept
            time.sleep(0.5)
            page.reload()
        path = IMAGES / f"page-{each}-{look}.png"
        page.screenshot(path=path)
        size = path.stat().st_size
        remark = f", more than {LARGEST:,}" if size > LARGEST else ""
        print(f"{path.relative_to(ROOT)}: {size:,} bytes{remark}")
    context.close()


def _store(environment: dict[str, str]) -> None:
    for name in SAMPLES:
        _veritrail(environment, "ingest", str(ROOT / "examples" / f"{name}.json"))
        _veritrail(environment, "verify", name, "--engine", "recorded")
    log = str(ROOT / "examples" / "tasks" / "agent.json")
    _veritrail(environment, "check", log, "--process-id", RUN)


def _veritrail(environment: dict[str, str], *arguments: str) -> None:
    command = [sys.executable, "-m", "veritrail_graph.api.cli.main", *arguments]
    subprocess.run(command, env=environment, cwd=ROOT, check=True, capture_output=True)


@contextmanager
def _served(environment: dict[str, str]) -> Iterator[str]:
    """The service on a free port, until the end of the block."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "veritrail_graph.api.cli.main", "serve", "--port", str(port)]
    child = subprocess.Popen(command, env=environment, cwd=ROOT, stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    try:
        _until_ready(f"{url}/readyz")
        yield url
    finally:
        child.terminate()
        child.wait(60)


def _until_ready(address: str) -> None:
    until = time.monotonic() + START_SECONDS
    while True:
        try:
            with urllib.request.urlopen(address, timeout=5):  # noqa: S310 (our own address)
                return
        except (urllib.error.URLError, ConnectionError):
            if time.monotonic() > until:
                raise
            time.sleep(0.2)


if __name__ == "__main__":
    sys.exit(main())
