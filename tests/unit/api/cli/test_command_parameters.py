"""The options of a command and the request that every other door takes are one list."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import pytest

from veritrail_graph.api.cli import attribute as attributing
from veritrail_graph.api.cli import dialogue as dialogues
from veritrail_graph.api.cli.options import parameters
from veritrail_graph.api.requests.attribute import MAX_NODES, AttributeParameters
from veritrail_graph.api.requests.dialogue import DialogueParameters
from veritrail_graph.api.requests.job import JobRequest


@pytest.mark.parametrize(
    ("command", "kind"),
    [(attributing.attribute, AttributeParameters), (dialogues.verify, DialogueParameters)],
)
def test_a_command_has_an_option_for_every_field_of_its_request(
    command: Callable[..., None], kind: type[JobRequest]
) -> None:
    given = dict.fromkeys(inspect.signature(command).parameters, True)
    assert parameters(kind, given).model_fields_set == set(kind.model_fields)


def test_what_is_left_out_has_the_default_of_the_request() -> None:
    given = {"node_ids": None, "claim_id": [], "judge_with": None, "no_cache": False}
    assert parameters(AttributeParameters, given) == AttributeParameters()


def test_options_are_not_held_to_the_bounds_of_the_service() -> None:
    names = [f"n{number}" for number in range(MAX_NODES + 1)]
    asked = parameters(AttributeParameters, {"node_ids": names, "engine": "", "no_cache": True})
    assert asked.node_ids == tuple(names)
    assert (asked.engine, asked.use_cache) == ("", False)
