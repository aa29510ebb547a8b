"""Operations about what sentences rest on, also where they are wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from veritrail_graph.api.client.calls import AsyncPages, Call
from veritrail_graph.api.client.carrying import PAGE, CarriedOut
from veritrail_graph.api.client.following import AsyncJob
from veritrail_graph.graph.model.attribution import AttributedNode, StoredSentence

AgainstName = Literal["inputs", "roots"]

JudgeWith = Literal[
    "model", "summac-zs", "summac-conv", "alignscore", "minicheck", "infuse", "hhem"
]

RecheckName = Literal["judge", "walk"]

ModeName = Literal["plain", "highlighted", "attribution"]

_PROCESS = "/v1/processes/{}"


class AttributionOperations(CarriedOut):
    """The operations that read attributions of sentences, and begin new ones."""

    async def attribute(
        self,
        /,
        process_id: str,
        node_ids: str | Sequence[str] | None = None,
        *,
        against: AgainstName | None = None,
        propositions: bool = False,
        engine: str | None = None,
        model: str | None = None,
        judge: bool = False,
        judge_with: JudgeWith | None = None,
        judge_threshold: float | None = None,
        correct: bool = False,
        mode: ModeName | None = None,
        recheck: RecheckName | None = None,
        every_mode: bool = False,
        claim_ids: str | Sequence[str] | None = None,
        unsupported: bool = False,
        budget_usd: float | None = None,
        idempotency_key: str | None = None,
        **options: Any,
    ) -> AsyncJob:
        """Begin to attribute the sentences of nodes; without any, those of the terminals.

        `claim_ids` and `unsupported` choose sentences by claims, in place of nodes: those of error
        nodes that carried the claims.

        Args:
            process_id: The process.
            node_ids: The nodes.
            against: `inputs`: their own source nodes (default); `roots`: the roots below them.
            propositions: Whether a model splits each sentence into the statements in it, which
                are attributed one by one.
            engine: The engine; default: as the service is set.
            model: The model that is asked.
            judge: Whether a model also says whether each sentence is faithful.
            judge_with: Who judges: a language model, or a published checker with the entailment
                model of the service, such as `summac-zs`; a checker implies `judge`.
            judge_threshold: Of a checker: the score from which a sentence is faithful.
            correct: Whether a model proposes a wording for each unfaithful sentence.
            mode: What judge and corrector see: all sources (`plain`), all with the attributed
                sentences marked (`highlighted`), or these alone (`attribution`, the default).
            recheck: Who verifies these again: the `judge`, or a `walk` that verifies each claim of
                the wording; default: the judge, where there is one.
            every_mode: Whether a wording is proposed in each of the three modes, and ranked.
            claim_ids: Claims.
            unsupported: Whether all claims are taken that are Not Fully Supported.
            budget_usd: The most that it may cost.
            idempotency_key: The same key and arguments give the same job; default: a new key, so
                that a submission whose answer is lost can be sent again.
            options: More fields of `POST /v1/attributions`.

        Raises:
            Missing: The process, a node or a claim is not stored.
            Rejected: A node is a root, has no source nodes, or has no text; a claim has no error
                node.
            Conflict: The key was used with other arguments.
        """
        given = {
            "process_id": process_id,
            "node_ids": _listed(node_ids),
            "claim_ids": _listed(claim_ids),
            "unsupported": unsupported or None,
            "against": against,
            "propositions": propositions or None,
            "engine": engine,
            "model": model,
            "judge": judge or None,
            "judge_with": judge_with,
            "judge_threshold": judge_threshold,
            "correct": correct or None,
            "mode": mode,
            "recheck": recheck,
            "every_mode": every_mode or None,
            "budget_usd": budget_usd,
            **options,
        }
        return AsyncJob(self, await self.begin_job(given, idempotency_key, name="attribute"))

    def attributions(
        self, process_id: str, node_id: str, *, run_id: str | None = None, page: int = PAGE
    ) -> AsyncPages[StoredSentence]:
        """The attributed sentences of a node with what they rest on, in their order.

        Args:
            process_id: The process.
            node_id: The node.
            run_id: Only what this run found; default: the attribution in force of each sentence.
            page: Sentences in one answer.
        """
        query = {"node_id": node_id, "run_id": run_id, "limit": page}
        call = Call("attributions", "GET", f"{_PROCESS}/attributions", (process_id,), query)
        return self._pages(call, StoredSentence)

    def attributed_nodes(self, process_id: str, *, page: int = PAGE) -> AsyncPages[AttributedNode]:
        """The nodes that hold attributed sentences, by stage and place in the input."""
        path, query = f"{_PROCESS}/attributed-nodes", {"limit": page}
        return self._pages(
            Call("attributed_nodes", "GET", path, (process_id,), query), AttributedNode
        )


def _listed(ids: str | Sequence[str] | None) -> list[str] | None:
    """Ids as a request has them; None: none are given."""
    if ids is None:
        return None
    return [ids] if isinstance(ids, str) else list(ids)
