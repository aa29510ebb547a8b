"""What is stored, as a user gets it back: show, list, query, report, delete."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import neo4j
import pytest
from acceptance.command import Veritrail, process_file

pytestmark = pytest.mark.engine

MARKUP = "<script>alert(1)</script> | # ![x](http://example.invalid/y) **bold** `code` &amp; 1 < 2"
LINK = MARKUP.replace("!", "")  # it ends no sentence


@pytest.fixture(scope="module")
def ferry(veritrail: Veritrail, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A process whose texts are Markdown and HTML, verified; the run as JSON."""
    folder = tmp_path_factory.mktemp("ferry")
    nodes = [
        {"node_id": "<b>root</b> | `x`", "text": f"The ferry carries 24 cars {LINK}."},
        {"node_id": "t", "text": f"The ferry carries 42 cars {LINK}."},
    ]
    path = process_file(
        folder / "ferry.json",
        name=f"Ferry {MARKUP}\n# second line",
        nodes=nodes,
        edges=[{"source": nodes[0]["node_id"], "target": "t"}],
        claims=[
            {
                "claim_id": "cars",
                "text": f"The ferry carries 42 cars {LINK}.",
                "label": "INCONCLUSIVE",
            },
            {"claim_id": "new", "text": f"The ferry is new {MARKUP}.\n\n# A heading"},
        ],
    )
    veritrail("ingest", path)
    run: dict[str, Any] = veritrail("verify", "ferry", "--json").json
    return run


def test_show_makes_few_calls_to_the_driver(
    veritrail: Veritrail, ferry: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []

    def count(kind: type, name: str) -> None:
        method = getattr(kind, name)

        def counted(*arguments: Any, **options: Any) -> Any:
            calls.append(f"{kind.__name__}.{name}")
            return method(*arguments, **options)

        monkeypatch.setattr(kind, name, counted)

    for name in ("get_server_info", "verify_connectivity", "execute_query"):
        count(neo4j.Driver, name)
    for name in ("run", "execute_read", "execute_write", "begin_transaction"):
        count(neo4j.Session, name)
    count(neo4j.ManagedTransaction, "run")
    veritrail("show", ferry["verifications"][0]["verification_id"])
    assert "ManagedTransaction.run" in calls, "what is counted is what the store uses"
    # Two of them read the answer that is shown above, two see that nothing replaced its process,
    # four read the titles of nodes.
    assert len(calls) <= 16, calls


def test_a_report_escapes_what_its_texts_hold(
    veritrail: Veritrail, ferry: dict[str, Any], tmp_path: Path
) -> None:
    told = veritrail("report", "ferry")
    assert "<script" not in told.out
    assert "[x](" not in told.out
    assert "**bold**" not in told.out
    assert "\n# second line" not in told.out
    assert "\n# A heading" not in told.out
    rows = [line for line in told.out.splitlines() if line.startswith("| `cars`")]
    assert len(rows) == 1
    assert rows[0].replace("\\|", "").count("|") == 5
    assert "indicative" in told.out

    target = tmp_path / "report.md"
    target.write_text("an older report", encoding="utf-8")
    (tmp_path / "link.md").symlink_to(target)
    veritrail("report", "ferry", "--format", "markdown", "-o", "link.md")
    assert target.read_text("utf-8") == told.out
    assert (tmp_path / "link.md").is_symlink()
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(target.stat().st_mode) == 0o666 & ~umask
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.md", "report.md"]


def test_a_report_that_cannot_be_written_is_refused(
    veritrail: Veritrail, ferry: dict[str, Any]
) -> None:
    for path in ("missing/report.md", ".", "/proc/none/report.md"):
        assert "cannot be written" in veritrail("report", "ferry", "-o", path, status=2).err
    assert "markdown" in veritrail("report", "ferry", "--format", "pdf", status=2).err
    assert "nowhere" in veritrail("report", "nowhere", "-o", "r.md", status=2).err
    assert not Path("r.md").exists()
    if Path("/dev/stdout").exists():
        told = veritrail.child("report", "ferry", "-o", "/dev/stdout")
        assert told.out.startswith("# Ferry")
