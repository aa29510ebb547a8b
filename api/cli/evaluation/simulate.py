"""`veritrail eval simulate`: what settings find and cost, before a model is paid."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from veritrail_graph.api.cli.exits import ask
from veritrail_graph.api.cli.options import SENTENCE_LIMITS, AsJson
from veritrail_graph.api.cli.terminal import long_work, print_json, say, table
from veritrail_graph.graph.contract import PUBLIC_ID
from veritrail_graph.graph.errors import InputError, NotFound, shown

if TYPE_CHECKING:
    from veritrail_graph.api.app import Application
    from veritrail_graph.evaluation.simulation.process_shape import ProcessShape
    from veritrail_graph.evaluation.simulation.run import Simulated, Simulation
    from veritrail_graph.graph.adjacency import Adjacency
    from veritrail_graph.graph.model import Process

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
    simulation = _simulation(given, _shape(given))
    from veritrail_graph.evaluation.simulation.run import simulate as run

    if output is not None:
        _require_writable(output)
    with long_work() as work:
        simulated = run(simulation, lambda done, whole: work.update("walks", done, whole))
    if output is not None:
        output.write_text(_csv(simulated), encoding="utf-8", newline="")
    if as_json:
        print_json(_as_json(simulated))
    else:
        _tell(simulated)


def _shape(given: Mapping[str, Any]) -> ProcessShape:
    """The generated or the real shape that options ask for."""
    try:
        import numpy  # noqa: F401 - whether it is there
    except ImportError:
        raise InputError(
            "A simulation needs the extra evaluation: pip install 'veritrail-graph[evaluation]'",
            code="extra_missing",
        ) from None
    from veritrail_graph.evaluation.simulation.shapes import SHAPES, ShapeOptions, generate

    name, like = given["shape"], given["like"]
    if (name is None) == (like is None):
        raise InputError(f"give either --like PATH or --shape: {', '.join(SHAPES)}.")
    if name is not None:
        if given["node"] is not None:
            raise InputError("--node: a generated process has one terminal; use it with --like.")
        if given["process"] is not None:
            raise InputError("--process: it chooses a process of a file; use it with --like FILE.")
        sizes = {key: given[key] for key in ("nodes", "levels", "fan_in", "seed")}
        found = generate(ShapeOptions(name, **sizes))
    else:
        wrong = next((key for key in ("nodes", "levels", "fan_in") if given[key] is not None), None)
        if wrong:
            raise InputError(f"--{wrong.replace('_', '-')}: --like takes the sizes of the process.")
        found = _like(like, given["process"], given["node"], as_json=given["as_json"])
    if given["sentences"] is not None:
        found = found.with_sentences(_numbers("--sentences", given["sentences"], int))
    return found


def _like(name: str, process_id: str | None, node: str | None, *, as_json: bool) -> ProcessShape:
    from veritrail_graph.evaluation.datasets.loading import OwnLoader
    from veritrail_graph.evaluation.simulation.likeness import shape_of, shape_of_file

    path = Path(name)
    if path.exists():
        if OwnLoader().detect(path) is None:
            raise InputError(
                f"--like {name}: this is a data set (veritrail.dataset/1), and no process; name a "
                "file of the process itself, or ingest it and name its process_id."
            )
        return shape_of_file(path, node, process_id)
    if not re.fullmatch(PUBLIC_ID, name):
        raise InputError(f"--like {shown(name)}: no such file.")
    if process_id is not None:
        raise InputError(
            f"--process {shown(process_id)}: {shown(name)} is no file; --like takes the id of a "
            "stored process alone."
        )

    async def stored(app: Application) -> tuple[Process, Adjacency]:
        try:
            return await app.processes.adjacency(name)
        except NotFound:
            raise InputError(f"--like {shown(name)}: no such file, and no such process.") from None

    process, adjacency = ask(stored, as_json=as_json)
    return shape_of(name, adjacency, process.terminals, node)


def _simulation(given: Mapping[str, Any], shape: ProcessShape) -> Simulation:
    from veritrail_graph.api.setting_values import parse_price
    from veritrail_graph.evaluation.simulation.configuration import (
        ClaimSettings,
        Grid,
        JudgeSettings,
    )
    from veritrail_graph.evaluation.simulation.run import Simulation

    varied: dict[str, Any] = {name: _varied(given, name, int) for name in _WHOLES}
    varied |= {name: _varied(given, name, float) for name in _SHARES}
    varied |= {
        name: _limits(f"--{name.replace('_', '-')}", given[name]) for name in SENTENCE_LIMITS
    }
    stages = given["error_stages"]
    return Simulation(
        shape,
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
        given["workers"],
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


def _require_writable(path: Path) -> None:
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise InputError(f"{path}: it cannot be written; name a file in a folder that is there.")


def _as_json(simulated: Simulated) -> dict[str, Any]:
    from veritrail_graph.evaluation.simulation.meaning import meaning

    of = simulated.simulation
    return {
        "process": _process(of.shape),
        "claims": of.claims.count,
        "unsupported": of.claims.unsupported,
        "facts": of.claims.facts,
        "seed": of.claims.seed,
        "same_mistakes": of.grid.same_mistakes,
        "flips_at": {str(stage): flip for stage, flip in of.grid.flips_at},
        "left_out": of.grid.left_out,
        "rows": [row.json_object() for row in simulated.rows],
        "meaning": meaning(simulated.rows),
    }


def _process(shape: ProcessShape) -> dict[str, Any]:
    counts = shape.stage_counts()
    return {
        "name": shape.name,
        "nodes": shape.nodes,
        "edges": shape.edges,
        "stages": len(counts),
        "stage_nodes": {str(stage): count for stage, count in counts[:20]},
    }


def _csv(simulated: Simulated) -> str:
    rows = [row.json_object() for row in simulated.rows]
    for row in rows:
        low, high = row.pop("accuracy_interval")
        row |= {"accuracy_low": low, "accuracy_high": high}
        row["reasons"] = "; ".join(f"{name}: {why}" for name, why in row.pop("reasons").items())
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


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


def _tell(simulated: Simulated) -> None:
    from veritrail_graph.api.views.costs import money_words
    from veritrail_graph.evaluation.simulation.meaning import meaning, varied_settings
    from veritrail_graph.graph.counted import counted

    of, rows = simulated.simulation, simulated.rows
    say(
        f"{of.shape.name}: {counted(of.shape.nodes, 'node')}, {counted(of.shape.edges, 'edge')}; "
        f"{counted(of.claims.count, 'claim')}, {of.claims.unsupported:.0%} with an error. "
        "A simulation, no model was asked.",
        "bold",
    )
    settings = varied_settings(rows) or ["q"]
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
    for sentence in meaning(rows):
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
