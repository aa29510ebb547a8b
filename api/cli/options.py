"""Options that several commands share."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from veritrail_graph.api.cli import completion
from veritrail_graph.api.server.options import LogFormat, LogLevel
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.walking import Walk

if TYPE_CHECKING:
    from veritrail_graph.api.configured.models import ModelOptions
    from veritrail_graph.api.requests.job import JobRequest
    from veritrail_graph.api.requests.verify import VerifyRequest
    from veritrail_graph.api.settings import Settings
    from veritrail_graph.graph.importers.records import ClaimRecord

Parameters = TypeVar("Parameters", bound="JobRequest")

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]
ProcessId = Annotated[
    str,
    typer.Argument(
        metavar="PROCESS",
        help="The process, by its process_id, the first letters of it, or @last.",
        autocompletion=completion.processes,
    ),
]


def given_path(text: str) -> Path:
    """Read a path that was typed; an empty one, such as of a variable that is not set, is none.

    Raises:
        BadParameter: It is empty.
    """
    if not text.strip():
        raise typer.BadParameter("it is empty: name a file or folder")
    return Path(text)


MOST_TABLE = 100_000_000
"""Bytes of a table."""


def read_text(path: Path) -> str:
    """A text file, in UTF-8.

    Raises:
        InputError: It cannot be read, or is too large.
    """
    try:
        if path.stat().st_size > MOST_TABLE:
            raise InputError(f"{path} is larger than {MOST_TABLE:,} bytes; split it")
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8: byte {error.start} cannot be decoded") from None


Claims = Annotated[
    list[str] | None, typer.Option("--claim", metavar="TEXT", help="A statement; may be repeated.")
]
ClaimsFile = Annotated[
    Path | None,
    typer.Option(
        "--claims",
        metavar="FILE",
        help="Claims: a JSON array of strings or claim objects, CSV, or one a line.",
    ),
]
ClaimIds = Annotated[
    list[str] | None,
    typer.Option("--claim-id", metavar="ID", help="A stored claim; may be repeated."),
]
Node = Annotated[
    str | None,
    typer.Option(
        metavar="NODE", help="The node that the claims are about; default: the only terminal."
    ),
]
Q = Annotated[
    int,
    typer.Option(
        "--q",
        min=1,
        max=1_000_000,
        metavar="N",
        help="Consecutive Not Fully Supported verdicts that stop a walk.",
    ),
]
EngineName = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Engine: lexical, nli, decisions, openai, azure or recorded.",
    ),
]
VerdictEngine = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Another engine that gives the verdicts: decisions, nli, …"),
]
Model = Annotated[
    str | None, typer.Option(metavar="NAME", help="The model that is asked; selects openai.")
]
ClaimsModel = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Another model to extract and take apart claims."),
]
SelectionModel = Annotated[
    str | None, typer.Option(metavar="NAME", help="Another model to select evidence.")
]
VerdictModel = Annotated[
    str | None, typer.Option(metavar="NAME", help="Another model to give verdicts.")
]
Budget = Annotated[
    float | None, typer.Option(min=0, metavar="USD", help="The most that it may cost.")
]
MaxCalls = Annotated[
    int | None, typer.Option(min=0, metavar="N", help="The most calls that may be made.")
]
Price = Annotated[
    str | None,
    typer.Option(metavar="IN,OUT[,CACHED]", help="The models' price in USD per million tokens."),
]
SampleCount = Annotated[
    int,
    typer.Option(min=1, max=100, metavar="K", help="Answers drawn to each prompt."),
]
RootSentences = Annotated[
    str,
    typer.Option(
        metavar="N", help="Sentences of root nodes in a prompt; none: what the window holds."
    ),
]
OtherSentences = Annotated[
    str,
    typer.Option(
        metavar="N", help="Sentences of other nodes in a prompt; none: what the window holds."
    ),
]
SENTENCE_LIMITS = (
    "max_root_sentences",
    "max_sentences",
    "verdict_sentences",
    "verdict_root_sentences",
)
VerdictSentences = Annotated[
    str,
    typer.Option(
        metavar="N",
        help="Sentences of a verdict prompt without root nodes; none: what the window holds.",
    ),
]
VerdictRootSentences = Annotated[
    str,
    typer.Option(
        metavar="N",
        help="Sentences of a verdict prompt with root nodes; none: what the window holds.",
    ),
]
MaxReruns = Annotated[
    int,
    typer.Option(
        min=0, max=20, metavar="N", help="Selections again from evidence that is too much."
    ),
]
NoSubClaims = Annotated[
    bool, typer.Option("--no-sub-claims", help="Do not take claims apart with a model.")
]
PromptsFolder = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Prompts of your own: files STEP.VERSION.md; or a variant: v2, paper, brief, "
        "every_word, true_false, any_turn, earlier_turns.",
    ),
]
JudgeThreshold = Annotated[
    float | None,
    typer.Option(
        min=-1.0,
        max=1.0,
        metavar="SCORE",
        help="Of a checker: the score from which a sentence is faithful.",
    ),
]
ReasoningEffort = Annotated[
    str | None,
    typer.Option(
        "--effort",
        metavar="EFFORT",
        help="How much models reason: none, minimal, low, medium, high, xhigh or max; by step as "
        "low,verdict=high (default: as is known of the model).",
    ),
]
Structured = Annotated[
    bool, typer.Option("--structured", help="Use structured output (JSON schema).")
]
NoCache = Annotated[
    bool, typer.Option("--no-cache", help="Neither use nor fill the cache of answers.")
]


Recorded = Annotated[
    Path | None,
    typer.Option(
        "--recorded",
        metavar="FILE",
        help="Take the answers of a model that --record wrote; selects the engine recorded.",
    ),
]
Record = Annotated[
    Path | None,
    typer.Option(
        "--record",
        metavar="FILE",
        help="Write every answer of a model into FILE, for --recorded.",
    ),
]


WalkOption = Annotated[
    Walk | None,
    typer.Option(
        "--walk",
        help="How frontiers are found: shared, with as few calls as can be (default); or cypher, "
        "a statement after each iteration. The results are the same.",
    ),
]


class BatchFinish(StrEnum):
    """A way to finish a call that has no valid answer in a batch."""

    WAIT = "wait"
    LIVE = "live"


Batch = Annotated[
    bool,
    typer.Option(
        "--batch",
        help="Ask models in batches: about half the price, and answers within a day.",
    ),
]
BatchFinishes = Annotated[
    BatchFinish,
    typer.Option(
        "--batch-finish",
        help="What had no valid answer in a batch waits for the next one, or is asked live.",
    ),
]
BatchPriceFactor = Annotated[
    float | None,
    typer.Option(
        "--batch-price-factor",
        min=0,
        max=1,
        metavar="PART",
        help="What part of the price a call in a batch costs (default: as far as known, else 0.5).",
    ),
]
Concurrency = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=256,
        metavar="N",
        help="Concurrent model calls (default 16); without a model: claims (default 8).",
    ),
]


CallsAtOnce = Annotated[
    int | None, typer.Option(min=1, max=256, metavar="N", help="Concurrent model calls.")
]


EscalateTo = Annotated[
    str | None,
    typer.Option(
        "--escalate-to",
        metavar="NAME",
        help="A stronger model for every verdict that is not Fully Supported, or not sure.",
    ),
]
Share = Annotated[
    int,
    typer.Option(
        "--share",
        min=1,
        max=32,
        metavar="N",
        help="Put up to N claims into one prompt, where they read the same texts or wait for "
        "verdicts. Ours, not the paper's; judge check --share N measures it.",
    ),
]
Since = Annotated[
    str | None,
    typer.Option(
        metavar="EARLIER",
        help="Keep verdicts of an earlier version that the changes since cannot touch: another "
        "process, a content hash, or last.",
    ),
]
Match = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="With --since: claims with other texts that say the same, as CSV or JSON pairs of "
        "earlier and claim_id.",
    ),
]


Threshold = Annotated[
    int | None,
    typer.Option(
        min=1, metavar="T", help="Samples that must agree; default: more than half of them."
    ),
]
Explain = Annotated[
    bool,
    typer.Option(
        "--explain",
        help="Also attribute the sentences that carried each claim that is Not Fully "
        "Supported, and end its trail with what the step did with its sources.",
    ),
]
_CORRECT = "Propose what the evidence of each wrong claim supports, judged again."
Correct = Annotated[bool, typer.Option("--correct", help=_CORRECT)]
JUDGING: Mapping[str, Any] = {
    "batch": Batch,
    "batch_finish": BatchFinishes,
    "batch_price_factor": BatchPriceFactor,
    "since": Since,
    "match": Match,
    "q": Q,
    "engine": EngineName,
    "verdict_engine": VerdictEngine,
    "model": Model,
    "claims_model": ClaimsModel,
    "selection_model": SelectionModel,
    "verdict_model": VerdictModel,
    "escalate_to": EscalateTo,
    "budget": Budget,
    "max_calls": MaxCalls,
    "price": Price,
    "samples": SampleCount,
    "threshold": Threshold,
    "max_root_sentences": RootSentences,
    "max_sentences": OtherSentences,
    "verdict_sentences": VerdictSentences,
    "verdict_root_sentences": VerdictRootSentences,
    "max_reruns": MaxReruns,
    "no_sub_claims": NoSubClaims,
    "share": Share,
    "prompts": PromptsFolder,
    "effort": ReasoningEffort,
    "structured": Structured,
    "no_cache": NoCache,
    "recorded": Recorded,
    "record": Record,
    "concurrency": Concurrency,
    "walk": WalkOption,
    "explain": Explain,
    "correct": Correct,
}
"""The options that say how claims are verified, by name; most stand for a field of the request."""
WHICH = frozenset(
    {"claim", "claims", "claim_id", "extract", "node", "unfinished", "retry_failed", "again"}
    | {"since", "match"}
)
"""Options of `verify` that say which claims are verified."""

Command = TypeVar("Command", bound=Callable[..., None])


def judging(*names: str) -> Callable[[Command], Command]:
    """Give a command options of `JUDGING` in place of its `**how`.

    An option that sets a field of `VerifyRequest` has the default of the field.

    Args:
        names: The options in the order of `--help`; all of them where none is named.
    """

    def give(command: Command) -> Command:
        own = signature(command, eval_str=True)
        places = list(own.parameters.values())
        (how,) = [place for place in places if place.kind is Parameter.VAR_KEYWORD]
        more = [
            Parameter(
                name, Parameter.KEYWORD_ONLY, default=_default(name), annotation=JUDGING[name]
            )
            for name in names or JUDGING
        ]
        last = [place for place in places if place.kind is Parameter.KEYWORD_ONLY]
        first = [place for place in places if place not in (how, *last)]
        together = [*first, *more, *last]
        command.__signature__ = own.replace(parameters=together)  # type: ignore[attr-defined]
        command.__annotations__ = {place.name: place.annotation for place in together}
        return command

    return give


def _default(name: str) -> Any:
    """Return the default of an option: that of the field of the request that it sets."""
    from veritrail_graph.api.requests.verify import VerifyRequest

    fields = VerifyRequest.model_fields
    if name in _NEGATED:
        return not fields[_NEGATED[name]].default
    field = fields.get(_FIELDS.get(name, name))
    default = None if field is None else field.get_default(call_default_factory=True)
    if name in SENTENCE_LIMITS:
        return "none" if default is None else str(default)
    if name == "batch_finish":
        return BatchFinish(str(default))
    # Their fields have other types: `--batch` is a mode, and `--match` is a file of pairs.
    return {"batch": False, "match": None}.get(name, default)


def options_given(context: typer.Context) -> frozenset[str]:
    """Return the names of the options that were typed."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    return frozenset(
        name for name, source in sources.items() if source and source.name == "COMMANDLINE"
    )


