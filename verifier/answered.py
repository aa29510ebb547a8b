"""Checks of a judge's answers before they are used: engines of other packages answer as well.

What does not keep the port (`verifier.ports`) becomes a `JudgeError` that names the engine, so that
nothing of it is stored and the other claims go on.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from pydantic import ValidationError

from veritrail_graph.graph.errors import VeriTrailError, shown
from veritrail_graph.graph.model import CitedSentence, Evidence, Verdict
from veritrail_graph.graph.plugins import FAULTS, contained, fault_of
from veritrail_graph.verifier.ports import Judge, JudgeError, Judgement, ReadNode, Selection


@contextmanager
def answering(judge: Judge) -> Iterator[None]:
    """Ask a judge and look at its answer: a fault of either is an error that names the engine.

    Raises:
        VeriTrailError: The judge says so itself, it failed, or it broke its contract.
    """
    try:
        with contained():
            yield
    except VeriTrailError:
        raise
    except FAULTS as error:
        told = f"engine {judge.name}: internal error ({fault_of(error)})"
        raise JudgeError(f"{told}; please report it to its makers") from error


def seen_sub_claims(judge: Judge, found: object) -> tuple[str, ...]:
    """The statements that a claim was taken apart into.

    Raises:
        JudgeError: They are no texts.
    """
    if not isinstance(found, tuple | list):
        raise _broken(judge, f"sub-claims are a {type(found).__name__} and no tuple of texts")
    for one in found:
        _see_text(judge, "a sub-claim", one)
    return tuple(found)


def seen_selection(nodes: Sequence[ReadNode], judge: Judge, found: object) -> Selection:
    """The evidence that was selected from nodes.

    Raises:
        JudgeError: It cites what was not asked about, or its values are none that can be stored.
    """
    if not isinstance(found, Selection):
        raise _broken(judge, f"a selection is a {type(found).__name__}")
    _see_count(judge, "dropped_ids", found.dropped_ids)
    if found.silence is not None:
        _see_text(judge, "silence", found.silence)
    _see_evidence(judge, found.evidence)
    cited = {name for one in found.evidence for name in one.node_ids}
    read = {node.ref.node_id: node for node in nodes if node.ref.node_id in cited}
    for name in cited - read.keys():
        raise _broken(judge, f"evidence is in the node {shown(name)}, which it was not given")
    for one in found.evidence:
        _see_sentences(judge, one.sentences, read)
    return found


def _see_evidence(judge: Judge, found: object) -> None:
    if not isinstance(found, tuple | list):
        raise _broken(judge, f"evidence is a {type(found).__name__} and no tuple")
    for one in found:
        if not isinstance(one, Evidence):
            raise _broken(judge, f"evidence holds a {type(one).__name__}")
        try:
            values = {**vars(one), "sentences": [vars(cited) for cited in one.sentences]}
            Evidence.model_validate(values)
        except (ValidationError, TypeError) as error:
            raise _broken(judge, f"evidence has wrong values: {fault_of(error)}") from None


def _see_sentences(judge: Judge, cited: Sequence[CitedSentence], read: dict[str, ReadNode]) -> None:
    """See that cited sentences are sentences of their nodes, word by word."""
    sentences = {name: node.sentences for name, node in read.items()}
    for one in cited:
        known = sentences.get(one.node_id)
        is_one = known is not None and one.sentence < len(known)
        if not is_one or known[one.sentence] != one.as_sentence():  # type: ignore[index]
            where = f"sentence {one.sentence} of the node {shown(one.node_id)}"
            raise _broken(judge, f"evidence cites {where}, which does not stand there")


def seen_judgement(judge: Judge, found: object) -> Judgement:
    """The verdict that was given.

    Raises:
        JudgeError: It is no verdict, or its values are none that can be stored.
    """
    if not isinstance(found, Judgement):
        raise _broken(judge, f"a judgement is a {type(found).__name__}")
    for name in ("verdict", "first_verdict"):
        verdict = getattr(found, name)
        if verdict is not None and not isinstance(verdict, Verdict):
            raise _broken(judge, f"{name} is {shown(repr(verdict))} and no Verdict")
    _see_text(judge, "reasoning", found.reasoning)
    for name in ("judged_by", "first_reasoning"):
        if getattr(found, name) is not None:
            _see_text(judge, name, getattr(found, name))
    for name in ("reruns", "left_out"):
        _see_count(judge, name, getattr(found, name))
    for name in found.left_out_roots:
        _see_text(judge, "left_out_roots", name)
    score: object = found.score
    is_number = isinstance(score, int | float) and not isinstance(score, bool)
    if score is not None and not (is_number and math.isfinite(score)):  # type: ignore[arg-type]
        raise _broken(judge, f"score is {shown(repr(score))} and no number")
    _see_evidence(judge, found.judged)
    return found


def _see_count(judge: Judge, name: str, value: object) -> None:
    if type(value) is not int or value < 0:
        raise _broken(judge, f"{name} is {shown(repr(value))} and no count")


def _see_text(judge: Judge, name: str, value: object) -> None:
    try:
        if isinstance(value, str) and value.encode() is not None:
            return
    except UnicodeEncodeError:
        raise _broken(judge, f"{name} holds half a character") from None
    raise _broken(judge, f"{name} is a {type(value).__name__} and no text")


def _broken(judge: Judge, what: str) -> JudgeError:
    return JudgeError(f"engine {judge.name} broke its contract: {what}")
