"""Only what changed: verdicts of an earlier version that are kept, from the command line on."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from acceptance.command import Veritrail
from acceptance.model_fixtures import asking, expected, outcome, pumps
from acceptance.rest.job_calls import Calls
from fakes.model_server import ModelServer
from fakes.service_process import serving

pytestmark = pytest.mark.engine

CLAIMS = 3
Edit = Callable[[dict[str, Any]], None]


def edited(folder: Path, name: str, edit: Edit, claims: int = CLAIMS) -> str:
    """The file of a process of pumps after an edit."""
    path = Path(pumps(folder / f"{name}.json", claims))
    document = json.loads(path.read_text())
    document["process_id"] = name
    edit(document)
    path.write_text(json.dumps(document))
    return str(path)


def text(node_id: str, addition: str) -> Edit:
    def edit(document: dict[str, Any]) -> None:
        (node,) = [node for node in document["nodes"] if node["node_id"] == node_id]
        node["text"] += addition

    return edit


def claim_text(claim_id: str, words: str) -> Edit:
    def edit(document: dict[str, Any]) -> None:
        (claim,) = [one for one in document["claims"] if one["claim_id"] == claim_id]
        claim["text"] = words

    return edit


def nothing(_document: dict[str, Any]) -> None:
    """Leave it as it is."""


def kept(told: Any) -> set[str]:
    return {one["claim_id"] for one in told["verifications"] if one["reused_from"] is not None}


def test_what_a_change_cannot_touch_is_kept_and_the_rest_is_verified(
    veritrail: Veritrail, tmp_path: Path
) -> None:
    with ModelServer() as server:
        settings = asking(server)
        veritrail("ingest", edited(tmp_path, "since-old", nothing))
        before = veritrail("verify", "since-old", "--json", **settings).json
        veritrail("ingest", edited(tmp_path, "since-new", text("r2", " It snows.")))
        server.reset()
        estimate = ("estimate", "since-new", "--since", "since-old")
        guess = veritrail(*estimate, "--json", **settings).json
        guessed = veritrail(*estimate, **settings).err
        by_words = veritrail(*estimate, "--engine", "lexical").err
        keyless = veritrail(*estimate, "--model", "gpt-6-luna").err
        assert len(server.requests) == 0
        again = ("verify", "since-new", "--since", "since-old", "--no-cache")
        told = veritrail(*again, "--json", **settings).json
        asked = len(server.requests)
        full = veritrail("verify", "since-new", "--again", "--no-cache", "--json", **settings).json
        same = ("verify", "since-new", "--since", "since-old", "--json")
        stored = veritrail(*same, **settings).json
        cached = veritrail(*same, "--again", **settings).json
    assert outcome(told) == outcome(full) == expected(CLAIMS)
    assert (told["kept"], told["verified"], told["changed"]) == (1, 2, 0)
    assert (guess["kept"], guess["claims"], guess["since"]) == (1, 2, "since-old")
    assert "1 verdict of since-old would be kept" in guessed
    for words in (by_words, keyless):
        assert "these figures are those of a whole run" in words
    # The walk of k1 finds nothing in the summaries, so it reads all roots.
    assert kept(told) == {"k0"}
    by_claim = {one["claim_id"]: one for one in before["verifications"]}
    for one in told["verifications"]:
        earlier = by_claim[one["claim_id"]]["verification_id"]
        assert one["compared_with"] == earlier
        assert one["reused_from"] in (earlier, None)
        assert one["process_id"] == "since-new"
        if one["reused_from"] is None:
            assert one["reuse_reason"] == "iteration 2: the text of 'r2' changed"
    assert told["usage"]["calls"] == asked > 0
    saved = told["changes"]
    assert saved["saved_calls"] == full["usage"]["calls"] - asked
    assert saved["saved_share"] == pytest.approx(1 - asked / full["usage"]["calls"])
    assert (saved["calls_made"], saved["cached_calls"]) == (asked, 0)
    assert saved["calls_spared_share"] == pytest.approx(saved["saved_share"])
    assert (stored["usage"]["calls"], stored["changes"]["calls_made"]) == (0, 0)
    assert stored["changes"]["calls"] == full["usage"]["calls"]
    figures = cached["changes"]
    assert figures["calls_made"] == cached["usage"]["calls"] > 0
    assert figures["cached_calls"] == asked - figures["calls_made"] > 0
    every = full["usage"]["calls"]
    assert figures["calls_spared_share"] == pytest.approx(1 - figures["calls_made"] / every)
    rows = veritrail("query", "reused", "--param", "process_id=since-new", "--json").json["rows"]
    assert len(rows) == len(kept(told)) + len(kept(cached)) == 2
    shown = veritrail("show", one_kept(told)).out
    assert "kept from" in shown


def one_kept(told: Any) -> str:
    return next(str(one["verification_id"]) for one in told["verifications"] if one["reused_from"])


def test_a_kept_verdict_is_told_and_is_not_verified_again(
    veritrail: Veritrail, tmp_path: Path
) -> None:
    with ModelServer() as server:
        settings = asking(server)
        veritrail("ingest", edited(tmp_path, "since-a", nothing, 3))
        veritrail("verify", "since-a", **settings)
        veritrail("ingest", edited(tmp_path, "since-b", text("t", " More."), 3))
        estimate = ("estimate", "since-b", "--since", "since-a")
        guess = veritrail(*estimate, "--json", **settings).json
        assert (guess["kept"], guess["claims"], guess["high"]["calls"]) == (3, 0, 0)
        assert "3 verdicts" in veritrail(*estimate, **settings).err
        ran = veritrail("verify", "since-b", "--since", "since-a", **settings)
        assert "3 of 3 verdicts kept, 0 claims verified anew." in ran.err
        assert "0 calls were made: 100% of the calls saved." in ran.err
        server.reset()
        again = veritrail("verify", "since-b", "--json", "--no-cache", **settings).json
        assert (again["reused"], len(server.requests)) == (3, 0)
        whole = veritrail("export", "since-b", "-o", str(tmp_path / "out.json"))
        assert whole.status == 0
        veritrail("delete", "since-b", "--yes")
        veritrail("ingest", str(tmp_path / "out.json"))
        back = veritrail("verify", "since-b", "--json", **settings).json
    assert {one["reused_from"] for one in back["verifications"]} == {
        one["reused_from"] for one in again["verifications"]
    }
    linked = veritrail("query", "reused", "--param", "process_id=since-b", "--json").json
    assert [row[linked["columns"].index("is_stored")] for row in linked["rows"]] == [True] * 3


def test_last_finds_a_kept_version_and_what_was_there_before_an_append(
    veritrail: Veritrail, tmp_path: Path
) -> None:
    name = "since-last"
    with ModelServer() as server:
        settings = asking(server)
        run = ("verify", name, "--since", "last", "--json")
        veritrail("ingest", edited(tmp_path, name, nothing))
        refused = veritrail(*run, status=2, **settings)
        assert "No verification of an earlier version" in refused.message
        veritrail("verify", name, **settings)
        # Appended: a root that only one summary reads.
        more = {
            "format": "veritrail.process/1",
            "process_id": name,
            "nodes": [{"node_id": "r9", "text": "It hails.", "stage": 1}],
            "edges": [{"source": "r9", "target": "s1"}],
        }
        (tmp_path / "more.json").write_text(json.dumps(more))
        veritrail("ingest", str(tmp_path / "more.json"), "--append")
        told = veritrail(*run, **settings).json
        assert kept(told) == {"k0", "k2"}
        assert told["changes"]["since"] == name
        diff = veritrail("diff", "last", name, status=2)
        assert "cannot be compared" in diff.err

        replacing = edited(tmp_path, name, text("r1", " Fog."))
        stored = veritrail("ingest", replacing, "--replace", "--keep", "--json").json
        assert stored["kept_as"].startswith(f"{name}.")
        listed = veritrail("list", stored["kept_as"], "--json").json["verifications"]
        assert stored["kept_verifications"] == len(listed) > 0
        assert (stored["removed_verifications"], stored["removed_reviews"]) == (0, 0)
        told = veritrail(*run, **settings).json
        assert told["changes"]["since"] == stored["kept_as"]
        assert kept(told) == {"k0", "k2"}
        by_hash = (
            "verify",
            name,
            "--since",
            told["changes"]["content_hash"][:12].upper(),
            "--again",
        )
        assert kept(veritrail(*by_hash, "--json", **settings).json) == kept(told)
        found = veritrail("diff", "last", name, "--json").json
    assert (found["nodes_removed"], found["nodes_changed"]) == (["r9"], ["r1"])
    assert (found["inputs_changed"], found["edges_removed"]) == (["s1"], 1)
    (texts,) = found["texts"]
    assert (texts["node_id"], texts["after"]) == ("r1", texts["before"] + " Fog.")
    words = veritrail("diff", "last", name)
    assert "1 removed" in words.err
    assert "*Fog*." in words.out
    gone = veritrail("verify", name, "--since", "0" * 64, status=2)
    assert "removes its earlier content" in gone.err
    assert "--keep" in gone.err
    short = veritrail("verify", name, "--since", "deadbeef", status=2).err
    assert "no earlier version 'deadbeef'" in short
    assert "at least 12 digits" in short
    assert "no earlier version 'nosuch'" in veritrail("diff", "nosuch", name, status=2).err
    for old in ("last", name):
        assert "No process 'nosuch' is stored" in veritrail("diff", old, "nosuch", status=2).err


def test_the_pages_say_what_a_run_since_an_earlier_version_kept(
    home: Veritrail, tmp_path: Path
) -> None:
    with ModelServer() as model, serving(home, env=asking(model)) as service:
        home("ingest", edited(tmp_path, "page-old", nothing))
        calls = Calls(service.url)
        before = calls.wait(calls.submit("page-old"), seconds=30)
        home("ingest", edited(tmp_path, "page-new", text("r2", " It snows.")))
        job = calls.wait(calls.submit("page-new", since="page-old"), seconds=30)
        assert calls.outcome(job) == calls.outcome(before) == expected(CLAIMS)
        assert (job["since"], before["since"]) == ("page-old", None)
        page = service.get(f"/jobs/{job['job_id']}").text
        assert '<a href="/processes/page-old"><bdi>page-old</bdi></a>' in page
        assert "<dt>Kept</dt><dd>1</dd>" in page
        assert "<dt>Verified anew</dt><dd>2</dd>" in page
        assert "iteration 2: the text of &#39;r2&#39; changed" in page
        summary = "Since earlier versions: 1 verdict kept, 0 changed, 0 the same with other error"
        for name, says in (
            ("markdown", "kept from `v-"),
            ("junit", 'name="veritrail.reused_from"'),
        ):
            report = home("report", "page-new", "--format", name).out
            assert summary in report
            assert report.count(says) == 1
        csv_text = home("report", "page-new", "--format", "csv").out
        rows = list(csv.DictReader(io.StringIO(csv_text, newline="")))
        assert sum(bool(row["reused_from"]) for row in rows) == 1
        assert {row["verdict_before"] for row in rows} == {row["verdict"] for row in rows}
        one = next(each for each in calls.verifications(job) if each["reused_from"])
        link = f"/processes/page-old/claims/{one['claim_id']}?verification={one['reused_from']}"
        claim = f"/processes/page-new/claims/{one['claim_id']}"
        assert f'<a href="{link}">' in service.get(claim).text
        assert service.get(link).status_code == 200
        assert "Since the earlier version" not in service.get(f"/jobs/{before['job_id']}").text
        home("delete", "page-old", "--yes")
        assert "which is not stored any more" in service.get(claim).text


def test_claims_with_other_texts_are_kept_where_a_person_matched_them(
    veritrail: Veritrail, tmp_path: Path
) -> None:
    with ModelServer() as server:
        settings = asking(server)
        veritrail("ingest", edited(tmp_path, "match-a", nothing, 3))
        old = veritrail("verify", "match-a", "--json", **settings).json
        words = old["verifications"][0]["claim"].rstrip(".") + " indeed."
        veritrail("ingest", edited(tmp_path, "match-b", claim_text("k0", words), 3))
        run = ("verify", "match-b", "--since", "match-a", "--json", "--again")
        told = veritrail(*run, **settings).json
        assert kept(told) == {"k1", "k2"}
        (likely,) = told["changes"]["possible_matches"]
        assert (likely["earlier"], likely["claim_id"]) == ("k0", "k0")
        (tmp_path / "pairs.csv").write_text("earlier,claim_id\nk0,k0\n")
        told = veritrail(*run, "--match", str(tmp_path / "pairs.csv"), **settings).json
        assert kept(told) == {"k0", "k1", "k2"}
        first = next(one for one in told["verifications"] if one["claim_id"] == "k0")
        assert first["claim"] == words
        assert "a person confirmed" in first["reuse_reason"]
        diff = ("diff", "match-a", "match-b")
        assert len(veritrail(*diff, "--json").json["claims"]) == 2
        (one,) = veritrail(*diff, "--match", str(tmp_path / "pairs.csv"), "--json").json["claims"]
        assert (one["claim_id_before"], one["claim_id"], one["claim"]) == ("k0", "k0", words)
        assert one["claim_before"] == old["verifications"][0]["claim"]
        assert "*indeed*" in veritrail(*diff, "--match", str(tmp_path / "pairs.csv")).out
        once = ("verify", "match-b", "--since", "match-a", "--json")
        told = veritrail(*once, "--match", str(tmp_path / "pairs.csv"), **settings).json
        assert kept(told) == {"k0", "k1", "k2"}, "a pair is compared without --again"
        (tmp_path / "other.csv").write_text("earlier,claim_id\nk2,k0\n")
        corrected = veritrail(*once, "--match", str(tmp_path / "other.csv"), **settings).json
        by_id = {one["verification_id"]: one["claim_id"] for one in old["verifications"]}
        (now,) = (one for one in corrected["verifications"] if one["claim_id"] == "k0")
        assert by_id[now["compared_with"]] == "k2", "the pair of now counts"
        plain = veritrail("verify", "match-b", "--json", **settings).json
        (now,) = (one for one in plain["verifications"] if one["claim_id"] == "k0")
        assert now["reused_from"] is None, "without the pair its verdict is no kept one"
        (tmp_path / "wrong.csv").write_text("earlier,claim_id\nnosuch,k0\n")
        estimate = ("estimate", "match-b", "--since", "match-a")
        for asked in (diff, run[:-2], estimate):
            wrong = veritrail(
                *asked, "--json", "--match", str(tmp_path / "wrong.csv"), status=2, **settings
            ).json["error"]
            (fault,) = wrong["violations"]
            assert (fault["kind"], fault["where"]) == ("unknown_claim", "match[0].earlier")
            assert fault["message"] == "'match-a' has no claim 'nosuch'"
        spared = veritrail(
            *estimate, "--json", "--match", str(tmp_path / "pairs.csv"), **settings
        ).json
        assert spared["kept"] == 3
        alone = ("verify", "match-b", "--match", str(tmp_path / "pairs.csv"))
        assert "--since" in veritrail(*alone, status=2, **settings).err
        (tmp_path / "wrong.csv").write_text("earlier,claim_id\nk0,nosuch\nk9,k0\n")
        wrong = veritrail(*run, "--match", str(tmp_path / "wrong.csv"), status=2, **settings).json[
            "error"
        ]
        assert [one["where"] for one in wrong["violations"]] == [
            "match[0].claim_id", "match[1].earlier",
        ]  # fmt: skip
        (tmp_path / "over.csv").write_text("earlier,claim_id\nk1,k2\n")
        told = veritrail(*run, "--match", str(tmp_path / "over.csv"), **settings).json
        by_text = next(one for one in told["verifications"] if one["claim_id"] == "k2")
        assert "a person confirmed" not in by_text["reuse_reason"], "its text is matched first"
        (tmp_path / "twice.csv").write_text("earlier,claim_id\nk0,k0\nk0,k1\n")
        twice = veritrail(*run, "--match", str(tmp_path / "twice.csv"), status=2, **settings).json
        assert twice["error"]["violations"][0]["kind"] == "repeated_claim"
        lone = veritrail("verify", "match-b", "--batch-finish", "live", status=2, **settings)
        assert "Add --batch" in lone.err
        other = veritrail(*run, "--q", "1", **settings).json
    assert other["kept"] == 0
    assert "other settings: q" in other["verifications"][1]["reuse_reason"]
