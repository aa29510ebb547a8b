"""A stored process as GraphML, which Gephi, yEd and networkx read.

What XML cannot hold, such as most control characters, is replaced by U+FFFD and counted. A
list is written as JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from veritrail_graph.graph.exporters.process_file import Write, json_text
from veritrail_graph.graph.exporters.property_graph import (
    Key,
    Nodes,
    Part,
    counts_of,
    parts,
)
from veritrail_graph.graph.schema import NODES, RELATIONSHIPS, Property
from veritrail_graph.graph.store import Store
from veritrail_graph.graph.store.export import StoredProcess
from veritrail_graph.graph.store.rows import Properties
from veritrail_graph.graph.unseen import spelled

_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_ESCAPED = re.compile("[&<>]")
_NAMED = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_TYPES = {"string": "string", "integer": "long", "float": "double", "boolean": "boolean"}
_OWN = {"node": ("labels", "label"), "edge": ("label",)}
"""What readers of GraphML look for; a property of the same name is written as `given_…`."""
_HEAD = """\
<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns"
         xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
         xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns
                             http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">
"""


class GraphMl:
    """Writes one file.

    Attributes:
        counts: Nodes and relationships written, by label and type.
        replaced: How many characters XML cannot hold.
    """

    def __init__(self, stored: StoredProcess, write: Write) -> None:
        self._stored = stored
        self._write = write
        self._numbers = {name: number for number, name in enumerate(stored.ids)}
        self._others: dict[str, dict[Key, int]] = {}
        self._edges = 0
        self._types = {
            "node": _types(one for kind in NODES for one in kind.properties),
            "edge": _types(one for kind in RELATIONSHIPS for one in kind.properties),
        }
        self.counts: dict[str, int] = {}
        self.replaced = 0

    async def run(self, store: Store) -> None:
        """Write everything."""
        self._write((_HEAD + "".join(self._keys()) + "<graph edgedefault='directed'>\n").encode())
        async for part in parts(store, self._stored):
            counts_of(self.counts, part)
            self._write("".join(self._elements(part)).encode())
        self._write(b"</graph>\n</graphml>\n")

    def _keys(self) -> Iterator[str]:
        for domain, own in _OWN.items():
            for name in own:
                yield _key(domain, f"_{name}", name, "string")
            for name, type_ in self._types[domain].items():
                yield _key(domain, name, f"given_{name}" if name in own else name, type_)

    def _elements(self, part: Part) -> Iterator[str]:
        if isinstance(part, Nodes):
            for key, properties in part.rows:
                caption = properties.get("caption") or properties.get("name") or str(key)
                own = {"_labels": f":{part.label}", "_label": str(caption)}
                data = self._data("node", own, properties)
                yield f"<node id='{self._id(part.label, key)}'>{data}</node>\n"
            return
        source_label, target_label = part.kind.source, part.kind.target
        for source, target, properties in part.rows:
            data = self._data("edge", {"_label": part.type}, properties)
            ends = f"source='{self._id(source_label, source)}'"
            ends += f" target='{self._id(target_label, target)}'"
            yield f"<edge id='e{self._edges}' {ends}>{data}</edge>\n"
            self._edges += 1

    def _data(self, domain: str, own: dict[str, str], properties: Properties) -> str:
        prefix = domain[0]
        found = [
            f"<data key='{prefix}{key}'>{self._text(value)}</data>" for key, value in own.items()
        ]
        for name, value in properties.items():
            if value is not None and name in self._types[domain]:
                found.append(f"<data key='{prefix}_p_{name}'>{self._text(_written(value))}</data>")
        return "".join(found)

    def _id(self, label: str, key: Key) -> str:
        """An id that XML takes, whatever the key is made of."""
        if label == "Span":
            return f"Span{self._numbers[str(key)]}"
        known = self._others.setdefault(label, {})
        return f"{label}{known.setdefault(key, len(known))}"

    def _text(self, text: str) -> str:
        text, replaced = _FORBIDDEN.subn("\ufffd", text)
        self.replaced += replaced
        text = _ESCAPED.sub(lambda found: _NAMED[found[0]], text)
        return spelled(text, lambda signs: "".join(f"&#{ord(sign)};" for sign in signs))


def _types(properties: Iterator[Property]) -> dict[str, str]:
    """Types by name; what has several types is written as text."""
    types: dict[str, str] = {}
    for one in properties:
        type_ = _TYPES.get(one.type, "string")
        types[one.name] = type_ if types.get(one.name, type_) == type_ else "string"
    return types


def _key(domain: str, key: str, name: str, type_: str) -> str:
    id_ = f"{domain[0]}{key}" if key.startswith("_") else f"{domain[0]}_p_{key}"
    return f"<key id='{id_}' for='{domain}' attr.name='{name}' attr.type='{type_}'/>\n"


def _written(value: object) -> str:
    if isinstance(value, str):
        return value
    return json_text(value) if isinstance(value, list) else json.dumps(value)
