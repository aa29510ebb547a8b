"""Ids in full, of the short forms that people type.

A process, a claim, a verification and a run may be named by the first letters of their id, as long
as only one begins with them, and the latest by `@last`. What names none is an error that says
which ids are near.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from typing import TYPE_CHECKING

from veritrail_graph.api.app.part import Part
from veritrail_graph.graph.errors import InputError, NotFound, shown

if TYPE_CHECKING:
    from veritrail_graph.graph.model.listed import JudgedClaim
    from veritrail_graph.graph.store.short_ids import ShortIds

LAST = "@last"
"""The process that was stored last; the verification, or the run, that was made last."""

_CANDIDATES = 5
_LOOKED_AT = 10_000
_LOOKED_AT_VERIFICATIONS = 2_000
_VERIFICATION = "v-"
_TELLING = 6
"""Letters of an id of a verification from which on others are near or not."""
_NEAR = 0.7
_NEAREST = 3
_MADE = re.compile(r"(?:p-)?[0-9a-f-]{16,}")
"""An id made of a hash or at random, such as that of a trace; it is shown shortened."""


class Names(Part):
    """Ids in full."""

    async def _ids(self) -> ShortIds:
        from veritrail_graph.graph.store.short_ids import ShortIds

        return ShortIds((await self._store()).database)

    async def process(self, given: str) -> str:
        """The process_id that some letters begin.

        Raises:
            NotFound: There is none, or it is not ready.
            InputError: Several begin with them.
        """
        processes = (await self._store()).processes
        ids = await self._ids()
        if given == LAST:
            latest = await ids.latest_process()
            if latest is None:
                raise NotFound("No process is stored.", code="process_unknown", process_id=given)
            return latest
        found = await ids.processes(given, _CANDIDATES + 1)
        if name := only_one(found, given, "processes"):
            return name
        try:
            await processes.get(given)
        except NotFound as error:
            if error.code != "process_unknown":
                raise
            known = [one.process_id for one in await processes.names(limit=_LOOKED_AT)]
            raise _with_nearest(error, given, known) from None
        return given

    async def processes(self, given: str, limit: int) -> list[str]:
        """Ids of processes that some letters begin."""
        return await (await self._ids()).processes(given, limit)

    async def short_process(self, process_id: str, least: int, whole: int) -> str:
        """Return the first letters of a process_id, as many as name it alone.

        Args:
            process_id: The process.
            least: Letters at least.
            whole: Letters of an id that is not shortened.
        """
        return await _shortest(process_id, (await self._ids()).processes, least, whole)

    async def short_claim(self, process_id: str, claim_id: str, least: int, whole: int) -> str:
        """Return the first letters of a claim_id, as many as name it alone in its process."""

        async def beginning(given: str, limit: int) -> list[str]:
            return await (await self._ids()).claims(process_id, given, limit)

        return await _shortest(claim_id, beginning, least, whole)

    async def claims(self, process: str, given: str, limit: int) -> list[str]:
        """Ids of claims of a process that some letters begin.

        Raises:
            NotFound: There is no such process.
        """
        process_id = await self.process(process)
        return await (await self._ids()).claims(process_id, given, limit)

    async def claim(self, process_id: str, given: str) -> JudgedClaim:
        """The claim whose id some letters begin, with its verdict in force.

        Raises:
            NotFound: There is none.
            InputError: Several begin with them.
        """
        claims = (await self._store()).claims
        found = await (await self._ids()).claims(process_id, given, _CANDIDATES + 1)
        name = only_one(found, given, "claims")
        try:
            return await self._app.claims.get(process_id, name or given)
        except NotFound as error:
            if error.code != "claim_unknown":
                raise
            known = [one.claim_id for one in await claims.all(process_id)]
            raise _with_nearest(error, given, known) from None

    async def verification(self, given: str) -> str:
        """The verification_id that some letters begin.

        Raises:
            NotFound: There is none.
            InputError: Several begin with them.
        """
        ids = await self._ids()
        if given == LAST:
            latest = await ids.latest_verification()
            if latest is None:
                raise NotFound("No verification is stored.", code="verification_unknown")
            return latest[0]
        found = await ids.verifications(given, _CANDIDATES + 1)
        if name := only_one(found, given, "verifications"):
            return name
        error = NotFound(
            f"No verification {shown(given)} is stored.",
            code="verification_unknown",
            verification_id=given,
        )
        if not given.startswith(_VERIFICATION):  # typed or copied without its first letters
            found = await ids.verifications(f"{_VERIFICATION}{given}", _CANDIDATES + 1)
            if given and len(found) <= _CANDIDATES:
                raise _with_nearest(error, f"{_VERIFICATION}{given}", found)
        if len(given) < _TELLING:  # every id is near to a few letters
            raise error
        known = await ids.verifications("", _LOOKED_AT_VERIFICATIONS)
        raise _with_nearest(error, given, known)

    async def of_claim(self, process: str, claim: str) -> str:
        """The verification_id that counts for a claim; else the latest.

        Raises:
            NotFound: There is no such process or claim, or it was never verified.
            InputError: The letters are those of several.
        """
        process_id = await self.process(process)
        found = await self.claim(process_id, claim)
        if found.verification_id is not None:
            return found.verification_id
        claim_id = found.claim_id
        latest = await self._app.verifications.of_claim(process_id, claim_id, 1)
        if not latest:
            raise NotFound(
                f"Claim {shown(claim_id)} of process {process_id!r} was not verified.",
                code="claim_unverified",
                process_id=process_id,
            )
        return latest[0].verification_id

    async def run(self, given: str) -> str:
        """The run_id that some letters begin, of the graph or of the jobs of this machine.

        Raises:
            NotFound: There is none.
            InputError: Several begin with them.
        """
        jobs = [one.run_id for one in await self._app.jobs.page(limit=_LOOKED_AT) if one.run_id]
        if given == LAST and jobs:
            return jobs[0]
        ids = await self._ids()
        if given == LAST:
            latest = await ids.latest_verification()
            if latest and latest[1]:
                return latest[1]
        else:
            stored = await ids.runs(given, _CANDIDATES + 1)
            stored += [one for one in jobs if one.startswith(given) and one not in stored]
            if name := only_one(sorted(stored), given, "runs"):
                return name
        what = "is stored" if given == LAST else f"{shown(given)} is stored"
        raise NotFound(f"No run {what}.", code="run_unknown", run_id=given)


async def _shortest(
    name: str, beginning: Callable[[str, int], Awaitable[list[str]]], least: int, whole: int
) -> str:
    """The first letters of an id, as many as no other id begins with."""
    if len(name) <= whole and _MADE.fullmatch(name) is None:
        return name
    for length in range(least, len(name)):
        if len(await beginning(name[:length], 2)) < 2:
            return name[:length]
    return name


def short_names(names: Collection[str], least: int, whole: int) -> dict[str, str]:
    """Return the first letters of each of all ids there are, as many as name it alone.

    Args:
        names: All of them.
        least: Letters at least.
        whole: Letters of an id that is not shortened, if somebody chose it.
    """
    ordered = sorted(names)
    shared = [_alike(one, other) for one, other in pairwise(ordered)]
    found = {}
    for place, name in enumerate(ordered):
        needed = 1 + max(shared[max(0, place - 1) : place + 1], default=0)
        is_whole = len(name) <= whole and _MADE.fullmatch(name) is None
        found[name] = name if is_whole else name[: max(least, needed)]
    return found


def _alike(one: str, other: str) -> int:
    """Return how many first letters two ids have in common."""
    return next(
        (at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]),
        min(len(one), len(other)),
    )


def only_one(found: Sequence[str], given: str, what: str) -> str | None:
    """The id that is given in full, or the only one that it begins; an empty one names none.

    Raises:
        InputError: Several begin with it.
    """
    if not given:  # such as a variable of a script that is not set
        return None
    if given in found:
        return given
    if len(found) > 1:
        names = ", ".join(found[:_CANDIDATES]) + (", …" if len(found) > _CANDIDATES else "")
        raise InputError(
            f"{shown(given)} begins the ids of several {what}: {names}.", code="ambiguous_id"
        )
    return found[0] if found else None


def _with_nearest(error: NotFound, given: str, known: Iterable[str]) -> NotFound:
    """Return the same error, which also says which ids are near."""
    near = nearest(given, known)
    if not near:
        return error
    meant = " or ".join(map(shown, near))
    return NotFound(f"{error} Did you mean {meant}?", (), code=error.code, **error.facts)


def nearest(given: str, known: Iterable[str]) -> list[str]:
    """Names that are near what was typed, the nearest first; their beginnings count as well."""
    typed = given.lower()[:200]
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(typed)

    def likeness(name: str) -> float:
        best = 0.0
        for one in {name.lower()[:200], name.lower()[: len(typed) + 1]}:
            matcher.set_seq1(one)
            best = max(best, matcher.ratio())
        return best

    scored = sorted(((likeness(name), name) for name in known), key=lambda one: (-one[0], one[1]))
    return [name for score, name in scored[:_NEAREST] if score >= _NEAR]
