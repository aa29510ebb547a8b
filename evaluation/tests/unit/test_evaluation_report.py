"""A report of an evaluation: its figures are those of the rows, and what is left out is counted."""

from __future__ import annotations

import csv
import html
import json
import re
from pathlib import Path
from typing import Any

import pytest
from eval_fakes.judged_runs import FS, INC, NFS, JudgedRun, outcome, paid, random_run

from veritrail_eval.figure_files import read_judged
from veritrail_eval.figures.confusion import CLASSES, Confusion
from veritrail_eval.figures.localization import Localization, LocatedClaim
from veritrail_eval.figures.mcnemar import exact
from veritrail_eval.figures.options import Inconclusive, Resampling
from veritrail_eval.figures.scores import ScoredClaim, scores
from veritrail_eval.reporting.options import ReportOptions
from veritrail_eval.reports.writing import options_of, write_report
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model import Verdict

FEW = ReportOptions(resamples=20)


def rows_of(folder: Path) -> list[dict[str, Any]]:
    """The outcomes that count, read without the code that is tested."""
    record = json.loads((folder / "run.json").read_text())
    latest: dict[tuple[str, str], dict[str, Any]] = {}
    for line in (folder / "outcomes.jsonl").read_text().splitlines():
        one = json.loads(line)
        if "outcome" in one:
            latest[one["configuration"], one["outcome"]["claim_id"]] = one["outcome"]
    labels = {c["claim_id"]: c["label"] for c in record["datasets"][0]["claims"]}
    return [
        {"configuration": name, "label": labels[claim], **latest[name, claim]}
        for name, claim in latest
    ]


def verdict_of(row: dict[str, Any]) -> Verdict | None:
    return Verdict(row["verdict"]) if row["verdict"] else None


def judged(rows: list[dict[str, Any]], names: set[str]) -> list[ScoredClaim]:
    return [
        ScoredClaim(
            row["claim_id"], Verdict(row["label"]), verdict_of(row), row["configuration"],
            row.get("score"),
        )
        for row in rows
        if row["configuration"] in names
    ]  # fmt: skip


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """A run with everything, and its report."""
    folder = tmp_path_factory.mktemp("full")
    random_run(folder)
    return folder, write_report(folder, FEW)


def test_every_table_is_scored_for_itself(full: tuple[Path, dict[str, Any]]) -> None:
    folder, document = full
    rows, (dataset,) = rows_of(folder), document["datasets"]
    tables = [
        document["configurations"],
        dataset["best"]["rows"],
        dataset["ablation"]["rows"],
    ]
    assert [len(table) for table in tables] == [10, 5, 6]
    for table in tables:
        names = {row["configuration_id"] for row in table}
        expected = {one.method: one for one in scores(judged(rows, names))}
        for row in table:
            score = expected[row["configuration_id"]]
            figures = score.confusion.figures()
            assert row["macro_f1"] == figures["macro_f1"].value
            assert row["balanced_accuracy"] == figures["balanced_accuracy"].value
            for kind in ("precision", "recall"):
                assert row[kind] == {n.value: figures[f"{kind}.{n}"].value for n in CLASSES}
            assert row["scored"] == len(score.outcomes)
            assert row["excluded"] == score.excluded.as_json()
            left = sum(row["excluded"].values())
            assert row["scored"] + left == len(dataset_claims(folder))
    assert len({row["macro_f1"] for row in tables[0]}) > 3  # or the comparison says little


def dataset_claims(folder: Path) -> list[dict[str, Any]]:
    return json.loads((folder / "run.json").read_text())["datasets"][0]["claims"]


def test_the_best_of_each_method_has_its_highest_macro_f1(
    full: tuple[Path, dict[str, Any]],
) -> None:
    _, document = full
    for method in ("veritrail", "vt_rag", "rag", "direct", "minicheck"):
        own = [row for row in document["configurations"] if row["method"] == method]
        best = [row for row in own if row["best_of_method"]]
        assert len(best) == 1
        assert best[0]["macro_f1"] == max(row["macro_f1"] for row in own)


