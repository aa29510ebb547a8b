"""The timeline of a run: lanes, the marked steps, and what is folded."""

from __future__ import annotations

from typing import Any

from veritrail_graph.api.page.rendering import page_environment
from veritrail_graph.api.page.views.timeline import (
    MOST_LANES,
    OTHERS,
    SHORT,
    TOOLS,
    StepTone,
    is_run,
    may_be_run,
    timeline,
)
from veritrail_graph.graph.model import Process, ValueDifference, Verdict
from veritrail_graph.graph.model.finding import Finding, FindingNode, FindingQuote
from veritrail_graph.graph.model.listed import ListedNode

HOSTILE = "<script>alert(1)</script>"


def a_step(number: int, kind: str = "message", step: str | None = "Writer") -> ListedNode:
    return ListedNode(
        node_id=f"message/{number}", stage=number, position=number, role="intermediate", kind=kind,
        step=step, model=None, excerpt=f"{HOSTILE} {number}", length=30, upstream=1, downstream=1,
        cited=0,
    )  # fmt: skip


def a_process(nodes: int, source_format: str = "agents") -> Process:
    return Process(
        process_id="p", name="Run", source_format=source_format, content_hash="h",
        stages={1: nodes}, stage_names={}, terminals=(f"message/{nodes - 1}",),
        nodes=nodes, edges=nodes,
    )  # fmt: skip


def a_node(number: int) -> dict[str, Any]:
    return {"node_id": f"message/{number}", "name": f"message/{number}"}


def a_finding(source: int, culprits: tuple[int, ...], carried: int) -> Finding:
    nodes = tuple(FindingNode(**a_node(number)) for number in culprits)
    return Finding(
        process_id="p", claim_id="c1", claim="It lifts 60 tons.", verification_id="v",
        verdict=Verdict.NOT_FULLY_SUPPORTED, culprit=nodes[0] if len(nodes) == 1 else None,
        candidates=nodes if len(nodes) > 1 else (),
        source=FindingQuote(**a_node(source), text="It lifts 40 tons."),
        difference=ValueDifference(source="40 tons", wrote="60 tons"),
        carried_on=(FindingNode(**a_node(carried)),),
    )  # fmt: skip


def test_the_steps_of_a_wrong_claim_are_marked_and_named_above_all_steps() -> None:
    nodes = [a_step(number) for number in reversed(range(9))]
    run = timeline(a_process(9), nodes, [a_finding(2, (5,), 8)])
    (group,) = run.groups
    tones = {step.number: step.tone for step in group.steps if step.notes}
    assert tones == {3: StepTone.SOURCE, 6: StepTone.CULPRIT, 9: StepTone.CARRIED}
    assert [step.number for step in group.steps] == list(range(1, 10))
    (place,) = run.places
    assert [step.number for step in place.steps] == [6]
    assert (place.wrote, place.source) == ("60 tons", "40 tons")
    assert place.before is not None
    assert place.before.number == 3
    assert [step.number for step in place.repeated] == [9]
    assert run.marks == (6,)


def test_one_of_several_steps_is_marked_as_one_that_may_be_it() -> None:
    run = timeline(a_process(9), [a_step(n) for n in range(9)], [a_finding(2, (4, 5), 8)])
    assert [step.tone for step in run.groups[0].steps[4:6]] == [StepTone.PERHAPS] * 2


def test_of_a_long_run_what_is_marked_stays_open_and_every_step_is_there_once() -> None:
    nodes = [a_step(number) for number in range(400)]
    run = timeline(a_process(400), nodes, [a_finding(139, (147,), 399)])
    numbers = [step.number for group in run.groups for step in group.steps]
    assert numbers == list(range(1, 401))
    is_open = {s.number for group in run.groups if not group.is_folded for s in group.steps}
    assert {1, 140, 146, 147, 148, 149, 150, 400} <= is_open
    assert len(is_open) < SHORT
    assert max(len(group.steps) for group in run.groups if group.is_folded) <= 50


def test_agents_have_lanes_of_their_own_and_tools_share_the_last() -> None:
    few = [a_step(0, "user", None), a_step(1, step="A"), a_step(2, "tool_result", "search")]
    assert [lane.name for lane in timeline(a_process(3), few, []).lanes] == ["user", "A", TOOLS]
    many = [a_step(number, step=f"agent {number % 12}") for number in range(30)]
    lanes = timeline(a_process(30), many, []).lanes
    assert len(lanes) == MOST_LANES
    assert lanes[-1].name == OTHERS
    assert sum(lane.steps for lane in lanes) == 30


def test_a_process_without_agents_or_with_too_many_nodes_is_no_run() -> None:
    plain = a_process(3, "process")
    assert not is_run(plain, [a_step(number, "summary") for number in range(3)])
    assert is_run(plain, [a_step(0, "tool_call")])
    assert is_run(a_process(3), [a_step(0)])
    assert may_be_run(plain)
    assert not may_be_run(a_process(2_000))


def test_texts_and_names_of_a_run_are_no_markup() -> None:
    run = timeline(a_process(9), [a_step(n, step=HOSTILE) for n in range(9)], [])
    parts = page_environment().get_template("parts/timeline.html").module
    page = str(parts.timeline_shown(run, lambda name: "/n", lambda name: "/c"))  # type: ignore[attr-defined]
    assert "<script" not in page
    assert page.count('class="step"') == 9
