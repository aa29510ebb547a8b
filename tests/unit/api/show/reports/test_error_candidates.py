"""Where an error came in: doubt between several nodes, and unsourced nodes, in every output."""

from __future__ import annotations

import asyncio
import csv
import io
import re

import pytest
from fakes.reporting import AtHand, markdown_of
from fakes.trails import (
    FS,
    LEXICAL,
    NFS,
    NODES,
    a_place,
    a_round,
    a_trail,
    cited,
    found,
    marked,
    path,
)
from rich.console import Console

from veritrail_graph.api.cli.trail import trail_tree
from veritrail_graph.api.page.views.graph import Explored, Focus, NodePart, part_words
from veritrail_graph.api.show.reports.csv_report import csv_pieces
from veritrail_graph.api.show.reports.html import html_pieces
from veritrail_graph.api.show.reports.junit import junit_report
from veritrail_graph.api.show.reports.material import material_of
from veritrail_graph.api.show.words import either
from veritrail_graph.graph.model import (
    Claim,
    JudgedPart,
    LocatedBy,
    NodeRef,
    PartVerdict,
    Process,
    Role,
    Verification,
)

CLAIM = Claim(claim_id="k1", text="The pier is 80 metres long.", node_id="t")
S3 = NodeRef("s3", 3, 4, Role.UNSOURCED)
S2 = NODES["s2"]
PROCESS = Process(
    process_id="p",
    name="Pier",
    question=None,
    source_format="f",
    content_hash="h",
    stages={1: 2, 2: 2, 3: 1, 4: 1},
    stage_names={},
    terminals=("t",),
    nodes=6,
    edges=5,
    claims=1,
)


def trail(*errors: NodeRef) -> Verification:
    sentences = [cited(one.node_id, 0, 0, f"As {one.node_id} says.") for one in (S2, S3)]
    return a_trail(
        "v-1",
        a_round(1, FS, [S2, S3], [found("both", *sentences)]),
        a_round(2, NFS, "c1", ()),
        claim=CLAIM,
        error_nodes=errors,
        paths=(path("s2", "t", 1), path("s3", "t", 1)),
    )


@pytest.fixture
def doubt() -> Verification:
    """Two nodes, one of them unsourced, of two stages."""
    return trail(S2, S3)


def html_of(one: Verification) -> str:
    origin = AtHand(material_of(PROCESS, [CLAIM], [one], {}))

    async def whole() -> str:
        return "".join([piece async for piece in html_pieces(origin)])

    return " ".join(re.sub(r"<[^>]*>", " ", asyncio.run(whole())).split())


def tree_of(one: Verification) -> str:
    screen = Console(file=io.StringIO(), width=120, no_color=True)
    screen.print(trail_tree(one))
    assert isinstance(screen.file, io.StringIO)
    return screen.file.getvalue()


def test_markdown_says_it_of_all_candidates_and_marks_unsourced_nodes(doubt: Verification) -> None:
    text = markdown_of(PROCESS, [CLAIM], [doubt])
    assert (
        "**Error introduced at stage 2 or 3, in one of these nodes**\n\n"
        "- perhaps introduced in `s2` (stage 2)\n"
        "- perhaps introduced in `s3` (stage 3, unsourced)\n"
    ) in text
    assert "- `s3` stage 3 unsourced **perhaps introduced here**\n    - 0: As s3 says" in text
    sure = markdown_of(PROCESS, [CLAIM], [trail(S3)])
    assert "- introduced in `s3` (stage 3, unsourced)\n" in sure
    assert "perhaps" not in sure


def test_the_terminal_says_it_of_each_candidate_and_marks_unsourced_nodes(
    doubt: Verification,
) -> None:
    text = tree_of(doubt)
    assert "introduced at stage 2 or 3, in one of these nodes" in text
    assert "perhaps introduced in s2 (stage 2)" in text
    assert "perhaps introduced in s3 (stage 3, unsourced)" in text
    assert "perhaps" not in tree_of(trail(S3))


def test_the_graph_of_the_page_says_it_of_each_candidate(doubt: Verification) -> None:
    for one, is_perhaps in ((doubt, True), (trail(S2), False)):
        explored = Explored(Focus("t", ()), one, (), {}, (), (), is_full=False)
        assert ("perhaps" in part_words(NodePart.ERROR, "s2", explored)) is is_perhaps


def test_an_html_report_says_it_of_each_candidate(doubt: Verification) -> None:
    text = html_of(doubt)
    assert "Error introduced at stage 2 or 3, in one of these nodes" in text
    for place in ("s2 (stage 2)", "s3 (stage 3, unsourced)"):
        assert f"perhaps introduced in {place}" in text
    assert text.count("perhaps introduced at stage") == 2
    assert text.count("perhaps introduced here") == 2
    assert "perhaps" not in html_of(trail(S2))


def test_stages_of_which_one_is_meant_are_joined_by_or(doubt: Verification) -> None:
    text = junit_report(material_of(PROCESS, [CLAIM], [doubt], {}))
    assert "introduced at stage 2 or 3" in text
    assert either([]) == ""
    assert either(["a", "b", "c"]) == "a, b or c"


def test_a_table_and_junit_have_the_two_sentences_of_an_error_and_how_its_place_was_found() -> None:
    source = marked(2, cited("s2", 0, 0, "The pier was opened in 1912."), "1912")
    wrote = marked(3, cited("s3", 0, 0, "The pier was opened in 1921."), "1921")
    one = a_trail(
        "v-1",
        verdict=NFS,
        claim=CLAIM,
        value_place=a_place(source, wrote),
        located_by=LocatedBy.VALUE,
        error_nodes=(S3,),
        parts=(JudgedPart(part=1, verdict=PartVerdict.CONTRADICTED),),
        **LEXICAL,
    )
    origin = AtHand(material_of(PROCESS, [CLAIM], [one], {}))

    async def table() -> str:
        return "".join([piece async for piece in csv_pieces(origin)])

    (row,) = csv.DictReader(io.StringIO(asyncio.run(table())))
    pair = ["s2", source.text, "s3", wrote.text]
    names = ("located_by", "source_node", "source_says", "step_node", "step_wrote")
    assert [row[name] for name in names] == ["value", *pair]
    said = junit_report(origin.material)
    assert row["failed_parts"] == "contradicted"
    assert "Parts: contradicted" in said
    assert f"says: {source.text} (s2)" in said
    assert f"wrote: {wrote.text} (s3)" in said
    assert 'name="veritrail.located_by" value="value"' in said