_FIELDS = {"claim_id": "claim_ids", "node": "node_id", "budget": "budget_usd"}
_NEGATED = {
    "no_sub_claims": "sub_claims",
    "no_cache": "use_cache",
    "no_background": "background",
    "no_history": "history",
    "binary": "categories",
}


def _by_field(options: Mapping[str, Any]) -> dict[str, Any]:
    """Values of options by the fields of requests that they stand for."""
    given = {_FIELDS.get(name, name): value for name, value in options.items()}
    return given | {field: not options[name] for name, field in _NEGATED.items() if name in options}


def verify_request(process_id: str, options: Mapping[str, Any]) -> VerifyRequest:
    """The request that options of a command stand for, by name.

    Args:
        process_id: The process.
        options: Values by the names of the command's parameters; others are left out.

    Raises:
        InputError: A value is out of its bounds.
    """
    from veritrail_graph.api.cli.overrides import without_idle
    from veritrail_graph.api.requests.verify import VerifyRequest

    given = without_idle(_by_field(options))
    if "batch" in options:
        given["mode"] = "batch" if options["batch"] else "live"
    if "batch_finish" in options:
        given["batch_finish"] = str(options["batch_finish"])
    given["claim_ids"], given["claims"] = given.get("claim_ids") or None, None
    for name in filter(given.__contains__, SENTENCE_LIMITS):
        given[name] = _sentence_limit(given[name], f"--{name.replace('_', '-')}")
    known = {name: given[name] for name in VerifyRequest.model_fields if name in given}
    return VerifyRequest.checked({**known, "process_id": process_id})


