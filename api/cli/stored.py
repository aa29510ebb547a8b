"""`veritrail show`, `list` and `delete`: what is stored."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from veritrail_graph.api.cli import completion
from veritrail_graph.api.cli.answers import Answer, answers_of, tell_answers
from veritrail_graph.api.cli.exits import NOT_ALL_SUCCEEDED, Exit, ask, ask_about
from veritrail_graph.api.cli.options import AsJson
from veritrail_graph.api.cli.terminal import (
    LEAST,
    LONGEST_WHOLE,
    console,
    print_json,
    quoted,
    say,
    show_parts,
    table,
    verdict_words,
)
from veritrail_graph.api.cli.terminal import show as print_result
from veritrail_graph.api.show.processes import processes_shown
from veritrail_graph.api.show.texts import one_line
from veritrail_graph.api.show.words import (
    CLAIM_CATEGORY_WORDS,
    INDICATIVE_IN_PART,
    VERDICT_WORDS,
)
from veritrail_graph.graph.errors import InputError, NotFound
from veritrail_graph.graph.model import Claim, Reviewed, Status, Verification, in_force, of_text

if TYPE_CHECKING:
    from rich.text import Text

    from veritrail_graph.api.app import Application
    from veritrail_graph.api.app.findings import RunOfRecord
    from veritrail_graph.graph.model import Review
    from veritrail_graph.graph.model.attribution import CarriedSentence
    from veritrail_graph.graph.model.dialogue import ClaimCategory
    from veritrail_graph.graph.model.listed import JudgedClaim, Removed
    from veritrail_graph.graph.model.processes import ProcessSummary
    from veritrail_graph.graph.model.run import Run

ASKED_SHOWN = 1_000
"""Questions that a list shows."""


_LETTERS = 10
"""Letters of the id of a verification, which is random, that name it alone."""


def tell_whole(whole: Whole, *, verbose: bool = False, as_json: bool) -> None:
    """Print a verification with its trail; on a terminal in short.

    Args:
        whole: The verification, with its reviews and its text.
        verbose: Whether a terminal shows everything, too.
        as_json: Whether one JSON document is printed.
    """
    if as_json:
        from veritrail_graph.api.app.verifications import ended_json

        print_json(ended_json(whole.verification, whole.carried))
        return
    from veritrail_graph.api.cli.trail import trail_tree

    tell_answers(whole.answers)
    found, names = whole.verification, whole.names
    is_short = console().is_terminal and not verbose
    carried, reviews = whole.carried, whole.reviews
    print_result(
        trail_tree(found, whole=not is_short, carried=carried, reviews=reviews, names=names)
    )
    if is_short:
        say(f"All of it: veritrail show {found.verification_id[:_LETTERS]} --verbose", "dim")


@dataclass(frozen=True, slots=True)
class Whole:
    """A verification with the reviews of its claim and the text that it is about."""

    verification: Verification
    reviews: list[Review]
    carried: tuple[CarriedSentence, ...]
    answers: list[Answer]
    names: dict[str, str]


async def whole(app: Application, verification: str, claim: str | None) -> Whole:
    """Read a verification by its id, a short form of it, or its process and claim.

    Raises:
        NotFound: There is none.
        InputError: Several ids begin with the short form.
    """
    found, reviews, carried = await _found(app, verification, claim)
    answers = await answers_of(app, found.process_id, [found.node_id])
    from veritrail_graph.api.show.context import NAMED, named_nodes
    from veritrail_graph.api.show.node_names import names_of

    checked = [ref.node_id for one in found.iterations for ref in one.checked[:NAMED]]
    read = await app.nodes.with_metadata(found.process_id, [*named_nodes(found), *checked])
    names = names_of((node.node_id, node.metadata) for node in read)
    return Whole(found, reviews, carried, answers, names)


async def _found(
    app: Application, verification: str, claim: str | None
) -> tuple[Verification, list[Review], tuple[CarriedSentence, ...]]:
    if claim is not None:
        return await app.verifications.whole(await app.names.of_claim(verification, claim))
    try:
        return await app.verifications.whole(verification)
    except NotFound as error:
        if error.code != "verification_unknown":
            raise
    return await app.verifications.whole(await app.names.verification(verification))


def list_(
    process: Annotated[
        str | None,
        typer.Argument(
            metavar="PROCESS",
            help="A process: its claims and verifications.",
            autocompletion=completion.processes,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List processes, or the claims and verifications of one."""
    if process is None:
        tell_processes(ask(lambda app: app.processes.all(), as_json=as_json), as_json=as_json)
        return
    _, found = ask_about(process, listing, as_json=as_json, reads=True)
    tell_listing(found, as_json=as_json)


