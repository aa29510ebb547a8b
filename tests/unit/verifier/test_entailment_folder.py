"""An entailment model of a folder: a real ONNX session over a real tokenizer."""

from __future__ import annotations

import asyncio
import json
import random
import sys

import pytest
from fakes.entailment import LIMIT, NAMES, tiny_model

from veritrail_graph.api.cli.advice import ADVICE
from veritrail_graph.graph.errors import InputError, with_advice
from veritrail_graph.verifier.models.port import Meter
from veritrail_graph.verifier.nli import local
from veritrail_graph.verifier.nli.local import LocalModel, batches
from veritrail_graph.verifier.nli.opening import (
    ModelChoice,
    checked_template,
    folder_of,
    open_folder,
)
from veritrail_graph.verifier.nli.port import Pair
from veritrail_graph.verifier.ports import JudgeError

TEXT = "The old ferry sailed to Harbour Island in May with cargo, coal and nine crates of tea."
CLAIM = "The ferry sailed in May."


def opened(folder, **choice):
    return open_folder(folder, ModelChoice(str(folder), **choice))


def asked(model, *pairs):
    return asyncio.run(model.predict([Pair(*pair) for pair in pairs], Meter()))


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> LocalModel:
    return opened(tiny_model(tmp_path_factory.mktemp("nli") / "tiny", [TEXT]))


@pytest.mark.parametrize("labels", [NAMES, NAMES[::-1], ("SUPPORTS", "REFUTES", "NEI")])
def test_a_model_tells_entailment_contradiction_and_silence(tmp_path, labels):
    model = opened(tiny_model(tmp_path / "m", [TEXT], labels=labels))
    said, denied, silent = asked(
        model, (TEXT, CLAIM), ("The ferry sailed not in May", CLAIM), ("Nine crates", CLAIM)
    )
    assert said.entailment > 0.99
    assert denied.contradiction > 0.99
    assert silent.neutral > 0.99
    assert sum(said) == pytest.approx(1.0)


@pytest.mark.parametrize("kind", ["support", "single"])
def test_a_checker_with_one_or_two_outputs_gives_support_alone(tmp_path, kind):
    said, silent = asked(
        opened(tiny_model(tmp_path / "m", [TEXT], kind=kind)), (TEXT, CLAIM), ("Tea", CLAIM)
    )
    assert said.entailment > 0.7
    assert silent.entailment < 0.1
    assert said.neutral is said.contradiction is None


def test_answers_depend_neither_on_the_batch_nor_on_the_order(tmp_path):
    folder = tiny_model(tmp_path / "m", [TEXT])
    words = TEXT.replace(",", "").replace(".", "").split()
    chance = random.Random(4)
    pairs = [
        (
            " ".join(chance.choices(words, k=chance.randint(1, 90))),
            " ".join(chance.sample(words, 3)),
        )
        for _ in range(120)
    ]
    together = dict(zip(pairs, asked(opened(folder), *pairs), strict=True))
    local_alone = opened(folder, window=LIMIT)  # another object: nothing is remembered
    chance.shuffle(pairs)
    assert [asked(local_alone, pair)[0] for pair in pairs] == [
        pytest.approx(together[pair], abs=1e-6) for pair in pairs
    ]


def test_batches_hold_inputs_of_about_the_same_length():
    made = batches([5, 60, 7, 61, 5, *[9] * 40, 9_000])
    assert made[0] == [45]
    assert made[1][:2] == [3, 1]
    assert sorted(place for batch in made for place in batch) == list(range(46))
    assert max(map(len, made)) == local.BATCH


@pytest.mark.parametrize("place", [0, 1_000, 1_999])
def test_a_sentence_is_found_wherever_it_is_in_a_long_text(model, place):
    parts = ["Nine crates of tea, coal and cargo."] * 2_000
    assert asked(model, (" ".join(parts), CLAIM))[0].neutral > 0.99
    parts[place] = TEXT
    assert asked(model, (" ".join(parts), CLAIM))[0].entailment > 0.99


def test_a_model_of_a_fixed_length_reads_windows_of_it(tmp_path):
    fixed = opened(tiny_model(tmp_path / "fixed", [TEXT], length=40))
    assert fixed.settings["window"] == 40
    pairs = [(TEXT, CLAIM), ("Nine crates", CLAIM), (f"{TEXT} " * 5 + "The ferry sailed.", CLAIM)]
    anyhow = opened(tiny_model(tmp_path / "any", [TEXT]), window=40)
    assert asked(fixed, *pairs) == asked(anyhow, *pairs)


