"""Short ids on the command line: first letters, @last, a claim of a process; and near misses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from acceptance.command import Veritrail, process_file
from fakes.webhook_receiver import Receiver

from veritrail_graph.api.cli import completion

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def run(veritrail: Veritrail, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Two processes with a beginning in common, the second verified; the run as JSON."""
    folder = tmp_path_factory.mktemp("names")
    for name in ("zz-quay-1", "zz-quay-2"):
        path = process_file(
            folder / f"{name}.json",
            process_id=name,
            claims=[
                {"claim_id": "cost-1", "text": "The quay cost 3 euros."},
                {"claim_id": "cost-2", "text": "The quay cost 4 euros."},
                {"claim_id": "name", "text": "The quay is old."},
            ],
        )
        veritrail("ingest", path)
    done: dict[str, Any] = veritrail("verify", "zz-quay-2", "--claim-id", "name", "--json").json
    return done


def test_first_letters_name_a_process_when_only_one_begins_with_them(
    veritrail: Veritrail, run: dict[str, Any]
) -> None:
    assert veritrail("list", "zz-quay-2", "--json").json["process_id"] == "zz-quay-2"
    assert veritrail("list", "@last", "--json").json["process_id"] == "zz-quay-2"
    several = veritrail("list", "zz-q", status=2).err
    assert "begins the ids of several processes: zz-quay-1, zz-quay-2" in several
    near = veritrail("list", "zz-quai-2", status=2).err
    assert "Did you mean 'zz-quay-2'" in near


@pytest.mark.parametrize(
    "command",
    [
        ["verify", "@last", "--claim-id", "name", "--json"],
        ["estimate", "@last", "--json"],
        ["claims", "list", "@last", "--json"],
        ["reviews", "list", "@last", "--json"],
        ["report", "@last", "--format", "json"],
        ["gate", "@last", "--max-unchecked", "9", "--max-undecided", "9", "--json"],
    ],
)
def test_every_command_about_a_process_takes_a_short_id(
    veritrail: Veritrail, run: dict[str, Any], command: list[str]
) -> None:
    document = veritrail(*command).json
    named = document.get("process_id") or document["process"]["process_id"]
    assert named == "zz-quay-2"


def test_a_trail_is_shown_by_its_first_letters_and_by_its_claim(
    veritrail: Veritrail, run: dict[str, Any]
) -> None:
    (verification,) = run["verifications"]
    name = verification["verification_id"]
    for given in ([name[:20]], ["@last"], ["zz-quay-2", "name"], ["zz-quay-2", "na"]):
        assert veritrail("show", *given, "--json").json["verification_id"] == name
    assert "was not verified" in veritrail("show", "zz-quay-2", "cost-1", status=2).err
    assert "several claims: cost-1, cost-2" in veritrail("show", "zz-quay-2", "co", status=2).err
    assert "Did you mean 'name'" in veritrail("show", "zz-quay-2", "nmae", status=2).err
    assert "veritrail show PROCESS CLAIM" in veritrail("show", "name", status=2).err


def test_an_id_of_a_verification_that_is_nearly_right_is_answered_with_it(
    veritrail: Veritrail, run: dict[str, Any]
) -> None:
    name = run["verifications"][0]["verification_id"]
    for given in (name[2:14], f"{name[:8]}zz{name[10:20]}"):
        assert f"Did you mean '{name}'" in veritrail("show", given, status=2).err
    assert "Did you mean" not in veritrail("show", "vz", status=2).err