def tell_listing(found: StoredListing, *, as_json: bool) -> None:
    """Print the claims and verifications of a process.

    Args:
        found: What is stored of it.
        as_json: Whether one JSON document is printed.
    """
    if as_json:
        from veritrail_graph.graph.model.review import reviewed_json
        from veritrail_graph.graph.model.run import IN_PROCESS

        asked = [one.model_dump(mode="json", include={*Claim.model_fields}) for one in found.asked]
        print_json(
            {
                "process_id": found.process_id,
                "claims": [
                    {
                        **claim.json_object(),
                        **reviewed_json(found.said.get(claim.claim_id)),
                        **found.of_turn(claim.claim_id),
                    }
                    for claim in found.claims
                ],
                "verifications": [one.header.json_object() for one in found.verifications],
                "runs": [run.model_dump(mode="json", include=IN_PROCESS) for run in found.runs],
                "run_of_record": found.run_of_record,
                "in_force": found.in_force,
                **({"asked": asked} if asked else {}),
            }
        )
    else:
        _tell_one(found)
        _tell_asked(found.asked)
        _tell_runs(found.runs)


@dataclass(frozen=True, slots=True)
class StoredListing:
    """The stored claims, verifications, runs and reviews of a process."""

    process_id: str
    claims: list[Claim]
    verifications: list[Verification]
    runs: list[Run]
    said: dict[str, Reviewed]
    asked: list[JudgedClaim]
    run_of_record: str | None
    categories: Mapping[str, ClaimCategory | None]

    def of_turn(self, claim_id: str) -> dict[str, str]:
        """Return what counts for a claim of a turn, as JSON: its category, or that it has none."""
        if claim_id not in self.categories:
            return {}
        category = self.categories[claim_id]
        undecided = {"status": Status.UNDECIDED.value}
        return {"category": category.value} if category is not None else undecided

    @property
    def in_force(self) -> dict[str, str]:
        """By claim_id: the verification whose verdict counts."""
        found = {
            claim.claim_id: in_force(each, claim.text, self.run_of_record)
            for claim, each in self.of_claims
        }
        return {name: one.verification_id for name, one in found.items() if one is not None}

    @property
    def of_claims(self) -> list[tuple[Claim | JudgedClaim, list[Verification]]]:
        """Each claim and question with the verifications of its present text, newest first."""
        by_claim: dict[str, list[Verification]] = {}
        for one in self.verifications:
            by_claim.setdefault(one.claim_id, []).append(one)
        return [
            (claim, of_text(by_claim.get(claim.claim_id, ()), claim.text))
            for claim in (*self.claims, *self.asked)
        ]


async def listing(app: Application, process_id: str) -> StoredListing:
    """Read what is stored of a process.

    Raises:
        NotFound: There is no such process.
    """
    asked, _ = await app.claims.search(process_id, asked=True, limit=ASKED_SHOWN)
    return StoredListing(
        process_id,
        await app.claims.all(process_id),
        await app.verifications.all(process_id),
        await app.verifications.runs(process_id),
        await app.reviews.states(process_id),
        asked,
        (await app.processes.get(process_id)).run_of_record,
        await app.dialogues.categories(process_id),
    )


def _tell_asked(asked: list[JudgedClaim]) -> None:
    """Questions, apart from the claims of the answer."""
    if not asked:
        return
    print_result("")
    print_result("Asked; no claims of the answer, counted nowhere:")
    rows = []
    for one in asked:
        words = "" if one.status is None else verdict_words(one.verdict, one.status)[0]
        words += " (indicative)" if one.indicative and one.verdict is not None else ""
        rows.append([one.claim_id, words, one_line(one.text)])
    table(("claim_id", "verdict", "question"), rows, texts=["question"])


def _tell_runs(runs: list[Run]) -> None:
    """Runs that have something left to do, and how to go on with them."""
    for run in runs:
        left = run.without_verdict()
        if left:
            say(
                f"Run {run.run_id} of {run.created_at} left {left} of {run.verifications} claim(s) "
                f"without a verdict. To go on: veritrail verify --resume {run.run_id}",
                "yellow",
            )


def tell_processes(summaries: Sequence[ProcessSummary], *, as_json: bool) -> None:
    """Print processes with their claims by verdict; on a terminal their ids are short.

    Args:
        summaries: All processes.
        as_json: Whether one JSON document is printed.
    """
    if as_json:
        print_json({"processes": [summary.json_object() for summary in summaries]})
        return
    if not summaries:
        say("Nothing is stored yet. Begin with: veritrail check PATH")
        return
    short: Mapping[str, str] = {}
    if console().is_terminal:
        from veritrail_graph.api.app.names import short_names

        short = short_names([one.process_id for one in summaries], LEAST, LONGEST_WHOLE)
    show_parts(processes_shown(summaries, short=short))


