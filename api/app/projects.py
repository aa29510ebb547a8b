"""Processes of one pipeline over time: how much is unsupported, and where it came in.

Source: ours.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from veritrail_graph.api.app.part import Part
from veritrail_graph.api.requests.limits import LONGEST_PROJECT, LONGEST_TAG, MOST_TAGS
from veritrail_graph.graph.errors import InputError, NotFound, shown
from veritrail_graph.graph.model import Status, Verdict
from veritrail_graph.graph.model.located import stage_shares
from veritrail_graph.graph.model.noun import Answer

if TYPE_CHECKING:
    from veritrail_graph.api.auth.access import Caller
    from veritrail_graph.graph.model import Process

MOST_PROCESSES = 2_000
"""Processes of a project that are looked at, the latest."""

By = Literal["day", "process", "tag", "judge", "model", "prompt"]
NONE = "none"
"""The name of a group of processes of which that is not known."""


class ProjectFound(Answer):
    """A project."""

    project: str
    processes: int
    latest_at: str = Field(description="When the latest of its processes was stored.")


class ProjectList(Answer):
    """The projects, by their names."""

    projects: list[ProjectFound]


class TrendGroup(Answer):
    """The claims of some processes of a project."""

    name: str = Field(description="The day, tag, model and so on; `none`: not known.")
    processes: int
    claims: int = Field(description="Claims, with or without a verdict.")
    judged: int = Field(description="Those with a verdict.")
    undecided: int = Field(0, description="Those that were checked, of which it cannot be told.")
    indicative: int = Field(0, description="Those whose verdict no model gave.")
    unsupported: int
    share: float | None = Field(description="unsupported / judged; null: none has a verdict.")
    verdicts: dict[str, int]
    error_stages: dict[str, int] = Field(
        description="Unsupported claims by stage; one with several possible stages counts at each."
    )
    error_shares: dict[str, float] = Field(
        {}, description="The same with each claim counted once: with k possible stages as 1/k."
    )


class Trend(Answer):
    """A project over time, or by what its processes were made with."""

    project: str
    by: By
    processes: int
    truncated: bool = Field(description="Whether older processes are left out.")
    stage_names: dict[str, str]
    groups: list[TrendGroup]


class Projects(Part):
    """Projects of processes."""

    async def all(self) -> ProjectList:
        """The projects, by their names."""
        rows = await (await self._store()).database.read("process/projects")
        return ProjectList(
            projects=[
                ProjectFound(project=name, processes=count, latest_at=latest)
                for name, count, latest in rows
            ]
        )

    async def tag(
        self,
        process_id: str,
        project: str | None,
        tags: Sequence[str],
        *,
        by: Caller | None = None,
    ) -> Process:
        """Say to which project a process belongs, and which tags it has.

        Args:
            process_id: The process.
            project: The project; None or empty: none.
            tags: All its tags.
            by: Who does it, for the audit log.

        Raises:
            NotFound: There is no such process.
            InputError: A name is too long, or there are too many tags.
        """
        name = " ".join((project or "").split()) or None
        kept = list(dict.fromkeys(one for tag in tags if (one := " ".join(tag.split()))))
        if name is not None and len(name) > LONGEST_PROJECT:
            words = f"The name of a project has at most {LONGEST_PROJECT} characters."
            raise InputError(words, code="project_too_long")
        if len(kept) > MOST_TAGS or any(len(tag) > LONGEST_TAG for tag in kept):
            raise InputError(
                f"A process has at most {MOST_TAGS} tags of {LONGEST_TAG} characters.",
                code="tags_too_long",
            )
        store = await self._store()
        await store.processes.get(process_id)
        await store.database.write(
            "process/tag", process_id=process_id, project=name, tags=kept or None
        )
        await self._record(by, "process.tag", process_id, project=name, tags=kept)
        return await store.processes.get(process_id)

    async def trend(self, project: str, by: By = "day") -> Trend:
        """The claims of the processes of a project, in groups.

        Args:
            project: The project.
            by: The day on which a process was stored; the process; its tags; the judge of the
                verdict; or the model or prompt that its final outputs were written with.

        Raises:
            NotFound: No process belongs to such a project.
        """
        database = (await self._store()).database
        rows = await database.read("process/trend", project=project, limit=MOST_PROCESSES + 1)
        columns = (
            "process_id", "name", "created_at", "tags", "stage_names", "terminals", "verdict",
            "indicative", "judge", "error_stages", "claims",
        )  # fmt: skip
        found = [dict(zip(columns, row, strict=True)) for row in rows]
        if not found:
            raise NotFound(
                f"No process belongs to a project {shown(project)}.", code="project_unknown"
            )
        names = list(dict.fromkeys(row["process_id"] for row in found))
        truncated = len(names) > MOST_PROCESSES
        if truncated:
            found = [row for row in found if row["process_id"] != names[0]]
        made = await self._made_with(found) if by in ("model", "prompt") else {}
        return trend_of(project, by, found, made, truncated=truncated)

    async def _made_with(
        self, found: Sequence[Mapping[str, Any]]
    ) -> dict[str, list[tuple[str | None, str | None]]]:
        """The models and prompts of the final outputs, by process_id."""
        outputs = {row["process_id"]: row["terminals"] or () for row in found}
        rows = [
            {"process_id": name, "node_id": one} for name, each in outputs.items() for one in each
        ]
        made: dict[str, list[tuple[str | None, str | None]]] = {}
        database = (await self._store()).database
        for start in range(0, len(rows), 1_000):
            for name, model, prompt in await database.read(
                "process/made_with", rows=rows[start : start + 1_000]
            ):
                made.setdefault(name, []).append((model, prompt))
        return made


def trend_of(
    project: str,
    by: By,
    found: Sequence[Mapping[str, Any]],
    made: Mapping[str, Sequence[tuple[str | None, str | None]]],
    *,
    truncated: bool = False,
) -> Trend:
    """The groups of a project.

    Args:
        project: The project.
        by: What makes a group.
        found: Claims of its processes by verdict, judge and error stages, in order of time.
        made: Models and prompts by process_id.
        truncated: Whether older processes are left out.
    """
    verdicts: dict[str, Counter[str | None]] = defaultdict(Counter)
    stages: dict[str, Counter[tuple[int, ...]]] = defaultdict(Counter)
    indicative: Counter[str] = Counter()
    processes: dict[str, set[str]] = defaultdict(set)
    names: dict[str, str] = {}
    for row in found:
        names |= json.loads(row["stage_names"] or "{}")
        for group in _groups(by, row, made):
            processes[group].add(row["process_id"])
            verdicts[group][row["verdict"]] += row["claims"]
            if row["verdict"] == Verdict.NOT_FULLY_SUPPORTED.value:
                stages[group][tuple(row["error_stages"])] += row["claims"]
            indicative[group] += row["claims"] if row["indicative"] else 0
    groups = [
        _group(name, processes[name], verdicts[name], stages[name], indicative[name])
        for name in processes
    ]
    if by not in ("day", "process"):  # those are in the order of time
        groups.sort(key=lambda one: (-(one.share or 0.0), one.name))
    return Trend(
        project=project,
        by=by,
        processes=len({row["process_id"] for row in found}),
        truncated=truncated,
        stage_names=names,
        groups=groups,
    )


def _groups(
    by: By, row: Mapping[str, Any], made: Mapping[str, Sequence[tuple[str | None, str | None]]]
) -> list[str]:
    if by == "day":
        return [row["created_at"][:10]]
    if by == "process":
        return [row["process_id"]]
    if by == "tag":
        return list(row["tags"] or [NONE])
    if by == "judge":
        return [row["judge"] or NONE]
    place = 0 if by == "model" else 1
    known = {one[place] for one in made.get(row["process_id"], ())} - {None}
    return sorted(name for name in known if name) or [NONE]


def _group(
    name: str,
    processes: set[str],
    verdicts: Counter[str | None],
    together: Counter[tuple[int, ...]],
    indicative: int,
) -> TrendGroup:
    shares = stage_shares(together)
    stages = {
        stage: sum(claims for each, claims in together.items() if stage in each) for stage in shares
    }
    judged = sum(verdicts[one.value] for one in Verdict)
    unsupported = verdicts[Verdict.NOT_FULLY_SUPPORTED.value]
    return TrendGroup(
        name=name,
        processes=len(processes),
        claims=sum(verdicts.values()),
        judged=judged,
        undecided=verdicts[Status.UNDECIDED.value],
        indicative=indicative,
        unsupported=unsupported,
        share=unsupported / judged if judged else None,
        verdicts={one.value: verdicts[one.value] for one in Verdict},
        error_stages={str(stage): stages[stage] for stage in sorted(stages)},
        error_shares={str(stage): shares[stage] for stage in sorted(shares)},
    )
