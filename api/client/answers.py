"""The answers of the operations: models of the application, as a notebook shows them.

What a newer service says besides is kept and can be read by its name. Texts of nodes and
claims are untrusted: they are shown as text, never as markup.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ModelWrapValidatorHandler, model_validator
from typing_extensions import override

from veritrail_graph.api.app import answers, findings
from veritrail_graph.api.app.answers import Stage
from veritrail_graph.api.client import page
from veritrail_graph.api.first_guesses import GUESSES, no_such
from veritrail_graph.api.show.dialogue_run import run_shown
from veritrail_graph.api.show.job import job_shown
from veritrail_graph.api.show.processes import process_shown
from veritrail_graph.api.show.query_rows import rows_shown
from veritrail_graph.graph import model
from veritrail_graph.graph.model import Review
from veritrail_graph.graph.model import dialogue as dialogue_nouns
from veritrail_graph.graph.model.agreement import Agreement
from veritrail_graph.graph.model.attribution import CarriedSentence
from veritrail_graph.graph.model.job import OPEN, Job
from veritrail_graph.graph.model.listed import ClaimFound
from veritrail_graph.graph.model.nodes import Node
from veritrail_graph.graph.model.noun import Many, is_empty
from veritrail_graph.graph.model.printing import Printed
from veritrail_graph.graph.model.processes import ProcessOverview
from veritrail_graph.graph.model.queried import Query, QueryRows

__all__ = ["Agreement", "Node", "Query", "Review", "Stage"]

if TYPE_CHECKING:
    from pandas import DataFrame

    from veritrail_graph.api.show.document import Document

T = TypeVar("T")
A = TypeVar("A", bound=BaseModel)


def read(answer: type[A], document: Any) -> A:
    """An answer from its JSON; fields that are not known here are kept.

    Raises:
        ValueError: It is something else.
    """
    if isinstance(document, BaseModel):  # of the application, in this process
        document = document.model_dump(mode="json")
    return answer.model_validate(document, extra="allow")


def frame(records: list[dict[str, Any]]) -> DataFrame:
    """A data frame of records.

    Raises:
        ImportError: There is no pandas here.
    """
    try:
        import pandas
    except ImportError:
        raise ImportError("to_pandas() needs pandas: pip install pandas") from None
    return pandas.DataFrame.from_records(records)


class Answer(Printed, BaseModel):
    """A JSON object of an answer."""

    model_config = ConfigDict(extra="allow", frozen=True, protected_namespaces=())

    def as_json(self) -> dict[str, Any]:
        """The object as it was sent."""
        return self.model_dump(mode="json", exclude_unset=True)


class Health(Answer):
    """The health of the service: alive, or ready to work."""

    status: str


class Ingested(page.Readable, answers.Ingested):
    """The result of an ingest, as `ingest --json` prints it."""

    @override
    def document(self) -> Document:
        return page.ingested_shown(self)


class IngestedMany(answers.IngestedMany):
    """The result of an ingest of several processes; `processes` are `Ingested`, or `Refused`."""

    @classmethod
    def of_answer(cls, document: Any) -> IngestedMany:
        """The answer, also where the source held one process and the answer is about that.

        Raises:
            ValueError: It is something else.
        """
        if isinstance(document, dict) and "processes" not in document:
            one = answers.Ingested.model_validate(document)
            document = answers.IngestedMany.of([one])
        return read(cls, document)


class Process(page.Readable, ProcessOverview):
    """A stored process; in a list it has no terminals, stages and warnings."""

    @override
    def document(self) -> Document:
        return process_shown(self)


class Claim(Printed, ClaimFound):
    """A stored claim, with its verdict in force and its reviews."""

    def _repr_html_(self) -> str:
        return page.claims([self])

    if not TYPE_CHECKING:  # a checker is to find names that are not there

        def __getattr__(self, name: str) -> Any:
            """Say which call is meant, where a name that is none was tried."""
            if name in GUESSES["claim"]:
                raise no_such("claim", f"{type(self).__name__!r} object", name)
            return super().__getattr__(name)


class AddedClaims(Answer):
    """The claims that were given, as they are stored, and how many of them are new."""

    process_id: str
    claims: list[Claim]
    claims_added: int


class Rows(page.Readable, QueryRows):
    """The answer of a query: columns and rows."""

    def __len__(self) -> int:
        return len(self.rows)

    def records(self) -> list[dict[str, Any]]:
        """The rows as objects by column."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def to_pandas(self) -> DataFrame:
        """The rows as a data frame; pandas must be there."""
        return frame(self.records())

    @override
    def document(self) -> Document:
        return rows_shown(self)


