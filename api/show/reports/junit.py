"""A report as JUnit XML, which the continuous integration of most forges shows.

One suite a verified node, one case a claim. Not fully supported is a failure, what could not be
checked an error, inconclusive and not yet checked are skipped; strictly, an inconclusive claim is
a failure and one that was not checked an error.

Source: ours (the JUnit format as Jenkins, GitLab and GitHub's actions read it).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from io import BytesIO

from junitparser import Error, Failure, JUnitXml, Properties, Property, Skipped, TestCase, TestSuite

from veritrail_graph.api.show.appeals import appeal_words
from veritrail_graph.api.show.contrast import Contrast, contrast_of
from veritrail_graph.api.show.costs import cost_words, spent_by
from veritrail_graph.api.show.parts import failed_words
from veritrail_graph.api.show.reports.data import ReportData, ReportedClaim
from veritrail_graph.api.show.texts import visible
from veritrail_graph.api.show.trail_view import trail_view
from veritrail_graph.api.show.words import BY_KIND, State, either, indicative_words, with_reason
from veritrail_graph.graph.model import Verdict, Verification

Result = Failure | Error | Skipped

_LONGEST_NAME = 240
_LONGEST_TEXT = 20_000

_RESULTS: Mapping[State, type[Result]] = {
    State.NOT_SUPPORTED: Failure,
    State.INCONCLUSIVE: Skipped,
    State.UNDECIDED: Skipped,
    State.FAILED: Error,
    State.UNCHECKED: Skipped,
}
_STRICT: Mapping[State, type[Result]] = {
    State.INCONCLUSIVE: Failure,
    State.UNDECIDED: Error,
    State.UNCHECKED: Error,
}


def junit_report(
    material: ReportData,
    *,
    strict: bool = False,
    known: Collection[str] = (),
    name: str = "veritrail",
    first: TestSuite | None = None,
    outcome: str = "",
) -> str:
    """The file.

    Args:
        material: The process and its claims.
        strict: Whether what is inconclusive, undecided or was not checked counts against the
            process.
        known: claim_ids of claims that a baseline knows; they are skipped.
        name: The name of all suites together.
        first: A suite before those of the claims.
        outcome: The outcome of a gate.
    """
    file = JUnitXml(name)
    if outcome:
        given = Properties()
        given.add_property(Property("outcome", outcome))
        file.append(given)
    if first is not None:
        file.add_testsuite(first)
    process = material.process
    about = {
        "veritrail.process_id": process.process_id,
        "veritrail.content_hash": process.content_hash,
        "veritrail.made_by": material.made.by,
    }
    if material.since:
        about["veritrail.since"] = material.since
    if material.ways:
        about["veritrail.asked"] = " ".join(material.ways)
    if material.share_of_nodes is not None:
        about["veritrail.share_of_nodes"] = f"{material.share_of_nodes:.4g}"
    by_node: dict[str, list[TestCase]] = {}
    for one in material.claims:
        case = _case(one, material, strict=strict, is_known=one.claim.claim_id in known)
        by_node.setdefault(one.claim.node_id, []).append(case)
    for node_id, cases in by_node.items():
        suite = TestSuite(visible(f"{process.process_id}: {node_id}"))
        suite.timestamp = material.made.at[:19]  # the schemas want no fraction and no zone
        asked = {"veritrail.question": material.question_of(node_id) or ""}
        for key, value in {**about, "veritrail.node_id": node_id, **asked}.items():
            if value:
                suite.add_property(key, visible(value))
        suite.add_testcases(cases)
        file.add_testsuite(suite)
    file.update_statistics()
    written = BytesIO()
    file.write(written, pretty=True)
    return written.getvalue().decode("utf-8")


def claim_case(
    name: str, classname: str, result: Result | None, text: str = "", **properties: str
) -> TestCase:
    """A case; texts are cut, and what hides in them is made visible.

    Args:
        name: What was checked.
        classname: The group that it is shown under.
        result: Why it did not pass; None: it passed.
        text: Why, at length.
        **properties: What else is known; an empty one is left out.
    """
    # Readers of the format count on a time. Verdicts are looked up here, which takes none.
    case = TestCase(_cut(name, _LONGEST_NAME), visible(classname), 0)
    given = Properties()
    for key, value in properties.items():
        if value:
            given.add_property(Property(f"veritrail.{key}", visible(value)))
    if properties:
        case.append(given)
    if result is not None:
        result.message = _cut(result.message or "", _LONGEST_TEXT)
        result.text = visible(_shortened(text, _LONGEST_TEXT))
        case.result = [result]
    return case


def _case(one: ReportedClaim, material: ReportData, *, strict: bool, is_known: bool) -> TestCase:
    kind = (_STRICT if strict else {}).get(one.state) or _RESULTS.get(one.state)
    message = message_of(one, material)
    result: Result | None = None
    if is_known:
        result = Skipped(f"Known in the baseline. {message}")
    elif kind is not None:
        result = Skipped(message) if kind is Skipped else kind(message, _type(one))
    classname = f"{material.process.process_id}.{one.claim.claim_id}"
    return claim_case(one.claim.text, classname, result, _text(one), **_properties(one))


def message_of(one: ReportedClaim, material: ReportData) -> str:
    """In one line why a claim has its state."""
    words = BY_KIND[one.state].word
    if one.is_indicative:
        words += f" ({indicative_words(one.engine)})"
    if one.state is State.NOT_SUPPORTED:
        return f"{words}; {_introduced(one, material)}"
    if one.state in (State.FAILED, State.UNDECIDED):
        return with_reason(words, one.reason)
    return words


def _introduced(one: ReportedClaim, material: ReportData) -> str:
    if not one.error_stages:
        return "no stage could be identified where it was introduced"
    names = material.process.stage_names
    each = [f"{n} ({names[n]})" if n in names else str(n) for n in one.error_stages]
    return f"introduced at stage {either(each)}"


def _text(one: ReportedClaim) -> str:
    found = one.verification
    lines = [f"Claim: {one.claim.text}"]
    if found is None:
        return lines[0]
    if one.reason:
        lines.append(f"Reasons: {one.reason}")
    if failed := failed_words(found):
        lines.append(f"Parts: {failed}")
    lines += one.since
    if found.error_nodes:
        nodes = ", ".join(node.node_id for node in found.error_nodes[:20])
        more = len(found.error_nodes) - 20
        among = "in one of" if len(found.error_nodes) > 1 else "in"
        lines.append(f"Introduced {among}: {nodes}" + (f" and {more} more" if more > 0 else ""))
    # Trails are not read here: the pair is known where a value led to the culprit.
    pair = contrast_of(trail_view(found)) if found.value_place is not None else None
    if pair is not None and one.verdict is not Verdict.FULLY_SUPPORTED:
        lines += pair_lines(pair)
    lines.append(f"Trail: veritrail show {found.verification_id}")
    return "\n".join(lines)


def pair_lines(pair: Contrast) -> list[str]:
    """Return what a source says beside what was written of it, and how the place was found."""
    if pair.source is None:
        source = pair.not_found
    else:
        source = f"{pair.source.text} ({pair.source.node_id})"
    told = [
        f"{pair.source_heading}: {source}",
        f"{pair.wrote_heading}: {pair.wrote.text} ({pair.wrote.node_id})",
    ]
    return [*told, *(one for one in (pair.words, pair.where) if one)]


def _type(one: ReportedClaim) -> str:
    if one.verdict is not None:
        return one.verdict.value
    found = one.verification
    return found.status.value if found is not None else "not_verified"


def _properties(one: ReportedClaim) -> dict[str, str]:
    found = one.verification
    made = {"claim_id": one.claim.claim_id, "node_id": one.claim.node_id}
    if found is not None:
        made |= {
            "verification_id": found.verification_id,
            "engine": found.engine,
            "model": found.model or "",
            "q": str(found.q),
            "created_at": found.created_at,
            "indicative": str(found.indicative).lower(),
            "error_stages": ",".join(map(str, one.error_stages)),
            "located_by": found.located_by.value if found.located_by else "",
            "cost": _cost(found),
            "reused_from": found.reused_from or "",
            "since": " ".join(one.since),
            "appeals": appeal_words(found) or "",
        }
    if one.reviewed is not None:
        made["review"] = one.reviewed.kind.value
        said = one.reviewed.reviewed_verdict
        made["reviewed_verdict"] = said.value if said else ""
    return made


def _cost(found: Verification) -> str:
    """Dollars, or that they are not known; nothing where no model was asked."""
    money = spent_by(found)
    return (money.words or cost_words(found.usage)) if money.asked else ""


def _cut(text: str, most: int) -> str:
    return visible(_shortened(" ".join(text.split()), most))


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
