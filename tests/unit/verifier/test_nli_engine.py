"""Engine `nli` over a real ONNX session, and verdicts by another engine than the evidence's."""

from __future__ import annotations

import asyncio
import json
from importlib.metadata import EntryPoint

import pytest
from fakes.byte_server import http, serving
from fakes.dag import Dag, DagSource
from fakes.entailment import tiny_model
from fakes.judging import SPLITTER, a_claim, a_node, found_in
from fakes.scripted_judge import FS, INC, NFS

from veritrail_graph.api.advice import REST as SERVICE
from veritrail_graph.api.cli.advice import ADVICE as COMMAND
from veritrail_graph.api.configured.judge import configure_judge, judge_options
from veritrail_graph.api.requests.verify import VerifyRequest
from veritrail_graph.api.settings import Settings
from veritrail_graph.graph.errors import InputError, with_advice
from veritrail_graph.graph.model import Status, in_force
from veritrail_graph.verifier import engines
from veritrail_graph.verifier.driver import Task, verify_claim
from veritrail_graph.verifier.engines import Engine, EntailmentParts, engine_named, engine_names
from veritrail_graph.verifier.engines.lexical import LexicalJudge
from veritrail_graph.verifier.engines.nli import NliJudge
from veritrail_graph.verifier.judge import SplitJudge
from veritrail_graph.verifier.models.port import Meter
from veritrail_graph.verifier.nli.adapters import NAMES, adapter_named
from veritrail_graph.verifier.nli.opening import ModelChoice, open_folder
from veritrail_graph.verifier.ports import Found, JudgeError

SAILED, UNLOADED = "The ferry sailed to Harbour Island.", "Coal was unloaded in May."
REST = ["The crew was paid.", "Tea was sold at noon.", "The quay was old."]
DENIED = "The ferry was not sailed."
JOINT = "The ferry sailed and coal was unloaded."


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    texts = [SAILED, UNLOADED, *REST, DENIED, "Steel boats sank."]
    return tiny_model(tmp_path_factory.mktemp("nli") / "tiny", texts)


@pytest.fixture(scope="module")
def model(folder):
    return open_folder(folder, ModelChoice(str(folder)))


def nli(model, adapter=None, **parts):
    chosen = adapter and adapter_named(adapter, model, SPLITTER.split)
    return NliJudge(EntailmentParts(model, **parts), chosen)


def selected(judge, claim, *nodes):
    found = asyncio.run(judge.select_evidence(a_claim(claim), nodes, Meter()))
    return {
        (one.node_id, one.sentence) for evidence in found.evidence for one in evidence.sentences
    }


def judged(judge, claim, *nodes, found=None):
    found = found or Found(
        tuple(found_in(node, *range(len(node.sentences))) for node in nodes),
        tuple(node for node in nodes if node.ref.is_root),
    )
    return asyncio.run(judge.judge(a_claim(claim), found, Meter()))


def test_sentences_that_entail_or_contradict_are_evidence(model):
    node = a_node("s", [*REST, SAILED, DENIED])
    assert selected(nli(model), "The ferry sailed.", node) == {("s", 3), ("s", 4)}
    assert selected(nli(model), "Steel boats sank.", node) == set()


def test_evidence_is_one_entry_a_node_in_the_order_of_the_nodes(model):
    nodes = [a_node("b", [SAILED, REST[0]]), a_node("a", REST), a_node("c", [REST[1], SAILED])]
    claim = a_claim("The ferry sailed.")
    found = asyncio.run(nli(model).select_evidence(claim, nodes, Meter())).evidence
    assert [evidence.node_ids for evidence in found] == [("b",), ("c",)]
    assert [evidence.text for evidence in found] == [SAILED, SAILED]


def test_no_more_sentences_of_a_node_than_are_allowed(model):
    nodes = [a_node(name, [f"{SAILED} {word}" for word in ("Tea", "Coal", "May")]) for name in "ab"]
    found = selected(nli(model, evidence_sentences=2), "The ferry sailed.", *nodes)
    assert sorted(node_id for node_id, _ in found) == ["a", "a", "b", "b"]