def test_a_run_that_has_ended_sends_a_message_where_the_command_says(
    veritrail: Veritrail, run: dict[str, Any]
) -> None:
    secret = {"VERITRAIL_WEBHOOK_SECRET": "a secret that is long enough"}
    call = ["verify", "zz-quay-2", "--claim-id", "name", "--json"]
    with Receiver() as receiver:
        done = veritrail(*call, "--again", "--webhook", receiver.url, **secret).json
        (found,) = receiver.received
        veritrail(*call, VERITRAIL_WEBHOOK_URL=receiver.url, **secret)  # a setting alone sends none
    assert len(receiver.received) == 1
    message = json.loads(found.body)
    assert message["type"] == "job.finished"
    assert message["data"] == {
        "job_id": done["run_id"].replace("r-", "j-", 1),
        "run_id": done["run_id"],
        "process_id": "zz-quay-2",
        "kind": "verification",
        "status": "succeeded",
        "counts": {"undecided": 1},
    }
    assert "needs a secret" in veritrail(*call, "--webhook", receiver.url, status=2).err


def test_a_query_takes_values_by_their_place_and_short_ids(
    veritrail: Veritrail, run: dict[str, Any]
) -> None:
    by_name = ["-p", "process_id=zz-quay-2", "-p", "claim_id=name"]
    in_full = veritrail("query", "evidence_trail", *by_name, "--json").json
    assert veritrail("query", "evidence_trail", "@last", "na", "--json").json == in_full
    assert veritrail("query", "evidence-trail", "@last", "name", "--format", "json").json == in_full


def test_runs_are_named_by_their_first_letters(veritrail: Veritrail, run: dict[str, Any]) -> None:
    short = run["run_id"][:20]
    assert veritrail("pin", short, "--json").json["run_of_record"] == run["run_id"]
    assert veritrail("verify", "--resume", short, "--json").json["run_id"] == run["run_id"]


def test_only_a_full_id_deletes(veritrail: Veritrail, tmp_path: Path) -> None:
    path = process_file(tmp_path / "p.json", process_id="yy-only-one")
    veritrail("ingest", path)
    refused = veritrail("delete", "yy-on", "--yes", status=2).err
    assert "Name 'yy-only-one' in full" in refused
    veritrail("delete", "yy-only-one", "--yes")


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("veritrail sho", {"show"}),
        ("veritrail list zz-quay", {"zz-quay-1", "zz-quay-2"}),
        ("veritrail show zz-quay-2 co", {"cost-1", "cost-2"}),
        ("veritrail query error_o", {"error_origin"}),
        ("veritrail query error_origin zz-quay-2 na", {"name"}),
    ],
)
def test_a_shell_completes_commands_ids_and_queries(
    veritrail: Veritrail,
    run: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    typed: str,
    offered: set[str],
) -> None:
    monkeypatch.setattr(completion, "_SECONDS", 60.0)
    last = str(len(typed.split()) - 1)
    shown = veritrail(COMP_WORDS=typed, COMP_CWORD=last, _VERITRAIL_COMPLETE="complete_bash")
    assert set(shown.out.split()) == offered


def test_completion_prints_the_script_of_a_shell(veritrail: Veritrail) -> None:
    assert "complete -o default -F" in veritrail("completion", "bash").out
    assert 'eval "$(veritrail completion bash)"' in veritrail("completion").out


def test_what_is_missing_for_a_claim_is_named(veritrail: Veritrail, tmp_path: Path) -> None:
    nodes = [{"node_id": name, "text": f"{name}."} for name in ("s", "left", "right")]
    edges = [{"source": "s", "target": name} for name in ("left", "right")]
    path = process_file(tmp_path / "two.json", process_id="zz-two", nodes=nodes, edges=edges)
    veritrail("ingest", path)
    assert "has no claims" in veritrail("verify", "zz-two", status=2).err
    told = veritrail("verify", "zz-two", "--claim", "X.", status=2).err
    assert "several terminals ('left', 'right')" in told


def test_show_takes_whatever_people_have(veritrail: Veritrail, run: dict[str, Any]) -> None:
    ids = [each["process_id"] for each in veritrail("show", "--json").json["processes"]]
    assert ids.index("zz-quay-2") < ids.index("zz-quay-1"), "the latest comes first"
    shown = veritrail("show", "zz-quay-2", "--json").json
    assert [each["claim_id"] for each in shown["results"]] == ["cost-1", "cost-2", "name"]
    told = veritrail("show", "zz-quay-2", "--all").out
    assert "The quay is old." in told
    assert "3 claims" in told
    assert "2 not verified" in told
    verification = run["verifications"][0]["verification_id"]
    for what in (verification, verification[:12]):
        assert veritrail("show", what, "--json").json["verification_id"] == verification
    assert "Neither a process nor a verification" in veritrail("show", "zz-no", status=2).err
    assert "Did you mean 'zz-quay-1'" in veritrail("show", "zz-quai-1", status=2).err


