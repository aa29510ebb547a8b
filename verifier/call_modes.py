"""The modes in which the calls of a verification can be made, and the cost of each.

A walk with assumed answers says which prompts there are. How they are asked decides what they
cost: one by one, with beginnings that an endpoint caches, in batches, several claims a prompt, or
by a cheap judge first.

Source: ours; VeriTrail D counts calls that are made one by one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil

from veritrail_graph.graph.model import StepRecord, Usage, Verification
from veritrail_graph.verifier.models.language_model import MIN_TOKENS
from veritrail_graph.verifier.models.port import Step
from veritrail_graph.verifier.models.prices import Price, priced
from veritrail_graph.verifier.shared_prompts import MOST_EVIDENCE

SHARE = 8
"""Claims of a shared prompt, where none are named."""
ALONE = {
    Step.EVIDENCE_SELECTION_SHARED.value: Step.EVIDENCE_SELECTION.value,
    Step.VERDICT_SHARED.value: Step.VERDICT.value,
}
"""The steps about several claims, each with that about one."""
TOGETHER = {one: several for several, one in ALONE.items()}
"""The steps about one claim, each with that about several."""
CALL_MODES = (
    "live",
    "cached_prefixes",
    "batch",
    "shared",
    "shared_batch",
    "cascade",
    "shared_batch_cascade",
)
"""The modes in which calls that were made are priced."""


@dataclass(frozen=True, slots=True)
class CallMode:
    """A mode in which calls are made.

    Attributes:
        name: What it is called.
        prefixes: Whether beginnings of prompts that were asked before are billed as cached.
        batch: Whether calls are made in batches.
        share: Claims of a prompt, at most.
        cascade: Whether a cheap judge is asked before the strong one.
    """

    name: str
    prefixes: bool = False
    batch: bool = False
    share: int = 1
    cascade: bool = False


LIVE = CallMode("live")
PREFIXES = CallMode("cached_prefixes", prefixes=True)
BATCH = CallMode("batch", batch=True)


def call_modes(*, caches: bool, share: int = 1, escalates: bool = False) -> tuple[CallMode, ...]:
    """Return the modes that are shown side by side.

    Args:
        caches: Whether the endpoint is known to cache beginnings of prompts.
        share: Claims of a shared prompt; 1: the usual number.
        escalates: Whether a second judge is named.
    """
    several = share if share > 1 else SHARE
    found = [
        LIVE,
        PREFIXES,
        BATCH,
        CallMode("shared", prefixes=caches, share=several),
        CallMode("shared_batch", batch=True, share=several),
    ]
    if escalates:
        found.append(CallMode("cascade", prefixes=caches, cascade=True))
        found.append(CallMode("shared_batch_cascade", batch=True, share=several, cascade=True))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class PromptTokens:
    """The tokens of a prompt that each of some claims asks.

    Attributes:
        claims: How many claims ask it.
        instructions: Tokens of the instructions.
        shared_instructions: Tokens of those of a prompt about several claims.
        excerpts: Tokens that its claims have in common behind the instructions.
        own: Tokens of a claim's own part.
        around: Tokens of roles and separators.
        output: Tokens of an answer about one claim.
        is_common: Whether the claims show the same excerpts.
        selects: Whether it selects evidence: claims over the same excerpts may share it.
        judges: Whether it gives a verdict that claims may share, each with excerpts of its own.
    """

    claims: int
    instructions: float
    shared_instructions: float
    excerpts: float
    own: float
    around: int
    output: int
    is_common: bool
    selects: bool
    judges: bool = False


@dataclass(slots=True)
class Sum:
    """A sum of calls; parts of a call are kept until the end."""

    calls: float = 0.0
    input_tokens: float = 0.0
    cached: float = 0.0
    output_tokens: float = 0.0
    cost: float = 0.0
    unpriced: float = 0.0
    batched: float = 0.0

    def add(self, usage: Usage, price: Price | None, times: float) -> None:
        """Add a call so many times."""
        if not times:
            return
        whole = priced(usage, price)
        self.calls += times
        self.input_tokens += times * usage.input_tokens
        self.cached += times * usage.cached_input_tokens
        self.output_tokens += times * usage.output_tokens
        self.batched += times * usage.batch_calls
        if whole.cost_usd is None:
            self.unpriced += times
        else:
            self.cost += times * whole.cost_usd

    @property
    def usage(self) -> Usage:
        """All of it."""
        # A part of a call without a price is enough for the whole to be unknown.
        unpriced = ceil(round(self.unpriced, 6))
        calls = max(round(self.calls), unpriced)
        return Usage(
            calls=calls,
            input_tokens=round(self.input_tokens),
            cached_input_tokens=round(self.cached),
            output_tokens=round(self.output_tokens),
            cost_usd=self.cost if calls and not unpriced else None,
            unpriced_calls=unpriced,
            batch_calls=round(self.batched),
        )


@dataclass(slots=True)
class ModeCosts:
    """The cost of each mode, all prompts of all claims together.

    Attributes:
        modes: The modes.
    """

    modes: tuple[CallMode, ...] = ()
    _sums: dict[str, Sum] = field(default_factory=dict)

    def add(
        self,
        prompt: PromptTokens,
        price: Price | None,
        *,
        second: Price | None = None,
        escalated: float | None = None,
    ) -> None:
        """Add a prompt that each of its claims asks.

        Args:
            prompt: The prompt.
            price: What the model costs, its price in batches included.
            second: What the second judge costs.
            escalated: The share of verdicts for which the second judge is asked; None: it is
                no verdict, or there is no second judge. Without a cascade it is asked for all.
        """
        for mode in self.modes:
            total = self._sums.setdefault(mode.name, Sum())
            if escalated is None:
                self._ask(total, mode, prompt, price, 1.0)
            elif mode.cascade:
                self._ask(total, mode, prompt, price, 1.0)
                self._ask(total, mode, prompt, second, escalated)
            else:
                self._ask(total, mode, prompt, second, 1.0)

    def usages(self) -> dict[str, Usage]:
        """The usage of each mode by its name."""
        return {mode.name: self._sums.get(mode.name, Sum()).usage for mode in self.modes}

    def _ask(
        self, total: Sum, mode: CallMode, prompt: PromptTokens, price: Price | None, times: float
    ) -> None:
        count, common = prompt.claims, prompt.instructions + prompt.excerpts
        own, output = prompt.own, prompt.output
        if mode.share > 1 and prompt.selects and prompt.is_common and prompt.claims > 1:
            count = -(-prompt.claims // mode.share)
            each = prompt.claims / count
            common = prompt.shared_instructions + prompt.excerpts
            own, output = each * own, round(each * output)
        elif mode.share > 1 and prompt.judges and prompt.claims > 1:
            evidence = prompt.excerpts + prompt.own
            fitting = max(1, int(MOST_EVIDENCE // max(evidence, 1)))
            if fitting > 1:
                count = -(-prompt.claims // min(mode.share, fitting))
                each = prompt.claims / count
                common, own = prompt.shared_instructions, each * evidence
                output = round(each * output)

        def call(cached: float) -> Usage:
            return Usage(
                calls=1,
                input_tokens=round(common + own) + prompt.around,
                cached_input_tokens=round(cached),
                output_tokens=output,
                batch_calls=int(mode.batch),
            )

        total.add(call(0), price, times)
        is_warm = mode.prefixes and not mode.batch and prompt.is_common and common >= MIN_TOKENS
        total.add(call(common if is_warm else 0), price, times * (count - 1))


def costs_by_mode(
    verifications: Sequence[Verification],
    prices: Mapping[str, Price | None],
    instructions: Mapping[str, int],
) -> list[tuple[str, int, Usage]]:
    """Return the cost that calls would have had in each mode.

    What was asked is known, so the figures are exact, but for what another number of claims in a
    prompt would change. Where claims were asked about one by one, those of one node that read the
    same nodes in the same round are taken to share evidence prompts, and those of one round to
    share verdict prompts. Where claims shared prompts, each is taken to be asked about the same
    excerpts alone. The claims' own lines are neglected. Where a second judge was asked, modes
    without a cascade have it give all verdicts.

    Args:
        verifications: Those that made the calls.
        prices: The price of each model, with that of batches.
        instructions: Tokens of the instructions of each step; without those of verdicts about
            several claims these share no prompts.

    Returns:
        Name, claims of a shared prompt and usage of each mode.
    """
    share = max((one.share or 1 for one in verifications), default=1)
    shared = _shared_calls(verifications)
    same = Counter(
        _prompt(one, step) for one in verifications for step in one.steps if step.usage.calls
    )
    second = _second_judge(verifications)
    sums = {name: Sum() for name in CALL_MODES}
    for one in verifications:
        for step in one.steps:
            key, price = _prompt(one, step), prices.get(step.model)
            alone = together = step.usage.replace(batch_calls=0)
            part = 1.0
            if step.step in ALONE:
                alone = shared[key].alone(step, instructions)
            elif share == 1 and step.step in TOGETHER:
                together, part = _shared_prompt(step, same[key], instructions)
            _add_calls(sums["cascade"], alone, price)
            _add_calls(sums["shared_batch_cascade"], _fresh(together), price, part, batch=True)
            if second is not None and step.step in (Step.VERDICT, Step.VERDICT_SHARED):
                if step.model == second:
                    continue
                price = prices.get(second)
            _add_calls(sums["live"], _fresh(alone), price)
            _add_calls(sums["cached_prefixes"], alone, price)
            _add_calls(sums["batch"], _fresh(alone), price, batch=True)
            _add_calls(sums["shared"], together, price, part)
            _add_calls(sums["shared_batch"], _fresh(together), price, part, batch=True)
    several = share if share > 1 else SHARE
    return [
        (name, several if name.startswith("shared") else 1, total.usage)
        for name, total in sums.items()
        if second is not None or not name.endswith("cascade")
    ]


@dataclass(slots=True)
class _SharedCalls:
    """The calls of one kind that claims shared.

    A claim that shared a call has a part of its tokens; the first one has the call itself
    (`sharing.split_usage`).

    Attributes:
        claims: How many claims have a part.
        prompts: How many of them are the first.
        calls: What these have of calls; several each, where a prompt was asked in pieces.
    """

    claims: int = 0
    prompts: int = 0
    calls: int = 0

    def alone(self, step: StepRecord, instructions: Mapping[str, int]) -> Usage:
        """A claim's part of such calls, had it been asked about alone."""
        usage = step.usage.replace(batch_calls=0)
        if not self.prompts or not usage.input_tokens:
            return usage
        each, calls = self.claims / self.prompts, self.calls / self.prompts
        of_several = calls * instructions[step.step]
        of_one = calls * instructions[ALONE[step.step]]
        # Excerpts were one text for all claims; of verdicts each claim has its own.
        of_claim = each if step.step == Step.EVIDENCE_SELECTION_SHARED else 1.0
        own = max(usage.input_tokens - of_several / each, 0.0)
        tokens = of_claim * own + of_one
        cached = usage.cached_input_tokens * tokens / usage.input_tokens
        return usage.replace(
            calls=round(calls), input_tokens=round(tokens), cached_input_tokens=round(cached)
        )


