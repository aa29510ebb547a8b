"""A matrix before any call is made: whether each method can be made, and what a run would cost.

The methods of the matrix judge a few claims of every process, as they would, with models that are
never asked: their answers are assumed as in `veritrail estimate`. What these claims cost is scaled
to all that have no outcome yet.

Source: VeriTrail D (computational cost); the estimate is ours.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from veritrail_eval.app.embeddings import embedding_choice, embedding_price
from veritrail_eval.app.resources import (
    OpenResources,
    checked_name,
    entailment_choice,
    shared_within,
)
from veritrail_eval.embeddings.endpoint import BATCH as EMBEDDED_AT_ONCE
from veritrail_eval.embeddings.endpoint import STEP as EMBEDDING
from veritrail_eval.embeddings.endpoint import batches_of
from veritrail_eval.embeddings.local import embedding_files
from veritrail_eval.methods.judging import task_of
from veritrail_eval.methods.memory import SharedEmbedder
from veritrail_eval.runs.matrix import parse_matrix, refuse_faults
from veritrail_eval.runs.matrix_check import method_faults
from veritrail_eval.runs.outcomes import OutcomeFile
from veritrail_eval.runs.runner import (
    OUTCOMES,
    LoadedDataset,
    Loading,
    judged_before,
    load,
    waiting_claims,
)
from veritrail_graph.api.app.estimation import assumed_judge, assumed_models
from veritrail_graph.api.configured.entailment import configured_choice
from veritrail_graph.api.configured.judge import check_engines
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model import Claim, Evidence, Status, Usage, Verdict
from veritrail_graph.verifier.estimate import LIKELY, AssumedWalk
from veritrail_graph.verifier.estimate import assumptions as assumed_answers
from veritrail_graph.verifier.judge import StepModel, StepModels
from veritrail_graph.verifier.models.port import Meter, StepCall
from veritrail_graph.verifier.models.prices import Price, priced
from veritrail_graph.verifier.models.tokens import counter, estimate
from veritrail_graph.verifier.nli.endpoint import BATCH, WINDOW_WORDS
from veritrail_graph.verifier.nli.endpoint import STEP as ENTAILMENT
from veritrail_graph.verifier.nli.port import Entailment, Pair
from veritrail_graph.verifier.ports import Found, JudgeError, Judgement, ReadNode, Selection
from veritrail_graph.verifier.prompts import load_prompts

if TYPE_CHECKING:
    from veritrail_eval.datasets.model import LabelledClaim
    from veritrail_eval.embeddings.port import Embedder
    from veritrail_eval.methods.method import Method
    from veritrail_eval.runs.matrix import Configuration, Matrix
    from veritrail_graph.api.settings import Settings
    from veritrail_graph.verifier.held_process import HeldProcess
    from veritrail_graph.verifier.nli.opening import ModelChoice
    from veritrail_graph.verifier.nli.port import EntailmentModel
    from veritrail_graph.verifier.ports import Judge

FEW = 3
"""Claims of a process that are judged for the estimate."""
_DIMENSIONS = 16


@dataclass(frozen=True, slots=True)
class EstimatedConfiguration:
    """The cost estimate of a configuration on a data set.

    Attributes:
        dataset: The data set.
        configuration: The configuration.
        claims: How many claims it has to judge.
        usage: The likely calls, tokens and money.
    """

    dataset: str
    configuration: Configuration
    claims: int
    usage: Usage


@dataclass(frozen=True, slots=True)
class RunEstimate:
    """The cost estimate of a run.

    Attributes:
        rows: Each configuration on each data set that has something to judge.
        known: Outcomes that are there already.
        notes: What a person should know, such as a sample that cannot be as large as asked for.
    """

    rows: tuple[EstimatedConfiguration, ...]
    known: int
    notes: tuple[str, ...] = ()

    @property
    def claims(self) -> int:
        """Outcomes that are missing: claims times configurations."""
        return sum(row.claims for row in self.rows)

    @property
    def usage(self) -> Usage:
        """The likely calls, tokens and money of all."""
        return sum((row.usage for row in self.rows), Usage())


def assumptions() -> dict[str, Any]:
    """Return what is assumed, as JSON."""
    return {
        "claims_judged_per_process": FEW,
        "answers_from_cache": 0,
        "invalid_answers": 0,
        "likely": assumed_answers()["likely"],
    }


async def checked_matrix(
    settings: Settings, path: Path, price: str | None = None, loading: Loading = load
) -> Matrix:
    """Read a matrix, and see that every method of it can be made. No model is opened or asked.

    Args:
        settings: The settings.
        path: The matrix; paths in it are relative to its folder.
        price: The price of the models, where it is not known.
        loading: Reads a data set.

    Raises:
        InputError: It cannot be read, or has faults; `violations` lists all of them.
    """
    matrix, faults = parse_matrix(path)
    async with AssumedResources(settings, price=price, folder=path.parent) as resources:
        faults += await method_faults(matrix, resources, path, loading)
    refuse_faults(path, faults)
    return matrix


async def estimate_run(
    settings: Settings,
    matrix: Matrix,
    output: Path,
    *,
    price: str | None = None,
    folder: Path | None = None,
    loading: Loading = load,
    on_progress: Callable[[str, int, int], None] = lambda _title, _done, _of: None,
) -> RunEstimate:
    """Say what judging everything that has no outcome yet would cost. No model is asked.

    Args:
        settings: The settings.
        matrix: The matrix.
        output: Where the run keeps its outcomes; it need not be there.
        price: The price of the models, where it is not known.
        folder: Paths in the matrix's parameters are relative to it.
        loading: Reads a data set.
        on_progress: Told the configuration, and how many are done of how many.

    Raises:
        InputError: A data set, a parameter, a setting or the file of outcomes is wrong.
        VeriTrailError: A method could not judge a claim with assumed answers.
    """
    done = judged_before(OutcomeFile(output / OUTCOMES))
    rows, known = [], 0
    notes: list[str] = []
    number, of = 0, sum(len(matrix.of(entry)) for entry in matrix.datasets)
    for entry in matrix.datasets:
        loaded = await asyncio.to_thread(loading, entry, matrix.seed)
        if loaded.short is not None:
            notes.append(f"{entry.name}: {loaded.short}")
        prints = loaded.fingerprints()
        async with AssumedResources(settings, price=price, folder=folder) as resources:
            for configuration in matrix.of(entry):
                on_progress(configuration.title, number, of)
                number += 1
                waiting = waiting_claims(loaded, configuration, prints, done)
                known += len(loaded.claims) - len(waiting)
                if waiting:
                    usage = await _estimated(configuration, loaded, waiting, resources)
                    row = EstimatedConfiguration(entry.name, configuration, len(waiting), usage)
                    rows.append(row)
    return RunEstimate(tuple(rows), known, tuple(notes))


async def _estimated(
    configuration: Configuration,
    loaded: LoadedDataset,
    waiting: Sequence[LabelledClaim],
    resources: AssumedResources,
) -> Usage:
    resources.walk = AssumedWalk()
    resources.is_paid = False
    method = await configuration.kind.make(configuration.parameters, resources)
    if not resources.is_paid:
        return Usage()
    meter = Meter()
    await method.prepare(tuple(loaded.processes.values()), meter)
    whole = meter.total
    by_process: dict[str, list[LabelledClaim]] = {}
    for claim in waiting:
        by_process.setdefault(claim.process_id, []).append(claim)
    for name, claims in by_process.items():
        process = loaded.processes[name]
        found = [await _judged(method, claim, process, resources.walk) for claim in _few(claims)]
        nodes = len({process.node_of(claim.node_id).node_id for claim in claims})
        first = sum((one for one, _ in found), Usage())
        others = sum((one for _, one in found), Usage())
        # Claims about one node share the beginnings of prompts, where an endpoint keeps those.
        whole += scaled(first, nodes / len(found))
        whole += scaled(others, (len(claims) - nodes) / len(found))
    return whole


async def _judged(
    method: Method, claim: LabelledClaim, process: HeldProcess, walk: AssumedWalk
) -> tuple[Usage, Usage]:
    """Return what a claim costs: as the first one about its node, and as another one."""
    await asyncio.sleep(0)  # so that a person can stop it
    walk.begin(LIKELY, task_of(claim, process).claim)
    meter = Meter()
    outcome = await method.judge(claim, process, meter)
    if outcome.status in (Status.FAILED, Status.OVER_BUDGET):
        raise JudgeError(f"no estimate for claim {claim.claim_id!r}: {outcome.reason}")
    return meter.total, walk.warm


def _few(claims: Sequence[LabelledClaim]) -> list[LabelledClaim]:
    """Claims of different lengths, spread evenly."""
    by_length = sorted(claims, key=lambda claim: (len(claim.text), claim.claim_id))
    count = min(FEW, len(by_length))
    return [by_length[(2 * place + 1) * len(by_length) // (2 * count)] for place in range(count)]


def scaled(usage: Usage, factor: float) -> Usage:
    """A usage times a number, in whole calls and tokens."""
    if not factor:
        return Usage()
    counts = ("calls", "cached_calls", "input_tokens", "cached_input_tokens", "output_tokens",
              "unpriced_calls")  # fmt: skip
    cost = None if usage.cost_usd is None else usage.cost_usd * factor
    values = {name: round(getattr(usage, name) * factor) for name in counts}
    return Usage(**values, cost_usd=cost)


class AssumedResources(OpenResources):
    """`Resources` whose models are never asked.

    Attributes:
        walk: What is assumed of the claim that is judged; models that are made share it.
        is_paid: Whether a model was made that is asked over a network.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        price: str | None = None,
        folder: Path | None = None,
        walk: AssumedWalk | None = None,
    ) -> None:
        super().__init__(settings, shared_within(None, None), price=price, folder=folder)
        self.walk = walk or AssumedWalk()
        self.is_paid = False

    async def judge(self, options: Mapping[str, Any]) -> Judge:
        """A judge with assumed models; one that asks none costs nothing.

        Raises:
            InputError: An option is wrong.
        """
        how = self.judge_options(options)
        check_engines(how.engines, how)
        if any(engine.needs_entailment for engine in how.engines):
            self._require_files(configured_choice(self._settings))
        if not how.asks_models:
            load_prompts(how.prompts)
            return _FreeJudge(how.engine_words)
        self.is_paid = True
        return assumed_judge(self._settings, how, self.splitter, self.walk)[0]

    def _require_files(self, choice: ModelChoice) -> None:
        """See that the files of a model of this machine are there; it is not loaded.

        Raises:
            InputError: The folder or a file of it is missing.
        """
        from veritrail_graph.verifier.nli.opening import (
            checked_template,
            folder_of,
            needed_files,
        )

        checked_template(choice.template)
        if not choice.is_address:
            needed_files(folder_of(choice, self._settings.home))

    async def models(self, options: Mapping[str, Any]) -> StepModels:
        """Assumed models of the steps.

        Raises:
            InputError: An option is wrong, or the engine asks no model.
        """
        how = self.judge_options(options)
        if not how.asks_models:
            raise InputError(f"Engine {how.engine} asks no model; name one that does.")
        self.is_paid = True
        models = assumed_models(self._settings, how, self.walk)
        return StepModels(*map(StepModel, models))

    async def embedder(self, named: str | None = None) -> Embedder:
        """An embedder whose vectors are drawn from the text; one of this machine costs nothing.

        Raises:
            InputError: None is named, or a setting is wrong.
        """
        choice = embedding_choice(self._settings, checked_name(named, "embedding"), self._folder)
        if isinstance(choice, Path):
            embedding_files(choice)
            embedder = AssumedEmbedder(choice.name, None, False, self.walk)
        else:
            self.is_paid = True
            price = embedding_price(self._settings, choice)
            most = self._settings.embedding.batch or EMBEDDED_AT_ONCE
            embedder = AssumedEmbedder(choice.model, price, True, self.walk, most)
        return SharedEmbedder(embedder, self.memory.vectors)

    async def entailment(
        self, named: str | None = None, reading: Mapping[str, Any] | None = None
    ) -> EntailmentModel:
        """An entailment model that is sure of every pair; one of this machine costs nothing.

        Raises:
            InputError: None is named, or a value is wrong.
        """
        choice = entailment_choice(self._settings, named, reading or {}, self._folder)
        self._require_files(choice)
        self.is_paid |= choice.is_address
        window = choice.window or WINDOW_WORDS
        return AssumedEntailment(choice.model, choice.is_address, window, self.walk)


