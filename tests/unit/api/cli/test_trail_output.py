"""What is shown of a trail: its JSON, its report, its tree, and what it cost."""

from __future__ import annotations

import io
import json

import pytest
from fakes.reporting import markdown_of
from fakes.trails import FS, a_round, a_step, a_trail, spent
from rich.console import Console

from veritrail_graph.api.cli import terminal
from veritrail_graph.api.cli.terminal import print_json, say, show
from veritrail_graph.api.cli.trail import cost_table, show_results, trail_tree
from veritrail_graph.api.cli.verified import run_json
from veritrail_graph.api.show.costs import cost_words, money_words, share_words
from veritrail_graph.graph.model import Claim, Process, RunUsage, Status, Usage, share_of_nodes
from veritrail_graph.graph.model.trail import NO_USAGE

SELECTING = spent(2, 1, (1200, 1024, 60), 0.03, reasoning_tokens=10)
JUDGING = spent(1, 0, (300, 0, 40), 0.01)
ROUND = a_round(1, FS, "s1 s2", (("s1", 0),), dropped_ids=2, reruns=1, left_out=5)
STEPS = (
    a_step(0, "sub_claim_decomposition", JUDGING),
    a_step(1, "evidence_selection", SELECTING),
    a_step(1, "verdict", JUDGING),
)
PAID = a_trail(
    "v-1",
    ROUND,
    run_id="r-1",
    settings='{"samples": {"count": 3, "threshold": 2}}',
    score=2 / 3,
    steps=STEPS,
    usage=JUDGING + SELECTING + JUDGING,
)
UNPRICED = a_trail("v-2", run_id="r-1", usage=spent(1, 0, (10, 0, 5), None, unpriced_calls=1))
FREE = a_trail("v-3", run_id="r-1", usage=Usage(cached_calls=4))
EARLIER = a_trail("v-5", run_id="r-0", usage=spent(3, 0, (30, 0, 3), 0.5))
FAILED = a_trail(
    "v-4",
    run_id="r-1",
    claim=Claim(claim_id="k2", text="The pier is old.", node_id="t"),
    status=Status.FAILED,
    verdict=None,
    error="3 answers were <invalid>",
)
PROCESS = Process(
    process_id="p",
    name="Pier",
    question=None,
    source_format="f",
    content_hash="h",
    stages={1: 2},
    stage_names={},
    terminals=("t",),
    nodes=5,
    edges=4,
    claims=3,
    warnings=(),
)


def printed(renderable, width=200):
    out = io.StringIO()
    Console(file=out, width=width, markup=False, highlight=False).print(renderable)
    return out.getvalue()


def test_the_json_of_a_trail_says_what_was_asked_and_what_it_cost():
    document = PAID.json_object()
    assert document["run_id"] == "r-1"
    assert document["settings"] == {"samples": {"count": 3, "threshold": 2}}
    assert [step["step"] for step in document["steps"]] == [step.step for step in STEPS]
    assert document["steps"][1] == {
        "iteration": 1,
        "step": "evidence_selection",
        "prompt": "evidence_selection.v1",
        "prompt_hash": "ab" * 32,
        "model": "a-model",
        "temperature": 0.0,
        "usage": {
            "calls": 2,
            "cached_calls": 1,
            "input_tokens": 1200,
            "cached_input_tokens": 1024,
            "output_tokens": 60,
            "batch_calls": 0,
            "cost_usd": 0.03,
            "reasoning_tokens": 10,
            "unpriced_calls": 0,
        },
    }
    (iteration,) = document["iterations"]
    assert (iteration["dropped_ids"], iteration["reruns"], iteration["left_out"]) == (2, 1, 5)
    assert (iteration["usage"]["calls"], iteration["usage"]["cost_usd"]) == (3, 0.04)


def test_what_is_not_known_is_null_in_the_json():
    document = UNPRICED.json_object()
    assert (document["settings"], document["steps"]) == (None, [])
    assert document["usage"]["cost_usd"] is None
    run = printed_run([PAID, UNPRICED])
    assert run["cost"] == {"usd": None, "usd_per_claim": None, "unpriced_calls": 1}
    assert run["usage"]["cost_usd"] is None


