"""Every page opens, for every kind of judge, of claim, and of difference between two trails."""

from __future__ import annotations

import html
import re
import uuid
from collections.abc import Iterator
from itertools import combinations
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from acceptance.command import Veritrail
from acceptance.homes import EXAMPLES
from fakes.page_processes import store_process
from fakes.service_process import ServiceProcess
from fakes.trails import FS, LEXICAL, NFS, a_round, a_step, a_trail, cited, found, path, spent
from starlette.routing import compile_path

from veritrail_graph.api.page.pages import ROUTERS
from veritrail_graph.api.page.plugin_pages import plugin_routers
from veritrail_graph.graph.importers.records import ClaimRecord
from veritrail_graph.graph.model import (
    Claim,
    ClaimOrigin,
    NodeRef,
    Role,
    Status,
    Termination,
    Verdict,
    Verification,
)

pytestmark = pytest.mark.engine

MADE_BY_PEOPLE = {
    # Each has tests of its own, which make what it shows.
    "/jobs/{job_id}",
    "/processes/{process_id}/claims/{claim_id}/picture.svg",
    "/processes/{process_id}/studies/{study_id}",
    "/processes/{process_id}/studies/{study_id}/read",
    "/processes/{process_id}/studies/{study_id}/answers.csv",
    "/processes/{process_id}/studies/{study_id}/gold.jsonl",
    "/processes/{process_id}/dialogue/labels/turn",
    "/shared/{token}",
    "/processes/{process_id}/dialogue/labels.jsonl",
    "/projects.csv",
    "/sign-in",
    "/static/{name}",
}

TEXTS = {
    "a": "The pier is 37 metres long. It was built in 1901. Nobody knows by whom.",
    "b": "The quay is made of oak. It rains there.",
    "s1": "The pier is 41 metres long. It was built in 1901.",
    "s2": "The quay is oak.",
    "t": "The pier is 41 metres long. The quay is oak. The pier is old. It rains. It is so.",
}
REFS = {
    "a": NodeRef("a", 1, 0, Role.ROOT),
    "b": NodeRef("b", 1, 1, Role.ROOT),
    "s1": NodeRef("s1", 2, 2, Role.INTERMEDIATE),
    "s2": NodeRef("s2", 2, 3, Role.INTERMEDIATE),
    "t": NodeRef("t", 3, 4, Role.TERMINAL),
}
EDGES = [("a", "s1"), ("b", "s2"), ("s1", "t"), ("s2", "t")]

PIER = cited("s1", 0, 0, "The pier is 41 metres long.")
SOURCE = cited("a", 0, 0, "The pier is 37 metres long.")
BUILT = cited("a", 1, 28, "It was built in 1901.")
QUAY = cited("s2", 0, 0, "The quay is oak.")

FIRST = a_round(1, FS, [REFS["s1"], REFS["s2"]], [found("41 metres.", PIER)])
SECOND = a_round(2, NFS, [REFS["a"]], [found("37 metres.", SOURCE, missing="the colour")])
AT_S1: dict[str, Any] = {
    "paths": (path("s1", "t", 1), path("a", "s1", 2)),
    "error_nodes": (REFS["s1"],),
    "propagated_nodes": (REFS["t"],),
    "termination": Termination.ONLY_ROOTS_WITH_EVIDENCE_LEFT,
    "reasoning": "A source says otherwise.",
}
OPEN: dict[str, Any] = {
    "status": Status.UNDECIDED,
    "verdict": None,
    "error": "Cannot tell without a model: no sentence says this.",
    "reasoning": "Cannot tell without a model: no sentence says this.",
}
PAID: dict[str, Any] = {
    "usage": spent(3, 1, (900, 100, 40), 0.002),
    "steps": (a_step(1, "verdict", spent(1, 0, (300, 0, 20), None)),),
    "score": 0.4,
}
CASCADE = FIRST.replace(
    judged_by="a-larger-model", first_verdict=None, first_reasoning="no valid answer: cut off"
)
PICKED_MORE = a_round(1, FS, [REFS["s1"], REFS["s2"]], [found("Both.", PIER, QUAY)])
UNTOLD = a_round(1, None, [REFS["s1"], REFS["s2"]])