class Listed(list[T]):
    """A list of answers that a notebook shows as a table."""

    def to_pandas(self) -> DataFrame:
        """A row an answer, a column a field; pandas must be there."""
        return frame([one.model_dump(mode="json") for one in self if isinstance(one, BaseModel)])

    def stages_svg(self) -> str:
        """Of verifications: where errors came in, by judge and stage, as a picture."""
        from veritrail_graph.api.client.drawing import stages_svg

        return stages_svg(one for one in self if isinstance(one, model.Verification))

    def _repr_html_(self) -> str:
        return page.table(self)


class Verification(page.Readable, model.Verification):
    """One verification of one claim with its trail; an object of `verify --json`.

    `carried` is the end of the trail: the sentences of error nodes that carried the claim, as far
    as they were attributed.
    """

    carried: Many[CarriedSentence] = Field(default=(), exclude_if=is_empty)

    def svg(self) -> str:
        """Return the trail as a picture, from the source text to the answer."""
        from veritrail_graph.api.show.picture_svg import trail_svg

        return trail_svg(self)

    def __repr__(self) -> str:
        return f"<Verification {self.verification_id}: {self.verdict or self.status}>"

    @override
    def document(self) -> Document:
        return page.trail_shown(self)

    if not TYPE_CHECKING:  # a checker is to find names that are not there

        def __getattr__(self, name: str) -> Any:
            """Say which call is meant, where a name that is none was tried."""
            if name in GUESSES["verification"]:
                raise no_such("verification", f"{type(self).__name__!r} object", name)
            return super().__getattr__(name)


class DialogueRun(page.Readable, dialogue_nouns.DialogueRun):
    """The assistant's turns of a dialogue with their claims; what `dialogue show --json` prints."""

    def __repr__(self) -> str:
        score = "no score" if self.score is None else f"score {self.score:.2f}"
        return f"<DialogueRun {self.dialogue_id}: {len(self.turns):,} turn(s), {score}>"

    @override
    def document(self) -> Document:
        return run_shown(self)


class Provenance(findings.Provenance):
    """Paths of evidence, each down to the verified node."""

    def _repr_html_(self) -> str:
        return page.provenance(self)


_UNSAID: Mapping[str, Any] = {
    "kind": "verification",
    "process_id": "",
    "run_id": "",
    "cancelling": False,
    "submitted_by": "",
    "counts": {},
    "usage": {},
    "reused": 0,
    "error": None,
    "warnings": [],
    "explanation": None,
    "created_at": "",
    "started_at": None,
    "ended_at": None,
    "verification_ids": [],
    "node_ids": [],
    "turn_ids": [],
    "batches": [],
}
"""Defaults of a job for fields that an answer leaves out: lists leave out the long ones."""


class JobState(page.Readable, Job):
    """The state of a job.

    `failed`: a verification, a sentence or a turn did not succeed, or a correction or the
    explanation failed.
    """

    @model_validator(mode="wrap")
    @classmethod
    def _read(cls, said: Any, read: ModelWrapValidatorHandler[JobState]) -> JobState:
        """Read an answer; what it leaves out stays unset."""
        if not isinstance(said, dict):
            return read(said)
        state = read({**_UNSAID, **said})
        state.model_fields_set.difference_update(_UNSAID.keys() - said.keys())
        return state

    @property
    def is_over(self) -> bool:
        """Return whether nothing more happens unless it is resumed."""
        return self.status not in OPEN

    @override
    def document(self) -> Document:
        return job_shown(self)


class Event(Answer):
    """Something that happened in a job.

    Attributes:
        id: Its id; a stream that broke goes on behind it.
        kind: `claim.started`, `iteration.finished`, `claim.finished`, `sentence.started`,
            `sentence.finished`, `turn.started`, `turn.finished`, `explanation.started`,
            `explanation.finished` or `job.finished`.
        data: Its fields.
    """

    id: str
    kind: str
    data: dict[str, Any] = Field({})
