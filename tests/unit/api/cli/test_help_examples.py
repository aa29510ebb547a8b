"""The examples of `--help` are calls that the command line takes."""

from __future__ import annotations

import shlex
from typing import Any

from veritrail_graph.api.cli.app import command
from veritrail_graph.api.cli.help_texts import EXAMPLES

COMMANDS: Any = command()


def test_every_example_is_a_call_of_its_command() -> None:
    for name, example in ((name, one) for name, every in EXAMPLES.items() for one in every):
        assert len(example) <= 78, example
        words = shlex.split(example)
        if words[0] == "eval":
            words = shlex.split(words[1].removeprefix("$(").removesuffix(")"))
        assert words[:2] == ["veritrail", name], example
        command = COMMANDS.commands[name]
        with command.make_context(name, words[2:]) as context:
            assert context.params


def test_the_help_of_a_command_ends_with_its_examples() -> None:
    command = COMMANDS.commands["query"]
    with command.make_context("query", ["--list"]) as context:
        shown = command.get_help(context)
    assert "Examples:\n    veritrail query --list\n" in shown
