"""A matrix is read into configurations, and run so that nothing is asked twice."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from veritrail_eval.app.estimate import checked_matrix
from veritrail_eval.datasets.model import LabelledClaim
from veritrail_eval.methods import registry
from veritrail_eval.methods.method import MethodOutcome, Resources
from veritrail_eval.methods.registry import MethodKind
from veritrail_eval.reporting.run_folder import read_run_folder
from veritrail_eval.runs.matrix import SampleBy, read_matrix
from veritrail_eval.runs.outcomes import KeptOutcome, OutcomeFile, Preparation
from veritrail_eval.runs.runner import OUTCOMES, MatrixRun, load
from veritrail_eval.runs.summary import RunSummary
from veritrail_graph.api.settings import Settings
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model import Status, Usage, Verdict
from veritrail_graph.verifier.held_process import HeldProcess
from veritrail_graph.verifier.models.port import (
    EndpointRefused,
    Meter,
    OverBudget,
    StepCall,
    TransportFault,
)

HARBOUR = Path(__file__).resolve().parents[3] / "examples/harbour-summary.json"


class Coin:
    """A method that says the same of every claim, and writes down what it was asked."""

    name = "coin"

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        self.settings = parameters
        self.asked: list[str] = []
        self.fails: set[str] = set()
        self.affords = 10_000

    async def prepare(self, processes: Sequence[HeldProcess], meter: Meter) -> None:
        meter.record(StepCall("embedding", "", "", "m", None), Usage(calls=1, cost_usd=0.5))

    async def judge(
        self, claim: LabelledClaim, process: HeldProcess, meter: Meter
    ) -> MethodOutcome:
        await asyncio.sleep(0)
        self.asked.append(claim.claim_id)
        facts = {"process_id": claim.process_id, "claim_id": claim.claim_id}
        if len(self.asked) > self.affords:
            return MethodOutcome(status=Status.OVER_BUDGET, reason="all is spent", **facts)
        if claim.claim_id in self.fails:
            return MethodOutcome(status=Status.FAILED, reason="as scripted", **facts)
        verdict = Verdict(self.settings["says"])
        return MethodOutcome(status=Status.SUCCEEDED, verdict=verdict, **facts)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> dict[str, Coin]:
    """The configurations of the method by what they say; one that is there is used again."""
    coins: dict[str, Coin] = {}

    async def make(parameters: Mapping[str, Any], _resources: Resources) -> Coin:
        return coins.setdefault(parameters["says"], Coin(parameters))

    kind = MethodKind("coin", "says the same", {"says": "what", "k": "how many"}, make)
    monkeypatch.setattr(registry, "method_kinds", lambda: {"coin": kind})
    return coins


def _matrix(folder: Path, methods: str, data: str = "") -> Path:
    path = folder / "matrix.toml"
    path.write_text(
        f'name = "m"\n[[dataset]]\npath = "{HARBOUR.as_posix()}"\n{data}\n{methods}', "utf-8"
    )
    return path


def _run(matrix: Path, folder: Path) -> RunSummary:
    run = MatrixRun(read_matrix(matrix), folder, nullcontext)  # type: ignore[arg-type]
    return asyncio.run(run.run())


ONE = '[[method]]\nmethod = "coin"\nsays = "FULLY_SUPPORTED"\n'


@pytest.mark.usefixtures("made")
def test_lists_are_tried_value_by_value(tmp_path: Path) -> None:
    text = '[[method]]\nmethod = "coin"\nlabel = "C"\nsays = ["INCONCLUSIVE"]\nk = [1, 3]\n'
    matrix = read_matrix(_matrix(tmp_path, ONE + text))
    assert [one.title for one in matrix.configurations] == [
        "coin (says = FULLY_SUPPORTED)",
        "C (says = INCONCLUSIVE, k = 1)",
        "C (says = INCONCLUSIVE, k = 3)",
    ]
    assert len({one.configuration_id for one in matrix.configurations}) == 3
    assert matrix.datasets[0].name == "harbour-summary"


@pytest.mark.usefixtures("made")
@pytest.mark.parametrize(
    ("methods", "data", "said"),
    [
        ("", "", r"needs at least one table \[\[method\]\]"),
        ('[[method]]\nmethod = "x"', "", "Unknown method 'x'. Known methods: coin"),
        ('[[method]]\nsays = "x"', "", "the key 'method' is missing"),
        (f"{ONE}sasy = 1", "", "unknown key 'sasy'; known keys: datasets, k, label, method, says"),
        (ONE + "k = []", "", "k is an empty list"),
        (ONE + "k = nan", "", r"method 1 \(coin\): k has the value nan"),
        (ONE + "k = [1, inf]", "", "k has the value inf"),
        (ONE + "k = { a = 1 }", "", "k has the value {'a': 1}"),
        (ONE + ONE, "", "is in the matrix twice"),
        (ONE + ONE + 'datasets = "harbour-summary"', "", "is in the matrix twice"),
        (ONE + "datasets = []", "", "datasets must name data sets of the matrix"),
        (
            ONE + 'datasets = ["books"]',
            "",
            r"method 1 \(coin\): datasets: there is no data set 'books'; there are: harbour",
        ),
        (
            ONE + 'datasets = "a"',
            f'name = "a"\n[[dataset]]\npath = "{HARBOUR.as_posix()}"',
            "dataset 2: no method judges it",
        ),
        (ONE, 'sample = "x"', "sample must be such as"),
        (ONE, 'sample = { by = "page", count = 1 }', "by must be one of document, question, claim"),
        (ONE, "sample = { count = 0 }", "count must be a whole number"),
        (ONE, '[[dataset]]\npath = "absent.json"', "absent.json: no such file or folder"),
        (ONE + "[", "", "is not TOML"),
    ],
)
def test_a_wrong_matrix_says_what_is_wrong(
    tmp_path: Path, methods: str, data: str, said: str
) -> None:
    with pytest.raises(InputError) as raised:
        read_matrix(_matrix(tmp_path, methods, data))
    faults = [str(raised.value), *map(str, raised.value.violations)]
    assert any(re.search(said, fault) for fault in faults), faults


def test_all_faults_of_a_matrix_come_at_once_with_their_places(tmp_path: Path) -> None:
    (tmp_path / "half").mkdir()
    (tmp_path / "half" / "model.onnx").write_bytes(b"")
    path = tmp_path / "m.toml"
    path.write_text(
        f"""
        sed = 1
        [[dataset]]
        path = "{HARBOUR.as_posix()}"
        format = "none"
        [[method]]
        method = "veritrail"
        engine = "lexical"
        q = [0, 2]
        max_sentences = -1
        threshold = 7
        [[method]]
        method = "rag"
        engine = "lexical"
        embedding = "half"
        k = [5, 0]
        [[method]]
        method = "alignscore"
        model = "gone"
        threshold = 1.5
        k = "many"
        [[method]]
        method = "hhem"
        model = "gone"
        [[method]]
        method = "summac_zs"
        model = "half"
        """,
        "utf-8",
    )
    settings = Settings(home=tmp_path / "home")
    with pytest.raises(InputError, match=r"m\.toml has 11 faults; nothing was judged") as raised:
        asyncio.run(checked_matrix(settings, path))
    found = {str(one) for one in raised.value.violations}
    first = "m.toml: method 1 (veritrail): "
    assert found >= {
        "m.toml: unknown key 'sed'; known keys: dataset, method, name, seed",
        f"{first}q must be a whole number of 1 or more, not 0",
        f"{first}max_sentences: must be at least 1",
        f"{first}threshold 7 cannot be met by 1 sample(s)",
        "m.toml: method 2 (rag): k must be a whole number of 1 or more, not 0",
        f"m.toml: method 2 (rag): {tmp_path}/half holds no tokenizer.json; an embedding model "
        "needs it.",
        "m.toml: method 3 (alignscore): threshold must be a number from 0 to 1, not 1.5",
        "m.toml: method 3 (alignscore): k must be a whole number of 1 or more, not 'many'",
        "m.toml: method 3 (alignscore), method 4 (hhem): There is no folder gone, and no model of "
        "this name was downloaded.",
        f"m.toml: method 5 (summac_zs): {tmp_path}/half holds no tokenizer.json; an entailment "
        "model needs it.",
    }
    assert any(one.startswith("m.toml: dataset 1: unknown format 'none'") for one in found)


def test_a_method_judges_the_data_sets_that_it_names(tmp_path: Path, made: dict[str, Coin]) -> None:
    again = f'name = "a"\n[[dataset]]\nname = "b"\npath = "{HARBOUR.as_posix()}"'
    other = ONE.replace("FULLY_SUPPORTED", "INCONCLUSIVE")
    path = _matrix(tmp_path, f'{ONE}datasets = "b"\n{other}{ONE}datasets = ["a"]', again)
    matrix = read_matrix(path)
    assert [one.datasets for one in matrix.configurations] == [("b", "a"), None]
    folder = tmp_path / "out"
    only = _matrix(tmp_path, f'{ONE}datasets = ["b"]\n{other}', again)
    summary = _run(only, folder)
    claims = len(load(matrix.datasets[0], 0).claims)
    assert summary.judged == 3 * claims
    assert len(made["FULLY_SUPPORTED"].asked) == claims
    read = read_run_folder(folder)
    assert [(run.dataset.name, run.configuration.parameters["says"]) for run in read.runs] == [
        ("a", "INCONCLUSIVE"), ("b", "FULLY_SUPPORTED"), ("b", "INCONCLUSIVE"),
    ]  # fmt: skip
    assert all(len(run.outcomes) == claims for run in read.runs)
    assert read.foreign == 0
    path = _matrix(tmp_path, f'{ONE}datasets = ["a"]\n{other}', again)
    assert _run(path, folder).judged == claims
    assert read_run_folder(folder).foreign == claims + 1  # outcomes of b, and its preparation


def test_a_preparation_that_fails_fails_its_claims_and_not_the_run(
    tmp_path: Path, made: dict[str, Coin]
) -> None:
    other = ONE.replace("FULLY_SUPPORTED", "INCONCLUSIVE")
    path, folder = _matrix(tmp_path, ONE + other), tmp_path / "out"
    coin = made["FULLY_SUPPORTED"] = Coin({"says": "FULLY_SUPPORTED"})
    failures: list[Exception] = [
        TransportFault("no answer within 120 s"), EndpointRefused("401"), OverBudget("spent"),
        InputError("an extra is missing"),
    ]  # fmt: skip

    async def unprepared(_processes: Sequence[HeldProcess], meter: Meter) -> None:
        meter.record(StepCall("embedding", "", "", "m", None), Usage(calls=1, cost_usd=0.25))
        raise failures.pop(0)

    prepare = coin.prepare
    coin.prepare = unprepared  # type: ignore[method-assign]
    summary = _run(path, folder)
    claims = len(load(read_matrix(path).datasets[0], 0).claims)
    assert summary.unfinished == {Status.FAILED: claims}
    assert summary.judged == 2 * claims
    assert summary.spent.cost_usd == 0.25 + 0.5
    first, second = read_run_folder(folder).runs
    assert first.faults() == {"the preparation of coin failed: no answer within 120 s": claims}
    assert [one.cost_usd for one in first.prepared] == [0.25]
    assert second.endings() == {"INCONCLUSIVE": claims}
    for expected in (EndpointRefused, OverBudget, InputError):
        with pytest.raises(expected):
            _run(path, folder)
    coin.prepare = prepare  # type: ignore[method-assign]
    assert not _run(path, folder).unfinished


def test_what_has_an_outcome_is_not_asked_again(tmp_path: Path, made: dict[str, Coin]) -> None:
    folder = tmp_path / "out"
    path = _matrix(tmp_path, ONE)
    coin = made["FULLY_SUPPORTED"] = Coin({"says": "FULLY_SUPPORTED"})
    loaded = load(read_matrix(path).datasets[0], 0)
    failing = loaded.claims[0].claim_id
    coin.fails = {failing}
    first = _run(path, folder)
    assert (first.judged, first.known) == (len(loaded.claims), 0)
    assert first.unfinished == {Status.FAILED: 1}
    assert (first.spent.calls, first.spent.cost_usd) == (1, 0.5)
    coin.fails, coin.asked = set(), []
    second = _run(path, folder)
    assert coin.asked == [failing]
    assert (second.judged, second.known) == (1, len(loaded.claims) - 1)
    lines = list(OutcomeFile(folder / OUTCOMES).read())
    assert sum(isinstance(one, Preparation) for one in lines) == 2
    assert {one.outcome.key for one in lines if isinstance(one, KeptOutcome)} == {
        claim.key for claim in loaded.claims
    }


@pytest.mark.usefixtures("made")
def test_a_claim_knows_who_wrote_at_each_stage_and_what_annotators_said(tmp_path: Path) -> None:
    steps = ["Tool", "Planner", "Coder", "Planner"]
    nodes = [
        {"node_id": f"n{stage}", "text": f"Text {stage}.", "stage": stage, "step": step}
        for stage, step in enumerate(steps, 1)
    ]
    edges = [{"source": f"n{stage}", "target": f"n{stage + 1}"} for stage in (1, 2, 3)]
    rows = [
        {"format": "veritrail.dataset/1", "name": "d"},
        {"process": {"process_id": "p", "nodes": nodes, "edges": edges}},
    ]
    shares = {"NOT_FULLY_SUPPORTED": 0.75, "INCONCLUSIVE": 0.25}
    rows += [
        {"claim": {"process_id": "p", "text": "A text.", "label": "NOT_FULLY_SUPPORTED", **more}}
        for more in (
            {"claim_id": "a", "error_stages": [2]},
            {"claim_id": "b", "label_distribution": shares},
        )
    ]
    (tmp_path / "d.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    path = tmp_path / "m.toml"
    path.write_text(f'[[dataset]]\npath = "d.jsonl"\n{ONE}', "utf-8")
    _run(path, tmp_path / "out")
    (dataset,) = read_run_folder(tmp_path / "out").record.datasets
    assert [dict(claim.steps) for claim in dataset.claims] == [
        {2: ("Planner",), 3: ("Coder",), 4: ("Planner",)}, {},
    ]  # fmt: skip
    assert [claim.annotators for claim in dataset.claims] == [None, shares]


def test_another_text_of_a_claim_is_asked_anew(tmp_path: Path, made: dict[str, Coin]) -> None:
    value = json.loads(HARBOUR.read_text("utf-8"))
    copy = tmp_path / "copy.json"
    path = tmp_path / "matrix.toml"
    path.write_text(f'[[dataset]]\npath = "copy.json"\n{ONE}', "utf-8")
    copy.write_text(json.dumps(value), "utf-8")
    _run(path, tmp_path / "out")
    changed = next(one for one in value["claims"] if one["label"] == "FULLY_SUPPORTED")
    changed["text"] += " Really."
    copy.write_text(json.dumps(value), "utf-8")
    made["FULLY_SUPPORTED"].asked = []
    _run(path, tmp_path / "out")
    assert made["FULLY_SUPPORTED"].asked == [changed["claim_id"]]


def test_a_spent_budget_ends_the_run_and_keeps_what_was_judged(
    tmp_path: Path, made: dict[str, Coin]
) -> None:
    coin = made["FULLY_SUPPORTED"] = Coin({"says": "FULLY_SUPPORTED"})
    coin.affords = 5
    path, folder = _matrix(tmp_path, ONE), tmp_path / "out"
    with pytest.raises(OverBudget, match="all is spent"):
        _run(path, folder)
    coin.affords, coin.asked = 10_000, []
    assert _run(path, folder).known == 5


def test_a_line_that_was_cut_off_is_passed_over_and_a_broken_one_is_told(
    tmp_path: Path, made: dict[str, Coin]
) -> None:
    path, folder = _matrix(tmp_path, ONE), tmp_path / "out"
    _run(path, folder)
    outcomes = folder / OUTCOMES
    whole = outcomes.read_bytes()
    outcomes.write_bytes(whole[:-20])
    made["FULLY_SUPPORTED"].asked = []
    assert _run(path, folder).judged == 1
    assert outcomes.read_bytes().count(b"\n") == whole.count(b"\n") + 1  # prepared once more
    outcomes.write_bytes(b"{}\n" + whole)
    with pytest.raises(InputError, match=r"line 1: is no outcome"):
        _run(path, folder)


@pytest.mark.usefixtures("made")
@pytest.mark.parametrize("by", list(SampleBy))
def test_a_sample_is_the_same_with_the_same_seed(tmp_path: Path, by: SampleBy) -> None:
    text = f'sample = {{ by = "{by}", count = 1 }}'
    entry = read_matrix(_matrix(tmp_path, ONE, text)).datasets[0]
    first, again = load(entry, 7).claims, load(entry, 7).claims
    assert first == again
    assert len(first) == (1 if by is SampleBy.CLAIM else len(load(entry, 8).claims))


def test_the_small_matrix_draws_claims_of_both_labels_from_both_samples() -> None:
    matrix = read_matrix(HARBOUR.parent / "evaluation/small-local.toml")
    for entry in matrix.datasets:
        claims = load(entry, matrix.seed).claims
        assert len(claims) == 3
        assert len({one.label for one in claims}) == 2, entry.name


@pytest.mark.usefixtures("made")
def test_two_runs_do_not_write_to_one_folder(tmp_path: Path) -> None:
    from filelock import FileLock

    folder = tmp_path / "out"
    folder.mkdir()
    with FileLock(folder / ".lock"), pytest.raises(InputError, match="take another folder"):
        _run(_matrix(tmp_path, ONE), folder)


@pytest.mark.usefixtures("made")
def test_a_run_that_the_lock_refuses_writes_no_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from filelock import FileLock

    from veritrail_eval.cli.run import run
    from veritrail_graph.api.cli.exits import Exit

    folder, matrix = tmp_path / "out", _matrix(tmp_path, ONE)
    _run(matrix, folder)
    there = {path.name for path in folder.iterdir()}
    with FileLock(folder / ".lock"), pytest.raises(Exit):
        run(matrix, folder)
    assert "Another run writes" in capsys.readouterr().err
    assert {path.name for path in folder.iterdir()} == there
    assert not (folder / "report.json").exists()
    run(matrix, folder)
    assert (folder / "report.json").exists()


@pytest.mark.parametrize("name", ["all-tables.toml", "paper.toml"])
def test_limits_of_roots_and_other_nodes_move_together(tmp_path: Path, name: str) -> None:
    shipped = (HARBOUR.parent / "evaluation" / name).read_text(encoding="utf-8")
    path = tmp_path / name
    if name == "paper.toml":  # its costly entries are comments
        head, costly, rest = shipped.partition("# Table 4")
        shipped = head + costly + rest.replace("\n# ", "\n")
    path.write_text(shipped.replace("../", f"{HARBOUR.parent.as_posix()}/"), encoding="utf-8")
    rows = [one for one in read_matrix(path).configurations if one.label == "veritrail, limits"]
    limits = [
        (one.parameters["max_root_sentences"], one.parameters["max_sentences"]) for one in rows
    ]
    assert limits == [(number, number) for number in (20, 40, 80, 160, 320)]
