"""`veritrail show`, `ask` and `compare`: each by what its names mean."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from veritrail_graph.api.cli import completion
from veritrail_graph.api.cli.exits import about, ask
from veritrail_graph.api.cli.options import AsJson
from veritrail_graph.api.cli.query_output import Form
from veritrail_graph.api.cli.terminal import print_json
from veritrail_graph.graph.errors import InputError, NotFound, VeriTrailError, shown

if TYPE_CHECKING:
    from veritrail_graph.api.app import Application
    from veritrail_graph.api.app.runs import RunComparison
    from veritrail_graph.api.app.version_diff import VersionDifference
    from veritrail_graph.api.cli.checked import ProcessShown
    from veritrail_graph.api.cli.stored import Whole
    from veritrail_graph.graph.model.difference import Difference
    from veritrail_graph.graph.model.turn_claim import TurnClaimFound

_UNKNOWN = ("verification_unknown", "ambiguous_id")
_SIDES = 2


def show(
    what: Annotated[
        str | None,
        typer.Argument(
            metavar="WHAT",
            help="A process or a verification, by its id or the first letters of it; @last is the "
            "latest verification. Nothing: the processes, the latest first.",
            autocompletion=completion.processes,
        ),
    ] = None,
    claim: Annotated[
        str | None,
        typer.Argument(
            metavar="CLAIM",
            help="A claim of the process WHAT: the trail that counts for it; of a dialogue what "
            "counts for the claim of a turn.",
            autocompletion=completion.claims,
        ),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Of a process: list the right claims, too.")
    ] = False,
    opens: Annotated[
        bool,
        typer.Option(
            "--open", help="Open it in the browser, with its picture, as a report in a file."
        ),
    ] = False,
    verbose: Annotated[
        bool,
        typer.Option("--verbose", help="Of a claim: its trail with every id, call and prompt."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show what is stored: the processes, one of them, or the trail of a claim.

    Of a process: its answer, the claims that are wrong, and where.
    """
    from veritrail_graph.api.cli.checked import tell_findings, tell_turn_claim
    from veritrail_graph.api.cli.stored import Whole, tell_processes, tell_whole
    from veritrail_graph.graph.model.turn_claim import TurnClaimFound

    if opens and (what is None or as_json):
        raise InputError(
            "--open opens a process, a verification or a claim: name it, and leave --json out."
        )
    if what is None:
        tell_processes(ask(lambda app: app.processes.newest(), as_json=as_json), as_json=as_json)
        return
    found = ask(lambda app: _looked_up(app, what, claim), as_json=as_json)
    if opens:
        from veritrail_graph.api.cli.opening import open_report

        open_report(found)
    elif isinstance(found, Whole):
        tell_whole(found, verbose=verbose, as_json=as_json)
    elif isinstance(found, TurnClaimFound):
        tell_turn_claim(found, as_json=as_json)
    elif as_json:
        print_json(found.findings.model_dump(mode="json"))
    else:
        tell_findings(found, every=every)


async def _looked_up(
    app: Application, what: str, claim: str | None
) -> Whole | TurnClaimFound | ProcessShown:
    """Read the verification, or else the process, of a name."""
    from veritrail_graph.api.cli.checked import process_shown
    from veritrail_graph.api.cli.stored import whole

    if claim is not None:
        try:
            return await whole(app, what, claim)
        except NotFound as error:
            if error.code != "claim_unverified":
                raise
            unverified = error
        return await _turn_claim(app, str(unverified.facts["process_id"]), claim, unverified)
    try:
        return await whole(app, what, None)
    except (NotFound, InputError) as error:
        if error.code not in _UNKNOWN:
            raise
        unknown = error

    async def of_one_version(app: Application, name: str) -> ProcessShown:
        found = await app.versions.of_process(name, lambda: app.checking.all_findings(name))
        return await process_shown(app, found)

    try:
        return (await about(app, what, of_one_version))[1]
    except NotFound as error:
        if error.code != "process_unknown":
            raise
        if unknown.code == "ambiguous_id":
            raise unknown from None
        near = " Did you mean ".join(("", *_near(error), *_near(unknown)))
        raise NotFound(
            f"Neither a process nor a verification {shown(what)} is stored.{near}",
            (),
            code="named_nothing",
        ) from None


async def _turn_claim(
    app: Application, process_id: str, claim: str, unverified: NotFound
) -> TurnClaimFound:
    """Read what counts for a claim of a turn.

    Raises:
        NotFound: It is no claim of a turn, and was not verified.
    """
    from veritrail_graph.graph.model.dialogue import is_dialogue

    if not is_dialogue((await app.processes.get(process_id)).terminals):
        raise unverified
    claim_id = (await app.names.claim(process_id, claim)).claim_id
    try:
        return await app.dialogues.claim(process_id, claim_id)
    except NotFound:
        raise unverified from None


def _near(error: VeriTrailError) -> list[str]:
    """Return what an error says that may be meant."""
    return str(error).split(" Did you mean ")[1:]


