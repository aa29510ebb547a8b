"""The rates at which a simulated judge errs.

Source: ours; VeriTrail 3.1.2 and 3.1.3 for the two steps that can err, E.3 for samples.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from veritrail_graph.graph.errors import InputError


@dataclass(frozen=True, slots=True)
class Noise:
    """The errors of a judge, as probabilities from 0 to 1. The defaults never err: an oracle.

    Attributes:
        recall: That a sentence which says a fact of the claim is selected, where it is shown.
        false_positives: That of a node without such a sentence some sentence is selected.
        flip_supported: That a verdict that ought to be Fully Supported is Not Fully Supported.
        flip_unsupported: That one that ought to be Not Fully Supported is Fully Supported.
        inconclusive: That a verdict is Inconclusive.
        same_mistakes: That all samples of a prompt make the same draw, so that voting is of no
            use; and that a rerun repeats what was selected before.
        flips_at: Takes the place of both flips for verdicts over nodes of a stage: (stage,
            probability).
    """

    recall: float = 1.0
    false_positives: float = 0.0
    flip_supported: float = 0.0
    flip_unsupported: float = 0.0
    inconclusive: float = 0.0
    same_mistakes: float = 0.0
    flips_at: tuple[tuple[int, float], ...] = ()

    def __post_init__(self) -> None:
        """Refuse what is no probability."""
        for each in fields(self):
            if each.name != "flips_at":
                require_probability(each.name, getattr(self, each.name))
        for stage, flip in self.flips_at:
            require_probability(f"flip at stage {stage}", flip)
        flip = max(
            self.flip_supported, self.flip_unsupported, *(one for _, one in self.flips_at), 0
        )
        if flip + self.inconclusive > 1:
            raise InputError(
                f"inconclusive={self.inconclusive:g}: with a flip of {flip:g} it is more than 1."
            )

    def flip(self, stage: int, *, is_supported: bool) -> float:
        """The probability that a verdict over nodes of this stage is the wrong one."""
        overall = self.flip_supported if is_supported else self.flip_unsupported
        return dict(self.flips_at).get(stage, overall)


def require_probability(name: str, value: float) -> None:
    """Refuse a value that is no probability.

    Raises:
        InputError: It is below 0, above 1 or no number.
    """
    if not 0 <= value <= 1:  # NaN is not
        raise InputError(f"{name}={value:g}: a probability is a number from 0 to 1.")
