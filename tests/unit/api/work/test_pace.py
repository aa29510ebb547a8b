"""How many claims of a run are on their way at a time."""

from __future__ import annotations

import asyncio

import pytest
from fakes.settings_of import settings_of

from veritrail_graph.api.configured.judge import configure_judge, judge_options
from veritrail_graph.api.requests.verify import VerifyRequest
from veritrail_graph.api.work.runs import NODES_AT_ONCE, pace


@pytest.mark.parametrize(
    ("nodes", "at_a_time"),
    [(0, 8), (1_000, 8), (NODES_AT_ONCE // 8, 8), (NODES_AT_ONCE // 3, 3), (10 * NODES_AT_ONCE, 1)],
)
def test_where_no_model_is_asked_fewer_claims_share_a_large_process(
    nodes: int, at_a_time: int
) -> None:
    async def most() -> int:
        settings, request = settings_of({}), VerifyRequest(process_id="p", engine="lexical")
        async with configure_judge(settings, judge_options(settings, request)) as judge:
            return pace(judge, nodes)(0)

    assert asyncio.run(most()) == at_a_time
