"""The nodes and edges of a recording, so that a reader of process files accepts all of them.

Whatever a program hands over, what is written keeps the rules: each node_id once, edges between
nodes that are there and come earlier, a stage on every node, none below that of an input.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from json.encoder import encode_basestring
from typing import Any, Literal

from veritrail_record.contract import MAX_NODE_ID, MAX_STAGE, is_deeper_than
from veritrail_record.faults import Faults
from veritrail_record.file import RecordFile
from veritrail_record.linking import CONTAINERS, KnownTexts, RecordedSpan

FIRST_STAGE = 1

_as_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode

_INFERRED = {
    None: "",
    "exact": ', "inferred": "exact", "score": 1.0',
    "order": ', "inferred": "order"',
}

Origin = Literal["source", "generated", "given"]


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts that a program states of a node besides its text and its inputs.

    Attributes:
        step: The step that made it.
        kind: What it is called.
        stage: Its stage; None: derived.
        node_id: Its id; None: made.
        question: What it answers.
        model: The model that wrote it.
        prompt: The prompt that it was written with.
        metadata: What else is known.
    """

    step: str | None = None
    kind: str | None = None
    stage: int | None = None
    node_id: str | None = None
    question: str | None = None
    model: str | None = None
    prompt: str | None = None
    metadata: Mapping[str, Any] | None = None


NO_FACTS = Facts()


