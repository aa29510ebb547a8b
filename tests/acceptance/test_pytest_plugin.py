"""The pytest plugin: checks that are recorded once and replayed, and what a failing test shows."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from acceptance.command import Veritrail
from acceptance.model_fixtures import asking
from fakes.judged_files import TEXTS, judged_file
from fakes.model_server import ModelServer
from fakes.settings_of import settings_of

from veritrail_graph import Local
from veritrail_graph.api.client import Problem, Rejected
from veritrail_graph.api.client.checks import CheckResult
from veritrail_graph.api.pytest_plugin import CheckedRun, settings_of_run

pytestmark = pytest.mark.engine

FERRY = "The plugin's ferry carries 48 cars."
FEE = "The plugin's fee rises to 4 euros in May."
SOURCES = {"ferry.md": "The plugin's ferry carries 42 cars.", "fees.md": FEE}
ANEW = {"use_cache": False, "again": True}

TESTS = """
def test_right(veritrail):
    result = veritrail.check("The ferry carries 42 cars.", ["The ferry carries 42 cars."])
    result.assert_supported()


def test_wrong(veritrail):
    sources = {"ferry.md": "The ferry carries 42 cars."}
    veritrail.check("The ferry carries 48 cars.", sources).assert_supported()
"""
SHOWN = """\
>       veritrail.check("The ferry carries 48 cars.", sources).assert_supported()
E       AssertionError: 1 claim not supported, 0 allowed
E       ✗ The ferry carries 48 cars.
E           went wrong in  answer  (answer, stage 2 of 2)
E           source  ferry.md#1  The ferry carries *42* cars.
E           wrote               The ferry carries *48* cars.
E       1 claim: 1 wrong.   words compared, no model
"""


def test_what_is_recorded_is_asked_of_no_model_and_replayed_without_a_key(
    veritrail: Veritrail, tmp_path: Path
) -> None:
    record = tmp_path / "answers.jsonl"
    with ModelServer() as server:
        given = settings_of(veritrail.environment(asking(server, VERITRAIL_PRICE="1,1")))
        asks = CheckedRun(given, budget=1.0, record=record)
        first = asks.check(FERRY, SOURCES, **ANEW)
        asked = len(server.requests)
        again = asks.check(FERRY, SOURCES, **ANEW)
        assert len(server.requests) == asked > 0
        more = asks.check(f"{FERRY} {FEE}", SOURCES, **ANEW)
        assert len(server.requests) > asked
        other = CheckedRun(given, model="other", record=record)
        with pytest.raises(Rejected, match=r"answers\.jsonl holds answers of scripted, and other"):
            other.check(FERRY, SOURCES, **ANEW)
        for one in (asks, other):
            one.close()
    assert (again.cost_usd, verdicts(again)) == (0.0, verdicts(first))
    with Local(given) as here:  # as in a run whose home is new
        here.delete(more.processes[0].process_id, force=True)
    without_key = CheckedRun(
        settings_of(veritrail.environment({"VERITRAIL_MODEL": "scripted"})), record=record
    )
    replayed = without_key.check(f"{FERRY} {FEE}", SOURCES)
    assert (replayed.judge.engine, replayed.cost_usd) == ("recorded", 0.0)
    assert verdicts(replayed) == verdicts(more)
    unknown = without_key.check("The plugin's ferry carries 49 cars.", SOURCES)
    with pytest.raises(AssertionError, match="1 could not be checked"):
        unknown.assert_supported()
    without_key.close()


def test_without_a_model_a_recording_is_replayed_unless_a_test_names_an_engine(
    veritrail: Veritrail, tmp_path: Path
) -> None:
    given = settings_of(veritrail.environment({}))
    checks = CheckedRun(given, record=tmp_path / "none.jsonl")
    with pytest.raises(pytest.fail.Exception, match="no such file yet, and no model"):
        checks.check(FERRY, SOURCES)
    assert checks.check(FERRY, SOURCES, engine="lexical").judge.engine == "lexical"
    checks.close()


def test_a_budget_that_is_spent_fails_the_test_before_a_model_is_asked(
    veritrail: Veritrail,
) -> None:
    with ModelServer() as server:
        given = settings_of(veritrail.environment(asking(server, VERITRAIL_PRICE="900,900")))
        checks = CheckedRun(given, budget=1e-6)
        checks.check(FERRY, SOURCES, **ANEW)
        asked = len(server.requests)
        with pytest.raises(pytest.fail.Exception, match="it is spent"):
            checks.check(FERRY, SOURCES, **ANEW)
        assert len(server.requests) == asked
        checks.close()


def test_a_key_that_is_refused_on_the_way_loses_nothing_that_is_finished_or_paid(
    veritrail: Veritrail, tmp_path: Path
) -> None:
    texts = ("The first quay is long.", "The second quay is short.")
    rows = [{"contexts": [text], "answer": text} for text in texts]
    with ModelServer() as server:
        given = settings_of(veritrail.environment(asking(server, VERITRAIL_PRICE="1,1")))
        checks = CheckedRun(given, budget=1.0)
        done = checks.check(rows[:1], use_cache=False)
        spent = checks._spent

        def refuse_from_now_on(_call: object) -> None:
            server.key = "another"

        server.faults = refuse_from_now_on
        with pytest.raises(Problem) as refused:
            checks.check(rows, use_cache=False)
        checks.close()
    found = refused.value.checked
    assert found is not None
    assert [one.process_id for one in found.processes][:1] == [done.processes[0].process_id]
    assert found.processes[0].reused == done.processes[0].claims
    assert found.cost_usd is not None
    assert checks._spent == pytest.approx(spent + found.cost_usd)
    assert found.cost_usd > 0


@pytest.mark.slow
def test_a_run_of_pytest_has_the_fixture_and_shows_findings_also_of_a_file_of_tests(
    veritrail: Veritrail, tmp_path: Path
) -> None:
    (tmp_path / "test_answers.py").write_text(TESTS, encoding="utf-8")
    claims = [
        ("k1", TEXTS["t"], "not-supported", 2),
        ("k2", "The ferry carries 181 people.", "not-supported", 2),
    ]
    written = judged_file(tmp_path / "ferry.json", claims)
    made = veritrail("report", written, "-o", str(tmp_path / "test_ferry.py"))
    assert made.status == 0, made.err
    # Our plug-in alone: those of others take seconds to import.
    alone = veritrail.environment({"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"})
    plugin = ["-p", "veritrail_graph.api.pytest_plugin"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *plugin, "-p", "no:cacheprovider"],
        cwd=tmp_path, env=alone, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "2 failed, 1 passed, 2 skipped" in done.stdout, done.stdout + done.stderr
    assert SHOWN in done.stdout
    assert f"AssertionError: t says it again: {TEXTS['t']}" in done.stdout
    assert "checks.py" not in done.stdout


def test_settings_that_cannot_be_used_are_named_without_a_frame_that_shows_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "veritrail.toml").write_text('api_key = "sk-not-told"\n', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(pytest.fail.Exception, match="api_key") as failed:
        settings_of_run()
    assert failed.value.pytrace is False
    assert "sk-not-told" not in str(failed.value)


def verdicts(result: CheckResult) -> list[tuple[str, str | None]]:
    """Return the claims with their verdicts."""
    return [(one.claim, one.verdict) for one in result.claims]
