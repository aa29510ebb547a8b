"""An earlier version of a process: which one is meant, and the verdicts that are kept from it.

Source: ours (docs/adr/0039-only-what-changed.md).
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from veritrail_graph.api.jobs.model import Version
from veritrail_graph.api.jobs.together import Together
from veritrail_graph.graph.comparing import changed_settings, settings_in_words
from veritrail_graph.graph.copying import KEPT_DIGITS, kept_id
from veritrail_graph.graph.errors import InputError, NotFound, Violation, shown
from veritrail_graph.graph.model import Process, Status, Verification
from veritrail_graph.verifier.driver import Task, without_verdict
from veritrail_graph.verifier.judge import LanguageModelJudge
from veritrail_graph.verifier.ports import Judge, NodeSource
from veritrail_graph.verifier.reuse import Reuse, reuse
from veritrail_graph.verifier.verdict import PromptVerdict

if TYPE_CHECKING:
    from veritrail_graph.api.requests.verify import VerifyRequest
    from veritrail_graph.graph.store import Store
    from veritrail_graph.graph.store.trails import EarlierOutline

Pair = tuple[str, str]
"""The claim_id in the earlier version, and that in the process."""

LAST = "last"
_DIGITS = re.compile(rf"[0-9a-f]{{{KEPT_DIGITS},64}}")
MOST_TRIED = 3
"""Earlier verifications of one claim that are looked at, the likeliest first."""
MOST_NAMED = 4
"""Settings that a reason names."""


async def find_version(store: Store, process: Process, since: str) -> Version:
    """The earlier version of a process that is meant.

    Args:
        store: The graph.
        process: The process.
        since: Another process_id, a content hash or at least its first 12 digits, or `last`.

    Raises:
        NotFound: It is none of these.
        InputError: There is none, or it is not stored any more.
    """
    if since == LAST:
        return await _last(store, process)
    if since != process.process_id:
        try:
            other = await store.processes.get(since)
        except NotFound as error:
            if error.code != "process_unknown":
                raise
            digits = since.lower()
            if not _DIGITS.fullmatch(digits):
                raise _unknown(since) from None
            since = digits
        else:
            return Version(since, other.content_hash)
    if since == process.process_id or process.content_hash.startswith(since):
        raise InputError(
            f"Process {process.process_id!r} is stored with this content now: what was verified "
            "on it is shown again where no earlier version is named.",
            code="since_is_now",
        )
    return await _with_hash(store, process, since)


def _unknown(since: str) -> NotFound:
    """The error for what names no earlier version."""
    why = "no process has this id"
    if re.fullmatch("[0-9a-f]+", since):
        why += f", and of a content hash at least {KEPT_DIGITS} digits are needed"
    return NotFound(
        f"There is no earlier version {shown(since)}: {why}.",
        code="version_unknown",
        since=since,
    )


async def _with_hash(store: Store, process: Process, digits: str) -> Version:
    own = {one for one, _ in await store.trails.contents(process.process_id)}
    found = [Version(process.process_id, one) for one in own if one.startswith(digits)]
    found += [Version(*one) for one in await store.processes.of_content(digits)]
    if len({one.content_hash for one in found}) > 1:
        raise InputError(f"Several contents begin with {digits!r}; give more digits.")
    if not found:
        raise InputError(
            f"No stored process has the content {digits!r}, and no verification of "
            f"{process.process_id!r} was made on it. Replacing a process removes its earlier "
            "content, unless it is kept.",
            code="version_gone",
            process_id=process.process_id,
        )
    kept = kept_id(process.process_id, found[0].content_hash)
    return min(found, key=lambda one: (one.process_id != kept, one.process_id))


async def _last(store: Store, process: Process) -> Version:
    """Of kept versions and contents before appends that with the newest verification."""
    name, now = process.process_id, process.content_hash
    found = [
        (at, Version(name, one)) for one, at in await store.trails.contents(name) if one != now
    ]
    for other, content_hash in await store.processes.of_content(""):
        if other == kept_id(name, content_hash) and content_hash != now:
            contents = await store.trails.contents(other)
            found += [(at, Version(other, one)) for one, at in contents if one == content_hash]
    if not found:
        raise InputError(
            f"No verification of an earlier version of {name!r} is stored. Replacing a process "
            "removes its earlier content, unless it is kept.",
            code="version_gone",
            process_id=name,
        )
    return max(found, key=lambda one: (one[0], one[1].content_hash))[1]


async def version_for(
    opened: Callable[[], Awaitable[Store]], request: VerifyRequest, new: Set[str] | None
) -> Version | None:
    """The earlier version from which a request keeps verdicts; None: it names none.

    Args:
        opened: Opens the graph.
        request: The request.
        new: claim_ids that the process is about to get; None: that is not known yet.

    Raises:
        NotFound: There is no such version.
        InputError: It is not stored, or pairs of claims are given without it or cannot be used.
    """
    if request.since is None:
        if request.match:
            raise InputError("`match` pairs claims with those of `since`; name that, too.")
        return None
    store, name = await opened(), request.process_id
    found = await find_version(store, await store.processes.get(name), request.since)
    if request.match:
        pairs = [(one.earlier, one.claim_id) for one in request.match]
        _, before = await store.claims.numbered(found.process_id, [one for one, _ in pairs])
        _, stored = await store.claims.numbered(name, [one for _, one in pairs])
        now = None if new is None else {*stored, *new}
        check_pairs((found.process_id, name), pairs, set(before), now)
    return found


def check_pairs(
    names: tuple[str, str], pairs: Sequence[Pair], before: Set[str], now: Set[str] | None
) -> None:
    """See that pairs name claims that there are, and each claim once.

    Args:
        names: The process_ids of the earlier version and of the process.
        pairs: The pairs.
        before: claim_ids of the earlier version.
        now: claim_ids of the process; None: they are not known yet.

    Raises:
        InputError: A pair cannot be used; every fault is named.
    """
    faults = []
    seen: tuple[set[str], set[str]] = set(), set()
    for place, pair in enumerate(pairs):
        for key, name, claim_id, known, others in zip(
            ("earlier", "claim_id"), names, pair, (before, now), seen, strict=True
        ):
            where = f"match[{place}].{key}"
            if claim_id in others:
                why = f"{shown(claim_id)} is in another pair, too"
                faults.append(Violation("repeated_claim", where, why))
            others.add(claim_id)
            if known is not None and claim_id not in known:
                why = f"{shown(name)} has no claim {shown(claim_id)}"
                faults.append(Violation("unknown_claim", where, why))
    if faults:
        raise InputError("The pairs of `match` cannot be used.", faults)


def looks_at_ids(judge: Judge) -> bool:
    """Return whether the answers of a judge may depend on node_ids; prompts of models show none."""
    if not isinstance(judge, LanguageModelJudge):
        return True
    return not isinstance(judge.verdicts, PromptVerdict)


@dataclass(frozen=True, slots=True)
class Comparison:
    """An earlier version to compare a run with, and the readers of both versions.

    Attributes:
        process_id: The process that is verified.
        version: The earlier version.
        matches: claim_ids of the earlier version by those of now, as a person gave them.
        judge: Who judges.
        settings: What decides its verdicts.
        q: Consecutive Not Fully Supported verdicts that stop a walk.
        ask: Asks the graph.
        before: Reads nodes of the earlier version.
        now: Reads nodes of the process.
    """

    process_id: str
    version: Version
    matches: Mapping[str, str]
    judge: Judge
    settings: str
    q: int
    ask: Callable[[Callable[[Store], Awaitable[Any]]], Awaitable[Any]]
    before: NodeSource
    now: NodeSource


class StoredVerdicts:
    """The verdicts of an earlier version that is stored: `EarlierVerdicts` of a run.

    Args:
        of: What is compared.
    """

    def __init__(self, of: Comparison) -> None:
        self._of = of
        self._by_text: dict[str, list[EarlierOutline]] | None = None
        self._by_claim: dict[str, list[EarlierOutline]] = {}
        self._reading: Together[str, tuple[Verification, bool] | None] = Together(self._read)

    async def of(self, task: Task) -> Reuse:
        """The earlier verdict of a claim, where it may be kept."""
        claim = task.claim
        found = await self._candidates(task)
        if not found:
            return Reuse("the earlier version has no verdict of this claim")
        fitting = [one for one in found if one.has_same_settings]
        same = [one for one in fitting if one.has_sub_claims_of(claim)]
        if not same:
            return await self._unlike(found[0], is_alike=bool(fitting))
        first: Reuse | None = None
        for one in same[:MOST_TRIED]:
            tried = await self._try(task, one)
            if tried.kept is not None:
                return tried
            first = first or tried
        assert first is not None  # noqa: S101  # there was one to try
        return first

    async def _candidates(self, task: Task) -> list[EarlierOutline]:
        """Earlier verifications of a claim: those of the same node first, the newest first."""
        if self._by_text is None:
            version = self._of.version
            rows = await self._of.ask(
                lambda store: store.trails.earlier(
                    version.process_id, version.content_hash, self._of.settings
                )
            )
            self._by_text = {}
            for row in rows:
                self._by_text.setdefault(row.claim, []).insert(0, row)
                self._by_claim.setdefault(row.claim_id, []).insert(0, row)
        matched = self._of.matches.get(task.claim.claim_id)
        found = self._by_text.get(task.claim.text, [])
        if not found and matched is not None:
            found = self._by_claim.get(matched, [])
        return sorted(found, key=lambda one: one.node_id != task.node.node_id)

    async def _unlike(self, one: EarlierOutline, *, is_alike: bool) -> Reuse:
        """Return why an earlier verification cannot answer for the claim."""
        if is_alike:
            return Reuse("it was verified with other sub-claims", one.verification_id)
        read = await self._reading.add(one.verification_id)
        settings = read[0].settings if read is not None else None
        changed = settings_in_words(changed_settings(settings, self._of.settings))
        names = ", ".join(changed[:MOST_NAMED])
        return Reuse(f"it was verified with other settings: {names}", one.verification_id)

    async def _try(self, task: Task, one: EarlierOutline) -> Reuse:
        read = await self._reading.add(one.verification_id)
        if read is None:
            return Reuse("the earlier verification was removed meanwhile")
        earlier, is_moved = read
        if is_moved:
            why = "nodes that it read have another place or role since something was appended"
            return Reuse(why, one.verification_id)
        of = self._of
        base = without_verdict(task, of.process_id, of.judge, of.q, Status.RUNNING, None)
        by_id = looks_at_ids(of.judge)
        return await reuse(task, base, earlier, of.before, of.now, by_id=by_id)

    async def _read(self, ids: Sequence[str]) -> list[tuple[Verification, bool] | None]:
        """Trails, each with whether its nodes are placed otherwise today; claims share a call."""
        is_same_process = self._of.version.process_id == self._of.process_id

        async def read(store: Store) -> dict[str, tuple[Verification, bool]]:
            found = await store.trails.read(list(dict.fromkeys(ids)))
            moved = await store.trails.moved(found) if is_same_process else set()
            return {one.verification_id: (one, one.verification_id in moved) for one in found}

        by_id = await self._of.ask(read)
        return [by_id.get(one) for one in ids]
