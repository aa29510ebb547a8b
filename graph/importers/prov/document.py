"""A PROV-JSON document as plain values: names resolved, literals read, bundles joined.

Source: PROV-DM and PROV-JSON (W3C).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.prov_names import JSON_TYPE, NAMESPACE, PROV, XSD

ELEMENTS = ("entity", "activity", "agent")
DERIVATIONS = ("wasDerivedFrom", "wasRevisionOf", "wasQuotedFrom", "hadPrimarySource")
READ = (*DERIVATIONS, "used", "wasGeneratedBy", "wasAssociatedWith", "wasAttributedTo")
"""Relations that are read."""
OTHERS = (
    "wasInformedBy", "wasStartedBy", "wasEndedBy", "wasInvalidatedBy", "actedOnBehalfOf",
    "wasInfluencedBy", "specializationOf", "alternateOf", "hadMember", "mentionOf",
    "hadDictionaryMember", "derivedByInsertionFrom", "derivedByRemovalFrom",
)  # fmt: skip
"""Relations that say nothing of which text went into which."""
SECTIONS = frozenset({"prefix", "bundle", *ELEMENTS, *READ, *OTHERS})

_PREFIXES = {"prov": PROV, "xsd": f"{XSD}#"}
_QUALIFIED = {f"{PROV}QUALIFIED_NAME", f"{XSD}#QName", f"{XSD}QName"}
_INTEGERS = {"int", "integer", "long", "short", "byte", "nonNegativeInteger", "positiveInteger",
             "unsignedInt", "unsignedLong", "unsignedShort", "unsignedByte"}  # fmt: skip
_FLOATS = {"double", "float", "decimal"}
_NO_TEXT = {"base64Binary", "hexBinary", "anyURI"}


class NotText(str):
    """A literal that is no text for a reader, such as an address or bytes."""

    __slots__ = ()


class Name(str):
    """The IRI of a qualified name that is a value."""

    __slots__ = ()


@dataclass(slots=True)
class Element:
    """An entity, activity or agent.

    Attributes:
        name: Its name as the document writes it.
        values: Values by IRI of the attribute, in their order.
        shown: How the document writes the names of the attributes, by IRI.
    """

    name: str
    values: dict[str, list[Any]] = field(default_factory=dict)
    shown: dict[str, str] = field(default_factory=dict)

    def first(self, iri: str) -> Any:
        """The first value of an attribute; None: it has none."""
        return next(iter(self.values.get(iri, ())), None)

    def types(self) -> list[str]:
        """IRIs of its types, as far as they are names."""
        return [str(one) for one in self.values.get(f"{PROV}type", ()) if isinstance(one, str)]

    def own(self) -> dict[str, Any]:
        """Its attributes of our namespace, by local name."""
        return {
            iri.removeprefix(NAMESPACE): values[0]
            for iri, values in self.values.items()
            if iri.startswith(NAMESPACE)
        }


@dataclass(slots=True)
class Relation:
    """A relation: IRIs of its ends by the local name of the key, and its other values."""

    ends: dict[str, str]
    more: Element


@dataclass(slots=True)
class Document:
    """A document with its bundles.

    Attributes:
        where: Where it is, for messages.
        elements: Entities, activities and agents, by section and IRI.
        relations: By section; revisions, quotations and primary sources are derivations.
        unread: How many relations there are that are not read, by section.
        names: How the document writes a name, by IRI.
    """

    where: str
    elements: dict[str, dict[str, Element]] = field(
        default_factory=lambda: {name: {} for name in ELEMENTS}
    )
    relations: dict[str, list[Relation]] = field(
        default_factory=lambda: {name: [] for name in READ}
    )
    unread: dict[str, int] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, value: Any, where: str) -> Document:
        """Read the JSON value of a document.

        Raises:
            InputError: It is not PROV-JSON; the message says where.
        """
        fault = fault_of(value)
        if fault is not None:
            raise InputError(f"{where}: {fault}")
        document = cls(where)
        document._container(value, where, _PREFIXES)
        return document

    def _container(self, value: Any, where: str, known: Mapping[str, str]) -> None:
        prefixes = {**known, **_prefixes(value, where)}
        reading = _Names(prefixes, self.names)
        for section in ELEMENTS:
            for name, one in _records(value, section, where):
                found = self.elements[section].setdefault(reading.iri(name), Element(name))
                reading.attributes(one, found)
        for section in (*READ, *OTHERS):
            for name, one in _records(value, section, where):
                if section in OTHERS:
                    self.unread[section] = self.unread.get(section, 0) + 1
                else:
                    place = f"{where}: {section} {name}"
                    self.relations[section].append(reading.relation(one, place))
        bundles = value.get("bundle") or {}
        if not isinstance(bundles, dict):
            raise InputError(f"{where}: 'bundle' must be an object of documents by their names.")
        for name, bundle in bundles.items():
            place = f"{where}: bundle {name}"
            if not isinstance(bundle, dict):
                raise InputError(f"{place} must be an object, not {_kind(bundle)}.")
            self._container(bundle, place, prefixes)


def fault_of(value: Any) -> str | None:
    """Return why a JSON value is no PROV-JSON; None when it is."""
    if not isinstance(value, dict):
        return "no JSON object"
    unknown = [key for key in value if key not in SECTIONS]
    if unknown:
        return f"keys that PROV-JSON does not have: {', '.join(map(repr, unknown[:3]))}"
    if not isinstance(value.get("entity", value.get("bundle")), dict):
        return "no entities: neither 'entity' nor 'bundle' is an object"
    if len(value) == 1 and "entity" in value:
        return "nothing but entities: neither prefixes nor relations"
    return None


@dataclass(slots=True)
class _Names:
    """Reads the names and values of one container."""

    prefixes: Mapping[str, str]
    written: dict[str, str]

    def iri(self, name: str) -> str:
        """The IRI of a qualified name; a name without a known prefix is one itself."""
        prefix, colon, local = name.partition(":")
        if colon and prefix in self.prefixes:
            found = self.prefixes[prefix] + local
        elif not colon and "default" in self.prefixes:
            found = self.prefixes["default"] + name
        else:
            found = name
        self.written.setdefault(found, name)
        return found

    def attributes(self, value: Mapping[str, Any], into: Element) -> None:
        """Add the values of a record."""
        for name, given in value.items():
            iri = self.iri(name)
            into.shown.setdefault(iri, name)
            kept = into.values.setdefault(iri, [])
            for one in given if isinstance(given, list) else [given]:
                read = self._literal(one, is_name=iri == f"{PROV}type")
                if read is not None:
                    kept.append(read)
            if not kept:
                del into.values[iri]

    def relation(self, value: Mapping[str, Any], place: str) -> Relation:
        """A relation with its ends."""
        ends, more = {}, {}
        for name, given in value.items():
            if self.iri(name).startswith(PROV) and name.partition(":")[2] in _ENDS:
                if not isinstance(given, str):
                    raise InputError(f"{place}: {name} must be a name, not {_kind(given)}.")
                ends[name.partition(":")[2]] = self.iri(given)
            else:
                more[name] = given
        found = Relation(ends, Element(place))
        self.attributes(more, found.more)
        return found

    def _literal(self, value: Any, *, is_name: bool) -> Any:
        if not isinstance(value, dict):
            return Name(self.iri(value)) if is_name and isinstance(value, str) else value
        content = value.get("$")
        type_ = self.iri(value["type"]) if isinstance(value.get("type"), str) else ""
        if content is None or type_ in _QUALIFIED or is_name:
            return None if content is None else Name(self.iri(str(content)))
        if type_ == NAMESPACE + JSON_TYPE:
            try:
                return json.loads(content)
            except (ValueError, TypeError, RecursionError):
                return str(content)
        kind = type_.removeprefix(XSD).lstrip("#") if type_.startswith(XSD) else ""
        return _typed(content, kind)


_ENDS = frozenset(
    {"entity", "activity", "agent", "generatedEntity", "usedEntity", "generation", "usage", "plan"}
)


def _typed(content: Any, kind: str) -> Any:
    """A literal of XML Schema; one that is not what it says it is stays a text."""
    if kind in _NO_TEXT:
        return NotText(content)
    if kind == "boolean":
        return content if isinstance(content, bool) else str(content).lower() in ("true", "1")
    try:
        if kind in _INTEGERS:
            return int(content)
        if kind in _FLOATS and math.isfinite(float(content)):
            return float(content)
    except (ValueError, TypeError):
        pass
    return content if isinstance(content, (str, int, float)) else str(content)


def _prefixes(value: Mapping[str, Any], where: str) -> dict[str, str]:
    found = value.get("prefix") or {}
    if not isinstance(found, dict) or not all(isinstance(one, str) for one in found.values()):
        raise InputError(f"{where}: 'prefix' must be an object of IRIs by their prefixes.")
    return found


def _records(
    value: Mapping[str, Any], section: str, where: str
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The records of a section; several may have one name."""
    records = value.get(section) or {}
    if not isinstance(records, dict):
        raise InputError(f"{where}: '{section}' must be an object of records by their names.")
    for name, given in records.items():
        some: Iterable[Any] = given if isinstance(given, list) else [given]
        for one in some:
            if not isinstance(one, dict):
                raise InputError(
                    f"{where}: {section} {name} must be an object of attributes, not {_kind(one)}."
                )
            yield name, one


def _kind(value: Any) -> str:
    for type_, words in ((dict, "an object"), (list, "a list"), (str, "a text")):
        if isinstance(value, type_):
            return words
    return json.dumps(value)[:40]
