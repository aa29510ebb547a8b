"""Verifications, extracted sentences and reviews that an input carries: checked, then stored.

They are checked together with the process, so that nothing is stored of an input that breaks a
rule; all violations are listed. They are stored after the process, a few verifications a
transaction. What is already stored is kept, so that the next ingest completes an interrupted one.

Source: VeriTrail 3.2 (what a verification returns).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise
from typing import Any

from veritrail_graph.graph.errors import (
    InvalidProcess,
    Violation,
    Violations,
    shown,
)
from veritrail_graph.graph.importers.records import (
    ExtractionRecord,
    NodeRecord,
    ProcessInput,
    ReviewRecord,
    TrailInput,
    VerificationRecord,
)
from veritrail_graph.graph.ingest.check import Survey, refused, survey
from veritrail_graph.graph.ingest.write import IngestReport
from veritrail_graph.graph.model import (
    LocatedBy,
    NodeRef,
    Role,
    Status,
    Verdict,
    Verification,
    stages_of,
)
from veritrail_graph.graph.model.canonical import canonical
from veritrail_graph.graph.reviewing import restored_faults
from veritrail_graph.graph.store import Store


def survey_whole(source: ProcessInput, **options: Any) -> Survey:
    """Check an input with everything that it carries; see `check.survey`.

    Args:
        source: The input.
        **options: Those of `survey`.

    Raises:
        InvalidProcess: It breaks rules; all violations are listed.
    """
    try:
        found = survey(source, **options)
    except InvalidProcess as error:
        faults = Violations(one for one in _trails(source) if isinstance(one, Violation))
        if not len(faults):
            raise
        message = (
            f"{error} (its verifications, extracted sentences and reviews break {len(faults)} more)"
        )
        raise InvalidProcess(message, [*error.violations, *faults.listed()]) from None
    violations = check_trails(source, found)
    if len(violations):
        raise refused(violations)
    return found


def check_trails(source: ProcessInput, found: Survey) -> Violations:
    """Return what is wrong with the verifications and extracted sentences of an input.

    Args:
        source: The input.
        found: Its process, which keeps every rule.
    """
    checking = _Checking(found)
    for record in _trails(source):
        if isinstance(record, VerificationRecord):
            checking.verification(record)
        elif isinstance(record, ExtractionRecord):
            checking.extraction(record)
        elif isinstance(record, ReviewRecord):
            checking.reviews.append(record)
        else:
            checking.violations.append(record)
            if checking.violations.is_over:
                return checking.violations
    checking.check_steps()
    checking.check_reviews()
    if checking.quoted:
        for node in source.records():
            if isinstance(node, NodeRecord):
                checking.quotations(node)
    return checking.violations


def _trails(source: ProcessInput) -> Iterator[Any]:
    if isinstance(source, TrailInput):
        yield from source.trails()


@dataclass(slots=True)
class _Checking:
    """The records read so far, and the rules that they break.

    Attributes:
        found: The process.
        reviews: Reviews, which are checked when all verifications are known.
        verdicts: Claim and verdict of every verification, by its id.
        steps: Ends, by number, of the edges that trails go along, each with its place in the input.
        quoted: Quotes from a node by node_id and offsets, each with its place in the input.
    """

    found: Survey
    violations: Violations = field(default_factory=Violations)
    quoted: dict[str, dict[tuple[int, int], tuple[int, str]]] = field(default_factory=dict)
    seen: set[object] = field(default_factory=set)
    reviews: list[ReviewRecord] = field(default_factory=list)
    verdicts: dict[str, tuple[str, Verdict | None]] = field(default_factory=dict)
    steps: dict[tuple[int, int], str] = field(default_factory=dict)
    claims: Mapping[str, str] = field(init=False)

    def __post_init__(self) -> None:
        self.claims = {claim.claim_id: claim.node_id for claim in self.found.claims}

    def extraction(self, record: ExtractionRecord) -> None:
        """Check a sentence from which claims were extracted."""
        sentence, where = record.sentence, record.where
        self._once((sentence.node_id, sentence.position), "duplicate_extraction", where)
        if self._known([sentence.node_id], where, "node_id"):
            self._no_root(sentence.node_id, where)
            self._quote(sentence.node_id, sentence.start, sentence.end, sentence.text, where)
        for claim_id in sentence.claim_ids:
            self._claim(claim_id, where)

    def verification(self, record: VerificationRecord) -> None:
        """Check a verification."""
        one, where = record.verification, record.where
        self._once(one.verification_id, "duplicate_verification_id", where)
        self.verdicts[one.verification_id] = one.claim_id, one.verdict
        self._process(record.given.get("process_id"), where)
        self._claim(one.claim_id, where)
        if not self._nodes(one, where):
            return
        self._no_root(one.node_id, where)
        self._trail(one, where)
        for iteration in one.iterations:
            for root in iteration.carried_roots:
                if self._ref(root.node_id).role is not Role.ROOT:
                    message = f"carried_roots: {shown(root.node_id)} is no root"
                    self._fault("no_root", f"{where}: iterations[{iteration.number - 1}]", message)
            for evidence in (*iteration.summaries, *iteration.judged):
                for cited in evidence.sentences:
                    self._quote(cited.node_id, cited.start, cited.end, cited.text, where)
        self._place(one, where)
        self._fits_together(record)

    def _trail(self, one: Verification, where: str) -> None:
        """Check that the evidence trail leads from all evidence to the verified node."""
        sources = {link.source for link in one.paths}
        for target in dict.fromkeys(link.target for link in one.paths):
            if target != one.node_id and target not in sources:
                message = f"paths: {shown(target)} leads on to no node, and not to the verification"
                self._fault("inconsistent_trail", where, message)
        if one.paths:  # a file may hold none of them
            found = (name for each in one.iterations for name in each.node_ids_with_evidence)
            for name in dict.fromkeys(found):
                if name not in sources:
                    message = f"paths: no link leads from {shown(name)}, which has evidence"
                    self._fault("inconsistent_trail", where, message)
        number = self.found.topology.numbers
        for link in one.paths:
            for step in pairwise((link.source, *link.via, link.target)):
                self.steps.setdefault((number[step[0]], number[step[1]]), where)

    def check_steps(self) -> None:
        """Check that the links of the trails go along edges of the process."""
        left, topology = dict(self.steps), self.found.topology
        if left:
            for edge in zip(topology.edge_sources, topology.edge_targets, strict=True):
                left.pop(edge, None)
        for (source, target), where in left.items():
            ends = (shown(topology.ids[source]), shown(topology.ids[target]))
            message = "paths: the process has no edge from {} to {}; via names the nodes between"
            self._fault("inconsistent_trail", where, message.format(*ends))

    def check_reviews(self) -> None:
        """Check the reviews."""
        for record in self.reviews:
            one, where = record.review, record.where
            self._once(("review", one.review_id), "duplicate_review_id", where)
            self._process(record.given.get("process_id"), where)
            self._claim(one.claim_id, where)
            for message in restored_faults(one, self.verdicts):
                self._fault("wrong_review", where, message)
            kind = record.given.get("kind")
            if kind not in {None, one.kind.value}:
                message = f"kind is {kind}, and its verdict makes it {one.kind.value}"
                self._fault("wrong_review", where, message)

    def quotations(self, node: NodeRecord) -> None:
        """Compare the quotes from a node with its text."""
        for (start, end), (hash_, where) in self.quoted.pop(node.node_id, {}).items():
            if end > len(node.text):
                message = f"end {end} is outside the text of {shown(node.node_id)}"
                self._fault("offset_out_of_range", where, message)
            elif hash(node.text[start:end]) != hash_:
                message = f"the text is different in {shown(node.node_id)} from {start} to {end}"
                self._fault("wrong_sentence", where, message)

    def _nodes(self, one: Verification, where: str) -> bool:
        """Return whether all nodes that a verification names are there."""
        named: list[tuple[str, Iterable[str]]] = [
            ("node_id", [one.node_id]),
            ("error_nodes", [node.node_id for node in one.error_nodes]),
            ("propagated_nodes", [node.node_id for node in one.propagated_nodes]),
            ("value_place", [] if one.value_place is None else one.value_place.named),
            ("appeals", [appeal.node_id for appeal in one.appeals]),
            ("paths", [name for path in one.paths for name in (path.source, path.target)]),
            ("paths", [name for path in one.paths for name in path.via]),
        ]
        for it in one.iterations:
            key = f"iterations[{it.number - 1}]"
            named.append((f"{key}.checked", [node.node_id for node in it.checked]))
            named.append((f"{key}.carried_roots", [node.node_id for node in it.carried_roots]))
            named.append((f"{key}.evidence", it.node_ids_with_evidence))
            named.append((f"{key}.judged", [name for one in it.judged for name in one.node_ids]))
            named.append((f"{key}.left_out_roots", it.left_out_roots))
        known = [self._known(names, where, key) for key, names in named]  # all are listed
        return all(known)

    def _fits_together(self, record: VerificationRecord) -> None:
        """Check that what a verification states twice is stated alike."""
        refs = {name: self._ref(name) for name in _names(record.verification)}
        made = with_nodes(record.verification, refs).json_object()
        for key, value in record.given.items():
            if key != "process_id" and key in made and not _holds(made[key], value):
                message = f"{key} does not match the rest of the verification"
                self._fault("inconsistent_trail", record.where, message)

    def _ref(self, node_id: str) -> NodeRef:
        number = self.found.topology.numbers[node_id]
        return NodeRef(
            node_id, self.found.topology.stages[number], number, self.found.roles[number]
        )

    def _place(self, one: Verification, where: str) -> None:
        """Check where an error came in, and how that was found."""
        place = one.value_place
        if place is not None:
            for said in (place.source, place.wrote):
                self._quote(said.node_id, said.start, said.end, said.text, where)
        is_by_value = one.located_by is LocatedBy.VALUE
        if one.located_by is not None and not (place if is_by_value else one.error_nodes):
            message = f"located_by is {one.located_by}, and no such place is given"
            self._fault("inconsistent_trail", where, message)

    def _known(self, names: Iterable[str], where: str, key: str) -> bool:
        unknown = [name for name in names if name not in self.found.topology.numbers]
        for name in dict.fromkeys(unknown):
            self._fault("unknown_node", where, f"{key}: no node has the node_id {shown(name)}")
        return not unknown

    def _process(self, process_id: str | None, where: str) -> None:
        own = self.found.header.process_id
        if process_id and own and process_id != own:
            message = f"process_id is {shown(process_id)}, and this process is {shown(own)}"
            self._fault("wrong_process", where, message)

    def _claim(self, claim_id: str, where: str) -> None:
        if claim_id not in self.claims:
            message = f"no claim of this input has the claim_id {shown(claim_id)}"
            self._fault("unknown_claim", where, message)

    def _no_root(self, node_id: str, where: str) -> None:
        if self._ref(node_id).role is Role.ROOT:
            message = f"{shown(node_id)} is a root: there is nothing to check it against"
            self._fault("claim_on_root", where, message)

    def _once(self, key: object, kind: str, where: str) -> None:
        if key in self.seen:
            self._fault(kind, where, "is used earlier in the input")
        self.seen.add(key)

    def _quote(self, node_id: str, start: int, end: int, text: str, where: str) -> None:
        if start > end:
            self._fault("reversed_offsets", where, f"start {start} is after end {end}")
            return
        hash_ = hash(text)
        before = self.quoted.setdefault(node_id, {}).setdefault((start, end), (hash_, where))
        if before[0] != hash_:
            message = f"another text is quoted from {shown(node_id)} from {start} to {end}"
            self._fault("wrong_sentence", where, message)

    def _fault(self, kind: str, where: str, message: str) -> None:
        self.violations.append(Violation(kind, where, message))


def _names(one: Verification) -> Iterator[str]:
    if one.value_place is not None:
        yield from one.value_place.named
    yield from (node.node_id for node in (*one.error_nodes, *one.propagated_nodes))
    for iteration in one.iterations:
        yield from (node.node_id for node in (*iteration.checked, *iteration.carried_roots))


def _holds(made: Any, given: Any) -> bool:
    """Return whether all given values equal those made; values left out are not compared."""
    if isinstance(given, dict) and isinstance(made, dict):
        return all(key in made and _holds(made[key], value) for key, value in given.items())
    if isinstance(given, list) and isinstance(made, list):
        return len(given) == len(made) and all(map(_holds, made, given))
    return bool(made == given)


_AT_ONCE = 50
_NODES_AT_ONCE = 20_000


@dataclass(frozen=True, slots=True)
class _Stored:
    """The stored verification under an id, as far as it is compared."""

    process_id: str
    status: str
    place: int | None
    content_hash: str | None


async def restore(store: Store, source: ProcessInput, report: IngestReport) -> IngestReport:
    """Store what an input carries beside its claims and is not stored yet.

    Args:
        store: The graph.
        source: The input; `check_trails` found no fault in it.
        report: The report on its process.

    Raises:
        NotFound: The process was removed or replaced meanwhile.
    """
    if not isinstance(source, TrailInput):
        return report
    await _restore_extractions(store, source, report)
    added = 0
    has_trails = False
    renamed: list[str] = []
    for records in _groups(source):
        new, others = await _restore_some(store, records, report)
        added += new
        has_trails = True
        renamed += others
    process_id, pinned = report.survey.process_id, source.header.run_of_record
    if has_trails:
        await store.trails.link_reused(process_id)
    reviews = await restore_reviews(store, source, process_id, set(renamed))
    if pinned is not None and renamed:
        own = restored_id(pinned, process_id)
        if await store.trails.of_run(own, process_id):  # the run of record has another id here
            await store.trails.pin(process_id, own)
    warnings = report.survey.warnings
    if renamed:
        warnings = (*warnings, _renamed_words(renamed))
    survey = replace(report.survey, warnings=warnings)
    return replace(report, survey=survey, verifications_added=added, reviews_added=reviews)


def restored_id(name: str, process_id: str) -> str:
    """The id of a verification, run or review whose own id belongs to another process.

    It follows from both, so that restoring the same again finds what is there.
    """
    digest = hashlib.sha256(canonical([name, process_id])).hexdigest()
    prefix = next((one for one in ("r", "review") if name.startswith(f"{one}-")), "v")
    return f"{prefix}-{digest[:32]}"


async def restore_reviews(
    store: Store, source: TrailInput, process_id: str, renamed: set[str]
) -> int:
    """Store the reviews of an input that are not stored yet; return how many.

    Args:
        store: The graph.
        source: The input.
        process_id: Its process.
        renamed: Verifications that were stored under ids of this process.
    """
    given = [one.review for one in source.trails() if isinstance(one, ReviewRecord)]
    known = await store.reviews.known([one.review_id for one in given])
    own = []
    for one in given:
        name, about = one.review_id, one.overrides
        if known.get(name, process_id) != process_id:
            name = restored_id(name, process_id)
        if about in renamed:
            about = restored_id(about, process_id)
        own.append(one.replace(process_id=process_id, review_id=name, overrides=about))
    return await store.reviews.restore(process_id, own)


def _renamed_words(renamed: Sequence[str]) -> str:
    names = ", ".join(renamed[:3]) + (" …" if len(renamed) > 3 else "")
    return (
        f"{len(renamed):,} verification(s) have ids that belong to another process ({names}); "
        "they were stored under new ids"
    )


async def _restore_extractions(store: Store, source: TrailInput, report: IngestReport) -> None:
    """Store extracted sentences of the nodes that have none yet."""
    found = report.survey
    sentences = [one.sentence for one in source.trails() if isinstance(one, ExtractionRecord)]
    if not sentences:
        return
    claims = store.claims
    there = {sentence.node_id for sentence in await claims.sentences(found.process_id)}
    sentences.sort(key=lambda sentence: (sentence.node_id, sentence.position))
    for node_id, some in groupby(sentences, key=lambda sentence: sentence.node_id):
        if node_id not in there:
            await claims.keep_extraction(found.process_id, found.hash, node_id, [*some], ())


def _groups(source: TrailInput) -> Iterator[list[VerificationRecord]]:
    """Verifications in groups that one transaction can hold."""
    records: list[VerificationRecord] = []
    nodes = 0
    for record in source.trails():
        if isinstance(record, VerificationRecord):
            records.append(record)
            nodes += sum(len(one.checked) for one in record.verification.iterations)
            if len(records) >= _AT_ONCE or nodes >= _NODES_AT_ONCE:
                yield records
                records, nodes = [], 0
    if records:
        yield records


async def _restore_some(
    store: Store, records: Sequence[VerificationRecord], report: IngestReport
) -> tuple[int, list[str]]:
    """Store those that are missing; return how many, and the ids that belong to other processes."""
    process_id, content_hash = report.survey.process_id, report.survey.hash
    stored = await _stored(store, [record.verification.verification_id for record in records])
    renamed = [
        name for record in records
        if (name := record.verification.verification_id) in stored
        and stored[name].process_id != process_id
    ]  # fmt: skip
    stored |= await _stored(store, [restored_id(name, process_id) for name in renamed])
    taken = set(renamed)
    ready = [
        (_own(one.verification, process_id, one.verification.verification_id in taken), one.place)
        for one in records
    ]
    new = [(found, place) for found, place in ready if _is_missing(found, stored)]
    await _write(store, process_id, content_hash, [found for found, _ in new])
    facts = [
        [found.verification_id, place, found.content_hash]
        for found, place in ready
        if _lacks_facts(found, place, stored.get(found.verification_id))
    ]
    if facts:
        await store.database.write("export/keep_facts", rows=facts)
    return len(new), renamed


async def _stored(store: Store, names: Sequence[str]) -> dict[str, _Stored]:
    if not names:
        return {}
    rows = await store.database.read("export/known_verifications", verification_ids=list(names))
    return {name: _Stored(*facts) for name, *facts in rows}


def _own(found: Verification, process_id: str, is_taken: bool) -> Verification:
    """A verification under the ids that it is stored with."""
    if not is_taken:
        return found.replace(process_id=process_id)
    run_id = found.run_id and restored_id(found.run_id, process_id)
    name = restored_id(found.verification_id, process_id)
    return found.replace(process_id=process_id, verification_id=name, run_id=run_id)


def _is_missing(found: Verification, stored: dict[str, _Stored]) -> bool:
    there = stored.get(found.verification_id)
    return there is None or (there.status == Status.QUEUED and found.status is not Status.QUEUED)


def _lacks_facts(found: Verification, place: int | None, there: _Stored | None) -> bool:
    if there is None:
        return place is not None or found.content_hash is not None
    return (there.place is None and place is not None) or (
        there.content_hash is None and found.content_hash is not None
    )


async def _write(
    store: Store, process_id: str, content_hash: str, found: Sequence[Verification]
) -> None:
    if not found:
        return
    names = {node.node_id for one in found for node in _placed(one)}
    rows = await store.database.read(
        "export/positions", process_id=process_id, node_ids=sorted(names)
    )
    refs = {
        node_id: NodeRef(node_id, stage, position, Role(role))
        for (packed,) in rows
        for node_id, stage, position, role in packed
    }
    placed = [with_nodes(one, refs) for one in found]
    # A verification may be about what the process was before it grew. That is kept too, but it
    # is not what the process is now, which is what writing would ask for.
    ready = [
        one if one.content_hash == content_hash else one.replace(content_hash=None)
        for one in placed
    ]
    await store.trails.write(*ready)


def _placed(found: Verification) -> Iterator[NodeRef]:
    """Nodes of which more than the id is stored with the verification."""
    for iteration in found.iterations:
        yield from iteration.carried_roots
    yield from found.error_nodes
    yield from found.propagated_nodes
    if found.value_place is not None:
        yield from map(NodeRef.named, found.value_place.named)


def with_nodes(found: Verification, refs: dict[str, NodeRef]) -> Verification:
    """A verification whose nodes have their stage and position, where known."""

    def placed(nodes: Sequence[NodeRef]) -> tuple[NodeRef, ...]:
        return tuple(refs.get(node.node_id, node) for node in nodes)

    iterations = tuple(
        one.replace(checked=placed(one.checked), carried_roots=placed(one.carried_roots))
        for one in found.iterations
    )
    introduced = placed(found.error_nodes)
    place = found.value_place
    if place is not None:
        known = {said.node_id: refs.get(said.node_id) for said in (place.source, place.wrote)}
        place = place.with_stages({name: ref.stage for name, ref in known.items() if ref})
    return found.replace(
        iterations=iterations,
        error_nodes=introduced,
        # The paper's rule tells no stage of nodes that sides told.
        error_stages=() if found.located_by is LocatedBy.SIDES else stages_of(introduced),
        propagated_nodes=placed(found.propagated_nodes),
        value_place=place,
    )
