"""Judging faithfulness with and without attribution, over one document or among many.

A set-up is what a judge sees of the sources. Where it sees the attributed sentences alone, other
documents change nothing: one run is valid for all sizes. The mixed set-up takes the judgements of
two others, and asks nothing: faithful sentences with their attribution alone, unfaithful ones with
their documents and no attribution, as if errors could not be attributed.

Source: Error-tolerant attribution 6.1, Table 3.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from veritrail_eval.attribution.model import VERDICTS, AttributionFile, SourceSentence
from veritrail_eval.attribution.sources import Sources
from veritrail_eval.figures.confusion import Confusion
from veritrail_eval.figures.figure import Figure, with_reasons
from veritrail_graph.graph.errors import InputError, VeriTrailError, Violation, shown
from veritrail_graph.graph.model import Status
from veritrail_graph.graph.model.attribution import (
    AttributedSentence,
    AttributionCategory,
    Faithfulness,
    SourceMode,
)
from veritrail_graph.verifier.attribution.attributor import attributed
from veritrail_graph.verifier.attribution.faithfulness import (
    FaithfulnessJudge,
    SentenceMaterial,
    judge_sentence,
)
from veritrail_graph.verifier.models.port import EndpointRefused, Meter, OverBudget
from veritrail_graph.verifier.ports import ReadNode

AT_ONCE = 64
"""Sentences judged side by side; the model's own limit is what bounds the calls."""
NOT_ATTRIBUTED = "no attribution of it is known"


class SetUp(StrEnum):
    """A set-up: the texts that a judge is shown. Source: Error-tolerant attribution 6.1.

    Attributes:
        PLAIN: The documents.
        HIGHLIGHTED: The documents, with the attributed sentences marked.
        ATTRIBUTION: The attributed sentences alone.
        MIXED: Faithful sentences as in ATTRIBUTION, unfaithful ones as in PLAIN with one document.
    """

    PLAIN = "plain"
    HIGHLIGHTED = "highlighted"
    ATTRIBUTION = "attribution"
    MIXED = "mixed"


@dataclass(frozen=True, slots=True)
class Case:
    """A labelled sentence with what it was written from.

    Attributes:
        sentence_id: Its id.
        text: Its text.
        label: Whether it is faithful.
        documents: The nodes that it was written from.
        attributed: What it is attributed to; None: that is not known.
    """

    sentence_id: str
    text: str
    label: Faithfulness
    documents: tuple[str, ...]
    attributed: frozenset[SourceSentence] | None


@dataclass(frozen=True, slots=True)
class Judged:
    """The judgement of a sentence in a set-up; a failure is a status, and no label."""

    case: Case
    status: Status
    label: Faithfulness | None = None
    score: float | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """A set-up with its judgements: a row of the table.

    Attributes:
        set_up: What was shown.
        size: Over how many documents; None: it makes no difference.
        judged: What was said of each sentence.
    """

    set_up: SetUp
    size: int | None
    judged: Sequence[Judged]

    @property
    def confusion(self) -> Confusion:
        """The four cells, over the sentences that were judged; an unfaithful one is a positive."""
        return Confusion.of(
            (VERDICTS[one.case.label], VERDICTS[one.label])
            for one in self.judged
            if one.label is not None
        )

    @property
    def balanced_accuracy(self) -> Figure:
        """The mean of the recall of both labels."""
        return self.confusion.balanced_accuracy

    def as_json(self) -> dict[str, Any]:
        """The figure, the cells, and what has no label."""
        cells = self.confusion
        document = {
            "set_up": self.set_up.value,
            "documents": self.size,
            "balanced_accuracy": self.balanced_accuracy.value,
            "sentences": cells.claims,
            "not_judged": len(self.judged) - cells.claims,
            "true_positives": cells.true_positives,
            "false_positives": cells.false_positives,
            "true_negatives": cells.true_negatives,
            "false_negatives": cells.false_negatives,
        }
        return with_reasons(document, {"balanced_accuracy": self.balanced_accuracy})


