"""Logs of many agents: who said what, what each agent saw, and notes on mistakes."""

from __future__ import annotations

import pytest
from fakes import conversations
from fakes.conversations import Graph

from veritrail_graph.graph.model import Origin


@pytest.fixture
def graph(tmp_path):
    def read(value):
        (one,) = conversations.found(tmp_path, value)
        return Graph(one.open())

    return read


def group():
    return {
        "question": "How many cars?",
        "history": [
            {"role": "assistant", "name": "Counter", "content": "I count: print(400 + 12)"},
            {
                "role": "user",
                "name": "Computer_terminal",
                "content": "exitcode: 0 (execution succeeded)\nCode output: 412\n",
            },
            {"role": "user", "name": "Checker", "content": "It is 421.\n\nTERMINATE"},
            {
                "role": "user",
                "name": "Computer_terminal",
                "content": "There is no code from the last 1 message for me to execute. Go on.",
            },
            {"role": "assistant", "name": "Counter", "content": "TERMINATE"},
        ],
        "mistake_agent": "Checker",
        "mistake_step": "2",
        "mistake_reason": "Two digits changed places.",
        "ground_truth": "412",
        "system_prompt": {"Counter": "You count.", "Checker": "You check. " * 50},
    }


def test_agents_see_all_that_was_said_before(graph):
    read = graph(group())
    assert read.inputs == {
        "question": [],
        "message/0": ["question"],
        "message/1": [],
        "message/2": ["question", "message/0", "message/1"],
    }
    assert read.origin("question") is Origin.GIVEN
    assert read.origin("message/1") is Origin.SOURCE
    assert [one.step for one in read.nodes.values()] == [
        "user",
        "Counter",
        "Computer_terminal",
        "Checker",
    ]
    assert read.said("all messages before it that its agent could see")
    assert read.said("2 messages that only steer or end")
    assert read.nodes["message/0"].metadata["prompt"] == "You count."


def test_annotations_are_metadata_only(graph):
    read = graph(group())
    about = read.nodes["message/2"].metadata
    assert about["mistake"] == {
        "agent": "Checker",
        "step": 2,
        "reason": "Two digits changed places.",
    }
    assert about["ground_truth"] == "412"
    assert not any("changed places" in one.text for one in read.nodes.values())
    assert not read.said("mistake_step")


@pytest.mark.parametrize(
    ("step", "agent", "said"),
    [
        ("9", "Checker", "is no message with a text"),
        (1, "Computer_terminal", "which no agent wrote"),
        ("0", "Checker", "names a message of Counter, and mistake_agent is Checker"),
    ],
)
def test_an_annotation_that_does_not_fit_is_named(graph, step, agent, said):
    assert graph({**group(), "mistake_step": step, "mistake_agent": agent}).said(said)


def test_an_annotated_message_is_a_node_even_if_it_only_steers(graph):
    read = graph({**group(), "mistake_step": "4", "mistake_agent": "Counter"})
    assert read.nodes["message/4"].metadata["mistake"]["step"] == 4


PAGE = (
    "Here is a screenshot of [Ferry](https://ferry.example). The viewport shows 9% of the webpage."
    "\nAutomatic OCR of the page screenshot has detected the following text:\n\n412 cars\n<Image>"
)


def console():
    return {
        "question": "How many cars?",
        "history": [
            {"role": "human", "content": "How many cars?\n"},
            {
                "role": "Orchestrator (thought)",
                "content": "Initial plan:\n\nLook at the page of the ferry.\n\n"
                "/opt/py/agents/orchestrator.py:216: UserWarning: Mismatch of models.\n"
                "  ledger = await self.create(",
            },
            {"role": "Orchestrator (thought)", "content": "Updated Ledger:\n{}"},
            {"role": "Orchestrator (-> WebSurfer)", "content": "Open the page of the ferry."},
            {"role": "Orchestrator (thought)", "content": "Next speaker WebSurfer"},
            {"role": "WebSurfer", "content": f"I clicked 'Ferry'.\n\n{PAGE}"},
            {
                "role": "FileSurfer",
                "content": "Address: file:///cars\nViewport position: Showing page 1 of 1.\n12",
            },
            {"role": "Assistant", "content": "There were 412 cars."},
            {
                "role": "Orchestrator (termination condition)",
                "content": "No agent selected.\nFINAL ANSWER: 412\nSCENARIO.PY COMPLETE !#!#\n"
                "RUN.SH COMPLETE !#!#",
            },
        ],
    }


def test_a_log_with_agents_as_roles(graph):
    read = graph(console())
    assert {name: (one.origin, one.kind, one.step) for name, one in read.nodes.items()} == {
        "message/0": (Origin.GIVEN, "user", "human"),
        "message/1": (Origin.GENERATED, "thought", "Orchestrator"),
        "message/2": (Origin.GENERATED, "thought", "Orchestrator"),
        "message/3": (Origin.GENERATED, "instruction", "Orchestrator"),
        "message/5": (Origin.GENERATED, "action", "WebSurfer"),
        "message/5/page": (Origin.SOURCE, "page", "WebSurfer"),
        "message/6": (Origin.SOURCE, "page", "FileSurfer"),
        "message/7": (Origin.GENERATED, "message", "Assistant"),
        "message/8": (Origin.GENERATED, "answer", "Orchestrator"),
    }
    assert "UserWarning" not in read.nodes["message/1"].text
    assert read.nodes["message/5"].text == "I clicked 'Ferry'."
    assert read.nodes["message/5/page"].text == PAGE
    assert read.nodes["message/8"].text == "FINAL ANSWER: 412"
    assert read.nodes["message/3"].metadata["to"] == "WebSurfer"
    # The plan goes to all agents, the ledger stays with the orchestrator.
    assert read.inputs["message/5"] == ["message/0", "message/1", "message/3"]
    assert "message/2" in read.inputs["message/8"]
    assert read.header.terminals == ("message/8",)


def test_an_answer_after_a_page_is_a_node_of_its_own(graph):
    log = console()
    log["history"] = log["history"][:5]
    log["history"].append(
        {
            "role": "WebSurfer",
            "content": f"I clicked 'Ferry'.\n\n{PAGE}\nTraceback (most recent call last):\n  x\n"
            "FINAL ANSWER: 412\nRUN.SH COMPLETE !#!#",
        }
    )
    read = graph(log)
    assert read.header.terminals == ("message/5/answer",)
    assert read.nodes["message/5/answer"].text == "FINAL ANSWER: 412"
    assert "Traceback" not in read.nodes["message/5/page"].text
    # The agent that wrote the answer had the whole log.
    assert read.inputs["message/5/answer"] == [
        "message/0",
        "message/1",
        "message/2",
        "message/3",
        "message/5",
        "message/5/page",
    ]


def test_a_log_without_an_answer_says_so(graph):
    log = console()
    log["history"] = log["history"][:6]
    read = graph(log)
    assert read.header.terminals == ("message/5",)
    assert read.said("The log ends without an answer")
    assert read.inputs["message/5/page"] == []
