"""Questions about stories: which are left out, how they are drawn, and the documents of claims."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from eval_fakes.dataset_files import write_csv, write_json

from veritrail_eval.app.datasets import build_dataset, keep_questions
from veritrail_eval.building.questions import FilteredQuestion, write_questions
from veritrail_eval.building.stories import is_diversesumm, questions_in, questions_of_stories
from veritrail_eval.datasets.loading import load_dataset
from veritrail_graph.graph.errors import InputError


def story(name: str, articles: dict[str, str], *questions: str) -> dict[str, Any]:
    return {
        "eid": name,
        "articles": [{"aid": one, "content": text} for one, text in articles.items()],
        "question_answers": [
            {"question": one, "answer_groups": [[{"aid": next(iter(articles)), "answer": "Yes."}]]}
            for one in questions
        ],
    }


STORIES = [
    story("ferry", {"a1": "The ferry sank.", "a2": "It was raised."}, "Did it sink?", "Where?"),
    story("mill", {"b1": "The mill burned.", "b2": "It was insured."}, "Did it burn?"),
    story("weir", {"c1": "The weir broke.", "c2": "Rain fell."}, "Did it break?"),
    story("flood", {"d1": "Rain  fell.", "d2": "The cellar is wet."}, "Is it wet?"),
]


def test_stories_that_share_an_article_are_left_out(tmp_path: Path) -> None:
    path = write_json(tmp_path / "diverse_summ.json", STORIES)
    assert is_diversesumm(path)
    found = questions_of_stories(path)
    assert [(one.question, one.story, one.documents) for one in found] == [
        ("Did it sink?", "ferry", ("a1", "a2")),
        ("Where?", "ferry", ("a1", "a2")),
        ("Did it burn?", "mill", ("b1", "b2")),
    ]
    with pytest.raises(InputError, match="every story shares"):
        questions_of_stories(write_json(tmp_path / "two.json", STORIES[2:]))


def test_each_question_that_is_drawn_is_from_another_story(tmp_path: Path) -> None:
    about = questions_of_stories(write_json(tmp_path / "d.json", STORIES))
    table = tmp_path / "review.csv"
    write_questions(
        [FilteredQuestion(one.question, False, True, "") for one in about], table, about
    )
    table.write_text(table.read_text("utf-8").replace("keep,,", "keep,yes,"), encoding="utf-8")
    drawn = set()
    for seed in range(6):
        output = tmp_path / f"kept{seed}.csv"
        assert keep_questions(table, output, 2, seed) == 2
        kept = questions_in(output)
        assert {one.story for one in kept} == {"ferry", "mill"}
        drawn.add(kept[0].question)
    assert drawn == {"Did it sink?", "Where?"}
    with pytest.raises(InputError, match="the 2 stories"):
        keep_questions(table, tmp_path / "more.csv", 3)


def test_claims_name_the_documents_of_the_question_that_their_answer_answers(
    tmp_path: Path,
) -> None:
    process = {
        "format": "veritrail.process/1",
        "process_id": "p",
        "nodes": [
            {"node_id": "t1", "text": "The ferry", "metadata": {"document": "a1.txt"}},
            {"node_id": "t2", "text": "sank.", "metadata": {"document": "a1.txt"}},
            {"node_id": "t3", "text": "It was raised.", "metadata": {"title": "a2"}},
            {"node_id": "t4", "text": "The mill burned.", "metadata": {"document": "b1.txt"}},
            {"node_id": "answer", "text": "It sank.", "question": "Did  it sink?"},
        ],
        "edges": [{"source": f"t{n}", "target": "answer"} for n in range(1, 5)],
        "claims": [{"claim_id": "k", "text": "It sank.", "label": "FULLY_SUPPORTED"}],
    }
    path = write_json(tmp_path / "run.json", process)
    table = write_csv(tmp_path / "kept.csv", [{"question": "Did it sink?", "documents": "a1; a2"}])
    build_dataset(path, tmp_path / "set.jsonl", questions=table)
    (claim,) = load_dataset(tmp_path / "set.jsonl").claims
    assert claim.documents == ("t1", "t2", "t3")
    table = write_csv(tmp_path / "none.csv", [{"question": "Did it sink?", "documents": "z9"}])
    with pytest.raises(InputError, match="no document 'z9'"):
        build_dataset(path, tmp_path / "other.jsonl", questions=table)
    table = write_csv(tmp_path / "else.csv", [{"question": "Why?", "documents": "a1"}])
    with pytest.raises(InputError, match="No claim without documents"):
        build_dataset(path, tmp_path / "other.jsonl", questions=table)
