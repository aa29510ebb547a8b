"""Reading attributions: what `veritrail attribute --json` prints, or JSON Lines of anyone.

A line is `{"id", "attributed": [["node", 3]]}`, perhaps with `label` and `categories`. In both
forms an attributed sentence may be an object, with text, offset and categories of its own; and a
sentence may have `propositions`, each with `attributed`: it rests on what these rest on together.

Source: formats.md 8.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

from veritrail_eval.attribution.model import (
    Attribution,
    AttributionFile,
    Passage,
    SourceSentence,
    Statement,
)
from veritrail_eval.tables import Choice, word_of
from veritrail_graph.graph.errors import InputError, Violation, shown
from veritrail_graph.graph.importers import files
from veritrail_graph.graph.model.attribution import AttributionCategory, Faithfulness

LINE_KEYS = (
    "id",
    "attributed",
    "propositions",
    "categories",
    "label",
    "status",
    "text",
    "documents",
)
MOST_FAULTS = 1_000
"""Faults that are listed."""

OPEN = "open"
"""The status of a sentence that is still to be attributed; its label may be known."""
_SUCCEEDED = "succeeded"
_SHAPES = (
    'must be {"id", "attributed": [["node", 3]]}, or the document that '
    "`veritrail attribute --json` prints"
)

_LINKING = frozenset(("attributed", "propositions"))
_Link: TypeAlias = tuple[SourceSentence, frozenset[AttributionCategory] | None]


def read_attributions(path: Path) -> AttributionFile:
    """Read a file of attributions; the form is seen from its values.

    Several documents of `veritrail attribute --json` may be lines of JSON Lines or entries of an
    array; then process_ids are put before the ids of sentences and nodes.

    Raises:
        InputError: It cannot be read, holds no sentence, or has faults, which are all listed.
    """
    if not path.exists():
        raise InputError(f"{path}: no such file")
    if path.is_dir():
        raise InputError(f"{path} is a folder; name a file of attributions.")
    values = list(_values(path))
    if not values:
        raise InputError(f"{path} is empty.")
    documents = sum(isinstance(value, dict) and "nodes" in value for _, value in values)
    reading = _Reading(path, is_qualified=documents > 1)
    if documents == len(values) == 1 and _is_id(name := values[0][1].get("process_id")):
        reading.process_id = name
    for where, value in values:
        reading.take(where, value)
    return reading.finished()


def _values(path: Path) -> Iterator[tuple[str, Any]]:
    """Every value with its place; an InputError in the place of one that cannot be read."""
    if files.is_lines(path):
        for number, value in files.json_lines(path):
            yield f"line {number}", value
        return
    whole = files.document(path)
    if isinstance(whole, list):
        yield from ((f"entry {number}", value) for number, value in enumerate(whole, start=1))
    else:
        yield "", whole


@dataclass
class _Reading:
    """The state of reading a file of attributions.

    Attributes:
        path: The file.
        is_qualified: Whether ids of nodes are unique within their process only.
        process_id: The process, where the file is one document.
    """

    path: Path
    is_qualified: bool
    sentences: dict[str, Attribution] = field(default_factory=dict)
    passages: dict[SourceSentence, Passage] = field(default_factory=dict)
    statements: dict[str, Statement] = field(default_factory=dict)
    failed: dict[str, None] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)
    unused: dict[str, None] = field(default_factory=dict)
    faults: list[Violation] = field(default_factory=list)
    process_id: str | None = None

    def wrong(self, where: str, message: str, kind: str = "wrong_value") -> None:
        self.faults.append(Violation(kind, where or "the document", message))

    def take(self, where: str, value: Any) -> None:
        """Read one value of the file."""
        if isinstance(value, InputError):
            self.wrong(where, str(value).removeprefix(f"{self.path}, {where}: "), "not_json")
        elif isinstance(value, dict) and "nodes" in value:
            self._take_document(where, value)
        elif isinstance(value, dict) and "id" in value and value.keys() & _LINKING:
            self.unused.update(dict.fromkeys(key for key in value if key not in LINE_KEYS))
            sentence_id = self._line_id(where, value["id"])
            if sentence_id is not None:
                self._take_sentence(where, sentence_id, value, value.get("label"), "label", "")
        else:
            self.wrong(where, _SHAPES, "unknown_shape")

    def finished(self) -> AttributionFile:
        """The file.

        Raises:
            InputError: There are faults, or no sentences.
        """
        if self.faults:
            count = len(self.faults)
            number = "a fault" if count == 1 else f"{count} faults"
            raise InputError(
                f"{self.path} has {number}; nothing was computed.", self.faults[:MOST_FAULTS]
            )
        if not self.statements:
            raise InputError(f"{self.path} holds no sentences.")
        notes = []
        if self.unused:
            names = ", ".join(map(shown, self.unused))
            notes.append(f"{self.path}: keys that are not used: {names}.")
        return AttributionFile(
            self.sentences,
            self.passages,
            tuple(self.failed),
            notes,
            self.statements,
            self.process_id,
        )

    def _line_id(self, where: str, value: Any) -> str | None:
        if _is_id(value):
            return str(value)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if isinstance(value, list):
            source = self._pair(f"{where}, id", value, "")
            return None if source is None else _joined(*source)
        self.wrong(_at(where, "id"), "must be a text, a whole number or a pair such as ['t', 3]")
        return None

    def _take_document(self, where: str, document: Mapping[str, Any]) -> None:
        process_id = document.get("process_id")
        prefix = ""
        if self.is_qualified:
            if not _is_id(process_id):
                self.wrong(_at(where, "process_id"), "must tell this document from the others")
                return
            prefix = f"{process_id}/"
        for number, node in enumerate(self._list(where, "nodes", document["nodes"])):
            place = _at(where, f"nodes[{number}]")
            node_id = node.get("node_id") if isinstance(node, dict) else None
            if not isinstance(node, dict) or not _is_id(node_id):
                self.wrong(place, "must be an object with a node_id and sentences")
                continue
            for index, sentence in enumerate(self._list(place, "sentences", node.get("sentences"))):
                inside = f"{place}.sentences[{index}]"
                if not isinstance(sentence, dict):
                    self.wrong(inside, "must be an object")
                    continue
                source = self._pair(inside, [node_id, sentence.get("sentence")], prefix)
                if source is not None:
                    label = sentence.get("judged_label")
                    self._take_sentence(
                        inside, _joined(*source), sentence, label, "judged_label", prefix
                    )

    def _list(self, where: str, key: str, value: Any) -> list[Any]:
        if isinstance(value, list):
            return value
        self.wrong(_at(where, key), "must be a list")
        return []

    def _take_sentence(
        self,
        where: str,
        sentence_id: str,
        value: Mapping[str, Any],
        label: Any,
        label_key: str,
        prefix: str,
    ) -> None:
        before = self.places.setdefault(sentence_id, where)
        if before != where:
            message = f"{shown(sentence_id)} is there already, at {before}; keep one"
            self.wrong(where, message, "duplicate")
            return
        statement = self._statement(where, sentence_id, value, label, label_key)
        self.statements[sentence_id] = statement
        if value.get("status") == OPEN:
            return
        if value.get("status") not in (None, _SUCCEEDED):
            self.failed[sentence_id] = None
            return
        faults = len(self.faults)
        parts = self._propositions(where, value, prefix)
        links = [link for part in parts for link in part]
        if value.get("attributed") is not None or not parts:
            whole = self._links(where, value.get("attributed"), prefix)
            if parts and {source for source, _ in whole} != {source for source, _ in links}:
                message = "must name what the propositions name together, or be left out"
                self.wrong(_at(where, "attributed"), message, "conflict")
            links = links or whole
        given = self._own_categories(where, value, has_links=bool(links))
        if len(self.faults) == faults:
            categories = _united([each for _, each in links]) if given is None else given
            sources = frozenset(source for source, _ in links)
            label = statement.label
            if label is None and any(not part for part in parts):
                label = Faithfulness.UNFAITHFUL  # a proposition of it rests on nothing
            found = Attribution(sentence_id, sources, categories, label)
            self.sentences[sentence_id] = found
            self.statements[sentence_id] = replace(statement, label=found.known_label)

    def _links(self, where: str, value: Any, prefix: str) -> list[_Link]:
        """The source sentences of a sentence, or of a proposition, with their categories."""
        links: list[_Link] = []
        for number, link in enumerate(self._list(where, "attributed", value)):
            place = _at(where, f"attributed[{number}]")
            source = self._source(place, link, prefix)
            if source is not None:
                links.append((source, self._categories_of_link(place, link)))
        return links

    def _propositions(self, where: str, value: Mapping[str, Any], prefix: str) -> list[list[_Link]]:
        """The source sentences of each proposition; empty: the sentence is not split."""
        if value.get("propositions") is None:
            return []
        found: list[list[_Link]] = []
        for number, one in enumerate(self._list(where, "propositions", value["propositions"])):
            place = _at(where, f"propositions[{number}]")
            if not isinstance(one, dict):
                self.wrong(
                    place, 'must be an object such as {"spans": [[0, 12]], "attributed": []}'
                )
                found.append([])
                continue
            if "spans" in one and not _are_spans(one["spans"]):
                message = "must be pairs [start, end) in order, such as [[0, 12], [20, 31]]"
                self.wrong(f"{place}.spans", message)
            found.append(self._links(place, one.get("attributed"), prefix))
        return found

    def _statement(
        self, where: str, sentence_id: str, value: Mapping[str, Any], label: Any, label_key: str
    ) -> Statement:
        text, documents = value.get("text"), value.get("documents")
        if text is not None and not isinstance(text, str):
            self.wrong(_at(where, "text"), "must be a text or null")
            text = None
        if documents is not None and not (
            isinstance(documents, list) and documents and all(map(_is_id, documents))
        ):
            self.wrong(_at(where, "documents"), "must be a list of the node_ids of the sources")
            documents = None
        known = self._choice(_at(where, label_key), label, Faithfulness)
        return Statement(sentence_id, text, known, tuple(documents or ()))

    def _source(self, where: str, link: Any, prefix: str) -> SourceSentence | None:
        if isinstance(link, list):
            return self._pair(where, link, prefix)
        if not isinstance(link, dict):
            message = 'must be a pair such as ["node", 3], or an object with node_id and sentence'
            self.wrong(where, message)
            return None
        source = self._pair(where, [link.get("node_id"), link.get("sentence")], prefix)
        text, start = link.get("text"), link.get("start")
        if text is not None and not isinstance(text, str):
            self.wrong(f"{where}.text", "must be a text or null")
        elif start is not None and not _is_place(start):
            self.wrong(f"{where}.start", "must be a whole number of at least 0, or null")
        elif source is not None and text is not None:
            end = link.get("end")
            if start is not None and end is not None and end != start + len(text):
                message = f"must be {start + len(text)}, where the text ends that begins at {start}"
                self.wrong(f"{where}.end", message)
            first = self.passages.setdefault(source, Passage(text, start))
            if (first.text, first.start) != (text, start):
                message = f"sentence {source[1]} of {shown(source[0])} had another text or offset"
                self.wrong(where, message, "conflict")
        return source

    def _pair(self, where: str, pair: Sequence[Any], prefix: str) -> SourceSentence | None:
        if len(pair) == 2 and _is_id(pair[0]) and _is_place(pair[1]):
            return f"{prefix}{pair[0]}", pair[1]
        message = 'must name a node and a sentence from 0 on, such as ["node", 3]'
        self.wrong(where, message)
        return None

    def _categories_of_link(self, where: str, link: Any) -> frozenset[AttributionCategory] | None:
        value = link.get("categories") if isinstance(link, dict) else None
        if value is None or value == []:  # an engine that does not categorise
            return None
        return self._categories(f"{where}.categories", value)

    def _own_categories(
        self, where: str, value: Mapping[str, Any], *, has_links: bool
    ) -> frozenset[AttributionCategory] | None:
        """The categories that the sentence itself has; None: it has none."""
        if value.get("categories") is None:
            return None
        place = _at(where, "categories")
        found = self._categories(place, value["categories"])
        if bool(value["categories"]) is not has_links:
            message = "must be empty where nothing is attributed, and only there"
            self.wrong(place, message, "conflict")
        return found

    def _categories(self, where: str, value: Any) -> frozenset[AttributionCategory]:
        entries = value if isinstance(value, list) else [value]
        found = [self._category(where, entry) for entry in entries]
        return frozenset(one for one in found if one is not None)

    def _category(self, where: str, value: Any) -> AttributionCategory | None:
        known = AttributionCategory.named(value) if isinstance(value, str) else None
        return known or self._choice(where, "" if value is None else value, AttributionCategory)

    def _choice(self, where: str, value: Any, choices: type[Choice]) -> Choice | None:
        if value is None:
            return None
        known = word_of(value, choices) if isinstance(value, str) else None
        if known is None:
            what = shown(value) if isinstance(value, str) else f"a value of type {_kind(value)}"
            self.wrong(where, f"{what} is none of {', '.join(choices)}", "unknown_value")
        return known


def _are_spans(value: Any) -> bool:
    """Return whether a value is a list of stretches that are in order, apart and not empty."""
    if not isinstance(value, list) or not value:
        return False
    if not all(
        isinstance(one, list) and len(one) == 2 and all(map(_is_place, one)) for one in value
    ):
        return False
    places = [place for one in value for place in one]
    return all(start < end for start, end in value) and places == sorted(places)


def _joined(node_id: str, sentence: int) -> str:
    return f"{node_id}:{sentence}"


def _at(where: str, key: str) -> str:
    return f"{where}, {key}" if where else key


def _is_id(value: Any) -> bool:
    """Return whether a value is a text that is not empty and holds no half character."""
    if not isinstance(value, str) or not value:
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_place(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _kind(value: Any) -> str:
    names = {bool: "true or false", dict: "object", list: "list"}
    return names.get(type(value), "number")


def _united(
    categories: Sequence[frozenset[AttributionCategory] | None],
) -> frozenset[AttributionCategory] | None:
    found: set[AttributionCategory] = set()
    for each in categories:
        if each is None:
            return None
        found |= each
    return frozenset(found)
