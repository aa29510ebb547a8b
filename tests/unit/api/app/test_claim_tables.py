"""Tables of claims in CSV, with cells that are no values."""

from __future__ import annotations

from pathlib import Path

import pytest

from veritrail_graph.api.app.claim_tables import read_claims, read_reviews
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.claims_file import read_claims_file

DIGITS = "9" * 5_000


def test_what_our_tables_guard_is_read_as_it_was() -> None:
    (claim,) = read_claims("text,start,end\n'=1+1 is two,0,11\n")
    assert (claim.text, claim.start, claim.end) == ("=1+1 is two", 0, 11)


def test_a_number_that_is_too_long_is_a_fault_of_its_line(tmp_path: Path) -> None:
    table = f"text,start,end\nThe pump failed.,{DIGITS},{DIGITS}\n"
    with pytest.raises(InputError) as refused:
        read_claims(table)
    assert all("line 2" in one.where for one in refused.value.violations)
    path = tmp_path / "claims.csv"
    path.write_text(table)
    with pytest.raises(InputError):
        read_claims_file(path)


def test_reviews_keep_whether_they_were_blind_and_decide_and_their_order() -> None:
    first, decision, later = read_reviews(
        "claim_id,verdict,created_at,blind,adjudicates\n"
        "k1,supported,2026-03-03T00:00:00Z,false,true\n"
        "k1,unclear,2026-02-02T00:00:00Z,True,\n"
        "k1,supported,2026-01-01T00:00:00Z,,false\n"
    )
    assert (first.blind, first.adjudicates) == (None, False)
    assert (decision.blind, decision.adjudicates) == (True, None)
    assert (later.blind, later.adjudicates) == (False, True)
    with pytest.raises(InputError) as refused:
        read_reviews("claim_id,verdict,blind\nk1,supported,perhaps\n")
    assert [one.where for one in refused.value.violations] == ["line 2, blind"]
