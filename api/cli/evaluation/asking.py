"""What the commands that build data sets share: the model that they ask, and the files."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from veritrail_graph.api.cli.exits import run as run_work
from veritrail_graph.api.cli.terminal import LongWork, long_work, say
from veritrail_graph.evaluation.whole_file import write_text_whole
from veritrail_graph.graph.errors import InputError

if TYPE_CHECKING:
    from veritrail_graph.api.app.evaluation.resources import OpenResources
    from veritrail_graph.api.settings import Settings
    from veritrail_graph.evaluation.building.asking import BuildModel
    from veritrail_graph.evaluation.building.graphrag.assumed import AssumedGraphRag
    from veritrail_graph.graph.model import Usage
    from veritrail_graph.graph.sentences import SentenceSplitter

T = TypeVar("T")


class AskOptions:
    """How the model is asked."""

    def __init__(
        self,
        engine: str | None,
        model: str | None,
        prompts: Path | None,
        budget: float | None,
        max_calls: int | None,
        price: str | None,
        no_cache: bool,
    ) -> None:
        named = {"engine": engine, "model": model}
        self.judge = {name: one for name, one in named.items() if one is not None}
        self.prompts = prompts
        self.budget, self.max_calls = budget, max_calls
        self.price, self.use_cache = price, not no_cache


class Asked:
    """A model that is open, and what is shown while it is asked."""

    def __init__(self, asked: BuildModel, splitter: SentenceSplitter, work: LongWork) -> None:
        self.step = asked.step
        self.meter = asked.meter
        self.splitter = splitter
        self.work = work


def with_model(
    how: AskOptions,
    work: Callable[[Asked], Awaitable[T]],
    *,
    as_json: bool,
    assumed: AssumedGraphRag | None = None,
) -> tuple[T, dict[str, Any]]:
    """Do work that asks a model.

    Args:
        how: How it is asked.
        work: The work.
        as_json: Whether the command prints JSON.
        assumed: Answers that are assumed in place of a model's, for an estimate.

    Returns:
        What the work gave, and what it cost, or would cost.
    """
    from veritrail_graph.api.settings import Settings
    from veritrail_graph.evaluation.building.asking import BuildModel

    async def asked() -> tuple[T, Usage]:
        with long_work() as shown:
            async with _resources(Settings(), how, assumed) as resources:
                models = await resources.models(how.judge)
                asked_of = BuildModel(models.claims, how.prompts)
                done = await work(Asked(asked_of, resources.splitter, shown))
                return done, asked_of.meter.total

    result, usage = run_work(asked(), as_json=as_json)
    return result, usage.json_object()


def _resources(
    settings: Settings, how: AskOptions, assumed: AssumedGraphRag | None
) -> OpenResources:
    if assumed is not None:
        from veritrail_graph.api.app.evaluation.estimate import AssumedResources

        return AssumedResources(settings, price=how.price, walk=assumed)
    from veritrail_graph.api.app.evaluation.resources import OpenResources, shared_within

    return OpenResources(
        settings,
        shared_within(how.budget, how.max_calls),
        use_cache=how.use_cache,
        price=how.price,
        warn=lambda message: say(message, "yellow"),
    )


def named_texts(sources: Sequence[Path]) -> dict[str, str]:
    """The texts of files by the names of the files.

    Raises:
        InputError: One cannot be read, or two have one name.
    """
    from veritrail_graph.graph.importers.plain import read_text

    found: dict[str, str] = {}
    for path in sources:
        if path.stem in found:
            raise InputError(f"{path}: another source is named {path.stem!r}; rename one.")
        found[path.stem] = read_text(path)
    return found


def process_id_of(name: str) -> str:
    """The id of a process that is called so."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-._")[:128] or "summary"


def about_run(target: Path, document: dict[str, Any]) -> dict[str, Any]:
    """What a command says of a process file that it wrote."""
    stages: dict[str, int] = {}
    for node in document["nodes"]:
        stages[str(node["stage"])] = stages.get(str(node["stage"]), 0) + 1
    return {
        "output": str(target),
        "process_id": document["process_id"],
        "nodes": len(document["nodes"]),
        "stages": stages,
    }


def tell_run(about: dict[str, Any]) -> None:
    """Say what `about_run` says of a process file."""
    stages = ", ".join(f"{count} of stage {stage}" for stage, count in about["stages"].items())
    say(f"{about['nodes']} nodes ({stages}) in {about['output']}.", "bold")


def write_json(path: Path, document: dict[str, Any]) -> None:
    """Write a JSON document, whole or not at all.

    Raises:
        InputError: It cannot be written.
    """
    write_text_whole(path, json.dumps(document, ensure_ascii=False, indent=1) + "\n")
