"""The picture of a claim: what it shows, that nothing in it overlaps, and that texts stay texts."""

from __future__ import annotations

from itertools import combinations
from typing import Any
from xml.etree import ElementTree

import pytest
from fakes.trails import FS, LEXICAL, NFS, a_round, a_trail, cited, found, path

from veritrail_graph.api.show.drawing import Drawing, Tone
from veritrail_graph.api.show.picture import picture_of
from veritrail_graph.api.show.picture_layout import (
    STACK,
    Area,
    PictureLayout,
    PlacedText,
    tall,
    wide,
)
from veritrail_graph.api.show.picture_svg import figure, svg
from veritrail_graph.api.show.text_width import TextRoom, fitted, line_width
from veritrail_graph.api.show.trail_view import trail_view
from veritrail_graph.graph.model import (
    Claim,
    ClaimOrigin,
    NodeRef,
    Role,
    Status,
    Verdict,
    Verification,
)
from veritrail_graph.graph.word_diff import Piece

SOURCE = "In May the dredger removed 48,200 cubic metres."
WROTE = "The dredger removed 84,200 cubic metres, which took a month."
CLAIM = Claim(claim_id="k1", text="The dredger removed 84,200 cubic metres.", node_id="t")
STEP, ROOT = NodeRef("s", 2, 1, Role.INTERMEDIATE), NodeRef("c", 1, 0, Role.ROOT)
LATER, ANSWER = NodeRef("g", 3, 2, Role.INTERMEDIATE), NodeRef("t", 4, 3, Role.TERMINAL)
NAMES = {1: "page", 2: "summary", 3: "group", 4: "answer"}
HOSTILE = {
    "long": "word " * 900,
    "unbroken": "W" * 3_000,
    "wide": "浚渫船は八万四千二百立方メートルの砂を取り除いた。" * 20,
    "leftward": "הדחפור הסיר 84,200 מטרים מעוקבים של חול מן הערוץ " * 12,
    "pictures": "👩‍👩‍👧‍👦🚢🏗️ " * 80,
    "marks": "z" + "\u0301" * 400 + " " + "a\u0335\u0336" * 200,
    "markup": "</text><script>alert(1)</script>&'\"\u202e\x07" * 20,
}


def a_chain(text: str = WROTE, source: str = SOURCE, **other: Any) -> Verification:
    """A claim of an answer that a source, a step and a later step lead to."""
    return a_trail(
        "v-1",
        a_round(1, FS, [LATER], [found("", cited("g", 0, 0, text))]),
        a_round(2, FS, [STEP], [found("", cited("s", 0, 0, text))]),
        a_round(3, other.get("verdict", NFS), [ROOT], [found("", cited("c", 0, 0, source))]),
        **{
            "claim": CLAIM,
            "paths": [path("g", "t", 1), path("s", "g", 2), path("c", "s", 3)],
            "error_nodes": [STEP],
            "propagated_nodes": [LATER, ANSWER],
            **other,
        },
    )


def drawn(one: Verification) -> Drawing:
    return picture_of(trail_view(one, NAMES))


def tones(drawing: Drawing) -> list[Tone]:
    return [column.boxes[0].tone for column in drawing.columns]


def test_the_line_is_broken_where_the_error_came_in_and_says_what_was_turned() -> None:
    made = drawn(a_chain())
    assert tones(made) == [Tone.RIGHT, Tone.CULPRIT, Tone.WRONG]
    assert [joint.is_broken for joint in made.joints] == [True, False]
    assert made.joints[0].difference == "48,200 → 84,200"
    assert made.news == "went wrong in s (summary, stage 2 of 4): 48,200 became 84,200"
    assert made.columns[1].boxes[0].note == "went wrong here"


def test_steps_that_only_repeat_are_one_line_with_their_names() -> None:
    made = drawn(a_chain())
    assert (made.joints[1].label, made.joints[1].names) == ("carried on, 1 step", ("g",))
    words = [said for said, _ in made.in_words()]
    assert words[1] == "Here it changes: 48,200 → 84,200"
    assert words[3] == "Carried on, 1 step: g"


def test_steps_without_a_sentence_that_says_it_carry_nothing_on() -> None:
    said = [found("", cited("c", 0, 0, SOURCE))]
    more = {"claim": CLAIM, "verdict": FS, "paths": [path("c", "t", 1, "s", "g")]}
    made = drawn(a_trail("v-1", a_round(1, FS, [ROOT], said), **more))
    assert made.joints[0].label == "2 steps between"


def test_of_several_culprits_one_box_says_how_many() -> None:
    others = [NodeRef(f"s{at}", 2, 10 + at, Role.INTERMEDIATE) for at in range(19)]
    made = drawn(a_chain(error_nodes=[STEP, *others]))
    culprit = made.columns[1].boxes[0]
    assert (len(culprit.among), culprit.name) == (20, "s or 19 more")
    assert made.columns[1].heading == "One of 20: Summary (stage 2)"
    assert made.news.startswith("went wrong in one of 20 nodes")