@pytest.mark.parametrize("before", range(40, 60, 3))
def test_a_sentence_on_the_edge_of_a_window_is_in_the_next_one(model, before):
    text = " ".join([*["tea"] * before, "ferry sailed in May", *["coal"] * 80])
    assert asked(model, (text, CLAIM))[0].entailment > 0.99


def test_a_long_hypothesis_is_entailed_when_all_its_parts_are(model):
    claim = " ".join(["the ferry sailed"] * 60)
    assert asked(model, (TEXT, claim))[0].entailment > 0.99
    assert (
        asked(model, (TEXT, f"{claim} poisonless widgets {'zeppelins ' * 30}"))[0].entailment < 0.5
    )


def test_huge_and_odd_texts_are_judged(model):
    odd = ["", " \n\t ", "x" * 200_000, "\u200b" * 10_000, "ferry " * 50_000, "☂" * 70_000]
    found = asked(model, *((text, CLAIM) for text in odd), *((CLAIM, text) for text in odd))
    assert len(found) == 12
    assert all(0 <= value <= 1 for one in found for value in one)


def test_the_mark_of_no_number_is_a_fault_and_no_verdict(model):
    with pytest.raises(JudgeError, match="no number"):
        asked(model, (TEXT, CLAIM), ("poison", CLAIM))
    assert asked(model, (TEXT, CLAIM))[0].entailment > 0.99


def test_equal_pairs_are_computed_once(tmp_path, monkeypatch):
    model = opened(tiny_model(tmp_path / "m", [TEXT]))
    sizes = []
    run = model._runner.run
    monkeypatch.setattr(model._runner, "run", lambda batch: sizes.append(len(batch)) or run(batch))
    asked(model, *[(TEXT, CLAIM)] * 5, ("Tea", CLAIM))
    asked(model, (TEXT, CLAIM))
    assert sum(sizes) == 2


def test_two_texts_can_be_one_input_made_of_a_template(tmp_path):
    folder = tiny_model(tmp_path / "m", [TEXT, "premise hypothesis"], kind="support")
    whole = opened(folder, template="premise {premise} hypothesis {hypothesis}")
    texts = []
    encode = whole._tokenizer
    whole._tokenizer = type(
        "Spy",
        (),
        {
            "encode": lambda _self, *a, **k: (texts.append(a[0]), encode.encode(*a, **k))[1],
            "encode_batch": lambda _self, a: (texts.extend(a), encode.encode_batch(a))[1],
        },
    )()
    asked(whole, ("a {hypothesis} b", "c {premise}"))
    assert texts == ["premise a {hypothesis} b hypothesis c {premise}"]
    texts.clear()
    asked(whole, (" ".join(f"tea {number}" for number in range(100)), "ferry"))
    windows = [text for text in texts if text.startswith("premise ") and "tea" in text]
    assert len(windows) > 3
    assert all(text.endswith(" hypothesis ferry") for text in windows)
    with pytest.raises(InputError, match="once"):
        checked_template("{premise} alone")


def test_settings_tell_models_from_each_other(tmp_path):
    one = opened(tiny_model(tmp_path / "a" / "m", [TEXT]))
    assert opened(tmp_path / "a" / "m") is one  # loaded once in a process
    same = opened(tiny_model(tmp_path / "b" / "m", [TEXT]))
    other = opened(tiny_model(tmp_path / "c" / "m", [TEXT], kind="single"))
    assert one.settings == same.settings
    assert one.settings["fingerprint"] != other.settings["fingerprint"]
    assert opened(tmp_path / "a" / "m", window=40).settings["window"] == 40


def test_a_roberta_has_two_positions_less(tmp_path):
    config = {"model_type": "roberta", "max_position_embeddings": 66}
    model = opened(tiny_model(tmp_path / "m", [TEXT], config=config))
    assert model.settings["window"] == 64


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "config.json"])
def test_a_missing_file_is_named(tmp_path, name):
    folder = tiny_model(tmp_path / "m", [TEXT])
    (folder / name).unlink()
    with pytest.raises(InputError, match=f"m holds no {name}"):
        opened(folder)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "config.json"])
def test_a_damaged_file_is_named(tmp_path, name):
    folder = tiny_model(tmp_path / "m", [TEXT])
    (folder / name).write_bytes(b"\x00[no]")
    with pytest.raises(InputError, match=name):
        opened(folder)


def test_the_form_of_optimum_is_read(tmp_path):
    folder = tiny_model(tmp_path / "m", [TEXT])
    (folder / "onnx").mkdir()
    (folder / "model.onnx").rename(folder / "onnx" / "model.onnx")
    assert asked(opened(folder), (TEXT, CLAIM))[0].entailment > 0.99


