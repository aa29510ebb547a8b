"""Published checkers as pure code on the port of entailment models."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from veritrail_graph.graph.errors import InputError
from veritrail_graph.verifier.nli.adapters.chunked import AlignScore, Hhem, MiniCheck
from veritrail_graph.verifier.nli.adapters.infuse import Infuse
from veritrail_graph.verifier.nli.adapters.port import (
    Adapter,
    ChunkedAdapter,
    Support,
    mean,
    mean_of_top,
)
from veritrail_graph.verifier.nli.adapters.summac import ConvWeights, SummaCConv, SummaCZs
from veritrail_graph.verifier.nli.port import EntailmentModel
from veritrail_graph.verifier.ports import Split

__all__ = [
    "NAMES", "Adapter", "AlignScore", "ChunkedAdapter", "ConvWeights", "Hhem", "Infuse",
    "MiniCheck", "SummaCConv", "SummaCZs", "Support", "adapter_named", "lowest_score", "mean",
    "mean_of_top",
]  # fmt: skip

_KINDS: Mapping[str, type[Adapter]] = {
    "minicheck": MiniCheck,
    "alignscore": AlignScore,
    "infuse": Infuse,
    "summac-zs": SummaCZs,
    "summac-conv": SummaCConv,
    "hhem": Hhem,
}
NAMES = tuple(_KINDS)


def lowest_score(name: str) -> float:
    """The lowest score of an adapter; the highest is 1.

    Args:
        name: One of `NAMES`.
    """
    return _KINDS[name].lowest


def adapter_named(
    name: str, model: EntailmentModel, split: Split, weights: Path | None = None
) -> Adapter:
    """An adapter by its name.

    Args:
        name: One of `NAMES`.
        model: The model that it asks.
        split: Splits texts into sentences.
        weights: The file of trained weights, for `summac-conv`.

    Raises:
        InputError: There is none, or its weights are not named.
    """
    if name == "summac-conv":
        if weights is None:
            raise InputError(
                "The adapter summac-conv needs a JSON file of its trained weights, and none is "
                "named.",
                code="entailment_weights_needed",
            )
        return SummaCConv(model, split, ConvWeights.read(weights))
    if name == "hhem":
        return Hhem(model)
    with_split = {
        "minicheck": MiniCheck,
        "alignscore": AlignScore,
        "infuse": Infuse,
        "summac-zs": SummaCZs,
    }
    if name not in with_split:
        raise InputError(
            f"There is no adapter {name!r}. Write pairs, {', '.join(NAMES)}.",
            code="entailment_adapter_unknown",
        )
    made: Adapter = with_split[name](model, split)
    return made
