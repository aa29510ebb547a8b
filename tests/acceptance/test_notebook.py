"""The example notebooks, executed unchanged."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from acceptance.command import Veritrail
from acceptance.homes import EXAMPLES
from fakes.service_process import serving

pytestmark = pytest.mark.engine

NOTEBOOK = EXAMPLES / "notebook.ipynb"
EVALUATION = EXAMPLES / "evaluation.ipynb"
# In a process of its own: a kernel and its sockets are no business of the other tests.
EXECUTE = """
import sys
import nbformat
from nbclient import NotebookClient

source, target, folder = sys.argv[1:]
notebook = nbformat.read(source, as_version=4)
NotebookClient(notebook, timeout=180, resources={"metadata": {"path": folder}}).execute()
nbformat.write(notebook, target)
"""


def executed(
    veritrail: Veritrail, target: Path, notebook: Path = NOTEBOOK, **settings: str
) -> dict[str, str]:
    """Run every cell; give what each showed, by what it begins with."""
    child = subprocess.run(
        [sys.executable, "-c", EXECUTE, str(notebook), str(target), str(EXAMPLES)],
        env={**veritrail.environment(settings), "IPYTHONDIR": str(target.parent / "ipython")},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert child.returncode == 0, child.stderr[-3000:]
    return outputs(target)


def outputs(notebook: Path) -> dict[str, str]:
    """What each cell of a notebook showed, by its source."""
    cells = nbformat.read(notebook, as_version=4).cells
    return {cell.source: _shown(cell) for cell in cells if cell.cell_type == "code"}


def _shown(cell) -> str:
    shown = ""
    for output in cell.outputs:
        assert output.output_type != "error", output
        assert output.get("name") != "stderr", output
        data = output.get("data", {})
        plain = data.get("text/markdown", data.get("text/plain", ""))
        shown += output.get("text", "") + data.get("text/html", plain)
    return shown


def one(shown: dict[str, str], part: str) -> str:
    (found,) = [text for source, text in shown.items() if part in source]
    return found


def test_the_notebook_is_kept_with_what_it_shows_and_without_paths_of_a_machine():
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    assert "indicative only" in notebook.cells[0].source
    kept = outputs(NOTEBOOK)
    silent = [source for source, text in kept.items() if not text]
    assert [source.splitlines()[-1] for source in silent if "SVG" not in source] == [
        'here = Local(home=os.environ.get("VERITRAIL_HOME", "notebook-data"))',
        "here.close()",
    ]
    assert "84,200" in one(kept, "trail = here.verification")
    written = NOTEBOOK.read_text("utf-8")
    assert len(written) < 100_000
    assert "<svg" in written
    assert not re.search(r"/(tmp|root|home|work|Users)/", written)


def test_every_cell_does_what_the_text_around_it_says(beside, tmp_path):
    with serving(beside) as service:
        service.until_ready()
        shown = executed(beside, tmp_path / "done.ipynb", VERITRAIL_URL=service.url)
    assert "harbour-summary" in one(shown, "process = here.ingest")
    assert "<table" in one(shown, "here.stages")
    assert len(one(shown, "job = here.verify").split("\n")) >= 24
    assert "succeeded" in one(shown, "job.wait()")
    assert "Not Fully Supported" in one(shown, '.claims(process.process_id, verdict="NOT')
    trail = one(shown, "trail = here.verification")
    assert "84,200" in trail
    assert "<details" in trail
    assert "indicative only" in trail.lower()
    assert "introduced at: [('s03', 2)]" in one(shown, "origin = here.error")
    assert "→" in one(shown, "here.provenance")
    assert "<table" in one(shown, "stage_summary")
    assert "over REST: NOT_FULLY_SUPPORTED" in one(shown, "VERITRAIL_URL")


@pytest.mark.soak
def test_without_a_service_it_runs_too(beside, tmp_path):
    shown = executed(beside, tmp_path / "done.ipynb")
    assert "no service is named" in one(shown, "VERITRAIL_URL")


def test_the_evaluation_is_kept_with_what_it_shows():
    nbformat.validate(nbformat.read(EVALUATION, as_version=4))
    kept = outputs(EVALUATION)
    assert "| veritrail (q = 3, engine = lexical) | 3 of 23 |" in one(kept, 'row["title"]')
    told = "first: 69 judged, 0 known\nagain: 0 judged, 69 known\n"
    assert told in one(kept, "run = MatrixRun")
    assert "| all | 240 | " in one(kept, '"judge", "check"')
    assert "| 3 |" in one(kept, '"simulate"')


@pytest.mark.soak
def test_the_evaluation_shows_the_same_when_it_is_run_again(tmp_path):
    kept = outputs(EVALUATION)
    alone = Veritrail(tmp_path / "home")
    assert executed(alone, tmp_path / "done.ipynb", EVALUATION) == kept
