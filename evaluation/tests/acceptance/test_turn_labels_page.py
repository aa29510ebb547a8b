"""The page on which people label the claims of turns, over HTTP, as a browser without scripts."""

from __future__ import annotations

import html
import json
import re
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
import pytest
from acceptance.command import Veritrail
from fakes.dialogues import SAMPLE, gold_run, sample_dialogue, store_found
from fakes.page_forms import forms_of
from fakes.service_process import ServiceProcess

pytestmark = pytest.mark.engine

HOSTILE = "</textarea><img src=x onerror=alert(1)>"
Named = Callable[[str], httpx2.Client]


@pytest.fixture(scope="module")
def talk(veritrail: Veritrail) -> str:
    """The sample with what a careful reader finds; each test labels in other names."""
    return a_talk(veritrail)


def a_talk(veritrail: Veritrail) -> str:
    name = f"labels-{uuid.uuid4().hex[:8]}"
    found = gold_run().turns
    store_found(veritrail.environment({}), sample_dialogue().replace(dialogue_id=name), found)
    return name


@pytest.fixture
def named(shared_service: ServiceProcess) -> Iterator[Named]:
    """Opens a browser whose owner has said who they are; no name: one who has not."""
    with ExitStack() as stack:

        def opened(name: str) -> httpx2.Client:
            cookies = {"veritrail_reviewer": quote(name)} if name else {}
            client = httpx2.Client(
                base_url=shared_service.url, cookies=cookies, trust_env=False, timeout=60.0,
                follow_redirects=True,
            )  # fmt: skip
            return stack.enter_context(client)

        yield opened


def words_of(page: str) -> str:
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", " ", page)))


def place(talk: str, number: int | None = None) -> str:
    return f"/processes/{talk}/dialogue/labels" + (
        "" if number is None else f"/turn?number={number}"
    )


def label(browser: httpx2.Client, talk: str, number: int, **fields: str) -> httpx2.Response:
    """Fill in the page of a turn and send it."""
    page = browser.get(place(talk, number))
    assert page.status_code == 200, words_of(page.text)
    form = forms_of(page.text)[place(talk, number)]
    texts = dict(re.findall(r'<textarea[^>]* name="([^"]+)"[^>]*>\n?([^<]*)</textarea>', page.text))
    texts = {name: html.unescape(text) for name, text in texts.items()}
    given = {name.replace("_", "-"): value for name, value in fields.items()}
    empty = {"is_empty": given.pop("is-empty")} if "is-empty" in given else {}
    return browser.post(place(talk, number), data={**form, **texts, **given, **empty})


def lines(browser: httpx2.Client, talk: str) -> list[dict[str, Any]]:
    answer = browser.get(f"/processes/{talk}/dialogue/labels.jsonl")
    assert answer.status_code == 200, answer.text
    return [json.loads(line) for line in answer.text.splitlines()]


def test_annotators_keep_edit_delete_and_add_claims_and_the_file_is_read(
    named: Named, talk: str, veritrail: Veritrail, tmp_path: Path
) -> None:
    ada, bea = named("Ada"), named("Bea")
    assert ada.get(f"{place(talk)}.jsonl").status_code == 422  # nobody has labelled a turn
    page = ada.get(place(talk, 4))
    words = words_of(page.text)
    for shown in (
        "When are you open?",  # the conversation
        "Last admission is at half past four.",  # the document
        "The assistant is the guide of the Lindholm Tram Museum.",  # the initial knowledge
        "Claim 3 The Lindholm Tram Museum is closed on Mondays.",
        "Verifiable Contradicted Lacking evidence Out of scope Abstention",
    ):
        assert shown in words
    assert " checked" not in page.text  # what the method found is not shown
    answers = {
        "do_1": "keep", "label_1": "VERIFIED",
        "do_2": "edit", "text_2": f"It is open from ten. {HOSTILE}", "label_2": "LACKING_EVIDENCE",
        "do_3": "delete",
        "new_1": "Somebody asked.", "new_label_1": "OUT_OF_SCOPE", "notes": "Hm\r\nso.",
    }  # fmt: skip
    saved = label(ada, talk, 4, **answers)
    assert saved.url.query == b"number=6"  # the next turn that is not labelled
    again = ada.get(place(talk, 4))
    assert "Saved" in words_of(again.text)
    assert HOSTILE not in again.text
    assert html.escape(HOSTILE, quote=False).replace("'", "&#39;") in again.text
    assert len(re.findall(r' name="new-\d+"', again.text)) == 2
    assert "Saved" not in words_of(bea.get(place(talk, 4)).text)
    label(bea, talk, 4, do_1="keep", label_1="VERIFIED", do_2="delete", do_3="delete")
    assert label(ada, talk, 30, is_empty="1").url.path == place(talk)  # no turn is behind it
    first, *turns = lines(ada, talk)
    assert first["dialogue"]["documents"][0]["text"].startswith("Opening hours")
    assert [one["turn"]["turn_id"] for one in turns] == ["t4", "t30"]
    said = turns[0]["turn"]["labels"]
    assert [one["annotator"] for one in said] == ["Ada", "Bea"]
    assert said[0]["claims"][1:] == [
        {"claim": f"It is open from ten. {HOSTILE}", "category": "LACKING_EVIDENCE"},
        {"claim": "Somebody asked.", "category": "OUT_OF_SCOPE"},
    ]
    assert said[0]["notes"] == "Hm\nso."
    kept = {"claim": "The Lindholm Tram Museum is open from Tuesday to Sunday."}
    assert turns[0]["turn"]["claims"] == [{**kept, "category": "VERIFIED"}]  # both name it
    path = tmp_path / "labelled.jsonl"
    path.write_text(ada.get(f"{place(talk)}.jsonl").text, encoding="utf-8")
    agreement = veritrail("eval", "agreement", str(path), "--json").json["annotators"]
    assert agreement["pairs"]["Ada|Bea"]["turns"] == 1
    assert (agreement["claims"], agreement["matched"]) == (3, 1)
    overview = words_of(ada.get(place(talk)).text)
    assert "Ada : 2 of 15 turns Bea : 1 of 15 turns" in overview
    assert re.search(r"turn 4 labelled .* turn 6 to do", overview)
    assert "unresolved" not in overview
    assert f'href="{place(talk)}"' in ada.get(f"/processes/{talk}/dialogue").text
    for browser, text in ((ada, "It rained."), (bea, "There was rain.")):
        label(browser, talk, 30, new_1=text, new_label_1="LACKING_EVIDENCE")
    assert "1 of the turns on this page is unresolved" in words_of(ada.get(place(talk)).text)
    assert "claims" not in lines(ada, talk)[2]["turn"]


