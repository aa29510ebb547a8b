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
from veritrail_graph.api.show.texts import one_line
from veritrail_graph.graph.counted import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from veritrail_graph.api.app import Application
    from veritrail_graph.api.app.dialogues import DialogueOptions, DialogueVerified
    from veritrail_graph.graph.model.dialogue import DialogueRun, TurnVerification

app = typer.Typer(
    help="Dialogues: verify the assistant's turns, claim by claim.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

_MOST_REASONS = 5
"""Reasons that are named of turns that did not succeed."""


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
    from veritrail_graph.api.show.dialogue_run import run_shown
    from veritrail_graph.api.show.terminal import tree

    show(tree(run_shown(run)))
    if kept:
        words = counted(kept, "turn was", "turns were")
        say(f"{words} stored before and not asked about again.", "dim")


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
    left = [(one, turn) for one in found for turn in one.run.turns if not turn.status.is_result]
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
