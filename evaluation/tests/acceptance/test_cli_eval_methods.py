"""`veritrail eval run` with methods that ask models: samples, True or False, estimates, money."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from acceptance.command import Veritrail
from acceptance.model_fixtures import asking
from eval_fakes.embedding import tiny_embedder
from fakes.chat_server import chat_server
from fakes.entailment import tiny_model
from fakes.model_answers import Answer, WordReader, missing_words
from fakes.model_prompts import VERDICT, parse_excerpts
from fakes.model_server import ModelServer

from veritrail_eval.datasets.loading import load_dataset
from veritrail_eval.datasets.model import Dataset
from veritrail_eval.runs import runner

FULLY, NOT_FULLY = "FULLY_SUPPORTED", "NOT_FULLY_SUPPORTED"
ROOTS = [
    f"Pump{number} delivered {10_000 + number} litres. The hall is cold." for number in range(4)
]
CLAIMS = {
    f"k{number}": f"Pump{number} delivered {(1 + number % 2) * 10_000 + number} litres."
    for number in range(4)
}
LABELS = {name: FULLY if int(name[1:]) % 2 == 0 else NOT_FULLY for name in CLAIMS}
ASKING = ("veritrail", "vt_rag", "rag", "direct")
KINDS = {"vt_rag": "k = 2\n", "rag": "k = 2\n", "veritrail": "q = 1\n", "direct": ""}


@pytest.fixture
def alone(tmp_path: Path) -> Veritrail:
    """The command with a home of its own; an evaluation starts no engine."""
    return Veritrail(tmp_path / "home")


@pytest.fixture(scope="module")
def embedder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("embedding") / "tiny"
    return tiny_embedder(folder, [*ROOTS, *CLAIMS.values()])


@pytest.fixture(autouse=True)
def dataset(tmp_path: Path) -> None:
    nodes = [
        {"node_id": f"r{number}", "text": text, "stage": 1} for number, text in enumerate(ROOTS)
    ]
    nodes += [
        {"node_id": f"s{number}", "text": text, "stage": 2} for number, text in enumerate(ROOTS)
    ]
    nodes.append({"node_id": "t", "text": " ".join(CLAIMS.values()), "stage": 3})
    edges = [{"source": f"r{number}", "target": f"s{number}"} for number in range(4)]
    edges += [{"source": f"s{number}", "target": "t"} for number in range(4)]
    process = {
        "format": "veritrail.process/1", "process_id": "pumps", "nodes": nodes, "edges": edges,
    }  # fmt: skip
    lines: list[dict[str, Any]] = [
        {"format": "veritrail.dataset/1", "name": "pumps"},
        {"process": process},
    ]
    lines += [
        {"claim": {"process_id": "pumps", "claim_id": name, "text": text, "label": LABELS[name]}}
        for name, text in CLAIMS.items()
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (tmp_path / "pumps.jsonl").write_text(text, encoding="utf-8")


def matrix(tmp_path: Path, names: Iterable[str], more: str = "") -> str:
    """A matrix of methods; its path."""
    text = '[[dataset]]\npath = "pumps.jsonl"\n'
    text += "".join(f'[[method]]\nmethod = "{name}"\n{KINDS.get(name, "")}{more}' for name in names)
    path = tmp_path / "matrix.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def outcomes(tmp_path: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """The latest outcome by configuration's method and claim."""
    lines = (tmp_path / "out" / "outcomes.jsonl").read_text(encoding="utf-8").splitlines()
    found = [json.loads(line) for line in lines]
    return {
        (one["configuration"].rpartition("-")[0], one["outcome"]["claim_id"]): one["outcome"]
        for one in found
        if "outcome" in one
    }


def true_or_false(step: str, system: str, user: str, request: Any) -> Answer:
    """Answers verdict prompts by a word; the last sample of three says the other one."""
    if step != VERDICT:
        return WordReader()(step, system, user, request)
    excerpts = parse_excerpts(user, step)
    is_true = not missing_words(excerpts, excerpts.sentences)
    is_true ^= request.body["temperature"] == 0.2 and request.sent == 2
    return "True" if is_true else "False, it is not."