def test_what_is_incomplete_is_named_and_nothing_that_was_typed_is_lost(
    named: Named, talk: str
) -> None:
    eve = named("Eve")
    refused = label(eve, talk, 4, do_1="keep", new_1="More.", notes="Wait.")
    assert refused.status_code == 422
    words = words_of(refused.text)
    for fault in (
        "Claim 1 has no label", "Claim 2 has no answer: keep, edit or delete it.",
        "New claim 1 has no label",
    ):  # fmt: skip
        assert fault in words
    assert "More.</textarea>" in refused.text
    assert "Wait.</textarea>" in refused.text
    assert '<input type="radio" name="do-1" value="keep" checked>' in refused.text
    more = label(eve, talk, 4, do_1="delete", then="more")
    assert more.status_code == 200
    assert len(re.findall(r' name="new-\d+"', more.text)) == 4
    assert '<input type="radio" name="do-1" value="delete" checked>' in more.text
    assert "Eve :" not in words_of(eve.get(place(talk)).text)  # nothing was saved
    assert eve.get(place(talk, 3)).status_code == 404  # a turn of the user


def test_who_labels_says_so_first_and_labels_are_removed_only_on_purpose(
    named: Named, talk: str
) -> None:
    new = named("")
    page = new.get(place(talk, 4))
    assert page.url.path == place(talk)
    form = forms_of(page.text)[f"{place(talk)}/annotator"]
    assert new.post(f"{place(talk)}/annotator", data={**form, "name": " "}).status_code == 422
    began = new.post(f"{place(talk)}/annotator", data={**form, "name": "Cleo"})
    assert began.url.query == b"number=2"
    label(new, talk, 2, do_1="keep", label_1="VERIFIED")
    removal = forms_of(new.get(place(talk)).text)[f"{place(talk)}/remove"]
    removal = {**removal, "annotator": "Cleo"}
    assert new.post(f"{place(talk)}/remove", data=removal).status_code == 422
    assert "Cleo : 1 of" in words_of(new.get(place(talk)).text)
    new.post(f"{place(talk)}/remove", data={**removal, "sure": "1"})
    assert "Cleo : 1 of" not in words_of(new.get(place(talk)).text)


def test_labels_are_about_the_words_that_were_said_and_go_with_the_dialogue(
    named: Named, veritrail: Veritrail, tmp_path: Path
) -> None:
    ada, talk = named("Ada"), a_talk(veritrail)
    for number in (2, 4):
        fields = {f"do_{one}": "delete" for one in range(1, 4 if number == 4 else 2)}
        assert label(ada, talk, number, **fields).status_code == 200
    document = json.loads(SAMPLE.read_text(encoding="utf-8"))
    document["turns"][3]["text"] = "We are always open."
    path = tmp_path / "changed.json"
    path.write_text(json.dumps({**document, "dialogue_id": talk}), encoding="utf-8")
    stale = ada.get(place(talk, 4)).text
    veritrail("ingest", str(path), "--replace")
    form = forms_of(stale)[place(talk, 4)]
    outdated = ada.post(place(talk, 4), data={**form, "proposed": "0", "is_empty": "1"})
    assert outdated.status_code == 422
    assert "says something else now" in words_of(outdated.text)
    assert [one["turn"]["turn_id"] for one in lines(ada, talk)[1:]] == ["t2"]
    assert re.search(r"turn 2 labelled .* turn 4 to do", words_of(ada.get(place(talk)).text))
    ada.get(f"/processes/{talk}")
    token = ada.delete(f"/v1/processes/{talk}")
    assert token.status_code in (200, 204)
    veritrail("ingest", str(path))
    assert "Ada :" not in words_of(ada.get(place(talk)).text)