RECORDED = "recorded"
"""The engine that gives recorded answers."""


def recording_settings(options: dict[str, Any]) -> Settings:
    """Return the settings, with what options say of recorded answers and of the walk.

    These leave the options.

    Args:
        options: Values by the names of the command's parameters; `engine` becomes the one that
            recorded answers need where none is named.

    Raises:
        InputError: Answers are named, and an engine that takes none; or answers are to be
            recorded, and no engine asks a model.
    """
    from veritrail_graph.api.configured.judge import JudgeOptions
    from veritrail_graph.api.settings import Settings

    set_by = {name: options.pop(name, None) for name in ("recorded", "record", "walk")}
    settings = Settings(**{name: value for name, value in set_by.items() if value is not None})
    recorded, record = set_by["recorded"], set_by["record"]
    if options.get("resume") is not None:  # with the engine of the run
        return settings
    if recorded is not None and not (options.get("engine") or options.get("model")):
        options["engine"] = RECORDED
    engine = settings.engine_name(options.get("engine"), options.get("model"))
    verdicts = settings.verdict_engine_name(engine, options.get("verdict_engine"))
    if recorded is not None and RECORDED not in (engine, verdicts):
        raise InputError(
            f"--recorded names answers for the engine {RECORDED}, and the engine is {engine}: "
            "leave one of them out."
        )
    if record is not None and not JudgeOptions(engine, verdicts).calls_models:
        raise InputError(
            f"--record keeps what a model answers, and the engine {engine} asks none: name a model "
            "(--model), or leave it out."
        )
    return settings


