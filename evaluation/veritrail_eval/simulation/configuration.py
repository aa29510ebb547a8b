"""A simulation: a grid of settings over one process and one set of claims.

Source: VeriTrail 3.1.4 (q), E.2 (limits), E.3 (samples and their threshold).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from itertools import product

from veritrail_eval.simulation.noise import Noise, require_probability
from veritrail_graph.graph.errors import InputError
from veritrail_graph.verifier.limits import Limits, Samples
from veritrail_graph.verifier.models.language_model import DEFAULT_WINDOW, MAX_OUTPUT

MOST_CLAIMS = 1_000_000
MOST_CONFIGURATIONS = 1_000
MOST_WALKS = 10_000_000
MOST_SENTENCES = 10_000
"""Of a node; longer ones are no nodes of a process that a model has read."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """One row of the result: what is varied."""

    q: int
    noise: Noise
    limits: Limits
    samples: Samples

    def named(self) -> dict[str, object]:
        """Its settings by the names of the command's options, as JSON."""
        noise, limits, samples = self.noise, self.limits, self.samples
        return {
            "q": self.q,
            "recall": noise.recall,
            "false_positives": noise.false_positives,
            "flip_supported": noise.flip_supported,
            "flip_unsupported": noise.flip_unsupported,
            "inconclusive": noise.inconclusive,
            "samples": samples.count,
            "threshold": samples.threshold,
            "max_root_sentences": limits.root_sentences,
            "max_sentences": limits.other_sentences,
            "verdict_sentences": limits.verdict_sentences,
            "verdict_root_sentences": limits.verdict_root_sentences,
        }


@dataclass(frozen=True, slots=True)
class JudgeSettings:
    """Settings of the judge that are the same in all configurations.

    Attributes:
        sentence_tokens: Tokens of a sentence.
        claim_tokens: Tokens of a claim.
        context_tokens: The context window of the model.
        sub_claims: Whether taking claims apart is counted.
        price: US dollars per million tokens of prompts and of answers; None: not known.
    """

    sentence_tokens: int = 25
    claim_tokens: int = 25
    context_tokens: int = DEFAULT_WINDOW
    sub_claims: bool = True
    price: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        """Refuse sizes under which nothing could be asked."""
        for name, most in (("sentence_tokens", 1_000), ("claim_tokens", 1_000)):
            _require(name, getattr(self, name), 1, most)
        _require("context_tokens", self.context_tokens, 4_096, 100_000_000)

    @property
    def prompt_tokens(self) -> int:
        """Tokens that a prompt may fill: the window without room for the answer."""
        return self.context_tokens - min(MAX_OUTPUT, self.context_tokens // 4)


@dataclass(frozen=True, slots=True)
class Grid:
    """Values of each setting; every combination is simulated.

    A combination whose threshold is above its number of samples is left out and counted.
    """

    q: Sequence[int] = (1, 2, 3)
    recall: Sequence[float] = (0.9,)
    false_positives: Sequence[float] = (0.002,)
    flip_supported: Sequence[float] = (0.05,)
    flip_unsupported: Sequence[float] = (0.05,)
    inconclusive: Sequence[float] = (0.02,)
    samples: Sequence[int] = (1,)
    threshold: Sequence[int] = (1,)
    max_root_sentences: Sequence[int | None] = (40,)
    max_sentences: Sequence[int | None] = (40,)
    verdict_sentences: Sequence[int | None] = (200,)
    verdict_root_sentences: Sequence[int | None] = (None,)
    max_reruns: int = 2
    same_mistakes: float = 0.5
    flips_at: tuple[tuple[int, float], ...] = ()

    def __post_init__(self) -> None:
        """Refuse values that no run could have."""
        for name in _VARIED:
            values = getattr(self, name)
            if not values:
                raise InputError(f"{name}: give at least one value.")
            for value in values:
                _require_value(name, value)
        _require("max_reruns", self.max_reruns, 0, 20)
        require_probability("same_mistakes", self.same_mistakes)
        if min(self.threshold) > max(self.samples):
            raise InputError(
                f"threshold={min(self.threshold)}: above the number of samples "
                f"({max(self.samples)}), so that nothing could ever be agreed on."
            )
        if len(_unique(self)) > MOST_CONFIGURATIONS:
            raise InputError(
                f"the grid has {len(_unique(self)):,} combinations; at most "
                f"{MOST_CONFIGURATIONS:,} are simulated at a time."
            )

    def configurations(self) -> list[Configuration]:
        """Every combination that can be, in the order of the values; the last name varies first."""
        return [
            Configuration(q, noise, limits, samples)
            for q, noise, limits, samples in self._combined()
            if samples is not None
        ]

    @property
    def left_out(self) -> int:
        """Return how many combinations have a threshold above their number of samples."""
        return sum(samples is None for _, _, _, samples in self._combined())

    def _combined(self) -> Iterator[tuple[int, Noise, Limits, Samples | None]]:
        for values in _unique(self):
            q, recall, mistaken, down, up, undecided, count, threshold, roots, others, *of = values
            yield (
                int(q or 0),
                Noise(
                    float(recall or 0),
                    float(mistaken or 0),
                    float(down or 0),
                    float(up or 0),
                    float(undecided or 0),
                    self.same_mistakes,
                    self.flips_at,
                ),
                Limits(
                    _whole(roots), _whole(others), _whole(of[0]), self.max_reruns, _whole(of[1])
                ),
                Samples(int(count or 0), int(threshold or 0))
                if (threshold or 0) <= (count or 0)
                else None,
            )


_FIXED = ("max_reruns", "same_mistakes", "flips_at")
_VARIED = tuple(each.name for each in fields(Grid) if each.name not in _FIXED)
_WHOLE = {"q": 1_000_000, "samples": 100, "threshold": 100}


def _unique(grid: Grid) -> list[tuple[float | None, ...]]:
    """All combinations, each once."""
    return list(dict.fromkeys(product(*(getattr(grid, name) for name in _VARIED))))


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)


def _require_value(name: str, value: float | None) -> None:
    if name in _WHOLE:
        _require(name, value, 1, _WHOLE[name])
    elif name.endswith("_sentences"):
        if value is not None:
            _require(name, value, 1, 10**9)
    else:
        require_probability(name, -1.0 if value is None else value)


def _require(name: str, value: float | None, least: int, most: int) -> None:
    if value is None or not least <= value <= most:
        raise InputError(f"{name}={value}: must be from {least:,} to {most:,}.")


@dataclass(frozen=True, slots=True)
class ClaimSettings:
    """The claims that are planted.

    Attributes:
        count: How many.
        unsupported: The share of them with an error.
        facts: How many facts each says.
        error_stages: In which stages errors are introduced; empty: in all.
        seed: What everything is drawn from.
    """

    count: int = 1_000
    unsupported: float = 0.25
    facts: int = 1
    error_stages: tuple[int, ...] = field(default=())
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what would plant nothing."""
        _require("claims", self.count, 1, MOST_CLAIMS)
        _require("facts", self.facts, 1, 20)
        require_probability("unsupported", self.unsupported)
        if not -(2**63) <= self.seed < 2**63:
            raise InputError(f"seed={self.seed}: must be a number of at most 63 bits.")
