"""`veritrail dialogue`: verify the assistant's turns of dialogues, and show what was found."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from veritrail_graph.api.cli.exits import (
    INTERRUPTED,
    NOT_ALL_SUCCEEDED,
    UNREACHABLE,
    Exit,
    ask,
    ask_about,
    fault_json,
)
from veritrail_graph.api.cli.options import (
    AsJson,
    Budget,
    CallsAtOnce,
    ClaimsModel,
    EngineName,
    MaxCalls,
    Model,
    NoCache,
    Price,
    PromptsFolder,
    ReasoningEffort,
    Structured,
    VerdictModel,
    parameters,
)
from veritrail_graph.api.cli.terminal import long_work, print_json, say, show
from veritrail_graph.api.cli.watch import PartsWatch
from veritrail_graph.api.show.dialogue import cut_words, left_out_words
from veritrail_graph.api.show.texts import clean, one_line
from veritrail_graph.api.show.words import (
    CLAIM_CATEGORY_WORDS,
    DIALOGUE_LABEL_WORDS,
    indicative_words,
)
from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.model import Status
from veritrail_graph.graph.model.dialogue import ClaimCategory, DialogueLabel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.text import Text

    from veritrail_graph.api.app import Application
    from veritrail_graph.api.app.dialogues import DialogueOptions, DialogueVerified
    from veritrail_graph.graph.model.dialogue import (
        DialogueRun,
        TurnClaim,
        TurnVerification,
    )

app = typer.Typer(
    help="Dialogues: verify the assistant's turns, claim by claim.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

_MOST_REASONS = 5
"""Reasons that are named of turns that did not succeed."""

_STYLE = {
    ClaimCategory.VERIFIED: "green",
    ClaimCategory.OUT_OF_SCOPE: "cyan",
    ClaimCategory.CONTRADICTED: "red",
    ClaimCategory.LACKING_EVIDENCE: "yellow",
    ClaimCategory.ABSTENTION: "blue",
}


@app.command("verify")
def verify(
    dialogue: Annotated[
        list[str],
        typer.Argument(metavar="DIALOGUE...", help="The dialogues, by their dialogue_ids."),
    ],
    turn_ids: Annotated[
        list[str] | None,
        typer.Option(
            "--turn",
            metavar="ID",
            help="A turn of the assistant; may be repeated. Default: all of them.",
        ),
    ] = None,
    turn_check: Annotated[
        bool,
        typer.Option("--turn-check", help="Also ask whether each turn contradicts an earlier one."),
    ] = False,
    turn_check_model: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Another model for --turn-check, which it implies."),
    ] = None,
    no_background: Annotated[
        bool,
        typer.Option("--no-background", help="Do not compare with what the assistant said before."),
    ] = False,
    no_history: Annotated[
        bool,
        typer.Option("--no-history", help="Take turns apart without the turns before them."),
    ] = False,
    zero_shot: Annotated[
        bool, typer.Option("--zero-shot", help="Leave the examples out of the prompts.")
    ] = False,
    binary: Annotated[
        bool, typer.Option("--binary", help="Do not ask why claims are not verified.")
    ] = False,
    facts: Annotated[
        int | None,
        typer.Option(
            min=0, max=10_000, metavar="N", help="Remembered facts that a prompt shows at most."
        ),
    ] = None,
    history_turns: Annotated[
        int | None,
        typer.Option(
            min=0, max=10_000, metavar="N", help="Earlier turns that a prompt shows at most."
        ),
    ] = None,
    resume: Annotated[
        str | None,
        typer.Option(
            metavar="RUN", help="Go on with a run of the dialogue, behind its last stored turn."
        ),
    ] = None,
    engine: EngineName = None,
    model: Model = None,
    claims_model: ClaimsModel = None,
    verdict_model: VerdictModel = None,
    budget: Budget = None,
    max_calls: MaxCalls = None,
    price: Price = None,
    prompts: PromptsFolder = None,
    effort: ReasoningEffort = None,
    structured: Structured = False,
    no_cache: NoCache = False,
    concurrency: CallsAtOnce = None,
    as_json: AsJson = False,
) -> None:
    """Verify every claim of the assistant's turns, and say why others are not verified.

    Each claim is compared with the documents of its turn and with what the assistant established
    before. What was found of a turn is stored as soon as it has ended.
    """
    from veritrail_graph.api.app.dialogues import DialogueOptions
    from veritrail_graph.api.requests.dialogue import DialogueParameters

    asked = parameters(DialogueParameters, locals())
    options = DialogueOptions(asked, prompts, concurrency, resume)
    watch = _Watch()
    found = ask(lambda app: _verify(app, dialogue, options, watch), as_json=as_json)
    for warning in dict.fromkeys(one for each in found for one in each.warnings):
        say(f"Warning: {one_line(warning)}", "yellow")
    if as_json:
        print_json(as_document(found))
    else:
        for one in found:
            tell(one.run, kept=one.kept)
    _end(found, interrupted=watch.was_interrupted())


@app.command("show")
def show_dialogue(
    dialogue: Annotated[
        str, typer.Argument(metavar="DIALOGUE", help="The dialogue, by its dialogue_id.")
    ],
    run: Annotated[
        str | None,
        typer.Option(metavar="RUN", help="The run; default: what counts for each turn."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show what is stored of the turns of a dialogue."""
    _, found = ask_about(
        dialogue, lambda app, name: app.dialogues.result(name, run), as_json=as_json, reads=True
    )
    if as_json:
        print_json(found.json_object())
    else:
        tell(found)