def test_two_sentences_that_entail_a_claim_only_together_are_evidence(model):
    nodes = [a_node("a", [REST[0], SAILED]), a_node("b", [*REST, UNLOADED])]
    assert selected(nli(model), JOINT, *nodes) == {("a", 1), ("b", 3)}
    assert selected(nli(model, joint=False), JOINT, *nodes) == set()
    found = Found((found_in(nodes[0], 1), found_in(nodes[1], 3)))
    assert judged(nli(model), JOINT, found=found).verdict is FS


@pytest.mark.parametrize(
    ("claim", "texts", "verdict"),
    [
        ("The ferry sailed.", [SAILED], FS),
        ("The ferry sailed.", [DENIED], NFS),
        ("The ferry sailed.", [SAILED, DENIED], INC),
        ("Steel boats sank.", [SAILED], NFS),
        (JOINT, [SAILED, UNLOADED], FS),
        (JOINT, [SAILED, REST[0]], NFS),
    ],
)
@pytest.mark.parametrize("root", [True, False])
def test_verdicts(model, claim, texts, verdict, root):
    nodes = [a_node(f"n{number}", [text], root=root) for number, text in enumerate(texts)]
    judgement = judged(nli(model), claim, *nodes)
    assert judgement.verdict is verdict
    assert (judgement.score >= 0.5) is (verdict is not NFS)
    assert "threshold 0.50" in judgement.reasoning


def test_the_whole_text_of_a_root_counts_however_long(model):
    root = a_node("r", [*REST * 200, SAILED, *REST * 200], root=True)
    found = Found((found_in(root, 0),), (root,))
    judgement = judged(nli(model), "The ferry sailed.", found=found)
    assert judgement.verdict is FS
    assert "the text of 'r'" in judgement.reasoning


def test_the_score_is_the_models_own_and_the_threshold_decides(model):
    nodes = [a_node("a", [SAILED])]
    claim = "The ferry sailed to Harbour Island in May and coal and tea."
    score = judged(nli(model), claim, *nodes).score
    assert 0 < score < 0.5
    low = judged(nli(model, threshold=score), claim, *nodes)
    assert (low.verdict, low.score) == (FS, score)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "summac-conv"])
def test_an_adapter_gives_the_verdicts(model, name):
    judge = nli(model, name)
    nodes = [a_node("r", [*REST, SAILED], root=True), a_node("s", [UNLOADED])]
    assert judged(judge, "The ferry sailed.", *nodes).verdict is FS
    assert judged(judge, "Steel boats sank.", *nodes).verdict is NFS
    assert judge.model == f"tiny ({name})"
    assert judge.settings["adapter"] == name


def test_a_model_that_gives_no_number_fails_the_claim_and_is_no_verdict(model):
    node = a_node("r", ["poison ferry."], root=True)
    with pytest.raises(JudgeError, match="no number"):
        selected(nli(model), "The ferry sailed.", node)
    found = verified(nli(model), "The ferry sailed.", {"r": ["poison ferry."]})
    assert (found.status, found.verdict) == (Status.FAILED, None)
    assert "no number" in found.error


def verified(judge, claim, texts):
    """A claim of `t`, which was made of `s`, which was made of the roots."""
    roots = [name for name in texts if name.startswith("r")]
    dag = Dag.of({"t": ["s"], "s": roots}, texts=texts)
    task = Task(a_claim(claim), dag.refs["t"])
    return asyncio.run(verify_claim(task, "p", judge, DagSource(dag)))


def test_a_whole_walk_finds_joint_support_and_the_stage_of_an_error(model):
    texts = {"t": [JOINT], "s": [SAILED, UNLOADED], "r1": [*REST, SAILED], "r2": [UNLOADED]}
    found = verified(nli(model), JOINT, texts)
    assert (found.verdict, found.engine, found.indicative) == (FS, "nli", False)
    assert found.score > 0.9
    wrong = {**texts, "s": ["Steel boats sank."], "t": ["Steel boats sank."]}
    found = verified(nli(model), "Steel boats sank.", wrong)
    assert (found.verdict, found.error_stages) == (NFS, (2,))


