"""A report as a file of tests: the next text must not say again what was wrong in this one.

The file needs pytest and this package, whose plugin gives the fixture `veritrail`. Texts stand in
it as Python literals, so that nothing in them is ever code.

Source: ours (docs/reports.md).
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

from veritrail_graph.api.show.contrast import contrast_of
from veritrail_graph.api.show.reports.data import ReportedClaim, ReportSource
from veritrail_graph.api.show.reports.junit import pair_lines
from veritrail_graph.api.show.words import State
from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model.finding import WRONG

_WIDTH = 88
"""Characters of a literal in a line."""
MOST_TEXT = 400_000
"""Characters of all tested texts together; longer ones are left empty, to be filled in."""

_HEAD = '''"""Tests of the next answer: what was wrong in this one must not be said again.

Written by {by} on {day}, from {claims}.

1. Let `texts` return what your pipeline writes now; today it returns what was wrong.
2. Run `pytest --veritrail-model NAME`. Without a model a test is skipped where words alone
   cannot tell whether the text says the claim.
"""

import pytest

# Process: {process}


@pytest.fixture(scope="module")
def texts():
    """The texts that are tested, by node: call your pipeline here."""
    return {{
{texts}
    }}


@pytest.fixture(scope="module")
def sources():
    """What they are made from: texts, or a pathlib.Path of files; None: not known here."""
    return None


SAID = [
'''
_TESTS = ''']


@pytest.mark.parametrize(("node", "claim", "known"), SAID)
def test_it_is_not_said_again(veritrail, texts, node, claim, known):
    """The text of a node does not support a claim that was wrong in it."""
    found = veritrail.check(claim, texts[node])
    assert not found.failed and not any(one.is_failed for one in found.claims), str(found)
    if found.undecided or not found.claims:
        pytest.skip(next((one.reason for one in found.undecided), "there is nothing to check"))
    again = all(one.verdict == "FULLY_SUPPORTED" for one in found.claims)
    assert not again, f"{node} says it again: {claim}\\n{known}"


def test_all_is_supported(veritrail, texts, sources):
    """All that the texts say now follows from their sources."""
    if sources is None:
        pytest.skip("`sources` returns None: let it return what the texts are made from")
    for text in texts.values():
        veritrail.check(text, sources).assert_supported()
'''


async def pytest_pieces(origin: ReportSource) -> AsyncIterator[str]:
    """The file, piece by piece.

    Args:
        origin: Where it is made from.

    Raises:
        InputError: No claim is wrong.
    """
    material = origin.material
    wrong = [one for one in material.claims if _is_wrong(one)]
    if not wrong:
        raise InputError(
            f"No claim of {material.process.process_id!r} that is asked for is wrong: there is "
            "nothing that a test could expect of the next answer."
        )
    nodes = list(dict.fromkeys(one.claim.node_id for one in wrong))
    texts = await origin.texts(nodes)
    if sum(map(len, texts.values())) > MOST_TEXT:
        texts = {}
    yield _HEAD.format(
        by=material.made.by,
        day=material.made.at[:10],
        claims=f"{len(wrong):,} of {counted(len(material.claims), 'claim')}, not supported",
        process=repr(material.process.process_id),
        texts="\n".join(_entry(name, texts.get(name, "")) for name in nodes),
    )
    names: set[str] = set()
    async for trail in origin.trails(wrong):
        view = trail.view(material.process.stage_names)
        pair = contrast_of(view) if view is not None else None
        said = "\n".join(pair_lines(pair)) if pair is not None else trail.checked.reason or ""
        yield _parameters(trail.checked, said, names)
    yield _TESTS


def _is_wrong(one: ReportedClaim) -> bool:
    return one.state is State.NOT_SUPPORTED or one.category in WRONG


def _entry(node_id: str, text: str) -> str:
    return f"        {node_id!r}: (\n{_literal(text, 12)}\n        ),"


def _parameters(one: ReportedClaim, said: str, names: set[str]) -> str:
    """Return the parameters of a test, with an id that no other has."""
    name = base = re.sub(r"[^A-Za-z0-9_.-]", "-", one.claim.claim_id)
    while name in names:
        name = f"{base}-{len(names)}"
    names.add(name)
    lines = [
        "    pytest.param(",
        f"        {one.claim.node_id!r},",
        f"{_literal(one.claim.text, 8)},",
        f"{_literal(said, 8)},",
        f"        id={name!r},",
        "    ),",
    ]
    return "\n".join(lines) + "\n"


def _literal(text: str, indent: int) -> str:
    """Return a text as Python literals, which stand for it together: a line or a piece each."""
    pieces = [
        line[start : start + _WIDTH - indent]
        for line in text.splitlines(keepends=True) or [""]
        for start in range(0, len(line), _WIDTH - indent) or [0]
    ]
    return "\n".join(" " * indent + repr(one) for one in pieces)
