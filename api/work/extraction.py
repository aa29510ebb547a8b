"""Extracting claims from a node of a stored process, and keeping them.

Source: VeriTrail 3.1 (claims are extracted from the terminal node with Claimify).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from veritrail_graph.graph.errors import InputError, shown
from veritrail_graph.graph.model import Claim, NodeRef, Process, StepRecord, Usage
from veritrail_graph.graph.model.extraction import ExtractedSentence, SentenceOutcome
from veritrail_graph.verifier.claims.extraction import Extraction, extract
from veritrail_graph.verifier.claims.steps import COMPLETIONS, ClaimSteps
from veritrail_graph.verifier.limits import Samples
from veritrail_graph.verifier.models.port import Meter

if TYPE_CHECKING:
    from veritrail_graph.graph.sentences import SentenceSplitter
    from veritrail_graph.graph.store import Store
    from veritrail_graph.verifier.judge import StepModel
    from veritrail_graph.verifier.prompts import Prompts


@dataclass(frozen=True, slots=True)
class ExtractionReport:
    """The result of extracting claims from a node.

    Attributes:
        process_id: The process.
        ref: The node.
        text: Its text.
        sentences: Every sentence of the node, with its claims or the reason why it has none.
        claims: The claims as they are stored, those included that were stored before.
        added: How many of them were not stored before.
        are_new: Whether none of them was, nor was asked.
        usage: What it cost.
        steps: What each stage asked models for.
    """

    process_id: str
    ref: NodeRef
    text: str
    sentences: tuple[ExtractedSentence, ...]
    claims: tuple[Claim, ...]
    added: int
    are_new: bool
    usage: Usage
    steps: tuple[StepRecord, ...]

    @property
    def node_id(self) -> str:
        """Return the id of the node."""
        return self.ref.node_id

    @property
    def failed(self) -> tuple[ExtractedSentence, ...]:
        """Sentences from which nothing could be extracted because a call failed."""
        return tuple(one for one in self.sentences if one.outcome is SentenceOutcome.FAILED)


async def extract_claims(
    store: Store,
    process: Process,
    node: str | None,
    model: StepModel,
    prompts: Prompts,
    splitter: SentenceSplitter,
    meter: Meter,
    *,
    completions: Samples = COMPLETIONS,
    on_sentence: Callable[[int, int], None] = lambda _done, _total: None,
) -> ExtractionReport:
    """Extract the claims of a node and store them; extracting again adds nothing.

    Args:
        store: The graph.
        process: The process.
        node: The node; None: the only terminal.
        model: The model that extracts claims.
        prompts: The prompts of all steps.
        splitter: Splits the text into sentences.
        meter: Records every call.
        completions: How many completions selection and disambiguation take.
        on_sentence: Told how many sentences are done, 0 at first, and how many there are.

    Raises:
        InputError: The node is not named, or it is a root.
        NotFound: The process or the node is not stored (any more).
        OverBudget: The budget is used up; nothing was stored.
        EndpointRefused: No call can succeed; nothing was stored.
    """
    process_id = process.process_id
    ref, text, own = await extractable_node(store, process, node)
    node_id, steps = ref.node_id, ClaimSteps.of(model, prompts, completions=completions)
    # The node's own question says more than that of a process with many answers.
    question = own or process.question
    found = await extract(
        node_id, text, question, steps, splitter.split, meter, on_sentence=on_sentence
    )
    found = await _under_stored_ids(store, process_id, node_id, found)
    added, known = await store.claims.keep_extraction(
        process_id, process.content_hash, node_id, found.sentences, found.claims
    )
    claims = found.claims
    if known:  # they may have been edited since
        stored = {one.claim_id: one for one in await store.claims.by_id(process_id, claims)}
        claims = tuple(stored[one.claim_id] for one in claims if one.claim_id in stored)
    return ExtractionReport(
        process_id,
        ref,
        text,
        found.sentences,
        claims,
        added,
        not known,
        meter.total,
        meter.steps,
    )


async def _under_stored_ids(
    store: Store, process_id: str, node_id: str, found: Extraction
) -> Extraction:
    """Return what was extracted, where a claim with the text of a stored one has the id of that."""
    known = await store.claims.same_text(process_id, [one.text for one in found.claims])
    names = {
        one.claim_id: stored
        for one in found.claims
        if (stored := known.get((node_id, one.text), one.claim_id)) != one.claim_id
    }
    if not names:
        return found
    return Extraction(
        tuple(
            one.replace(claim_ids=tuple(names.get(name, name) for name in one.claim_ids))
            for one in found.sentences
        ),
        tuple(one.replace(claim_id=names.get(one.claim_id, one.claim_id)) for one in found.claims),
    )


async def extractable_node(
    store: Store, process: Process, node: str | None
) -> tuple[NodeRef, str, str | None]:
    """The node from which claims are extracted, its text, and the question that it answers.

    Raises:
        InputError: It is not named, or it is a root.
        NotFound: It is not stored.
    """
    name = process.process_id
    node_id = node if node is not None else _only_terminal(name, process.terminals)
    ref, text, question = await store.reading.node_with_question(name, node_id)
    if ref.is_root:
        raise InputError(
            f"Node {shown(node_id)} is a root of process {name!r}: it is source text, and "
            "there is nothing to check claims of it against."
        )
    return ref, text, question


def _only_terminal(process_id: str, terminals: tuple[str, ...]) -> str:
    if len(terminals) != 1:
        names = ", ".join(shown(name) for name in terminals[:5])
        raise InputError(
            f"Process {process_id!r} has {len(terminals)} terminals ({names}), and no node is "
            "named.",
            code="node_needed",
            process_id=process_id,
        )
    return terminals[0]
