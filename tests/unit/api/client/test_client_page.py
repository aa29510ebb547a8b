"""What a notebook shows of answers: escaped, without scripts, readable on light and dark pages."""

from __future__ import annotations

from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from fakes.dialogues import gold_run

from veritrail_graph.api.client import page
from veritrail_graph.api.client.answers import (
    Claim,
    DialogueRun,
    Ingested,
    JobState,
    Listed,
    Process,
    Provenance,
    Rows,
    Verification,
    read,
)
from veritrail_graph.graph.model import Status, Verdict
from veritrail_graph.graph.model.finding import FindingCounts

EVIL = "<script>alert(1)</script> \"x' onload=y <img src=//evil> \u202e\x1b[31m & {{7*7}}"
TAGS = {
    "br", "code", "details", "div", "em", "li", "ol", "span", "strong", "summary", "table",
    "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
DRAWN = {"svg", "title", "desc", "style", "rect", "path", "circle", "g", "text", "tspan"}
LOOK = {
    "aria-label", "class", "cx", "cy", "d", "fill", "font-family", "font-size", "font-weight",
    "height", "r", "role", "rx", "stroke", "stroke-dasharray", "stroke-width", "text-decoration",
    "viewbox", "width", "x", "xmlns", "y",
}  # fmt: skip
"""What the picture of a trail has."""


class Seen(HTMLParser):
    """What a browser would make of it."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.attributes: set[str] = set()
        self.words = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag != "br":
            self.open.append(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words += data


def shown(answer) -> Seen:
    html = answer._repr_html_()
    found = Seen(html)
    assert not found.open
    assert set(found.tags) <= TAGS | (DRAWN if "<svg" in html else set())
    assert found.attributes <= {"style"} | (LOOK if "<svg" in html else set())
    assert "url(" not in html
    return found


def verification(**more) -> Verification:
    sentence = {"node_id": EVIL, "sentence": 0, "start": 0, "end": 1, "text": EVIL}
    found = {
        "verification_id": "v-1", "process_id": "p", "claim_id": "k", "claim": EVIL,
        "node_id": EVIL, "q": 3, "engine": EVIL, "model": EVIL,
        "created_at": "2026-01-01T00:00:00Z",
        "status": "succeeded", "verdict": "NOT_FULLY_SUPPORTED", "reasoning": EVIL,
        "indicative": True, "error_stages": [2], "error_nodes": [EVIL], "error": EVIL,
        "iterations": [
            {
                "number": 1, "verdict": "INCONCLUSIVE", "reasoning": EVIL, "checked": [EVIL],
                "evidence": [sentence, {**sentence, "sentence": 1, "role": "context"}],
                "summaries": [{"text": EVIL, "missing": EVIL, "node_ids": [EVIL]}],
            }
        ],
    }  # fmt: skip
    return Verification.model_validate({**found, **more})


ANSWERS = [
    Process(process_id=EVIL, name=EVIL, terminals=[EVIL], warnings=[EVIL], verdicts={EVIL: 1}),
    Ingested(process_id=EVIL, name=EVIL, status=EVIL, nodes=1, edges=1, claims=1, warnings=[EVIL]),
    Claim.model_construct(claim_id="k", text=EVIL, node_id=EVIL, verdict=EVIL),
    Listed([Claim(claim_id="k", text=EVIL, node_id=EVIL)]),
    verification(),
    verification(status="failed", verdict=None, iterations=[]),
    Listed([verification()]),
    Listed([Process(process_id=EVIL, name=EVIL)]),
    Listed([]),
    Provenance.model_validate(
        {
            "verification_id": EVIL,
            "complete": False,
            "truncated": True,
            "paths": [[{"node_id": EVIL, "stage": 1}, {"node_id": EVIL, "stage": 2}]],
        }
    ),
    Rows(columns=[EVIL], rows=[[EVIL], [{EVIL: [EVIL]}], [None], [3]], indicative=True),
    JobState.model_validate(
        {"job_id": EVIL, "status": "failed", "process_id": EVIL, "error": EVIL}
    ),
]


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda one: type(one).__name__)
def test_every_text_is_shown_as_text(answer):
    seen = shown(answer)
    for char in ("\u202e", "\x1b"):
        assert char not in seen.words
    if answer:
        assert "<script>alert(1)</script>" in seen.words or isinstance(answer, JobState)


def test_a_trail_says_in_words_what_its_colours_say():
    seen = shown(verification())
    for words in ("Not Fully Supported", "Inconclusive", "stage 2", "indicative only", "(context)"):
        assert words.lower() in seen.words.lower()
    (node,) = verification(error_stages=[]).error_nodes
    assert (node.node_id, node.stage, node.position, node.role) == (EVIL, None, None, None)
    assert verification(error_stages=[]).error_stages == ()
    failed = shown(verification(status="failed", verdict=None, error="no answer"))
    assert "failed" in failed.words
    assert "Why it could not be checked: no answer" in failed.words
    assert "supported" not in failed.words.lower()


def test_a_trail_ends_with_what_the_error_node_did():
    place = {"sentence": 1, "start": 0, "end": 9, "status": "succeeded"}
    source = {"node_id": EVIL, "sentence": 0, "start": 0, "end": 9, "text": "It may close."}
    carried = {**place, "text": "It will close.", "node_id": EVIL, "run_id": "r-1",
               "attributed": [{**source, "categories": ["NEAR_MATCH"]}],
               "implied_label": "UNFAITHFUL"}  # fmt: skip
    seen = shown(verification(carried=[carried]))
    assert "This sentence turned “may” into “will”." in seen.words
    assert "near match: " in seen.words
    assert "turned" not in shown(verification()).words
    assert "carried" not in verification().model_dump(mode="json")


def test_figures_of_tables_are_rounded():
    seen = shown(Rows(columns=["share"], rows=[[5 / 6], [0.000012345], [12345.0]]))
    assert [words for words in ("0.8333", "1.234e-05", "12345") if words not in seen.words] == []
    assert "0.83333" not in seen.words


def test_an_unknown_price_is_not_shown_as_nothing():
    state = {"job_id": "j", "status": "running", "usage": {"calls": 3, "cost_usd": None}}
    assert "$" not in shown(JobState.model_validate(state)).words
    state["usage"] = {"calls": 3, "cost_usd": 0.0125}
    assert "$0.0125" in shown(JobState.model_validate(state)).words


def test_long_lists_and_texts_are_cut_and_say_so():
    claims = Listed(Claim(claim_id=f"k{n}", text="x" * 5_000, node_id="t") for n in range(500))
    html = claims._repr_html_()
    assert len(html) < 300_000
    assert "and 400 more" in html
    assert "…" in html
    rows = Rows(columns=["n"], rows=[[n] for n in range(1_000)], truncated=True)
    assert "and 900 more" in rows._repr_html_()
    assert "There are more rows" in rows._repr_html_()


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_white_letters_are_readable_on_every_colour():
    for colour in page.COLOURS.values():
        assert 1.05 / (luminance(colour) + 0.05) >= 4.5
    for name in (*Verdict, *Status):
        assert any(colour in page.chip(name) for colour in page.COLOURS.values())
    assert len({page.chip(one).split("background:")[1][:7] for one in Verdict}) == 3


def test_the_plain_form_is_short():
    assert repr(verification(verification_id="v-1")) == "<Verification v-1: NOT_FULLY_SUPPORTED>"
    failed = verification(verification_id="v-1", status="failed", verdict=None)
    assert repr(failed) == "<Verification v-1: failed>"


def test_what_is_printed_is_for_people_and_short():
    claim = Claim.model_construct(claim_id="k", text="The pier has 40 lamps.", verdict=None)
    assert repr(claim) == "<Claim k: 'The pier has 40 lamps.'>"
    counts = FindingCounts(FULLY_SUPPORTED=2, undecided=1)
    assert str(counts).splitlines()[:2] == ["FindingCounts", "  FULLY_SUPPORTED: 2"]
    printed = str(verification(verification_id="v-1"))
    assert "Verdict: Not Fully Supported" in printed
    assert "verification_id=" not in printed


def test_what_a_newer_service_says_besides_is_kept():
    found = read(Process, {"process_id": "p", "name": "n", "colour": "blue"})
    assert found.as_json() == {"process_id": "p", "name": "n", "colour": "blue"}
    assert found.colour == "blue"  # type: ignore[attr-defined]


def test_a_run_of_a_dialogue_shows_each_turn_with_its_claims_and_what_failed() -> None:
    gold = gold_run()
    failed = gold.turns[0].replace(status=Status.FAILED, label=None, score=None, error=EVIL)
    cut = gold.turns[1].replace(background_left_out=3)
    run = DialogueRun.of_turns(
        [failed, cut, *gold.turns[2:]], run_id="r", dialogue_id="d", engine="lexical",
        indicative=True,
    )  # fmt: skip
    found = shown(read(DialogueRun, run.json_object()))
    assert found.tags.count("details") == 14  # nothing is below a turn without a claim
    assert "this score is ours" in found.words
    assert "indicative only" in found.words.lower()
    assert "contradicted  The Lindholm Tram Museum is open on Mondays." in found.words
    assert "said before in turn t4: The Lindholm Tram Museum is closed on Mondays." in found.words
    assert "3 remembered facts" in found.words
    assert "t2  failed" in found.words
    assert "DialogueRun d: 15 turn(s), score" in repr(run)


def test_a_trail_is_drawn_from_the_sources_to_the_claim_without_markup_of_its_texts() -> None:
    picture = verification().svg()
    tree = ElementTree.fromstring(picture)
    kinds = {"svg", "title", "desc", "style", "rect", "path", "circle", "g", "text", "tspan"}
    assert {one.tag.rpartition("}")[2] for one in tree.iter()} <= kinds
    words = ["".join(one.itertext()) for one in tree.iter() if one.tag.endswith("text")]
    assert "alert(1)" in " ".join(filter(None, words))


def test_error_stages_are_drawn_by_judge() -> None:
    wrong = verification(verdict="NOT_FULLY_SUPPORTED", error_stages=[2], model="large")
    picture = Listed([wrong, verification(verdict="FULLY_SUPPORTED", model="large")]).stages_svg()
    words = [one.text for one in ElementTree.fromstring(picture).iter() if one.text]
    assert words == ["stage 2", "large", "1 of 2"]
    assert "No error was found." in Listed([]).stages_svg()


def test_answers_become_data_frames() -> None:
    pytest.importorskip("pandas")
    rows = Rows(columns=["a", "b"], rows=[[1, "x"], [2, "y"]], truncated=False)
    assert rows.to_pandas().to_dict("list") == {"a": [1, 2], "b": ["x", "y"]}
    assert list(Listed([verification()]).to_pandas()["claim"]) == [EVIL]


def test_the_package_lists_its_public_names() -> None:
    import veritrail_graph

    assert {"Client", "Local", "record", "verify"} <= set(dir(veritrail_graph))
