"""`veritrail eval simulate`: what settings find and cost, before a model is paid."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from veritrail_eval.cli.options import naming
from veritrail_graph.api.cli.exits import ask
from veritrail_graph.api.cli.options import SENTENCE_LIMITS, AsJson
from veritrail_graph.api.cli.terminal import long_work, print_json, say, table
from veritrail_graph.graph.contract import PUBLIC_ID
from veritrail_graph.graph.errors import InputError, NotFound, shown

if TYPE_CHECKING:
    from veritrail_eval.app.simulation import SimulatedGrid
    from veritrail_eval.simulation.configuration import (
        ClaimSettings,
        Grid,
        JudgeSettings,
    )
    from veritrail_eval.simulation.process_shape import ProcessShape
    from veritrail_graph.api.app import Application

T = TypeVar("T", int, float)

_WHOLES = ("q", "samples", "threshold")
_SHARES = (
    "recall",
    "false_positives",
    "flip_supported",
    "flip_unsupported",
    "inconclusive",
)


def _values(what: str) -> Any:
    return typer.Option(metavar="N[,N…]", help=what)


def _shares(what: str) -> Any:
    return typer.Option(metavar="P[,P…]", help=what)


def simulate(
    shape: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="hierarchical, graphrag, chain, rag or random."),
    ] = None,
    nodes: Annotated[
        int | None, typer.Option(metavar="N", help="The most nodes that the process has.")
    ] = None,
    levels: Annotated[
        int | None, typer.Option(metavar="N", help="Stages of hierarchical and random.")
    ] = None,
    fan_in: Annotated[
        int | None,
        typer.Option(metavar="N", help="Inputs of a node of hierarchical, chain and random."),
    ] = None,
    like: Annotated[
        str | None,
        typer.Option(metavar="PATH", help="Take the shape of a process: a file, or a stored one."),
    ] = None,
    process: Annotated[
        str | None,
        typer.Option(metavar="ID", help="With --like FILE: which of several processes."),
    ] = None,
    node: Annotated[
        str | None, typer.Option(metavar="NODE", help="With --like: the verified node.")
    ] = None,
    sentences: Annotated[
        str | None, _values("Sentences of a node: one number, or one for each stage.")
    ] = None,
    claims: Annotated[int, typer.Option(metavar="N", help="How many claims are planted.")] = 1_000,
    unsupported: Annotated[
        float, typer.Option(metavar="P", help="The share of them with an error.")
    ] = 0.25,
    error_stages: Annotated[
        str | None, _values("Stages in which errors are introduced; default: all.")
    ] = None,
    facts: Annotated[int, typer.Option(metavar="N", help="Facts that a claim says.")] = 1,
    q: Annotated[str, _values("Consecutive Not Fully Supported verdicts that stop a walk.")] = (
        "1,2,3"
    ),
    recall: Annotated[str, _shares("That a sentence with a fact is selected where shown.")] = "0.9",
    false_positives: Annotated[
        str, _shares("That a sentence of a node without a fact is selected.")
    ] = "0.002",
    flip_supported: Annotated[
        str, _shares("That a Fully Supported verdict becomes Not Fully Supported.")
    ] = "0.05",
    flip_unsupported: Annotated[
        str, _shares("That a Not Fully Supported verdict becomes Fully Supported.")
    ] = "0.05",
    flip_at: Annotated[
        list[str] | None,
        typer.Option(metavar="STAGE=P", help="Both flips for verdicts over a stage; repeatable."),
    ] = None,
    inconclusive: Annotated[str, _shares("That a verdict is Inconclusive.")] = "0.02",
    same_mistakes: Annotated[
        float, typer.Option(metavar="P", help="That all samples of a prompt err alike.")
    ] = 0.5,
    samples: Annotated[str, _values("Answers drawn to each prompt.")] = "1",
    threshold: Annotated[str, _values("How many of them must agree.")] = "1",
    max_root_sentences: Annotated[
        str, _values("Sentences of root nodes in a prompt; none: what the window holds.")
    ] = "40",
    max_sentences: Annotated[
        str, _values("Sentences of other nodes in a prompt; none: what the window holds.")
    ] = "40",
    verdict_sentences: Annotated[
        str, _values("Sentences of a verdict prompt without root nodes; or none.")
    ] = "200",
    verdict_root_sentences: Annotated[
        str, _values("Sentences of a verdict prompt with root nodes; or none.")
    ] = "none",
    max_reruns: Annotated[
        int, typer.Option(metavar="N", help="Selections again from evidence that is too much.")
    ] = 2,
    sentence_tokens: Annotated[int, typer.Option(metavar="N", help="Tokens of a sentence.")] = 25,
    context_tokens: Annotated[
        int, typer.Option(metavar="N", help="The model's context window.")
    ] = 128_000,
    no_sub_claims: Annotated[
        bool, typer.Option("--no-sub-claims", help="Do not count taking claims apart.")
    ] = False,
    price: Annotated[
        str | None,
        typer.Option(metavar="IN,OUT", help="The model's price in USD per million tokens."),
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="The same seed, the same result.")] = 0,
    workers: Annotated[
        int | None, typer.Option(metavar="N", help="Processes; default: one a core, at most 8.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="CSV", help="Write the rows there too.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say what settings would find and cost, before you pay.

    The judge errs as often as you say; no model is asked. Claims are planted in a generated
    process, so that the truth is known, and verified by the walk of a real
    run. Several values of an option make a grid: one row a combination.
    """
    given = dict(locals())
    of_process = _shape(given)
    from veritrail_eval.app.simulation import simulate as run

    settings = _settings(given)
    with long_work() as work:
        found = run(
            of_process,
            *settings,
            workers,
            output,
            lambda done, whole: work.update("walks", done, whole),
        )
    if as_json:
        print_json(found.as_json())
    else:
        _tell(found)