def parameters(kind: type[Parameters], options: Mapping[str, Any]) -> Parameters:
    """The parameters of a request that options of a command stand for, by name.

    The values are those that the options accept: the bounds of a request to the service, such as
    how many nodes it may name, are not those of a command.

    Args:
        kind: Which parameters.
        options: Values by the names of the command's parameters; others are left out.
    """
    given: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in _by_field(options).items()
        if name in kind.model_fields and value not in (None, [])
    }
    return kind.model_construct(**given)


def model_options(options: Mapping[str, Any]) -> ModelOptions:
    """Return what options of a command say about models, by name.

    Args:
        options: Values by the names of the command's parameters; others are left out.
    """
    from dataclasses import fields

    from veritrail_graph.api.configured.models import ModelOptions

    known = {one.name: options[one.name] for one in fields(ModelOptions) if one.name in options}
    return ModelOptions(**known, use_cache=not options["no_cache"])


def claim_records(
    texts: Sequence[str] | None, file: Path | None, *, add: bool = True
) -> list[ClaimRecord]:
    """The claims that --claim and --claims give, each with the place that faults name.

    Texts are questions that are asked of the node, unless they are to `add` to its claims.
    """
    from veritrail_graph.graph.errors import shown
    from veritrail_graph.graph.importers.claims_file import read_claims_file
    from veritrail_graph.graph.importers.records import ClaimRecord
    from veritrail_graph.graph.model import ClaimOrigin

    origin = None if add else ClaimOrigin.ASKED
    given = [ClaimRecord(text, f"--claim {shown(text)}", origin=origin) for text in texts or ()]
    return given + (read_claims_file(file) if file is not None else [])


def _sentence_limit(text: str, option: str) -> int | None:
    """A limit on sentences, or None for what the context window holds.

    Raises:
        InputError: It is neither a number above 0 nor `none`.
    """
    if text.lower() == "none":
        return None
    if not (text.isascii() and text.isdigit() and 0 < int(text) < 10**9):
        raise InputError(f"{option} {text}: must be a number above 0, or none")
    return int(text)


__all__ = ["Format", "Level", "LogFormat", "LogLevel", "form_of"]

Format = Annotated[
    LogFormat | None,
    typer.Option("--log-format", help="One JSON object a line, or text (default: on a terminal)."),
]
Level = Annotated[LogLevel, typer.Option("--log-level", help="The least that is written.")]


def form_of(wanted: LogFormat | None) -> LogFormat:
    """Return how lines are written: as requested, else by what stderr is."""
    return wanted or (LogFormat.TEXT if sys.stderr.isatty() else LogFormat.JSON)
