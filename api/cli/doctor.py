"""`veritrail doctor`: is everything here that a command needs?"""

from __future__ import annotations

from typing import Annotated

import typer

from veritrail_graph.api.cli.exits import WRONG_USE, Exit, run
from veritrail_graph.api.cli.options import AsJson
from veritrail_graph.api.cli.terminal import long_work, print_json, say, table


def doctor(
    ask: Annotated[
        bool,
        typer.Option("--ask", help="Also ask the model one short question, which may cost a bit."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Look at Python, engine, disk, port, key and model: is all there?

    No engine is started, and without --ask no model is called. Exit status: 0 all is fine, 2
    something is missing or wrong.
    """
    from veritrail_graph.api.app.doctor import SetupFinding, State, examine
    from veritrail_graph.api.settings import Settings
    from veritrail_graph.api.show.texts import clean

    found: list[SetupFinding] = []

    async def look() -> None:
        with long_work() as work:
            work.update("looking", 0, 1)
            found.extend([one async for one in examine(Settings(), ask=ask)])

    run(look(), as_json=as_json)
    faults = sum(one.state is State.FAULT for one in found)
    if as_json:
        print_json(
            {
                "fine": not faults,
                "findings": [
                    {"about": one.about, "state": one.state, "told": one.told} for one in found
                ],
            }
        )
    else:
        rows = [[one.state.value, one.about, clean(one.told)] for one in found]
        table(("", "what", "found"), rows)
        if faults:
            say(f"Missing or wrong: {faults} of {len(found)}.", "bold red")
        else:
            say("Nothing is missing.", "green")
    if faults:
        raise Exit(WRONG_USE)