def test_a_run_pays_for_what_it_made_and_shares_it_among_the_claims_that_it_finished():
    run = printed_run([PAID, FREE, FAILED, EARLIER])
    assert run["usage"] == (PAID.usage + FREE.usage).json_object()
    assert run["usage_reused"] == EARLIER.usage.json_object()
    assert run["finished"] == 2
    assert run["cost"]["usd"] == pytest.approx(0.05)
    assert run["cost"]["usd_per_claim"] == pytest.approx(0.025)
    dearer = printed_run([PAID], spent(1, 0, (1, 0, 1), 0.05))
    assert dearer["cost"]["usd_per_claim"] == pytest.approx(0.1)
    nothing = printed_run([EARLIER])
    assert nothing["cost"] == {"usd": None, "usd_per_claim": None, "unpriced_calls": 0}


@pytest.mark.parametrize(
    ("usage", "words"),
    [
        (Usage(), "$0"),
        (Usage(cached_calls=3), "$0"),
        (Usage(calls=3), "unknown"),
        (Usage(calls=3, unpriced_calls=1), "unknown"),
        (Usage(calls=3, cost_usd=0.0), "$0"),
        (Usage(calls=3, cost_usd=0.0123), "$0.0123"),
        (Usage(calls=3, cost_usd=1234.5), "$1,234.50"),
    ],
)
def test_an_unknown_cost_is_never_told_as_nothing(usage, words):
    assert cost_words(usage) == words


def test_a_tiny_amount_is_not_rounded_to_nothing():
    assert money_words(0.00001) == "< $0.0001"


def cells(table_line):
    return [cell for cell in table_line.split("  ") if cell.strip()]


def printed_run(verifications, extraction=NO_USAGE):
    spending = RunUsage.of("r-1", verifications, extraction)
    return run_json("r-1", "p", "openai", "m", False, verifications, spending)


def costs(verifications):
    return printed(cost_table(verifications, RunUsage.of("r-1", verifications)))


def results(verifications, monkeypatch):
    made = []
    monkeypatch.setattr(terminal, "show", made.append)
    show_results(verifications)
    return printed(made[0])


def test_the_results_have_what_each_claim_cost(monkeypatch):
    lines = results([PAID, FAILED], monkeypatch).splitlines()
    head, first, second = ([cell.strip() for cell in cells(line)] for line in lines)
    assert head[3:] == ["calls", "input", "output", "cost", "claim", "verification"]
    assert first[1:6] == ["Fully Supported", "4", "1,800", "140", "$0.0500"]
    assert second[1:6] == ["failed", "0", "0", "0", "$0"]


def test_the_table_of_costs_has_a_total_and_the_average_of_finished_claims():
    lines = costs([PAID, FAILED]).splitlines()
    head, total, average = ([cell.strip() for cell in cells(line)] for line in lines)
    assert head[1:] == ["calls", "from cache", "input", "cached input", "output", "cost"]
    assert total == ["2 claims", "4", "1", "1,800", "1,024", "140", "$0.0500"]
    numbers = ["4.0", "1.0", "1,800.0", "1,024.0", "140.0", "$0.0500"]
    assert average == ["average", *numbers]


def test_one_unknown_price_makes_the_total_unknown():
    lines = costs([PAID, UNPRICED]).splitlines()
    assert [line.split()[-1] for line in lines[-2:]] == ["unknown", "unknown"]


def test_a_run_that_finished_no_claim_has_no_average():
    assert "average" not in costs([FAILED])


def test_a_trail_shows_its_steps_its_score_and_what_was_cut():
    told = printed(trail_tree(PAID), width=400)
    assert "run r-1" in told
    assert "score 0.67 (share of 3 samples that said Fully Supported, threshold 2)" in told
    assert "5 sentences of the evidence did not fit and were left out." in told
    assert "Evidence was selected again 1 time" in told
    assert "2 sentence ids that the model made up were dropped." in told
    assert (
        "evidence selection: evidence_selection.v1 abababababab, a-model at temperature 0: "
        "2 calls, 1 from the cache of answers, 1,200 input tokens (1,024 cached), "
        "60 output tokens (10 reasoning), cost $0.0300" in told
    )
    assert told.index("before the first iteration") < told.index("iteration 1")
    assert "in all 4 calls" in told


