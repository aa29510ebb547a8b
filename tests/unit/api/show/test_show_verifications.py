"""The table of verifications: every writer makes the header of each."""

from __future__ import annotations

import pytest
from fakes.shown_fields import WRITERS, read
from fakes.trails import NFS, NODES, a_trail

from veritrail_graph.api.show.verifications import verifications_shown

ONE = a_trail("v-1", verdict=NFS, error_nodes=(NODES["s1"],), error_stages=(2,), engine="lexical",
              model=None, indicative=True)  # fmt: skip


@pytest.mark.parametrize("writer", WRITERS)
def test_a_line_says_the_verdict_the_stage_the_judge_and_the_claim(writer: str) -> None:
    shown = read(WRITERS[writer](verifications_shown([ONE])))
    wanted = (ONE.claim_id, "Not Fully Supported", "2", "lexical (indicative), q = 3, 2026-01-",
              ONE.claim, "v-1", "indicative only")  # fmt: skip
    assert [words for words in wanted if read(words) not in shown] == []