def _shared_calls(verifications: Sequence[Verification]) -> dict[object, _SharedCalls]:
    """The calls that claims shared, by the prompts that they could share."""
    found: dict[object, _SharedCalls] = {}
    for one in verifications:
        for step in one.steps:
            if step.step in ALONE:
                together = found.setdefault(_prompt(one, step), _SharedCalls())
                together.claims += bool(step.usage.calls or step.usage.input_tokens)
                together.prompts += step.usage.calls > 0
                together.calls += step.usage.calls
    return found


def _shared_prompt(
    step: StepRecord, claims: int, instructions: Mapping[str, int]
) -> tuple[Usage, float]:
    """The prompt in which a claim could have been asked about with others.

    Args:
        step: What was asked about the claim alone.
        claims: How many claims could have shared prompts with it.
        instructions: Tokens of the instructions of each step.

    Returns:
        The whole prompt with the answer about this claim, and the claim's part of the prompt.
    """
    usage, several = step.usage.replace(batch_calls=0), TOGETHER[step.step]
    if claims < 2 or several not in instructions:
        return usage, 1.0
    own = max(usage.input_tokens - usage.calls * instructions[step.step], 0)
    most = SHARE
    if step.step == Step.VERDICT:  # each claim has evidence of its own
        most = min(SHARE, max(1, int(MOST_EVIDENCE // max(own, 1))))
    each = claims / -(-claims // most)
    if each == 1:
        return usage, 1.0
    whole = own * each if step.step == Step.VERDICT else own
    tokens = round(whole + usage.calls * instructions[several])
    cached = min(usage.cached_input_tokens, tokens)
    return usage.replace(input_tokens=tokens, cached_input_tokens=cached), 1 / each


def _prompt(one: Verification, step: StepRecord) -> object:
    """Return what claims have in common that can share the prompt of a step.

    To select evidence they read the same nodes; verdicts are about any claims of a round.
    """
    reads: object = None
    if step.step in (Step.EVIDENCE_SELECTION, Step.EVIDENCE_SELECTION_SHARED):
        of = next((each for each in one.iterations if each.number == step.iteration), None)
        reads = (one.node_id, of and tuple(ref.node_id for ref in of.checked))
    return step.step, step.model, step.iteration, reads


def _fresh(usage: Usage) -> Usage:
    """Return the same without what an endpoint had in its cache."""
    return usage.replace(cached_input_tokens=0)


def _second_judge(verifications: Sequence[Verification]) -> str | None:
    """The model that verdicts were escalated to; None: none was."""
    escalated = {
        iteration.judged_by
        for one in verifications
        for iteration in one.iterations
        if iteration.first_reasoning is not None and iteration.judged_by is not None
    }
    return next(iter(escalated)) if len(escalated) == 1 else None


def _add_calls(
    total: Sum, usage: Usage, price: Price | None, part: float = 1.0, *, batch: bool = False
) -> None:
    """Add several calls of one model, `part` of their prompts; a part of a call has its share."""
    if not (usage.calls or usage.output_tokens):
        return
    count = max(usage.calls, 1)
    each = Usage(
        calls=1,
        input_tokens=round(part * usage.input_tokens / count),
        cached_input_tokens=round(part * usage.cached_input_tokens / count),
        output_tokens=round(usage.output_tokens / count),
        batch_calls=int(batch),
    )
    whole = priced(each, price)
    total.calls += part * usage.calls
    total.batched += usage.calls if batch else 0
    total.input_tokens += part * usage.input_tokens
    total.cached += part * usage.cached_input_tokens
    total.output_tokens += usage.output_tokens
    if whole.cost_usd is None:
        total.unpriced += count
    else:
        total.cost += count * whole.cost_usd