class Nodes:
    """The nodes that were recorded so far; not safe for threads.

    Args:
        process_id: The process.
        file: Where it is written.
        faults: Where faults are logged.

    Attributes:
        texts: Its texts, to find nodes by.
        stages: The stage of each node, in the order of recording.
        used: Nodes that are inputs of others.
        answers: Nodes that the program named as final outputs.
        finals: Nodes that are final outputs where the program names none.
        is_generated: Whether any of it was generated, so that there is something to verify.
    """

    def __init__(self, process_id: str, file: RecordFile, faults: Faults) -> None:
        self.texts = KnownTexts(process_id)
        self.stages: dict[str, int] = {}
        self.used: set[str] = set()
        self.answers: dict[str, None] = {}
        self.finals: dict[str, None] = {}
        self.is_generated = False
        self._process_id = process_id
        self._file = file
        self._faults = faults
        self._counts: dict[str, int] = {}
        self._first_stage: int | None = None
        self._sources: dict[tuple[object, ...], str] = {}
        self._roots: set[str] = set()

    def source(self, text: object, facts: Facts) -> RecordedSpan:
        """Add source text; the same text with the same facts is one node.

        Raises:
            OSError: It cannot be written.
        """
        if not isinstance(text, str):
            return self._no_text(text)
        key = None
        if facts.node_id is None:
            metadata = repr(facts.metadata) if facts.metadata else None
            key = (len(text), hash(text), facts.step, facts.kind, metadata)
        if key is not None and key in self._sources:
            return RecordedSpan(self._sources[key], text, self._process_id)
        span = self._write("source", text, {}, facts, "source")
        self._roots.add(span.node_id)
        if key is not None:
            self._sources[key] = span.node_id
        return span

    def given(self, text: object, facts: Facts) -> RecordedSpan:
        """Add what somebody said.

        Raises:
            OSError: It cannot be written.
        """
        if not isinstance(text, str):
            return self._no_text(text)
        return self._write("given", text, {}, facts, "given")

    def generated(
        self, text: object, inputs: list[object], facts: Facts, prefix: str = "step"
    ) -> RecordedSpan:
        """Add what a step generated from its inputs.

        Raises:
            OSError: It cannot be written.
        """
        if not isinstance(text, str):
            return self._no_text(text)
        links = self.texts.links(inputs)
        for unknown in links.unknown:
            message = "an input was not recorded before; the node has no edge from it: %.60r"
            self._faults.log("input", message, unknown)
        return self._write("generated", text, links.nodes, facts, prefix)

    def answer(self, text: object, inputs: list[object], facts: Facts) -> RecordedSpan:
        """Add a final output, or take a generated text that is there as one.

        Raises:
            OSError: It cannot be written.
        """
        words = text.text if isinstance(text, RecordedSpan) else text
        known = None if inputs else next(iter(self.texts.links(text).nodes), None)
        if known is not None and isinstance(words, str):
            if known not in self._roots and facts == NO_FACTS:
                self.answers[known] = None
                return RecordedSpan(known, words, self._process_id)
            inputs = [text]
        span = self.generated(words, inputs, facts, "answer")
        if span.node_id:
            self.answers[span.node_id] = None
        return span

    def final(self, node_id: str) -> None:
        """Take a generated node as a final output where the program names none."""
        if node_id not in self._roots:
            self.finals[node_id] = None

    def result(
        self, text: str, facts: Facts, inputs: Mapping[str, str | None], inside: Collection[str]
    ) -> RecordedSpan:
        """Add what a function returned; a text that is passed on unchanged is there already.

        Args:
            text: The text.
            facts: What is known of the function.
            inputs: The nodes of its arguments, and how they were found there.
            inside: The nodes that were recorded while it ran.

        Raises:
            OSError: It cannot be written.
        """
        for known in self.texts.nodes_of(text):
            if known in inputs or known in inside:
                return RecordedSpan(known, text, self._process_id)
        sources = dict(inputs)
        for node_id in inside:
            if node_id not in self.used:
                sources.setdefault(node_id, "order")
        return self._write("generated", text, sources, facts, "step")

    def end(self, claims: Sequence[str]) -> None:
        """Write the claims of the answer and, where a reader would take others, the answers.

        Raises:
            OSError: They cannot be written.
        """
        sinks = [node for node in self.stages if node not in self.used]
        top = max((self.stages[node] for node in sinks), default=0)
        usual = [node for node in sinks if self.stages[node] == top]
        named = (self.answers, self.finals)
        found = ([node for node in nodes if node not in self.used] for nodes in named)
        terminals = next(filter(None, found), usual)
        try:
            if claims and len(terminals) == 1 and terminals[0] not in self._roots:
                about = [{"claim": {"text": one, "node_id": terminals[0]}} for one in claims]
                self._file.add("".join(f"{_as_json(one)}\n" for one in about))
            elif claims:
                message = "the claims were left out: of %s answers none is the one they are about"
                self._faults.log("claims", message, len(terminals))
        finally:
            self._file.close(terminals if set(terminals) != set(usual) else None)

    def _no_text(self, value: object) -> RecordedSpan:
        self._faults.log("type", "a %s is no text and was not recorded", type(value).__name__)
        return RecordedSpan("", "")

    def _write(
        self,
        origin: Origin,
        text: str,
        sources: Mapping[str, str | None],
        facts: Facts,
        prefix: str,
    ) -> RecordedSpan:
        """Write a node with its edges, and know its text.

        Args:
            origin: Where the text comes from.
            text: The text.
            sources: Its inputs, and how an edge was inferred, if it was.
            facts: What is known of it.
            prefix: What a made id begins with, where there is no name of a step.
        """
        stage = self._stage(facts.stage, origin, sources)
        node_id = self._node_id(facts.node_id, facts.step or prefix)
        name = encode_basestring(node_id)
        node = f'{{"node": {{"node_id": {name}, "text": {encode_basestring(text)}, "stage": {stage}'
        node += f', "origin": "{origin}"'
        for key, fact in (("kind", facts.kind), ("step", facts.step), ("question", facts.question)):
            if fact is not None:
                node += f', "{key}": {encode_basestring(str(fact))}'
        if facts.metadata or facts.model is not None or facts.prompt is not None:
            node += f', "metadata": {_as_json(self._metadata(facts))}'
        lines = [node + "}}\n"]
        for source, how in sources.items():
            facts_of_edge = _INFERRED[how]
            ends = f'"source": {encode_basestring(source)}, "target": {name}'
            lines.append(f'{{"edge": {{{ends}{facts_of_edge}}}}}\n')
        try:
            self._file.add("".join(lines))
        except UnicodeEncodeError:
            self._faults.log("character", "half a character in a text was replaced")
            self._file.add(whole("".join(lines)))
        if self._first_stage is None:
            self._first_stage = min(stage, FIRST_STAGE) if origin != "source" else stage
        self.stages[node_id] = stage
        self.is_generated |= origin == "generated"
        self.used.update(sources)
        self.texts.add(text, node_id)
        return RecordedSpan(node_id, text, self._process_id)

    def _node_id(self, given: object, prefix: str) -> str:
        if isinstance(given, str) and 0 < len(given) <= MAX_NODE_ID and whole(given) == given:
            if given not in self.stages:
                return given
            self._faults.log("node_id", "a node %r is there already; another id was made", given)
            prefix = given
        elif given is not None:
            self._faults.log("node_id", "%.80r is no node_id; an id was made", given)
        prefix = whole(str(prefix))[: MAX_NODE_ID - 20]
        while True:
            number = self._counts[prefix] = self._counts.get(prefix, 0) + 1
            if (made := f"{prefix}/{number}") not in self.stages:
                return made

    def _stage(self, given: object, origin: Origin, sources: Mapping[str, Any]) -> int:
        """A stage that keeps the rules: roots have the lowest, and no edge leads down."""
        wanted: int | None = None
        try:
            wanted = None if given is None else operator.index(given)  # type: ignore[arg-type]
        except TypeError:
            self._faults.log("stage", "%.80r is no stage; a stage was derived", given)
        lowest = self._first_stage
        if lowest is None:
            lowest = FIRST_STAGE if wanted is None else max(0, min(wanted, MAX_STAGE))
            lowest = lowest if origin == "source" else min(lowest, FIRST_STAGE)
        above = lowest - 1
        for source in sources:
            if self.stages[source] > above:
                above = self.stages[source]
        if origin == "source":
            found = lowest
        else:
            found = above + 1 if wanted is None else max(wanted, above, lowest)
            found = min(found, MAX_STAGE)
        if wanted is not None and found != wanted:
            message = "stage %s breaks the order of stages; the node has stage %s"
            self._faults.log("stage_order", message, wanted, found)
        return found

    def _metadata(self, facts: Facts) -> dict[str, Any]:
        """Return what else is known, as JSON; values that are none become texts."""
        found: dict[str, Any] = {}
        if facts.metadata:
            try:
                read = json.loads(json.dumps({**facts.metadata}, default=str, allow_nan=False))
                is_too_deep = is_deeper_than(read)
            except Exception:  # noqa: BLE001  # also what a `__str__` of the program raises
                is_too_deep = True
            if is_too_deep:
                self._faults.log("metadata", "metadata was left out: it is no JSON")
            else:
                found = read
        for key in ("model", "prompt"):
            if (fact := getattr(facts, key)) is not None:
                found[key] = str(fact)
        return found


def header_line(header: Mapping[str, Any], terminals: list[str] | None) -> str:
    """The first line of the file."""
    named = {} if terminals is None else {"terminals": terminals}
    return whole(_as_json({**header, **named})) + "\n"


def whole(text: str) -> str:
    """A text without halves of characters, which cannot be stored."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def listed(inputs: object) -> list[object]:
    """Inputs as a list, also those of a generator; what can be none is named by its type."""
    if isinstance(inputs, str | RecordedSpan) or not isinstance(inputs, Iterable):
        inputs = [inputs]
    return [
        one if isinstance(one, (str, RecordedSpan, *CONTAINERS)) else f"<{type(one).__name__}>"
        for one in inputs
    ]
