"""`verify --explain`: what the step that went wrong did with which sentence of its sources.

Source: VeriTrail 3.2; Error-tolerant attribution 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from veritrail_graph.api.cli.exits import NOT_ALL_SUCCEEDED, UNREACHABLE, Exit, fault_json
from veritrail_graph.api.cli.terminal import say
from veritrail_graph.api.show.texts import one_line
from veritrail_graph.graph.errors import VeriTrailError
from veritrail_graph.graph.model import RunUsage, Status, Usage
from veritrail_graph.graph.model.trail import NO_USAGE

if TYPE_CHECKING:
    from veritrail_graph.api.app import Application
    from veritrail_graph.api.app.jobs import Explanation, LocalResult
    from veritrail_graph.graph.model.attribution import CarriedSentence


@dataclass(frozen=True, slots=True)
class ExplainedTrails:
    """The attribution of the sentences that end the trails of a run.

    Attributes:
        found: What was attributed; None: the explanation was not begun, or failed.
        carried: What ends the trails, by verification_id, as it is stored.
        fault: Why there is nothing, or nothing was read.
    """

    found: Explanation | None = None
    carried: Mapping[str, tuple[CarriedSentence, ...]] = field(default_factory=dict)
    fault: VeriTrailError | None = None

    @property
    def usage(self) -> Usage:
        """Return what it cost."""
        return self.found.usage if self.found is not None else NO_USAGE

    def added_to(self, spent: RunUsage) -> RunUsage:
        """The usage of the run, with that of the attribution."""
        return spent.replace(usage=spent.usage + self.usage)

    def add_to(self, document: dict[str, Any]) -> None:
        """Add it to the JSON document of the run, as keys of their own."""
        document["attribution"] = self._document()
        for one in document["verifications"]:
            carried = self.carried.get(one["verification_id"], ())
            one["carried"] = [sentence.json_object() for sentence in carried]

    def _document(self) -> dict[str, Any] | None:
        if self.fault is not None:
            return {"error": fault_json(self.fault)}
        if self.found is None or self.found.run is None:
            return None
        document = self.found.run.json_object()
        document["stored"] = self.found.counts.get(Status.SUCCEEDED, 0)
        if self.found.refusal is not None:
            document["error"] = fault_json(self.found.refusal)
        return document

    def check(self) -> None:
        """Tell what went wrong with it.

        Raises:
            Exit: Something did.
        """
        if self.fault is not None:
            say(f"Error: the trails are not explained: {one_line(str(self.fault))}", "bold red")
            raise Exit(NOT_ALL_SUCCEEDED)
        if self.found is None:
            return
        for warning in self.found.warnings:
            say(f"Warning: {one_line(warning)}", "yellow")
        if self.found.run is None:
            say("No sentence of an error node is known to have carried a claim.", "dim")
            return
        if self.found.refusal is not None:
            words = one_line(str(self.found.refusal))
            say(f"Error: the attribution was stopped: {words}", "bold red")
            raise Exit(UNREACHABLE)
        if self.found.error is not None:
            say(f"{one_line(self.found.error)}.", "red")
            raise Exit(NOT_ALL_SUCCEEDED)


async def explained_trails(app: Application, done: LocalResult) -> ExplainedTrails:
    """Return what the explanation of a run did, and what ends its trails.

    Args:
        app: The application.
        done: What the run left behind.
    """
    found = done.explanation
    if isinstance(found, VeriTrailError):
        return ExplainedTrails(fault=found)
    try:
        carried = await app.verifications.carried(done.verifications)
    except VeriTrailError as error:  # the verdicts are shown and kept even so
        return ExplainedTrails(found, fault=error)
    return ExplainedTrails(found, carried)