def embedding(folder: Path) -> dict[str, str]:
    return {"VERITRAIL_EMBEDDING_MODEL": str(folder)}


def test_the_true_false_prompt_works_inside_every_method_that_asks(
    alone: Veritrail, tmp_path: Path, embedder: Path
) -> None:
    path = matrix(tmp_path, ASKING, 'prompts = "true_false"\n')
    out = str(tmp_path / "out")
    with ModelServer(true_or_false) as server:
        ended = alone("eval", "run", path, "-o", out, **asking(server), **embedding(embedder))
        asked = server.of(VERDICT)
    assert "16 outcomes to judge: likely" in ended.err
    assert asked
    assert all("true or false" in one.system.lower() for one in asked)
    assert not any("JSON" in one.system for one in asked)
    found = outcomes(tmp_path)
    assert {method for method, _ in found} == set(ASKING)
    assert {key: one["verdict"] for key, one in found.items()} == {
        (method, name): label for method in ASKING for name, label in LABELS.items()
    }


def test_a_run_from_the_cache_says_what_it_paid_and_what_it_costs_anew(
    alone: Veritrail, tmp_path: Path, embedder: Path
) -> None:
    path = matrix(tmp_path, ("veritrail", "rag"))
    told = []
    with ModelServer() as server:
        for name in ("first", "again"):
            call = ("eval", "run", path, "-o", str(tmp_path / name), "--price", "1,2", "--json")
            told.append(alone(*call, **asking(server), **embedding(embedder)).json)
    for first, again in zip(*(one["configurations"] for one in told), strict=True):
        assert first["processing_cost"] > 0
        assert (again["processing_cost"], again["spent_usd"]) == (0, 0)
        assert again["cached"] == again["finished"] == 4
        assert again["cost_per_claim"] == pytest.approx(first["cost_per_claim"])


@pytest.mark.parametrize(("threshold", "methods"), [(2, ASKING), (3, ("rag", "direct"))])
def test_three_samples_at_a_temperature_of_0_2_give_a_score(
    alone: Veritrail, tmp_path: Path, embedder: Path, threshold: int, methods: tuple[str, ...]
) -> None:
    more = f'samples = 3\nthreshold = {threshold}\nprompts = "true_false"\n'
    path = matrix(tmp_path, methods, more)
    with ModelServer(true_or_false) as server:
        setting = {**asking(server), **embedding(embedder)}
        alone("eval", "run", path, "-o", str(tmp_path / "out"), **setting)
        asked = server.of(VERDICT)
    assert {one.body["temperature"] for one in asked} == {0.2}
    found = outcomes(tmp_path)
    for method in ("rag", "direct"):
        # Two of three samples of every claim agree with the label.
        scores = {name: found[method, name]["score"] for name in CLAIMS}
        assert scores == pytest.approx(
            {name: (2 if label == FULLY else 1) / 3 for name, label in LABELS.items()}
        )
        verdicts = {name: found[method, name]["verdict"] for name in CLAIMS}
        # A verdict that fewer samples gave than the threshold is Inconclusive (E.3).
        expected = LABELS if threshold == 2 else dict.fromkeys(CLAIMS, "INCONCLUSIVE")
        assert verdicts == expected
    assert {method for method, _ in found} == set(methods)
    assert all(one["score"] is not None for one in found.values())


def test_an_estimate_asks_nothing_and_comes_near_to_what_the_run_asks(
    alone: Veritrail, tmp_path: Path, embedder: Path
) -> None:
    path = matrix(tmp_path, ("rag", "direct"), "samples = 3\n")
    run = ("eval", "run", path, "-o", str(tmp_path / "out"))
    with ModelServer() as server:
        setting = {**asking(server), **embedding(embedder)}
        told = alone(*run, "--estimate", "--price", "1,2", "--json", **setting).json
        assert not server.requests
        assert not (tmp_path / "out").exists()
        ended = alone(*run, "--price", "1,2", "--json", **setting)
        assert "likely 24 calls" in ended.err
        asked = len(server.requests)
        words = alone(*run, "--estimate", **setting)
    assert [one["claims"] for one in told["configurations"]] == [4, 4]
    assert (told["outcomes"], told["known"]) == (8, 0)
    assert told["total"]["calls"] == asked == 24
    used = [one["usage"] for one in outcomes(tmp_path).values()]
    tokens = sum(one["input_tokens"] for one in used)
    assert told["total"]["input_tokens"] == pytest.approx(tokens, rel=0.4)
    assert told["total"]["cost_usd"] > 0
    assert "Nothing is left to judge" in words.err


