"""Tables of claims in CSV, with cells that are no values."""

from __future__ import annotations

from pathlib import Path

import pytest

from veritrail_graph.api.app.claim_tables import read_claims
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
