"""Attribution: what the sentences of nodes rest on, also when they are wrong.

Source: Error-tolerant attribution 3, 6.1, 7.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from veritrail_graph.api.app.part import Part
from veritrail_graph.graph.errors import InputError, VeriTrailError, Violation, shown
from veritrail_graph.graph.model.attribution import Against, AttributionRun, SourceMode

if TYPE_CHECKING:
    from veritrail_graph.api.models import ModelOptions
    from veritrail_graph.graph.model import NodeRef, Process, Usage
    from veritrail_graph.graph.model.attribution import NodeAttribution, SentenceAttribution
    from veritrail_graph.graph.sentences import SentenceSplitter
    from veritrail_graph.graph.store import Store
    from veritrail_graph.verifier.attribution.run import Attributing, AttributionSteps
    from veritrail_graph.verifier.models.port import EndpointRefused
    from veritrail_graph.verifier.nodes import SharedNodes
    from veritrail_graph.verifier.ports import ReadNode

NODES_AT_ONCE = 16
"""Nodes whose sources are held at a time."""


@dataclass(frozen=True, slots=True)
class AttributeOptions:
    """What is attributed, and how.

    Attributes:
        nodes: The nodes; empty: the terminals.
        against: What they are attributed to.
        engine: The engine; None: as the settings say.
        models: The models that are asked, and what they may cost.
        judge: Whether a model also says whether each sentence is faithful.
        correct: Whether a model proposes a wording for each unfaithful sentence.
        mode: What the model sees that judges or corrects.
        prompts: A folder of the user's own prompts.
    """

    nodes: tuple[str, ...] = ()
    against: Against = Against.INPUTS
    engine: str | None = None
    models: ModelOptions | None = None
    judge: bool = False
    correct: bool = False
    mode: SourceMode = SourceMode.ATTRIBUTION
    prompts: Path | None = None


@dataclass(frozen=True, slots=True)
class Attributed:
    """What an attribution did.

    Attributes:
        run: The nodes with their sentences.
        stored: How many sentences were stored.
        refusal: Why the endpoint refused every call, if it did.
        fault: Why nothing was stored, if it was not.
        warnings: What a person should know.
    """

    run: AttributionRun
    stored: int = 0
    refusal: EndpointRefused | None = None
    fault: VeriTrailError | None = None
    warnings: Sequence[str] = field(default=())


@dataclass(frozen=True, slots=True)
class AttributionProgress:
    """Told what happens; every hook is optional.

    Attributes:
        begun: An attribution begins: what stops it, and how many sentences there are.
        sentence: A sentence has ended.
        answer: The usage of a call.
    """

    begun: Callable[[Callable[[], None], int], None] = lambda _stop, _sentences: None
    sentence: Callable[[SentenceAttribution], None] = lambda _sentence: None
    answer: Callable[[Usage], None] = lambda _usage: None


class Attributions(Part):
    """What sentences of processes rest on."""

    async def attribute(
        self,
        process_id: str,
        options: AttributeOptions,
        progress: AttributionProgress = AttributionProgress(),
    ) -> Attributed:
        """Attribute the sentences of nodes, and store what was found.

        Args:
            process_id: The process.
            options: Which nodes, and how.
            progress: Told what happens.

        Raises:
            InputError: A node is a root, has no sources or no text, or a setting is wrong.
            NotFound: The process or a node is not stored.
        """
        from veritrail_graph.graph.sentences import SentenceSplitter
        from veritrail_graph.verifier.attribution.run import Attributing
        from veritrail_graph.verifier.models.port import Meter
        from veritrail_graph.verifier.nodes import SharedNodes

        store = await self._store()
        process = await store.processes.get(process_id)
        splitter = SentenceSplitter.for_language(self._app.settings.language)
        refs, warnings = await _nodes(store, process, options.nodes, splitter)
        reader = SharedNodes(
            store.reading, process_id, splitter, size=process.nodes, edges=process.edges
        )
        async with self._steps(options) as (steps, engine, model_warnings):
            meter = Meter(on_record=progress.answer)
            run = Attributing(steps, meter, progress.sentence)
            read = await reader.read(refs)
            progress.begun(run.stop, sum(len(node.sentences) for node in read))
            nodes = await _attribute(run, reader, read, options.against)
            found = AttributionRun(
                run_id=f"r-{uuid.uuid4().hex}",
                process_id=process_id,
                engine=engine,
                model=steps.attributor.model,
                indicative=steps.attributor.indicative,
                nodes=tuple(nodes),
                usage=meter.total,
                against=options.against,
            )
            warnings += model_warnings
        stored, fault = 0, None
        try:
            stored = await store.attributions.write(
                process_id,
                process.content_hash,
                nodes,
                run=found.run_id,
                engine=engine,
                indicative=found.indicative,
            )
        except VeriTrailError as error:  # what was found is shown even so
            fault = error
        return Attributed(found, stored, run.refusal, fault, tuple(warnings))

    @asynccontextmanager
    async def _steps(
        self, options: AttributeOptions
    ) -> AsyncIterator[tuple[AttributionSteps, str, list[str]]]:
        """The attributor of an engine with its models, which are closed in the end.

        Raises:
            InputError: The engine, a model, a prompt or a setting is wrong.
        """
        from veritrail_graph.api.configured_judge import check_window
        from veritrail_graph.api.entailment import open_entailment
        from veritrail_graph.api.models import ModelOptions, open_models
        from veritrail_graph.api.shared import Shared
        from veritrail_graph.verifier.attribution.entailment import EntailmentAttributor
        from veritrail_graph.verifier.attribution.lexical import LexicalAttributor
        from veritrail_graph.verifier.attribution.prompted import PromptedAttributor
        from veritrail_graph.verifier.attribution.run import AttributionSteps
        from veritrail_graph.verifier.engines import engine_named
        from veritrail_graph.verifier.models.port import Step
        from veritrail_graph.verifier.models.retrying import Spending
        from veritrail_graph.verifier.prompted import PromptedStep
        from veritrail_graph.verifier.prompts import load_prompts

        settings = self._app.settings
        chosen = options.models or ModelOptions()
        engine = engine_named(settings.engine_name(options.engine, chosen.model))
        if not engine.asks_models:
            _refuse_without_model(engine.name, options, chosen)
        async with AsyncExitStack() as stack:
            if engine.asks_models:
                prompts = load_prompts(options.prompts)
                models = await stack.enter_async_context(open_models(settings, engine, chosen))

                def step(name: Step) -> PromptedStep:
                    of = (
                        models.steps.selection if name is Step.ATTRIBUTION else models.steps.verdict
                    )
                    made = PromptedStep(
                        prompts[name],
                        of.model,
                        temperature=of.temperature,
                        structured=of.structured,
                    )
                    check_window(made)
                    return made

                steps = AttributionSteps(
                    PromptedAttributor(engine.name, step(Step.ATTRIBUTION)),
                    step(Step.FAITHFULNESS) if options.judge else None,
                    step(Step.CORRECTION) if options.correct else None,
                    options.mode,
                )
                yield steps, engine.name, models.warnings
            elif engine.needs_entailment:
                shared = Shared(Spending(chosen.budget, chosen.max_calls))
                parts = await open_entailment(settings, chosen.use_cache, shared, stack)
                yield AttributionSteps(EntailmentAttributor(parts.model)), engine.name, []
            elif engine.name == LexicalAttributor().name:
                yield AttributionSteps(LexicalAttributor()), engine.name, []
            else:
                raise InputError(
                    f"Engine {engine.name} does not attribute sentences; take one that asks a "
                    "model, nli or lexical.",
                    code="engine_without_attribution",
                )


def _refuse_without_model(engine: str, options: AttributeOptions, models: ModelOptions) -> None:
    if options.judge or options.correct:
        raise InputError(
            f"Judging and correcting sentences need a language model, and engine {engine} asks "
            "none.",
            code="extraction_needs_model",
            engine=engine,
        )
    if models.model is not None:
        raise InputError(
            f"A model is named, but engine {engine} asks none; leave one of them out.",
            code="model_without_engine",
        )


async def _nodes(
    store: Store, process: Process, named: Sequence[str], splitter: SentenceSplitter
) -> tuple[list[NodeRef], list[str]]:
    """The nodes to attribute, and warnings about terminals that are left out.

    Raises:
        InputError: A named node, or every terminal, has nothing to attribute or no sources.
        NotFound: A node is not stored.
    """
    name = process.process_id
    refs: list[NodeRef] = []
    violations: list[Violation] = []
    for node_id in dict.fromkeys(named or process.terminals):
        ref, text = await store.reading.node(name, node_id)
        where = f"node {shown(node_id)}"
        if ref.is_root:
            message = "is a root: it is source text, and there is nothing to attribute it to"
            violations.append(Violation("root_node", where, message))
        elif ref.is_unsourced:
            message = "has no source nodes in the process, so there is nothing to attribute it to"
            violations.append(Violation("unsourced_node", where, message))
        elif not splitter.split(node_id, text):
            violations.append(Violation("empty_node", where, "has no text to attribute"))
        else:
            refs.append(ref)
    if violations and (named or not refs):
        raise InputError(
            f"Process {name!r}: {len(violations)} node(s) cannot be attributed; name others.",
            violations,
            code="nothing_to_attribute",
        )
    return refs, [f"Left out: {one.where} {one.message}." for one in violations]


async def _attribute(
    run: Attributing, reader: SharedNodes, nodes: Sequence[ReadNode], against: Against
) -> list[NodeAttribution]:
    slots = asyncio.Semaphore(NODES_AT_ONCE)

    async def one(node: ReadNode) -> NodeAttribution:
        async with slots:
            sources = await _sources(reader, node.ref, against)
            return await run.node(node, await reader.read(sources))

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one(node)) for node in nodes]
    return [task.result() for task in tasks]


async def _sources(reader: SharedNodes, node: NodeRef, against: Against) -> list[NodeRef]:
    """The nodes that one is attributed to, in the order of a frontier."""
    from veritrail_graph.verifier.ports import in_order

    found = (await reader.source_nodes([node.node_id])).nodes
    if against is Against.INPUTS:
        return list(found)
    seen: dict[str, NodeRef] = {}
    while found:
        seen.update((ref.node_id, ref) for ref in found)
        inner = [ref.node_id for ref in found if not (ref.is_root or ref.is_unsourced)]
        if not inner:
            break
        sources = (await reader.source_nodes(inner)).nodes
        found = tuple(ref for ref in sources if ref.node_id not in seen)
    return list(in_order([ref for ref in seen.values() if ref.is_root]))