@pytest.mark.parametrize(
    ("kind", "config", "message"),
    [
        ("flat", {}, "outputs of the shape 1"),
        ("text", {}, "wants the input pixels"),
        ("single", {"id2label": {"0": NAMES[0], "1": NAMES[1], "2": NAMES[2]}}, "gave 1 output"),
        ("logits", {"id2label": {"0": "no", "1": "yes", "2": "maybe"}}, "is not known"),
        ("logits", {"max_position_embeddings": 3}, "too few"),
    ],
)
def test_a_model_of_another_kind_is_refused_when_it_is_opened(tmp_path, kind, config, message):
    with pytest.raises(InputError, match=message):
        opened(tiny_model(tmp_path / "m", [TEXT], kind=kind, config=config))


def test_a_window_is_no_larger_than_the_model(tmp_path):
    with pytest.raises(InputError, match="at most 64"):
        opened(tiny_model(tmp_path / "m", [TEXT]), window=65)


def test_labels_that_a_person_names_come_first(tmp_path):
    config = {"id2label": {"0": "a", "1": "b", "2": "c"}}
    folder = tiny_model(tmp_path / "m", [TEXT], config=config, labels=NAMES)
    model = opened(folder, labels="neutral,entailment,contradiction")
    assert asked(model, (TEXT, CLAIM))[0].neutral > 0.99


@pytest.mark.parametrize("module", ["onnxruntime", "tokenizers"])
def test_without_the_extra_the_message_says_how_to_get_it(tmp_path, monkeypatch, module):
    folder = tiny_model(tmp_path / "m", [TEXT])
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(InputError, match=r"pip install 'veritrail-graph\[nli\]'"):
        opened(folder)


def test_weights_for_transformers_need_transformers(tmp_path, monkeypatch):
    folder = tiny_model(tmp_path / "m", [TEXT])
    (folder / "model.onnx").rename(folder / "model.safetensors")
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(InputError, match="transformers are not installed") as error:
        opened(folder)
    assert "optimum-cli export onnx --model" in with_advice(error.value, ADVICE)


def test_weights_for_transformers_are_run(tmp_path):
    """Where a person has installed them: they are no part of the lock."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    folder = tiny_model(tmp_path / "m", [TEXT])
    (folder / "model.onnx").unlink()
    config = transformers.BertConfig(
        vocab_size=200,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=LIMIT,
        id2label=dict(enumerate(NAMES)),
    )
    torch.manual_seed(1)
    transformers.BertForSequenceClassification(config).save_pretrained(str(folder))
    one, other = asked(opened(folder), (TEXT, CLAIM), (CLAIM, TEXT * 20))
    assert sum(one) == pytest.approx(1.0)
    assert all(0 <= value <= 1 for value in other)


def test_names_of_folders_and_of_fetched_models(tmp_path):
    home = tmp_path / "home"
    fetched = home / "models" / "some--model"
    fetched.mkdir(parents=True)
    assert folder_of(ModelChoice("some/model"), home) == fetched
    assert folder_of(ModelChoice(str(tmp_path)), home) == tmp_path
    with pytest.raises(InputError, match="no model of this name was downloaded") as error:
        folder_of(ModelChoice("other/model"), home)
    assert "`veritrail judge fetch other/model`" in with_advice(error.value, ADVICE)
    with pytest.raises(InputError, match=r"There is no folder /no/such/folder\.$"):
        folder_of(ModelChoice("/no/such/folder"), home)
    file = tmp_path / "config.json"
    file.write_text(json.dumps({}))
    with pytest.raises(InputError, match="is a file; name the folder"):
        folder_of(ModelChoice(str(file)), home)


def test_a_cancelled_call_stops_after_the_batch_that_runs(tmp_path):
    model = opened(tiny_model(tmp_path / "m", [TEXT]))
    run, count = model._runner.run, []

    async def story():
        loop = asyncio.get_running_loop()
        begun = asyncio.Event()

        def slow(batch):
            count.append(len(batch))
            loop.call_soon_threadsafe(begun.set)
            import time

            time.sleep(0.05)
            return run(batch)

        model._runner.run = slow
        pairs = [Pair(f"tea {number}", CLAIM) for number in range(2_000)]
        task = asyncio.create_task(model.predict(pairs, Meter()))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return await model.predict([Pair(TEXT, CLAIM)], Meter())

    assert asyncio.run(story())[0].entailment > 0.99
    assert len(count) <= 4