def ask_(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME_OR_TEXT",
            help="A query of the library with its values, or words to search for.",
            autocompletion=completion.queries,
        ),
    ] = None,
    param: Annotated[
        list[str] | None,
        typer.Option(
            "--param", "-p", metavar="key=value", help="A parameter of a query; may be repeated."
        ),
    ] = None,
    list_all: Annotated[
        bool, typer.Option("--list", help="Show every query with its purpose and parameters.")
    ] = False,
    as_cypher: Annotated[
        bool, typer.Option("--cypher", help="Print the statement, ready for Neo4j Browser.")
    ] = False,
    form: Annotated[
        Form, typer.Option("--format", help="How the answer of a query is printed.")
    ] = Form.TABLE,
    kind: Annotated[
        str | None,
        typer.Option(metavar="KIND", help="Of a search: only `claim` or only `node`."),
    ] = None,
    process: Annotated[
        str | None,
        typer.Option(
            metavar="PROCESS",
            help="Of a search: only in this process.",
            autocompletion=completion.processes,
        ),
    ] = None,
    limit: Annotated[
        int,
        typer.Option(
            min=1, max=1_000, metavar="N", help="Of a search: at most this many (default 20)."
        ),
    ] = 20,
    as_json: AsJson = False,
) -> None:
    """Ask the graph a named question, or search the texts of all processes for words.

    Ids of processes, claims and verifications may be short: the first letters, or @last.
    """
    from veritrail_graph.api.cli.query import query
    from veritrail_graph.api.cli.search import search

    words = what or []
    if list_all or as_cypher or param or (words and _is_query(words[0])):
        name = words[0] if words else None
        query(name, words[1:] or None, param, list_all, as_cypher, form, as_json)
    elif words:
        search(words, kind, process, limit, as_json)
    else:
        raise InputError("Ask for a query (`veritrail ask --list` shows all), or for words.")


def _is_query(name: str) -> bool:
    from veritrail_graph import cypher

    names = {each.rpartition("/")[2] for each in cypher.names("queries")}
    return name.replace("-", "_") in names


def compare(
    what: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME",
            help="A B, or PROCESS A B: two runs, two verifications, or two versions of a process "
            "(a process, a content hash, last); behind PROCESS runs or judges, by model or engine.",
            autocompletion=completion.processes,
        ),
    ],
    csv: Annotated[
        Path | None,
        typer.Option("--csv", metavar="FILE", help="Of runs: write a row for each claim."),
    ] = None,
    match: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Of versions: claims with other texts that say the same, as CSV or JSON pairs of "
            "earlier and claim_id.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare two runs, two judges, two verifications or two versions of a process.

    Of runs and judges: lost and gained claims, errors that moved to another stage, and what each
    side cost; of a judge the result of each claim with the highest q counts, then the latest.
    """
    from veritrail_graph.api.app.runs import RunComparison
    from veritrail_graph.api.cli.differences import tell_difference
    from veritrail_graph.api.cli.runs import tell_comparison

    if len(what) not in (_SIDES, _SIDES + 1):
        raise InputError(
            "Name the two that are compared: veritrail compare A B; judges behind their process: "
            "veritrail compare PROCESS A B."
        )
    found = ask(lambda app: _compared(app, what, match), as_json=as_json)
    if isinstance(found, RunComparison):
        tell_comparison(found, csv, as_json=as_json)
    elif csv is not None:
        raise InputError("--csv writes the claims of two runs or two judges; these are neither.")
    else:
        tell_difference(found, as_json=as_json)


async def _compared(
    app: Application, what: list[str], match: Path | None
) -> RunComparison | VersionDifference | Difference:
    """Compare the runs, judges, versions or verifications that two names mean."""
    from veritrail_graph.api.cli.differences import compared

    first, second = what[-_SIDES:]
    if len(what) > _SIDES:
        _, found = await about(
            app,
            what[0],
            lambda app, name: app.versions.of_process(
                name, lambda: _sides(app, name, first, second)
            ),
        )
        return found
    try:
        return await compared(app, first, second, match)
    except NotFound as error:
        if error.code not in ("verification_unknown", "process_unknown"):
            raise
        unknown = error
    try:
        runs = [await app.names.run(one) for one in (first, second)]
    except NotFound:
        raise unknown from None
    process_id = await app.runs.process_of(runs[0])
    return await app.runs.compare(process_id, *runs)


async def _sides(app: Application, process_id: str, *sides: str) -> RunComparison:
    """Compare runs or judges of a process; runs may be named by short forms."""
    try:
        return await app.runs.compare(process_id, *sides)
    except NotFound as error:
        if error.code == "process_unknown":
            raise
        unknown = error
    meant = []
    for side in sides:
        try:
            meant.append(await app.names.run(side))
        except NotFound:
            meant.append(side)
    if tuple(meant) == sides:
        raise unknown
    return await app.runs.compare(process_id, *meant)
