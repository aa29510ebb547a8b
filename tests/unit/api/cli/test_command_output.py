"""What the commands read and print without an engine: claims files, tables, the end of a run."""

from __future__ import annotations

import io
import re

import pytest
from fakes.settings_of import settings_of
from rich.console import Console

from veritrail_graph.api.app.answers import Ingested
from veritrail_graph.api.cli import claims, exits, ingest, stored, terminal, verified
from veritrail_graph.api.cli.db import DONE
from veritrail_graph.api.cli.trail import show_results
from veritrail_graph.api.jobs.local import LocalResult
from veritrail_graph.api.show.terminal import laid_out
from veritrail_graph.graph.errors import InputError, Violation
from veritrail_graph.graph.importers.claims_file import read_claims_file
from veritrail_graph.graph.ingest.cleaning import Settled
from veritrail_graph.graph.model import Claim, Process, Status, Verdict, Verification
from veritrail_graph.graph.model.processes import ProcessSummary
from veritrail_graph.graph.near_duplicates import near_duplicates

LONG_ID = "harbour-2025-" + "x" * 100


def verification(number: int, status: Status = Status.SUCCEEDED) -> Verification:
    verdict = Verdict.NOT_FULLY_SUPPORTED if status is Status.SUCCEEDED else None
    claim = Claim(
        claim_id=f"{number}-{LONG_ID}",
        text=f"Claim {number} is long enough to need lines.",
        node_id="t",
    )
    created = "2026-01-31T09:30:00.000000Z"
    name = f"v-{number}-{LONG_ID}"
    return Verification.of_claim(
        claim,
        verification_id=name,
        process_id="p",
        q=3,
        engine="lexical",
        model=None,
        indicative=True,
        created_at=created,
        status=status,
        verdict=verdict,
    )


@pytest.fixture
def narrow(monkeypatch):
    """What is printed on a terminal of 60 columns, without blanks and line ends."""
    out = io.StringIO()
    console = Console(file=out, width=60, markup=False, highlight=False)
    for module in (stored, verified, terminal):
        name = "print_result" if module is stored else "show"
        monkeypatch.setattr(module, name, console.print)
    real = terminal.console
    choose = lambda stderr=False: real(stderr=True) if stderr else console  # noqa: E731
    monkeypatch.setattr(terminal, "console", choose)
    return out


def pieces_of(printed: str, text: str) -> bool:
    """Whether all of a long text is there, in pieces one below the other."""
    lines = printed.splitlines()
    return sum(line.count("x") for line in lines) >= text.count("x") and "…" not in printed


def test_a_narrow_terminal_loses_nothing_of_an_id(narrow):
    process = Process(
        process_id=LONG_ID,
        name="n",
        question=None,
        source_format="f",
        content_hash="h",
        stages={1: 1},
        stage_names={},
        terminals=("t",),
        nodes=1234567,
        edges=2,
        claims=3,
        warnings=(),
    )
    stored.tell_processes([ProcessSummary.of(process, {}, 0)], as_json=False)
    assert pieces_of(narrow.getvalue(), LONG_ID)
    narrow.truncate(0)
    found = verification(1)
    stored._tell_one(stored.StoredListing("p", [found.verified_claim], [], [], {}, [], None, {}))
    assert pieces_of(narrow.getvalue(), LONG_ID)
    narrow.truncate(0)
    show_results([found])
    assert pieces_of(narrow.getvalue(), LONG_ID)


def on_terminal(width, rows, **more):
    """A table of results as a terminal of a width shows it, without blanks at the ends of lines."""
    out = io.StringIO()
    columns = ("claim_id", "verdict", "calls", "claim", "verification")
    made = laid_out(columns, rows, right=["calls"], texts=["claim"], width=width, **more)
    Console(file=out, width=width, markup=False, highlight=False).print(made)
    return [line.rstrip() for line in out.getvalue().splitlines()]


ROW = [
    "k01",
    "Not Fully Supported",
    "12",
    "The ferry carries " + "many " * 20 + "cars.",
    "v-" + "0" * 32,
]


def test_on_a_terminal_texts_are_cut_and_ids_keep_their_line():
    optional = ("verification", "calls")
    assert on_terminal(80, [ROW], optional=optional) == [
        "claim_id  verdict              calls  claim",
        "k01       Not Fully Supported     12  The ferry carries many many many many man…",
    ]
    wide = on_terminal(200, [ROW], optional=optional)
    assert wide[1].endswith("v-" + "0" * 32)
    narrow = on_terminal(60, [ROW], optional=optional)
    assert narrow[0].split() == ["claim_id", "verdict", "claim"]
    assert len(narrow) == 2


def test_a_cell_shows_what_would_drive_a_terminal_or_hide():
    row = ["\x1b[31mk01", "\u202eo", "1", "a\u200bb", "v"]
    (shown,) = on_terminal(200, [row])[1:]
    assert shown.isprintable()
    assert r"\x1b[31mk01" in shown


