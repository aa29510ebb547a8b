"""Questions about stories, and the articles of each: what DiverseSumm+ was made from.

Source: VeriTrail B.2.1 (stories that share articles are left out; each question is from another
story), B.2.2 (annotators are shown the articles of a question alone).
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

from veritrail_eval.datasets.loaders.diversesumm import DiverseSummLoader, Story, stories_of
from veritrail_eval.datasets.model import Dataset, LabelledClaim
from veritrail_eval.documents import documents_of
from veritrail_eval.tables import read_table
from veritrail_graph.graph.errors import InputError, shown
from veritrail_graph.verifier.held_process import HeldProcess

SEPARATOR = "; "


@dataclass(frozen=True, slots=True)
class StoryQuestion:
    """A question with the story that it is about.

    Attributes:
        question: The question.
        story: The story; empty: not known.
        documents: The names of its articles.
    """

    question: str
    story: str = ""
    documents: tuple[str, ...] = ()

    def cells(self) -> dict[str, str]:
        """The columns of a table."""
        joined = SEPARATOR.join(self.documents)
        return {"question": self.question, "story": self.story, "documents": joined}


def is_diversesumm(path: Path) -> bool:
    """Return whether a path is DiverseSumm, and no table of questions."""
    is_json = path.is_dir() or path.name.removesuffix(".gz").endswith(".json")
    return is_json and DiverseSummLoader().detect(path) is None


def questions_of_stories(path: Path) -> list[StoryQuestion]:
    """The questions of DiverseSumm, without those of stories that share an article with another.

    Articles are the same where their addresses or their texts are. A question that two stories
    ask is left out with its second story.

    Raises:
        InputError: It cannot be read, or every story shares an article.
    """
    stories = stories_of(path)
    shared = Counter(key for one in stories for key in _articles_of(one))
    found: dict[str, StoryQuestion] = {}
    for one in stories:
        if any(shared[key] > 1 for key in _articles_of(one)):
            continue
        names = tuple(article.aid for article in one.articles)
        for asked in one.question_answers:
            key = asked.question.strip().casefold()
            found.setdefault(key, StoryQuestion(asked.question.strip(), one.eid, names))
    if not found:
        raise InputError(f"{path}: every story shares an article with another one.")
    return list(found.values())


def _articles_of(story: Story) -> set[str]:
    texts = {f"text {' '.join(one.content.split())}" for one in story.articles}
    return texts | {f"url {one.url.strip()}" for one in story.articles if one.url}


def questions_in(path: Path) -> list[StoryQuestion]:
    """The questions of a table with their stories, where it has the columns story and documents.

    Raises:
        InputError: Rows have faults.
    """
    table = read_table(path, ("question",))
    found = [
        StoryQuestion(
            _plain(row.required("question")),
            row.text("story"),
            tuple(one.strip() for one in row.text("documents").split(";") if one.strip()),
        )
        for row in table.rows
    ]
    table.check()
    return found


def _plain(text: str) -> str:
    """A cell without the quotation mark that keeps programs from computing it."""
    return text.removeprefix("'") if text[1:2] in "=+-@" else text


def drawn(questions: Sequence[StoryQuestion], count: int, seed: int) -> list[StoryQuestion]:
    """Draw as many questions, each from another story, in the order of the table.

    A question whose story is not known is one of its own.

    Raises:
        InputError: There are fewer stories.
    """
    by_story: dict[str, list[int]] = {}
    for place, one in enumerate(questions):
        by_story.setdefault(one.story or f"\0{place}", []).append(place)
    if count > len(by_story):
        raise InputError(
            f"--sample {count:,} asks for more than the {len(by_story):,} stories that have a "
            "question marked keep."
        )
    draw = random.Random(f"{seed}/questions")  # noqa: S311  # a sample, no secret
    names = draw.sample(sorted(by_story), count)
    places = sorted(draw.choice(by_story[name]) for name in names)
    return [questions[place] for place in places]


def with_documents(dataset: Dataset, questions: Sequence[StoryQuestion]) -> Dataset:
    """The data set whose claims name the documents of the question that their node answers.

    A document is one of that name, or of a file or a title of that name. Claims of other
    questions, and those that name documents already, stay as they are.

    Raises:
        InputError: A document of a question is not there, or no claim answers a question.
    """
    known = {_key(one.question): one for one in questions if one.documents}
    held: dict[str, HeldProcess] = {}
    claims: list[LabelledClaim] = []
    for claim in dataset.claims:
        process = held.get(claim.process_id)
        if process is None:
            process = HeldProcess.read(dataset.processes[claim.process_id]())
            held[claim.process_id] = process
        node = process.node_of(claim.node_id).node_id
        answered = process.questions.get(node) or process.survey.header.question
        asked = known.get(_key(answered or ""))
        if asked is None or claim.documents is not None:
            claims.append(claim)
            continue
        claims.append(claim.replace(documents=_roots_of(process, asked)))
    if all(one is before for one, before in zip(claims, dataset.claims, strict=True)):
        raise InputError(
            "No claim without documents is about an answer to a question of the table that names "
            "documents."
        )
    return replace(dataset, claims=tuple(claims))


def _key(question: str) -> str:
    return " ".join(question.split()).casefold()


def _roots_of(process: HeldProcess, asked: StoryQuestion) -> tuple[str, ...]:
    """The roots of the documents of a question."""
    by_name: dict[str, list[str]] = {}
    for document in documents_of(process, process.roots):
        about: Mapping[str, object] = process.metadata.get(document.ref.node_id, {})
        names = {document.name, document.name.partition("=")[2], str(about.get("title") or "")}
        names |= {PurePath(name).stem for name in names if name}
        for name in names - {""}:
            by_name.setdefault(name, []).extend(ref.node_id for ref in document.chunks)
    lacking = [name for name in asked.documents if name not in by_name]
    if lacking:
        raise InputError(
            f"process {shown(process.process_id)} has no document {shown(lacking[0])}, which the "
            f"question {shown(asked.question)} names."
        )
    return tuple(dict.fromkeys(name for one in asked.documents for name in by_name[one]))