CLAIMS: dict[str, dict[str, Any]] = {
    "right": {"text": "The quay is oak.", "start": 28, "end": 44},
    "wrong": {"text": "The pier is 41 metres long.", "start": 0, "end": 27},
    "between": {"text": "The pier is old.", "sub_claims": ("It is a pier.", "It is old.")},
    "open": {"text": "It rains."},
    "failed": {"text": "It is so."},
    "new": {"text": "The pier was never seen."},
    "many": {"text": "The pier is 41 metres long and oak."},
    "unfound": {"text": "The mayor resigned."},
    "unsaid": {"text": "Penguins built it.", "origin": ClaimOrigin.ASKED, "said": False},
    "unsure": {"text": "The pier leads to oak.", "origin": ClaimOrigin.ASKED},
    "asked": {"text": "The quay is oak wood.", "origin": ClaimOrigin.ASKED, "said": True},
}


def trails(process_id: str) -> Iterator[Verification]:
    """Verifications of every kind, by claim."""
    counts: dict[str, int] = {}

    def of(claim_id: str, *rounds: Any, **other: Any) -> Verification:
        counts[claim_id] = number = counts.get(claim_id, 0) + 1
        given = {name: CLAIMS[claim_id].get(name) for name in ("origin", "said")}
        text = other.pop("was", CLAIMS[claim_id]["text"])
        claim = Claim(claim_id=claim_id, text=text, node_id="t", **given)
        return a_trail(
            f"{process_id}/{claim_id}-{number}",
            *rounds,
            process_id=process_id,
            claim=claim,
            created_at=f"2026-02-0{number}T00:00:00.000000Z",
            **other,
        )

    quay = a_round(1, FS, [REFS["s2"]], [found("Oak.", QUAY)])
    beam = a_round(
        2, FS, [REFS["b"]], [found("Oak.", cited("b", 0, 0, "The quay is made of oak."))]
    )
    yield of("right", quay, beam, paths=(path("s2", "t", 1), path("b", "s2", 2)), **PAID)
    yield of("right", quay, beam, **LEXICAL, reused_from=f"{process_id}/gone", reuse_reason="same")
    yield of("wrong", FIRST, SECOND, **AT_S1, **LEXICAL)
    yield of("wrong", PICKED_MORE, SECOND, **AT_S1, **PAID, q=1)
    yield of("wrong", CASCADE, SECOND, **AT_S1, settings={"model": "a", "escalate_to": "b"})
    yield of("wrong", FIRST, **AT_S1, engine="lexical+nli", model="an-entailment-model", share=4)
    yield of("wrong", FIRST, SECOND, **AT_S1, was="The pier is 41 feet long.")
    inconclusive = Verdict.INCONCLUSIVE
    yield of("between", FIRST, SECOND.replace(verdict=inconclusive), reasoning="Both are said.")
    yield of("open", UNTOLD, a_round(2, None, [REFS["a"]]), **OPEN, **LEXICAL)
    yield of("open", UNTOLD, **OPEN, termination=Termination.NO_AGREEMENT, **PAID)
    yield of("failed", status=Status.FAILED, verdict=None, error="no answer in time")
    yield of("failed", FIRST, status=Status.OVER_BUDGET, verdict=None)
    several = {**AT_S1, "error_nodes": (REFS["s1"], REFS["s2"])}
    yield of("many", PICKED_MORE, SECOND, **several)
    for judge in ({}, LEXICAL):
        yield of("unfound", *(one.replace(verdict=NFS) for one in (UNTOLD,)),
                 error_nodes=(REFS["t"],), **judge)  # fmt: skip
        yield of("unsaid", FIRST, SECOND, **AT_S1, **judge)
        yield of("unsure", FIRST, SECOND, **AT_S1, **judge)
        yield of("asked", FIRST, SECOND, **AT_S1, **judge)


@pytest.fixture(scope="module")
def stored(veritrail: Veritrail, shared_service: ServiceProcess) -> str:
    name = f"every-{uuid.uuid4().hex[:8]}"
    claims = [
        ClaimRecord(where="c", claim_id=key, node_id="t", **one) for key, one in CLAIMS.items()
    ]
    store_process(veritrail.environment({}), name, TEXTS, EDGES, claims, trails(name))
    veritrail("attribute", name, "--node", "s1", "--node", "t", "--engine", "lexical")
    veritrail("ingest", str(EXAMPLES / "lindholm-dialogue.json"), "--process-id", f"{name}-talk")
    veritrail("dialogue", "verify", f"{name}-talk", "--engine", "lexical")
    for claim, verdict in (("wrong", "FULLY_SUPPORTED"), ("right", "UNCLEAR")):
        review = {"verdict": verdict, "reviewer": "Ada", "reason": "I read it."}
        answer = shared_service.post(f"/v1/processes/{name}/claims/{claim}/reviews", json=review)
        assert answer.status_code == 201, answer.text
    return name


