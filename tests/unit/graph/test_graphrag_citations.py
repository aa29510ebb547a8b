from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from veritrail_graph.graph.importers.graphrag.citations import (
    COVARIATE,
    ENTITY,
    NAME_OF_KIND,
    RELATIONSHIP,
    REPORT,
    TEXT_UNIT,
    folded_ends,
    folded_name,
    parse_citations,
)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("A [Data: Reports (1)].", {REPORT: (1,)}),
        ("A [Data: Reports (4, 0, 4)] b [Data: Reports (0,9)]", {REPORT: (4, 0, 9)}),
        ("[Data: Entities (5); Relationships (6, 7)]", {ENTITY: (5,), RELATIONSHIP: (6, 7)}),
        ("[Data: Entities (322), Relationships (703)]", {ENTITY: (322,), RELATIONSHIP: (703,)}),
        ("[Data: Entities(6), Sources (2)]", {ENTITY: (6,), TEXT_UNIT: (2,)}),
        ("[Data: Sources (17), (15); Reports (1)]", {TEXT_UNIT: (17, 15), REPORT: (1,)}),
        ("A [records: Entities (5), Relationships (3, 4)].", {ENTITY: (5,), RELATIONSHIP: (3, 4)}),
        ("[data:claims (2)\n; Covariates (3)]", {COVARIATE: (2, 3)}),
        ("[Data: Reports (1); Data: Entities (2)]", {REPORT: (1,), ENTITY: (2,)}),
        (
            "[Data: Reports (1, 5-6, 8 to 9, -1); Entities (2\u20133, 5\u20146)]",
            {REPORT: (1, 5, 6, 8, 9, -1), ENTITY: (2, 3, 5, 6)},
        ),
        ("[Data: Reports 1, 3-4; Entities 3]", {REPORT: (1, 3, 4), ENTITY: (3,)}),
        ("[Data: Entities: 1, 2; Reports (4)]", {ENTITY: (1, 2), REPORT: (4,)}),
        ("[Data: Entities: (1, 2), Reports #4]", {ENTITY: (1, 2), REPORT: (4,)}),
        ("[^Data:Entities(4)^] and [^Data: Reports (1)]", {ENTITY: (4,), REPORT: (1,)}),
        ("[数据：报告（1，2）；实体（3）]", {REPORT: (1, 2), ENTITY: (3,)}),  # noqa: RUF001
        ("[Daten: Berichte (1, 2); Quellen (3)]", {REPORT: (1, 2), TEXT_UNIT: (3,)}),
        ("no citation: Reports (1), [Reports (2)], (Data: Reports (3))", {}),
    ],
)
def test_reads_numbers_by_table(text, numbers):
    found = parse_citations(text)
    assert dict(found.numbers) == numbers
    assert found.unread == ()


def test_more_is_noted_and_no_number():
    found = parse_citations("[Data: Reports (2, 7, +more); Entities (1,+ more)] [Data: Claims (3)]")
    assert dict(found.numbers) == {REPORT: (2, 7), ENTITY: (1,), COVARIATE: (3,)}
    assert found.more == {REPORT, ENTITY}


@pytest.mark.parametrize(
    ("text", "unread"),
    [
        ("[Data: General Knowledge (href)]", ("General Knowledge (href)",)),
        ("[Data: Reports (1, x)]", ("Reports (x)",)),
        ("[Data: Reports (3-1)]", ("Reports (3-1)",)),
        ("[Data: Reports (0-999999999)]", ("Reports (0-999999999)",)),
        ("[Data: Reports]", ("Reports",)),
        ("[Data: (15), Reports (1)]", ("(15)",)),
        ("[Data: Dossiers 3]", ("Dossiers 3",)),
        ("[Tiedot: raportit (1, 2)]", ("Tiedot: raportit (1, 2)",)),
        ("So it is [Sources: Harbour report (15)].", ("Sources: Harbour report (15)",)),
        ("[Data: Reports (" + "9" * 5000 + ")]", (f"Reports ({'9' * 5000})",)),
    ],
)
def test_what_cannot_be_read_is_kept_and_not_guessed(text, unread):
    found = parse_citations(text)
    assert found.unread == unread
    assert set(found.numbers.get(REPORT, ())) <= {1}