def test_where_all_that_led_to_a_culprit_are_culprits_too_nothing_is_drawn_as_right() -> None:
    one = a_trail(
        "v-1",
        a_round(1, FS, [LATER], [found("", cited("g", 0, 0, WROTE))]),
        a_round(2, NFS, [STEP], [found("", cited("s", 0, 0, SOURCE))]),
        claim=CLAIM, paths=[path("g", "t", 1), path("s", "g", 2)],
        error_nodes=[STEP, LATER], propagated_nodes=[ANSWER],
    )  # fmt: skip
    made = drawn(one)
    assert tones(made) == [Tone.OPEN, Tone.CULPRIT, Tone.WRONG]
    assert made.columns[1].boxes[0].among == ("g", "s")


def test_what_is_supported_is_green_from_each_source_to_the_answer() -> None:
    more = [NodeRef(f"c{at}", 1, 20 + at, Role.ROOT) for at in range(4)]
    said = [found("", cited(ref.node_id, 0, 0, SOURCE)) for ref in (ROOT, *more)]
    one = a_trail("v-1", a_round(1, FS, [ROOT, *more], said), claim=CLAIM, verdict=FS,
                  paths=[path(ref.node_id, "t", 1) for ref in (ROOT, *more)])  # fmt: skip
    made = drawn(one)
    assert tones(made) == [Tone.RIGHT, Tone.RIGHT]
    assert [box.text for box in made.columns[0].boxes] == [SOURCE, SOURCE, "and 3 more sources"]
    assert made.news == "rests on 5 source texts"


@pytest.mark.parametrize(
    "other",
    [
        {"verdict": None, "status": Status.UNDECIDED, "error": "words alone", **LEXICAL},
        {"verdict": Verdict.INCONCLUSIVE},
        {"claim": CLAIM.replace(origin=ClaimOrigin.ASKED, said=False)},
    ],
)
def test_where_nothing_is_decided_nothing_is_red_and_no_line_is_broken(
    other: dict[str, Any],
) -> None:
    made = drawn(a_chain(**{"error_nodes": [], "propagated_nodes": [], **other}))
    every = {box.tone for column in made.columns for box in column.boxes}
    assert every == {Tone.OPEN}
    assert not any(joint.is_broken for joint in made.joints)
    assert "#a3271d" not in svg(made).partition("</style>")[2].partition("<circle")[0]


def test_where_no_source_says_it_the_picture_says_how_many_were_read() -> None:
    roots = [NodeRef(f"c{at}", 1, at, Role.ROOT) for at in range(5)]
    one = a_trail("v-1", a_round(1, NFS, roots, []), claim=CLAIM, verdict=NFS)
    made = drawn(one)
    assert made.columns[0].boxes[0].text == "5 source texts read, none says this"
    assert tones(made) == [Tone.OPEN, Tone.WRONG]


def test_what_went_wrong_is_no_source_text_where_no_role_is_known() -> None:
    step, later = NodeRef("s", None, None, None), NodeRef("g", None, None, None)
    one = a_trail(
        "v-1",
        a_round(1, FS, [later], [found("", cited("g", 0, 0, WROTE))]),
        a_round(2, NFS, [step], [found("", cited("s", 0, 0, WROTE))]),
        claim=CLAIM, paths=[path("g", "t", 1), path("s", "g", 2)],
        error_nodes=[step], propagated_nodes=[later],
    )  # fmt: skip
    made = drawn(one)
    assert [column.heading for column in made.columns] == ["Nothing found", "Step", "Answer"]
    assert made.columns[0].boxes[0].text == "Nothing was found that says this"


@pytest.mark.parametrize("status", [Status.QUEUED, Status.FAILED, Status.UNDECIDED])
def test_a_check_without_a_round_is_grey_and_says_that_nothing_was_read(status: Status) -> None:
    made = drawn(a_trail("v-1", claim=CLAIM, verdict=None, status=status, error="The model left."))
    assert tones(made) == [Tone.OPEN, Tone.OPEN]
    assert made.columns[0].boxes[0].text == "Nothing was read"


def test_a_question_that_the_answer_does_not_say_is_nobodys_text() -> None:
    asked = CLAIM.replace(origin=ClaimOrigin.ASKED, said=False)
    box = drawn(a_chain(error_nodes=[], propagated_nodes=[], claim=asked)).columns[-1].boxes[0]
    assert (box.name, box.node_id, box.note) == ("", None, "the answer does not say it")


def test_a_denial_that_was_left_out_is_the_difference_and_alone_is_marked() -> None:
    made = drawn(
        a_chain("The dredger removed the wreck.", "The dredger has not removed the wreck.")
    )
    assert made.joints[0].difference == "left out: not"
    assert made.news.endswith("left out “not”")
    marked = [piece.text for column in made.columns for piece in column.boxes[0].pieces
              if piece.is_changed]  # fmt: skip
    assert marked == ["not"]