@dataclass(frozen=True)
class AssumedEmbedder:
    """Embeds without a model: the vector of a text is drawn from it.

    Attributes:
        name: The model's name.
        price: What it costs, if that is known.
        is_paid: Whether it is asked over a network.
        walk: The assumed walk.
        most: The most texts of a call.
    """

    name: str
    price: Price | None
    is_paid: bool
    walk: AssumedWalk
    most: int = EMBEDDED_AT_ONCE

    @property
    def settings(self) -> Mapping[str, Any]:
        """The model's name."""
        return {"model": self.name}

    async def embed(self, texts: Sequence[str], meter: Meter) -> list[list[float]]:
        """A vector a text; what it would cost is recorded."""
        if self.is_paid:
            count = counter(self.name)
            share = LIKELY.token_share if count is estimate else 1.0
            tokens = round(share * sum(map(count, texts)))
            usage = priced(
                Usage(calls=len(batches_of(texts, self.most)), input_tokens=tokens), self.price
            )
            meter.record(StepCall(EMBEDDING, "", "", self.name, None), usage)
            self.walk.warm += usage
        return [[one / 255 for one in _digest(text)] for text in texts]


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=_DIMENSIONS).digest()


@dataclass(frozen=True)
class AssumedEntailment:
    """Entails every pair; a longer premise leaves it less sure, so that no premise grows for long.

    Attributes:
        name: The model's name.
        is_remote: Whether a server is asked.
        window: Words of a premise that are sent at a time.
        walk: The assumed walk.
    """

    name: str
    is_remote: bool
    window: int
    walk: AssumedWalk

    @property
    def settings(self) -> Mapping[str, Any]:
        """Name and window."""
        return {"model": self.name, "window_words": self.window}

    async def predict(self, pairs: Sequence[Pair], meter: Meter) -> list[Entailment]:
        """Assumed probabilities; the calls of a server are recorded, their price is not known."""
        if self.is_remote and pairs:
            sent = sum(1 + len(pair.premise.split()) // self.window for pair in set(pairs))
            usage = priced(Usage(calls=-(-sent // BATCH)), None)
            meter.record(StepCall(ENTAILMENT, "", "", self.name, None), usage)
            self.walk.warm += usage
        return [
            Entailment(0.9, neutral, 0.0)
            for neutral in (min(0.1, len(pair.premise) / 1e6) for pair in pairs)
        ]

    async def close(self) -> None:
        """Nothing is open."""


@dataclass(frozen=True)
class _FreeJudge:
    """Takes the place of an engine that asks no language model: it costs nothing.

    Attributes:
        name: The engine.
    """

    name: str
    model: str | None = None
    indicative: bool = False

    @property
    def settings(self) -> Mapping[str, Any]:
        """Nothing but the engine."""
        return {}

    async def sub_claims(self, claim: Claim, meter: Meter) -> tuple[str, ...]:
        """Those that the claim brings."""
        del meter
        return claim.sub_claims

    async def select_evidence(
        self, claim: Claim, nodes: Sequence[ReadNode], meter: Meter
    ) -> Selection:
        """None, so that the walk ends."""
        del claim, nodes, meter
        evidence: tuple[Evidence, ...] = ()
        return Selection(evidence)

    async def judge(self, claim: Claim, found: Found, meter: Meter) -> Judgement:
        """A verdict, at once."""
        del claim, found, meter
        return Judgement(Verdict.FULLY_SUPPORTED, "Assumed.")
