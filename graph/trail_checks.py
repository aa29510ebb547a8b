"""The rules of verifications, extracted sentences and reviews that an input carries.

Every violation is listed, beside those of the process, before anything is stored.

Source: VeriTrail 3.2 (what a verification returns).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from veritrail_graph.graph.errors import InvalidProcess, Violation, shown
from veritrail_graph.graph.exporters.trail_file import verification_object
from veritrail_graph.graph.importers.records import (
    ExtractionRecord,
    NodeRecord,
    ProcessInput,
    ReviewRecord,
    TrailInput,
    VerificationRecord,
)
from veritrail_graph.graph.ingest.check import (
    MAX_VIOLATIONS_OF_A_KIND,
    Survey,
    first_of_each_kind,
    survey,
)
from veritrail_graph.graph.model import NodeRef, Role, Verdict, Verification
from veritrail_graph.graph.restoring import with_nodes
from veritrail_graph.graph.reviewing import restored_faults


def survey_whole(source: ProcessInput, **options: Any) -> Survey:
    """Check an input with everything that it carries; see `graph.survey.survey`.

    Args:
        source: The input.
        **options: Those of `survey`.

    Raises:
        InvalidProcess: It breaks rules; all violations are listed.
    """
    try:
        found = survey(source, **options)
    except InvalidProcess as error:
        faults = [one for one in _trails(source) if isinstance(one, Violation)]
        if not faults:
            raise
        message = (
            f"{error} (its verifications, extracted sentences and reviews break {len(faults)} more)"
        )
        first = first_of_each_kind(faults, MAX_VIOLATIONS_OF_A_KIND)
        raise InvalidProcess(message, [*error.violations, *first]) from None
    violations = check_trails(source, found)
    if violations:
        raise _invalid(violations)
    return found


def check_trails(source: ProcessInput, found: Survey) -> list[Violation]:
    """What is wrong with the verifications and extracted sentences of an input.

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
    checking.check_reviews()
    if checking.quoted:
        for node in source.records():
            if isinstance(node, NodeRecord):
                checking.quotations(node)
    return checking.violations


def _trails(source: ProcessInput) -> Iterator[Any]:
    if isinstance(source, TrailInput):
        yield from source.trails()


def _invalid(violations: list[Violation]) -> InvalidProcess:
    count = len(violations)
    return InvalidProcess(
        f"The process breaks {count} rule{'' if count == 1 else 's'}; nothing was stored",
        first_of_each_kind(violations, MAX_VIOLATIONS_OF_A_KIND),
    )


@dataclass(slots=True)
class _Checking:
    """What was seen so far, and what was wrong with it.

    Attributes:
        found: The process.
        reviews: Reviews, which are checked when all verifications are known.
        verdicts: Claim and verdict of every verification, by its id.
        quoted: What stands between two offsets of a node, and where that is said, by node_id.
    """

    found: Survey
    violations: list[Violation] = field(default_factory=list)
    quoted: dict[str, dict[tuple[int, int], tuple[int, str]]] = field(default_factory=dict)
    seen: set[object] = field(default_factory=set)
    reviews: list[ReviewRecord] = field(default_factory=list)
    verdicts: dict[str, tuple[str, Verdict | None]] = field(default_factory=dict)
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
        for iteration in one.iterations:
            for root in iteration.carried_roots:
                if self._ref(root.node_id).role is not Role.ROOT:
                    message = f"carried_roots: {shown(root.node_id)} is no root"
                    self._fault("no_root", f"{where}: iterations[{iteration.number - 1}]", message)
            for evidence in iteration.summaries:
                for cited in evidence.sentences:
                    self._quote(cited.node_id, cited.start, cited.end, cited.text, where)
        self._fits_together(record)

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
        """Compare what is said to stand in a node with its text."""
        for (start, end), (hash_, where) in self.quoted.pop(node.node_id, {}).items():
            if end > len(node.text):
                message = f"end {end} lies outside the text of {shown(node.node_id)}"
                self._fault("offset_out_of_range", where, message)
            elif hash(node.text[start:end]) != hash_:
                message = f"another text stands in {shown(node.node_id)} from {start} to {end}"
                self._fault("wrong_sentence", where, message)

    def _nodes(self, one: Verification, where: str) -> bool:
        """Whether all nodes that a verification names are there."""
        named: list[tuple[str, Iterable[str]]] = [
            ("node_id", [one.node_id]),
            ("error_nodes", [node.node_id for node in one.error_nodes]),
            ("propagated_nodes", [node.node_id for node in one.propagated_nodes]),
            ("paths", [name for path in one.paths for name in (path.source, path.target)]),
            ("paths", [name for path in one.paths for name in path.via]),
        ]
        for it in one.iterations:
            key = f"iterations[{it.number - 1}]"
            named.append((f"{key}.checked", [node.node_id for node in it.checked]))
            named.append((f"{key}.carried_roots", [node.node_id for node in it.carried_roots]))
            named.append((f"{key}.evidence", it.node_ids_with_evidence))
        known = [self._known(names, where, key) for key, names in named]  # all are listed
        return all(known)

    def _fits_together(self, record: VerificationRecord) -> None:
        """Whether what a verification says twice is said alike."""
        refs = {name: self._ref(name) for name in _names(record.verification)}
        made = verification_object(with_nodes(record.verification, refs), record.place)
        for key, value in record.given.items():
            if key != "process_id" and key in made and not _holds(made[key], value):
                message = f"{key} does not fit to the rest of the verification"
                self._fault("inconsistent_trail", record.where, message)

    def _ref(self, node_id: str) -> NodeRef:
        number = self.found.topology.numbers[node_id]
        return NodeRef(
            node_id, self.found.topology.stages[number], number, self.found.roles[number]
        )

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
            self._fault(kind, where, "stands in the input before")
        self.seen.add(key)

    def _quote(self, node_id: str, start: int, end: int, text: str, where: str) -> None:
        if start > end:
            self._fault("reversed_offsets", where, f"start {start} lies behind end {end}")
            return
        hash_ = hash(text)
        before = self.quoted.setdefault(node_id, {}).setdefault((start, end), (hash_, where))
        if before[0] != hash_:
            message = f"another text is said to stand in {shown(node_id)} from {start} to {end}"
            self._fault("wrong_sentence", where, message)

    def _fault(self, kind: str, where: str, message: str) -> None:
        self.violations.append(Violation(kind, where, message))


def _names(one: Verification) -> Iterator[str]:
    yield from (node.node_id for node in (*one.error_nodes, *one.propagated_nodes))
    for iteration in one.iterations:
        yield from (node.node_id for node in (*iteration.checked, *iteration.carried_roots))


def _holds(made: Any, given: Any) -> bool:
    """Whether everything that was given is what was made of it; what was left out may be more."""
    if isinstance(given, dict) and isinstance(made, dict):
        return all(key in made and _holds(made[key], value) for key, value in given.items())
    if isinstance(given, list) and isinstance(made, list):
        return len(given) == len(made) and all(map(_holds, made, given))
    return bool(made == given)
