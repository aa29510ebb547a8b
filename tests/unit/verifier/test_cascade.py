"""A cheap judge first, a strong one wherever the cheap one is not sure of Fully Supported."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from fakes.asking import ScriptedAsking
from unit.verifier.test_batching_walks import SPLITTER

from veritrail_graph.api.configured.models import ModelOptions, open_models
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model import (
    CitedSentence,
    Claim,
    Evidence,
    Iteration,
    Sentence,
    Verdict,
)
from veritrail_graph.verifier.cascade import CascadeVerdict
from veritrail_graph.verifier.engines import engine_named
from veritrail_graph.verifier.judge import LanguageModelJudge, StepModel, StepModels
from veritrail_graph.verifier.limits import Samples
from veritrail_graph.verifier.models.port import Meter, NeverValid, OverBudget, Request
from veritrail_graph.verifier.ports import Found, Judgement
from veritrail_graph.verifier.prompts import load_prompts

FS, NFS, INC = Verdict.FULLY_SUPPORTED, Verdict.NOT_FULLY_SUPPORTED, Verdict.INCONCLUSIVE
PROMPTS = load_prompts()
SENTENCE = Sentence("s", 0, 0, 9, "It rains.")
FOUND = Found((Evidence(text="It rains.", sentences=(CitedSentence.of(SENTENCE),)),))
CLAIM = Claim(claim_id="k", text="It rains.", node_id="t")


def says(*verdicts: Verdict) -> ScriptedAsking:
    """A model that gives these verdicts, one a sample."""

    def answer(request: Request) -> str:
        return json.dumps({"verdict": verdicts[request.sample], "reason": f"{request.call.model}"})

    return ScriptedAsking(answer)


def judge_of(
    first: ScriptedAsking, second: ScriptedAsking, samples: Samples = Samples()
) -> LanguageModelJudge:
    first.model, second.model = "cheap", "strong"
    cheap = StepModel(first)
    models = StepModels(cheap, cheap, cheap, StepModel(second))
    return LanguageModelJudge.of("openai", models, PROMPTS, SPLITTER.split, samples=samples)


def judged(judge: LanguageModelJudge, meter: Meter | None = None) -> Judgement:
    return asyncio.run(judge.judge(CLAIM, FOUND, meter or Meter()))


def test_a_sure_verdict_of_the_first_judge_counts_and_the_second_is_not_asked() -> None:
    strong = says(NFS)
    found = judged(judge_of(says(FS), strong))
    assert (found.verdict, found.judged_by, found.first_reasoning) == (FS, "cheap", None)
    assert strong.requests == []


@pytest.mark.parametrize("first", [NFS, INC])
@pytest.mark.parametrize("second", [FS, NFS, INC])
def test_else_the_verdict_of_the_second_judge_counts(first: Verdict, second: Verdict) -> None:
    meter = Meter()
    found = judged(judge_of(says(first), says(second)), meter)
    assert (found.verdict, found.judged_by) == (second, "strong")
    assert (found.first_verdict, found.first_reasoning) == (first, "cheap")
    assert [step.model for step in meter.steps] == ["cheap", "strong"]


def test_samples_that_differ_are_not_sure() -> None:
    strong = says(NFS, NFS, NFS)
    found = judged(judge_of(says(FS, FS, INC), strong, Samples(3, 2)))
    assert (found.verdict, found.first_verdict) == (NFS, FS)
    assert judged(judge_of(says(FS, FS, FS), says(NFS, NFS, NFS), Samples(3, 2))).verdict is FS


def test_a_first_judge_without_a_valid_answer_gives_no_verdict_and_the_second_is_asked() -> None:
    def never(_request: Request) -> str:
        raise NeverValid("no valid answer")

    found = judged(judge_of(ScriptedAsking(never), says(FS)))
    assert (found.verdict, found.first_verdict) == (FS, None)
    assert found.first_reasoning == "no valid answer: no valid answer"


@pytest.mark.parametrize("which", [0, 1])
def test_a_budget_that_is_used_up_is_no_verdict(which: int) -> None:
    def poor(_request: Request) -> str:
        raise OverBudget("used up")

    models = [says(NFS), says(FS)]
    models[which] = ScriptedAsking(poor)
    with pytest.raises(OverBudget):
        judged(judge_of(*models))


def test_models_and_rule_stand_in_the_settings_and_in_the_name_of_the_model() -> None:
    judge = judge_of(says(FS), says(FS))
    assert judge.model == "cheap + strong"
    assert isinstance(judge.verdicts, CascadeVerdict)
    verdict = judge.settings["steps"]["verdict"]
    assert (verdict["model"], verdict["escalate_to"]["model"]) == ("cheap", "strong")
    assert verdict["escalate_to"]["rule"] == "unless fully supported and sure"
    assert len(judge.prompted) == 4, "both windows are looked at"


def test_an_iteration_is_stored_with_both_verdicts() -> None:
    iteration = Iteration(
        number=1, verdict=FS, reasoning="strong", checked=(), judged_by="strong",
        first_verdict=NFS, first_reasoning="cheap",
    )  # fmt: skip
    told = iteration.json_object()
    assert (told["judged_by"], told["first_verdict"]) == ("strong", "NOT_FULLY_SUPPORTED")
    assert "judged_by" not in Iteration(number=1, reasoning="", checked=()).json_object()


def test_a_model_of_the_settings_to_escalate_to_counts_only_where_verdicts_are_asked_for(
    tmp_path: Path,
) -> None:
    from fakes.settings_of import settings_of

    settings = settings_of(
        {
            "VERITRAIL_HOME": str(tmp_path),
            "OPENAI_API_KEY": "sk-none",
            "VERITRAIL_ESCALATION_MODEL": "without-a-price",
        }
    )
    options = ModelOptions(model="gpt-6-luna", budget=1.0)

    async def steps(*, escalates: bool) -> StepModels:
        engine = engine_named("openai")
        async with open_models(settings, engine, options, escalates=escalates) as models:
            return models.steps

    assert asyncio.run(steps(escalates=False)).escalation is None
    with pytest.raises(InputError, match="without-a-price"):
        asyncio.run(steps(escalates=True))


def test_a_cascade_to_the_model_that_judges_first_is_refused_but_none_is_made_by_a_setting(
    tmp_path: Path,
) -> None:
    from fakes.settings_of import settings_of

    named = {
        "VERITRAIL_HOME": str(tmp_path),
        "OPENAI_API_KEY": "sk-none",
        "VERITRAIL_ESCALATION_MODEL": "strong",
    }

    async def steps(options: ModelOptions, **settings: str) -> StepModels:
        engine = engine_named("openai")
        of = settings_of(named | settings)
        async with open_models(of, engine, options, escalates=True) as models:
            return models.steps

    assert asyncio.run(steps(ModelOptions(model="strong"))).escalation is None
    assert asyncio.run(steps(ModelOptions(model="cheap"))).escalation is not None
    with pytest.raises(InputError, match="strong, which is also the model") as refused:
        asyncio.run(
            steps(ModelOptions(model="cheap", verdict_model="strong", escalate_to="strong"))
        )
    assert refused.value.code == "escalation_to_itself"
    elsewhere = {"VERITRAIL_ESCALATION_BASE_URL": "http://127.0.0.1:9/v1"}
    asked = ModelOptions(model="strong", escalate_to="strong")
    assert asyncio.run(steps(asked, **elsewhere)).escalation is not None
