"""Traces that the libraries of vendors wrote, and random ones in the spelling of each."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from fakes.vendor_spans import SPELLINGS, Step, as_logs, request, span
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


@st.composite
def runs(draw: st.DrawFn) -> tuple[str, list[Step], dict[str, str]]:
    """A question, steps of which each model is given some texts of those before, and odd ones."""
    taken: set[str] = set()

    def text() -> str:
        words = draw(
            st.lists(WORDS, min_size=4, max_size=7).filter(lambda one: " ".join(one) not in taken)
        )
        taken.add(" ".join(words))
        return " ".join(words) + "."

    question = text()
    steps: list[Step] = []
    for kind in [*draw(st.lists(st.sampled_from(["llm", "tool", "retriever"]), max_size=4)), "llm"]:
        if kind == "llm":
            earlier = [one for step in steps for one in step.made]
            told = draw(st.lists(st.sampled_from(earlier), unique=True)) if earlier else []
            thought = text() if draw(st.booleans()) else ""
            steps.append(Step(kind, "\n\n".join([*told, question]), (text(),), thought))
        else:
            count = draw(st.integers(1, 3)) if kind == "retriever" else 1
            steps.append(Step(kind, text(), tuple(text() for _ in range(count))))
    odd = {f"acme.note.{n}": text() for n in range(draw(st.integers(0, 2)))}
    return question, steps, odd


def said_of(draft: Draft) -> str:
    """All that a process says: texts, metadata, question, warnings."""
    nodes = [json.dumps([one.text, dict(one.metadata or {})]) for one in draft.nodes.values()]
    return "\n".join([*nodes, draft.header.question or "", *draft.header.warnings])


def lost(steps: Sequence[Step], odd: dict[str, str], said: str) -> list[str]:
    """The texts that are no node, no metadata, and neither named nor counted as left out."""
    missing = [
        f"{name}: {text}" for name, text in odd.items() if text not in said and name not in said
    ]
    for number, step in enumerate(steps, start=2):
        texts = (*step.made, *([step.thought] if step.thought else []))
        missing += [
            one
            for one in texts
            if one not in said and not re.search(rf"s{number}/|and \d+ more", said)
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
        attributes, events = SPELLINGS[spelling.removesuffix(" in logs")](step)
        spans.append(span(number, f"s{number}", attributes, events))
    export = request(*spans)
    (draft,) = read(*(as_logs(export) if spelling.endswith(" in logs") else [export]))
    survey(draft)
    assert lost(steps, odd, said_of(draft)) == []
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
