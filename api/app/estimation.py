"""Estimate the cost of verifying a stored process; no model is asked and nothing is stored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from veritrail_graph.api.app.kept_estimate import Kept, kept_of
from veritrail_graph.api.configured.decisions import deciding
from veritrail_graph.api.configured.models import all_model_settings, own_prices, price_of
from veritrail_graph.api.jobs.earlier import version_for
from veritrail_graph.api.work.claims import choose_claims
from veritrail_graph.api.work.stated import stated_where_none
from veritrail_graph.graph.model import Claim, Verdict
from veritrail_graph.graph.sentences import SentenceSplitter
from veritrail_graph.graph.store.claims import ClaimStore
from veritrail_graph.verifier.call_modes import CallMode, ModeCosts, call_modes
from veritrail_graph.verifier.decisions.steps import DecisionSelection
from veritrail_graph.verifier.engines import Engine, Parts, engine_named, prompted_judge
from veritrail_graph.verifier.estimate import (
    AssumedDecisions,
    AssumedModel,
    AssumedWalk,
    Estimates,
    Estimator,
)
from veritrail_graph.verifier.judge import LanguageModelJudge, SplitJudge, StepModel, StepModels
from veritrail_graph.verifier.models.known_models import context_window
from veritrail_graph.verifier.models.language_model import CACHING_HOSTS, DEFAULT_WINDOW, MAX_OUTPUT
from veritrail_graph.verifier.models.openai_endpoint import OPENAI
from veritrail_graph.verifier.models.port import Meter, Step
from veritrail_graph.verifier.models.tokens import counter, estimate
from veritrail_graph.verifier.nodes import SharedNodes
from veritrail_graph.verifier.ports import Found, Judge, Judgement
from veritrail_graph.verifier.prompts import load_prompts, shared_verdict_of
from veritrail_graph.verifier.sharing import Sharing

if TYPE_CHECKING:
    from veritrail_graph.api.configured.judge import JudgeOptions
    from veritrail_graph.api.configured.models import ModelOptions
    from veritrail_graph.api.requests.verify import VerifyRequest
    from veritrail_graph.api.settings import ModelSettings, Settings
    from veritrail_graph.graph.importers.records import ClaimRecord
    from veritrail_graph.graph.store import Store
    from veritrail_graph.verifier.driver import Task
    from veritrail_graph.verifier.models.prices import Price
    from veritrail_graph.verifier.ports import NodeSource

SUMMARIES = 64
"""Assumed summaries are alike; this many are kept with their sentences."""
NO_MODEL = "no model"
"""What the model of an estimate is called where none is named."""


class _UnpaidVerdict:
    """Gives verdicts by an engine that asks no language model: an assumed one, and no call."""

    def __init__(self, engine: str) -> None:
        self.settings: dict[str, object] = {"scorer": engine}

    async def judge(self, claim: Claim, found: Found, meter: Meter) -> Judgement:
        """The verdict after which the walk goes on."""
        del claim, found, meter
        return Judgement(Verdict.FULLY_SUPPORTED, "Assumed.")


class _NotStored(ClaimStore):
    """Claims of a graph, to which none are added."""

    async def add(self, process_id: str, claims: Sequence[Claim]) -> int:
        """Store none."""
        del process_id, claims
        return 0


@dataclass(frozen=True, slots=True)
class Estimated:
    """An estimate, and what it is about.

    Attributes:
        process_id: The process.
        claims: How many claims.
        model: The model, or several, joined; None: none is named.
        estimates: Low, likely and high.
        is_priced: Whether the price of every model is known.
        is_exact: Whether the tokens of every model's prompts were counted by its tokenizer.
        ways: The ways to ask that are shown side by side.
        caches: Whether the endpoint is known to cache beginnings of prompts.
        kept: What an earlier version spares, which is no part of the estimate; None: none is named.
        chosen: The name of that one of `ways` that was asked for; None: it is none of them.
    """

    process_id: str
    claims: int
    model: str | None
    estimates: Estimates
    is_priced: bool
    is_exact: bool
    ways: tuple[CallMode, ...] = ()
    caches: bool = False
    kept: Kept | None = None
    chosen: str | None = None


async def estimate_claims(
    settings: Settings,
    store: Store,
    how: JudgeOptions,
    request: VerifyRequest,
    records: Sequence[ClaimRecord] | None = None,
    on_progress: Callable[[int, int, int], None] = lambda _done, _claims, _prompts: None,
) -> Estimated:
    """Say what verifying these claims would cost, apart from verdicts that would be kept.

    Args:
        settings: The settings.
        store: The graph.
        how: How they would be verified.
        request: Which claims.
        records: The claims that are given; None: those of `request.claims`.
        on_progress: Called with how many claims are done, how many there are, and how many
            prompts were looked at.

    Raises:
        InputError: A claim, a node, a setting or a prompt is wrong.
        EngineError: The graph cannot be reached.
    """
    splitter = SentenceSplitter.for_language(settings.language)
    tasks = await chosen_unstored(store, request, splitter, records)
    process = await store.processes.get(request.process_id)
    size, edges = process.nodes, process.edges
    nodes = SharedNodes(store.reading, request.process_id, splitter, size=size, edges=edges)

    async def opened() -> Store:
        return store

    new = None if request.extract else {task.claim.claim_id for task in tasks}
    version = await version_for(opened, request, new)
    kept = None
    if version is not None:
        kept = await kept_of(settings, store, how, request, version, process, nodes, tasks)
        tasks = list(kept.left)
    found = await estimate_tasks(
        settings, how, splitter, request.process_id, nodes, tasks, on_progress
    )
    return replace(found, kept=kept)


async def chosen_unstored(
    store: Store,
    request: VerifyRequest,
    splitter: SentenceSplitter,
    records: Sequence[ClaimRecord] | None = None,
) -> list[Task]:
    """The claims of a request; those that are new are not stored.

    Where the process has none, sentences stand for the claims that a model would extract.

    Args:
        store: The graph.
        request: Which claims.
        splitter: Cuts texts into sentences.
        records: The claims that are given; None: those of `request.claims`.

    Raises:
        InputError: A claim breaks a rule, there is none, or its node is a root.
        NotFound: The process, a node or a claim_id is not stored.
    """
    if records is None:
        records = request.claim_records()
    process = await store.processes.get(request.process_id)
    if not records:
        records = await stated_where_none(store, request, process, splitter)
    return await choose_claims(
        replace(store, claims=_NotStored(store.database)),
        process,
        (),
        records,
        request.claim_ids or (),
        request.node_id,
    )


async def estimate_tasks(
    settings: Settings,
    how: JudgeOptions,
    splitter: SentenceSplitter,
    process_id: str,
    nodes: NodeSource,
    tasks: Sequence[Task],
    on_progress: Callable[[int, int, int], None] = lambda _done, _claims, _prompts: None,
) -> Estimated:
    """Say what verifying these claims of a process would cost, wherever its nodes are.

    Args:
        settings: The settings.
        how: How they would be verified.
        splitter: Splits texts into sentences.
        process_id: The process.
        nodes: Where its nodes are read from.
        tasks: The claims.
        on_progress: As in `estimate_claims`.

    Raises:
        InputError: A setting or a prompt is wrong.
        VeriTrailError: A node cannot be read.
    """
    walk = AssumedWalk()
    judge, models = assumed_judge(settings, how, splitter, walk)
    caches = models[1].caches
    decides = any(engine.decides for engine in how.engines)
    side_by_side = call_modes(caches=caches, share=how.share, escalates=walk.second is not None)
    asked = CallMode(
        "asked",
        prefixes=caches,
        batch=how.models.in_batches,
        share=how.share,
        cascade=walk.second is not None,
    )
    if decides:  # questions cost the same however they are sent; each claim is asked about alone
        side_by_side, caches = (), False
    is_usual = decides or (asked.share == 1 and not asked.cascade)
    walk.costs = ModeCosts(side_by_side if is_usual else (*side_by_side, asked))
    estimator = Estimator(process_id, judge, walk, nodes, how.q, None if is_usual else asked)
    return Estimated(
        process_id,
        len(tasks),
        " + ".join(name for name in (judge.model or "").split(" + ") if name != NO_MODEL) or None,
        await estimator.estimate(
            tasks, lambda done, prompts: on_progress(done, len(tasks), prompts)
        ),
        all(model.price is not None for model in models),
        all(model.is_exact for model in models),
        side_by_side,
        caches,
        chosen=_name_of(asked, side_by_side),
    )


def _name_of(asked: CallMode, side_by_side: Sequence[CallMode]) -> str | None:
    """Return the name of the requested mode, or None if it is not listed."""
    if asked.batch:  # none of those in batches is shown with cached beginnings
        asked = replace(asked, prefixes=False)
    named = (one.name for one in side_by_side if replace(one, name=asked.name) == asked)
    return next(named, None)


def assumed_judge(
    settings: Settings, how: JudgeOptions, splitter: SentenceSplitter, walk: AssumedWalk
) -> tuple[Judge, list[AssumedModel]]:
    """The judge of an estimate, whose models are never asked, and these models by step.

    Args:
        settings: The settings.
        how: How claims would be judged.
        splitter: Splits texts into sentences.
        walk: The assumed walk, which must have begun before a claim is judged.

    Raises:
        InputError: A setting or a prompt is wrong.
    """
    prompts = load_prompts(how.prompts)
    shared = {Step.EVIDENCE_SELECTION: prompts[Step.EVIDENCE_SELECTION_SHARED]}
    verdict = shared_verdict_of(prompts)
    if verdict is not None:
        shared[Step.VERDICT] = verdict
    walk.shared_prompts = {step: prompt.text for step, prompt in shared.items()}
    split = lru_cache(SUMMARIES)(splitter.split)
    judges: list[LanguageModelJudge] = []
    asked: list[AssumedModel] = []
    for engine in how.engines:
        options = how.models_of(engine)
        if not engine.asks_models and judges:
            judges = [replace(judges[0], verdicts=_UnpaidVerdict(engine.name))]
            continue
        escalates = engine is how.engines[-1]
        if not engine.asks_models:
            # Some model's calls are estimated all the same; without a name it has no price.
            engine, options = engine_named("openai"), replace(options, model=NO_MODEL)
        models = assumed_models_of(settings, engine.name, options, walk, escalates=escalates)
        walk.second = models[3] if len(models) > 3 else None
        asked += models
        steps = StepModels(*map(StepModel, models))
        parts = Parts(
            split,
            how.limits,
            how.samples,
            steps,
            prompts,
            how.sub_claims,
            deciding=deciding(settings) if engine.decides else None,
        )
        judges.append(_asked_alone(engine, parts))
    return judges[0] if len(judges) == 1 else SplitJudge(*judges), asked


def _asked_alone(engine: Engine, parts: Parts) -> LanguageModelJudge:
    """The judge of an engine, by which each claim is asked about alone."""
    if not engine.decides:
        made = prompted_judge(engine.name)(parts)
        assert isinstance(made, LanguageModelJudge)  # noqa: S101  # it makes no other
        return made
    judge = engine.judge(parts)
    assert isinstance(judge, LanguageModelJudge)  # noqa: S101  # the engine's own
    selection = judge.selection
    assert isinstance(selection, DecisionSelection)  # noqa: S101  # the engine's own
    alone = replace(selection.together, among=Sharing(1))
    return replace(judge, selection=replace(selection, together=alone))


def assumed_models(settings: Settings, how: JudgeOptions, walk: AssumedWalk) -> list[AssumedModel]:
    """The assumed models: for claims, for selection, for verdicts.

    Raises:
        InputError: A setting is wrong.
    """
    engine, options = how.engine, how.models
    if not engine_named(engine).asks_models:
        # Some model's calls are estimated all the same; without a name it has no price.
        engine, options = "openai", replace(options, model=NO_MODEL)
    last = engine_named(how.verdict_engine or engine)
    return assumed_models_of(settings, engine, options, walk, escalates=last.asks_models)


def assumed_models_of(
    settings: Settings,
    engine: str,
    options: ModelOptions,
    walk: AssumedWalk,
    *,
    escalates: bool = False,
) -> list[AssumedModel]:
    """The assumed models of an engine that asks models: for claims, selection, verdicts.

    Args:
        settings: The settings.
        engine: The engine.
        options: What is asked for.
        walk: What is assumed of a walk.
        escalates: Whether the settings may name a model to escalate verdicts to.

    Raises:
        InputError: A setting is wrong.
    """
    own = own_prices(settings)
    of_steps = all_model_settings(settings, engine, options, escalates=escalates)
    made = {
        # With the price in batches also where none are made: ways to ask are compared.
        one: _assumed(
            one,
            price_of(one, own, replace(options, in_batches=True)),
            walk,
            in_batches=options.in_batches,
        )
        for one in of_steps.values()
    }
    return [made[one] for one in of_steps.values()]


def _assumed(
    settings: ModelSettings, price: Price | None, assumed_walk: AssumedWalk, *, in_batches: bool
) -> AssumedModel:
    name, count = settings.model, counter(settings.model)
    window = settings.context_tokens or context_window(name) or DEFAULT_WINDOW
    room = min(settings.max_output_tokens or MAX_OUTPUT, window // 4)
    kind = AssumedDecisions if settings.decides else AssumedModel
    return kind(
        name,
        window - room,
        count,
        is_exact=count is not estimate,
        price=price,
        caches=_caches_prefixes(settings.base_url or OPENAI),
        assumed_walk=assumed_walk,
        in_batches=in_batches,
    )


def _caches_prefixes(address: str) -> bool:
    """Return whether an endpoint is known to bill repeated beginnings of prompts at less."""
    host = urlsplit(address).hostname or ""
    return any(host == name or (name[0] == "." and host.endswith(name)) for name in CACHING_HOSTS)