NAMES = {
    ENTITY: ["ALMA REED", "REED & SONS, LTD.", "PIER (OLD)", "3,000 ISLES"],
    RELATIONSHIP: ["ALMA REED -> PIER (OLD)", "REED & SONS, LTD. -> ALMA REED"],
}


TITLES = {
    (kind, folded_ends(*name.split(" -> ")) if " -> " in name else folded_name(name)): name
    for kind, names in NAMES.items()
    for name in names
}


def titled(kind, name):
    return [f"{kind}/{TITLES[kind, name]}"] if (kind, name) in TITLES else []


@pytest.mark.parametrize(
    ("cited", "named", "numbers", "unread"),
    [
        ("Entities (Alma Reed, +more)", ["entity/ALMA REED"], {}, ()),
        ('Entities ("ALMA  REED", 7)', ["entity/ALMA REED"], {ENTITY: (7,)}, ()),
        ("Entities: Alma Reed; Reports 2", ["entity/ALMA REED"], {REPORT: (2,)}, ()),
        (
            "Entities (Reed & Sons, Ltd., Pier (old), 4)",
            ["entity/REED & SONS, LTD.", "entity/PIER (OLD)"],
            {ENTITY: (4,)},
            (),
        ),
        (
            "Entities (3,000 Isles; ALMA REED (3))",
            ["entity/3,000 ISLES", "entity/ALMA REED"],
            {},
            (),
        ),
        ("Entities (Bela, Alma Reed)", ["entity/ALMA REED"], {}, ("Entities (Bela)",)),
        (
            "Relationships (ALMA REED → PIER (OLD), 5)",
            ["relationship/ALMA REED -> PIER (OLD)"],
            {RELATIONSHIP: (5,)},
            (),
        ),
        ("Relationships (Alma Reed, Pier (old))", ["relationship/ALMA REED -> PIER (OLD)"], {}, ()),
        (
            'Relationships ("Alma Reed" - "Reed & Sons, Ltd.")',
            ["relationship/REED & SONS, LTD. -> ALMA REED"],
            {},
            (),
        ),
    ],
)
def test_rows_are_cited_by_their_titles_too(cited, named, numbers, unread):
    found = parse_citations(f"So it is [Data: {cited}].", titled)
    assert list(found.named) == named
    assert dict(found.numbers) == numbers
    assert found.unread == unread
    assert found


def test_joined_adds_numbers_once():
    found = parse_citations("[Data: Reports (1)]").joined({REPORT: (1, 2), ENTITY: (3,)})
    assert dict(found.numbers) == {REPORT: (1, 2), ENTITY: (3,)}


_groups = st.dictionaries(
    st.sampled_from(sorted(NAME_OF_KIND)),
    st.lists(st.integers(0, 10**9), min_size=1, max_size=6, unique=True),
    min_size=1,
)
_prose = st.text(st.characters(exclude_characters="[]", exclude_categories=["Cs"]), max_size=30)


@given(_groups, st.sampled_from(["; ", ", ", ";", " ; "]), _prose, _prose)
@settings(max_examples=50, deadline=None)
def test_every_written_citation_is_read_back(groups, separator, before, after):
    inner = separator.join(
        f"{NAME_OF_KIND[kind]} ({', '.join(map(str, numbers))})" for kind, numbers in groups.items()
    )
    found = parse_citations(f"{before}[Data: {inner}]{after}")
    assert {kind: list(numbers) for kind, numbers in found.numbers.items()} == groups
    assert not found.unread
    assert not found.more


@given(st.text(st.sampled_from("[]Dat: Reports(1,2;+more)x^>-\n"), max_size=80))
@settings(max_examples=80, deadline=None)
def test_any_text_can_be_read(text):
    found = parse_citations(text)
    assert all(numbers for numbers in found.numbers.values())
    assert all(str(n) in text for numbers in found.numbers.values() for n in numbers)


def test_long_hostile_text_takes_no_long_time():
    text = "[Data: Reports (" * 20_000 + "[ " * 20_000 + "[Data:" + "a" * 200_000
    assert not parse_citations(text)
    assert not parse_citations(f"[Data: Relationships ({'a, ' * 5_000})]", titled)
