"""A report as JUnit XML, which the continuous integration of most forges shows.

One suite a verified node, one case a claim. Not fully supported is a failure, what could not be
checked an error, inconclusive and not yet checked are skipped; strictly, an inconclusive claim is
a failure and one that was not checked an error.

Source: ours (the JUnit format as Jenkins, GitLab and GitHub's actions read it).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from xml.sax.saxutils import escape, quoteattr

from veritrail_graph.api.reports.data import CheckedClaim, Material
from veritrail_graph.api.views.costs import cost_words, spent_by
from veritrail_graph.api.views.texts import visible
from veritrail_graph.api.views.words import BY_KIND, State
from veritrail_graph.graph.model import Verification

_LONGEST_NAME = 240
_LONGEST_TEXT = 20_000

# Readers of the format count on it. Verdicts are looked up here, which takes no time; how long
# the checks took is not stored.
_TIME = "0"


class Outcome(StrEnum):
    """What became of a case."""

    PASSED = "passed"
    FAILURE = "failure"
    ERROR = "error"
    SKIPPED = "skipped"


_OUTCOMES = {
    State.SUPPORTED: Outcome.PASSED,
    State.NOT_SUPPORTED: Outcome.FAILURE,
    State.INCONCLUSIVE: Outcome.SKIPPED,
    State.FAILED: Outcome.ERROR,
    State.UNCHECKED: Outcome.SKIPPED,
}
_STRICT = {State.INCONCLUSIVE: Outcome.FAILURE, State.UNCHECKED: Outcome.ERROR}


@dataclass(frozen=True, slots=True)
class Case:
    """One case of a suite.

    Attributes:
        name: What was checked.
        classname: The group that it is shown under.
        outcome: What became of it.
        kind: The type of a failure or error, such as `NOT_FULLY_SUPPORTED`.
        message: Why, on one line.
        text: Why, at length.
        properties: What else is known.
    """

    name: str
    classname: str
    outcome: Outcome
    kind: str = ""
    message: str = ""
    text: str = ""
    properties: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Suite:
    """Cases that belong together.

    Attributes:
        name: What they are about.
        cases: They.
        timestamp: When they were made, ISO 8601; None: not said.
        properties: What holds for all of them.
    """

    name: str
    cases: Sequence[Case]
    timestamp: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)

    def count(self, outcome: Outcome) -> int:
        """How many cases ended so."""
        return sum(case.outcome is outcome for case in self.cases)


def suites_of(material: Material, *, strict: bool = False) -> list[Suite]:
    """A suite for each verified node, in the order of the claims.

    Args:
        material: The process and its claims.
        strict: Whether what is inconclusive or was not checked counts against the process.
    """
    by_node: dict[str, list[CheckedClaim]] = {}
    for one in material.claims:
        by_node.setdefault(one.claim.node_id, []).append(one)
    about = _about(material)
    return [
        Suite(
            name=f"{material.process.process_id}: {node_id}",
            cases=[case_of(one, material, strict=strict) for one in claims],
            timestamp=_timestamp(material.made.at),
            properties={**about, "veritrail.node_id": node_id},
        )
        for node_id, claims in by_node.items()
    ]


def case_of(one: CheckedClaim, material: Material, *, strict: bool = False) -> Case:
    """The case of a claim."""
    outcome = _OUTCOMES[one.state]
    if strict:
        outcome = _STRICT.get(one.state, outcome)
    return Case(
        name=one.claim.text,
        classname=f"{material.process.process_id}.{one.claim.claim_id}",
        outcome=outcome,
        kind=_kind(one),
        message=message_of(one, material),
        text=_text(one),
        properties=_properties(one),
    )


def message_of(one: CheckedClaim, material: Material) -> str:
    """In one line why a claim stands as it does."""
    words = BY_KIND[one.state].word
    if one.is_indicative:
        words += " (indicative only: no language model judged)"
    if one.state is State.NOT_SUPPORTED:
        return f"{words}; {_introduced(one, material)}"
    if one.state is State.FAILED:
        return f"{words}: {one.reason or 'no reason was kept'}"
    return words


def _introduced(one: CheckedClaim, material: Material) -> str:
    if not one.error_stages:
        return "no stage could be identified where it came in"
    names = material.process.stage_names
    each = [f"{n} ({names[n]})" if n in names else str(n) for n in one.error_stages]
    return f"introduced at stage {', '.join(each)}"


def _text(one: CheckedClaim) -> str:
    found = one.verification
    lines = [f"Claim: {one.claim.text}"]
    if found is None:
        return lines[0]
    if one.reason:
        lines.append(f"Reasons: {one.reason}")
    if found.error.nodes:
        nodes = ", ".join(node.node_id for node in found.error.nodes[:20])
        more = len(found.error.nodes) - 20
        lines.append(f"Introduced in: {nodes}" + (f" and {more} more" if more > 0 else ""))
    lines.append(f"Trail: veritrail show {found.verification_id}")
    return "\n".join(lines)


def _kind(one: CheckedClaim) -> str:
    if one.verdict is not None:
        return one.verdict.value
    found = one.verification
    return found.status.value if found is not None else "not_verified"


def _properties(one: CheckedClaim) -> dict[str, str]:
    found = one.verification
    made = {"claim_id": one.claim.claim_id, "node_id": one.claim.node_id}
    if found is not None:
        made |= {
            "verification_id": found.verification_id,
            "engine": found.engine,
            "model": found.model or "",
            "indicative": str(found.indicative).lower(),
            "error_stages": ",".join(map(str, one.error_stages)),
            "cost": _cost(found),
        }
    if one.reviewed is not None:
        made["review"] = one.reviewed.kind.value
    return {f"veritrail.{key}": value for key, value in made.items() if value}


def _cost(found: Verification) -> str:
    """Dollars, or that they are not known; nothing where no model was asked."""
    money = spent_by(found)
    return (money.words or cost_words(found.usage)) if money.asked else ""


def _about(material: Material) -> dict[str, str]:
    return {
        "veritrail.process_id": material.process.process_id,
        "veritrail.content_hash": material.process.content_hash,
        "veritrail.made_by": material.made.by,
    }


def _timestamp(at: str) -> str:
    """A time as the JUnit schemas want it: without a fraction and without a zone."""
    return at[:19]


def junit_xml(
    suites: Sequence[Suite], name: str = "veritrail", properties: Mapping[str, str] | None = None
) -> Iterator[str]:
    """The file, piece by piece.

    Args:
        suites: The suites.
        name: The name of them together.
        properties: What holds for all of them.
    """
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield f"<testsuites {_figures(name, suites)}>\n"
    if properties:
        yield from _property_list(properties, "  ")
    for suite in suites:
        when = f" timestamp={_quoted(suite.timestamp)}" if suite.timestamp else ""
        yield f"  <testsuite {_figures(suite.name, [suite])}{when}>\n"
        yield from _property_list(suite.properties, "    ")
        for case in suite.cases:
            yield from _case(case)
        yield "  </testsuite>\n"
    yield "</testsuites>\n"


def _figures(name: str, suites: Sequence[Suite]) -> str:
    def total(outcome: Outcome) -> int:
        return sum(suite.count(outcome) for suite in suites)

    return (
        f'name={_quoted(name)} tests="{sum(len(suite.cases) for suite in suites)}" '
        f'failures="{total(Outcome.FAILURE)}" errors="{total(Outcome.ERROR)}" '
        f'skipped="{total(Outcome.SKIPPED)}" time="{_TIME}"'
    )


def _case(case: Case) -> Iterator[str]:
    name = _cut(" ".join(case.name.split()), _LONGEST_NAME)
    head = f"    <testcase name={_quoted(name)} classname={_quoted(case.classname)}"
    yield f'{head} time="{_TIME}">\n'
    yield from _property_list(case.properties, "      ")
    if case.outcome is not Outcome.PASSED:
        tag = case.outcome.value
        kind = f" type={_quoted(case.kind)}" if tag != "skipped" else ""
        message = _quoted(_cut(" ".join(case.message.split()), _LONGEST_TEXT))
        inner = escape(visible(_cut(case.text, _LONGEST_TEXT)))
        yield f"      <{tag} message={message}{kind}>{inner}</{tag}>\n"
    yield "    </testcase>\n"


def _property_list(properties: Mapping[str, str], indent: str) -> Iterator[str]:
    if not properties:
        return
    yield f"{indent}<properties>\n"
    for key, value in properties.items():
        yield f"{indent}  <property name={_quoted(key)} value={_quoted(value)}/>\n"
    yield f"{indent}</properties>\n"


def _quoted(text: str) -> str:
    return quoteattr(visible(text))


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
