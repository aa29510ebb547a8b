"""Read the data of a report from a stored process, or from a file, which starts no engine.

A stored process gives the headers of all verifications first, and trails a few at a time.

Source: VeriTrail 3.2; docs/process-file.md.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from veritrail_graph.api.configured.measured import judge_name, measured_words
from veritrail_graph.api.show.context import (
    Around,
    Context,
    Place,
    cited_in,
    context_of,
    named_nodes,
)
from veritrail_graph.api.show.node_names import names_of
from veritrail_graph.api.show.reports.conversation import Conversation, read_conversation
from veritrail_graph.api.show.reports.data import (
    ClaimSelection,
    Made,
    ReportData,
    ReportedClaim,
    ReportSource,
    ReportTrail,
    trail_of,
)
from veritrail_graph.api.show.reports.material import material_of
from veritrail_graph.api.show.reports.resting import Resting, read_resting
from veritrail_graph.api.show.trail import NodeFacts
from veritrail_graph.graph.errors import InputError, NotFound, ProcessConflict
from veritrail_graph.graph.importers.process_file import ProcessFileImporter
from veritrail_graph.graph.importers.records import (
    NodeRecord,
    ProcessInput,
    ReviewRecord,
    TrailInput,
    VerificationRecord,
)
from veritrail_graph.graph.importers.registry import ImportOptions
from veritrail_graph.graph.ingest.check import Survey
from veritrail_graph.graph.ingest.restoring import survey_whole, with_nodes
from veritrail_graph.graph.model import (
    CitedSentence,
    Claim,
    NodeRef,
    Process,
    Review,
    Reviewed,
    Verification,
    in_force,
)
from veritrail_graph.graph.model.node_ref import Role
from veritrail_graph.graph.model.nodes import Node
from veritrail_graph.graph.model.review import reviewed

if TYPE_CHECKING:
    from veritrail_graph.api.app import Application
    from veritrail_graph.api.settings import Settings
    from veritrail_graph.graph.model.version import Version

TRAILS = 100
"""Trails that are held at a time."""

_TEXTS = 4_000_000  # UTF-16 units of texts that are held at a time
_NODES = 5_000


@dataclass(frozen=True, slots=True)
class StoredSource:
    """A stored process.

    Attributes:
        app: The application.
        material: The process and its claims.
        reviews: All reviews of a claim, newest first, by claim_id.
        version: Which version of the process it was.
    """

    app: Application
    material: ReportData
    reviews: dict[str, list[Review]]
    version: Version

    @classmethod
    async def read(
        cls,
        app: Application,
        process_id: str,
        wanted: ClaimSelection = ClaimSelection(),  # noqa: B008 (frozen)
        made: Made | None = None,
    ) -> StoredSource:
        """Read everything but the trails, of one version of the process.

        Args:
            app: The application.
            process_id: The process.
            wanted: Which of its claims the report is about.
            made: When and by what it is made; None: now.

        Raises:
            NotFound: There is no such process or claim.
            ProcessConflict: The process changed at every attempt.
        """
        return await app.versions.of_process(
            process_id, lambda: cls._read(app, process_id, wanted, made)
        )

    @classmethod
    async def _read(
        cls, app: Application, process_id: str, wanted: ClaimSelection, made: Made | None
    ) -> StoredSource:
        version = await app.versions.get(process_id)
        process = await app.processes.get(process_id)
        asked = list(dict.fromkeys(wanted.claim_ids)) or None
        claims, numbers = await app.claims.numbered(process_id, asked)
        some = list(numbers) if asked else None  # one of ten thousand: the others need not be read
        headers = await app.verifications.headers_of(process_id, some)
        reviews: dict[str, list[Review]] = {}
        for one in await app.reviews.in_full(process_id, some):
            reviews.setdefault(one.claim_id, []).append(one)
        reviewed = await app.reviews.of_claims(process_id, list(reviews))
        total = process.claims if asked else None
        material = material_of(process, claims, headers, reviewed, wanted, made, total, numbers)
        judges = [
            judge_name(one.engine, one.model, one.settings)
            for one in material.verifications
            if one.verdict
        ]
        material = replace(material, measured=measured_words(app.settings.home, judges))
        if categories := await app.dialogues.categories(process_id):
            of_turns = (
                replace(
                    one,
                    category=categories.get(one.claim.claim_id),
                    is_undecided_turn=categories.get(one.claim.claim_id, "") is None,
                )
                for one in material.claims
            )
            material = replace(material, claims=tuple(of_turns))
        material = replace(material, claims=await _compared(app, material.claims))
        names = [one.verification_id for one in material.verifications]
        checked = await app.verifications.nodes_verified(names)
        about = material.node_ids
        questions: dict[str, str] = {}
        for start in range(0, len(about), _NODES):
            questions |= await app.nodes.questions(process_id, about[start : start + _NODES])
        material = replace(material, checked=checked, questions=questions)
        return cls(app, material, reviews, version)

    async def texts(self, node_ids: Sequence[str]) -> dict[str, str]:
        """Texts of nodes; see `ReportSource.texts`."""
        return await self.app.nodes.texts(self.material.process.process_id, node_ids, most=None)

    async def resting(self) -> Resting:
        """Return what attributed nodes rest on.

        Of a report of some claims, the nodes that these state.
        """
        found = self.material
        only = found.node_ids if found.wanted != ClaimSelection() else None
        return await read_resting(self.app, found.process.process_id, only)

    async def conversation(self) -> Conversation:
        """The turns of a dialogue; a report of some claims leaves them out."""
        found = self.material
        if found.wanted != ClaimSelection():
            return Conversation()
        return await read_conversation(self.app, found.process.process_id)

    async def trails(
        self, claims: Sequence[ReportedClaim], *, whole: bool = False, counted: bool = False
    ) -> AsyncIterator[ReportTrail]:
        """The trails of these claims in their order; see `ReportSource.trails`."""
        for start in range(0, len(claims), TRAILS):
            some = claims[start : start + TRAILS]
            names = [one.verification.verification_id for one in some if one.verification]
            counts: dict[str, Mapping[int, int]] = {}
            sources: dict[str, int | None] = {}
            if counted:
                outlines = await self.app.verifications.outlines(names)
                read = [one.verification for one in outlines]
                counts = {one.verification.verification_id: one.checked for one in outlines}
                sources = {one.verification.verification_id: one.sources for one in outlines}
            else:
                read = await self.app.verifications.read(names)
            found = {one.verification_id: one for one in read}
            if len(found) < len(names):
                raise self._changed()
            stored = await self._nodes(read)
            called = names_of((one.node_id, one.metadata) for one in stored)
            nodes = {one.node_id: _stored_facts(one) for one in stored} if whole else None
            context = await self._context(read, stored) if whole else None
            carried = await self.app.verifications.carried(read)
            await self._check_unchanged()
            for one in some:
                name = one.verification.verification_id if one.verification else ""
                reviews = self.reviews.get(one.claim.claim_id, ())
                made = trail_of(one, found.get(name), reviews, nodes, context, called)
                yield replace(
                    made,
                    read=counts.get(name, {}),
                    sources=sources.get(name),
                    carried=carried.get(name, ()),
                )

    async def _check_unchanged(self) -> None:
        try:
            version = await self.app.versions.get(self.version.process_id)
        except NotFound:
            raise self._changed() from None
        if version != self.version:
            raise self._changed()

    def _changed(self) -> ProcessConflict:
        return ProcessConflict(
            f"Process {self.material.process.process_id!r} was removed, replaced or changed while "
            "its report was made. Ask for the report again."
        )

    async def _nodes(self, found: Sequence[Verification]) -> list[Node]:
        """The nodes that trails name, with their metadata."""
        process_id = self.material.process.process_id
        names = list(dict.fromkeys(name for one in found for name in named_nodes(one)))
        stored: list[Node] = []
        for start in range(0, len(names), _NODES):
            some = names[start : start + _NODES]
            stored += await self.app.nodes.with_metadata(process_id, some)
        return stored

    async def _context(
        self, found: Sequence[Verification], stored: Sequence[Node]
    ) -> dict[Place, Around]:
        """The sentences around those that trails cite."""
        process_id = self.material.process.process_id
        cited = cited_in(found)
        quoted = {one.node_id for one in cited}
        context: dict[Place, Around] = {}
        for group in _groups([one for one in stored if one.node_id in quoted]):
            context |= context_of(cited, await self.app.nodes.texts(process_id, group, most=None))
        return context


async def _compared(app: Application, claims: Sequence[ReportedClaim]) -> tuple[ReportedClaim, ...]:
    """Claims with their verifications in earlier versions, as far as these are stored."""
    names = {one.verification.compared_with: None for one in claims if one.verification}
    names.pop(None, None)
    if not names:
        return tuple(claims)
    read = await app.verifications.headers([name for name in names if name])
    before = {one.verification_id: one for one in read}
    return tuple(
        replace(one, before=before.get(one.verification.compared_with or ""))
        if one.verification
        else one
        for one in claims
    )


def _stored_facts(one: Node) -> NodeFacts:
    ref = NodeRef(one.node_id, one.stage, one.position, Role(str(one.role)))
    return NodeFacts(ref, one.kind, one.step, one.model)


def _groups(nodes: Sequence[Node]) -> Iterator[list[str]]:
    """Nodes whose texts can be held together."""
    group: list[str] = []
    size = 0
    for one in nodes:
        if group and size + one.length > _TEXTS:
            yield group
            group, size = [], 0
        group.append(one.node_id)
        size += one.length
    if group:
        yield group


SUFFIXES = (".json", ".jsonl", ".ndjson", ".gz")


def is_file(name: str) -> bool:
    """Return whether a process is named by a file: one that is there and called like one."""
    path = Path(name)
    looks_like_one = name.lower().endswith(SUFFIXES) or path.name != name
    try:
        return looks_like_one and path.is_file()
    except OSError:  # such as a name that is too long for any file
        return False


def check_process_id(name: str) -> None:
    """Find out, before an engine is started, that what is no process file is no id either.

    Raises:
        InputError: It has a slash in it.
    """
    if Path(name).name != name:
        raise InputError(f"{_file_words(name)}. A process_id has no slash in it.")


@contextmanager
def file_meant(name: str) -> Iterator[None]:
    """Look up a process by its id; where none is found, tell also of the file of that name.

    Raises:
        NotFound: There is neither.
    """
    try:
        yield
    except NotFound as error:
        if not Path(name).suffix and not Path(name).is_dir():
            raise
        raise NotFound(f"{_file_words(name)}. {error}", code=error.code) from None


def _file_words(name: str) -> str:
    """Return why a name is not that of a process file."""
    path = Path(name)
    try:
        if path.is_dir():
            return f"{name} is a folder, and no process file"
        if path.exists():
            return f"{name} is no process file, whose name ends with {', '.join(SUFFIXES)}"
    except OSError:  # such as a name that is too long for any file
        pass
    return f"There is no file {name}"


@dataclass(frozen=True, slots=True)
class FileSource:
    """A process of a file.

    Attributes:
        source: The file.
        material: The process and its claims.
        trails_of: Verifications with their trails, by id; those that the report goes by.
        refs: Where the nodes stand that these name, by node_id.
        reviews: All reviews of a claim, newest first, by claim_id.
    """

    source: ProcessInput
    material: ReportData
    trails_of: Mapping[str, Verification]
    refs: Mapping[str, NodeRef]
    reviews: Mapping[str, tuple[Review, ...]] = field(default_factory=dict)

    @classmethod
    def read(
        cls,
        path: Path,
        wanted: ClaimSelection = ClaimSelection(),  # noqa: B008 (frozen)
        made: Made | None = None,
        max_node_text: int = 10_000_000,
    ) -> FileSource:
        """Read and check a file.

        Args:
            path: The file.
            wanted: Which of its claims the report is about.
            made: When and by what it is made; None: now, from this file.
            max_node_text: The longest text of a node, in bytes of UTF-8.

        Raises:
            InvalidProcess: It breaks rules; all violations are listed.
            NotFound: There is no such claim in it.
        """
        source = ProcessFileImporter().open(path, ImportOptions(max_node_text=max_node_text))
        found = survey_whole(source, max_node_text=max_node_text)
        trails, refs = _verifications(source, found)
        reviews = _reviews(source)
        process = _process(found)
        said = _said(reviews, trails, found.claims, process.run_of_record)
        made = made or Made(origin=path.name)
        claims = [one for one in found.claims if one.origin is None]  # questions are not counted
        material = material_of(process, claims, trails, said, wanted, made)
        names = {one.verification_id for one in material.verifications}
        kept = {one.verification_id: one for one in trails if one.verification_id in names}
        checked = {name: one.nodes_verified for name, one in kept.items()}
        questions = _questions(source, material.node_ids)
        material = replace(material, checked=checked, questions=questions)
        return cls(source, material, kept, refs, reviews)

    async def texts(self, node_ids: Sequence[str]) -> dict[str, str]:
        """Texts of nodes; see `ReportSource.texts`."""
        wanted = set(node_ids)
        return {
            node.node_id: node.text
            for node in self.source.records()
            if isinstance(node, NodeRecord) and node.node_id in wanted
        }

    async def resting(self) -> Resting:
        """Nothing: a process file holds no attribution."""
        return Resting()

    async def conversation(self) -> Conversation:
        """Nothing: a process file holds no verified turns."""
        return Conversation()

    async def trails(
        self, claims: Sequence[ReportedClaim], *, whole: bool = False, counted: bool = False
    ) -> AsyncIterator[ReportTrail]:
        """The trails of these claims in their order, always whole; see `ReportSource.trails`."""
        names = [one.verification.verification_id for one in claims if one.verification]
        found = [self.trails_of[name] for name in names]
        facts, around, called = self._nodes(found)
        nodes, context = (facts, around) if whole else (None, None)
        for one in claims:
            trail = self.trails_of[one.verification.verification_id] if one.verification else None
            reviews = self.reviews.get(one.claim.claim_id, ())
            yield trail_of(one, trail, reviews, nodes, context, called)

    def _nodes(
        self, found: Sequence[Verification]
    ) -> tuple[dict[str, NodeFacts], Context, dict[str, str]]:
        """The nodes that trails name, the sentences around those cited, and names of nodes."""
        names = {name for one in found for name in named_nodes(one)}
        cited: dict[str, list[CitedSentence]] = {}
        for one in cited_in(found):
            cited.setdefault(one.node_id, []).append(one)
        facts: dict[str, NodeFacts] = {}
        context: dict[Place, Around] = {}
        called: dict[str, str] = {}
        for node in self.source.records():
            if isinstance(node, NodeRecord) and node.node_id in names:
                called |= names_of([(node.node_id, node.metadata)])
                facts[node.node_id] = _facts(self.refs[node.node_id], node)
                text = {node.node_id: node.text}
                context |= context_of(cited.get(node.node_id, ()), text)
        return facts, context, called


def _questions(source: ProcessInput, node_ids: Sequence[str]) -> dict[str, str]:
    """The questions that nodes answer, by node_id; of those that have one of their own."""
    wanted = set(node_ids)
    return {
        node.node_id: node.question
        for node in (source.records() if wanted else ())
        if isinstance(node, NodeRecord) and node.node_id in wanted and node.question
    }


def _facts(ref: NodeRef, node: NodeRecord) -> NodeFacts:
    model = node.metadata.get("model")
    return NodeFacts(ref, node.kind, node.step, model if isinstance(model, str) else None)


def _process(found: Survey) -> Process:
    header = found.header
    return Process(
        process_id=found.process_id,
        name=header.name or found.process_id,
        question=header.question,
        source_format=header.source_format,
        content_hash=found.hash,
        stages=found.stages,
        stage_names=header.stage_names,
        terminals=found.terminals,
        nodes=found.nodes,
        edges=found.edges,
        claims=len(found.claims),
        warnings=found.warnings,
        run_of_record=header.run_of_record,
    )


def _verifications(
    source: ProcessInput, found: Survey
) -> tuple[list[Verification], dict[str, NodeRef]]:
    """Verifications of the file, and where the nodes stand that they name."""
    known: dict[str, NodeRef] = {}
    read: list[Verification] = []
    if not isinstance(source, TrailInput):
        return read, known
    for record in source.trails():
        if isinstance(record, VerificationRecord):
            one = record.verification.replace(process_id=found.process_id)
            refs = {name: _ref(found, name, known) for name in _names(one)}
            read.append(with_nodes(one, refs))
    return read, known


def _names(one: Verification) -> Iterable[str]:
    yield from named_nodes(one)
    for iteration in one.iterations:
        yield from (node.node_id for node in iteration.checked)


def _ref(found: Survey, name: str, known: dict[str, NodeRef]) -> NodeRef:
    if name not in known:
        number = found.topology.numbers[name]
        stage = found.topology.stages[number]
        known[name] = NodeRef(name, stage, number, found.roles[number])
    return known[name]


def _reviews(source: ProcessInput) -> dict[str, tuple[Review, ...]]:
    """Reviews by claim, newest first."""
    if not isinstance(source, TrailInput):
        return {}
    found: dict[str, list[Review]] = {}
    for record in source.trails():
        if isinstance(record, ReviewRecord):
            found.setdefault(record.review.claim_id, []).append(record.review)
    return {
        name: tuple(sorted(each, key=lambda one: one.order, reverse=True))
        for name, each in found.items()
    }


def _said(
    reviews: Mapping[str, Sequence[Review]],
    trails: Iterable[Verification],
    claims: Iterable[Claim],
    run_of_record: str | None,
) -> dict[str, Reviewed]:
    texts = {one.claim_id: one.text for one in claims}
    of_claim: dict[str, list[Verification]] = {}
    for one in trails:
        of_claim.setdefault(one.claim_id, []).append(one)
    states = {
        name: reviewed(each, counting.verdict if counting else None)
        for name, each in reviews.items()
        for counting in [in_force(of_claim.get(name, ()), texts.get(name, ""), run_of_record)]
    }
    return {name: state for name, state in states.items() if state is not None}


@asynccontextmanager
async def opened(
    settings: Settings,
    process: str,
    wanted: ClaimSelection = ClaimSelection(),  # noqa: B008 (frozen)
    on_start: Callable[[], None] | None = None,
) -> AsyncIterator[ReportSource]:
    """Open the source of a report: a process file, or a stored process.

    Args:
        settings: The settings.
        process: A process_id, the first letters of one, or a process file.
        wanted: Which of its claims the report is about.
        on_start: Called before the embedded engine is started.

    Raises:
        NotFound: There is no such process or claim.
        InputError: The file breaks rules.
    """
    if is_file(process):
        limit = settings.max_node_text
        yield FileSource.read(Path(process), wanted, max_node_text=limit)
        return
    from veritrail_graph.api.app import Application

    check_process_id(process)
    async with Application(settings, on_engine_start=on_start) as app:
        with file_meant(process):
            try:
                await app.processes.get(process)
            except NotFound as error:
                if error.code != "process_unknown":
                    raise
                process = await app.names.process(process)
        yield await StoredSource.read(app, process, wanted)
