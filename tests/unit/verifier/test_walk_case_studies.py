"""The worked examples of the papers, with texts of our own and a scripted judge.

Two claims over the answer of a GraphRAG process of 17 nodes (the published case studies),
the hierarchical summary of Figure 1, and the two startups of footnote 4.
"""

from __future__ import annotations

import asyncio

import pytest
from fakes.dag import Dag, DagSource
from fakes.scripted_judge import FS, NFS, Script, ScriptedJudge
from fakes.walking import Walked, verify, walk_with

from veritrail_graph.graph.model import Claim, Termination

# Stage 1: chunks; 2: descriptions of entities and relationships; 3: the description of an
# entity of two chunks; 4: community reports; 5: partial answers; 6: the answer.
GRAPHRAG = Dag.of(
    {
        "17": ["15", "16"],
        "16": ["14"],
        "15": ["12", "13"],
        "14": ["9", "10", "11"],
        "13": ["4", "5", "11"],
        "12": ["8", "9"],
        "11": ["6", "7"],
        "10": ["3"],
        "9": ["3"],
        "8": ["2"],
        "7": ["2"],
        "6": ["1"],
        "5": ["1"],
        "4": ["1"],
    },
    stages={
        **dict.fromkeys("123", 1),
        **dict.fromkeys(["4", "5", "6", "7", "8", "9", "10"], 2),
        "11": 3,
        **dict.fromkeys(["12", "13", "14"], 4),
        **dict.fromkeys(["15", "16"], 5),
        "17": 6,
    },
    positions={str(number): number for number in range(1, 18)},
    texts={
        "15": [
            "A North Carolina bill would limit what insulin may cost; diabetes supplies are dear.",
            "Throwing away and mending the batteries of electric cars may slow car sales.",
            "Body shops can hardly mend battery packs, which may put buyers off.",
        ],
        "13": ["The state's lawmakers are weighing a ceiling on insulin prices."],
        "12": [
            "Electric cars are one community of this report.",
            "China's market for them is touched by the trouble of scrapping and mending batteries.",
        ],
        "4": ["GENERAL ASSEMBLY: the legislature that is considering the insulin ceiling."],
        "1": [
            "The interview was held in Raleigh.",
            "“A bill before the General Assembly would cap insulin,” the attorney general said.",
        ],
    },
)
INSULIN = Claim(
    claim_id="insulin",
    text="Lawmakers have acted on the high cost of diabetes supplies in the US.",
    node_id="17",
)
BATTERIES = Claim(
    claim_id="batteries",
    text="Batteries that are hard to mend help to slow car sales in China.",
    node_id="17",
)


def run(dag: Dag, judge: ScriptedJudge, claim: Claim, q: int) -> Walked:
    return asyncio.run(verify(judge, dag, claim, q))


def told(walked: Walked) -> list[tuple[str, str, list[tuple[str, int]]]]:
    """Per iteration: the nodes checked, the interim verdict, the sentences selected."""
    return [
        (
            " ".join(ref.node_id for ref in it.checked),
            it.verdict,
            [(s.node_id, s.sentence) for e in it.summaries for s in e.sentences],
        )
        for it in walked.outcome.iterations
    ]


def insulin_script() -> Script:
    return Script({"15": [0], "13": [0], "4": [0], "1": [1]}, [FS])


def test_a_claim_about_insulin_is_traced_through_four_iterations_to_its_chunk():
    walked = run(GRAPHRAG, ScriptedJudge(insulin_script()), INSULIN, q=2)
    assert told(walked) == [
        ("15 16", FS, [("15", 0)]),
        ("12 13", FS, [("13", 0)]),
        ("4 5 11", FS, [("4", 0)]),
        ("1", FS, [("1", 1)]),
    ]
    assert walked.outcome.verdict is FS
    assert walked.outcome.termination is Termination.ONLY_ROOTS_WITH_EVIDENCE_LEFT
    assert walked.links == [("15", "17"), ("13", "15"), ("4", "13"), ("1", "4")]
    assert walked.error.stages == ()


def battery_script() -> Script:
    return Script({"15": [1, 2], "12": [1]}, [NFS])


def test_a_claim_about_batteries_goes_wrong_in_the_final_answer():
    walked = run(GRAPHRAG, ScriptedJudge(battery_script()), BATTERIES, q=2)
    assert told(walked) == [
        ("15 16", NFS, [("15", 1), ("15", 2)]),
        ("12 13 14", NFS, [("12", 1)]),
    ]
    assert walked.outcome.verdict is NFS
    assert walked.outcome.termination is Termination.MAX_CONSECUTIVE_NOT_FULLY_SUPPORTED
    assert walked.error.stages == (6,)
    assert [ref.node_id for ref in walked.error.nodes] == ["17"]
    assert walked.links == [("15", "17"), ("12", "15")]


