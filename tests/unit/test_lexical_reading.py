"""What the lexical engine reads out of a text: numbers and names in one normal form."""

from __future__ import annotations

import pytest

from veritrail_graph.verifier.engines.lexical.reading import NumberKind, read


@pytest.mark.parametrize(
    ("text", "value", "kind"),
    [
        ("1,200 carts", "1200", NumberKind.COUNT),
        ("1.2 thousand carts", "1200", NumberKind.COUNT),
        ("two hundred and fifty carts", "250", NumberKind.COUNT),
        ("twenty-five carts", "25", NumberKind.COUNT),
        ("a hundred carts", "100", NumberKind.COUNT),
        ("three million carts", "3000000", NumberKind.COUNT),
        ("two dozen", "24", NumberKind.COUNT),
        ("8%", "8", NumberKind.PERCENT),
        ("eight percent", "8", NumberKind.PERCENT),
        ("7.50 per cent", "7.5", NumberKind.PERCENT),
        ("$3m", "3000000", NumberKind.MONEY),
        ("€1,500.00", "1500", NumberKind.MONEY),
        ("1998", "1998", NumberKind.YEAR),
        ("the 21st", "21", NumberKind.ORDINAL),
        ("at 10:30", "10:30", NumberKind.TIME),
        ("١٢ carts", "12", NumberKind.COUNT),
    ],
)
def test_numbers_have_one_normal_form(text: str, value: str, kind: NumberKind) -> None:
    (number,) = read(text).numbers
    assert (number.value, number.kind) == (value, kind)