def test_results_that_need_attention_come_last(monkeypatch):
    out = io.StringIO()
    console = Console(file=out, width=500, markup=False, highlight=False)
    monkeypatch.setattr(terminal, "show", console.print)
    supported = replace_verdict(verification(2), Verdict.FULLY_SUPPORTED)
    show_results([verification(3, Status.FAILED), verification(1), supported])
    assert [line[0] for line in out.getvalue().splitlines()] == ["c", "2", "1", "3"]


def replace_verdict(one, verdict):
    return one.model_copy(update={"verdict": verdict})


def ingested(name: str, **more) -> Ingested:
    known = {"name": name, "status": "created", "nodes": 2, "edges": 1, "claims": 0}
    return Ingested(process_id=name, **{**known, **more})


@pytest.mark.parametrize(("stages", "more"), [(12, None), (13, "1 more stage"), (5_001, "4,989")])
def test_a_process_of_many_stages_is_told_in_few_lines(narrow, stages, more):
    ingest._tell(ingested("p", stages={str(one): 2 for one in range(1, stages + 1)}))
    printed = narrow.getvalue()
    assert printed.count("  stage ") == 12
    assert ("and " in printed) == (more is not None)
    assert more is None or more in printed


def test_a_replacement_that_keeps_says_where_and_removes_nothing(narrow):
    counts = {"kept_verifications": 24, "kept_reviews": 1, "removed_verifications": 0}
    found = ingested("p", status="replaced", claims=1, kept_as="p.53956c9a37b5", **counts)
    ingest._tell(found.model_copy(update={"removed_reviews": 0}))
    printed = " ".join(narrow.getvalue().split())
    assert "kept the earlier content as p.53956c9a37b5, with 24 verifications, 1 review" in printed
    assert "removed" not in printed
    assert ingest._next(found) == "veritrail verify p --since last"


def test_a_replacement_that_keeps_nothing_says_what_it_removed(narrow):
    counts = {"removed_verifications": 24, "removed_reviews": 1}
    found = ingested("p", status="replaced", claims=1, **counts)
    ingest._tell(found)
    assert "removed 24 verifications, 1 review" in " ".join(narrow.getvalue().split())
    assert ingest._next(found) == "veritrail verify p"


def test_several_processes_are_told_with_their_warnings_together(capsys):
    broken = InputError(
        "p.json breaks 2 rules", [Violation("a", "x", "1"), Violation("b", "y", "2")]
    )
    outcomes = [("l#1", ingested("a", warnings=["No inputs."])), ("l#2", broken)]
    outcomes.append(("l#3", ingested("b", warnings=["No inputs."])))
    for one in outcomes:
        ingest._tell_one(one)
    ingest._tell_many(outcomes, None, as_json=False)
    said = " ".join(capsys.readouterr().err.split())
    assert "l#2: not stored. p.json breaks 2 rules: x: 1; and 1 more" in said
    assert said.endswith("Warning: No inputs. (2 processes: a, b) 3 processes: 2 created, 1 failed")


@pytest.mark.parametrize("ended", [0, 2, 5])
def test_cancelled_claims_are_counted_and_not_listed(narrow, capsys, ended):
    done = [verification(number) for number in range(ended)]
    done += [verification(number, Status.CANCELLED) for number in range(50, 90)]
    run = verified.Report(
        "p",
        "lexical",
        None,
        False,
        LocalResult(None, "r-1", "p", done),
        (),
        None,
        verified.After(),
        True,
    )
    verified.tell(run)
    printed = narrow.getvalue()
    assert printed.count("Claim ") == ended
    assert "cancelled" not in printed
    told = capsys.readouterr().err
    assert f"{ended + 40} claim(s)" in told
    assert "40 cancelled" in told
    assert "without a verdict" not in told


@pytest.mark.parametrize("first", ["[Data] starts in 2025.", "[1]"])
def test_lines_of_text_may_begin_with_a_bracket(tmp_path, first):
    path = tmp_path / "claims.txt"
    path.write_text(f"{first}\nAnother claim.\n", "utf-8")
    assert [claim.text for claim in read_claims_file(path)] == [first, "Another claim."]


def test_a_json_array_is_one_whatever_the_name_of_the_file(tmp_path):
    path = tmp_path / "claims.txt"
    path.write_text('[\n"One claim."]', "utf-8")
    assert [claim.text for claim in read_claims_file(path)] == ["One claim."]


def test_a_json_file_that_is_no_json_is_refused(tmp_path):
    path = tmp_path / "claims.JSON"
    path.write_text("[Data] starts in 2025.", "utf-8")
    with pytest.raises(InputError, match="not JSON"):
        read_claims_file(path)


def test_claims_that_may_repeat_others_are_offered_for_removal(capsys):
    text = "The harbour opened in 1901 with two piers."
    texts = {"k1": text, "k2": "Other.", "k3": f"In 1901 {text.lower().replace(' in 1901', '')}"}
    found = [Claim(claim_id=key, text=text, node_id="t") for key, text in texts.items()]
    claims.offer_removal("tarn", near_duplicates(found[:2]))
    assert capsys.readouterr().err == ""
    claims.offer_removal("tarn", near_duplicates(found))
    said = " ".join(capsys.readouterr().err.split())
    assert "1 claim(s) may repeat others (by their words; no model was asked): k3 like k1" in said
    assert said.endswith("veritrail claims remove tarn k3")