def test_soft_prediction_compares_what_has_scores_alone(
    full: tuple[Path, dict[str, Any]],
) -> None:
    folder, document = full
    soft = document["datasets"][0]["soft"]
    names = {row["configuration_id"] for row in soft["rows"]}
    assert {name.partition("-")[0] for name in names} == {"veritrail", "rag", "minicheck"}
    claims = judged(rows_of(folder), names)
    assert soft["claims_without_verdict"] == len(
        {one.claim_id for one in claims if one.verdict is None}
    )
    for one in scores(claims):
        (row,) = [row for row in soft["rows"] if row["configuration_id"] == one.method]
        assert row["auroc"] == one.auroc.value
        assert row["auroc_claims"] == len(one.scored_softly)
    direct = next(row for row in document["configurations"] if row["method"] == "direct")
    assert direct["auroc"] is None
    assert direct["reasons"]["auroc"] == "no scores"


def test_the_best_is_compared_with_the_others(full: tuple[Path, dict[str, Any]]) -> None:
    folder, document = full
    best = document["datasets"][0]["best"]
    names = {row["configuration_id"] for row in best["rows"]}
    found = {one.method: one for one in scores(judged(rows_of(folder), names))}
    first = max(best["rows"], key=lambda row: row["macro_f1"])["configuration_id"]
    assert len(best["comparisons"]) == 4
    for one in best["comparisons"]:
        assert one["configurations"][0] == first
        mine, other = (found[name].outcomes for name in one["configurations"])
        both = mine.keys() & other.keys()
        b = sum(mine[k][0] is mine[k][1] and other[k][0] is not other[k][1] for k in both)
        c = sum(mine[k][0] is not mine[k][1] and other[k][0] is other[k][1] for k in both)
        assert (one["claims"], one["b"], one["c"]) == (len(both), b, c)
        assert one["p_value"] == pytest.approx(exact(b, c))
        first_f1, second_f1 = (
            Confusion.of(cells[k] for k in both).macro_f1.value for cells in (mine, other)
        )
        assert first_f1 is not None
        assert second_f1 is not None
        assert one["macro_f1_difference"] == pytest.approx(first_f1 - second_f1)
        low, high = one["interval"]
        assert low <= one["macro_f1_difference"] <= high
        assert one["beyond_chance"] is (low > 0 or high < 0)


def test_error_stages_are_those_of_the_walking_configurations(
    full: tuple[Path, dict[str, Any]],
) -> None:
    folder, document = full
    stages = document["datasets"][0]["error_stages"]
    rows = [row for row in rows_of(folder) if row.get("iterations") and row["verdict"]]
    expected = Localization.of(
        LocatedClaim(
            row["configuration"], row["claim_id"], Verdict(row["label"]), Verdict(row["verdict"]),
            frozenset(row["error_stages"] or ()),
        )
        for row in rows
    ).as_json(Resampling(20, 0))  # fmt: skip
    assert {k: stages[k] for k in ("rates", "unweighted", "intervals", "jsd", "spearman")} == {
        k: expected[k] for k in ("rates", "unweighted", "intervals", "jsd", "spearman")
    }
    assert len(stages["variants"]) == 6
    labelled = {c["claim_id"]: c["error_stages"] for c in dataset_claims(folder)}
    for name, one in stages["labelled"].items():
        own = [r for r in rows if r["configuration"] == name and r["label"] == r["verdict"] == NFS]
        hits = sum(bool(set(r["error_stages"] or ()) & set(labelled[r["claim_id"]])) for r in own)
        assert (one["claims"], one["found"]) == (len(own), hits)
        assert one["share"] == hits / len(own)
        reported = [set(r["error_stages"] or ()) for r in own]
        assert one["stages_reported"] == pytest.approx(sum(map(len, reported)) / len(own))


def test_the_agent_of_a_labelled_stage_is_found_at_another_stage_of_its_own(tmp_path: Path) -> None:
    labels = dict.fromkeys(("a", "b", "c", "d"), NFS)
    run = JudgedRun(
        tmp_path,
        {"data": labels},
        [("v", "veritrail", {"q": 1})],
        error_stages={claim: [3] for claim in labels},
    )
    path = tmp_path / "run.json"
    record = json.loads(path.read_text("utf-8"))
    for claim in record["datasets"][0]["claims"]:
        claim["steps"] = {"2": ["Planner"], "3": ["Coder"], "4": ["Planner"], "5": ["Coder"]}
    path.write_text(json.dumps(record), "utf-8")
    for claim, stages in {"a": [3], "b": [5], "c": [2, 4], "d": None}.items():
        run.keep(outcome("v", claim, NFS, error_stages=stages, iterations=1))
    document = write_report(tmp_path, ReportOptions(resamples=20))
    found = document["datasets"][0]["error_stages"]["labelled"]["v"]
    assert (found["share"], found["share_step"]) == (0.25, 0.5)
    low, high = found["interval_step"]
    assert low <= 0.5 <= high
    assert "Share of step found" in (tmp_path / "report.md").read_text("utf-8")
    assert "Share of step found" in (tmp_path / "report.html").read_text("utf-8")


