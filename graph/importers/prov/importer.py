"""PROV-JSON: entities with a text are nodes, derivations and activities make the edges.

An export of ours holds all that a process file holds, and is read as one.

Source: PROV-DM and PROV-JSON (W3C).
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers import files
from veritrail_graph.graph.importers.draft import Draft
from veritrail_graph.graph.importers.process_file import reading
from veritrail_graph.graph.importers.process_file.importer import document_input
from veritrail_graph.graph.importers.process_file.schema import FORMAT, LISTS
from veritrail_graph.graph.importers.prov.document import (
    DERIVATIONS,
    Document,
    Element,
    Name,
    NotText,
    Relation,
    fault_of,
)
from veritrail_graph.graph.importers.records import Header, ProcessInput, names_its_maker
from veritrail_graph.graph.importers.registry import Found, ImportOptions
from veritrail_graph.graph.model import Origin
from veritrail_graph.graph.model.noun import MAX_NODE_ID, MAX_STAGE
from veritrail_graph.graph.prov_names import (
    KINDS,
    NAMESPACE,
    NUMBER,
    PROV,
    RECORD,
    begins_as_ours,
    local_name,
)

NAME = "prov"
TEXTS = ("text", "content", "body", "fullText", "full_text", "page_content", "chars", "isString")
"""Local names of attributes that hold a text, in any namespace; ours and prov:value come first."""
LABELS = (
    f"{PROV}label",
    "http://www.w3.org/2000/01/rdf-schema#label",
    "http://www.w3.org/2004/02/skos/core#prefLabel",
    "http://purl.org/dc/terms/description",
    "http://purl.org/dc/terms/title",
)
"""Attributes that are taken for texts where no entity of the document has one."""
_OWN = ("text", "stage", "kind", "step", "origin", "question", "role", NUMBER)
_FOAF_NAME = "http://xmlns.com/foaf/0.1/name"
_NAMES_SHOWN = 5
_SOFTWARE = f"{PROV}SoftwareAgent"


class ProvImporter:
    """Reads PROV-JSON."""

    name = NAME
    description = "PROV-JSON documents whose entities hold texts, and PROV exports of processes"
    extra = None
    options = frozenset({"question"})

    def detect(self, path: Path) -> str | None:
        """By the keys of the document, or by what an export of ours begins with."""
        if not path.is_file():
            return "not a file"
        if _is_ours(path):
            return None
        value = files.first_value(path)
        if isinstance(value, list):
            value = value[0] if value else None
        return fault_of(value)

    def processes(self, path: Path, options: ImportOptions) -> Iterator[Found]:
        """One a document.

        Raises:
            InputError: The file cannot be read at all.
        """
        if not path.is_file():
            raise InputError(f"{path} is not a file")
        if _is_ours(path) or not (files.is_lines(path) or _is_list(path)):
            yield Found(str(path), partial(_open, path, options))
            return
        for number, value in files.values(path):
            where = f"{path}#{number}"
            yield Found(where, partial(_process, value, path, where, options))


def _is_ours(path: Path) -> bool:
    try:
        with reading.open_bytes(path) as file:
            return begins_as_ours(file.read(100))
    except (InputError, OSError, EOFError, zlib.error):
        return False


def _is_list(path: Path) -> bool:
    return isinstance(files.first_value(path), list)


def _open(path: Path, options: ImportOptions) -> ProcessInput:
    return _process(files.document(path), path, str(path), options)


def _process(value: Any, path: Path, where: str, options: ImportOptions) -> ProcessInput:
    if isinstance(value, InputError):
        raise value
    document = Document.read(value, where)
    entities = document.elements["entity"].values()
    if any(NAMESPACE + KINDS["process"] in one.types() for one in entities):
        return document_input(path, _process_file(document))
    return _Reading(document, options).draft()


def _process_file(document: Document) -> dict[str, Any]:
    """The process file that an export of ours holds."""
    found: dict[str, Any] = {name: [] for name in LISTS}
    kinds = {NAMESPACE + type_: kind for kind, type_ in KINDS.items()}
    names: dict[str, str] = {}
    numbered: dict[str, list[tuple[int, dict[str, Any]]]] = {kind: [] for kind in KINDS}
    for section in ("entity", "activity"):
        for iri, one in document.elements[section].items():
            kind = next((kinds[type_] for type_ in one.types() if type_ in kinds), None)
            if kind is None:
                continue
            own = one.own()
            number = own.pop(NUMBER, 0)
            if kind == "node":
                own.pop("role", None)
                names[iri] = own.get("node_id", "")
            record = own.get(RECORD, own) if kind == "verification" else own
            numbered[kind].append((number if isinstance(number, int) else 0, record))
    for kind, records in numbered.items():
        if kind != "process":
            found[f"{kind}s"] = [one for _, one in sorted(records, key=lambda pair: pair[0])]
    for relation in document.relations["wasDerivedFrom"]:
        ends = [names.get(relation.ends.get(key, "")) for key in ("usedEntity", "generatedEntity")]
        if None not in ends:
            found["edges"].append({"source": ends[0], "target": ends[1], **relation.more.own()})
    return {"format": FORMAT, **numbered["process"][0][1], **found}


class _Reading:
    """Makes a process of a document that is not ours."""

    def __init__(self, document: Document, options: ImportOptions) -> None:
        self._document = document
        self._options = options
        self._where = document.where
        self._entities = document.elements["entity"]
        self._made_by: dict[str, list[Relation]] = {}
        for one in document.relations["wasGeneratedBy"]:
            if "entity" in one.ends and "activity" in one.ends:
                self._made_by.setdefault(one.ends["entity"], []).append(one)
        self._inputs = self._direct_inputs()
        self._responsible: dict[str, list[str]] = {}
        for section, key in (("wasAttributedTo", "entity"), ("wasAssociatedWith", "activity")):
            for one in document.relations[section]:
                if key in one.ends and "agent" in one.ends:
                    self._responsible.setdefault(one.ends[key], []).append(one.ends["agent"])
        self._texts: dict[str, str] = {}
        self._text_names: dict[str, str] = {}
        self._are_labels = False
        self._find_texts()
        self._warnings: list[str] = []

    def draft(self) -> Draft:
        """The process.

        Raises:
            InputError: No entity has a text, or several have one and no edge joins any.
        """
        if not self._texts:
            raise InputError(
                f"{self._where}: none of its {len(self._entities):,} entities has a text"
                f"{_first(self._shown(iri) for iri in self._entities)}. Write the texts into "
                f"prov:value, or into 'text' of the namespace {NAMESPACE}."
            )
        edges, bridged = self._edges()
        if len(self._texts) > 1 and not edges:
            raise InputError(
                f"{self._where}: {len(self._texts):,} entities have a text, and nothing says which "
                "was made from which. Record wasDerivedFrom, or used and wasGeneratedBy."
            )
        self._warn(bridged)
        draft = Draft(Header(NAME, question=self._options.question, warnings=tuple(self._warnings)))
        stages = {iri: _stage(self._entities[iri]) for iri in self._texts}
        has_stages = None not in stages.values()
        names = {}
        for iri, text in self._texts.items():
            one = self._entities[iri]
            metadata = self._metadata(iri, one)
            origin = self._origin(iri, one, metadata, has_inputs=bool(edges.get(iri)))
            names[iri] = draft.node(
                self._node_id(iri),
                text,
                f"{self._where}: entity {one.name}",
                origin=origin,
                kind=self._kind(one),
                step=self._step(iri, one),
                stage=stages[iri] if has_stages else None,
                metadata=metadata,
                question=_text_of(one.own().get("question")),
            )
        for target, sources in edges.items():
            for source in sources:
                draft.edge(names[source], names[target], f"{self._where}: {self._shown(target)}")
        return draft

    def _find_texts(self) -> None:
        """Texts by entity; their labels, where the whole document has no text."""
        for iri, one in self._entities.items():
            found = _text(one)
            if found is not None:
                self._text_names[iri], self._texts[iri] = found
        if self._texts:
            return
        self._are_labels = True
        for iri, one in self._entities.items():
            name = next((name for name in LABELS if _text_of(one.first(name))), None)
            if name is not None:
                self._text_names[iri] = name
                self._texts[iri] = _text_of(one.first(name)) or ""

    def _direct_inputs(self) -> dict[str, list[str]]:
        """Entities that an entity was made from, also those without a text.

        Derivations are the surer statement: where an entity has any, what its activity used
        besides is left aside.
        """
        inputs: dict[str, dict[str, None]] = {}
        for section in DERIVATIONS:
            for one in self._document.relations[section]:
                if "generatedEntity" in one.ends and "usedEntity" in one.ends:
                    made = inputs.setdefault(one.ends["generatedEntity"], {})
                    made[one.ends["usedEntity"]] = None
        used: dict[str, list[Relation]] = {}
        for one in self._document.relations["used"]:
            if "entity" in one.ends and "activity" in one.ends:
                used.setdefault(one.ends["activity"], []).append(one)
        for entity, makers in self._made_by.items():
            if entity in inputs:
                continue
            for maker in makers:
                for one in used.get(maker.ends["activity"], ()):
                    if not _is_later(one, maker):
                        inputs.setdefault(entity, {})[one.ends["entity"]] = None
        return {entity: [one for one in found if one != entity] for entity, found in inputs.items()}

    def _edges(self) -> tuple[dict[str, list[str]], int]:
        """Inputs with a text by entity with a text, and how many edges lead over others."""
        edges: dict[str, list[str]] = {}
        bridged = 0
        for target in self._texts:
            found: dict[str, None] = {}
            seen: set[str] = {target}
            waiting = list(reversed(self._inputs.get(target, ())))
            direct = set(waiting)
            while waiting:
                one = waiting.pop()
                if one in seen:
                    continue
                seen.add(one)
                if one in self._texts:
                    found[one] = None
                    bridged += one not in direct
                else:
                    waiting += reversed(self._inputs.get(one, ()))
            if found:
                edges[target] = list(found)
        return edges, bridged

    def _warn(self, bridged: int) -> None:
        named = dict.fromkeys([*self._entities, *self._inputs])
        named.update(dict.fromkeys(one for some in self._inputs.values() for one in some))
        without = [self._shown(iri) for iri in named if iri not in self._texts]
        if self._are_labels:
            self._warnings.append(
                "No entity has a text. Labels are taken for texts, and verdicts about them say "
                f"little: {len(self._texts):,} of {len(self._entities):,} entities have one"
            )
        if without:
            is_one = len(without) == 1
            what = "1 entity has" if is_one else f"{len(without):,} entities have"
            end = "is not a node" if is_one else "are not nodes"
            self._warnings.append(f"{what} no text and {end}{_first(without)}")
        if bridged:
            what = "1 edge leads" if bridged == 1 else f"{bridged:,} edges lead"
            self._warnings.append(f"{what} over entities without a text.")
        if self._document.unread:
            counts = sorted(self._document.unread.items())
            self._warnings.append(
                "Relations that say nothing of the flow of texts were not read: "
                + ", ".join(f"{count:,} {name}" for name, count in counts)
            )

    def _origin(
        self, iri: str, one: Element, metadata: Mapping[str, Any], *, has_inputs: bool
    ) -> Origin:
        """Source text only where nothing says that the entity was made by the process."""
        own = one.own().get("origin")
        if own in tuple(Origin):
            return Origin(own)
        is_made = has_inputs or iri in self._made_by or iri in self._inputs
        is_made = is_made or names_its_maker(metadata)
        return Origin.GENERATED if is_made else Origin.SOURCE

    def _metadata(self, iri: str, one: Element) -> dict[str, Any]:
        """Its other attributes, its activity, and who is responsible for it."""
        found: dict[str, Any] = {}
        for name, values in one.values.items():
            own = name.removeprefix(NAMESPACE)
            if name in (f"{PROV}type", self._text_names[iri]) or (own != name and own in _OWN):
                continue
            plain = [_plain(value) for value in values]
            key = own if own != name else one.shown[name]
            found[key] = plain[0] if len(plain) == 1 else plain
        activities = [maker.ends["activity"] for maker in self._made_by.get(iri, ())]
        if activities:
            found["activity"] = ", ".join(map(self._shown, activities))
        agents: dict[str, dict[str, None]] = {}
        for agent in dict.fromkeys(
            name for key in (iri, *activities) for name in self._agents(key)
        ):
            known = self._document.elements["agent"].get(agent)
            kind = "model" if known is not None and _SOFTWARE in known.types() else "agent"
            agents.setdefault(kind, {})[self._called(agent)] = None
        return found | {kind: ", ".join(names) for kind, names in agents.items()}

    def _agents(self, iri: str) -> Sequence[str]:
        """IRIs of the agents of an entity or an activity."""
        return self._responsible.get(iri, ())

    def _called(self, iri: str) -> str:
        """The label of an agent, else its name."""
        known = self._document.elements["agent"].get(iri)
        labels = [known.first(name) for name in (*LABELS, _FOAF_NAME)] if known else []
        return next(filter(None, map(_text_of, labels)), None) or _local(self._shown(iri))

    def _kind(self, one: Element) -> str | None:
        return _text_of(one.own().get("kind")) or _type_of(one)

    def _step(self, iri: str, one: Element) -> str | None:
        """Return what made it: a type or a label of its activity, else the name of that."""
        own = _text_of(one.own().get("step"))
        makers = self._made_by.get(iri)
        if own is not None or not makers:
            return own
        activity = makers[0].ends["activity"]
        known = self._document.elements["activity"].get(activity)
        if known is None:
            return _local(self._shown(activity))
        label = _text_of(known.own().get("step")) or _type_of(known) or _label(known)
        return label or _local(self._shown(activity))

    def _shown(self, iri: str) -> str:
        return self._document.names.get(iri, iri)

    def _node_id(self, iri: str) -> str:
        name = self._shown(iri)
        return name if len(name) <= MAX_NODE_ID else local_name("entity", name)


def _text(one: Element) -> tuple[str, str] | None:
    """The attribute that holds the text of an entity, and the text; None: it has none."""
    names = [f"{NAMESPACE}text", f"{PROV}value"]
    for wanted in TEXTS:
        names += [name for name in one.values if _local(name) == wanted]
    for name in names:
        text = _text_of(one.values.get(name))
        if text is not None:
            return name, text
    return None


def _label(one: Element) -> str | None:
    return next(filter(None, (_text_of(one.first(name)) for name in LABELS)), None)


def _text_of(value: Any) -> str | None:
    """A value as text, several on lines of their own; None for a missing or empty one."""
    some = value if isinstance(value, list) else [value]
    texts = [
        str(one)
        for one in some
        if isinstance(one, (str, int, float))
        and not isinstance(one, (bool, Name, NotText))
        and str(one).strip()
    ]
    return "\n".join(texts) or None


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, str) else value


def _type_of(one: Element) -> str | None:
    """The local name of its first type that is not of PROV itself."""
    return next((_local(type_) for type_ in one.types() if not type_.startswith(PROV)), None)


def _local(name: str) -> str:
    """Return what stands behind the namespace of a name."""
    local = name.rstrip("#/:")
    for end in ("#", "/", ":"):
        local = local.rpartition(end)[2]
    return local or name


def _stage(one: Element) -> int | None:
    stage = one.own().get("stage")
    if isinstance(stage, str) and stage.isascii() and stage.isdigit() and len(stage) <= 9:
        stage = int(stage)
    is_stage = isinstance(stage, int) and not isinstance(stage, bool) and 0 <= stage <= MAX_STAGE
    return stage if is_stage else None


def _is_later(used: Relation, made: Relation) -> bool:
    """Return whether a use came after the generation: then it went into something else."""
    at = [_time(one.more.first(f"{PROV}time")) for one in (used, made)]
    return at[0] is not None and at[1] is not None and at[0] > at[1]


def _time(value: Any) -> datetime | None:
    try:
        at = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None
    return at if at.tzinfo is not None else at.replace(tzinfo=UTC)


def _first(names: Iterable[str]) -> str:
    """The first of some names, behind a colon; nothing where there are none."""
    some = list(names)
    more = ", …" if len(some) > _NAMES_SHOWN else ""
    return f": {', '.join(some[:_NAMES_SHOWN])}{more}" if some else ""