def test_csv_of_claims_is_read_by_its_columns(tmp_path):
    path = tmp_path / "claims.csv"
    path.write_text(
        'claim_id,text,start,end,label\r\nk1,"One, in ""two"" lines\nof a cell.",0,4,\r\n'
        "\r\n,Another.,,,FULLY_SUPPORTED\r\n",
        "utf-8-sig",
    )
    first, second = read_claims_file(path)
    assert (first.claim_id, first.text) == ("k1", 'One, in "two" lines\nof a cell.')
    assert (first.start, first.end, first.label) == (0, 4, None)
    assert (second.claim_id, second.text) == (None, "Another.")
    assert second.label == "FULLY_SUPPORTED"
    path.write_text("text;claim_id\nA, b and c.;k1\n", "utf-8")
    assert [claim.text for claim in read_claims_file(path)] == ["A, b and c."]


def test_csv_of_claims_may_call_the_text_claim_as_reports_do(tmp_path):
    path = tmp_path / "claims.csv"
    path.write_text("claim,claim_id\nOne.,k1\n'-2 is cold.,\n", "utf-8")
    first, second = read_claims_file(path)
    assert (first.claim_id, first.text) == ("k1", "One.")
    assert second.text == "'-2 is cold."
    path.write_text("claim,claim_id,verdict\nOne.,k1,FULLY_SUPPORTED\n", "utf-8")
    with pytest.raises(InputError, match="'claim', 'claim_id', 'verdict'"):
        read_claims_file(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A claim.\nAnother claim.\n", "first line names 'A claim.'"),
        ("text,claim\nA,b\n", "first line names 'text', 'claim'"),
        ("", "first line names nothing"),
        ("text\n", "holds no claim"),
        ('text\n"open\n', "cannot be read as a table"),
    ],
)
def test_csv_of_claims_with_other_columns_is_refused(tmp_path, text, message):
    path = tmp_path / "claims.csv"
    path.write_text(text, "utf-8")
    with pytest.raises(InputError, match=re.escape(message)):
        read_claims_file(path)


def test_rows_of_claims_that_break_rules_are_all_named(tmp_path):
    path = tmp_path / "claims.tsv"
    path.write_text("text\tlabel\nA\tB\nC\nD\tINCONCLUSIVE\n", "utf-8")
    with pytest.raises(InputError) as caught:
        read_claims_file(path)
    found = [(one.kind, one.where) for one in caught.value.violations]
    assert ("wrong_columns", "claims.tsv line 3") in found
    assert any(where.startswith("claims.tsv line 2") for _, where in found)
    assert len(found) == 2


def test_faults_are_told_in_their_order_and_many_that_are_equal_once(capsys):
    said = ["label", "seconds", "label", *["mode"] * 2, "seconds", "mode", "seconds", "seconds"]
    faults = [Violation("wrong", f"row {row}", f"wrong {what}") for row, what in enumerate(said, 2)]
    with pytest.raises(exits.Exit):
        exits.fail(InputError("It has 9 faults.", faults), as_json=False)
    assert capsys.readouterr().err.splitlines()[1:] == [
        "  row 2: wrong label",
        "  4 times (among them row 3, row 7, row 9): wrong seconds",
        *(f"  row {row}: wrong {what}" for row, what in ((4, "label"), (5, "mode"), (6, "mode"))),
        "  row 8: wrong mode",
    ]


def test_a_home_of_an_unknown_user_is_refused():
    with pytest.raises(InputError, match="VERITRAIL_HOME='~no-such-user/x'"):
        settings_of({"VERITRAIL_HOME": "~no-such-user/x"})


def test_cleaning_has_words_for_everything_that_it_does():
    assert {*DONE} == {*Settled}
    assert DONE[Settled.REPLACEMENT_FINISHED].format("big").endswith("the new content is kept.")


@pytest.mark.parametrize(
    ("columns", "texts", "optional"),
    [
        (
            ("run", "judge", "fully supported", "not fully supported", "inconclusive"),
            ("judge",),
            (),
        ),
        (("kind", "balanced accuracy", "flagged wrongly", "indicative", "undecided"), (), ()),
        (("process", "claims", "wrong", "right", "open", "name"), ("process", "name"), ("name",)),
        (("the same pairs", "calls", "from cache", "paid", "without cache"), (), ("paid",)),
    ],
)
def test_no_word_of_a_head_is_broken_at_80_columns(
    columns: tuple[str, ...], texts: tuple[str, ...], optional: tuple[str, ...]
) -> None:
    row = ["r-dcf528a5", *("a long cell of words" for _ in columns[1:])]
    screen = Console(width=80, file=io.StringIO())
    screen.print(laid_out(columns, [row], columns[1:], texts, optional, 80))
    assert isinstance(screen.file, io.StringIO)
    shown = screen.file.getvalue().split()
    words = {word for name in columns if name not in optional for word in name.split()}
    assert words <= set(shown)
    assert "r-dcf528a5" in shown
