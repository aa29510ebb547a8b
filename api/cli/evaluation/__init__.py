"""`veritrail eval`: the papers' experiments, one module a command."""

from __future__ import annotations

import typer

from veritrail_graph.api.cli.evaluation import (
    agreement,
    attribution,
    build,
    building,
    localization,
    report,
    review,
    run,
    score,
    sheets,
    simulate,
)

app = typer.Typer(
    help="The papers' experiments: score, compare and simulate.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.command("run")(run.run)
app.command("report")(report.report)
app.command("review")(review.review)
app.command("score")(score.score)
app.command("agreement")(agreement.agreement)
app.command("localization")(localization.localization)
app.command("attribution")(attribution.attribution)
app.command("sheets")(sheets.sheets)
app.command("simulate")(simulate.simulate)
app.command("build")(build.build)
app.command("formats")(build.formats)
app.command("summarise")(building.summarise)
app.command("chunk")(building.chunk)
app.command("match")(building.match)
app.command("duplicates")(building.duplicates)
app.command("questions")(building.questions)