def test_tracing_is_compared_with_retrieval_under_the_same_other_settings(tmp_path: Path) -> None:
    openai: dict[str, Any] = {"engine": "openai"}
    runs: list[tuple[str, str, dict[str, Any]]] = [
        ("walk", "veritrail", {"q": 1, **openai}),
        ("walk-3", "veritrail", {"q": 3, **openai}),
        ("limits", "veritrail", {"q": 1, **openai, "max_sentences": 20}),
        ("both", "vt_rag", {"k": 5, **openai}),
        ("rag", "rag", {"k": 5, **openai, "sources": "process"}),
        ("rag-samples", "rag", {"k": 5, **openai, "samples": 3}),
        ("rag-1", "rag", {"k": 1, **openai}),
    ]
    labels = {"a": FS, "b": NFS}
    run = JudgedRun(tmp_path, {"data": labels}, runs)
    for name, _, _ in runs:
        # Where limits make the judge undecided, this comparison keeps the claim all the same.
        run.judged(name, {"a": FS, "b": INC if name == "limits" else NFS})
    document = write_report(tmp_path, ReportOptions(resamples=5))
    rows = document["datasets"][0]["ablation"]["rows"]
    assert [row["configuration_id"] for row in rows] == ["walk", "rag", "both"]
    assert {row["scored"] for row in rows} == {2}


def test_many_stages_are_rows_and_a_stage_among_many_is_not_alone(tmp_path: Path) -> None:
    labels = dict.fromkeys(("a", "b", "c"), NFS)
    planted = {"a": [3], "b": [3], "c": [3]}
    run = JudgedRun(
        tmp_path, {"data": labels}, [("v", "veritrail", {"q": 1})], error_stages=planted
    )
    every = list(range(2, 14))
    for claim, stages in {"a": [3], "b": every, "c": None}.items():
        run.keep(outcome("v", claim, NFS, error_stages=stages, iterations=1))
    document = write_report(tmp_path, ReportOptions(resamples=20))
    found = document["datasets"][0]["error_stages"]["labelled"]["v"]
    assert (found["claims"], found["found"], found["alone"], found["unlocated"]) == (3, 2, 1, 1)
    assert (found["share"], found["share_alone"]) == (pytest.approx(2 / 3), pytest.approx(1 / 3))
    assert found["stages_reported"] == pytest.approx(13 / 3)
    assert found["share_step"] is None
    report = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "| Stage | veritrail (q = 1) | All, weighted by true positives |" in report
    assert "| True positives | 2 | 2 |" in report
    rows = re.findall(r"^\| (\d+) \| (0\.500|1\.000) \|", report, re.MULTILINE)
    assert [(int(stage), rate) for stage, rate in rows] == [
        (stage, "1.000" if stage == 3 else "0.500") for stage in every
    ]


def test_cost_is_of_finished_claims_with_preparation_divided_among_all(tmp_path: Path) -> None:
    run = JudgedRun(tmp_path, {"data": dict.fromkeys(("a", "b", "c", "d"), FS)}, [("v", "rag", {})])
    run.keep({"dataset": "data", "configuration": "v", "prepared": paid(0.4)})
    run.keep(
        outcome("v", "a", FS, usage=paid(0.10)),
        outcome("v", "b", FS, usage=paid(None, 0, cached_calls=2)),
        outcome("v", "c", None, status="failed", usage=paid(9.0)),
        outcome("v", "d", FS, usage=paid(None)),
    )
    options = ReportOptions(resamples=5, extraction_cost=("0.02",), human_cost=("1350/560",))
    document = write_report(tmp_path, options)
    (row,) = document["configurations"]
    assert row["processing_cost"] == pytest.approx((0.10 + 0) / 2)
    assert row["uncached_cost"] == pytest.approx(0.10)
    assert row["preparation_cost"] == pytest.approx(0.1)
    assert row["cost_per_claim"] == pytest.approx(0.10 + 0.1 + 0.02)  # without cached answers
    assert (row["finished"], row["unpriced"], row["cached"]) == (3, 1, 1)
    assert row["spent_usd"] is None
    assert row["reasons"]["spent_usd"] == "the price of a call is unknown"
    assert document["datasets"][0]["human_cost_per_claim"] == pytest.approx(1350 / 560)
    page = (tmp_path / "report.html").read_text()
    assert "A person" in page
    assert "the price of 1 claim is unknown" in page