def test_an_estimate_leaves_out_what_is_judged_and_what_is_free(
    alone: Veritrail, tmp_path: Path, embedder: Path
) -> None:
    out = str(tmp_path / "out")
    with ModelServer() as server:
        setting = asking(server)
        alone("eval", "run", matrix(tmp_path, ["direct"]), "-o", out, **setting)
        asked = len(server.requests)
        path = matrix(tmp_path, ASKING, 'embedding = "text-embedding-3-large"\n')
        text = Path(path).read_text(encoding="utf-8")
        for name in ("veritrail", "direct"):  # they have no such parameter
            part = f'method = "{name}"\n{KINDS[name]}'
            text = text.replace(f'{part}embedding = "text-embedding-3-large"\n', part)
        text += '[[method]]\nmethod = "veritrail"\nengine = "lexical"\n'
        Path(path).write_text(text, encoding="utf-8")
        told = alone("eval", "run", path, "-o", out, "--estimate", "--json", **setting).json
        shown = alone("eval", "run", path, "-o", out, "--estimate", **setting)
        assert len(server.requests) == asked
    rows = {one["title"]: one for one in told["configurations"]}
    assert told["known"] == 4
    assert len(rows) == 4
    assert not any(title.startswith("direct") for title in rows)
    free = rows["veritrail (engine = lexical)"]
    assert (free["calls"], free["cost_usd"]) == (0, 0.0)
    rag = next(one for title, one in rows.items() if title.startswith("rag"))
    assert rag["calls"] in (4 + 4 + 1, 4)  # verdicts, claims and chunks; vt_rag may have embedded
    assert told["total"]["cost_usd"] is None  # the price of the scripted model is not known
    assert "--price" in shown.err
    assert "text-embedding-3-large" in shown.out


def test_an_estimate_names_what_is_wrong(alone: Veritrail, tmp_path: Path) -> None:
    path = matrix(tmp_path, ["rag"])
    run = ("eval", "run", path, "-o", str(tmp_path / "out"), "--estimate")
    ended = alone(*run, VERITRAIL_MODEL="m", status=2)
    assert "VERITRAIL_EMBEDDING_MODEL" in ended.err


def test_a_budget_keeps_what_was_judged_and_says_how_to_go_on(
    alone: Veritrail, tmp_path: Path
) -> None:
    out = str(tmp_path / "out")
    run = ("eval", "run", matrix(tmp_path, ["direct"]), "-o", out, "--concurrency", "1")
    with ModelServer() as server:
        setting = asking(server)
        limits = ("--budget", "0.0005", "--price", "1,2")
        ended = alone(*run, *limits, status=1, **setting)
        assert "budget of 0.0005 USD is used up" in ended.err
        assert "larger --budget" in " ".join(ended.err.split())
        assert "more than the budget" in ended.err
        kept = {key for key, one in outcomes(tmp_path).items() if one["status"] == "succeeded"}
        assert 0 < len(kept) < 4
        asked = len(server.requests)
        alone(*run, "--budget", "1", "--price", "1,2", **setting)
        assert len(server.requests) == asked + 4 - len(kept)
    assert {one["status"] for one in outcomes(tmp_path).values()} == {"succeeded"}


def test_a_number_of_calls_is_kept(alone: Veritrail, tmp_path: Path) -> None:
    run = ("eval", "run", matrix(tmp_path, ["direct"]), "-o", str(tmp_path / "out"))
    with ModelServer() as server:
        alone(*run, "--max-calls", "2", status=1, **asking(server))
        assert len(server.requests) == 2
    assert len(outcomes(tmp_path)) >= 2


