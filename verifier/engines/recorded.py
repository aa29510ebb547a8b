"""Engine `recorded`: answers of a model that were recorded, to the very prompts of `openai`.

Nobody is asked. What was not recorded ends as failed, never as a guess.

Source: ours; docs/adr/0052-recorded-answers.md.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from veritrail_graph.verifier.engines import EndpointSettings, Engine, prompted_judge

if TYPE_CHECKING:
    from veritrail_graph.verifier.models.port import Endpoint


def _endpoint(settings: EndpointSettings) -> Endpoint:
    from veritrail_graph.verifier.models.recorded_answers import RecordedEndpoint, recorded_answers

    return RecordedEndpoint(recorded_answers(settings.recorded))


def _label(file: Path | None) -> str:
    from veritrail_graph.verifier.models.recorded_answers import recorded_answers

    return recorded_answers(file).label


ENGINE = Engine(
    "recorded",
    "recorded answers of a model: those of the samples, or of a file; no model is asked",
    prompted_judge("recorded"),
    _endpoint,
    recorded=_label,
)