def addresses(name: str) -> Iterator[str]:
    """The addresses of all pages of a process, some with every claim, verification and node."""
    made: dict[str, list[str]] = {}
    for one in trails(name):
        made.setdefault(one.claim_id, []).append(one.verification_id)
    here, talk = f"/processes/{name}", f"/processes/{name}-talk"
    yield from ("/", "/projects", "/search?q=pier", "/jobs", "/upload", "/check", "/favicon.ico")
    yield from ("/processes.csv", "/search.csv?q=pier", "/jobs.csv")
    for part in (
        "", "?order=text", "?verdict=undecided", "/edit", "/verify", "/share", "/runs", "/runs.csv",
        "/graph", "/review", "/review?blind=0", "/agreement", "/agreement.json", "/rounds",
        "/annotation.json", "/studies", "/near-duplicates", "/claims.csv", "/nodes.csv",
        "/reviews.csv", "/dossier.html", "/dossier.json",
    ):  # fmt: skip
        yield f"{here}{part}"
    yield from (f"{here}/report.{form}" for form in ("html", "md", "csv", "json", "xml"))
    for part in ("", "/dialogue", "/dialogue/verify", "/dialogue/labels"):
        yield f"{talk}{part}"
    for node in TEXTS:
        for part in ("", "/attribution", *(("/attribute",) if node not in "ab" else ())):
            yield f"{here}/nodes/{node}{part}"
    for claim in CLAIMS:
        yield from _of_claim(here, claim, made.get(claim, []))
    yield from _compared(here)


def _of_claim(here: str, claim: str, made: list[str]) -> Iterator[str]:
    own = f"{here}/claims/{claim}"
    yield from (own, f"{own}/edit", f"{own}/picture", f"{own}/dossier.html")
    if "origin" not in CLAIMS[claim]:  # a question is not reviewed
        yield f"{here}/review?claim={claim}&blind=0"
    for verification in made:
        asked = urlencode({"verification": verification})
        yield from (f"{own}?{asked}", f"{own}?iteration=1&{asked}")
        yield f"{here}/graph?claim={claim}&{asked}"
    for verification in made[:1]:
        asked = urlencode({"verification": verification})
        for part in ("/evidence?", "/evidence?node=s1&"):
            yield f"{own}{part}{asked}"
    for a, b in combinations(made, 2):
        yield f"{own}/difference?{urlencode({'a': b, 'b': a})}"


def _compared(here: str) -> Iterator[str]:
    judges = ("lexical", "a-model")
    asked = urlencode({"a": judges[0], "b": judges[1]})
    yield from (f"{here}/runs/compare?{asked}", f"{here}/runs/compare.csv?{asked}")


def words_of(page: str) -> str:
    """What a person reads on a page."""
    page = re.sub(r"<(script|style|textarea|svg)\b.*?</\1>", " ", page, flags=re.DOTALL)
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", " ", page)))


NO_WORD = re.compile(r"\b(None|null|undefined|Traceback|Undefined)\b")


def test_every_page_opens_and_says_no_word_of_the_program(
    shared_service: ServiceProcess, stored: str
) -> None:
    faults: list[str] = []
    opened: set[str] = set()
    for address in addresses(stored):
        answer = shared_service.get(address)
        opened.add(quote(address.partition("?")[0]))
        if answer.status_code != 200:
            faults.append(f"{answer.status_code} {address}: {words_of(answer.text)[-300:]}")
        elif answer.headers["content-type"].startswith("text/html"):
            words = words_of(answer.text)
            if told := NO_WORD.search(words):
                faults.append(f"{address}: {words[max(told.start() - 60, 0) : told.end() + 20]!r}")
    assert not faults, "\n".join(faults[:20])
    assert routes_without(opened) == MADE_BY_PEOPLE


def routes_without(opened: set[str]) -> set[str]:
    """The routes of pages that none of these addresses leads to."""
    routes = [route for router in (*ROUTERS, *plugin_routers()) for route in router.routes]
    paths = {route.path for route in routes if "GET" in route.methods}  # type: ignore[attr-defined]
    left = set()
    for each in paths:
        pattern = compile_path(each)[0]
        if not any(pattern.match(one) for one in opened):
            left.add(each)
    return left
