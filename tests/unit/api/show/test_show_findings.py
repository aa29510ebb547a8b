"""What a check found, as lines."""

from __future__ import annotations

from typing import Any

import pytest

from veritrail_graph.api.cli.checked import CheckEnding, CheckShown, tell
from veritrail_graph.api.show.findings import (
    as_text,
    distinct_names,
    finding_lines,
    plain,
    process_line,
    process_table,
    uncorrected_words,
    why_line,
)
from veritrail_graph.graph.model import PartVerdict, Status, ValueDifference, Verdict
from veritrail_graph.graph.model.finding import (
    Checked,
    CheckedClaim,
    CheckedProcess,
    CheckFailure,
    CheckJudge,
    FailedPart,
    Finding,
    FindingCounts,
    FindingNode,
    FindingQuote,
)

SOURCE = "From January to August 2024 the utility used 37 per cent less natural gas than before."
WROTE = "Thanks to the large heat pump on the Ostra, it used 41 per cent less natural gas."


def a_node(name: str, stage: int = 3) -> dict[str, Any]:
    return {"node_id": name, "name": name, "stage": stage, "stage_name": "summarised description"}


def a_quote(node: str, text: str, word: str, stage: int = 3) -> FindingQuote:
    start = text.index(word)
    return FindingQuote(
        **a_node(node, stage), text=text, marked=((start, start + len(word)),), sentence=0
    )


def a_finding(**other: Any) -> Finding:
    values: dict[str, Any] = {
        "process_id": "p",
        "claim_id": "q02",
        "claim": "The utility used 41 per cent less natural gas from January to August 2024.",
        "verdict": Verdict.NOT_FULLY_SUPPORTED,
        "verification_id": "v-1",
        "culprit": FindingNode(**a_node("STADTWERKE LINDACH")),
        "source": a_quote("tu-02", SOURCE, "37 per cent", stage=1),
        "wrote": a_quote("STADTWERKE LINDACH", WROTE, "41 per cent"),
        "difference": ValueDifference(source="37 per cent", wrote="41 per cent"),
        "carried_on": tuple(FindingNode(**a_node(f"node {number}")) for number in range(5)),
    }
    return Finding(**(values | other))


def a_process(name: str, *wrong: Finding, right: int = 0) -> CheckedProcess:
    counts = FindingCounts(NOT_FULLY_SUPPORTED=len(wrong), FULLY_SUPPORTED=right)
    facts = {"process_id": name, "name": name, "status": "created"}
    return CheckedProcess(**facts, claims=len(wrong) + right, verdicts=counts, wrong=wrong)


def test_an_agents_step_says_whose_it_is_where_its_stage_has_no_name() -> None:
    agent = FindingNode(node_id="message/3", name="message/3", stage=3, step="Writer")
    trace = FindingNode(node_id="notes/1", name="notes/1", stage=3, step="notes")
    places = [
        plain(finding_lines(a_finding(culprit=one), 80, stages=5)[1]) for one in (agent, trace)
    ]
    assert places == [
        "    went wrong in  message/3  (Writer, stage 3 of 5)",
        "    went wrong in  notes/1  (stage 3 of 5)",
    ]


def test_a_wrong_claim_is_five_lines_that_fit_a_terminal_with_the_words_that_matter() -> None:
    lines = [plain(line) for line in finding_lines(a_finding(), 80, stages=6)]
    assert lines == [
        "✗ The utility used 41 per cent less natural gas from January to August 2024.",
        "    went wrong in  STADTWERKE LINDACH  (summarised description, stage 3 of 6)",
        "    source  tu-02  … 2024 the utility used *37 per cent* less natural gas than …",
        "    wrote          … on the Ostra, it used *41 per cent* less natural gas.",
        "    carried on by  node 0, node 1, node 2 and 2 more",
    ]


