"""How judges were asked, in words, where that is not as the paper asks: every output says so.

Source: ours (docs/costs.md).
"""

from __future__ import annotations

from collections.abc import Iterable

from veritrail_graph.graph.asking import Asking, asking_behind
from veritrail_graph.graph.model import Verification


def sharing_words(share: int | None) -> str | None:
    """That prompts were shared, which is ours and not the paper's; None: they were not."""
    if share is None:
        return None
    return (
        f"shared prompts (ours, not the paper's): up to {share} claims in one prompt; claims "
        "over the same texts for evidence, any claims for verdicts"
    )


def asking_words(of: Asking) -> tuple[str, ...]:
    """What of it is not as the paper asks, a sentence each, without a capital and a full stop."""
    found = (sharing_words(of.share),)
    return tuple(one for one in found if one is not None)


def whole_sentences(*ways: Asking) -> tuple[str, ...]:
    """The same as whole sentences, each once."""
    words = dict.fromkeys(one for way in ways for one in asking_words(way))
    return tuple(f"{one[0].upper()}{one[1:]}." for one in words)


def asking_sentences(verifications: Iterable[Verification]) -> tuple[str, ...]:
    """The same of the judges of verifications."""
    return whole_sentences(*dict.fromkeys(map(asking_behind, verifications)))


def asking_short(of: Asking) -> str:
    """The same behind the name of a judge in a list: `, 8 claims a prompt`; empty: as usual."""
    return f", {of.share} claims a prompt" if of.share is not None else ""


def asked_as(verification: Verification) -> str:
    """The same of the judge of a verification."""
    return asking_short(asking_behind(verification))
