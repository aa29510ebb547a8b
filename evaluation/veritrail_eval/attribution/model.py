"""Sentences with the source sentences that they are attributed to, as a file gives them.

Source: Error-tolerant attribution 3 (task and categories).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from veritrail_graph.graph.model import Verdict
from veritrail_graph.graph.model.attribution import AttributionCategory, Faithfulness

SourceSentence: TypeAlias = tuple[str, int]
"""A source sentence: node_id, and its place in the node, from 0."""

VERDICTS: Mapping[Faithfulness, Verdict] = {
    Faithfulness.FAITHFUL: Verdict.FULLY_SUPPORTED,
    Faithfulness.UNFAITHFUL: Verdict.NOT_FULLY_SUPPORTED,
}
"""The class of an evaluation that a label of faithfulness is."""


@dataclass(frozen=True, slots=True)
class Passage:
    """The text of a source sentence.

    Attributes:
        text: The text.
        start: Where it begins in the text of its node, in code points; None: not known.
    """

    text: str
    start: int | None = None


@dataclass(frozen=True, slots=True)
class Attribution:
    """The attribution of a sentence to source sentences.

    Attributes:
        sentence_id: What tells it from the other sentences of its file.
        sources: The source sentences; empty: none.
        categories: All categories of the attribution; None: the file does not say. Without a
            source sentence they are empty.
        label: What a person or a judge said of the sentence; None: nothing.
    """

    sentence_id: str
    sources: frozenset[SourceSentence]
    categories: frozenset[AttributionCategory] | None = None
    label: Faithfulness | None = None

    @property
    def implied_label(self) -> Faithfulness | None:
        """The label that follows from the categories; None where they are not known.

        Source: Error-tolerant attribution 3 (near match, expected span and none: unfaithful).
        """
        if self.categories is None:
            return None
        if self.categories == {AttributionCategory.EVIDENCE}:
            return Faithfulness.FAITHFUL
        return Faithfulness.UNFAITHFUL

    @property
    def known_label(self) -> Faithfulness | None:
        """The label that was given, else the implied one."""
        return self.label or self.implied_label


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence as a file gives it, whether or not it is attributed.

    Attributes:
        sentence_id: What tells it from the other sentences of its file.
        text: Its text; None: the file does not give it.
        label: What a person or a judge said of it, else what its categories imply.
        documents: The nodes that it was written from; empty: the file does not say.
    """

    sentence_id: str
    text: str | None = None
    label: Faithfulness | None = None
    documents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AttributionFile:
    """The content of a file of attributions.

    Attributes:
        sentences: Its sentences by id, in their order.
        passages: Texts of source sentences, as far as the file gives them.
        failed: Ids of sentences that have no attribution because the engine failed.
        notes: What a person should know of the file, a sentence each.
        statements: All its sentences by id, those without an attribution as well.
        process_id: The process, where the file is one document of one process: its ids do not
            begin with it; None: they are left as they are.
    """

    sentences: Mapping[str, Attribution]
    passages: Mapping[SourceSentence, Passage]
    failed: Sequence[str] = ()
    notes: Sequence[str] = ()
    statements: Mapping[str, Statement] = field(default_factory=dict)
    process_id: str | None = None

    def named_as(self, gold: AttributionFile) -> AttributionFile:
        """The file with the ids of another one, where they differ by the process alone.

        Ids begin with `PROCESS/` in files about several processes, and do not in the document of
        one.
        """
        if self.statements.keys() & gold.statements.keys():
            return self
        if self.process_id is not None:
            found = self._renamed(f"{self.process_id}/", "")
        elif gold.process_id is not None:
            found = self._renamed("", f"{gold.process_id}/")
        else:
            return self
        return found if found.statements.keys() & gold.statements.keys() else self

    def _renamed(self, added: str, removed: str) -> AttributionFile:
        """The file with other beginnings of ids; sentences of other processes keep theirs."""

        def name(one: str) -> str:
            return f"{added}{one.removeprefix(removed)}"

        return replace(
            self,
            sentences={
                name(key): replace(
                    one,
                    sentence_id=name(key),
                    sources=frozenset((name(node), place) for node, place in one.sources),
                )
                for key, one in self.sentences.items()
            },
            passages={(name(node), place): one for (node, place), one in self.passages.items()},
            failed=[name(one) for one in self.failed],
            statements={
                name(key): replace(
                    one, sentence_id=name(key), documents=tuple(map(name, one.documents))
                )
                for key, one in self.statements.items()
            },
            process_id=None,
        )
