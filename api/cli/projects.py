"""`veritrail tag` and `veritrail trend`: processes of one pipeline over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, get_args

import typer

from veritrail_graph.api.cli.exits import ask, ask_about
from veritrail_graph.api.cli.options import AsJson, ProcessId
from veritrail_graph.api.cli.terminal import print_json, say, table
from veritrail_graph.api.show.texts import one_line
from veritrail_graph.api.show.words import INDICATIVE_IN_PART, in_parts
from veritrail_graph.graph.errors import InputError

if TYPE_CHECKING:
    from veritrail_graph.api.app.projects import By


def tag(
    process: ProcessId,
    project: Annotated[
        str | None, typer.Option(metavar="NAME", help="The project; without it: none.")
    ] = None,
    tags: Annotated[
        list[str] | None, typer.Option("--tag", metavar="TAG", help="A tag; may be repeated.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Set the project and the tags of a process."""
    process, found = ask_about(
        process, lambda app, name: app.projects.tag(name, project, tags or ()), as_json=as_json
    )
    if as_json:
        print_json({"process_id": process, "project": found.project, "tags": list(found.tags)})
        return
    named = f"project {found.project}" if found.project else "no project"
    say(f"{process}: {named}; tags: {', '.join(found.tags) or 'none'}.")


def trend(
    project: Annotated[
        str | None, typer.Argument(metavar="PROJECT", help="The project; without: all of them.")
    ] = None,
    by: Annotated[
        str, typer.Option(metavar="WHAT", help="day, process, tag, judge, model or prompt.")
    ] = "day",
    as_json: AsJson = False,
) -> None:
    """Show how much of a project is unsupported over time.

    Or by tag, judge, or the model or prompt of the pipeline; and at which stage it was introduced.
    """
    from veritrail_graph.api.app import projects

    if project is None:
        listed = ask(lambda app: app.projects.all(), as_json=as_json)
        if as_json:
            print_json(listed.model_dump(mode="json"))
            return
        rows = [
            (one_line(one.project), f"{one.processes:,}", one.latest_at) for one in listed.projects
        ]
        table(("project", "processes", "latest"), rows, right=("processes",))
        if not rows:
            say("No process names a project. Give one: veritrail tag PROCESS --project NAME")
        return
    known = get_args(projects.By)
    if by not in known:
        raise InputError(f"{by!r} is no grouping; there are: {', '.join(known)}")
    wanted: By = by  # type: ignore[assignment]  # it is one of them
    found = ask(lambda app: app.projects.trend(project, wanted), as_json=as_json)
    if as_json:
        print_json(found.model_dump(mode="json"))
        return
    stages = sorted({int(stage) for one in found.groups for stage in one.error_stages})
    names = [one_line(found.stage_names.get(str(one), f"stage {one}"), 30) for one in stages]
    more = [
        name
        for name in ("undecided", "indicative")
        if any(getattr(one, name) for one in found.groups)
    ]
    table(
        (by, "processes", "judged", *more, "unsupported", "share", *names),
        [
            (
                one_line(one.name, 60),
                f"{one.processes:,}",
                f"{one.judged:,}",
                *(f"{getattr(one, name):,}" for name in more),
                f"{one.unsupported:,}",
                "unknown" if one.share is None else f"{one.share:.1%}",
                *(in_parts(one.error_shares.get(str(stage), 0.0)) for stage in stages),
            )
            for one in found.groups
        ],
        right=("processes", "judged", *more, "unsupported", "share", *names),
    )
    if "indicative" in more:
        say(f"Verdicts are {INDICATIVE_IN_PART}.", "yellow")
    if any(
        one.error_shares.get(stage) != n
        for one in found.groups
        for stage, n in one.error_stages.items()
    ):
        say("A claim whose place is one of several stages counts once, in equal parts.", "dim")
