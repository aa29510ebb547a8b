"""`veritrail runs`: the runs of a process; and two of them side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from veritrail_graph.api.cli.exits import ask_about
from veritrail_graph.api.cli.options import AsJson, ProcessId
from veritrail_graph.api.cli.terminal import print_json, say, table
from veritrail_graph.api.show.asking import asking_short
from veritrail_graph.api.show.costs import UNKNOWN, money_words
from veritrail_graph.api.show.texts import one_line
from veritrail_graph.api.show.words import VERDICT_WORDS
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model import Status, Verdict

if TYPE_CHECKING:
    from veritrail_graph.api.app.runs import RunComparison, SideOfClaim
    from veritrail_graph.graph.model.run import Spending

ROWS_SHOWN = 40


def runs(process: ProcessId, as_json: AsJson = False) -> None:
    """List the runs of a process, with their verdicts and costs."""
    process, found = ask_about(
        process, lambda app, name: app.runs.of_process(name), as_json=as_json, reads=True
    )
    if as_json:
        print_json(found.model_dump(mode="json"))
        return
    if not found.runs:
        say(f"Process {process} has no runs. Verify its claims: veritrail verify {process}")
        return
    names = [VERDICT_WORDS[one].lower() for one in Verdict]
    open_ = Status.UNDECIDED.value
    undecided = [open_] if any(one.counts.get(open_) for one in found.runs) else []
    names += undecided
    table(
        ("run", "made", "judge", "q", *names, "cost", ""),
        [
            (
                one.run_id,
                one.created_at[:16].replace("T", " "),
                f"{one.model or one.engine}{asking_short(one.asking)}",
                str(one.q or ""),
                *(f"{number:,}" for number in one.verdicts.values()),
                *(f"{one.counts.get(name, 0):,}" for name in undecided),
                cost_of(one.spent),
                "run of record" if one.is_of_record else "",
            )
            for one in found.runs
        ],
        right=("q", *names, "cost"),
        texts=["judge"],
        optional=("made", "q"),
    )
    if any(one.indicative for one in found.runs):
        say("Verdicts of the judge lexical are indicative: they compare words.", "yellow")


def cost_of(spent: Spending) -> str:
    """A cost in words; an unknown one is never 0."""
    from veritrail_graph.api.show.runs import known_cost

    dollars = known_cost(spent)
    return UNKNOWN if dollars is None else money_words(dollars)


def tell_comparison(found: RunComparison, csv: Path | None, *, as_json: bool) -> None:
    """Print two runs or two judges side by side.

    Args:
        found: The comparison.
        csv: A file that takes a row for each claim.
        as_json: Whether one JSON document is printed.

    Raises:
        InputError: The file cannot be written.
    """
    if csv is not None:
        from veritrail_graph.api.show.runs import comparison_csv

        try:
            csv.write_text(comparison_csv(found), encoding="utf-8", newline="")
        except OSError as error:
            raise InputError(f"{csv}: {error.strerror or error}") from None
        say(f"Wrote {csv}.")
    if as_json:
        print_json(found.model_dump(mode="json"))
    else:
        _tell(found)


def _tell(found: RunComparison) -> None:
    from veritrail_graph.api.show.runs import CHANGE_WORDS

    changed = [one for one in found.claims if one.change.value not in ("same", "neither")]
    table(
        ("claim_id", "change", "A", "B", "claim"),
        [
            (
                one.claim_id,
                CHANGE_WORDS[one.change].lower(),
                _words(one.a),
                _words(one.b),
                one_line(one.claim),
            )
            for one in changed[:ROWS_SHOWN]
        ],
    )
    if len(changed) > ROWS_SHOWN:
        say(f"… and {len(changed) - ROWS_SHOWN:,} more; --csv and --json have all.", "dim")
    for name, side in (("A", found.a), ("B", found.b)):
        verdicts = ", ".join(
            f"{number:,} {VERDICT_WORDS[Verdict(one)].lower()}"
            for one, number in side.verdicts.items()
        )
        verdicts += f", {side.undecided:,} undecided" if side.undecided else ""
        judge = f"{side.model or side.engine}{asking_short(side.asking)}"
        mark = " (indicative)" if side.indicative else ""
        say(f"{name}: {judge}{mark}, q = {side.q}: {verdicts}; {cost_of(side.spent)}")
    counts = {change.value: number for change, number in found.changes.items()}
    once = counts["only-first"] + counts["only-second"]
    neither = counts["neither"]
    rest = f", {once:,} with a verdict on one side only" if once else ""
    rest += f", {neither:,} without one on both" if neither else ""
    say(
        f"{len(found.claims):,} claim(s): {counts['lost']:,} lost, {counts['gained']:,} gained, "
        f"{counts['moved']:,} moved, {counts['other']:,} other, {counts['same']:,} the same{rest}."
    )


def _words(side: SideOfClaim | None) -> str:
    if side is None:
        return "-"
    if side.verdict is None:
        return side.status
    stages = f" (stage {', '.join(map(str, side.error_stages))})" if side.error_stages else ""
    return VERDICT_WORDS[Verdict(side.verdict)].lower() + stages
