"""Write `docs/queries.md`: every query of the library, with what it answers about a sample.

    python docs/make_queries.py [FILE]

The sample is ingested into an engine of its own and verified twice by the engine `lexical`, and
two people review some verdicts; of the sample dialogue its gold file is stored. Verifications and
reviews get ids and times that are the same in every run, so that the page changes only when the
library or an answer does.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from veritrail_graph.cypher import Parameter, Statement
from veritrail_graph.graph.model import Review, ReviewVerdict, Verification
from veritrail_graph.graph.store import QueryRows, Store
from veritrail_graph.graph.store.queries import MAX_ROWS, example_of, grouped, library

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "queries.md"
SAMPLE = ROOT / "examples" / "harbour-summary.json"
PROCESS = "harbour-summary"
DIALOGUE = ROOT / "examples" / "lindholm-dialogue.json"
DIALOGUE_GOLD = ROOT / "examples" / "lindholm-dialogue.gold.json"
MOMENT = "2026-01-{:02}T12:00:00.000000Z"
ANSWER = "Answers:\n\n"
ROWS, CELL = 4, 80
BO = {
    2: ("UNCLEAR", "Which entrance is meant?"),
    3: ("FULLY_SUPPORTED", "The log of the dredger has the figure."),
}

MADE = "<!-- From here on made by docs/make_queries.py -->\n"


def main(arguments: list[str]) -> int:
    """Write the page into the file that is named, or else where it belongs."""
    file = Path(arguments[0]) if arguments else PAGE
    with tempfile.TemporaryDirectory(prefix="veritrail-queries-") as home:
        answers = asyncio.run(_on_an_own_engine(Path(home)))
    file.write_text(page(head_of(PAGE.read_text("utf-8")), answers), encoding="utf-8")
    return 0


async def _on_an_own_engine(home: Path) -> dict[str, QueryRows]:
    from veritrail_graph.graph.embedded import EngineSettings, running_engine, stop_engine
    from veritrail_graph.graph.store import open_store

    settings = EngineSettings(home=home)
    try:
        async with running_engine(settings) as address, open_store(address) as store:
            return await answers_of(store)
    finally:
        await stop_engine(settings)


async def answers_of(store: Store) -> dict[str, QueryRows]:
    """What every query answers to its own example; the sample is stored and stays."""
    await store_sample(store)
    answers = {}
    for statement in library():
        example: dict[str, object] = {**example_of(statement)}
        others = statement.short_name == "processes"  # there may be some, and it was just stored
        found = await store.queries.run(
            statement.short_name, example | ({"limit": MAX_ROWS} if others else {})
        )
        if others:
            (row,) = [row for row in found.rows if row[0] == PROCESS]
            alone = {"rows": [[*row[:-1], MOMENT.format(1)]], "truncated": False}
            found = found.model_copy(update=alone)
        answers[statement.short_name] = found
    return answers


async def store_sample(store: Store) -> None:
    """Store the sample with two verifications of each claim, the same in every run."""
    from veritrail_graph.api.app import Application
    from veritrail_graph.api.app.attribution import AttributeOptions
    from veritrail_graph.api.requests.attribute import AttributeParameters
    from veritrail_graph.api.requests.verify import VerifyRequest
    from veritrail_graph.graph.importers.process_file import ProcessFileImporter
    from veritrail_graph.graph.importers.registry import ImportOptions
    from veritrail_graph.graph.ingest import ingest

    source = ProcessFileImporter().open(SAMPLE, ImportOptions())
    await ingest(store, source)
    made = []
    for place, q in enumerate((1, 3), start=1):
        async with Application.over(store) as app:
            request = VerifyRequest(process_id=PROCESS, engine="lexical", q=q)
            done = await (await app.jobs.submit_here(request)).carry_out()
        made += [
            verification.replace(
                verification_id=f"v-{verification.claim_id}-q{q}",
                created_at=MOMENT.format(place),
                run_id=f"run-q{q}",
            )
            for verification in done.verifications
        ]
    async with Application.over(store) as app:
        options = AttributeOptions(AttributeParameters(engine="lexical"))
        attributed = (await app.attributions.attribute(PROCESS, options)).run
    await store.processes.delete(PROCESS)
    again = await ingest(store, source)
    await store.trails.write(*made)
    await store.attributions.write(
        PROCESS, again.survey.hash, attributed.nodes, run="run-a", engine="lexical", indicative=True
    )
    await store.reviews.restore(PROCESS, _reviews(made[len(made) // 2 :]))
    await _store_dialogue(store)


async def _store_dialogue(store: Store) -> None:
    """Store the sample dialogue with what its gold file says of it."""
    from veritrail_graph.graph.importers.dialogue import process_of, read_dialogue
    from veritrail_graph.graph.ingest import ingest
    from veritrail_graph.graph.model.dialogue import DialogueRun
    from veritrail_graph.graph.store.dialogues import RunOfTurns

    dialogue = read_dialogue(json.loads(DIALOGUE.read_text(encoding="utf-8")))
    hash_ = (await ingest(store, process_of(dialogue))).survey.hash
    gold = DialogueRun.model_validate_json(DIALOGUE_GOLD.read_bytes())
    run = RunOfTurns(
        gold.dialogue_id, hash_, gold.run_id, gold.engine, None, False, MOMENT.format(1), "{}"
    )
    texts = {one.claim_id: one.claim for one in gold.claims}
    turns = {one.turn_id: one for one in dialogue.turns}
    for found in gold.turns:
        quotes = {
            (one.claim_id, name): (one.claim, texts[name])
            for one in found.claims
            for name in one.contradicts
        }
        position = await store.dialogues.next_position(gold.dialogue_id)
        await store.dialogues.write(run, turns[found.turn_id], found, quotes, position)


def _reviews(verifications: Sequence[Verification]) -> list[Review]:
    """What two people say of the first verdicts: Ada the labels of the sample, Bo otherwise."""
    labels = {
        claim["claim_id"]: claim["label"] for claim in json.loads(SAMPLE.read_text())["claims"]
    }
    said = []
    for number, one in enumerate(verifications[:6]):
        name = one.claim_id
        said.append(("Ada", one, labels[name]))
        if number in BO:
            said.append(("Bo", one, BO[number][0]))
    return [
        Review(
            review_id=f"review-{number}",
            process_id=PROCESS,
            claim_id=one.claim_id,
            claim=one.claim,
            verdict=ReviewVerdict(verdict),
            reviewer=reviewer,
            created_at=MOMENT.format(number + 2),
            reason=next((why for what, why in BO.values() if what == verdict != one.verdict), ""),
            overrides=one.verification_id,
            model_verdict=one.verdict,
        )
        for number, (reviewer, one, verdict) in enumerate(said, start=1)
    ]


def head_of(text: str) -> str:
    """The page before the generated part."""
    head, mark, _ = text.partition(MADE)
    return head + mark


def page(head: str, answers: Mapping[str, QueryRows]) -> str:
    """The page; a query that is not among the answers is listed without one."""
    parts = [head, "\n", _contents()]
    for heading, statements in grouped().items():
        parts.append(f"## {heading}\n\n")
        parts += [_section(statement, answers) for statement in statements]
    return "".join(parts).rstrip() + "\n"


def _contents() -> str:
    lines = []
    for heading, statements in grouped().items():
        names = ", ".join(f"[{one.short_name}](#{one.short_name})" for one in statements)
        lines.append(f"- {heading}: {names}\n")
    return "".join(lines) + "\n"


def _section(statement: Statement, answers: Mapping[str, QueryRows]) -> str:
    name = statement.short_name
    given = "".join(f" -p {key}={value}" for key, value in example_of(statement).items())
    source = "" if statement.source == "ours" else f" Source: {statement.source}."
    text = (
        f"### {name}\n\n{statement.purpose}{source} [Cypher](../cypher/{statement.name}.cypher)\n\n"
    )
    text += "| parameter | type | default | bounds | meaning |\n|---|---|---|---|---|\n"
    text += "".join(
        f"| `{one.name}` | {one.type} | {_default(one)} | {_bounds(one)} | {one.meaning} |\n"
        for one in statement.parameters
    )
    text += "\n| column | type | meaning |\n|---|---|---|\n"
    text += "".join(f"| `{one.name}` | {one.type} | {one.meaning} |\n" for one in statement.columns)
    text += f"\n```sh\nveritrail ask {name}{given}\n```\n\n"
    if name in answers:
        text += f"{ANSWER}{answer_text(answers[name])}\n\n"
    return text


def _default(parameter: Parameter) -> str:
    if parameter.required:
        return "required"
    if isinstance(parameter.default, bool):
        return str(parameter.default).lower()
    return "null" if parameter.default is None else f"`{parameter.default}`"


def _bounds(parameter: Parameter) -> str:
    if parameter.bounds:
        return f"{parameter.bounds[0]} to {parameter.bounds[1]}"
    return ", ".join(f"`{choice}`" for choice in parameter.choices)


def answer_text(answer: QueryRows) -> str:
    """The first rows as a table, long cells cut."""
    from veritrail_graph.api.show.query_rows import value_words

    if not answer.rows:
        return "No rows."
    lines = [answer.columns, ["---"] * len(answer.columns)]
    lines += [[_cut(value_words(value)) for value in row] for row in answer.rows[:ROWS]]
    left = len(answer.rows) - ROWS
    more = "More rows." if answer.truncated else f"{left} more row{'s' if left > 1 else ''}."
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"{table}\n\n{more}" if left > 0 or answer.truncated else table


def _cut(text: str) -> str:
    text = text if len(text) <= CELL else f"{text[: CELL - 1]}…"
    for char, safe in (("&", "&amp;"), ("<", "&lt;"), ("|", "\\|"), ("*", "\\*"), ("`", "\\`")):
        text = text.replace(char, safe)
    return text


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
