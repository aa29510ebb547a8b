"""Estimate the cost of attributing sentences; no model is asked and nothing is stored."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from veritrail_graph.api.app.estimation import assumed_models
from veritrail_graph.api.configured.attribution import (
    AttributeOptions,
    check_parameters,
    configure_attribution,
    model_steps,
)
from veritrail_graph.api.configured.judge import judge_options
from veritrail_graph.api.requests.verify import VerifyRequest
from veritrail_graph.api.work.sentences import read_nodes, selected_sentences, sources_of
from veritrail_graph.graph.model.attribution import Recheck
from veritrail_graph.graph.sentences import SentenceSplitter
from veritrail_graph.verifier.attribution.estimate import (
    AssumedAttribution,
    AttributionEstimator,
    UncountedRechecker,
)
from veritrail_graph.verifier.engines import engine_named
from veritrail_graph.verifier.estimate import Estimates
from veritrail_graph.verifier.judge import StepModel, StepModels
from veritrail_graph.verifier.nodes import SharedNodes
from veritrail_graph.verifier.ports import JudgeError
from veritrail_graph.verifier.prompts import load_prompts

if TYPE_CHECKING:
    from veritrail_graph.api.requests.attribute import AttributeRequest
    from veritrail_graph.api.settings import Settings
    from veritrail_graph.api.work.sentences import SelectedSentences
    from veritrail_graph.graph.model import Process
    from veritrail_graph.graph.store import Store


@dataclass(frozen=True, slots=True)
class EstimatedSentences:
    """An estimate of an attribution.

    Attributes:
        sentences: How many sentences are attributed.
        engine: The engine.
        model: The model; None: none is asked.
        estimates: Low, likely and high; None: no language model is asked, or `why_unknown` says
            why there are none.
        is_priced: Whether the price of the model is known.
        has_walks: Whether walks verify corrections again; what they cost comes on top.
        why_unknown: Why nothing can be said, such as sources that fit into no prompt.
    """

    sentences: int
    engine: str
    model: str | None = None
    estimates: Estimates | None = None
    is_priced: bool = False
    has_walks: bool = False
    why_unknown: str | None = None


async def estimate_sentences(
    settings: Settings, store: Store, request: AttributeRequest
) -> EstimatedSentences:
    """Say what attributing sentences would cost.

    Args:
        settings: The settings.
        store: The graph.
        request: Which sentences, and how.

    Raises:
        InputError: It cannot be done as it is asked for.
        NotFound: The process, a node or a claim is not stored.
    """
    options = AttributeOptions(request)
    engine = engine_named(settings.engine_name(request.engine, request.model))
    process = await store.processes.get(request.process_id)
    if not engine.writes:
        async with configure_attribution(settings, options) as made:
            selected = await selected_sentences(store, process, request, made.splitter)
            return EstimatedSentences(selected.total, made.engine)
    check_parameters(request)
    options.checker  # noqa: B018  # it raises where the checker cannot be asked
    splitter = SentenceSplitter.for_language(settings.language)
    selected = await selected_sentences(store, process, request, splitter)
    return await _estimated(settings, store, request, splitter, process, selected)


async def _estimated(
    settings: Settings,
    store: Store,
    request: AttributeRequest,
    splitter: SentenceSplitter,
    process: Process,
    selected: SelectedSentences,
) -> EstimatedSentences:
    name = process.process_id
    given = {"engine": request.engine, "model": request.model, "price": request.price}
    how = judge_options(settings, VerifyRequest.checked({"process_id": name, **given}))
    assumed = AssumedAttribution()
    models = assumed_models(settings, how, assumed)
    of_steps = StepModels(*map(StepModel, models))
    steps = model_steps(how.engine, request, load_prompts(), of_steps, None)
    if request.recheck is Recheck.WALK:
        steps = replace(steps, rechecker=UncountedRechecker())
    estimator = AttributionEstimator(steps, assumed)
    nodes = SharedNodes(store.reading, name, splitter, size=process.nodes, edges=process.edges)
    total = Estimates()
    refs = [ref for ref, _ in await read_nodes(store, name, selected.only)]
    for ref in refs:
        sources = await sources_of(nodes.source_nodes, ref.node_id, request.against)
        (node,) = await nodes.read([ref])
        numbers = selected.only[ref.node_id]
        try:
            one = await estimator.estimate(node, await nodes.read(sources), numbers)
        except JudgeError as error:
            model = steps.attributor.model
            return EstimatedSentences(selected.total, how.engine, model, why_unknown=str(error))
        total = Estimates(total.low + one.low, total.likely + one.likely, total.high + one.high)
    return EstimatedSentences(
        selected.total,
        how.engine,
        steps.attributor.model,
        total,
        all(model.price is not None for model in models),
        request.recheck is Recheck.WALK,
    )
