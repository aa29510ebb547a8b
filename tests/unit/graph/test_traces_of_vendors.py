"""Traces that the libraries of vendors wrote, and random ones in the spelling of each."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from fakes.vendor_spans import SPELLINGS, Step, as_logs, request, span, span_of
from hypothesis import given, settings
from hypothesis import strategies as st

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.draft import Draft
from veritrail_graph.graph.importers.registry import find_processes
from veritrail_graph.graph.ingest.check import survey
from veritrail_graph.graph.model import Origin

# Made with each library and a model that answers from a script, and with its own exporter. Values
# that say nothing of texts (ids of checkpoints, definitions of tools) are cut.
LIBRARIES = Path(__file__).parent / "traces_of_libraries"
ASKED = "How many cars does the ferry Tern carry?"
REGISTER = "Harbour register: the ferry Tern carries 42 cars and 210 people since 2019."
ANSWER = "The ferry Tern carries 42 cars, the harbour register says."


def drafts(path: Path) -> list[Draft]:
    """The processes of a file that hold text."""
    found = [one.open() for one in find_processes(path)]
    return [one for one in found if isinstance(one, Draft) and one.nodes]


@pytest.mark.parametrize("path", sorted(LIBRARIES.iterdir()), ids=lambda path: path.name[:-8])
def test_question_source_and_answer_are_told_apart(path: Path) -> None:
    for draft in drafts(path):
        survey(draft)
        (terminal,) = draft.header.terminals or ()
        answer = draft.nodes[terminal]
        assert answer.text.strip().endswith(ANSWER)  # one writes no mark between thought and answer
        sources = [one for one in draft.nodes.values() if one.origin is Origin.SOURCE]
        assert [REGISTER in one.text for one in sources] == [True]
        before = {a for a, b in draft.edges if b == terminal}
        while more := {a for a, b in draft.edges if b in before} - before:
            before |= more
        assert sources[0].node_id in before
        assert not any("was not read" in one for one in draft.header.warnings)
        if path.name.startswith("semantic-kernel"):  # it logs what its models were given
            continue
        assert draft.header.question == ASKED
        given = [one.text for one in draft.nodes.values() if one.origin is Origin.GIVEN]
        assert REGISTER not in given


def test_a_trace_in_which_an_agent_was_only_made_is_no_process() -> None:
    found = list(find_processes(LIBRARIES / "autogen.json.gz"))
    assert [bool(one.open().header.question) for one in found] == [True]


# No text is lost.

IN_LOGS = ("events", "old events", "details", "strands")
"""Spellings that libraries also write into log records."""

WORDS = st.text("bdfgklmnoprst", min_size=4, max_size=9)


FIELDS = (
    "acme.note", "metadata.note", "smolagents.note", "llm.prompt_template.template", "user.note",
    "agent.remark", "session.remark", "gen_ai.tool.description", "langfuse.trace.metadata.note",
)  # fmt: skip
"""Attributes that tell of a program in words, or that nobody knows."""


@st.composite
def runs(draw: st.DrawFn) -> tuple[str, list[Step], dict[str, str]]:
    """A question, steps of which each model is given some texts of those before, and odd ones."""
    number = count()

    def text() -> str:
        words = draw(st.lists(WORDS, min_size=4, max_size=7))
        return f"Word{next(number)} {' '.join(words)}."  # no text stands in another one

    def maybe() -> str:
        return text() if draw(st.booleans()) else ""

    def beside() -> dict[str, Any]:
        names = draw(st.lists(st.sampled_from(FIELDS), max_size=1))
        deep = draw(st.booleans())
        return {one: json.dumps({"a": [{"b": text()}]}) if deep else text() for one in names}

    question = text()
    steps: list[Step] = []
    for kind in [*draw(st.lists(st.sampled_from(["llm", "tool", "retriever"]), max_size=4)), "llm"]:
        beyond = {"status": maybe(), "beside": beside(), "noted": beside()}
        if kind == "llm":
            earlier = [one for step in steps for one in step.made]
            told = draw(st.lists(st.sampled_from(earlier), unique=True)) if earlier else []
            label = f"{draw(WORDS)}:" if told and draw(st.booleans()) else ""
            given = "\n\n".join(filter(None, [label, *told, question, maybe() if told else ""]))
            steps.append(Step(kind, given, (text(),), maybe(), system=maybe(), **beyond))
        else:
            many = draw(st.integers(1, 3)) if kind == "retriever" else 1
            steps.append(Step(kind, text(), tuple(text() for _ in range(many)), **beyond))
    odd = {f"acme.note.{n}": text() for n in range(draw(st.integers(0, 2)))}
    return question, steps, odd


def said_of(draft: Draft) -> str:
    """All that a process says: texts, metadata, question, warnings."""
    nodes = [json.dumps([one.text, dict(one.metadata or {})]) for one in draft.nodes.values()]
    return "\n".join([*nodes, draft.header.question or "", *draft.header.warnings])


def lost(steps: Sequence[Step], odd: dict[str, str], said: str, export: str) -> list[str]:
    """The texts that are no node, no metadata, and neither named nor counted as left out."""
    fields = [*odd.items()]
    for step in steps:
        fields += [
            (name, one) for about in (step.beside, step.noted) for name, one in about.items()
        ]
    made = {one for step in steps for one in step.made}
    missing = [
        f"{name}: {text}"
        for name, text in fields
        if not any(one in said for one in (text, json.dumps(text)[1:-1], name, "acme.noted"))
        and not any(one in said for one in re.findall(r"Word[^.]*\.", text))
        and not re.search(r"(attributes|fields).* and \d+ more", said)
    ]
    for number, step in enumerate(steps, start=2):
        texts = [*step.made, step.thought]
        missing += [
            one
            for one in texts
            if one not in said and not re.search(rf"s{number}/|and \d+ more", said)
        ]
        named = re.search(r"(prompt|error|given or gave).* and \d+ more", said) is not None
        is_looking = step.kind != "llm"  # it is named as its result is
        is_named = named or (is_looking and re.search(rf"s{number}/|and \d+ more", said))
        missing += [
            one
            for one in step.given.splitlines()
            if one not in made
            and one not in said
            and json.dumps(one)[1:-1] in export
            and not is_named
        ]
        missing += [
            one
            for one in (step.system, step.status)
            if one not in said and one in export and not named
        ]
    return missing


@pytest.mark.parametrize("spelling", [*SPELLINGS, *(f"{one} in logs" for one in IN_LOGS)])
@settings(max_examples=5, deadline=None)
@given(run=runs())
def test_every_text_of_a_trace_is_kept_or_named(
    spelling: str, run: tuple[str, list[Step], dict[str, str]]
) -> None:
    question, steps, odd = run
    spans = [span(1, "s1", {"input.value": question, **odd})]
    for number, step in enumerate(steps, start=2):
        spans.append(span_of(number, f"s{number}", spelling.removesuffix(" in logs"), step))
    export = request(*spans)
    whole = json.dumps(export)
    (draft,) = read(*(as_logs(export) if spelling.endswith(" in logs") else [export]))
    survey(draft)
    assert lost(steps, odd, said_of(draft), whole) == []
    assert draft.header.question == question
    written = {one for step in steps if step.kind == "llm" for one in step.made}
    assert {one.text for one in draft.nodes.values() if one.kind == "generation"} == written
    sources = {one.text for one in draft.nodes.values() if one.origin is Origin.SOURCE}
    looked_up = [one for step in steps if step.kind != "llm" for one in step.made]
    assert all(any(one in text for one in looked_up) for text in sources)


def read(*contents: Any) -> list[Draft]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.jsonl"
        path.write_text("".join(f"{json.dumps(one)}\n" for one in contents))
        return drafts(path)


def test_a_layout_that_is_not_known_is_named(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(request(span(1, "run", {"acme.reply": ANSWER, "acme.ask": ASKED}))))
    (found,) = find_processes(path)
    draft = found.open()
    assert isinstance(draft, Draft)
    with pytest.raises(InputError) as refused:
        survey(draft)
    message = refused.value.violations[0].message
    assert "in a layout that is not known: in 'acme.reply', 'acme.ask'" in message
    assert "holds no text" not in message