async def _verify(
    app: Application, dialogues: Sequence[str], options: DialogueOptions, watch: _Watch
) -> list[DialogueVerified]:
    from veritrail_graph.api.app.dialogues import DialogueProgress

    names = [await app.names.process(one) for one in dialogues]
    with long_work() as work:
        watch.work = work
        progress = DialogueProgress(watch.begins, watch.run, watch.turn_done, watch.call_made)
        return await app.dialogues.verify(names, options, progress)


class _Watch(PartsWatch):
    """Progress by turns."""

    def __init__(self) -> None:
        super().__init__("turns")

    def run(self, dialogue: str, run: str) -> None:
        """A dialogue begins; a killed command leaves its run on the screen."""
        say(f"{one_line(dialogue, 80)}: run {run}", "dim")

    def turn_done(self, _dialogue: str, _turn: TurnVerification, _kept: bool) -> None:
        """A turn has ended."""
        self.part_done()


def as_document(found: Sequence[DialogueVerified]) -> dict[str, Any]:
    """The run as the JSON document of the contract; of several dialogues a list of them."""
    documents = []
    for one in found:
        document = one.run.json_object()
        document |= {"stored": one.stored, "kept": one.kept}
        fault = one.refusal or one.fault
        if fault is not None:
            document["error"] = fault_json(fault)
        documents.append(document)
    if len(documents) == 1:
        return documents[0]
    return {"dialogues": documents}


def tell(run: DialogueRun, *, kept: int = 0) -> None:
    """Tell a person: the turns with their claims, the score, and what it cost."""
    from veritrail_graph.api.show.costs import usage_words

    show(run_text(run))
    claims = [one for one in run.claims if one.status is Status.SUCCEEDED]
    counts = [
        f"{number:,} {words}"
        for category, words in CLAIM_CATEGORY_WORDS.items()
        if (number := sum(one.category is category for one in claims))
    ]
    bare = sum(one.category is None for one in claims)
    counts += [f"{bare:,} unverifiable"] if bare else []
    words = f"{counted(len(run.turns), 'turn')}, {counted(len(run.claims), 'claim')}"
    say(f"{words}: {', '.join(counts)}" if counts else words)
    if run.score is not None:
        say(f"Score {run.score:.2f}: the share of verified claims among the verifiable ones.")
    if kept:
        told = counted(kept, "turn was", "turns were")
        say(f"{told} stored before and not asked about again.", "dim")
    if run.model is not None:
        say(usage_words(run.usage), "dim")
    if words := left_out_words(run.settings):
        say(f"Parts of the method were left out: {words}.", "yellow")
    if run.indicative:
        say(f"Engine {run.engine}: {indicative_words(run.engine)}.", "yellow")


def run_text(run: DialogueRun) -> Text:
    """The turns of a dialogue, each with its claims, and what these contradict."""
    from rich.text import Text

    shown = Text(one_line(run.dialogue_id, 80), style="bold")
    said = {one.claim_id: one.claim for one in run.claims}
    told: set[str] = set()
    for alike in _alike(run.turns):
        turn = alike[0]
        shown.append(f"\n{one_line(turn.turn_id, 40)}", style="bold")
        if len(alike) > 1:
            shown.append(f" to {one_line(alike[-1].turn_id, 40)}", style="bold")
            shown.append(f" ({counted(len(alike), 'turn')})", style="not bold dim")
        shown.append("  ")
        shown.append(*_label(turn))
        if turn.score is not None:
            shown.append(f"  {turn.score:.2f}", style="not bold dim")
        for claim in turn.claims:
            shown.append("\n    ")
            shown.append(*_category(claim))
            shown.append(f"  {one_line(clean(claim.claim))}", style="not bold")
            for line in (*_remarks(claim, said), *_why(claim.error, told)):
                shown.append(f"\n        {line}", style="not bold dim")
        is_told = any(one.error for one in turn.claims)
        remarks = _turn_remarks(turn) if len(alike) == 1 else []
        for line in (*remarks, *_why(None if is_told else turn.error, told)):
            shown.append(f"\n    {line}", style="not bold dim")
    return shown