def test_ask_runs_a_query_by_its_name_and_searches_for_anything_else(
    veritrail: Veritrail, run: dict[str, Any]
) -> None:
    told = veritrail("ask", "claims", "zz-quay-2", "--json").json
    at = told["columns"].index("claim_id")
    assert [row[at] for row in told["rows"]] == ["cost-1", "cost-2", "name"]
    found = veritrail("ask", "quay", "old", "--process", "zz-quay-2", "--json").json
    assert {each["claim_id"] for each in found["results"]} >= {"name"}
    assert "veritrail ask --list" in veritrail("ask", status=2).err


def test_compare_takes_whatever_both_names_are(veritrail: Veritrail, run: dict[str, Any]) -> None:
    other = veritrail("verify", "zz-quay-2", "--claim-id", "name", "--q", "1", "--json").json
    runs = [each["run_id"] for each in (run, other)]
    assert veritrail("compare", *(name[:12] for name in runs), "--json").json["a"]["kind"] == "run"
    assert veritrail("compare", "zz-quay-2", *runs, "--json").json["process_id"] == "zz-quay-2"
    trails = [each["verifications"][0]["verification_id"] for each in (run, other)]
    assert veritrail("compare", *trails, "--json").json["same_claim"]
    asked = veritrail("verify", "zz-quay-2", "--claim", "Is the quay old?", "--json").json["run_id"]
    found = veritrail("compare", "zz-quay-2", asked, runs[0], "--json").json
    assert (found["a"]["claims"], found["a"]["kind"]) == (1, "run")
    versions = veritrail("compare", "zz-quay-1", "zz-quay-2", "--json").json
    assert versions == veritrail("diff", "zz-quay-1", "zz-quay-2", "--json").json
    assert "these are neither" in veritrail("compare", *trails, "--csv", "x.csv", status=2).err
    assert "veritrail compare A B" in veritrail("compare", "zz-quay-2", status=2).err


def test_claims_of_ones_own_are_added_without_verifying(
    veritrail: Veritrail, run: dict[str, Any]
) -> None:
    added = veritrail("claims", "add", "zz-quay-1", "The quay is long.", "--json").json
    assert added["claims_added"] == 1
    assert added["claims"][0]["text"] == "The quay is long."


def test_a_report_is_also_an_export_by_its_ending(
    veritrail: Veritrail, run: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "quay.prov.json"
    veritrail("report", "zz-quay-2", "-o", str(path))
    assert "prefix" in json.loads(path.read_text("utf-8"))
    assert "/shared/" in veritrail("report", "zz-quay-2", "--share").out
    told = veritrail("report", "zz-quay-2", "--claim", "name", "-o", f"{path}.graphml", status=2)
    assert "export of the whole process" in told.err


def test_a_value_may_be_a_negative_number(veritrail: Veritrail, tmp_path: Path) -> None:
    nodes = [{"node_id": "a", "text": "It was -5 degrees."}, {"node_id": "t", "text": "So cold."}]
    edges = [{"source": "a", "target": "t"}]
    veritrail("ingest", process_file(tmp_path / "cold.json", nodes=nodes, edges=edges))
    for command in ("ask", "query"):
        found = veritrail(command, "first_seen", "cold", "-5", "--json").json
        assert [row[1] for row in found["rows"]] == ["a"]
    assert "No such option: -x" in veritrail("ask", "first_seen", "cold", "-x", status=2).err
    assert "at least 1" in veritrail("ask", "cold", "--limit", "-5", status=2).err