def test_answers_from_the_cache_are_counted_as_paid_and_as_if_nothing_was_cached(
    tmp_path: Path,
) -> None:
    run = JudgedRun(tmp_path, {"data": dict.fromkeys(("a", "b", "c", "d"), FS)}, [("v", "rag", {})])
    whole = {"calls": 2, "cost_usd": 0.4}
    run.keep(
        {"dataset": "data", "configuration": "v", "prepared": paid(0.4)},
        {"dataset": "data", "configuration": "v", "prepared": paid(None, 0, cached_calls=2),
         "reused": whole},
        outcome("v", "a", FS, usage=paid(0.10)),
        outcome("v", "b", FS, usage=paid(0.05, 1, cached_calls=2)) | {"reused": whole},
        outcome("v", "c", FS, usage=paid(None, 0, cached_calls=1))
        | {"reused": {"calls": 1, "unpriced_calls": 1}},
        outcome("v", "d", FS, usage=paid(None, 0, cached_calls=1)),
    )  # fmt: skip
    (row,) = write_report(tmp_path, ReportOptions(resamples=5))["configurations"]
    assert row["processing_cost"] == pytest.approx((0.10 + 0.05) / 4)
    assert row["uncached_cost"] == pytest.approx((0.10 + 0.45) / 2)  # of c and d it is not known
    assert row["preparation_cost"] == pytest.approx(0.4 / 4)  # once, though it was continued
    assert row["cost_per_claim"] == pytest.approx(0.275 + 0.1)
    assert row["spent_usd"] == pytest.approx(0.4 + 0.15)
    text = (tmp_path / "report.md").read_text()
    assert "Judging as paid" in text
    assert "Judging, nothing cached" in text


@pytest.mark.parametrize("text", ["x", "nan", "-1", "1/0", "1/", "1/2.5", "other=2"])
def test_a_cost_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    JudgedRun(tmp_path, {"data": {"a": FS}}, [("v", "rag", {})])
    with pytest.raises(InputError, match=r"--human-cost"):
        write_report(tmp_path, ReportOptions(human_cost=(text,)))
    assert not (tmp_path / "report.html").exists()


def test_the_latest_line_counts_and_lines_of_other_contents_do_not(tmp_path: Path) -> None:
    run = JudgedRun(tmp_path, {"data": {"a": FS, "b": NFS}}, [("v", "direct", {})])
    run.keep(
        outcome("v", "a", None, status="failed", usage=paid(1.0)),
        outcome("v", "a", FS, usage=paid(0.5)),
        outcome("v", "b", NFS, fingerprint="of another text"),
        outcome("v", "z", NFS),
        outcome("w", "a", NFS),
        outcome("v", "a", NFS, dataset="other"),
    )
    document = write_report(tmp_path, FEW)
    (row,) = document["configurations"]
    assert row["endings"] == {"FULLY_SUPPORTED": 1, "not_judged": 1}
    assert row["excluded"] == {"inconclusive": 0, "no_verdict": 1, "no_label": 0}
    assert row["spent_usd"] == pytest.approx(1.5)
    assert document["lines_left_out"] == {"stale": 1, "foreign": 3}
    page = (tmp_path / "report.html").read_text()
    text = (tmp_path / "report.md").read_text()
    for shown in (page, text):
        assert "1 outcome is about claims or processes that have changed" in shown
        assert "3 outcomes are about data sets, configurations or claims that are not in" in shown
        assert "such as those of another matrix in the same folder" in shown


