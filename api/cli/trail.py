"""Verifications as a person reads them: a table of verdicts, and a trail as a tree."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from api.cli.terminal import (
    INDICATIVE,
    VERDICT_STYLE,
    VERDICT_WORDS,
    clean,
    one_line,
    verdict_words,
)
from graph.exporters.results import selected_sentences

if TYPE_CHECKING:
    from graph.model import Iteration, NodeRef, Verification

T = TypeVar("T")

CHECKED_SHOWN = 8
NODES_SHOWN = 6
SENTENCES_SHOWN = 3


def verdict_table(verifications: Iterable[Verification]) -> Table:
    """One line a claim."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("verdict", overflow="fold")
    table.add_column("error stage", overflow="fold")
    table.add_column("claim", overflow="fold")
    table.add_column("verification", overflow="fold", style="dim")
    for verification in verifications:
        words, style = verdict_words(verification.verdict, verification.status)
        table.add_row(
            Text(words, style=style),
            Text(", ".join(map(str, verification.error.stages))),
            Text(one_line(verification.claim.text)),
            Text(verification.verification_id),
        )
    return table


def trail_tree(verification: Verification, *, whole: bool = True) -> Tree:
    """A verification: claim, verdict, iterations, evidence by node and stage.

    Args:
        verification: The verification.
        whole: Show everything; else long lists are cut and say how much is left out.
    """
    words, style = verdict_words(verification.verdict, verification.status)
    head = Text.assemble((clean(verification.claim.text), "bold"), "  ", (words, f"bold {style}"))
    tree = Tree(head, guide_style="dim")
    facts = [f"{verification.verification_id}", f"engine {verification.engine}"]
    if verification.model:
        facts.append(one_line(verification.model))
    facts.append(f"q = {verification.q}")
    if verification.termination:
        facts.append(f"stopped: {verification.termination.value.replace('_', ' ')}")
    tree.add(Text(" · ".join(facts), style="dim"))
    if verification.indicative:
        tree.add(Text(INDICATIVE, style="yellow"))
    if verification.failure:
        tree.add(Text(f"why: {clean(verification.failure)}", style="magenta"))
    if verification.reasoning:
        tree.add(Text(f"reasoning: {one_line(verification.reasoning)}"))
    for iteration in verification.iterations:
        _add_iteration(tree, iteration, whole=whole)
    _add_error(tree, verification, whole=whole)
    return tree


def _add_iteration(tree: Tree, iteration: Iteration, *, whole: bool) -> None:
    branch = tree.add(
        Text.assemble(
            (f"iteration {iteration.number}", "bold"),
            "  ",
            (VERDICT_WORDS[iteration.verdict], VERDICT_STYLE[iteration.verdict]),
            (f"  checked {_names(iteration.checked)}", "dim"),
        )
    )
    if iteration.carried_roots:
        branch.add(Text(f"carried roots: {_names(iteration.carried_roots)}", style="dim"))
    stages = {node.node_id: node.stage for node in iteration.checked}
    nodes: dict[str, list[Text]] = {}
    for cited in selected_sentences(iteration):
        role = "" if cited.role.value == "evidence" else " (context)"
        text = f"{cited.sentence.index}{role}: {one_line(cited.sentence.text)}"
        nodes.setdefault(cited.sentence.node_id, []).append(Text(text))
    for name in _first(list(nodes), NODES_SHOWN, whole=whole):
        leaf = branch.add(
            Text.assemble((one_line(name), "cyan"), (f"  stage {stages.get(name)}", "dim"))
        )
        for line in _first(nodes[name], SENTENCES_SHOWN, whole=whole):
            leaf.add(line)
        _add_rest(leaf, len(nodes[name]), SENTENCES_SHOWN, "sentence", whole=whole)
    _add_rest(branch, len(nodes), NODES_SHOWN, "node", whole=whole)
    if not nodes:
        branch.add(Text("no evidence", style="dim"))


def _add_error(tree: Tree, verification: Verification, *, whole: bool) -> None:
    error = verification.error
    if not error.nodes:
        return
    stages = ", ".join(map(str, error.stages))
    branch = tree.add(Text(f"error introduced at stage {stages}", style="bold red"))
    for node in _first(error.nodes, NODES_SHOWN, whole=whole):
        branch.add(Text(f"introduced in {one_line(node.node_id)} (stage {node.stage})"))
    _add_rest(branch, len(error.nodes), NODES_SHOWN, "node", whole=whole)
    for node in _first(error.propagated, NODES_SHOWN, whole=whole):
        branch.add(Text(f"carried on by {one_line(node.node_id)} (stage {node.stage})", "dim"))
    _add_rest(branch, len(error.propagated), NODES_SHOWN, "node", whole=whole)


def _first(items: Sequence[T], most: int, *, whole: bool) -> Sequence[T]:
    return items if whole else items[:most]


def _add_rest(branch: Tree, count: int, most: int, what: str, *, whole: bool) -> None:
    if not whole and count > most:
        plural = "" if count - most == 1 else "s"
        branch.add(Text(f"… and {count - most} more {what}{plural}", style="dim"))


def _names(nodes: Sequence[NodeRef]) -> str:
    shown = ", ".join(one_line(node.node_id, 60) for node in nodes[:CHECKED_SHOWN])
    return (
        shown if len(nodes) <= CHECKED_SHOWN else f"{shown} and {len(nodes) - CHECKED_SHOWN} more"
    )
