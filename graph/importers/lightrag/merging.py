"""Descriptions as nodes: extracted from chunks, merged from what was extracted.

LightRAG keeps one description an entity or relationship. Its parts are joined by `<SEP>`; when
there are many, or they are long, a model writes one text from them, which is a part itself when
more is extracted later. What was extracted and what a model was given to write from is in the
cache alone: where that does not tell, the chunks take its place, and a warning says so.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from veritrail_graph.graph.counted import counted, some
from veritrail_graph.graph.importers.draft import Draft
from veritrail_graph.graph.importers.lightrag.extractions import (
    Calls,
    Extraction,
    Summary,
    key_of,
    key_of_names,
)
from veritrail_graph.graph.importers.lightrag.folder import (
    CACHE,
    CHUNKS,
    SEPARATOR,
    Described,
    WorkingFolder,
)
from veritrail_graph.graph.model import Origin

CHUNK, ENTITY, RELATIONSHIP = "chunk", "entity", "relationship"
STAGES = {
    1: "text chunk",
    2: "extracted description",
    3: "merged description",
    4: "answer",
}
"""Source: VeriTrail B.2.1, without reports on communities, which LightRAG does not write."""

_EXTRACT, _JOIN, _SUMMARISE = "extract_entities", "join_descriptions", "summarise_descriptions"


@dataclass(slots=True)
class Index:
    """Stages 1 to 3 of a process.

    Attributes:
        draft: The nodes and edges.
        chunks: node_ids of the chunks, by LightRAG's ids.
        nodes: node_ids of the descriptions, by the keys of their names.
        texts: The descriptions as LightRAG keeps them, by node_id.
        warnings: What the folder does not hold, and how that was bridged.
    """

    draft: Draft
    chunks: dict[str, str] = field(default_factory=dict)
    nodes: dict[frozenset[str], str] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


def place_index(index: Index, folder: WorkingFolder, calls: Calls | None) -> None:
    """Make chunks and descriptions of a folder into nodes.

    Args:
        index: Takes them up.
        folder: The folder.
        calls: What the cache keeps; None: there is none.
    """
    for chunk in folder.chunks.values():
        index.chunks[chunk.key] = index.draft.node(
            chunk.name,
            chunk.text,
            f"{folder.store(CHUNKS).name}, {chunk.key}",
            origin=Origin.GENERATED if chunk.is_analysis else Origin.SOURCE,
            kind=CHUNK,
            step="analyse" if chunk.is_analysis else None,
            stage=1,
            metadata={"id": chunk.key, "document": chunk.document, "path": chunk.path},
        )
    merging = _Merging(index, folder, calls or Calls(), has_cache=calls is not None)
    for one in folder.described:
        merging.place(one)
    index.warnings += merging.warnings()


@dataclass(slots=True)
class _Merging:
    """The descriptions that were placed so far, and what could not be told of them."""

    index: Index
    folder: WorkingFolder
    calls: Calls
    has_cache: bool
    extracted: dict[tuple[str, Extraction], str] = field(default_factory=dict)
    untold: list[str] = field(default_factory=list)
    from_chunks: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    rootless: list[str] = field(default_factory=list)
    twice: list[str] = field(default_factory=list)
    by_end: dict[str, list[Extraction]] | None = None

    def place(self, described: Described) -> None:
        """Make a description into a node, behind those that it was made from."""
        key = key_of_names(described.names)
        if key in self.index.nodes:
            self.twice.append(described.title)
            return
        own = self._extractions(described, key)
        parts = described.parts
        alone = self._with_text(own, parts[0]) if len(parts) == 1 else []
        if len(alone) == 1:
            name = self._node(described, parts, 2, _EXTRACT, [self.index.chunks[alone[0].chunk]])
        elif len(parts) == 1 and not alone and (summary := self._summary(described, own, parts[0])):
            sources = self._given(described, summary, own, frozenset({key_of(parts[0])}))
            name = self._node(described, parts, 3, _SUMMARISE, sources)
        elif not own and len(parts) == 1 and len(known := self._known_chunks(described)) == 1:
            name = self._node(described, parts, 2, _EXTRACT, known)
        else:
            sources = self._sources(described, parts, own, frozenset())
            name = self._node(described, parts, 3, _JOIN, sources)
        self.index.nodes[key] = name
        self.index.texts[name] = described.text

    def warnings(self) -> list[str]:
        """Return what the folder does not hold of the descriptions."""
        count = len(self.folder.described)
        found = []
        if not self.has_cache:
            found.append(
                f"{self.folder.store(CACHE).name} is not there (LightRAG writes it with "
                "enable_llm_cache_for_entity_extract): what was extracted from each chunk is not "
                "known, so descriptions are joined to their chunks directly."
            )
        elif self.from_chunks:
            found.append(
                f"The cache does not keep what was extracted for {len(self.from_chunks):,} of "
                f"{counted(count, 'description')} ({some(self.from_chunks)}): they are joined to "
                "their chunks directly."
            )
        if self.untold:
            found.append(
                f"The cache does not keep how {counted(len(self.untold), 'description')} came "
                f"about ({some(self.untold)}): all that was extracted under the name counts as its "
                "inputs."
            )
        if self.gone:
            found.append(
                f"{counted(len(self.gone), 'description names', 'descriptions name')} chunks that "
                f"{self.folder.store(CHUNKS).name} does not hold ({some(self.gone)}): no edge for "
                "them."
            )
        if self.rootless:
            found.append(
                f"{counted(len(self.rootless), 'description comes', 'descriptions come')} from no "
                f"chunk of the folder ({some(self.rootless)}): added by hand or by a program, or "
                "their documents are gone. An error in them cannot be followed further back."
            )
        if self.twice:
            found.append(
                f"{counted(len(self.twice), 'name stands', 'names stand')} twice in the graph "
                f"({some(self.twice)}): the first is read."
            )
        return found

    def _known_chunks(self, described: Described) -> list[str]:
        known = self.index.chunks
        return [known[one] for one in described.chunks if one in known]

    def _extractions(self, described: Described, key: frozenset[str]) -> list[Extraction]:
        """Return what was extracted under a name from the chunks of its description."""
        chunks = set(described.chunks)
        return [one for one in self.calls.extractions.get(key, ()) if one.chunk in chunks]

    @staticmethod
    def _with_text(own: Iterable[Extraction], text: str) -> list[Extraction]:
        """Return the extractions with a text, one a chunk."""
        key = key_of(text)
        found = {one.chunk: one for one in own if key_of(one.text) == key}
        return list(found.values())

    def _summary(self, described: Described, own: list[Extraction], text: str) -> Summary | None:
        """Return the call that wrote a text about an entity or relationship; the newest."""
        keys = [key_of(name) for name in described.names]
        given = {key_of(one.text) for one in own}
        for summary in reversed(self.calls.summaries.get(key_of(text), ())):
            if summary.about:
                fits = summary.about == keys[0] if len(keys) == 1 else _names(summary.about, keys)
            else:
                fits = any(one in summary.prompt for one in given)
            if fits:
                return summary
        return None

    def _given(
        self, described: Described, summary: Summary, own: list[Extraction], above: frozenset[str]
    ) -> list[str]:
        """Return what a model was given to write a summary from."""
        if summary.given is not None:
            parts = [part for one in summary.given for part in one.split(SEPARATOR)]
            return self._sources(described, parts, own, above)
        held = [one for one in own if key_of(one.text) in summary.prompt]
        return [self._extracted(described, one) for one in held]

    def _sources(
        self,
        described: Described,
        parts: Iterable[str],
        own: list[Extraction],
        above: frozenset[str],
    ) -> list[str]:
        """Return the nodes of parts: extractions, summaries; in place of others what is left.

        Args:
            described: What they are about.
            parts: The parts.
            own: What was extracted under the name.
            above: Keys of the summaries that are made from them, which are no part of themselves.
        """
        found: dict[str, None] = {}
        used: set[Extraction] = set()
        unknown = False
        for part in parts:
            same = self._with_text(own, part) or self._with_text(self._about_ends(described), part)
            key = key_of(part)
            if same:
                used.update(same)
                found |= dict.fromkeys(self._extracted(described, one) for one in same)
            elif key not in above and (summary := self._summary(described, own, part)):
                sources = self._given(described, summary, own, above | {key})
                found[self._part(described, part, sources)] = None
            else:
                unknown = True
        if not unknown:
            return list(found)
        left = [one for one in own if one not in used]
        if left:
            self.untold.append(described.title)
            return [*found, *(self._extracted(described, one) for one in left)]
        if known := self._known_chunks(described):
            self.from_chunks.append(described.title)
        return [*found, *known]

    def _about_ends(self, described: Described) -> list[Extraction]:
        """Return descriptions of relationships of an entity: it has one of them if no other."""
        if len(described.names) > 1:
            return []
        if self.by_end is None:
            self.by_end = defaultdict(list)
            for key, group in self.calls.extractions.items():
                for name in key if len(key) > 1 else ():
                    self.by_end[name] += group
        chunks = set(described.chunks)
        found = self.by_end.get(key_of(described.names[0]), ())
        return [one for one in found if one.chunk in chunks]

    def _extracted(self, described: Described, extraction: Extraction) -> str:
        """Return the node of an extraction; it is made when it is asked for first."""
        known = self.extracted.get((described.title, extraction))
        if known is None:
            chunk = self.index.chunks[extraction.chunk]
            known = self._write(
                described,
                f"{_name(described)}@{chunk}",
                _text(described, [extraction.text]),
                (2, _EXTRACT),
                [chunk],
                self.folder.store(CACHE).name,
            )
            self.extracted[described.title, extraction] = known
        return known

    def _part(self, described: Described, text: str, sources: list[str]) -> str:
        """Make a summary into a node that is a part of another description."""
        name = f"{_name(described)}/summary"
        where = self.folder.store(CACHE).name
        return self._write(
            described, name, _text(described, [text]), (3, _SUMMARISE), sources, where
        )

    def _node(
        self, described: Described, parts: list[str], stage: int, step: str, sources: list[str]
    ) -> str:
        missing = [one for one in described.chunks if one not in self.index.chunks]
        if missing:
            self.gone.append(described.title)
        if not sources:
            self.rootless.append(described.title)
        name, text = _name(described), _text(described, parts)
        return self._write(described, name, text, (stage, step), sources, self.folder.graph)

    def _write(
        self,
        described: Described,
        name: str,
        text: str,
        written: tuple[int, str],
        sources: list[str],
        where: str,
    ) -> str:
        stage, step = written
        where = f"{where}, {described.title}"
        node_id = self.index.draft.node(
            name,
            text,
            where,
            origin=Origin.GENERATED,
            kind=ENTITY if len(described.names) == 1 else RELATIONSHIP,
            step=step,
            stage=stage,
            metadata=described.known,
        )
        for source in dict.fromkeys(sources):
            self.index.draft.edge(source, node_id, where)
        return node_id


def _names(about: str, keys: list[str]) -> bool:
    """Return whether a summary of a relationship is about two names: `(A, B)`, before 1.4 `A-B`."""
    first, second = keys
    both = (f"({first},{second})", f"({second},{first})", f"{first}-{second}", f"{second}-{first}")
    return about in both


def _name(described: Described) -> str:
    kind = ENTITY if len(described.names) == 1 else RELATIONSHIP
    return f"{kind}/{' '.join(described.title.split())[:600]}"


def _text(described: Described, parts: list[str]) -> str:
    """Return the text of a node: how it is called, then each part on a line of its own."""
    return "\n".join([described.title, *parts])
