"""Deal out claims to the folders of annotators, with their documents.

Source: VeriTrail B.2.2, B.2.3 (a folder a question, with the articles of its claims).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from veritrail_eval.annotation.grouping import Grouping
from veritrail_eval.datasets.model import Dataset, LabelledClaim
from veritrail_eval.documents import DOCUMENT_KEYS, Document, documents_of
from veritrail_graph.graph.errors import InputError
from veritrail_graph.verifier.held_process import HeldProcess


@dataclass(frozen=True, slots=True)
class Article:
    """A document of a folder.

    Attributes:
        name: Its heading.
        text: Its text.
    """

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Folder:
    """Claims that are annotated together.

    Attributes:
        code: The name of the folder, such as `Q01`.
        process_id: The process that the claims are about.
        question: What the answer answers; None: not known.
        claims: The claims.
        articles: The documents that they are checked against.
    """

    code: str
    process_id: str
    question: str | None
    claims: tuple[LabelledClaim, ...]
    articles: tuple[Article, ...]


def folders_of(
    dataset: Dataset, claims: Iterable[LabelledClaim], by: Grouping
) -> tuple[Folder, ...]:
    """The folders of some claims of a data set, in the order of their first claims.

    Raises:
        InputError: A process cannot be read, or a claim does not fit its process.
    """
    groups: dict[tuple[str, object], list[LabelledClaim]] = {}
    held: dict[str, _Sources] = {}
    for claim in claims:
        name = claim.process_id
        sources = held.get(name) or held.setdefault(name, _Sources.read(dataset, name))
        key = sources.answer(claim) if by is Grouping.QUESTION else sources.roots(claim)
        groups.setdefault((name, key), []).append(claim)
    width = max(2, len(str(len(groups))))
    letter = "Q" if by is Grouping.QUESTION else "D"
    return tuple(
        _folder(f"{letter}{number:0{width}}", held[process_id], members)
        for number, ((process_id, _), members) in enumerate(groups.items(), start=1)
    )


def folder_of(dataset: Dataset, code: str, claims: Sequence[LabelledClaim]) -> Folder:
    """A folder with these claims, which are about one process.

    Raises:
        InputError: The process cannot be read, or a claim does not fit it.
    """
    return _folder(code, _Sources.read(dataset, claims[0].process_id), claims)


class _Sources:
    """The answers and the source text of the claims of a process."""

    def __init__(self, process: HeldProcess) -> None:
        self.process = process
        self._every = frozenset(ref.node_id for ref in process.roots)

    @classmethod
    def read(cls, dataset: Dataset, process_id: str) -> _Sources:
        """Those of a process of a data set."""
        try:
            return cls(HeldProcess.read(dataset.processes[process_id]()))
        except InputError as error:
            more = "; ".join(str(one) for one in getattr(error, "violations", ())[:3])
            message = f"process {process_id!r} of {dataset.name!r} cannot be read: {error} {more}"
            raise InputError(message.rstrip()) from None

    def answer(self, claim: LabelledClaim) -> str:
        """The node that a claim is about."""
        try:
            return self.process.node_of(claim.node_id).node_id
        except InputError as error:
            raise InputError(f"claim {claim.claim_id!r}: {error}") from None

    def question(self, node_id: str) -> str | None:
        """Return what a node answers."""
        return self.process.questions.get(node_id) or self.process.survey.header.question

    def roots(self, claim: LabelledClaim) -> frozenset[str]:
        """The source text that an annotator of a claim is given.

        Raises:
            InputError: The claim names a document that is no root.
        """
        if claim.documents is None:
            return self._every
        strange = next((name for name in claim.documents if name not in self._every), None)
        if strange is not None:
            raise InputError(
                f"claim {claim.claim_id!r}: document {strange!r} is no root of process "
                f"{claim.process_id!r}"
            )
        return frozenset(claim.documents)


def _folder(code: str, sources: _Sources, claims: Sequence[LabelledClaim]) -> Folder:
    process = sources.process
    wanted = frozenset[str]().union(*map(sources.roots, claims))
    if not wanted:
        raise InputError(
            f"claim {claims[0].claim_id!r} has no documents: process {process.process_id!r} names "
            "no source text for it"
        )
    found = documents_of(process, [ref for ref in process.roots if ref.node_id in wanted])
    questions = dict.fromkeys(sources.question(sources.answer(claim)) for claim in claims)
    return Folder(
        code,
        process.process_id,
        " / ".join(filter(None, questions)) or None,
        tuple(claims),
        tuple(Article(_name(process, one), one.text) for one in found),
    )


def _name(process: HeldProcess, document: Document) -> str:
    title = process.metadata.get(document.ref.node_id, {}).get("title")
    if isinstance(title, str) and title.strip():
        return title
    key, _, value = document.name.partition("=")
    return value if key in DOCUMENT_KEYS and value else document.name