def test_where_no_words_differ_the_line_does_not_say_that_there_is_no_source() -> None:
    made = drawn(a_chain(SOURCE))
    assert (made.joints[0].is_broken, made.joints[0].difference) == (True, "not supported")


def test_what_is_supported_has_no_word_marked_as_different() -> None:
    one = a_trail("v-1", a_round(1, FS, [ROOT], [found("", cited("c", 0, 0, SOURCE))]),
                  claim=CLAIM, verdict=FS, paths=[path("c", "t", 1)])  # fmt: skip
    boxes = [box for column in drawn(one).columns for box in column.boxes]
    assert not any(piece.is_changed for box in boxes for piece in box.pieces)


def test_an_error_without_a_place_is_between_the_sources_and_the_answer() -> None:
    made = drawn(a_chain(error_nodes=[], propagated_nodes=[]))
    assert tones(made) == [Tone.RIGHT, Tone.WRONG]
    assert (made.joints[0].is_broken, made.joints[0].label) == (True, "somewhere on the way")


def _apart(one: Area, other: Area) -> bool:
    return (
        one.right <= other.x
        or other.right <= one.x
        or one.bottom <= other.y
        or other.bottom <= one.y
    )


def _area(text: PlacedText) -> Area:
    return Area(text.left, text.y - text.size * 0.8, text.width, text.size)


def _check(layout: PictureLayout) -> None:
    frame = Area(0, 0, layout.width, layout.height)
    solid = [placed.area for placed in layout.boxes] + [pill.area for pill in layout.pills]
    texts = [_area(text) for text in layout.texts]
    for one, other in combinations((*solid, *texts), 2):
        assert _apart(one, other), (one, other)
    inner = [(placed.area, text) for placed in layout.boxes for text in placed.texts]
    inner += [(pill.area, text) for pill in layout.pills for text in pill.texts]
    inner += [(frame, text) for text in layout.texts]
    for around, text in inner:
        area = _area(text)
        assert text.width <= text.room + 0.01, text
        assert around.x <= area.x, text
        assert area.right <= around.right + 0.01, text
        assert around.y <= area.y, text
        assert area.bottom <= around.bottom, text


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("shape", ["chain", "unplaced", "several", "names"])
def test_no_text_leaves_its_box_and_nothing_overlaps(name: str, shape: str) -> None:
    text = HOSTILE[name]
    claim = CLAIM.replace(text=text[:2_000])
    other: dict[str, Any] = {"claim": claim}
    if shape == "unplaced":
        other |= {"error_nodes": [], "propagated_nodes": []}
    if shape == "several":
        other["error_nodes"] = [STEP, LATER]
    names = dict.fromkeys(NAMES, text[:200]) if shape == "names" else NAMES
    one = a_chain(f"{text[:1_500]} 84,200", f"48,200 {text[:1_500]}", **other)
    made = picture_of(trail_view(one, names))
    for with_claim in (True, False):
        for layout in (wide(made, with_claim=with_claim), tall(made, with_claim=with_claim)):
            _check(layout)


def test_what_stands_below_several_culprits_is_clear_of_their_frames() -> None:
    made = tall(drawn(a_chain(error_nodes=[STEP, NodeRef("s2", 2, 4, Role.INTERMEDIATE)])))
    (stack,) = (placed.area for placed in made.boxes if placed.box.among)
    label = next(text for text in made.texts if "carried on" in text.line[0].text)
    assert _area(label).y >= stack.bottom + STACK + 4


@pytest.mark.parametrize("name", HOSTILE)
def test_a_text_is_never_markup(name: str) -> None:
    text = HOSTILE[name][:500]
    made = drawn(a_chain(text, text, claim=CLAIM.replace(text=text)))
    kinds = {"svg", "title", "desc", "style", "rect", "path", "circle", "g", "text", "tspan"}
    tree = ElementTree.fromstring(svg(made))
    assert {one.tag.rpartition("}")[2] for one in tree.iter()} <= kinds
    page = ElementTree.fromstring(figure(made, lambda node: f"/n?{node}&\"'<"))
    around = {"figure", "a", "details", "summary", "ol", "li", "span"}
    assert {one.tag.rpartition("}")[2] for one in page.iter()} <= kinds | around
    assert {one.get("role") for one in page.iter("{http://www.w3.org/2000/svg}svg")} == {"group"}


def test_a_long_sentence_is_cut_around_the_word_that_matters() -> None:
    text = (Piece("before " * 60), Piece("84,200", is_changed=True), Piece(" behind" * 60))
    lines = fitted(text, TextRoom(220, 4, 14))
    assert any(one.is_changed for line in lines for one in line)
    assert (lines[0][0].text[0], lines[-1][-1].text[-1]) == ("…", "…")
    assert all(line_width(line, 14) <= 220 for line in lines)
