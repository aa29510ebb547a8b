"""The clients are found in `veritrail_graph`, and cost nothing until they are asked for."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import veritrail_graph

ROOT = Path(__file__).resolve().parents[4]


@pytest.mark.slow
def test_the_package_the_commands_and_the_clients_import_nothing_that_they_do_not_need():
    code = (
        "import sys, veritrail_graph; before = set(sys.modules); assert not [m for m in before if "
        "m.split('.')[0] in {'pydantic', 'httpx2', 'fastapi', 'asyncio'}]; "
        "from veritrail_graph.api.cli import app; app.command(); assert not "
        "{'pydantic_settings', 'fastapi', 'mcp', 'openai', 'neo4j'} & set(sys.modules); "
        "from veritrail_graph import AsyncClient, AsyncLocal, Client, Local; "
        "assert 'mcp' not in sys.modules and 'fastapi' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_what_is_not_there_is_not_there():
    clients = {"AsyncClient", "AsyncLocal", "Client", "Local"}
    nouns = {"Claim", "Edge", "Iteration", "Process", "Review", "Span", "Usage", "Verdict"}
    assert set(veritrail_graph.__all__) == {
        *clients,
        *nouns,
        "Verification",
        "acheck",
        "check",
        "verify",
        "__version__",
    }
    assert all(getattr(veritrail_graph, name) is not None for name in veritrail_graph.__all__)
    with pytest.raises(AttributeError, match="nothing"):
        veritrail_graph.nothing  # noqa: B018


def test_the_configurations_in_the_documentation_are_json():
    page = (ROOT / "docs" / "mcp.md").read_text(encoding="utf-8")
    blocks = [block.split("```")[0] for block in page.split("```json\n")[1:]]
    found = [json.loads(block) for block in blocks]
    servers = [one.get("mcpServers", {"veritrail": one})["veritrail"] for one in found]
    of_service = [one["url"] for one in servers if one.get("type") == "http"]
    assert of_service == ["https://veritrail.example.org/mcp"]
    on_stdio = [(one["command"], one["args"][0]) for one in servers if "type" not in one]
    assert on_stdio == [("veritrail", "mcp")] * 3


def test_a_client_in_process_may_have_a_folder_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("VERITRAIL_HOME", str(tmp_path / "other"))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-kept")
    client = veritrail_graph.Local(home=tmp_path / "own")
    try:
        assert client.client.settings.home == tmp_path / "own"
        assert client.client.settings.openai_api_key == "sk-kept"
    finally:
        client.close()
