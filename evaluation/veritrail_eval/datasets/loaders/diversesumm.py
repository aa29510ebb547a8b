"""DiverseSumm: news stories of ten articles, and answers that people validated.

It has no labels of claims. Its validated answers are claims that are true by their article, for
the matching of B.2.2 and for a first look; there is one class only.

Source: Huang et al. 2024, "Embrace Divergence for Richer Insights"; VeriTrail B.2.2.
"""

from __future__ import annotations

from pathlib import Path

from veritrail_eval.datasets.loaders.building import Building, Filled, RowModel
from veritrail_eval.datasets.loaders.detecting import table_files
from veritrail_eval.datasets.loaders.of_tables import Place, TableLoader
from veritrail_graph.graph.model import Verdict


class _Article(RowModel):
    aid: Filled
    title: str = ""
    url: str | None = None
    domain: str | None = None
    content: Filled


class _Answer(RowModel):
    aid: Filled
    answer: Filled


class _Question(RowModel):
    question: Filled
    answer_groups: list[list[_Answer]]


class Story(RowModel):
    """A story with its articles and questions."""

    eid: Filled
    articles: list[_Article]
    question_answers: list[_Question]


class DiverseSummLoader(TableLoader[Story]):
    """Reads the stories of DiverseSumm."""

    name = "diversesumm"
    description = "DiverseSumm: news stories, validated answers are supported claims"
    layout = "diverse_summ.json"
    source = "github.com/salesforce/DiverseSumm, data"
    title = "DiverseSumm"
    contents = "News stories, with validated answers as supported claims."
    row = Story

    def add(self, building: Building, row: Story, place: Place) -> None:
        """A story is a process; each of its questions has an output of its answers."""
        _add(building, row, place.where)


def stories_of(path: Path) -> list[Story]:
    """The stories, for questions about them.

    Raises:
        InputError: It cannot be read; every fault is named.
    """
    building = Building(path, DiverseSummLoader.name, DiverseSummLoader.title, skip_bad=False)
    found = [row for table in table_files(path) for _, row in building.rows(table, Story)]
    building.refuse_faults()
    return found


def _add(building: Building, story: Story, where: str) -> None:
    articles = {f"article/{one.aid}": one.content for one in story.articles}
    if len(articles) < len(story.articles):
        building.fault(where, "articles", "two articles have the same aid")
        return
    if not articles:
        building.fault(where, "articles", "is empty")
        return
    if building.has_process(story.eid):
        building.fault(where, "eid", f"{story.eid!r} is the id of a story before it")
        return
    about = {
        f"article/{one.aid}": {
            "document_id": one.aid,
            "title": one.title or None,
            "url": one.url,
            "domain": one.domain,
        }
        for one in story.articles
    }
    process = building.process(story.eid, articles, where, name=story.eid, metadata=about)
    for number, asked in enumerate(story.question_answers):
        place = f"{where}, question_answers.{number}"
        answers = [one for group in asked.answer_groups for one in group]
        unknown = [one.aid for one in answers if f"article/{one.aid}" not in articles]
        if unknown:
            building.fault(place, "aid", f"{unknown[0]!r} is no article of the story")
            continue
        if not answers:
            building.count("question without an answer")
            continue
        texts = list(dict.fromkeys(one.answer.strip() for one in answers))
        node = building.answer(
            process, f"answers/{number + 1}", "\n".join(texts), place, question=asked.question
        )
        for at, text in enumerate(texts, 1):
            documents = [f"article/{one.aid}" for one in answers if one.answer.strip() == text]
            building.claim(
                place,
                process_id=process,
                claim_id=f"q{number + 1}-a{at}",
                text=f"{asked.question.strip()} {text}",
                node_id=node,
                label=Verdict.FULLY_SUPPORTED,
                label_origin="DiverseSumm: validated answer",
                documents=tuple(dict.fromkeys(documents)),
            )