def options(folder, **request):
    settings = Settings(nli={"model": str(folder)}) if folder else Settings()
    return settings, judge_options(settings, VerifyRequest.checked({"process_id": "p", **request}))


def configured(folder, **request):
    async def story():
        settings, how = options(folder, **request)
        async with configure_judge(settings, how) as made:
            return made.judge, json.loads(made.settings), made.models

    return asyncio.run(story())


def test_the_engine_is_made_from_settings_that_decide_its_verdicts(folder):
    judge, settings, models = configured(folder, engine="nli")
    assert (judge.name, judge.model, judge.indicative, models) == ("nli", "tiny", False, None)
    assert settings["engine"] == "nli"
    assert settings["entailment_model"]["fingerprint"]
    assert settings["threshold"] == 0.5


def test_evidence_by_words_and_verdicts_by_a_model(folder):
    judge, settings, _ = configured(folder, engine="lexical", verdict_engine="nli")
    assert isinstance(judge, SplitJudge)
    assert (judge.name, judge.model, judge.indicative) == ("lexical+nli", "tiny", True)
    assert settings["engine"] == "lexical+nli"
    assert settings["evidence"]["engine"] == "lexical"
    assert settings["verdict"]["entailment_model"]["model"] == "tiny"
    nodes = [a_node("a", [*REST, SAILED])]
    words = LexicalJudge()
    assert selected(judge, "The ferry sailed.", *nodes) == selected(
        words, "The ferry sailed.", *nodes
    )
    assert judged(judge, "The ferry sailed.", *nodes).reasoning.startswith("tiny")


def test_evidence_by_a_language_model_and_verdicts_by_an_entailment_model(folder, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    judge, settings, models = configured(folder, model="m", verdict_engine="nli", max_calls=7)
    assert (judge.name, judge.model, judge.indicative) == ("openai+nli", "m + tiny", False)
    assert settings["evidence"]["steps"]["evidence_selection"]["model"] == "m"
    assert models.spending.max_calls == 7


def test_the_setting_names_the_engine_of_verdicts_and_the_option_comes_first(folder, monkeypatch):
    monkeypatch.setenv("VERITRAIL_VERDICT_ENGINE", "nli")
    assert options(folder)[1].engine_words == "lexical+nli"
    assert options(folder, engine="nli")[1].engine_words == "nli"
    assert options(folder, verdict_engine="lexical")[1].engine_words == "lexical"


def test_a_verifier_of_another_package_is_a_name(folder, monkeypatch):
    class Sceptic(LexicalJudge):
        name = "sceptic"

        async def judge(self, claim, found, meter):
            return (await super().judge(claim, found, meter)).__class__(NFS, "No.")

    global ENGINE  # what an entry point loads
    ENGINE = Engine("sceptic", "doubts", lambda _parts: Sceptic())
    point = EntryPoint("sceptic", f"{__name__}:ENGINE", engines.GROUP)
    monkeypatch.setattr(
        "importlib.metadata.entry_points",
        lambda group, name=None: [point] if name in (None, "sceptic") else [],
    )
    assert "sceptic" in engine_names()
    judge, _, _ = configured(folder, engine="nli", verdict_engine="sceptic")
    assert judge.name == "nli+sceptic"
    assert judged(judge, "The ferry sailed.", a_node("a", [SAILED])).verdict is NFS


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ({"verdict_engine": "none"}, "Unknown engine 'none'"),
        ({"engine": "nli", "model": "m"}, "A model is named, but engine nli asks none"),
        ({"engine": "nli", "samples": 3}, "Several samples need"),
    ],
)
def test_what_does_not_go_together_is_refused(folder, request_, message):
    with pytest.raises(InputError, match=message):
        configured(folder, **request_)


def test_without_a_model_the_message_says_what_to_set():
    with pytest.raises(InputError, match="needs an entailment model") as error:
        configured(None, engine="nli")
    for table in (COMMAND, SERVICE):
        assert "VERITRAIL_NLI_MODEL" in with_advice(error.value, table)


