"""The meaning of each output of a model, and probabilities from its outputs.

Models order their outputs as they were trained: only the names of the labels tell.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from veritrail_graph.graph.errors import InputError
from veritrail_graph.verifier.nli.port import Entailment
from veritrail_graph.verifier.ports import JudgeError

ENTAILMENT, NEUTRAL, CONTRADICTION, OTHER = "entailment", "neutral", "contradiction", "-"
ROLES = (ENTAILMENT, NEUTRAL, CONTRADICTION, OTHER)

_KNOWN = {
    ENTAILMENT: "entailment entail entails entailed support supports supported consistent aligned "
    "align faithful factual attributable",
    NEUTRAL: "neutral not_enough_info nei unrelated undetermined",
    CONTRADICTION: "contradiction contradict contradicts contradictory refute refutes refuted",
    OTHER: "not_entailment non_entailment not_entailed not_supported unsupported not_support "
    "inconsistent hallucinated hallucination unfaithful not_attributable",
}
_ROLE_OF = {word: role for role, words in _KNOWN.items() for word in words.split()}
_GENERIC = re.compile(r"label_\d+|\d+")
_UNKNOWN = "entailment_labels_unknown"


@dataclass(frozen=True, slots=True)
class Outputs:
    """The meaning of the outputs of a model.

    Attributes:
        roles: The role of each output, in order; of one output: its support.
    """

    roles: tuple[str, ...]

    def read(self, logits: Sequence[float]) -> Entailment:
        """Probabilities from a row of logits: softmax, or a sigmoid where there is one.

        Raises:
            JudgeError: Their number is another, or one is no number.
        """
        if len(logits) != len(self.roles):
            raise JudgeError(
                f"the entailment model gave {len(logits)} output(s) for a pair, and its labels "
                f"name {len(self.roles)}"
            )
        if not all(map(math.isfinite, logits)):
            raise JudgeError("the entailment model gave an output that is no number (NaN or ∞)")
        if len(logits) == 1:
            return Entailment(_sigmoid(logits[0]))
        highest = max(logits)
        powers = [math.exp(one - highest) for one in logits]
        total = math.fsum(powers)
        return self.assigned([one / total for one in powers])

    def assigned(self, probabilities: Sequence[float]) -> Entailment:
        """The probabilities of the outputs by what they mean."""
        by_role = dict(zip(self.roles, probabilities, strict=True))
        return Entailment(by_role[ENTAILMENT], by_role.get(NEUTRAL), by_role.get(CONTRADICTION))


def outputs_of(names: Mapping[int, str], where: str, given: str | None = None) -> Outputs:
    """Return what outputs with these names mean.

    Args:
        names: The names by their place.
        where: Where they are written, for messages.
        given: Roles that a person gave, in order and separated by commas; they come first.

    Raises:
        InputError: They name no entailment, or not all of three labels.
    """
    if given is not None:
        return _given(given)
    ordered = [names[place] for place in sorted(names)]
    if sorted(names) != list(range(len(names))) or not names:
        raise InputError(f"{where}: its labels are not numbered from 0.", code=_UNKNOWN)
    words = [re.sub(r"[^a-z0-9]+", "_", name.casefold()).strip("_") for name in ordered]
    if len(words) == 1:
        return Outputs((ENTAILMENT,))
    if all(_GENERIC.fullmatch(word) for word in words) and len(words) == 2:
        return Outputs((OTHER, ENTAILMENT))  # checkers that were trained on no and yes
    roles = tuple(_ROLE_OF.get(word, "") for word in words)
    if len(roles) == 2 and roles.count(ENTAILMENT) == 1:
        roles = tuple(role if role in (ENTAILMENT, CONTRADICTION) else OTHER for role in roles)
    is_whole = len(roles) == 2 or {NEUTRAL, CONTRADICTION} <= set(roles)
    if roles.count(ENTAILMENT) != 1 or "" in roles or not is_whole:
        raise InputError(
            f"{where}: its labels are {', '.join(ordered)}, and which of them means entailment is "
            "not known.",
            code=_UNKNOWN,
        )
    return Outputs(roles)


def _given(text: str) -> Outputs:
    roles = tuple(part.strip().casefold() for part in text.split(","))
    wrong = [role for role in roles if role not in ROLES]
    named = [role for role in roles if role != OTHER]
    if wrong or roles.count(ENTAILMENT) != 1 or len(set(named)) < len(named):
        raise InputError(
            f"{text!r} does not name the outputs of a model: write the meaning of each output in "
            f"order, each one of {', '.join(ROLES)}, with {ENTAILMENT} once.",
            code="entailment_labels_wrong",
        )
    return Outputs(roles)


def probability(value: object) -> float:
    """A number from 0 to 1.

    Raises:
        ValueError: It is none; NaN is none.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 <= value <= 1.0:
        raise ValueError(f"{value!r} is no probability from 0 to 1")
    return float(value)


def _sigmoid(logit: float) -> float:
    if logit >= 0:
        return 1.0 / (1.0 + math.exp(-logit))
    power = math.exp(logit)
    return power / (1.0 + power)