def test_a_short_tree_sums_up_the_steps_of_a_round():
    told = printed(trail_tree(PAID, whole=False))
    assert "3 calls" in told
    assert "evidence_selection.v1" not in told


def test_a_trail_without_a_model_shows_nothing_of_calls():
    told = printed(trail_tree(a_trail("v", a_round(1, FS, "s1"), model=None, engine="lexical")))
    assert "call" not in told
    assert "cost" not in told


def test_steps_of_a_round_that_broke_off_are_shown():
    broken = a_trail(
        "v", status=Status.FAILED, verdict=None, error="no answer", steps=STEPS[1:2],
        usage=SELECTING,
    )  # fmt: skip
    told = printed(trail_tree(broken))
    assert "a round without a verdict" in told
    assert "evidence_selection.v1" in told


def report(*verifications):
    claims = [
        PAID.verified_claim,
        FAILED.verified_claim,
        Claim(claim_id="k3", text="Another.", node_id="t"),
    ]
    return markdown_of(PROCESS, claims, verifications)


def test_the_report_says_what_was_asked_and_what_it_cost():
    told = report(PAID, FAILED)
    assert "cost $0.0500" in told
    assert "| verdict | verdict.v1 | `abababababab` | a-model | 0 |" in told
    assert "5 sentences of the evidence did not fit and were left out." in told
    assert "model `a-model`, q 3, score 0.67 (share of 3 samples" in told


def test_the_report_lists_failed_claims_with_their_reason():
    told = report(PAID, FAILED)
    assert "- `k2`, failed: 3 answers were &lt;invalid&gt;" in told
    assert "- Could not be checked: 1" in told
    assert "- Not checked: 1" in told


def test_a_queued_claim_is_no_failure_in_the_report():
    waiting = a_trail("v", status=Status.QUEUED, verdict=None, claim=FAILED.verified_claim)
    told = report(PAID, waiting)
    assert "ould not be checked" not in told
    assert "- Not checked: 2" in told
    assert "| Waiting |" in told
    assert "## The pier is old" not in told


def test_a_report_without_a_model_has_no_line_of_costs():
    told = report(a_trail("v", a_round(1, FS, "s1"), model=None, engine="lexical"))
    assert "cost" not in told
    assert "Prompts and models" not in told


def test_an_unknown_cost_is_said_in_the_report():
    assert "cost unknown" in report(UNPRICED)


def test_a_trail_in_a_log_holds_no_line_and_no_command_of_its_texts(
    capsys: pytest.CaptureFixture[str],
) -> None:
    forged = "::warning::w\n::error::forged\nGate of p: passed ##[error]forged ##vso[x]"
    show(trail_tree(PAID.replace(claim=forged, reasoning=forged, error=forged)))
    show(forged)
    say(forged)
    print_json({"claim": forged})
    written = capsys.readouterr()
    for line in (written.out + written.err).splitlines():
        assert not line.lstrip().startswith("::")
        assert "##[" not in line
        assert "##vso" not in line
    assert written.out.startswith(
        "\\x3a:warning::w ::error::forged Gate of p: passed \\x23#[error]"
    )
    assert '"::warning::w' in written.out  # in JSON a quote is before a text
    assert json.loads(written.out[written.out.index("{") :]) == {"claim": forged}


def test_the_share_of_nodes_is_a_mean_over_claims():
    assert share_of_nodes([2, 4], 10) == pytest.approx(0.3)
    assert share_of_nodes([], 10) is None
    assert [share_words(share) for share in (0.3, 0.0123, 1.0)] == [
        "30 % of the nodes",
        "1.2 % of the nodes",
        "100 % of the nodes",
    ]
