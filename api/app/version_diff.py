"""Two versions of a process side by side: nodes, inputs, stages, claims and their verdicts."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pydantic import Field

from veritrail_graph.api.app.version_texts import MOST_CHARACTERS, MOST_TEXTS, NodeTexts, read_texts
from veritrail_graph.api.jobs.earlier import LAST as LAST
from veritrail_graph.api.jobs.earlier import Pair, check_pairs, find_version
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.ingest.appending import read_stored
from veritrail_graph.graph.ingest.write import no_progress
from veritrail_graph.graph.model.noun import Answer

if TYPE_CHECKING:
    from veritrail_graph.graph.ingest.topology import StoredShape
    from veritrail_graph.graph.model.listed import JudgedClaim
    from veritrail_graph.graph.store import Store


class StageDifference(Answer):
    """A stage in both versions."""

    stage: int
    name: str | None
    nodes_before: int
    nodes: int
    errors_before: int = Field(
        description="Claims with an error that was, or may have been, introduced there, before."
    )
    errors: int


class ClaimDifference(Answer):
    """A claim that one version has, or whose text, verdict or error stages differ."""

    claim: str
    claim_before: str | None = Field(
        None, description="Its text in the old version, where a person matched it with another."
    )
    claim_id_before: str | None = Field(description="Null: the old version has no such claim.")
    claim_id: str | None = Field(description="Null: the new version has no such claim.")
    verdict_before: str | None
    verdict: str | None
    status_before: str | None = Field(
        None, description="Why there was no verdict: `undecided`, `failed` …; null: never verified."
    )
    status: str | None = Field(None, description="The same of now.")
    error_stages_before: list[int]
    error_stages: list[int]


class VersionDifference(Answer):
    """How two versions of a process differ.

    Nodes are compared by id, claims by text, or as a person matched them.
    """

    old: str
    new: str
    content_hash_before: str
    content_hash: str
    nodes_added: list[str]
    nodes_removed: list[str]
    nodes_changed: list[str] = Field(description="Nodes with another text, kind or metadata.")
    inputs_changed: list[str] = Field(description="Nodes with other source nodes.")
    moved: list[str] = Field(description="Nodes of another stage.")
    nodes_same: int = Field(description="Nodes with the same content and source nodes.")
    edges_added: int
    edges_removed: int
    stages: list[StageDifference]
    claims: list[ClaimDifference]
    claims_same: int = Field(description="Claims with the same verdict and error stages.")
    texts: list[NodeTexts] = Field(
        default=[],
        description=f"Of the first {MOST_TEXTS} of `nodes_changed` the texts, of each at most "
        f"{MOST_CHARACTERS:,} characters.",
    )

    @classmethod
    def of(
        cls,
        names: tuple[str, str],
        shapes: tuple[StoredShape, StoredShape],
        claims: tuple[Sequence[JudgedClaim], Sequence[JudgedClaim]],
        matches: Mapping[str, str],
    ) -> VersionDifference:
        """The difference of two versions, the old one first.

        Args:
            names: Their process_ids.
            shapes: Their nodes and edges.
            claims: Their claims with the verdicts in force.
            matches: claim_ids of the old version by those of the new one, as a person gave them.
        """
        (before, now), (old, new) = shapes, (_nodes(one) for one in shapes)
        both = [name for name in new if name in old]
        inputs = _inputs(before), _inputs(now)
        content = [name for name in both if old[name][0] != new[name][0]]
        linked = [name for name in both if inputs[0].get(name) != inputs[1].get(name)]
        edges = tuple({(s, t) for t, all_ in one.items() for s in all_} for one in inputs)
        pairs = _paired(*claims, matches)
        differing = [one for one in pairs if _differs(*one)]
        return cls(
            old=names[0],
            new=names[1],
            content_hash_before=before.hash,
            content_hash=now.hash,
            nodes_added=[name for name in new if name not in old],
            nodes_removed=[name for name in old if name not in new],
            nodes_changed=content,
            inputs_changed=linked,
            moved=[name for name in both if old[name][1] != new[name][1]],
            nodes_same=len(both) - len({*content, *linked}),
            edges_added=len(edges[1] - edges[0]),
            edges_removed=len(edges[0] - edges[1]),
            stages=_stages(shapes, claims),
            claims=[_claim(*one) for one in differing],
            claims_same=len(pairs) - len(differing),
        )


async def compare_versions(
    store: Store, old: str, new: str, pairs: Sequence[Pair]
) -> VersionDifference:
    """Read two versions of a process and compare them; see `Processes.diff`."""
    version = await find_version(store, await store.processes.get(new), old)
    if version.process_id == new:
        raise InputError(
            f"Something was appended to {new!r} since that version: it is not stored apart "
            "from what the process is now, so its nodes cannot be compared.",
            code="version_grown",
            process_id=new,
        )
    names = version.process_id, new
    claims = [await _judged(store, name) for name in names]
    before, now = ({one.claim_id for one in side} for side in claims)
    check_pairs(names, pairs, before, now)
    matches = {claim_id: earlier for earlier, claim_id in pairs}
    shapes = [await read_stored(store, name, no_progress) for name in names]
    found = await asyncio.to_thread(
        VersionDifference.of, names, (shapes[0], shapes[1]), (claims[0], claims[1]), matches
    )
    return found.model_copy(update={"texts": await read_texts(store, names, found.nodes_changed)})


async def _judged(store: Store, process_id: str) -> list[JudgedClaim]:
    """The claims of a process with the verdicts in force, in their order."""
    ids = [claim.claim_id for claim in await store.claims.all(process_id)]
    found = await store.claims.judged(process_id, ids)
    return [found[one] for one in ids if one in found]


def _nodes(shape: StoredShape) -> dict[str, tuple[bytes, int]]:
    """Digest and stage by node_id."""
    topology = shape.topology
    facts = zip(shape.digests, topology.stages, strict=True)
    return dict(zip(topology.ids, facts, strict=True))


def _inputs(shape: StoredShape) -> dict[str, set[str]]:
    """Source nodes by node_id."""
    ids = shape.topology.ids
    found: dict[str, set[str]] = {}
    for source, target in shape.topology.edges:
        found.setdefault(ids[target], set()).add(ids[source])
    return found


_Pair = tuple["JudgedClaim | None", "JudgedClaim | None"]


def _paired(
    before: Sequence[JudgedClaim], now: Sequence[JudgedClaim], matches: Mapping[str, str]
) -> list[_Pair]:
    """Claims of both sides as they are matched, else by node and text, else by text.

    Each is in one pair.
    """
    matched = {one.claim_id: one for one in before}
    matched = {name: matched[earlier] for name, earlier in matches.items()}
    taken = {one.claim_id for one in matched.values()}
    by_text: dict[str, list[JudgedClaim]] = {}
    for one in before:
        if one.claim_id not in taken:
            by_text.setdefault(one.text, []).append(one)
    pairs: list[_Pair] = []
    for one in now:
        if one.claim_id in matched:
            pairs.append((matched[one.claim_id], one))
            continue
        same = by_text.get(one.text, [])
        same.sort(key=lambda other: other.node_id == one.node_id)  # the best one last
        pairs.append((same.pop() if same else None, one))
    return pairs + [(one, None) for left in by_text.values() for one in left]


def _differs(before: JudgedClaim | None, now: JudgedClaim | None) -> bool:
    if before is None or now is None:
        return True
    sides = [(one.text, one.verdict, _status(one), one.error_stages) for one in (before, now)]
    return sides[0] != sides[1]


def _status(one: JudgedClaim | None) -> str | None:
    """Return why a claim has no verdict; None: it has one, or was never verified."""
    if one is None or one.verdict is not None or one.status is None:
        return None
    return one.status.value


def _claim(before: JudgedClaim | None, now: JudgedClaim | None) -> ClaimDifference:
    known = now or before
    assert known is not None  # noqa: S101  # a pair has at least one side
    return ClaimDifference(
        claim=known.text,
        claim_before=before.text if before and now and before.text != now.text else None,
        claim_id_before=before.claim_id if before else None,
        claim_id=now.claim_id if now else None,
        verdict_before=before.verdict.value if before and before.verdict else None,
        verdict=now.verdict.value if now and now.verdict else None,
        status_before=_status(before),
        status=_status(now),
        error_stages_before=list(before.error_stages) if before else [],
        error_stages=list(now.error_stages) if now else [],
    )


def _stages(
    shapes: tuple[StoredShape, StoredShape],
    claims: tuple[Sequence[JudgedClaim], Sequence[JudgedClaim]],
) -> list[StageDifference]:
    nodes = [Counter(shape.topology.stages) for shape in shapes]
    errors = [Counter(stage for one in side for stage in one.error_stages) for side in claims]
    names = {**shapes[0].header.stage_names, **shapes[1].header.stage_names}
    return [
        StageDifference(
            stage=stage,
            name=names.get(stage),
            nodes_before=nodes[0][stage],
            nodes=nodes[1][stage],
            errors_before=errors[0][stage],
            errors=errors[1][stage],
        )
        for stage in sorted(nodes[0].keys() | nodes[1].keys())
    ]