def _tell_one(found: StoredListing) -> None:
    """The claims with what counts for each; then verifications that do not count."""
    from veritrail_graph.api.show.document import Document
    from veritrail_graph.api.show.verifications import (
        judge_words,
        stage_cell,
        verifications_shown,
    )
    from veritrail_graph.api.show.words import review_state_words

    claims, said = found.claims, found.said
    if not claims:
        process = quoted(found.process_id)
        say(f"It has no claims yet. To take some and verify them: veritrail check {process}")
        say(f"To add one of your own: veritrail claims add {process} TEXT", "dim")
        return
    of_answer = [one for one in found.verifications if one.origin is None]
    counting = found.in_force
    by_id = {one.verification_id: one for one in of_answer}
    shown = {name: by_id[one] for name, one in counting.items() if one in by_id}
    for claim, each in found.of_claims:  # the latest, where none has a verdict
        if each:
            shown.setdefault(claim.claim_id, each[0])
    rows = []
    has_many = len({claim.node_id for claim in claims}) > 1
    has_labels = any(claim.label for claim in claims)
    for claim in claims:
        verified = shown.get(claim.claim_id)
        node = [one_line(claim.node_id, 40)] if has_many else []
        label = [VERDICT_WORDS[claim.label] if claim.label else ""] if has_labels else []
        review = [review_state_words(said.get(claim.claim_id))] if said else []
        result: list[str | Text] = ["", "", "", ""]
        if verified is not None:
            words, style = verdict_words(verified.verdict, verified.status)
            judged = (judge_words(verified), verified.verification_id)
            result = [_styled(words, style), stage_cell(verified), *judged]
        elif claim.claim_id in found.categories:
            category = found.categories[claim.claim_id]
            result[0] = verdict_words(None, Status.UNDECIDED)[0]
            if category is not None:
                result[0] = CLAIM_CATEGORY_WORDS[category]
        row = [claim.claim_id, *node, *result[:2], *label, *review, one_line(claim.text)]
        rows.append([*row, *(result[2:] if of_answer else [])])
    more = (*(["node"] if has_many else []), "verdict", "stage")
    more += (*(["label"] if has_labels else []), *(["review"] if said else []), "claim")
    more += ("judged by", "verification") if of_answer else ()
    table(
        ("claim_id", *more),
        rows,
        texts=["claim"],
        optional=("verification", "judged by", "node", "label"),
    )
    counted = {one.verification_id for one in shown.values()}
    others = [one for one in of_answer if one.verification_id not in counted]
    if others:
        print_result("")
        print_result("Other verifications, which do not count:")
        rows_of_others, *_ = verifications_shown(others).blocks
        show_parts(Document((rows_of_others,)))
    if of_answer:
        if found.run_of_record:
            say(f"Run of record: {found.run_of_record}; its verdicts count until it is unpinned.")
        if any(one.indicative for one in of_answer):
            say(f"Verdicts are {INDICATIVE_IN_PART}.", "yellow")


def _styled(words: str, style: str) -> Text:
    from rich.text import Text

    return Text(words, style)


def pin(
    run: Annotated[str, typer.Argument(metavar="RUN", help="The run, by its id.")],
    off: Annotated[
        bool, typer.Option("--off", help="End it: the strongest judge's latest verdicts count.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Make a run the run of record: its verdicts count.

    Without one, the verdict of the strongest judge counts (a language model, then an entailment
    model, then word overlap), and of these the latest.
    """
    found = ask(lambda app: _pinned(app, run, on=not off), as_json=as_json)
    run = found.run_of_record or run
    if as_json:
        print_json(found.model_dump(mode="json"))
    elif off:
        say(f"{run} is not the run of record of {found.process_id} any more.")
    else:
        say(
            f"{run} is the run of record of {found.process_id}: its verdicts count for "
            f"{found.claims:,} claim(s). To end that: veritrail pin {run} --off"
        )


async def _pinned(app: Application, run: str, *, on: bool) -> RunOfRecord:
    """Pin a run that may be named by a short form."""
    try:
        return await app.verifications.pin(run, on=on)
    except NotFound:
        return await app.verifications.pin(await app.names.run(run), on=on)


async def _deleted(app: Application, process: str) -> Removed:
    """Delete a process that is named in full: a slip of a letter must not delete another one."""
    try:
        return await app.processes.delete(process, force=True)
    except NotFound as error:
        meant = process if error.code != "process_unknown" else await app.names.process(process)
        if meant == process:
            raise
        raise NotFound(
            f"{error} Name {meant!r} in full to delete it.", (), code=error.code, **error.facts
        ) from None


def delete(
    process: Annotated[
        str,
        typer.Argument(
            metavar="PROCESS",
            help="The process, by its process_id in full.",
            autocompletion=completion.processes,
        ),
    ],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Delete a process with its claims, verifications and reviews."""
    if not yes and not sys.stdin.isatty():
        raise InputError(
            "Nothing was deleted: there is no terminal to confirm it on, and no --yes."
        )
    if not yes and not typer.confirm(
        f"Delete {process} with its claims, verifications and reviews?", err=True
    ):
        say("Nothing was deleted.")
        raise Exit(NOT_ALL_SUCCEEDED)
    removed = ask(lambda app: _deleted(app, process), as_json=as_json)
    if as_json:
        deleted = {"process_id": process, "status": "deleted"}
        gone = {
            "removed_verifications": removed.verifications,
            "removed_reviews": removed.reviews,
        }
        print_json({**deleted, **gone})
    else:
        say(
            f"Deleted {process} with {removed.verifications:,} verification(s) and "
            f"{removed.reviews:,} review(s)."
        )
