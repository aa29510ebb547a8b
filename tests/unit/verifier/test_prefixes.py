"""Shared prefixes: most of what claims of one answer ask was asked before, from its beginning.

Endpoints that cache prompts do so by prefixes; a block of 1,024 characters counts when an
earlier prompt begins with it and with everything before it.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path

from fakes.asking import ScriptedAsking
from fakes.judging import NOTHING, SPLITTER, a_claim, a_node, evidence_step, numbered

from veritrail_graph.graph.model import NodeRef, Role
from veritrail_graph.verifier.limits import Limits
from veritrail_graph.verifier.models.port import Meter
from veritrail_graph.verifier.ports import ReadNode, SplitNode

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "harbour-summary.json"
BLOCK = 1_024
CLAIMS = 28


def example():
    """The process of the example, and its final summary's sentences as claims."""
    process = json.loads(EXAMPLE.read_text(encoding="utf-8"))
    nodes = {node["node_id"]: node for node in process["nodes"]}
    (terminal,) = nodes.keys() - {edge["source"] for edge in process["edges"]}
    texts = [claim["text"] for claim in process["claims"]]
    texts += [one.text for one in SPLITTER.split("t", nodes[terminal]["text"])]
    return process, nodes, terminal, texts


def frontier(of: set[str], process, nodes) -> list[ReadNode]:
    """The source nodes of some nodes of the example."""
    names = {edge["source"] for edge in process["edges"] if edge["target"] in of}
    targets = {edge["target"] for edge in process["edges"]}
    read = []
    for position, (name, node) in enumerate(nodes.items()):
        if name in names:
            role = Role.INTERMEDIATE if name in targets else Role.ROOT
            ref = NodeRef(name, node["stage"], position, role)
            read.append(SplitNode(ref, node["text"], SPLITTER.split(name, node["text"])))
    return read


def claims_of(texts: list[str]):
    """28 claims; every third one has sub-claims, which prompts show as well."""
    return [
        a_claim(
            f"{text} ({number})",
            *([f"A first part of it ({number}).", "A second one."] if number % 3 == 0 else []),
        )
        for number, text in enumerate((texts * CLAIMS)[:CLAIMS])
    ]


def prompts_of(claims, nodes, limits=Limits()) -> list[str]:
    """Everything that is sent for the first frontier, claim after claim."""
    asking = ScriptedAsking(lambda _: NOTHING)
    step = evidence_step(asking, limits)
    for claim in claims:
        asyncio.run(step.select(claim, step.prompts_of(claim, nodes), Meter()))
    return [request.system + request.user for request in asking.requests]


def repeated(prompts: list[str]) -> float:
    """The share of characters in blocks that an earlier prompt begins with as well."""
    seen: set[str] = set()
    again = 0
    for prompt in prompts:
        prefixes = [prompt[:end] for end in range(BLOCK, len(prompt) + 1, BLOCK)]
        again += BLOCK * sum(prefix in seen for prefix in prefixes)
        seen.update(prefixes)
    return again / sum(map(len, prompts))


def test_28_claims_over_the_example_repeat_at_least_80_percent_of_their_input():
    process, nodes, terminal, texts = example()
    read = frontier({terminal}, process, nodes)
    prompts = prompts_of(claims_of(texts), read)
    share = repeated(prompts)
    sentences = sum(len(node.sentences) for node in read)
    assert share >= 0.8, f"{share:.1%} of the input over {sentences} sentences repeat a prefix"


def test_claims_that_differ_in_length_share_their_excerpts_where_the_window_is_the_limit():
    nodes = [a_node("n", numbered("n", 3_000))]
    asking = ScriptedAsking(lambda _: NOTHING, context_tokens=10_000)
    step = evidence_step(asking, Limits(None, None))
    shared = set()
    for words in (1, 40, 90, 200, 500):
        asking.requests.clear()
        claim = a_claim("word " * words)
        asyncio.run(step.select(claim, step.prompts_of(claim, nodes), Meter()))
        shared.add(tuple(request.user[: request.shared] for request in asking.requests))
    assert len(shared) <= 2  # the longest claim takes so much that less fits beside it


def test_equal_frontiers_that_were_read_apart_give_the_same_prompts():
    nodes = [a_node("n", numbered("n", 50))]
    again = [replace(node, text=str(node.text.encode(), "utf-8")) for node in nodes]
    first, second = (prompts_of([a_claim()], read) for read in (nodes, again))
    assert first == second