@pytest.mark.parametrize(
    ("rule", "scored"),
    [
        (Inconclusive.ANY, [3, 3]),
        (Inconclusive.OWN, [3, 4]),
        (Inconclusive.NOT_SUPPORTED, [4, 4]),
    ],
)
def test_inconclusive_leaves_the_table_its_method_or_nothing(
    tmp_path: Path, rule: Inconclusive, scored: list[int]
) -> None:
    labels = {"a": FS, "b": NFS, "c": FS, "d": NFS}
    run = JudgedRun(tmp_path, {"data": labels}, [("v", "rag", {}), ("w", "direct", {})])
    run.judged("v", labels | {"a": INC})
    run.judged("w", labels)
    document = write_report(tmp_path, ReportOptions(inconclusive=rule, resamples=5))
    assert [row["scored"] for row in document["configurations"]] == scored
    assert document["datasets"][0]["best"]["inconclusive_claims"] == 1
    page = (tmp_path / "report.html").read_text()
    assert "1 claim called Inconclusive" in page


def test_one_class_alone_has_no_figure_and_says_why(tmp_path: Path) -> None:
    run = JudgedRun(tmp_path, {"data": {"a": FS, "b": FS}}, [("v", "direct", {"k": 1})])
    run.judged("v", {"a": FS, "b": NFS}, score=0.5)
    document = write_report(tmp_path, FEW)
    (row,) = document["configurations"]
    assert row["macro_f1"] is None
    assert row["reasons"]["macro_f1"] == row["reasons"]["auroc"] == "one class only"
    assert document["datasets"][0]["summary"] == (
        "data: 2 of 2 claims have a label and a verdict. There is no macro F1 and no balanced "
        "accuracy, because none is labelled otherwise than Fully Supported, and both figures need "
        "both classes."
    )
    page = (tmp_path / "report.html").read_text()
    assert "Macro F1, Bal. acc.: one class only (direct (k = 1))." in page
    for text in (
        page,
        (tmp_path / "report.json").read_text(),
        (tmp_path / "figures.csv").read_text(),
    ):
        assert not re.search(r"\bNaN\b|\bnan\b|\bNone\b|Infinity", text)


def test_failures_are_counted_with_their_reasons(tmp_path: Path) -> None:
    run = JudgedRun(tmp_path, {"data": {"a": FS, "b": NFS, "c": NFS}}, [("v", "direct", {})])
    run.keep(
        outcome("v", "a", None, status="failed", reason="the answer is <b>not</b> JSON"),
        outcome("v", "b", None, status="over_budget"),
        outcome("v", "c", None),
    )
    document = write_report(tmp_path, FEW)
    endings = document["configurations"][0]["endings"]
    assert endings == {"failed": 1, "over_budget": 1, "undecided": 1}
    page = (tmp_path / "report.html").read_text()
    assert "the answer is &lt;b&gt;not&lt;/b&gt; JSON" in page
    assert document["datasets"][0]["summary"] == (
        "data: 0 of 3 claims have a label and a verdict. There is no macro F1 and no balanced "
        "accuracy, because no claim is scored."
    )


def test_nothing_judged_yet_is_said(tmp_path: Path) -> None:
    JudgedRun(tmp_path, {"data": {"a": FS}}, [("v", "direct", {})])
    document = write_report(tmp_path, FEW)
    assert document["datasets"][0]["summary"] == "data: nothing has been judged yet."
    assert document["configurations"][0]["endings"] == {"not_judged": 1}


def test_a_folder_without_a_run_and_a_broken_line_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"holds no evaluation"):
        write_report(tmp_path, FEW)
    run = JudgedRun(tmp_path, {"data": {"a": FS}}, [("v", "direct", {})])
    run.judged("v", {"a": FS})
    with (tmp_path / "outcomes.jsonl").open("a") as file:
        file.write('{"dataset": 1}\n')
    with pytest.raises(InputError, match=r"outcomes\.jsonl, line 2: is no outcome"):
        write_report(tmp_path, FEW)
    assert {path.name for path in tmp_path.iterdir()} == {"run.json", "outcomes.jsonl"}


def test_a_line_that_was_cut_off_does_not_count(tmp_path: Path) -> None:
    run = JudgedRun(tmp_path, {"data": {"a": FS}}, [("v", "direct", {})])
    run.judged("v", {"a": FS})
    with (tmp_path / "outcomes.jsonl").open("a") as file:
        file.write('{"dataset": "da')
    assert write_report(tmp_path, FEW)["configurations"][0]["endings"] == {"FULLY_SUPPORTED": 1}


