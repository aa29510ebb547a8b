"""Methods compared on labelled turns of dialogues, with the models of the settings."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from veritrail_eval.app.resources import shared_within
from veritrail_eval.dialogues.assumed import AssumedDialogues, assumptions
from veritrail_eval.dialogues.claim_sets import ClaimMatcher
from veritrail_eval.dialogues.compared import Ablation, DialogueMethod
from veritrail_eval.dialogues.consensus import annotated_claims
from veritrail_eval.dialogues.gold import DialogueGold, TurnKey
from veritrail_eval.dialogues.judging import TurnJudge
from veritrail_eval.dialogues.methods import MethodRun
from veritrail_eval.dialogues.predicted import PredictedTurns
from veritrail_eval.dialogues.score import gold_labels
from veritrail_graph.api.configured.dialogue import ablations_of, dialogue_judge
from veritrail_graph.api.configured.models import ModelOptions, open_models
from veritrail_graph.api.requests.dialogue import DialogueParameters
from veritrail_graph.graph.errors import InputError, shown
from veritrail_graph.graph.model import Usage
from veritrail_graph.graph.sentences import SentenceSplitter
from veritrail_graph.verifier.dialogue.lexical import LexicalDialogueJudge
from veritrail_graph.verifier.dialogue.prompted import PromptedDialogueJudge
from veritrail_graph.verifier.dialogue.vista import Ablations, Vista
from veritrail_graph.verifier.models.port import EndpointRefused, Meter, Step
from veritrail_graph.verifier.prompts import Prompts, load_prompts

if TYPE_CHECKING:
    from veritrail_eval.figures.options import Resampling
    from veritrail_graph.api.configured.shared import Shared
    from veritrail_graph.api.settings import Settings
    from veritrail_graph.graph.model.dialogue import DialogueLabel, TurnVerification
    from veritrail_graph.verifier.engines import Engine
    from veritrail_graph.verifier.judge import StepModels

OF_MODELS = (DialogueMethod.FACTSCORE, DialogueMethod.JUDGE)
"""Methods that there are with a language model only."""
SAMPLED = 20
"""Dialogues that an estimate looks at."""


@dataclass(frozen=True, slots=True)
class Variant:
    """A method, and what is left out of it: a row of the table."""

    method: DialogueMethod
    ablations: tuple[Ablation, ...] = ()

    @property
    def name(self) -> str:
        """Return what tables call it, such as `vista:no-history`."""
        return ":".join([self.method, *(["+".join(self.ablations)] if self.ablations else [])])


@dataclass(frozen=True, slots=True)
class DialogueComparison:
    """Options of a comparison of methods on labelled turns.

    Attributes:
        variants: The methods; empty: all that the engine can carry out.
        engine: The engine; None: as the settings say.
        models: The models that are asked, and what they may cost.
        prompts: A folder of the user's own prompts.
        turn_check: Whether VISTA also checks each turn as a whole for contradictions.
        given_claims: Whether the claims of the annotators are verified in place of own ones.
        embedding: The model that finds reworded claims; None: none is asked.
    """

    variants: tuple[Variant, ...] = ()
    engine: str | None = None
    models: ModelOptions = field(default_factory=ModelOptions)
    prompts: Path | None = None
    turn_check: bool = False
    given_claims: bool = False
    embedding: str | None = None

    def asked(self, ablations: Sequence[Ablation]) -> DialogueParameters:
        """Return how VISTA verifies turns."""
        return DialogueParameters.checked(
            {
                "background": Ablation.NO_BACKGROUND not in ablations,
                "history": Ablation.NO_HISTORY not in ablations,
                "zero_shot": Ablation.ZERO_SHOT in ablations,
                "categories": Ablation.BINARY not in ablations,
                "turn_check": self.turn_check,
            }
        )


@dataclass(frozen=True, slots=True)
class LabelledDialogues:
    """Dialogues with labelled turns, and runs that are scored on them.

    Attributes:
        gold: The dialogues and their turns.
        labels: The label of each turn that has one.
        finished: The runs.
        consensus: Whether labels follow from the claims of the annotators.
    """

    gold: DialogueGold
    labels: Mapping[TurnKey, DialogueLabel]
    finished: Sequence[PredictedTurns]
    consensus: bool

    @classmethod
    def read(cls, gold: Path, runs: Sequence[Path], *, consensus: bool) -> LabelledDialogues:
        """Read the files.

        Raises:
            InputError: One cannot be read, or two runs have one name.
        """
        from veritrail_eval.dialogues.gold import read_gold
        from veritrail_eval.dialogues.predicted import read_predicted

        labelled = read_gold(gold)
        finished = [read_predicted(path, labelled) for path in runs]
        counts = Counter(one.method for one in finished)
        if twice := next((name for name, count in counts.items() if count > 1), None):
            raise InputError(
                f"Two files are named {shown(twice)}, and files are called by their names; rename "
                "one."
            )
        return cls(labelled, gold_labels(labelled, consensus=consensus), finished, consensus)

    def needs_run(self, how: DialogueComparison) -> bool:
        """Say whether methods label the turns now: those that are named, or all without a run."""
        return bool(how.variants) or not self.finished


@dataclass(frozen=True, slots=True)
class ComparedDialogues:
    """The result of a comparison of methods on labelled turns.

    Attributes:
        labelled: The turns.
        predicted: What each method says that labelled them now, in their order.
        matcher: Says which claims are the same.
        usage: What its vectors cost.
        refusal: Why no call could succeed, where one was refused.
        warnings: What a person should know.
    """

    labelled: LabelledDialogues
    predicted: Sequence[PredictedTurns]
    matcher: ClaimMatcher
    usage: Usage
    refusal: EndpointRefused | None = None
    warnings: Sequence[str] = ()

    @property
    def every(self) -> list[PredictedTurns]:
        """Return what each method and each finished run says."""
        return [*self.predicted, *self.labelled.finished]

    @property
    def unanswered(self) -> list[TurnVerification]:
        """Turns of the methods that did not succeed."""
        turns = (turn for one in self.predicted for turn in one.turns.values())
        return [turn for turn in turns if not turn.status.is_result]

    def write(self, folder: Path) -> list[Path]:
        """Write the turns as CSV, and the runs.

        Raises:
            InputError: They cannot be written.
        """
        from veritrail_eval.dialogues.tables import write_turns

        return write_turns(folder, self.labelled.gold, self.labelled.labels, self.every)

    def as_json(self, how: Resampling | None) -> dict[str, Any]:
        """All figures of every method, and of every two of them."""
        from veritrail_eval.dialogues.claim_sets import ClaimAgreement
        from veritrail_eval.dialogues.disagreements import disagreements_json
        from veritrail_eval.dialogues.score import LABELS, TurnScore, comparisons_of

        gold, labels, matcher = self.labelled.gold, self.labelled.labels, self.matcher
        consensus = self.labelled.consensus
        scores = [TurnScore.of(gold, one, matcher, consensus=consensus) for one in self.every]
        agreement = ClaimAgreement.of(gold, matcher)
        counts = Counter(labels.values())
        claims = [turn.claims for turn in gold.turns if turn.claims is not None]
        unresolved = sum(turn.is_unresolved for turn in gold.turns if turn.key not in labels)
        return {
            "gold": {
                "dialogues": len(gold.dialogues),
                "turns": len(gold.turns),
                "labels": {name.value: counts[name] for name in LABELS},
                "no_label": len(gold.turns) - len(labels) - unresolved,
                "unresolved": unresolved,
                "claims": sum(map(len, claims)) if claims else None,
                "labels_from": "claims" if consensus else "labels",
            },
            "matching": matcher.words,
            "methods": [one.as_json(how) for one in scores],
            "comparisons": comparisons_of(scores),
            "annotators": None if agreement is None else agreement.as_json(matcher, how),
            "disagreements": disagreements_json(gold, self.every, matcher),
            "usage": sum((one.usage for one in self.every), self.usage).json_object(),
        }


@dataclass(frozen=True, slots=True)
class _Workplace:
    """The engine, models and prompts with which methods are carried out.

    Attributes:
        engine: The engine.
        models: Its models; None: it asks none.
        prompts: The prompts of all steps.
        splitter: Splits texts into sentences.
    """

    engine: Engine
    models: StepModels | None
    prompts: Prompts
    splitter: SentenceSplitter

    async def carry_out(
        self,
        variant: Variant,
        how: DialogueComparison,
        run: MethodRun,
        labels: Mapping[TurnKey, DialogueLabel],
    ) -> PredictedTurns:
        """Label the turns by one method."""
        match variant.method:
            case DialogueMethod.MAJORITY:
                return run.majority(variant.name, labels)
            case DialogueMethod.JUDGE:
                return await run.judged(variant.name, self._turn_judge())
            case DialogueMethod.FACTSCORE:
                vista = Vista(self._factscore(), Ablations(False, False, False))
            case DialogueMethod.VISTA:
                vista = self._vista(how.asked(variant.ablations))
        return await run.vista(variant.name, vista, given_claims=how.given_claims)

    def _vista(self, asked: DialogueParameters) -> Vista:
        if self.models is None:
            return Vista(LexicalDialogueJudge(self.splitter.split), ablations_of(asked))
        checking = self.models.verdict if asked.checks_turns else None
        judge = dialogue_judge(self.engine.name, self.prompts, self.models, asked, checking)
        return Vista(judge, ablations_of(asked))

    def _factscore(self) -> PromptedDialogueJudge:
        """FActScore: the stages with its own prompts. Source: VISTA B.6."""
        from veritrail_graph.api.configured.judge import prompted_step

        models = self._asked()
        verification = prompted_step(self.prompts[Step.FACTSCORE_VERIFICATION], models.verdict)
        extraction = prompted_step(self.prompts[Step.FACTSCORE_EXTRACTION], models.claims)
        # It has no categories: the third step is never asked.
        return PromptedDialogueJudge(self.engine.name, extraction, verification, verification)

    def _turn_judge(self) -> TurnJudge:
        from veritrail_graph.api.configured.judge import prompted_step

        step = prompted_step(self.prompts[Step.DIALOGUE_JUDGE], self._asked().verdict)
        return TurnJudge(self.engine.name, step)

    def _asked(self) -> StepModels:
        if self.models is None:
            raise ValueError(f"engine {self.engine.name} asks no model")
        return self.models


def _chosen_variants(settings: Settings, how: DialogueComparison) -> tuple[Variant, ...]:
    """The methods that are compared.

    Raises:
        InputError: The engine cannot carry one out.
    """
    engine = _engine(settings, how)
    every = (Variant(one) for one in DialogueMethod if engine.asks_models or one not in OF_MODELS)
    variants = tuple(dict.fromkeys(how.variants or every))
    asks = [one for one in variants if one.method is not DialogueMethod.MAJORITY]
    if asks and not engine.asks_models and engine.name != "lexical":
        raise InputError(
            f"Engine {engine.name} does not verify dialogues; take one that asks a model, or "
            "lexical.",
            code="engine_without_dialogues",
            engine=engine.name,
        )
    needs = [one.name for one in asks if one.method in OF_MODELS]
    if how.turn_check:
        needs.append("checking turns as a whole")
    if needs and not engine.asks_models:
        raise InputError(
            f"{needs[0]} needs a language model, and engine {engine.name} asks none.",
            code="extraction_needs_model",
            engine=engine.name,
        )
    return variants


def _engine(settings: Settings, how: DialogueComparison) -> Engine:
    from veritrail_graph.verifier.engines import engine_named

    return engine_named(settings.engine_name(how.engine, how.models.model))


async def compare_dialogues(
    settings: Settings,
    labelled: LabelledDialogues,
    how: DialogueComparison,
    on_likely: Callable[[DialogueEstimate], None] = lambda _likely: None,
    on_progress: Callable[[str, int, int], None] = lambda _what, _done, _of: None,
) -> ComparedDialogues:
    """Label turns by each method, one after the other: later ones find answers in the cache.

    Args:
        settings: The settings.
        labelled: The dialogues and their labelled turns.
        how: The methods and the models.
        on_likely: Told what the methods are likely to cost, before a model is asked.
        on_progress: Told the method after each turn, and how many of its turns are done.

    Raises:
        VeriTrailError: A model, a prompt or a setting is wrong, or a model gave no vectors.
    """
    from veritrail_eval.app.embeddings import embedding_choice

    shared, gold = shared_within(how.models.budget, how.models.max_calls), labelled.gold
    if how.embedding is not None:  # before other models are paid for
        embedding_choice(settings, how.embedding)
    predicted: list[PredictedTurns] = []
    refusal: EndpointRefused | None = None
    warnings: Sequence[str] = ()
    if labelled.needs_run(how):
        likely = await estimate_dialogues(settings, labelled, how)
        on_likely(likely)
        of = {one.method: one.turns for one in likely.methods}
        done: Counter[str] = Counter()

        def on_turn(name: str) -> None:
            done[name] += 1
            on_progress(f"turns, {name}", done[name], of[name])

        variants = _chosen_variants(settings, how)
        async with _workplace(settings, how, variants, shared) as (place, warnings):
            for variant in variants:
                run = MethodRun(gold, place.splitter.split, partial(on_turn, variant.name), refusal)
                predicted.append(await place.carry_out(variant, how, run, labelled.labels))
                refusal = refusal or run.refusal
    matcher, usage = await _matcher(settings, labelled, predicted, how, shared)
    return ComparedDialogues(labelled, predicted, matcher, usage, refusal, warnings)


@asynccontextmanager
async def _workplace(
    settings: Settings, how: DialogueComparison, variants: Sequence[Variant], shared: Shared
) -> AsyncIterator[tuple[_Workplace, list[str]]]:
    """Open what methods are carried out with; models are closed in the end."""
    from veritrail_graph.api.configured.judge import refuse_model

    engine = _engine(settings, how)
    splitter = SentenceSplitter.for_language(settings.language)
    prompts = load_prompts(how.prompts)
    asks = any(one.method is not DialogueMethod.MAJORITY for one in variants)
    if not asks or not engine.asks_models:
        if asks:
            refuse_model(engine.name, how.models)
        yield _Workplace(engine, None, prompts, splitter), []
        return
    async with AsyncExitStack() as stack:
        models = await stack.enter_async_context(open_models(settings, engine, how.models, shared))
        yield _Workplace(engine, models.steps, prompts, splitter), models.warnings


@dataclass(frozen=True, slots=True)
class EstimatedMethod:
    """The cost estimate of a method.

    Attributes:
        method: What tables call it.
        turns: Turns that it has to label.
        usage: The likely calls, tokens and money.
    """

    method: str
    turns: int
    usage: Usage

    def as_json(self) -> dict[str, Any]:
        """The method with the likely figures; a method that asks nothing costs nothing."""
        usage = self.usage
        return {
            "method": self.method,
            "turns": self.turns,
            "calls": usage.calls,
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "cost_usd": usage.cost_usd if usage.calls else 0.0,
        }


@dataclass(frozen=True, slots=True)
class DialogueEstimate:
    """The cost estimate of several methods."""

    methods: Sequence[EstimatedMethod]

    @property
    def usage(self) -> Usage:
        """The likely calls, tokens and money of all."""
        return sum((one.usage for one in self.methods), Usage())

    def as_json(self) -> dict[str, Any]:
        """Return what is assumed, and each method."""
        return {"assumptions": assumptions(), "methods": [one.as_json() for one in self.methods]}


async def estimate_dialogues(
    settings: Settings, labelled: LabelledDialogues, how: DialogueComparison
) -> DialogueEstimate:
    """Say what labelling the turns by each method would cost. No model is asked.

    A few dialogues are carried out with assumed answers, and scaled to all.

    Raises:
        InputError: A model, a prompt or a setting is wrong.
    """
    from veritrail_eval.app.estimate import scaled
    from veritrail_graph.api.app.estimation import assumed_models_of
    from veritrail_graph.verifier.judge import StepModel, StepModels

    if not labelled.needs_run(how):
        return DialogueEstimate(())
    engine = _engine(settings, how)
    splitter, gold = SentenceSplitter.for_language(settings.language), labelled.gold
    sample, whole = _sampled(gold), MethodRun(gold, splitter.split)
    models = None
    if engine.asks_models:
        assumed = assumed_models_of(settings, engine.name, how.models, AssumedDialogues())
        models = StepModels(*map(StepModel, assumed))
    place = _Workplace(engine, models, load_prompts(how.prompts), splitter)
    found: list[EstimatedMethod] = []
    for variant in _chosen_variants(settings, how):
        background = (
            variant.method is DialogueMethod.VISTA
            and Ablation.NO_BACKGROUND not in variant.ablations
        )
        turns = sum(len(whole.needed(name, background=background)) for name in gold.by_dialogue())
        if models is None or variant.method is DialogueMethod.MAJORITY:
            found.append(EstimatedMethod(variant.name, turns, Usage()))
            continue
        run = MethodRun(sample, splitter.split)
        predicted = await place.carry_out(variant, how, run, labelled.labels)
        usage = scaled(predicted.usage, turns / max(len(predicted.turns), 1))
        found.append(EstimatedMethod(variant.name, turns, usage))
    return DialogueEstimate(found)


def _sampled(gold: DialogueGold) -> DialogueGold:
    """A few dialogues with labelled turns, spread evenly."""
    names = list(gold.by_dialogue())
    count = min(SAMPLED, len(names))
    chosen = {names[(2 * place + 1) * len(names) // (2 * count)] for place in range(count)}
    return DialogueGold(
        gold.dialogues, tuple(turn for turn in gold.turns if turn.dialogue_id in chosen)
    )


async def _matcher(
    settings: Settings,
    labelled: LabelledDialogues,
    predicted: Sequence[PredictedTurns],
    how: DialogueComparison,
    shared: Shared,
) -> tuple[ClaimMatcher, Usage]:
    """Say which claims are the same: by equal text, and by vectors where a model is named.

    Raises:
        VeriTrailError: The model cannot be opened, or gave no vectors.
    """
    gold = labelled.gold
    texts = [one.claim for turn in gold.turns for one in turn.claims or ()]
    texts += annotated_claims(gold)
    for turn in gold.turns:
        if turn.claims is not None:
            found = (one.turns.get(turn.key) for one in (*predicted, *labelled.finished))
            texts += [claim.claim for one in found if one is not None for claim in one.claims]
    return await claim_matcher(settings, how.embedding, texts, how.models.use_cache, shared)


async def claim_matcher(
    settings: Settings, named: str | None, texts: Sequence[str], use_cache: bool, shared: Shared
) -> tuple[ClaimMatcher, Usage]:
    """Return what says which of some claims are the same, and what its vectors cost.

    Args:
        settings: The settings.
        named: The embedding model; None: claims of equal text alone are the same.
        texts: The claims.
        use_cache: Whether vectors come from the cache of answers, and go into it.
        shared: What its calls share with those of other models.

    Raises:
        VeriTrailError: The model cannot be opened, or gave no vectors.
    """
    from veritrail_eval.app.embeddings import open_embedder

    if named is None:
        return ClaimMatcher(), Usage()
    meter = Meter()
    async with AsyncExitStack() as stack:
        embedder = await open_embedder(settings, named, use_cache, shared, stack)
        return await ClaimMatcher.of(texts, embedder, meter), meter.total
