"""Load Who&When: logs of agents that failed, with the agent and the step of the decisive mistake.

Source: Zhang et al. 2025, "Which Agent Causes Task Failures and When? On Automated Failure
Attribution of LLM Multi-Agent Systems".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict
from pydantic_core import PydanticCustomError

from veritrail_eval.datasets.loaders.building import (
    Building,
    Filled,
    RowModel,
    annotation,
    public_id,
)
from veritrail_eval.datasets.loaders.detecting import keys_of, stem_of
from veritrail_eval.datasets.model import AnnotatorLabel, Dataset
from veritrail_eval.tables import PARQUET_SUFFIX
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers import files
from veritrail_graph.graph.importers.agents.process import AgentProcess, of_messages
from veritrail_graph.graph.model import NodeRef, Role, Verdict
from veritrail_graph.verifier.held_process import HeldProcess

_KEYS = ("history", "mistake_agent", "mistake_step")
MOST_LOOKED_AT = 50
"""Files of a folder that are looked at for one that is a log."""
_ENDINGS = (".json", PARQUET_SUFFIX)
_SIGN = re.compile(r"^\W*(TERMINATE|FINAL ANSWER:)\W*", re.IGNORECASE | re.MULTILINE)


def _step(value: Any) -> int:
    text = str(value).strip()
    if isinstance(value, bool) or not text.isascii() or not text.isdigit():
        raise PydanticCustomError("step", "is no number of a message such as 3")
    return int(text)


class _Log(RowModel):
    history: list[Any]
    question: Filled
    mistake_agent: Filled
    mistake_step: Annotated[int, BeforeValidator(_step)]
    mistake_reason: str | None = None
    is_correct: bool | None = None
    is_corrected: bool | None = None


class WhoAndWhenLoader:
    """Reads logs of Who&When: one, a folder of them, or the tables of them."""

    name = "who-and-when"
    description = "Who&When: logs of agents that failed, with the step of the mistake"
    layout = "NUMBER.json, a folder of them (also in Algorithm-Generated, Hand-Crafted), or parquet"
    source = "github.com/ag2ai/Agents_Failure_Attribution, Who&When"

    def detect(self, path: Path) -> str | None:
        """By the keys of a log; in a folder of mixed files one is enough, and others are faults."""
        first = None
        for one in islice(_files(path), MOST_LOOKED_AT):
            if set(_KEYS) <= (keys_of(one) or frozenset()):
                return None
            first = first or one
        if first is None:
            return "no JSON file in the folder"
        return f"{first.name} lacks the keys {', '.join(_KEYS)}"

    def load(self, path: Path, *, skip_bad: bool = False) -> Dataset:
        """Read it; each log is a process with one claim, about its final answer.

        Raises:
            InputError: It cannot be read; the message names the file and the key.
        """
        building = Building(path, self.name, "Who&When", skip_bad=skip_bad)
        for where, key, value in _logs(building, path):
            if isinstance(value, dict) and not set(_KEYS) & set(value):
                message = f"is no log of Who&When: it has none of the keys {', '.join(_KEYS)}"
                building.fault(where, "", message, "missing_key")
                continue
            log = building.check(_Log, value, where)
            if log is not None:
                _add(building, log, value, key, where)
        return building.finish(
            description="Final answers of agents that failed, with the stage of the mistake.",
            licence="MIT",
        )


def _files(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    found = (one for one in path.rglob("*") if files.suffix_of(one) in _ENDINGS and one.is_file())
    yield from sorted(found, key=lambda one: (one.parent, len(one.name), one.name))


def _logs(building: Building, path: Path) -> Iterator[tuple[str, str, Any]]:
    """Place, key and value of every log."""
    for file in _files(path):
        if files.suffix_of(file) == PARQUET_SUFFIX:
            for number, (where, row) in enumerate(building.rows(file, _Raw), 1):
                value = {key: one for key, one in row.model_dump().items() if one is not None}
                yield where, f"{stem_of(file)}-{number}", value
            continue
        where = str(file.relative_to(path)) if path.is_dir() else file.name
        try:
            yield where, f"{file.resolve().parent.name}-{stem_of(file)}", files.document(file)
        except InputError as error:
            building.fault(where, "", str(error).removeprefix(f"{file} "), "not_json")


class _Raw(RowModel):
    """A row of a table of logs, with whatever it has."""

    model_config = ConfigDict(extra="allow")

    history: list[Any]
    mistake_agent: Any
    mistake_step: Any


def _add(building: Building, log: _Log, value: Any, key: str, where: str) -> None:
    try:
        process = of_messages(log.history, {**value, "mistake_step": log.mistake_step}, where)
        process_id = public_id(key)
        if building.has_process(key):
            building.fault(where, "", f"a log of the id {process_id!r} was there before")
            return
        process = replace(process, header=replace(process.header, process_id=process_id))
        held = HeldProcess.read(process)
    except InputError as error:
        building.fault(where, "history", str(error).removeprefix(f"{where}: "))
        return
    about = _about(held)
    if about is None:
        building.count("log in which no agent says anything: left out")
        return
    node, answer = about
    label: Verdict | None = Verdict.NOT_FULLY_SUPPORTED
    if log.is_correct or log.is_corrected:
        label = None
        building.count("log whose answer is noted as correct: its claim has no label")
    mistake = _mistake(process, held)
    if mistake is None:
        building.count("log whose mistake is at no message with a text: no error stage")
    if not held.roots:
        building.count("log without a text of a tool or a file: no claim can be traced to a source")
    building.read_process(process_id, process)
    reason = (log.mistake_reason or "").strip()
    building.claim(
        where,
        process_id=process_id,
        claim_id="answer",
        text=f'The answer to "{log.question.strip()}" is: {answer}',
        node_id=node.node_id,
        label=label,
        label_origin=f"Who&When: {log.mistake_agent}, step {log.mistake_step}",
        labels=(annotation("Who&When", AnnotatorLabel.NOT_FULLY_SUPPORTED, reason),),
        error_stages=None if mistake is None else (mistake.stage,),
    )


def _about(held: HeldProcess) -> tuple[NodeRef, str] | None:
    """The last thing that an agent said besides that it ends, and the node that it said it in."""
    last = held.node_of(None)
    generated = [one for one in held.nodes if one.role is not Role.ROOT and one != last]
    generated.sort(key=lambda one: (one.stage, one.node_id))
    for node in [last, *reversed(generated)]:
        text = _SIGN.sub("", held.texts[node.node_id]).strip()
        if any(sign.isalnum() for sign in text):
            return node, text
    return None


def _mistake(process: AgentProcess, held: HeldProcess) -> NodeRef | None:
    """The node of the mistake; None: the step is no message with a text."""
    if any("is no message with a text" in one for one in process.header.warnings):
        return None
    noted = [one for one, facts in held.metadata.items() if "mistake" in facts]
    return held.node(noted[0]) if noted else None