def test_a_refused_key_ends_with_3(alone: Veritrail, tmp_path: Path, embedder: Path) -> None:
    for names in (["direct"], ["veritrail"], ["rag"]):
        path = matrix(tmp_path, names)
        with ModelServer(key="another") as server:
            setting = {**asking(server), **embedding(embedder)}
            ended = alone("eval", "run", path, "-o", str(tmp_path / names[0]), status=3, **setting)
        assert "401" in ended.err


def test_ctrl_c_keeps_what_was_judged(alone: Veritrail, tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    run = ("eval", "run", matrix(tmp_path, ["direct"]), "-o", out, "--concurrency", "1")

    def pressing(step: str, system: str, user: str, request: Any) -> Answer:
        if request.number == 2:
            os.kill(os.getpid(), signal.SIGINT)
        return WordReader()(step, system, user, request)

    with ModelServer(pressing, latency=0.05) as server:
        ended = alone(*run, status=130, **asking(server))
        assert "What was judged is kept" in ended.err
        kept = outcomes(tmp_path)
        assert 0 < len(kept) < 4
        alone(*run, **asking(server))
        # The call that was on its way is asked again, and no other.
        assert len(server.requests) <= 5
    assert len(outcomes(tmp_path)) == 4


def test_embeddings_of_an_endpoint_are_paid_once_for_a_grid(
    alone: Veritrail, tmp_path: Path
) -> None:
    said = [{"content": '{"verdict": "FULLY_SUPPORTED", "reason": "So it says."}'}]
    path = matrix(tmp_path, ["rag"]).replace("matrix.toml", "grid.toml")
    text = (tmp_path / "matrix.toml").read_text(encoding="utf-8").replace("k = 2", "k = [1, 2, 3]")
    Path(path).write_text(text, encoding="utf-8")
    with chat_server(lambda _body: said) as url:
        setting = {
            "OPENAI_BASE_URL": url,
            "OPENAI_API_KEY": "sk-test",
            "VERITRAIL_MODEL": "scripted",
            "VERITRAIL_EMBEDDING_MODEL": "vectors",
            "VERITRAIL_EMBEDDING_PRICE": "1000",
        }
        alone("eval", "run", path, "-o", str(tmp_path / "out"), "--no-cache", **setting)
    lines = (tmp_path / "out" / "outcomes.jsonl").read_text(encoding="utf-8").splitlines()
    prepared = [one["prepared"] for one in map(json.loads, lines) if "prepared" in one]
    assert [(one["calls"], one["cached_calls"]) for one in prepared] == [(1, 0), (0, 1), (0, 1)]
    assert prepared[0]["cost_usd"] == pytest.approx(0.001)
    calls = [one["outcome"]["usage"] for one in map(json.loads, lines) if "outcome" in one]
    assert [one["calls"] for one in calls] == [2] * 4 + [1] * 8  # claim and verdict, then verdicts


def test_checkers_and_retrieval_run_without_any_endpoint(
    alone: Veritrail, tmp_path: Path, embedder: Path
) -> None:
    checker = tiny_model(tmp_path / "tiny-nli", [*ROOTS, *CLAIMS.values()])
    names = ("infuse", "alignscore", "minicheck", "summac_zs", "hhem")
    path = matrix(tmp_path, names, f'model = "{checker.name}"\nthreshold = [0.5, 0.9]\n')
    with Path(path).open("a", encoding="utf-8") as file:
        file.write('[[method]]\nmethod = "rag"\nengine = "lexical"\nk = 2\n')
        file.write(f'embedding = "{embedder}"\n')
    told = alone("eval", "run", path, "-o", str(tmp_path / "out"), "--json").json
    assert told["judged"] == 4 * (2 + 30 + 10 + 2 + 2 + 1)
    found = outcomes(tmp_path)
    ends = {(name in names, one["status"]) for (name, _), one in found.items()}
    # Of the sentences that were retrieved, comparing words may tell nothing.
    assert (True, "succeeded") in ends
    assert ends <= {(True, "succeeded"), (False, "succeeded"), (False, "undecided")}
    assert all(one["usage"]["calls"] == 0 for one in found.values())
    for name in names:
        high, low = (
            [found[name, claim]["score"] for claim, label in LABELS.items() if label == kind]
            for kind in (FULLY, NOT_FULLY)
        )
        assert min(high) > max(low)


def test_the_check_the_estimate_and_the_run_read_a_data_set_once(
    alone: Veritrail, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Path] = []

    def counted(path: Path, **how: Any) -> Dataset:
        read.append(path)
        return load_dataset(path, **how)

    monkeypatch.setattr(runner, "load_dataset", counted)
    path = matrix(tmp_path, ("veritrail",), 'engine = "lexical"\n')
    alone("eval", "run", path, "-o", str(tmp_path / "out"))
    assert len(read) == 1


def test_a_run_that_would_go_on_with_another_judge_is_refused_and_names_both(
    alone: Veritrail, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    run = ("eval", "run", matrix(tmp_path, ["direct"]), "-o", str(out))
    with ModelServer() as server:
        first = alone(*run, "--json", **asking(server, VERITRAIL_MODEL="old-model")).json
        assert [one["judge"] for one in first["configurations"]] == ["openai old-model"]
        assert "Judged by openai old-model." in (out / "report.md").read_text("utf-8")
        kept, asked = (out / "outcomes.jsonl").read_bytes(), len(server.requests)
        ended = alone(*run, status=2, **asking(server, VERITRAIL_MODEL="new-model"))
        for told in ("openai old-model", "openai new-model", "Name another folder with -o"):
            assert told in ended.err.replace("\n", " ")
        effort = {"VERITRAIL_MODEL": "old-model", "VERITRAIL_REASONING_EFFORT": "low"}
        ended = alone(*run, status=2, **asking(server, **effort))
        assert "other settings" in ended.err.replace("\n", " ")
        assert (len(server.requests), (out / "outcomes.jsonl").read_bytes()) == (asked, kept)
    with ModelServer() as moved:  # where a model answers is no part of the judge
        again = alone(*run, "--json", **asking(moved, VERITRAIL_MODEL="old-model")).json
    assert (again["judged"], again["known"]) == (0, 4)


def test_outcomes_without_a_noted_judge_count_and_the_report_says_so(
    alone: Veritrail, tmp_path: Path
) -> None:
    run = ("eval", "run", matrix(tmp_path, ["direct"]), "-o", str(tmp_path / "out"), "--json")
    with ModelServer() as server:
        alone(*run, **asking(server))
        path = tmp_path / "out" / "outcomes.jsonl"
        lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        older = [{key: one for key, one in line.items() if key != "judge"} for line in lines]
        path.write_text("".join(json.dumps(line) + "\n" for line in older), "utf-8")
        again = alone(*run, **asking(server, VERITRAIL_MODEL="new-model")).json
    assert (again["known"], again["configurations"][0]["judge"]) == (4, None)
    shown = (tmp_path / "out" / "report.md").read_text("utf-8")
    assert "4 outcomes are of a version that did not note who judged" in shown


@pytest.mark.parametrize("more", ['prompts = "v2"\n', "samples = 3\n"])
def test_how_a_model_is_asked_says_nothing_where_none_is_set(
    alone: Veritrail, tmp_path: Path, more: str
) -> None:
    run = ("eval", "run", matrix(tmp_path, ["veritrail"], more), "-o", str(tmp_path / "out"))
    ended = alone(*run, status=2)
    assert more.split()[0] in ended.err
    assert "set VERITRAIL_MODEL" in ended.err.replace("\n", " ")
    words = matrix(tmp_path, ["veritrail"], 'prompts = "v2"\nengine = "lexical"\n')
    told = alone("eval", "run", words, "-o", str(tmp_path / "out"), "--json").json
    assert [one["judge"] for one in told["configurations"]] == ["words alone, indicative"]