def cases_of(
    gold: AttributionFile, predicted: AttributionFile | None, sources: Sources
) -> tuple[list[Case], int]:
    """The labelled sentences of gold.

    Args:
        gold: Labels, texts and, without `predicted`, attributions.
        predicted: The attributions that judges are shown; None: those of gold.
        sources: The documents.

    Returns:
        The cases, and how many sentences have no label.

    Raises:
        InputError: A sentence has no text, or its documents are not known or have no text; all
            are listed. Or none has a label, or the attributions are of other sentences.
    """
    shown_to = gold if predicted is None else predicted.named_as(gold)
    if predicted is not None and not shown_to.statements.keys() & gold.statements.keys():
        theirs, ours = (next(iter(one.statements), "none") for one in (predicted, gold))
        raise InputError(
            "The attributions are of other sentences than GOLD: they name "
            f"{shown(theirs)} and the like, GOLD names {shown(ours)}. Nothing was asked."
        )
    cases: list[Case] = []
    faults: list[Violation] = []
    unlabelled = 0
    for name, one in gold.statements.items():
        if one.label is None:
            unlabelled += 1
            continue
        where = f"sentence {shown(name)}"
        other = shown_to.statements.get(name)
        text = one.text or (other.text if other else None)
        found = shown_to.sentences.get(name)
        chosen = None if found is None else found.sources
        documents = one.documents or sources.inputs.get(name.rpartition(":")[0], ())
        more = {node_id for node_id, _ in chosen or ()}.difference(documents)
        documents = (*documents, *sorted(more))
        lacking = [node_id for node_id in documents if not sources.counts.get(node_id)]
        if not text or not text.strip():
            faults.append(Violation("no_text", where, "has no text"))
        elif not documents:
            message = "does not say from which documents it was written"
            faults.append(Violation("no_documents", where, message))
        elif lacking:
            message = f"was written from {shown(lacking[0])}, which the sources lack or leave empty"
            faults.append(Violation("unknown_document", where, message))
        elif beyond := [
            place for place in chosen or () if not place[1] < sources.counts.get(place[0], 0)
        ]:
            message = f"is attributed to {shown(beyond[0][0])} {beyond[0][1]}, which is not there"
            faults.append(Violation("unknown_sentence", where, message))
        else:
            cases.append(Case(name, text, one.label, documents, chosen))
    if faults:
        count = "1 sentence" if len(faults) == 1 else f"{len(faults)} sentences"
        raise InputError(f"{count} cannot be judged; nothing was asked.", faults)
    if not cases:
        raise InputError("No sentence of GOLD has a label.")
    return cases, unlabelled


def groups_of(
    cases: Sequence[Case], size: int, pool: Sequence[str], seed: int
) -> dict[tuple[str, ...], list[str]]:
    """So many documents for each set of documents: its own among others, drawn and shuffled.

    Sentences with the same documents see the same group, in the same order.

    Args:
        cases: The sentences.
        size: Documents in all.
        pool: Documents to draw from.
        seed: The same seed draws the same.

    Raises:
        InputError: The pool is too small.

    Source: Error-tolerant attribution 6.1 (each document among nine others).
    """
    found: dict[tuple[str, ...], list[str]] = {}
    for documents in dict.fromkeys(case.documents for case in cases):
        others = [name for name in pool if name not in documents]
        wanted = max(size - len(documents), 0)
        if len(others) < wanted:
            raise InputError(
                f"{size} documents are wanted, and beside {shown(documents[0])} there are "
                f"{len(others)} others; {wanted} are needed. Name a file with more of them."
            )
        draw = random.Random(f"{seed} {size} {documents}")  # noqa: S311  # a sample, not a secret
        group = [*documents, *draw.sample(others, wanted)]
        if wanted:
            draw.shuffle(group)
        found[documents] = group
    return found