HOSTILE = "</title><script>alert(1)</script><img src=x onerror=alert(2)>"


def test_html_escapes_what_comes_from_outside_and_loads_nothing(tmp_path: Path) -> None:
    run = JudgedRun(
        tmp_path,
        {HOSTILE: {"a": FS, "b": NFS}},
        [("v", "veritrail", {"model": HOSTILE}), ("w", "veritrail", {"model": f"2{HOSTILE}"})],
        facts={HOSTILE: {"description": HOSTILE, "remarks": [HOSTILE], "sample": HOSTILE,
                         "licence": HOSTILE, "stage_names": {"2": HOSTILE}}},
        labels={"v": f"=cmd|{HOSTILE}"},
        name=HOSTILE,
    )  # fmt: skip
    more = {"iterations": 1, "error_stages": [2], "dataset": HOSTILE}
    run.judged("v", {"a": NFS, "b": NFS}, **more)
    run.judged("w", {"a": FS, "b": NFS}, **more)
    run.keep(outcome("w", "a", None, HOSTILE, status="failed", reason=HOSTILE))
    write_report(tmp_path, FEW)
    page = (tmp_path / "report.html").read_text()
    assert "<script" not in page
    assert "<img" not in page
    assert page.count("&lt;script&gt;alert(1)") > 10
    assert not re.search(r"""\s(?:src|href)=["'](?!#)""", page)
    assert not re.search(r"\sstyle=|\son\w+=\"", page)
    assert "script-src 'none'" in html.unescape(page)
    text = (tmp_path / "report.md").read_text()
    assert "<script" not in text
    with (tmp_path / "figures.csv").open(newline="") as file:
        first = next(csv.DictReader(file))
    assert first["label"].startswith("'=cmd")


def test_tables_of_the_page_have_captions_and_headings(full: tuple[Path, dict[str, Any]]) -> None:
    page = (full[0] / "report.html").read_text()
    tables = page.count("<table")
    assert tables > 8
    assert page.count("<caption") == tables
    assert page.count('<th scope="row">') > 50
    assert page.count('role="img" aria-label="') >= 3
    for words in (
        "Tracing and selection of evidence",
        "Error stages",
        "Parameters",
        "(indicative)",
    ):
        assert words in page


def test_heat_maps_show_every_place(full: tuple[Path, dict[str, Any]]) -> None:
    folder, document = full
    grids = {one["label"]: one for one in document["datasets"][0]["grids"]}
    assert set(grids) == {"veritrail", "vt_rag", "rag"}
    assert (grids["veritrail"]["across"], grids["veritrail"]["down"]) == ("q", "max_sentences")
    assert grids["rag"]["down"] is None
    by_parameters = {
        (row["parameters"]["q"], row["parameters"]["max_sentences"]): row["macro_f1"]
        for row in document["configurations"]
        if row["method"] == "veritrail"
    }
    one = grids["veritrail"]
    for sentences, values in zip(one["rows"], one["values"], strict=True):
        for q, value in zip(one["columns"], values, strict=True):
            assert value == by_parameters[q, sentences]
    assert (
        f"max_sentences = 40, q = 3: {by_parameters[3, 40]:.3f}"
        in (folder / "report.html").read_text()
    )


def test_the_verdicts_give_the_figures_again(full: tuple[Path, dict[str, Any]]) -> None:
    folder, document = full
    read = read_judged(folder / "verdicts.csv")
    found = {one.method: one.as_json() for one in scores(read.found)}
    for row in document["configurations"]:
        again = found[row["title"]]
        for name in ("claims", "scored", "excluded", "macro_f1", "precision", "recall"):
            assert again[name] == row[name]


def test_the_verdicts_of_several_data_sets_stay_apart(tmp_path: Path) -> None:
    labels = {"a": FS, "b": NFS}
    run = JudgedRun(
        tmp_path, {"one": labels, "two": labels}, [("v", "rag", {}), ("w", "direct", {})]
    )
    run.judged("v", {"a": INC, "b": NFS}, "one")
    run.judged("w", labels, "one")
    run.judged("v", {"a": FS, "b": FS}, "two")
    run.judged("w", labels, "two")
    document = write_report(tmp_path, FEW)
    found = {one.method: one for one in scores(read_judged(tmp_path / "verdicts.csv").found)}
    for row in document["configurations"]:
        again = found[f"{row['dataset']}: {row['title']}"]
        assert again.confusion.macro_f1.value == row["macro_f1"]
        assert len(again.outcomes) == row["scored"]