def test_with_q_of_one_the_claim_about_batteries_ends_after_one_iteration():
    walked = run(GRAPHRAG, ScriptedJudge(battery_script()), BATTERIES, q=1)
    assert told(walked) == [("15 16", NFS, [("15", 1), ("15", 2)])]
    assert walked.error.stages == (6,)


@pytest.mark.parametrize("claims", [(INSULIN, BATTERIES), (BATTERIES, INSULIN)])
def test_two_claims_at_once_get_what_each_gets_alone(claims):
    judge = ScriptedJudge(by_claim={"insulin": insulin_script(), "batteries": battery_script()})

    async def both() -> list[Walked]:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(verify(judge, GRAPHRAG, claim, 2)) for claim in claims]
        return [task.result() for task in tasks]

    alone = {
        "insulin": run(GRAPHRAG, ScriptedJudge(insulin_script()), INSULIN, 2),
        "batteries": run(GRAPHRAG, ScriptedJudge(battery_script()), BATTERIES, 2),
    }
    assert asyncio.run(both()) == [alone[claim.claim_id] for claim in claims]


# Four chunks, a summary of each, two summaries of summaries, and the final one.
HIERARCHY = Dag.of(
    {
        "11": ["9", "10"],
        "10": ["7", "8"],
        "9": ["5", "6"],
        "8": ["4"],
        "7": ["3"],
        "6": ["2"],
        "5": ["1"],
    },
    positions={str(number): number for number in range(1, 12)},
    texts={
        "10": ["The winter was long.", "The ferry sank.", "Ada blamed the captain for it."],
        "8": ["Ada said the captain had been asleep."],
        "4": ["Ada asked whether the captain had been asleep; nobody answered."],
    },
)


def test_figure_1_an_error_of_a_chunk_summary_is_found_in_stage_2():
    claim = Claim(claim_id="ada", text="Ada blamed the captain for the sinking.", node_id="11")
    judge = ScriptedJudge(Script({"10": [2], "8": [0], "4": [0]}, [FS, FS, NFS]))
    walked = run(HIERARCHY, judge, claim, q=2)
    assert told(walked) == [
        ("9 10", FS, [("10", 2)]),
        ("7 8", FS, [("8", 0)]),
        ("4", NFS, [("4", 0)]),
    ]
    assert walked.outcome.verdict is NFS
    assert walked.error.stages == (2,)
    assert [ref.node_id for ref in walked.error.nodes] == ["8"]
    assert [ref.node_id for ref in walked.error.propagated] == ["10", "11"]


# The answer rests on a summary of the purchases and on a root that gives their reason.
STARTUPS = Dag.of(
    {"t": ["summary", "strategy"], "summary": ["filing"]},
    texts={
        "summary": ["The company bought two startups in 2020."],
        "strategy": ["Buying startups serves its growth in healthcare."],
        "filing": ["In 2020 it acquired the two startups Abel and Bree."],
    },
)
PURCHASE = Claim(
    claim_id="purchase",
    text="The company bought two startups in 2020 to grow in healthcare.",
    node_id="t",
)


def both_parts(evidence, roots):
    """Fully Supported when the summaries and the roots' whole texts hold both sub-claims."""
    said = " ".join([*(each.text for each in evidence), *(root.text for root in roots)])
    return FS if "two startups" in said and "healthcare" in said else NFS


def test_footnote_4_a_root_carried_into_the_next_iteration_keeps_the_claim_supported():
    judge = ScriptedJudge(Script({"summary": [0], "strategy": [0], "filing": [0]}, both_parts))
    source = DagSource(STARTUPS)
    walked = asyncio.run(walk_with(judge, source, STARTUPS, PURCHASE, 1))
    assert told(walked) == [
        ("strategy summary", FS, [("summary", 0), ("strategy", 0)]),
        ("filing", FS, [("filing", 0)]),
    ]
    assert [ref.node_id for ref in walked.outcome.iterations[1].carried_roots] == ["strategy"]
    assert walked.outcome.verdict is FS
    # Not read again for evidence, but its whole text went into the second verdict.
    assert judge.selections == [("purchase", ("strategy", "summary")), ("purchase", ("filing",))]
    assert judge.verdicts[1][2] == ("strategy", "filing")
    # Without the carried root the same judge would have turned.
    (filing,) = STARTUPS.read([STARTUPS.refs["filing"]])
    assert both_parts(judge.verdicts[1][1], [filing]) is NFS


def test_a_carried_root_is_judged_again_where_nothing_new_is_found():
    judge = ScriptedJudge(Script({"summary": [0], "strategy": [0]}, both_parts))
    walked = run(STARTUPS, judge, PURCHASE, q=1)
    assert told(walked)[1] == ("filing", NFS, [])
    assert judge.verdicts[1] == ("purchase", (), ("strategy",))
    assert walked.error.stages == (2,)
