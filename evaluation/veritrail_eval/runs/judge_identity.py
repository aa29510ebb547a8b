"""The judge behind an outcome, so that a run goes on with the judge that it began with.

Parameters of a matrix leave open what the settings say, such as the model. Two outcomes of one
configuration are of one judge where its method has the same settings.

Source: ours (docs/evaluation.md).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from pydantic import Field

from veritrail_eval.methods.method import Method
from veritrail_graph.graph.comparing import flat_settings
from veritrail_graph.graph.judge_mode import with_wording, wording_of_settings
from veritrail_graph.graph.model.canonical import canonical
from veritrail_graph.graph.model.noun import Noun

_ADDRESS = "endpoint"
"""The setting of a step that says where its model answers: it does not decide what it answers."""
_MODEL = "model"
_RETRIEVAL = "embedding."


class JudgeIdentity(Noun):
    """The judge of an outcome: a name for people, and a hash of all that decides its answers."""

    name: str = Field(description="Its engine, its models, and its prompts if not the paper's.")
    settings: str = Field(description="Hash of its settings: models, prompts, limits, samples.")

    @classmethod
    def of(cls, method: Method) -> JudgeIdentity:
        """The judge of a method; where an endpoint has its address is left out."""
        settings = _without_addresses(method.settings)
        content = canonical({"method": method.name, "settings": settings})
        return cls(
            name=_name(method.name, settings), settings=hashlib.sha256(content).hexdigest()[:32]
        )


def _without_addresses(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: _without_addresses(value) if isinstance(value, Mapping) else value
        for key, value in settings.items()
        if key != _ADDRESS
    }


def _name(method: str, settings: Mapping[str, Any]) -> str:
    """Engine, models and wording, such as `openai NAME, prompts v2`."""
    text = json.dumps(settings)
    models = {
        str(value)
        for key, value in flat_settings(text).items()
        if key.rpartition(".")[2] == _MODEL and value and not key.startswith(_RETRIEVAL)
    }
    name = " ".join([str(settings.get("engine", method)), *sorted(models)])
    return with_wording(name, wording_of_settings(text))
