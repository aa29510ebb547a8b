"""The importer itself: what is in the folder, which process it makes, and its answers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath

from veritrail_graph.graph.counted import counted, some
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.draft import Draft
from veritrail_graph.graph.importers.graphrag.answer_nodes import ANSWER, answer_id
from veritrail_graph.graph.importers.lightrag.answers import (
    GivenChunk,
    Pair,
    QueryAnswer,
    of_cache,
    read_answers,
)
from veritrail_graph.graph.importers.lightrag.extractions import Calls, key_of, read_calls
from veritrail_graph.graph.importers.lightrag.extractions import key_of_names as names_of
from veritrail_graph.graph.importers.lightrag.folder import (
    CACHE,
    GRAPHML,
    WorkingFolder,
    find_folder,
    read_folder,
    title_of,
)
from veritrail_graph.graph.importers.lightrag.merging import STAGES, Index, place_index
from veritrail_graph.graph.importers.lightrag.stored_graph import read_stored_graph
from veritrail_graph.graph.importers.process_file.schema import ID_PATTERN
from veritrail_graph.graph.importers.records import EdgeRecord, Header, ProcessInput
from veritrail_graph.graph.importers.registry import Found, ImportOptions
from veritrail_graph.graph.model import Origin

NAME = "lightrag"
NO_ANSWER = (
    "A working folder of LightRAG keeps no answer but those of its cache, which keeps none here; "
    "an answer is what is verified: it is given as a file of its own."
)


class LightRagImporter:
    """Reads the working folder of LightRAG together with answers that were given over it."""

    name = NAME
    description = "working folder of LightRAG with an answer"
    extra = None
    options = frozenset({"answer", "question", "answer_id"})
    takes_graph = True

    def detect(self, path: Path) -> str | None:
        """Return why `path` is no working folder of LightRAG; None when it is."""
        found = find_folder(path)
        return found if isinstance(found, str) else None

    def processes(self, path: Path, options: ImportOptions) -> Iterator[Found]:
        """The one of the index and its answers."""
        yield Found(str(path), partial(self.open, path, options))

    def open(self, path: Path, options: ImportOptions) -> ProcessInput:
        """Read the folder and its answers.

        Raises:
            InputError: The folder or an answer cannot be read, or there is no answer.
        """
        where = find_folder(path)
        if isinstance(where, str):
            raise InputError(f"{path}: {where}.")
        _check_options(options)
        folder = read_folder(where)
        if options.graph is not None:
            folder.described.clear()
            read_stored_graph(folder, options.graph)
        calls = None if folder.cache is None else read_calls(folder.cache, folder.chunks)
        index = Index(Draft(Header(NAME)), warnings=list(folder.warnings))
        if where != path:
            index.warnings.insert(0, f"Read from {where}, the working folder in {path}.")
        if calls is not None:
            index.warnings += calls.warnings
        if not folder.described:
            index.warnings.append(_without_graph(where))
        place_index(index, folder, calls)
        answers = _answers(folder, calls, options)
        names = [_place_answer(index, folder, one) for one in answers]
        return replace(index.draft, header=_header(index, path, answers, names))


def _check_options(options: ImportOptions) -> None:
    if options.answer_id is not None and not re.match(ID_PATTERN, options.answer_id):
        raise InputError(
            f"Answer id {options.answer_id!r}: must be made of letters, digits and . _ : - "
            "(at most 128, a letter or digit first)."
        )
    if options.answer is None and (options.question or options.answer_id):
        raise InputError("A question and an id belong to an answer, and no answer is named.")


def _without_graph(folder: Path) -> str:
    if (folder / GRAPHML).is_file():
        return f"{GRAPHML} holds no description; answers are joined to chunks alone."
    return (
        f"{GRAPHML} is not there, as LightRAG keeps its graph in another storage or was given no "
        "text yet: descriptions are not in the process, and answers are joined to chunks alone. A "
        "graph in Neo4j is read by its address beside the folder: veritrail ingest FOLDER "
        "neo4j://HOST:7687."
    )


def _answers(
    folder: WorkingFolder, calls: Calls | None, options: ImportOptions
) -> list[QueryAnswer]:
    """The answers of the file that is named, or else of the cache.

    Raises:
        InputError: There is none, or it cannot be read.
    """
    cached = [] if calls is None else calls.answers
    if options.answer is not None:
        answers = read_answers(options.answer, cached)
    else:
        answers = list(of_cache(cached, folder.store(CACHE).name))
    if not answers:
        raise InputError(NO_ANSWER, code="answer_needed")
    chosen = options.question is not None or options.answer_id is not None
    if len(answers) > 1 and chosen:
        raise InputError(
            f"{options.answer}: {len(answers)} answers cannot have one question or id; name one as "
            "FILE#N."
        )
    if not chosen:
        return answers
    (only,) = answers
    return [
        replace(
            only,
            question=options.question or only.question,
            own_id=options.answer_id or only.own_id,
        )
    ]


def _header(index: Index, path: Path, answers: list[QueryAnswer], names: list[str]) -> Header:
    question = answers[0].question if len(answers) == 1 else None
    folder = path.resolve().name
    used = {node.stage for node in index.draft.nodes.values()}
    return Header(
        source_format=NAME,
        name=f"LightRAG: {question or folder}",
        question=question,
        stage_names={stage: name for stage, name in STAGES.items() if stage in used},
        terminals=tuple(names),
        warnings=tuple(index.warnings),
        name_of_many=f"LightRAG: {folder}",
        may_lack_edges=True,
    )


def _place_answer(index: Index, folder: WorkingFolder, answer: QueryAnswer) -> str:
    """Make an answer into a node, behind what it was given; return its node_id.

    Raises:
        InputError: It was given nothing that the folder holds, or is there twice.
    """
    own = answer_id(answer.question, answer.text)
    name = own if answer.own_id is None else f"{ANSWER}/{answer.own_id}"
    if name in index.draft.nodes:
        raise InputError(
            f"{answer.where}: is the same answer as another one. Leave one out, or give each an "
            "`answer_id`."
        )
    messages = [f"{what} (in {answer.where})." for what in answer.unread]
    if answer.question is None:
        messages.append("No question is known of this answer: --question names one.")
    joined = _Joined(index, folder, messages)
    joined.chunks_of(answer)
    joined.descriptions_of(answer)
    if not joined.sources:
        raise InputError(
            f"{answer.where}: the folder holds nothing of what this answer was given. "
            f"{' '.join(messages)}"
        )
    index.draft.node(
        name,
        answer.text,
        answer.where,
        origin=Origin.GENERATED,
        kind=ANSWER,
        step="answer",
        stage=max(STAGES),
        question=answer.question,
    )
    for source, cited in joined.sources.items():
        index.draft.edges[source, name] = EdgeRecord(source, name, answer.where, cited)
    index.warnings += [f"{name}: {message}" for message in messages]
    return name


class _Joined:
    """The nodes of an index that an answer was given, and whether the answer cites them."""

    def __init__(self, index: Index, folder: WorkingFolder, messages: list[str]) -> None:
        self.sources: dict[str, bool | None] = {}
        self._index = index
        self._folder = folder
        self._messages = messages

    def chunks_of(self, answer: QueryAnswer) -> None:
        """Join the chunks: those that are named, those of named documents, or all of them."""
        if answer.chunks is not None:
            self._named_chunks(answer.chunks, answer.cited)
            return
        if answer.documents is not None:
            wanted = {_last_name(one) for one in answer.documents}
            held = [one for one in self._folder.chunks.values() if one.document in wanted]
            missing = wanted - {one.document for one in held}
            if missing:
                self._messages.append(
                    f"The folder does not hold {counted(len(missing), 'document')} that "
                    f"{'is' if len(missing) == 1 else 'are'} referred to "
                    f"({some(sorted(missing))}): no edge for it."
                )
            words = (
                "The answer names the documents that it was given, and not which of their chunks: "
                f"{counted(len(held), 'chunk')} of them count."
            )
        else:
            held = list(self._folder.chunks.values())
            words = (
                "Nothing says which chunks the answer was given, so all "
                f"{len(held):,} of the folder count."
            )
        self._messages.append(words)
        self.sources |= dict.fromkeys(self._index.chunks[one.key] for one in held)

    def _named_chunks(self, chunks: Iterable[GivenChunk], cited: frozenset[str]) -> None:
        by_text: dict[str, str] = {}
        for one in self._folder.chunks.values():
            by_text.setdefault(one.text.strip(), one.key)
        missing, cites = [], False
        found: dict[str, bool] = {}
        for chunk in chunks:
            key = chunk.key if chunk.key in self._folder.chunks else None
            key = key or by_text.get(chunk.text.strip())
            if key is None:
                missing.append(chunk.key or chunk.text)
                continue
            name = self._index.chunks[key]
            found[name] = found.get(name, False) or chunk.reference in cited
            cites = cites or found[name]
        self.sources |= {name: is_cited if cites else None for name, is_cited in found.items()}
        if missing:
            self._messages.append(
                f"The folder does not hold {counted(len(missing), 'chunk')} that the answer was "
                f"given ({some(missing)}): no edge for {'it' if len(missing) == 1 else 'them'}."
            )

    def descriptions_of(self, answer: QueryAnswer) -> None:
        """Join the descriptions: those that are named, or all of them."""
        if answer.described is not None:
            self._named_descriptions(answer.described)
        elif self._index.nodes:
            self._messages.append(
                "Nothing says which descriptions the answer was given, so all "
                f"{len(self._index.nodes):,} of the folder count. What aquery_llm or aquery_data "
                "returns tells it."
            )
            self.sources |= dict.fromkeys(self._index.nodes.values())

    def _named_descriptions(self, described: Iterable[Pair]) -> None:
        missing, changed = [], []
        for names, text in described:
            name = self._index.nodes.get(names_of(names))
            if name is None:
                missing.append(title_of(names))
                continue
            self.sources[name] = None
            if text and key_of(text) != key_of(self._index.texts[name]):
                changed.append(title_of(names))
        if missing:
            self._messages.append(
                f"The folder does not hold {counted(len(missing), 'description')} that the answer "
                f"was given ({some(missing)}): no edge for {'it' if len(missing) == 1 else 'them'}."
            )
        if changed:
            self._messages.append(
                f"{counted(len(changed), 'description')} that the answer was given "
                f"{'is' if len(changed) == 1 else 'are'} another today ({some(changed)}): the "
                "index was changed since, and what it says now counts."
            )


def _last_name(path: str) -> str:
    return PurePosixPath(path.replace("\\", "/")).name or path