def _shape(given: Mapping[str, Any]) -> ProcessShape:
    """The generated or the real shape that options ask for."""
    from veritrail_eval.app.simulation import generated_shape, shape_names

    names = shape_names()
    name, like = given["shape"], given["like"]
    if (name is None) == (like is None):
        raise InputError(f"give either --like PATH or --shape: {', '.join(names)}.")
    if name is not None:
        if given["node"] is not None:
            raise InputError("--node: a generated process has one terminal; use it with --like.")
        if given["process"] is not None:
            raise InputError("--process: it chooses a process of a file; use it with --like FILE.")
        sizes = {key: given[key] for key in ("nodes", "levels", "fan_in", "seed")}
        found = generated_shape(name, sizes)
    else:
        wrong = next((key for key in ("nodes", "levels", "fan_in") if given[key] is not None), None)
        if wrong:
            raise InputError(f"--{wrong.replace('_', '-')}: --like takes the sizes of the process.")
        found = _like(like, given["process"], given["node"], as_json=given["as_json"])
    if given["sentences"] is not None:
        found = found.with_sentences(_numbers("--sentences", given["sentences"], int))
    return found


def _like(name: str, process_id: str | None, node: str | None, *, as_json: bool) -> ProcessShape:
    from veritrail_eval.app.simulation import shape_in_file, stored_shape

    if Path(name).exists():
        with naming("--like", "data_set_no_process"):
            return shape_in_file(name, node, process_id)
    if not re.fullmatch(PUBLIC_ID, name):
        raise InputError(f"--like {shown(name)}: no such file.")
    if process_id is not None:
        raise InputError(
            f"--process {shown(process_id)}: {shown(name)} is no file; --like takes the id of a "
            "stored process alone."
        )

    async def stored(app: Application) -> ProcessShape:
        try:
            return await stored_shape(app, name, node)
        except NotFound:
            raise InputError(f"--like {shown(name)}: no such file, and no such process.") from None

    return ask(stored, as_json=as_json)


def _settings(given: Mapping[str, Any]) -> tuple[ClaimSettings, Grid, JudgeSettings]:
    from veritrail_eval.simulation.configuration import (
        ClaimSettings,
        Grid,
        JudgeSettings,
    )
    from veritrail_graph.api.settings.values import parse_price

    varied: dict[str, Any] = {name: _varied(given, name, int) for name in _WHOLES}
    varied |= {name: _varied(given, name, float) for name in _SHARES}
    varied |= {
        name: _limits(f"--{name.replace('_', '-')}", given[name]) for name in SENTENCE_LIMITS
    }
    stages = given["error_stages"]
    return (
        ClaimSettings(
            given["claims"],
            given["unsupported"],
            given["facts"],
            tuple(_numbers("--error-stages", stages, int)) if stages is not None else (),
            given["seed"],
        ),
        Grid(
            **varied,
            max_reruns=given["max_reruns"],
            same_mistakes=given["same_mistakes"],
            flips_at=tuple(_flip_at(text) for text in given["flip_at"] or ()),
        ),
        JudgeSettings(
            sentence_tokens=given["sentence_tokens"],
            context_tokens=given["context_tokens"],
            sub_claims=not given["no_sub_claims"],
            price=parse_price(given["price"]) if given["price"] is not None else None,
        ),
    )