def test_figures_csv_has_a_row_for_each_data_set_and_configuration(
    full: tuple[Path, dict[str, Any]],
) -> None:
    folder, document = full
    with (folder / "figures.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(document["configurations"]) == 10
    for row, one in zip(rows, document["configurations"], strict=True):
        assert float(row["macro_f1"]) == one["macro_f1"]
        assert float(row["recall_FULLY_SUPPORTED"]) == one["recall"]["FULLY_SUPPORTED"]
        assert int(row["failed"]) == one["endings"].get("failed", 0)
        assert row["auroc"] == ("" if one["auroc"] is None else str(one["auroc"]))


@pytest.mark.parametrize(
    ("right", "words"),
    [
        (40, "The difference is beyond chance"),
        (5, "is open: the interval leaves out 0, but McNemar's test does not tell the two apart"),
        (1, "The difference may well be chance"),
        (0, "are equally good"),
    ],
)
def test_the_sentence_says_what_was_best_and_whether_it_is_chance(
    tmp_path: Path, right: int, words: str
) -> None:
    labels = {f"k{n}": FS if n % 2 else NFS for n in range(100)}
    wrong = {k: FS if v == NFS else NFS for k, v in list(labels.items())[:40]}
    better = wrong | dict(list(labels.items())[:right])
    run = JudgedRun(tmp_path, {"data": labels}, [("v", "veritrail", {}), ("w", "direct", {})])
    run.judged("v", labels | better)
    run.judged("w", labels | wrong)
    summary = write_report(tmp_path, ReportOptions(resamples=200))["datasets"][0]["summary"]
    assert words in summary
    if right:
        assert summary.startswith("data: veritrail () was best, with macro F1 ")


def test_the_sentence_says_where_the_claims_of_both_say_the_opposite(tmp_path: Path) -> None:
    labels = {f"k{n:02}": FS if n % 2 else NFS for n in range(40)}
    turned = {k: FS if v == NFS else NFS for k, v in labels.items()}
    hard, easy = list(labels)[:20], list(labels)[20:]
    run = JudgedRun(tmp_path, {"data": labels}, [("v", "veritrail", {}), ("w", "direct", {})])
    run.judged("v", {k: labels[k] for k in easy} | {k: turned[k] for k in hard[:4]})
    run.judged("w", {k: labels[k] for k in hard[:6]} | {k: turned[k] for k in hard[6:16]})
    summary = write_report(tmp_path, FEW)["datasets"][0]["summary"]
    assert "data: veritrail () was best" in summary
    assert "on the 4 claims of both, direct () is 1.000 ahead" in summary


def test_the_sentence_says_that_the_best_of_many_was_chosen(tmp_path: Path) -> None:
    labels = {f"k{n}": FS if n % 2 else NFS for n in range(40)}
    made = [(f"v{k}", "rag", {"k": k}) for k in (1, 2, 3)]
    run = JudgedRun(tmp_path, {"data": labels}, made)
    for wrong, (name, _, _) in enumerate(made, 1):
        run.judged(name, labels | dict.fromkeys(list(labels)[:wrong], NFS))
    summary = write_report(tmp_path, FEW)["datasets"][0]["summary"]
    assert "The best of 3 configurations was chosen on the claims" in summary


def test_any_seed_is_taken(tmp_path: Path) -> None:
    JudgedRun(tmp_path, {"data": {"a": FS}}, [("v", "direct", {})])
    assert write_report(tmp_path, ReportOptions(seed=-5, resamples=1))["options"]["seed"] == -5


def test_the_same_run_gives_the_same_report(tmp_path: Path) -> None:
    random_run(tmp_path, claims=12)
    first = write_report(tmp_path, FEW)
    assert write_report(tmp_path, FEW) == first
    assert options_of(tmp_path) == FEW
    other = write_report(tmp_path, ReportOptions(resamples=20, seed=1))
    best = ("datasets", "best")
    assert first[best[0]][0]["best"]["rows"] != other[best[0]][0]["best"]["rows"]