@pytest.mark.parametrize(
    ("name", "value"),
    [("THRESHOLD", "1.5"), ("EVIDENCE_THRESHOLD", "x"), ("WINDOW", "0"), ("JOINT", "perhaps")],
)
def test_settings_out_of_bounds_are_named(monkeypatch, name, value):
    monkeypatch.setenv(f"VERITRAIL_NLI_{name}", value)
    with pytest.raises(InputError, match=f"VERITRAIL_NLI_{name}='?{value}"):
        Settings()


def test_all_settings_are_read(monkeypatch, tmp_path):
    given = {
        "MODEL": "m", "ADAPTER": "MiniCheck", "THRESHOLD": "0.7", "EVIDENCE_THRESHOLD": "0.4",
        "EVIDENCE_SENTENCES": "9", "JOINT": "off", "WINDOW": "300", "LABELS": "entailment,-",
        "TEMPLATE": "{premise} {hypothesis}", "WEIGHTS": str(tmp_path), "API_KEY": "k",
    }  # fmt: skip
    for name, value in given.items():
        monkeypatch.setenv(f"VERITRAIL_NLI_{name}", value)
    found = Settings().nli.model_dump()
    assert found == {
        "model": "m", "adapter": "minicheck", "threshold": 0.7, "evidence_threshold": 0.4,
        "evidence_sentences": 9, "joint": False, "window": 300, "labels": "entailment,-",
        "template": "{premise} {hypothesis}", "weights": tmp_path, "api_key": "k",
    }  # fmt: skip
    assert "api_key='k'" not in repr(Settings().nli)


def test_a_server_judges_too_and_its_answers_are_kept(monkeypatch, tmp_path):
    def reply(body):
        scores = [{"entailment": float("ferry" in one["premise"])} for one in body["pairs"]]
        return http(200, {"probabilities": scores})

    async def story():
        async with serving(reply) as server:
            url = f"http://127.0.0.1:{server.port}/judge"
            monkeypatch.setenv("VERITRAIL_NLI_MODEL", url)
            settings, how = options(None, engine="nli")
            verdicts, meters = [], []
            for _ in range(2):
                meter = Meter()
                async with configure_judge(settings, how) as made:
                    found = Found((found_in(a_node("a", [SAILED]), 0),))
                    judgement = await made.judge.judge(a_claim("It sailed."), found, meter)
                verdicts.append(judgement.verdict)
                meters.append((meter.total.calls, meter.total.cached_calls))
            return verdicts, meters, url, json.loads(made.settings)

    verdicts, meters, url, settings = asyncio.run(story())
    assert verdicts == [FS, FS]
    assert meters == [(1, 0), (0, 1)]
    assert settings["entailment_model"]["endpoint"] == url


def test_a_budget_needs_a_price_and_a_server_has_none(monkeypatch):
    monkeypatch.setenv("VERITRAIL_NLI_MODEL", "http://127.0.0.1:1/judge")
    with pytest.raises(InputError, match="Limit the calls instead"):
        configured(None, engine="nli", budget_usd=1.0)


@pytest.mark.parametrize("url", ["http://u:p@h/judge", "http:///judge", "https://h/judge?key=1"])
def test_an_address_with_a_secret_or_without_a_host_is_refused(monkeypatch, url):
    monkeypatch.setenv("VERITRAIL_NLI_MODEL", url)
    with pytest.raises(InputError, match="VERITRAIL_NLI_MODEL"):
        configured(None, engine="nli")


@pytest.mark.parametrize(
    ("weaker", "stronger"),
    [("nli", "openai"), ("openai+nli", "openai"), ("openai+nli", "nli+openai"), ("lexical", "nli")],
)
def test_a_language_models_verdict_weighs_more_than_an_entailment_models(model, weaker, stronger):
    made = verified(nli(model), "The ferry sailed.", {"s": [SAILED], "r": [SAILED]})
    early, late = (
        made.replace(engine=name, created_at=at, indicative=name == "lexical", verification_id=name)
        for name, at in ((stronger, "2026-01-01T00:00:00Z"), (weaker, "2026-02-01T00:00:00Z"))
    )
    assert in_force([late, early], made.claim) == early


def test_engines_are_listed():
    assert {"azure", "lexical", "nli", "openai"} <= set(engine_names())
    assert engine_named("nli").needs_entailment
    assert not engine_named("nli").asks_models
