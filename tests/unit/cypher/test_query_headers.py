"""Headers of .cypher files: types, defaults and bounds of parameters."""

from __future__ import annotations

import pytest

from veritrail_graph import cypher
from veritrail_graph.cypher import StatementError

FILE = """// purpose: something
// param x: {parameter} - what it is
// column y: any - what it is
// group: Some heading
// example: x=1
// source: ours
RETURN $x AS y
"""


def test_bounds_and_choices_stand_in_the_header() -> None:
    statement = cypher.parse("queries/q", FILE.format(parameter="integer = 7 in 1..100"))
    (x,) = statement.parameters
    assert (x.default, x.bounds, x.choices, x.required) == (7, (1, 100), (), False)
    assert [x.fault(value) is None for value in (None, 0, 1, 100, 101)] == [
        True, False, True, True, False,
    ]  # fmt: skip
    assert statement.group == "Some heading"
    statement = cypher.parse("queries/q", FILE.format(parameter="string = null in red|blue"))
    (x,) = statement.parameters
    assert (x.default, x.bounds, x.choices) == (None, None, ("red", "blue"))
    assert [x.fault(value) is None for value in (None, "red", "green", "")] == [
        True, True, False, False,
    ]  # fmt: skip


@pytest.mark.parametrize(
    "parameter",
    ["integer = 0 in 1..100", "string = green in red|blue", "number", "integer = 1 within 1..2"],
)
def test_a_header_that_breaks_its_own_rules_is_refused(parameter: str) -> None:
    with pytest.raises(StatementError):
        cypher.parse("queries/q", FILE.format(parameter=parameter))


@pytest.mark.parametrize(
    "text", ["", " 1", "1 ", "1_000", "\u0661", "0x10", "1.0", "1e3", "9" * 19]
)
def test_an_integer_is_plain_digits_that_an_engine_can_hold(text: str) -> None:
    with pytest.raises(ValueError, match="no integer"):
        cypher.convert(text, "integer")
    assert cypher.convert("-12", "integer") == -12