def _label(turn: TurnVerification) -> tuple[str, str]:
    """The label of a turn, or why it has none, and its style."""
    if turn.status is not Status.SUCCEEDED:
        return turn.status.value.replace("_", " "), "not bold magenta"
    if turn.label is None:
        return "no claims", "not bold dim"
    style = "green" if turn.label is DialogueLabel.VERIFIED else "red"
    return DIALOGUE_LABEL_WORDS[turn.label], f"not bold {style}"


def _category(claim: TurnClaim) -> tuple[str, str]:
    if claim.category is not None:
        return CLAIM_CATEGORY_WORDS[claim.category], f"not bold {_STYLE[claim.category]}"
    if claim.label is not None:
        return DIALOGUE_LABEL_WORDS[claim.label], "not bold red"
    return claim.status.value.replace("_", " "), "not bold magenta"


def _remarks(claim: TurnClaim, said: dict[str, str]) -> list[str]:
    lines = []
    if claim.reason and claim.category is not ClaimCategory.VERIFIED:
        lines.append(one_line(clean(claim.reason)))
    lines += [f"said before: {one_line(clean(said.get(name, name)))}" for name in claim.contradicts]
    lines += [f"against the initial knowledge: {name}" for name in claim.contradicts_knowledge]
    return lines


def _alike(turns: Sequence[TurnVerification]) -> list[list[TurnVerification]]:
    """Turns in a row that ended for one reason without a claim are shown together, others alone."""
    groups: list[list[TurnVerification]] = []
    before = None
    for turn in turns:
        is_bare = turn.status is not Status.SUCCEEDED and not turn.claims
        ended = (turn.status, turn.error) if is_bare else None
        if ended is not None and ended == before:
            groups[-1].append(turn)
        else:
            groups.append([turn])
        before = ended
    return groups


def _why(error: str | None, shown: set[str]) -> list[str]:
    """The reason of a failure, in full where it is shown for the first time."""
    if error is None:
        return []
    if error in shown:
        return ["for the same reason as above"]
    shown.add(error)
    return [one_line(clean(error))]


def _turn_remarks(turn: TurnVerification) -> list[str]:
    lines = []
    check = turn.turn_check
    if check is not None and check.contradiction:
        where = f" ({one_line(check.turn_id, 40)})" if check.turn_id else ""
        quotes = [f'"{one_line(clean(one))}"' for one in check.quotes]
        lines.append(f"contradicts an earlier turn{where}: {' against '.join(quotes)}")
    return [*lines, *cut_words(turn)]


def _end(found: Sequence[DialogueVerified], *, interrupted: bool) -> None:
    """End the command with the status of the contract.

    Raises:
        Exit: Unless everything went well.
    """
    refusal = next((one.refusal for one in found if one.refusal is not None), None)
    faults = [one.fault for one in found if one.fault is not None]
    if refusal is not None:
        say(f"Error: the run was stopped: {one_line(str(refusal))}", "bold red")
    for fault in faults:
        say(f"Error: a turn was not stored: {one_line(str(fault))}", "bold red")
    left = [
        (one, turn)
        for one in found
        for turn in one.run.turns
        if turn.status is not Status.SUCCEEDED
    ]
    if left:
        reasons = Counter(turn.error or "" for _, turn in left).most_common(_MOST_REASONS)
        for error, number in reasons:
            say(f"{counted(number, 'turn')} did not succeed: {one_line(error)}", "red")
        if rest := len(left) - sum(number for _, number in reasons):
            say(f"{counted(rest, 'turn')} more did not succeed, for other reasons.", "red")
        for one in dict.fromkeys((one.run.dialogue_id, one.run.run_id) for one, _ in left):
            say(f"To go on: veritrail dialogue verify {one[0]} --resume {one[1]}", "yellow")
    if interrupted:
        say("Interrupted: the turns that were finished are stored.", "yellow")
        raise Exit(INTERRUPTED)
    if refusal is not None:
        raise Exit(UNREACHABLE)
    if left or faults:
        raise Exit(NOT_ALL_SUCCEEDED)