def _varied(given: Mapping[str, Any], name: str, kind: type[T]) -> list[T]:
    return _numbers(f"--{name.replace('_', '-')}", given[name], kind)


def _numbers(option: str, text: str, kind: type[T]) -> list[T]:
    """Numbers between commas.

    Raises:
        InputError: One is none; the message says which.
    """
    found = []
    for part in text.split(","):
        try:
            found.append(kind(part.strip()))
        except ValueError:
            what = {int: "whole number", float: "number"}[kind]
            raise InputError(f"{option} {text}: {part.strip()!r} is no {what}.") from None
    return found


def _limits(option: str, text: str) -> list[int | None]:
    return [
        None if part.strip().lower() == "none" else _numbers(option, part, int)[0]
        for part in text.split(",")
    ]


def _flip_at(text: str) -> tuple[int, float]:
    stage, equals, share = text.partition("=")
    if not equals or "," in text:
        raise InputError(f"--flip-at {text}: write STAGE=P, such as 3=0.2.")
    return _numbers("--flip-at", stage, int)[0], _numbers("--flip-at", share, float)[0]


_COLUMNS: Sequence[tuple[str, str, Callable[[Any], str]]] = (
    ("macro F1", "macro_f1", lambda value: f"{value:.3f}"),
    ("bal. acc.", "balanced_accuracy", lambda value: f"{value:.3f}"),
    ("accuracy", "accuracy", lambda value: f"{value:.3f}"),
    ("inconcl.", "inconclusive", lambda value: f"{value:.1%}"),
    ("no verdict", "no_verdict", lambda value: f"{value:.1%}"),
    ("error stage", "error_stage_exact", lambda value: f"{value:.3f}"),
    ("in set", "error_stage_within", lambda value: f"{value:.3f}"),
    ("iterations", "iterations", lambda value: f"{value:.2f}"),
    ("nodes", "nodes_visited", lambda value: f"{value:,.0f}"),
    ("share", "nodes_share", lambda value: f"{value:.2%}"),
    ("calls", "calls", lambda value: f"{value:,.1f}"),
    ("input", "input_tokens", lambda value: f"{value:,.0f}"),
    ("output", "output_tokens", lambda value: f"{value:,.0f}"),
)
_NAMES = {
    "max_root_sentences": "root limit",
    "max_sentences": "limit",
    "verdict_sentences": "verdict limit",
    "verdict_root_sentences": "verdict root limit",
}


def _tell(found: SimulatedGrid) -> None:
    from veritrail_graph.api.show.costs import money_words
    from veritrail_graph.graph.counted import counted

    of, rows = found.simulated.simulation, found.simulated.rows
    say(
        f"{of.shape.name}: {counted(of.shape.nodes, 'node')}, {counted(of.shape.edges, 'edge')}; "
        f"{counted(of.claims.count, 'claim')}, {of.claims.unsupported:.0%} with an error. "
        "A simulation, no model was asked.",
        "bold",
    )
    settings = found.varied or ["q"]
    lines = []
    for row in rows:
        named = row.configuration.named()
        cells = ["none" if named[name] is None else f"{named[name]}" for name in settings]
        for _, figure, words in _COLUMNS:
            value = row.figures[figure]
            cells.append("-" if value is None else words(value))
        cost = row.figures["cost_per_claim"]
        lines.append([*cells, "-" if cost is None else money_words(cost)])
    names = [_NAMES.get(name, name.replace("_", " ")) for name in settings]
    columns = [*names, *(name for name, _, _ in _COLUMNS), "$/claim"]
    table(columns, lines, right=columns)
    for sentence in found.meaning:
        say(sentence)
    reasons = {(name, why): None for row in rows for name, why in row.reasons.items()}
    for name, why in reasons:
        say(f"{name}: {why}", "dim")
    if of.grid.left_out:
        say(
            f"{counted(of.grid.left_out, 'combination')} left out: the threshold is above the "
            "number of samples.",
            "yellow",
        )
    say(
        "Nodes, iterations, calls, tokens and cost are means of a claim. How often a judge errs is "
        "assumed; docs/simulation.md says what else is.",
        "dim",
    )
