"""RAPTOR trees: every node names its children, and the leaves are the source text.

The fields are those of RAPTOR's `Tree` and `Node`. A set may be a list, or an object as jsonpickle
writes it. Embeddings are not read.

Source: RAPTOR, arXiv:2401.18059, 3, and its program.
"""

from __future__ import annotations

from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Any

from veritrail_graph.graph.counted import counted, some
from veritrail_graph.graph.errors import InputError, shown
from veritrail_graph.graph.importers.draft import Draft
from veritrail_graph.graph.importers.records import Header, is_written
from veritrail_graph.graph.importers.summaries import texts
from veritrail_graph.graph.importers.summaries.texts import Text
from veritrail_graph.graph.model import Origin

NAME = "summaries"
NODES = "all_nodes"
_TREE = "tree"
_DIGITS = 19
_KNOWN = {
    NODES, "leaf_nodes", "root_nodes", "num_layers", "layer_to_nodes", "py/object", _TREE,
    *texts.ABOUT,
}  # fmt: skip


def tree_of(value: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The tree that an object is or has under `tree`; None: there is none."""
    for one in (value, value.get(_TREE)):
        if isinstance(one, dict) and isinstance(one.get(NODES), (dict, list)):
            nodes = one[NODES]
            first = next(iter(nodes.values() if isinstance(nodes, dict) else nodes), None)
            if isinstance(first, dict) and "text" in first and "children" in first:
                return one
    return None


def read_tree(value: Mapping[str, Any], where: str, name: str | None) -> Draft:
    """The process of a tree.

    Args:
        value: The tree, or an object that has it under `tree`.
        where: Its place, for messages.
        name: The key that it has in its file, if any.

    Raises:
        InputError: A node is not one, or has a child that there is not.
    """
    tree = tree_of(value)
    if tree is None:
        raise InputError(f"{where}: there is no tree with nodes under `{NODES}` in it.")
    nodes = _nodes(tree[NODES], where)
    leaves = _indices(tree.get("leaf_nodes"))
    stages = _stages(nodes)
    # Ingest names the nodes of a cycle, so they stay as they are in the file.
    same = {} if stages is None else _passed_on(nodes)
    draft = Draft(Header(NAME))
    ids = {}
    for index, node in nodes.items():
        if index in same:
            continue
        leaf = not node.children
        source = leaf and (leaves is None or index in leaves) and not is_written(node.about)
        made = {} if leaf else texts.makers(value)
        ids[index] = draft.node(
            f"node/{index}",
            node.text,
            node.where,
            origin=Origin.SOURCE if source else Origin.GENERATED,
            kind="chunk" if source else "summary",
            step=None if leaf else "summarise",
            stage=None if stages is None else stages[index],
            metadata={**made, **node.about},
        )
    for index, node in nodes.items():
        if index not in same:
            for child in node.children or ():
                draft.edge(ids[_own(child, same)], ids[index], node.where)
    terminals, warnings = _terminals(tree, draft, ids, same, stages)
    layers = max((node.stage or 1 for node in draft.nodes.values()), default=1)
    draft.header = Header(
        NAME,
        name=texts.name_of(value, name),
        question=texts.question_of(value, where),
        stage_names={1: "leaf"} | {stage: f"layer {stage - 1}" for stage in range(2, layers + 1)},
        terminals=terminals,
        warnings=(*warnings, *texts.not_read(value, _KNOWN)),
    )
    return draft


def _nodes(value: Any, where: str) -> dict[int, Text]:
    """The nodes by index, in the order of their indices."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    found = {}
    for key, one in pairs:
        place = f"{where}, {NODES}[{key}]"
        if not isinstance(one, dict):
            raise InputError(f"{place}: a node must be an object, not {texts.kind_of(one)}.")
        index = one.get("index", key)
        if isinstance(index, str):
            index = _number(index)
        if not isinstance(index, int) or isinstance(index, bool):
            raise InputError(f"{place}: the index of a node must be a whole number.")
        if index in found:
            raise InputError(f"{place}: another node has the index {index}.")
        text = texts.read_text(one, place)
        text.children = text.children or ()
        text.about = {
            name: rest
            for name, rest in text.about.items()
            if name not in ("index", "embeddings", "embedding", "py/object")
        }
        found[index] = text
    for index, one in found.items():
        for child in one.children or ():
            if child == index:
                raise InputError(f"{one.where}, children: node {index} is a child of itself.")
            if child not in found:
                raise InputError(f"{one.where}, children: there is no node {child}.")
    return dict(sorted(found.items()))


def _passed_on(nodes: Mapping[int, Text]) -> dict[int, int]:
    """Nodes that repeat the text of their only child: they are the same node as that child."""
    return {
        index: node.children[0]
        for index, node in nodes.items()
        if node.children
        and len(node.children) == 1
        and node.text.strip()
        and nodes[node.children[0]].text == node.text
    }


def _own(index: int, same: Mapping[int, int]) -> int:
    """The node that one is, after texts that were passed on are followed down."""
    while index in same:
        index = same[index]
    return index


def _stages(nodes: Mapping[int, Text]) -> dict[int, int] | None:
    """1 for a leaf, else one more than the highest of the children; None: there is a cycle."""
    sorter = TopologicalSorter({index: node.children or () for index, node in nodes.items()})
    try:
        order = list(sorter.static_order())
    except CycleError:
        return None
    stages: dict[int, int] = {}
    for index in order:
        stages[index] = 1 + max((stages[child] for child in nodes[index].children or ()), default=0)
    return stages


def _terminals(
    tree: Mapping[str, Any],
    draft: Draft,
    ids: Mapping[int, str],
    same: Mapping[int, int],
    stages: Mapping[int, int] | None,
) -> tuple[tuple[str, ...] | None, list[str]]:
    """The roots of the tree, which are the final outputs, and warnings about the others."""
    if stages is None:
        return None, []
    leading_on = texts.outgoing(draft)
    ends = [index for index, node_id in ids.items() if node_id not in leading_on]
    named = _indices(tree.get("root_nodes"))
    tops = {_own(index, same) for index in named or ()}
    chosen = [index for index in ends if index in tops]
    if not chosen:
        highest = max(stages[index] for index in ends)
        chosen = [index for index in ends if stages[index] == highest]
    said = []
    if len(chosen) > 1:
        said.append(
            f"The tree has {len(chosen)} roots; each is a final output: "
            f"{some(shown(ids[index]) for index in chosen)}."
        )
    left = [ids[index] for index in ends if index not in chosen]
    if left:
        said.append(
            counted(len(left), "node is a child", "nodes are children")
            + f" of no other node: {some(map(shown, left))}."
        )
    return tuple(ids[index] for index in chosen), said


def _indices(value: Any) -> set[int] | None:
    """The indices that an object, a list of indices or a list of nodes names; None: none can."""
    if isinstance(value, dict):
        named: list[Any] = [_number(key) for key in value]
    elif isinstance(value, list):
        named = [one.get("index") if isinstance(one, dict) else one for one in value]
    else:
        return None
    return {one for one in named if isinstance(one, int)} or None


def _number(key: str) -> int | None:
    """An index that is a key of an object; None: it is no number."""
    return int(key) if key.isdecimal() and len(key) < _DIGITS else None
