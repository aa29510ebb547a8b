"""Outcomes and relative ranks of corrections equal a slow reference, and some by hand."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from veritrail_eval.attribution.corrections import (
    missing_corrections,
    read_corrections,
    scores,
)
from veritrail_eval.attribution.tables import write_corrections
from veritrail_graph.graph.errors import InputError

MODES = ("plain", "highlighted", "attribution")
OUTCOMES = ("fixed", "partly", "not")
Lines = list[dict[str, Any]]


def read(folder: Path, lines: Lines, name: str = "corrections.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return path


def figures(path: Path, *more: Path) -> dict[tuple[str, str], dict[str, Any]]:
    found = [one.as_json(3) for one in scores(read_corrections([path, *more]))]
    return {(one["model"], one["mode"]): one for one in found}


@pytest.mark.parametrize("seed", range(5))
def test_figures_are_those_of_a_slow_reference(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    lines: Lines = [
        {
            "id": f"s{number}",
            "mode": mode,
            "outcome": rng.choice((*OUTCOMES, *OUTCOMES, "")),
            "edits": rng.randint(0, 3),
            "model": model,
        }
        for number in range(rng.randint(3, 15))
        for mode in MODES
        for model in ("a", "b")
        if rng.random() < 0.9
    ]
    found = figures(read(tmp_path, lines))
    for model in ("a", "b"):
        own = [line for line in lines if line["model"] == model]
        whole = []
        for name in {line["id"] for line in own}:
            of = [line for line in own if line["id"] == name]
            if len(of) == 3 and all(line["outcome"] for line in of):
                whole.append(of)
        for mode in MODES:
            mine = [line for line in own if line["mode"] == mode]
            if not mine:
                continue
            told = found[model, mode]
            known = [line for line in mine if line["outcome"]]
            for outcome in OUTCOMES:
                count = sum(line["outcome"] == outcome for line in known)
                assert told[outcome] == (pytest.approx(count / len(known)) if known else None)
            places = []
            for of in whole:
                order = sorted((OUTCOMES.index(line["outcome"]), line["edits"]) for line in of)
                (this,) = [line for line in of if line["mode"] == mode]
                places.append(1 + order.index((OUTCOMES.index(this["outcome"]), this["edits"])))
            for rank in (1, 2, 3):
                expected = places.count(rank) / len(places) if places else None
                assert told[f"rank_{rank}"] == (
                    None if expected is None else pytest.approx(expected)
                )
            edits = sum(line["edits"] for line in mine) / len(mine)
            assert told["mean_edits"] == pytest.approx(edits)
            assert (told["corrections"], told["ranked"]) == (len(mine), len(places))


def test_the_ranks_that_people_gave_count_in_place_of_ours(tmp_path: Path) -> None:
    given = {1: (2, 1, 3), 2: (1, 2, 3), 3: (1, None, 2)}  # nobody ranked all of sentence 3
    lines: Lines = [
        {"id": number, "mode": mode, "outcome": "fixed", "edits": 1, "rank": rank}
        for number, ranks in given.items()
        for mode, rank in zip(MODES, ranks, strict=True)
    ]
    found = figures(read(tmp_path, lines))
    plain = found["all", "plain"]
    assert (plain["ranked_by"], plain["ranked"], plain["corrections"]) == ("people", 2, 3)
    assert [plain[f"rank_{place}"] for place in (1, 2, 3)] == [0.5, 0.5, 0]
    assert found["all", "attribution"]["rank_3"] == 1
    lines[0]["rank"] = 1.5
    with pytest.raises(InputError) as refused:
        read_corrections([read(tmp_path, lines)])
    assert [one.where for one in refused.value.violations] == ["line 1, column rank"]


@pytest.mark.parametrize(
    ("ranks", "wrong"),
    [
        ((1, 1, 3), ()), ((2, 1, 2), ()), ((1, 1, 2), ()), ((None, 2, 3), ()),
        ((2, 1, 9), (3,)), ((2, 2, 2), (1, 2, 3)), ((1, 3, 3), (2, 3)), ((None, 2, 4), (3,)),
    ],
)  # fmt: skip
def test_ranks_that_no_order_gives_are_refused(
    ranks: tuple[int | None, ...], wrong: tuple[int, ...], tmp_path: Path
) -> None:
    lines: Lines = [
        {"id": "a", "mode": mode, "outcome": "fixed", "edits": 1, "rank": rank}
        for mode, rank in zip(MODES, ranks, strict=True)
    ]
    paths = [read(tmp_path, lines[:2], "a.jsonl"), read(tmp_path, lines[2:], "b.jsonl")]
    if not wrong:
        assert [one.rank for one in read_corrections(paths)] == list(ranks)
        return
    with pytest.raises(InputError) as refused:
        read_corrections([read(tmp_path, lines)])
    places = [one.where for one in refused.value.violations]
    assert places == [f"line {number}, column rank" for number in wrong]
    with pytest.raises(InputError, match="nothing was computed"):
        read_corrections(paths)


def test_equal_corrections_share_a_rank(tmp_path: Path) -> None:
    lines: Lines = [
        {"id": 1, "mode": "plain", "outcome": "not", "edits": 0},
        {"id": 1, "mode": "highlighted", "outcome": "fixed", "edits": 2},
        {"id": 1, "mode": "attribution", "outcome": "fixed", "edits": 2},
        {"id": 2, "mode": "plain", "outcome": "partly", "edits": 1},
        {"id": 2, "mode": "highlighted", "outcome": "fixed", "edits": 5},
        {"id": 2, "mode": "attribution", "outcome": "partly", "edits": 3},
    ]
    found = figures(read(tmp_path, lines))
    ranks = {mode: [found["all", mode][f"rank_{n}"] for n in (1, 2, 3)] for mode in MODES}
    assert ranks == {
        "plain": [0, 0.5, 0.5], "highlighted": [1, 0, 0], "attribution": [0.5, 0, 0.5],
    }  # fmt: skip
    path, outcomes, ranking = write_corrections(
        tmp_path / "out", scores(read_corrections([tmp_path / "corrections.jsonl"])), 3
    )
    assert len(path.read_text(encoding="utf-8").splitlines()) == 4
    for plot in (outcomes, ranking):
        picture = ElementTree.parse(plot).getroot()
        titles = [one.text or "" for one in picture.iter("{http://www.w3.org/2000/svg}title")]
        assert len(titles) == 9
        assert titles[0].startswith(("fixed, plain, ", "rank 1, plain, "))


def test_runs_with_revisions_are_read(tmp_path: Path) -> None:
    def run(mode: str, outcome: str | None, edits: int) -> Path:
        revision = {"text": "T.", "mode": mode, "edits": edits, "outcome": outcome}
        sentence = {"sentence": 0, "status": "succeeded", "revisions": [revision]}
        nodes = [{"node_id": "t", "sentences": [sentence, {"sentence": 1}]}]
        document = {"process_id": "p", "model": "m", "nodes": nodes}
        path = tmp_path / f"{mode}.json"
        path.write_text(json.dumps(document), encoding="utf-8")
        return path

    found = figures(run("plain", "not", 1), run("attribution", "fixed", 1))
    assert found["m", "attribution"]["rank_1"] == 1
    assert found["m", "plain"]["rank_2"] == 1
    unverified = figures(run("plain", None, 1))
    assert (unverified["m", "plain"]["fixed"], unverified["m", "plain"]["not_verified"]) == (
        None,
        1,
    )
    twice = tmp_path / "again.json"
    twice.write_text((tmp_path / "plain.json").read_text("utf-8"), encoding="utf-8")
    with pytest.raises(InputError, match="both hold the correction"):
        read_corrections([tmp_path / "plain.json", twice])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"mode": "all"}, "column mode"),
        ({"outcome": "maybe"}, "column outcome"),
        ({"edits": 1.5}, "column edits"),
        ({"edits": -1}, "column edits"),
        ({"edits": ""}, "column edits"),
        ({"id": ""}, "column id"),
    ],
)
def test_faults_have_places(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    good = {"id": "a", "mode": "plain", "outcome": "fixed", "edits": 1}
    with pytest.raises(InputError) as raised:
        read_corrections([read(tmp_path, [good, {**good, "id": "b", **change}])])
    assert [one.where for one in raised.value.violations] == [f"line 2, {message}"]


def test_a_repeated_row_and_other_files_are_refused(tmp_path: Path) -> None:
    good = {"id": "a", "mode": "plain", "outcome": "fixed", "edits": 1}
    with pytest.raises(InputError) as raised:
        read_corrections([read(tmp_path, [good, good])])
    assert "already" in raised.value.violations[0].message
    with pytest.raises(InputError, match="lacks the columns"):
        read_corrections([read(tmp_path, [{"id": 1}])])
    with pytest.raises(InputError, match="no such file"):
        read_corrections([tmp_path / "nowhere"])
    empty = tmp_path / "empty.json"
    empty.write_text('{"nodes": []}', encoding="utf-8")
    with pytest.raises(InputError, match="holds no corrections"):
        read_corrections([empty])


def test_sentences_whose_correction_failed_are_named(tmp_path: Path) -> None:
    sentences = [
        {"sentence": 0, "status": "succeeded", "error": None},
        {"sentence": 3, "status": "succeeded", "error": "the correction failed: gone"},
    ]
    run = {"process_id": "p", "nodes": [{"node_id": "t", "sentences": sentences}]}
    assert missing_corrections([read(tmp_path, [run])]) == ["p/t:3"]
    assert missing_corrections([read(tmp_path, [{"id": "a"}], "table.jsonl")]) == []
