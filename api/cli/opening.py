"""The report of what is shown, written into the home folder and opened in the browser."""

from __future__ import annotations

import hashlib
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING

from veritrail_graph.api.cli.exits import run
from veritrail_graph.api.cli.stored import Whole
from veritrail_graph.api.cli.terminal import say
from veritrail_graph.graph.model.turn_claim import TurnClaimFound

if TYPE_CHECKING:
    from veritrail_graph.api.cli.checked import ProcessShown
    from veritrail_graph.api.settings import Settings

FOLDER = "shown"
"""The folder of what was opened last, in the home folder."""


def open_report(found: Whole | TurnClaimFound | ProcessShown) -> None:
    """Write a report of a process, or of a claim with its texts, and open it in the browser."""
    from veritrail_graph.api.settings import Settings
    from veritrail_graph.api.show.dialogue_run import turn_claim_shown
    from veritrail_graph.api.show.notebook import page
    from veritrail_graph.api.show.reports.files import whole_file

    settings = Settings()
    if isinstance(found, TurnClaimFound):
        path = _place(settings, found.dialogue_id, found.claim.claim_id)
        with whole_file(path) as file:
            file.write(page(turn_claim_shown(found)).encode())
    elif isinstance(found, Whole):
        one = found.verification
        path = _place(settings, one.process_id, one.claim_id)
        run(_write(settings, one.process_id, one.claim_id, path), as_json=False)
    else:
        path = _place(settings, found.findings.process_id)
        run(_write(settings, found.findings.process_id, None, path), as_json=False)
    if webbrowser.open(path.as_uri()):
        say(f"Opened {path}")
    else:
        say(f"No browser could be opened. The report is in {path}", "yellow")


def _place(settings: Settings, *ids: str) -> Path:
    """Return the file of a report; the same thing has the same one."""
    folder = settings.home / FOLDER
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    name = hashlib.sha256("\0".join(ids).encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return folder / f"{name}.html"


async def _write(settings: Settings, process_id: str, claim_id: str | None, path: Path) -> None:
    from veritrail_graph.api.cli.exits import say_starting
    from veritrail_graph.api.show.reports.data import ClaimSelection
    from veritrail_graph.api.show.reports.files import Asked, pieces, write_pieces
    from veritrail_graph.api.show.reports.sources import opened

    wanted = ClaimSelection((claim_id,) if claim_id is not None else ())
    asked = Asked("html", dossier=claim_id is not None)
    async with opened(settings, process_id, wanted, say_starting) as origin:
        await write_pieces(path, pieces(origin, asked))
