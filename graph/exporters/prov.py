"""A stored process as PROV-JSON, which `veritrail ingest` reads again.

Nodes, claims, cited sentences, verdicts and reviews are entities; the steps that made nodes and
the verifications are activities; models, engines and reviewers are agents. What PROV has no
name for is in our own namespace.

Source: PROV-DM and PROV-JSON (W3C); VeriTrail 2 (processes) and 3.2 (trails).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from tempfile import SpooledTemporaryFile
from typing import Any

from veritrail_graph.graph.exporters.process_file import LISTS, Write, header, json_text, records
from veritrail_graph.graph.model import EvidenceRole, Origin, Role
from veritrail_graph.graph.prov_names import (
    JSON_TYPE,
    KINDS,
    NUMBER,
    PREFIX,
    RECORD,
    local_name,
    opening,
)
from veritrail_graph.graph.store import Store
from veritrail_graph.graph.store.export import StoredProcess

SECTIONS = (
    "entity", "activity", "agent", "wasDerivedFrom", "used", "wasGeneratedBy",
    "wasAssociatedWith", "wasAttributedTo",
)  # fmt: skip
_IN_MEMORY = 4_000_000  # bytes of one section
_COPIED = 1_000_000
_OF_VERIFICATION = (
    "verification_id", "claim_id", "node_id", "status", "engine", "model", "indicative", "q",
    "termination", "created_at", "run_id", "error",
)  # fmt: skip
_OF_VERDICT = ("verdict", "reasoning", "score", "error_stages", "error_nodes")
_SOFTWARE, _PERSON = "prov:SoftwareAgent", "prov:Person"


async def write_prov(store: Store, stored: StoredProcess, write: Write) -> dict[str, int]:
    """Write one document, a record a line; give how many there are of each kind.

    The sections of PROV-JSON are gathered side by side, in temporary files where they are large.
    """
    counts = dict.fromkeys(LISTS.values(), 0)
    with ExitStack() as stack:
        prov = _Document(stored.process_id, stack)
        prov.process(header(stored))
        async for kind, values in records(store, stored, ("role",)):
            prov.add(kind, values, counts[LISTS[kind]])
            counts[LISTS[kind]] += len(values)
        for part in prov.parts():
            write(part)
    return counts


class _Document:
    """The sections of one document."""

    def __init__(self, process_id: str, stack: ExitStack) -> None:
        self._process_id = process_id
        self._sections = {name: stack.enter_context(_spool()) for name in SECTIONS}
        self._counts = dict.fromkeys(SECTIONS, 0)
        self._known: set[str] = set()  # agents, sentences and verdicts that are written

    def parts(self) -> Iterator[bytes]:
        """The document, piece by piece."""
        names = json_text({"process": f"urn:veritrail:process:{self._process_id}/"})[1:]
        yield f"{opening()},{names}".encode()
        for name, file in self._sections.items():
            if self._counts[name]:
                yield f',\n"{name}":{{\n'.encode()
                file.seek(0)
                while piece := file.read(_COPIED):
                    yield piece
                yield b"\n}"
        yield b"}\n"

    def process(self, facts: Mapping[str, Any]) -> None:
        """Add the statements about the process as a whole."""
        own = {key: value for key, value in facts.items() if key != "format"}
        label = _label(facts["name"])
        self._put("entity", _name("process"), _typed("process"), label, _own(own))

    def add(self, kind: str, values: Iterable[dict[str, Any]], first: int) -> None:
        """Records of one kind, numbered from `first`."""
        one = getattr(self, f"_{kind}")
        for number, value in enumerate(values, start=first):
            one(value, number)

    def _node(self, node: dict[str, Any], number: int) -> None:
        name = _name("node", node["node_id"])
        facts = _own({**node, NUMBER: number})
        self._put("entity", name, _typed("node"), _label(node["node_id"]), facts)
        is_made = node["role"] == Role.UNSOURCED and node.get("origin") != Origin.GIVEN
        if node["role"] in (Role.ROOT, Role.UNSOURCED) and not is_made:
            return
        step = _name("step", node["node_id"])
        metadata = node.get("metadata") or {}
        about = {key: metadata.get(key) for key in ("model", "prompt")}
        label = node.get("step") or node["node_id"]
        step_facts = _own({"step": node.get("step"), **about})
        self._put("activity", step, _type("veritrail:Step"), _label(label), step_facts)
        self._relate("wasGeneratedBy", entity=name, activity=step)
        if isinstance(metadata.get("model"), str) and metadata["model"]:
            self._associate(step, metadata["model"], _SOFTWARE)

    def _edge(self, edge: dict[str, Any], _number: int) -> None:
        source, target = _name("node", edge["source"]), _name("node", edge["target"])
        step = _name("step", edge["target"])
        facts = {key: value for key, value in edge.items() if key not in ("source", "target")}
        ends = {"generatedEntity": target, "usedEntity": source, "activity": step}
        self._relate("wasDerivedFrom", _own(facts), **ends)
        self._relate("used", activity=step, entity=source)

    def _claim(self, claim: dict[str, Any], number: int) -> None:
        name = _name("claim", claim["claim_id"])
        facts = _own({**claim, NUMBER: number})
        self._put("entity", name, _typed("claim"), _label(claim["claim_id"]), facts)
        self._derive(name, _name("node", claim["node_id"]))

    def _extraction(self, sentence: dict[str, Any], number: int) -> None:
        name = _name("extraction", str(number))
        self._put("entity", name, _typed("extraction"), _own({**sentence, NUMBER: number}))
        self._derive(name, _name("node", sentence["node_id"]))

    def _verification(self, one: dict[str, Any], number: int) -> None:
        verification_id = one["verification_id"]
        name, claim = _name("verification", verification_id), _name("claim", one["claim_id"])
        facts = {key: one.get(key) for key in _OF_VERIFICATION} | {NUMBER: number, RECORD: one}
        self._put("activity", name, _typed("verification"), _own(facts))
        self._relate("used", activity=name, entity=claim)
        evidence = []
        for cited, place in self._cited(one):
            self._relate("used", _own(place), activity=name, entity=cited)
            if place["role"] == EvidenceRole.EVIDENCE and cited not in evidence:
                evidence.append(cited)
        self._associate(name, one.get("model") or one["engine"], _SOFTWARE)
        if one.get("verdict") is None:
            return
        verdict = _name("verdict", verification_id)
        self._known.add(verdict)
        found = {key: one.get(key) for key in _OF_VERDICT}
        said = _label(one["verdict"])
        self._put("entity", verdict, _type("veritrail:Verdict"), said, _own(found))
        self._relate("wasGeneratedBy", entity=verdict, activity=name)
        for source in (claim, *evidence):
            self._derive(verdict, source)

    def _cited(self, one: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
        """Sentences that a verification cites, as entities, with where and as what."""
        for iteration in one.get("iterations", ()):
            for sentence in iteration.get("evidence", ()):
                where = [str(sentence[key]) for key in ("sentence", "start", "end")]
                name = _name("sentence", sentence["node_id"], "-".join(where))
                if name not in self._known:
                    self._known.add(name)
                    facts = {key: value for key, value in sentence.items() if key != "role"}
                    self._put("entity", name, _type("veritrail:Sentence"), _own(facts))
                    self._derive(name, _name("node", sentence["node_id"]))
                yield name, {"iteration": iteration["number"], "role": sentence["role"]}

    def _review(self, review: dict[str, Any], number: int) -> None:
        name = _name("review", review["review_id"])
        facts = _own({**review, NUMBER: number})
        self._put("entity", name, _typed("review"), _label(review["verdict"]), facts)
        self._derive(name, _name("claim", review["claim_id"]))
        about = _name("verdict", review.get("overrides") or "")
        if about in self._known:
            self._derive(name, about)
        agent = self._agent("reviewer", review["reviewer"], _PERSON)
        self._relate("wasAttributedTo", entity=name, agent=agent)

    def _associate(self, activity: str, name: str, type_: str) -> None:
        agent = self._agent("agent", name, type_)
        self._relate("wasAssociatedWith", activity=activity, agent=agent)

    def _agent(self, kind: str, name: str, type_: str) -> str:
        agent = _name(kind, name)
        if agent not in self._known:
            self._known.add(agent)
            self._put("agent", agent, _type(type_), _label(name))
        return agent

    def _derive(self, made: str, used: str) -> None:
        self._relate("wasDerivedFrom", generatedEntity=made, usedEntity=used)

    def _relate(self, section: str, more: Mapping[str, Any] | None = None, **ends: str) -> None:
        name = f"_:{section}{self._counts[section] + 1}"
        self._put(section, name, {f"prov:{key}": end for key, end in ends.items()}, more or {})

    def _put(self, section: str, name: str, *parts: Mapping[str, Any]) -> None:
        value = {key: one for part in parts for key, one in part.items()}
        between = ",\n" if self._counts[section] else ""
        line = f"{between}{json_text(name)}:{json_text(value)}"
        self._sections[section].write(line.encode())
        self._counts[section] += 1


def _spool() -> SpooledTemporaryFile[bytes]:
    return SpooledTemporaryFile(max_size=_IN_MEMORY)


def _name(kind: str, *names: str) -> str:
    return f"process:{local_name(kind, *names)}"


def _typed(kind: str) -> dict[str, Any]:
    return _type(f"{PREFIX}:{KINDS[kind]}")


def _type(name: str) -> dict[str, Any]:
    return {"prov:type": {"$": name, "type": "prov:QUALIFIED_NAME"}}


def _label(text: str) -> dict[str, Any]:
    return {"prov:label": text}


def _own(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Facts as attributes of our namespace; lists and objects as JSON text."""
    return {
        f"{PREFIX}:{key}": _literal(value)
        for key, value in facts.items()
        if value not in (None, [], {})
    }


def _literal(value: object) -> object:
    if isinstance(value, dict | list | tuple):
        return {"$": json_text(value), "type": f"{PREFIX}:{JSON_TYPE}"}
    return value