def test_parts_that_failed_say_whether_they_are_denied_or_not_mentioned() -> None:
    whole = a_finding()
    parts = (
        FailedPart(text="It is a utility.", verdict=PartVerdict.NOT_ADDRESSED),
        FailedPart(text=whole.claim, verdict=PartVerdict.CONTRADICTED, reason="It says 37."),
    )
    lines = [plain(line) for line in finding_lines(a_finding(failed_parts=parts), 80)]
    assert "    not addressed  It is a utility." in lines
    assert "    contradicted  It says 37." in lines


def test_the_name_of_a_stage_is_cut_and_its_number_is_not() -> None:
    named = FindingNode(
        node_id="n",
        name="HOHENFELD WIND FARM/tu-03",
        stage=2,
        stage_name="extracted entity or relationship",
    )
    (_, where, *_) = finding_lines(a_finding(culprit=named), 80, stages=6)
    assert plain(where) == (
        "    went wrong in  HOHENFELD WIND FARM/tu-03  (extracted entity …, stage 2 of 6)"
    )


def test_a_sentence_of_an_earlier_step_is_not_called_a_source() -> None:
    earlier = a_quote("g2", SOURCE, "37 per cent", stage=2)
    (_, _, before, wrote, _) = map(plain, finding_lines(a_finding(source=earlier), 80))
    assert before.startswith("    before  g2, stage 2  … ")
    assert wrote.index("… ") == before.index("… ")


def test_where_nothing_was_found_and_nobody_is_blamed_the_lines_say_so() -> None:
    nobody = a_finding(culprit=None, source=None, carried_on=())
    (_, where, source, wrote) = map(plain, finding_lines(nobody))
    assert where == "    went wrong in  one of the stages 2 to 3; nothing tells which"
    assert "nothing was found that says this" in source
    assert wrote.split()[0] == "wrote"
    several = (FindingNode(**a_node("one")), FindingNode(**a_node("other")))
    (_, where, *_) = finding_lines(a_finding(culprit=None, candidates=several))
    assert "one of 2 nodes: one, other" in plain(where)


@pytest.mark.parametrize("width", [40, 60, 80])
def test_a_text_of_many_words_that_differ_fits_the_width(width: int) -> None:
    text = "word " * 400
    marks = tuple((at, at + 4) for at in range(0, 1_500, 25))
    quote = FindingQuote(**a_node("n"), text=text, marked=marks)
    claim = "The\n\x1b[31mharbour " * 30
    lines = finding_lines(a_finding(source=quote, wrote=quote, claim=claim), width)
    assert all(len(plain(line)) <= max(width, 45) for line in (lines[0], *lines[2:4]))
    assert "\x1b" not in plain(lines[0])


def test_right_claims_are_a_count_and_failures_are_named() -> None:
    lost = CheckedClaim(
        process_id="p", claim_id="k", claim="Lost.", verdict=None, status=Status.FAILED, reason="no"
    )
    process = a_process("p", a_finding(), right=14).model_copy(update={"failed": (lost,)})
    judge = CheckJudge(engine="openai", model="gpt-6-luna", indicative=False)
    text = as_text(Checked(judge=judge, cost_usd=0.03, processes=(process,)))
    assert text.splitlines()[-2:] == [
        "! Lost.: no",
        "15 claims: 1 wrong, 14 right.   gpt-6-luna, $0.0300",
    ]


def test_of_many_processes_the_table_shows_those_with_wrong_claims_first() -> None:
    many = [a_process(f"fine {number}", right=1) for number in range(60)]
    rows = process_table([*many, a_process("bad", a_finding())]).rows
    assert len(rows) == 10
    assert len(process_table(many, None).rows) == 60
    assert rows[0][0][0].text == "bad"


