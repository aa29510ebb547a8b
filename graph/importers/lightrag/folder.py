"""The stores of a working folder: chunks, descriptions, and the cache of the model's answers.

LightRAG writes `kv_store_NAME.json` and `graph_chunk_entity_relation.graphml` into its working
folder, or into a folder of it that has the name of the workspace. Vectors are not read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from veritrail_graph.graph.counted import counted, some
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers import files
from veritrail_graph.graph.importers.lightrag.graphml import described, read_graphml

CHUNKS, CACHE = "text_chunks", "llm_response_cache"
GRAPHML = "graph_chunk_entity_relation.graphml"
SEPARATOR = "<SEP>"
"""Stands between descriptions that were joined, and between ids of chunks."""

_TELLING = ("full_docs", "doc_status", CACHE, "entity_chunks", "full_entities")
_NOT_WRITTEN = frozenset({"manual_creation", "UNKNOWN", "custom_kg"})
"""Stands for a chunk where a person or a program added an entity."""

_SHOWN = 3
_LONGEST_NAME = 400


@dataclass(frozen=True, slots=True)
class Chunk:
    """A chunk of a document.

    Attributes:
        key: The id that LightRAG gave it.
        name: The name of its document, and its place in it: `report.txt#0`.
        text: Its text.
        document: Name of its document.
        path: Where the document was, if that is known and more than its name.
        calls: Keys of the cache of the calls that read it.
        is_analysis: Whether a model wrote it: what it saw in an image, a table or an equation.
    """

    key: str
    name: str
    text: str
    document: str
    path: str | None
    calls: tuple[str, ...]
    is_analysis: bool


@dataclass(frozen=True, slots=True)
class Described:
    """An entity, or a relationship between two, with its description.

    Attributes:
        names: The name of the entity, or those of the two.
        text: The description, whose parts are joined by `<SEP>`.
        chunks: Ids of the chunks that it comes from.
        known: What else is known of it.
    """

    names: tuple[str, ...]
    text: str
    chunks: tuple[str, ...]
    known: Mapping[str, Any]

    @property
    def title(self) -> str:
        """Return how it is called."""
        return title_of(self.names)

    @property
    def parts(self) -> list[str]:
        """Return the descriptions that were joined, without repeats."""
        parts = (part.strip() for part in self.text.split(SEPARATOR))
        return list(dict.fromkeys(part for part in parts if part))


@dataclass(slots=True)
class WorkingFolder:
    """The folder of an index.

    Attributes:
        path: Where its files are.
        chunks: Its chunks, by id.
        described: Its entities and relationships.
        cache: What it keeps of the model's answers, by key; None: it keeps none.
        warnings: What it does not hold.
        graph: Where entities and relationships were read.
    """

    path: Path
    chunks: dict[str, Chunk] = field(default_factory=dict)
    described: list[Described] = field(default_factory=list)
    cache: Mapping[str, Any] | None = None
    warnings: list[str] = field(default_factory=list)
    graph: str = GRAPHML

    def store(self, name: str) -> Path:
        """Return where a key-value store is."""
        return store_of(self.path, name)


def title_of(names: tuple[str, ...]) -> str:
    """Return how an entity, or a relationship between two, is called; it has no direction."""
    return " ~ ".join(names)


def store_of(folder: Path, name: str) -> Path:
    """Return where a folder has a key-value store."""
    return folder / f"kv_store_{name}.json"


def find_folder(path: Path) -> Path | str:
    """The folder that holds the stores: the path, or its only folder that does; else why not."""
    if not path.is_dir():
        return "not a folder"
    if _is_index(path):
        return path
    try:
        inside = sorted(one for one in path.iterdir() if one.is_dir() and _is_index(one))
    except OSError:
        inside = []
    if len(inside) == 1:
        return inside[0]
    if inside:
        named = ", ".join(one.name for one in inside[:_SHOWN])
        return f"it holds {len(inside)} working folders of LightRAG ({named}); name one of them"
    return f"it does not hold {store_of(path, CHUNKS).name} with another store of LightRAG"


def _is_index(folder: Path) -> bool:
    if any(store_of(folder, name).is_file() for name in _TELLING):
        return True  # without chunks `read_folder` says what is missing
    return store_of(folder, CHUNKS).is_file() and (folder / GRAPHML).is_file()


def read_folder(folder: Path) -> WorkingFolder:
    """Read chunks, descriptions and the cache; without the file of the graph no descriptions.

    Raises:
        InputError: A file cannot be read, or holds no chunks.
    """
    found = WorkingFolder(folder)
    if not found.store(CHUNKS).is_file():
        words = "holds the source texts: copy it there from the folder where the index was made"
        raise InputError(f"{folder} lacks {found.store(CHUNKS).name}, which {words}.")
    _read_chunks(found)
    if (folder / GRAPHML).is_file():
        rows = described(read_graphml(folder / GRAPHML))
        take_described(found, rows)
    if found.store(CACHE).is_file():
        found.cache = _store(found.store(CACHE))
    return found


def take_described(
    found: WorkingFolder, rows: Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]
) -> None:
    """Take up entities and relationships of a graph: names, and attributes with the description."""
    origins: dict[int, Mapping[str, Any]] = {
        1: _optional(found.store("entity_chunks")),
        2: _optional(found.store("relation_chunks")),
    }
    without = []
    for names, known in rows:
        text = known.get("description")
        if not isinstance(text, str) or not text.replace(SEPARATOR, "").strip():
            without.append(title_of(names))
            continue
        tracked = origins[len(names)].get(SEPARATOR.join(sorted(names)))
        ids = tracked.get("chunk_ids") if isinstance(tracked, Mapping) else None
        if not isinstance(ids, list) or not ids:
            ids = str(known.get("source_id") or "").split(SEPARATOR)
        kept = dict.fromkeys(one for one in ids if isinstance(one, str) and one)
        chunks = tuple(one for one in kept if one not in _NOT_WRITTEN)
        about = {name: known[name] for name in ("entity_type", "keywords") if known.get(name)}
        found.described.append(Described(names, text, chunks, about))
    if without:
        found.warnings.append(
            f"{counted(len(without), 'entity or relationship has', _HAVE)} no description and "
            f"{'is no text' if len(without) == 1 else 'are no texts'} ({some(without)})."
        )


_HAVE = "entities and relationships have"


def _store(path: Path) -> Mapping[str, Any]:
    """Read a key-value store.

    Raises:
        InputError: It is none.
    """
    value = files.document(path)
    if not isinstance(value, Mapping):
        raise InputError(
            f"{path}: holds no object; a key-value store of LightRAG is one object of entries by "
            "their ids. Copy it again from the working folder."
        )
    return value


def _optional(path: Path) -> Mapping[str, Any]:
    return _store(path) if path.is_file() else {}


def _read_chunks(found: WorkingFolder) -> None:
    path = found.store(CHUNKS)
    documents = _optional(found.store("full_docs"))
    empty, taken = [], set[str]()
    for key, row in _store(path).items():
        text = row.get("content") if isinstance(row, Mapping) else None
        if not isinstance(row, Mapping) or not isinstance(text, str | None):
            raise InputError(
                f"{path}, {key[:80]!r}: a chunk is an object with a text under `content`."
            )
        if text is None or not text.strip():
            empty.append(key)
            continue
        document, where = _document_of(row, documents)
        wanted = f"{document}#{_place(row)}"
        name, number = wanted, 2
        while name in taken:
            name, number = f"{wanted}~{number}", number + 1
        taken.add(name)
        calls = row.get("llm_cache_list")
        sidecar = row.get("sidecar")
        found.chunks[key] = Chunk(
            key,
            name,
            text,
            document,
            where if where != document else None,
            tuple(one for one in calls if isinstance(one, str)) if isinstance(calls, list) else (),
            isinstance(sidecar, Mapping) and sidecar.get("type") in _ANALYSED,
        )
    if not found.chunks:
        raise InputError(f"{path}: holds no chunk with a text, so there is no source text.")
    if empty:
        found.warnings.append(
            f"{counted(len(empty), 'chunk holds', 'chunks hold')} no text and "
            f"{'is' if len(empty) == 1 else 'are'} left out ({some(empty)})."
        )
    if analysed := [one.name for one in found.chunks.values() if one.is_analysis]:
        found.warnings.append(
            f"{counted(len(analysed), 'chunk was', 'chunks were')} written by a model that saw an "
            f"image, a table or an equation ({some(analysed)}): no source text, and the folder "
            "does not hold what it saw."
        )


_ANALYSED = ("drawing", "table", "equation")


def _document_of(row: Mapping[str, Any], documents: Mapping[str, Any]) -> tuple[str, str]:
    """Return the name of a chunk's document, and where it was; without a file, its id."""
    own = row.get("full_doc_id")
    whole = documents.get(own) if isinstance(own, str) else None
    path = row.get("file_path")
    if not _is_path(path) and isinstance(whole, Mapping):
        path = whole.get("file_path")
    if not _is_path(path):
        path = own if isinstance(own, str) and own else "document"
    path = " ".join(str(path).split())
    name = PurePosixPath(path.replace("\\", "/")).name or path
    return name[:_LONGEST_NAME], path


def _is_path(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip()) and value != "unknown_source"


def _place(row: Mapping[str, Any]) -> int:
    place = row.get("chunk_order_index")
    return place if isinstance(place, int) and not isinstance(place, bool) else 0