@dataclass(slots=True)
class SetUps:
    """Judges sentences in several set-ups.

    Attributes:
        judge: Who is asked.
        nodes: Reads a document by its name.
        meter: Records every call.
        on_judged: Called after each judgement.
    """

    judge: FaithfulnessJudge
    nodes: Callable[[str], ReadNode]
    meter: Meter
    on_judged: Callable[[Judged], None] = lambda _judged: None
    _slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))
    _read: dict[str, ReadNode] = field(default_factory=dict)
    _refusal: EndpointRefused | None = None

    async def run(
        self,
        cases: Sequence[Case],
        groups: Mapping[int, Mapping[tuple[str, ...], Sequence[str]]],
        modes: Sequence[SourceMode],
    ) -> list[Row]:
        """The rows of the table: every mode for every size, attribution alone once, then mixed.

        Args:
            cases: The sentences.
            groups: For each size the documents that are shown with each set of documents.
            modes: What judges are shown.
        """
        rows: list[Row] = []
        for size, group in groups.items():
            for mode in modes:
                if mode is not SourceMode.ATTRIBUTION:
                    judged = await self._judged(cases, group, mode)
                    rows.append(Row(SetUp(mode.value), size, judged))
        if SourceMode.ATTRIBUTION in modes:
            alone = {case.documents: case.documents for case in cases}
            judged = await self._judged(cases, alone, SourceMode.ATTRIBUTION)
            rows.append(Row(SetUp.ATTRIBUTION, None, judged))
            plain = [row for row in rows if (row.set_up, row.size) == (SetUp.PLAIN, 1)]
            rows += [Row(SetUp.MIXED, 1, mixed(judged, row.judged)) for row in plain]
        return rows

    async def _judged(
        self,
        cases: Sequence[Case],
        group: Mapping[tuple[str, ...], Sequence[str]],
        mode: SourceMode,
    ) -> list[Judged]:
        async def one(case: Case) -> Judged:
            async with self._slots:
                found = await self._one(case, group[case.documents], mode)
            self.on_judged(found)
            return found

        async with asyncio.TaskGroup() as tasks:
            running = [tasks.create_task(one(case)) for case in cases]
        return [task.result() for task in running]

    async def _one(self, case: Case, documents: Sequence[str], mode: SourceMode) -> Judged:
        if case.attributed is None and mode is not SourceMode.PLAIN:
            return Judged(case, Status.FAILED, reason=NOT_ATTRIBUTED)
        nodes = [self._node(name) for name in documents]
        material = SentenceMaterial(
            case.text, nodes, _attributed(nodes, case.attributed or frozenset())
        )
        try:
            if self._refusal is not None:  # no call can succeed any more
                raise self._refusal
            answer = await judge_sentence(material, mode, self.judge, self.meter)
        except EndpointRefused as error:
            self._refusal = self._refusal or error
            return Judged(case, Status.FAILED, reason=str(error))
        except OverBudget as error:
            return Judged(case, Status.OVER_BUDGET, reason=str(error))
        except VeriTrailError as error:
            return Judged(case, Status.FAILED, reason=str(error))
        return Judged(case, Status.SUCCEEDED, answer.label, answer.score, answer.reason or None)

    def _node(self, name: str) -> ReadNode:
        if name not in self._read:
            self._read[name] = self.nodes(name)
        return self._read[name]

    @property
    def refusal(self) -> EndpointRefused | None:
        """Return why no call can succeed, where one was refused."""
        return self._refusal


def mixed(alone: Sequence[Judged], plain: Sequence[Judged]) -> list[Judged]:
    """Faithful sentences as judged by their attribution alone, unfaithful ones by their documents.

    Source: Error-tolerant attribution 6.1 (the mixed set-up).
    """
    return [
        one if one.case.label is Faithfulness.FAITHFUL else other
        for one, other in zip(alone, plain, strict=True)
    ]


def _attributed(
    nodes: Sequence[ReadNode], chosen: frozenset[SourceSentence]
) -> list[AttributedSentence]:
    """The attributed sentences; judges see no categories, so that any one will do."""
    return [
        attributed(sentence, (AttributionCategory.EVIDENCE,))
        for node in nodes
        for sentence in node.sentences
        if (sentence.node_id, sentence.index) in chosen
    ]