def test_processes_of_several_inputs_are_called_by_where_they_were_read() -> None:
    places = {"p1": "runs/a.json", "p2": "runs/b.json#2", "p3": "c.json", "p4": "other/c.json"}
    several = [
        a_process(key, right=1).model_copy(update={"name": "How many lamps?", "where": where})
        for key, where in places.items()
    ]
    made = process_table([*several, a_process("other", right=1)])
    assert [row[0][0].text for row in made.rows] == [
        "a.json",
        "b.json#2",
        "c.json (p3)",
        "c.json (p4)",
        "other",
    ]
    assert made.columns[-1] == "name"
    assert process_line(several[1]).startswith("✓ b.json#2: ")
    assert distinct_names(several[:1]) == {"p1": "How many lamps?"}


def test_an_undecided_claim_says_what_is_missing() -> None:
    reason = "Cannot tell without a model: its figure twelve does not stand there."
    claim = CheckedClaim(
        process_id="p",
        claim_id="k",
        claim="It carried twelve cars.",
        verdict=None,
        status=Status.UNDECIDED,
        reason=reason,
    )
    assert plain(why_line(claim, 80)) == "    open    its figure twelve does not stand there."


JUDGE = CheckJudge(engine="lexical", indicative=True)


def a_check() -> Checked:
    """Return a check of 60 right processes, 60 wrong ones, and a file that is not there."""
    right = [a_process(f"right {number}", right=1) for number in range(60)]
    wrong = [a_process(f"wrong {number}", a_finding()) for number in range(60)]
    lost = CheckFailure(source="nosuch.json", error={"message": "no such file or folder"})
    return Checked(judge=JUDGE, cost_usd=0, processes=(*right, *wrong), failed=(lost,))


def test_of_many_inputs_the_worst_are_shown_and_the_others_counted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    tell(a_check(), CheckShown(), CheckEnding("veritrail show p"))
    out, said = capsys.readouterr()
    assert len(out.splitlines()) < 50
    assert out.startswith("wrong 0\n")
    assert "and 55 more wrong claims: --all shows them" in said
    assert "and 110 more: 50 with wrong claims, 60 without (--all)" in said
    assert "! nosuch.json: no such file or folder\n1 input could not be read." in said
    assert "120 claims: 60 wrong, 60 right." in out


def test_with_all_every_input_and_every_wrong_claim_is_shown(
    capsys: pytest.CaptureFixture[str],
) -> None:
    tell(a_check(), CheckShown(every=True), CheckEnding())
    out, said = capsys.readouterr()
    assert out.count("went wrong in") == 60
    assert "right 59" in out
    assert "more" not in said


def test_recorded_answers_are_not_said_to_have_found_no_wording() -> None:
    model, recorded = (
        uncorrected_words(2, CheckJudge(engine=engine, model="m", indicative=False))
        for engine in ("openai", "recorded")
    )
    assert model == "Of 2 wrong claims no wording was found that is supported."
    assert recorded.startswith("Of 2 wrong claims no wording could be found and judged by the ans")


@pytest.mark.parametrize(
    ("is_stored", "way"),
    [
        (None, "p: no verdict: it took too long. To go on: veritrail verify --resume r-1"),
        (True, "about its text before. To check what it is now: veritrail check p"),
        (False, "about its text before. It is not stored any more."),
    ],
)
def test_where_claims_failed_it_is_said_how_to_go_on(
    is_stored: bool | None, way: str, capsys: pytest.CaptureFixture[str]
) -> None:
    facts = {"process_id": "p", "claim_id": "c", "claim": "It was red.", "verdict": None}
    claim = CheckedClaim(**facts, status=Status.FAILED, reason="it took too long")
    process = a_process("p", right=1).replace(failed=(claim,), run_id="r-1")
    done = Checked(judge=JUDGE, cost_usd=0, processes=(process,))
    tell(done, CheckShown(), CheckEnding(outdated={} if is_stored is None else {"p": is_stored}))
    out, said = capsys.readouterr()
    assert way in " ".join(said.split())
    assert ("--resume" in said) is (is_stored is None)
    assert not any(line != line.rstrip() for line in out.splitlines())
