"""The claims of a process with what was found of them, and where that is in the original trace."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid5

from veritrail_graph.graph.contract import FORMAT
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.exporters.process_file import json_text
from veritrail_graph.graph.model import Status, Verdict, Verification
from veritrail_graph.graph.store import Store
from veritrail_graph.graph.store.export import StoredProcess

VERDICT = "veritrail.verdict"
STATUS = "veritrail.status"
SCORE = "veritrail.score"
ORIGIN = "veritrail.error_origin"
"""Names of what is written: the verdict of a claim, why it has none, the share of samples that
said Fully Supported, and that an error came in at a call."""

INTRODUCED, POSSIBLY = "INTRODUCED", "POSSIBLY_INTRODUCED"
"""Labels of `ORIGIN`: the error came in here; it came in at one of several calls of which this
is one."""

_IDS = UUID("0d3b0c52-5d53-5c0f-8d2b-6a3f0f3f6c2e")
_AT_ONCE = 20
_TOOLS = {"langfuse": "Langfuse", "otlp": "OpenTelemetry", "mlflow": "MLflow"}


def stable_id(*parts: str) -> str:
    """A UUID that follows from some texts: writing the same again gives the same id."""
    return str(uuid5(_IDS, json_text(list(parts))))


@dataclass(frozen=True, slots=True)
class ErrorNode:
    """A node at which an error came in.

    Attributes:
        node_id: The node.
        stage: Its stage.
        call_id: The call of the trace that gave its text; None: none did.
    """

    node_id: str
    stage: int | None
    call_id: str | None


@dataclass(frozen=True, slots=True)
class Judged:
    """A claim with its verdict, or with the reason why it has none.

    Attributes:
        found: The verification in force; the latest one where none gave a verdict.
        trace_id: The original trace.
        call_id: The call whose output was verified; None: no recorded call gave it.
        errors: Where the error came in; that with most of the claim first.
    """

    found: Verification
    trace_id: str
    call_id: str | None
    errors: tuple[ErrorNode, ...]

    @property
    def verdict(self) -> Verdict | None:
        """The verdict; None: undecided or not checked to the end, which says nothing of it."""
        return self.found.verdict

    @property
    def is_by_model(self) -> bool:
        """Return whether a language model judged, and no program."""
        return not self.found.indicative

    @property
    def judge(self) -> str:
        """The model that judged, else the engine."""
        return self.found.model or self.found.engine

    @property
    def place(self) -> str | None:
        """The call to which one entry belongs: that of the error, else the verified one."""
        errors = (one.call_id for one in self.errors)
        return next((one for one in errors if one is not None), self.call_id)

    @property
    def origin(self) -> str:
        """Return what is said of each error node: one of `INTRODUCED` and `POSSIBLY`."""
        return INTRODUCED if len(self.errors) == 1 else POSSIBLY

    @property
    def explanation(self) -> str:
        """The claim and the reasons, in words."""
        found = self.found
        lines = [f"Claim: {found.claim}"]
        if found.indicative:
            lines.insert(0, f"Indicative only: judged by the engine {found.engine}, not a model.")
        if self.verdict is None:
            if found.status is Status.UNDECIDED:
                lines.append("No verdict (undecided): this says nothing for or against the claim.")
            else:
                lines.append(f"No verdict ({found.status}): the claim was not checked to the end.")
            lines += [found.error] if found.error else []
            return "\n".join(lines)
        lines += [f"Reasons: {found.reasoning}"] if found.reasoning else []
        if self.errors:
            places = [f"{one.node_id} (stage {one.stage})" for one in self.errors]
            lead = "The error came in at" if len(places) == 1 else "The error came in at one of"
            lines.append(f"{lead} {', '.join(places)}")
        return "\n".join(lines)

    @property
    def facts(self) -> dict[str, Any]:
        """Return what else is known, as JSON."""
        found = self.found
        facts = {
            "process_id": found.process_id,
            "claim_id": found.claim_id,
            "claim": found.claim,
            "node_id": found.node_id,
            "verification_id": found.verification_id,
            "status": found.status.value,
            "indicative": found.indicative,
            "engine": found.engine,
            "model": found.model,
            "error_stages": list(found.error_stages),
            "error_nodes": [one.node_id for one in self.errors],
        }
        return {key: value for key, value in facts.items() if value not in (None, [])}


class JudgedClaims:
    """Reads the claims of a process that was made from a trace.

    Attributes:
        left_out: How many were not written: questions, and claims that were never verified.
    """

    def __init__(
        self, store: Store, stored: StoredProcess, trace_id: str, calls: Mapping[str, str]
    ) -> None:
        self._store, self._stored = store, stored
        self.trace_id = trace_id
        self._calls = calls
        self.left_out: dict[str, int] = {}

    @classmethod
    async def open(
        cls, store: Store, stored: StoredProcess, name: str, source_format: str
    ) -> JudgedClaims:
        """Find the ids of the original trace and of its calls.

        Args:
            store: The graph.
            stored: The process.
            name: The format that is to be written.
            source_format: The format that holds these ids.

        Raises:
            InputError: The process was read from another format, or its trace had no id.
        """
        tool, was = _TOOLS[source_format], stored.properties["source_format"]
        if was != source_format:
            read = "a process file" if was == FORMAT else f"the format {was}"
            raise InputError(
                f"{stored.process_id}: it was read from {read}, and {name} needs the ids of a "
                f"trace of {tool} (the format {source_format}). Ingest that trace, verify it and "
                "export it; process, prov and openlineage take every process.",
                code="export_other_tool",
            )
        calls: dict[str, str] = {}
        trace_id: str | None = None
        async for spans in stored.spans():
            for span in spans:
                about = json.loads(span["metadata"]) if span.get("metadata") else {}
                if isinstance(about.get("call"), str):
                    calls[span["node_id"]] = about["call"]
                if trace_id is None and isinstance(about.get("trace"), str):
                    trace_id = about["trace"]
        if trace_id is None:
            raise InputError(
                f"{stored.process_id}: its trace had no id, so that {tool} could not tell which "
                "trace it is about. Ingest an export of the trace that holds its id.",
                code="export_no_trace_id",
            )
        return cls(store, stored, trace_id, calls)

    async def each(self) -> AsyncIterator[Judged]:
        """The claims in their order; those that were never verified are only counted."""
        async for page in self._stored.claims():
            # Questions that somebody asked are no claims of the answer.
            names = [claim["claim_id"] for claim in page if claim.get("origin") is None]
            self._leave_out("questions", len(page) - len(names))
            for start in range(0, len(names), _AT_ONCE):
                for found in await self._verifications(names[start : start + _AT_ONCE]):
                    yield self._judged(found)

    async def _verifications(self, names: list[str]) -> list[Verification]:
        """The verification of each claim that counts, in their order."""
        known = await self._store.claims.judged(self._stored.process_id, names)
        ids = []
        for name in names:
            one = known.get(name)
            verification_id = one.verification_id if one is not None else None
            if verification_id is None and one is not None and one.verifications:
                verification_id = await self._latest(name)
            if verification_id is None:
                self._leave_out("claims never verified", 1)
            else:
                ids.append(verification_id)
        return await self._store.trails.read(ids) if ids else []

    def _leave_out(self, kind: str, count: int) -> None:
        if count:
            name = f"{kind} left out"
            self.left_out[name] = self.left_out.get(name, 0) + count

    async def _latest(self, claim_id: str) -> str | None:
        """The latest verification that has ended; None: there is none."""
        found = await self._store.trails.of_claim(self._stored.process_id, claim_id, _AT_ONCE)
        ended = [one for one in found if one.status not in (Status.QUEUED, Status.RUNNING)]
        return ended[0].verification_id if ended else None

    def _judged(self, found: Verification) -> Judged:
        call = self._calls.get
        errors = tuple(
            ErrorNode(one.node_id, one.stage, call(one.node_id)) for one in found.error_nodes
        )
        return Judged(found, self.trace_id, call(found.node_id), errors)
