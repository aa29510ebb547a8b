"""`veritrail config`: the settings that count here, and what this machine keeps."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from veritrail_graph.api.cli import cache, db
from veritrail_graph.api.cli.completion import completion
from veritrail_graph.api.cli.doctor import doctor
from veritrail_graph.api.cli.options import AsJson
from veritrail_graph.api.cli.terminal import print_json, say, table
from veritrail_graph.api.show.texts import one_line

app = typer.Typer(
    help="Settings with their sources; doctor, engine, cache, completion.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.command("doctor")(doctor)
app.add_typer(db.app, name="db")
app.add_typer(cache.app, name="cache")
app.command("completion")(completion)


@app.command("show")
def show(
    everything: Annotated[
        bool, typer.Option("--all", help="Also those that are not set, with their defaults.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show the settings with where each value came from; no secret is shown."""
    from veritrail_graph.api.settings import Settings
    from veritrail_graph.api.settings.file import file_name, options_of_project, project_file
    from veritrail_graph.api.settings.listing import SettingFound, settings_found
    from veritrail_graph.api.settings.sources import Source

    found = settings_found(Settings())
    found += [
        SettingFound(f"options.{name}", str(value), Source.PROJECT)
        for name, value in sorted(options_of_project().items())
    ]
    path = project_file()
    if as_json:
        file = None if path is None else str(path.absolute())
        settings = [
            asdict(each) | {"source": each.source.name.lower() if each.source else None}
            for each in found
        ]
        print_json({"project_file": file, "settings": settings})
        return
    words = {source: source.words for source in Source} | {
        Source.PROJECT: file_name(),
        None: "default",
    }
    wanted = [each for each in found if everything or each.source is not None]
    table(
        ("setting", "value", "from"),
        [
            (
                each.name,
                "" if each.value is None else one_line(each.value),
                words[each.source],
            )
            for each in wanted
        ],
        texts=["value"],
    )
    if not wanted:
        say("Nothing is set: defaults count. --all shows them.")
    if path is not None:
        say(f"Settings of the project: {path.absolute()}", "dim")
