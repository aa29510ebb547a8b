"""The methods that are compared, over the harbour sample and small processes."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import Any

import pytest
from acceptance.command import process_file
from eval_fakes.evaluating import LexicalResources

from veritrail_eval.datasets.loading import load_dataset
from veritrail_eval.datasets.model import LabelledClaim
from veritrail_eval.documents import LEAST_OVERLAP, documents_of, joined, overlap
from veritrail_eval.methods.method import MethodOutcome
from veritrail_eval.methods.registry import method_kind, method_kinds
from veritrail_eval.methods.vectors import nearest_places
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.draft import Draft
from veritrail_graph.graph.importers.records import Header
from veritrail_graph.graph.model import Origin, Status, Verdict
from veritrail_graph.verifier.held_process import HeldProcess
from veritrail_graph.verifier.models.port import Meter

HARBOUR = Path(__file__).resolve().parents[3] / "examples/harbour-summary.json"


@pytest.fixture(scope="module")
def claims() -> tuple[LabelledClaim, ...]:
    return load_dataset(HARBOUR).labelled


@pytest.fixture(scope="module")
def held() -> HeldProcess:
    dataset = load_dataset(HARBOUR)
    return HeldProcess.read(dataset.processes["harbour-summary"]())


def _judged(
    name: str, held: HeldProcess, claim: LabelledClaim, **parameters: Any
) -> tuple[MethodOutcome, LexicalResources]:
    resources = LexicalResources()

    async def run() -> MethodOutcome:
        method = await method_kind(name).make(parameters, resources)
        await method.prepare((held,), Meter())
        return await method.judge(claim, held, Meter())

    return asyncio.run(run()), resources


def test_the_paper_s_methods_are_there() -> None:
    asking = {"veritrail", "vt_rag", "rag", "direct"}
    checking = {"infuse", "alignscore", "minicheck"}
    assert asking | checking <= method_kinds().keys()
    assert method_kind("rag").grid["k"] == (1, 3, 5, 10, 15, 20, 25, 30)
    assert method_kind("vt_rag").grid["k"] == (5, 15, 25)


def test_veritrail_gives_the_verdict_of_the_walk_with_nodes_and_error_stages(
    tmp_path: Path,
) -> None:
    texts = {"a": "The quay opened in 1901.", "b": "The pier is long."}
    texts |= dict.fromkeys(("s", "t"), "The quay opened in 1910.")
    path = process_file(
        tmp_path / "quay.json",
        nodes=[{"node_id": name, "text": text} for name, text in texts.items()],
        edges=[{"source": a, "target": b} for a, b in ("as", "st", "bt")],
        claims=[{"claim_id": "k", "text": texts["t"], "label": "NOT_FULLY_SUPPORTED"}],
    )
    dataset = load_dataset(Path(path))
    held = HeldProcess.read(dataset.processes["quay"]())
    found, _ = _judged("veritrail", held, dataset.labelled[0], q=1)
    assert found.status is Status.SUCCEEDED
    assert found.verdict is Verdict.NOT_FULLY_SUPPORTED
    assert found.nodes_verified == 3
    assert found.error_stages == (2,)


def test_rag_shows_the_k_chunks_nearest_to_the_claim(
    held: HeldProcess, claims: tuple[LabelledClaim, ...]
) -> None:
    found, resources = _judged("rag", held, claims[0], k=3)
    assert found.status is Status.SUCCEEDED
    assert found.nodes_verified is None
    chunks = [held.texts[ref.node_id] for ref in held.roots]
    assert resources.words.texts == [*chunks, claims[0].text]  # the chunks once, then the claim
    assert found.usage.calls == 1  # what was prepared is not the claim's


def test_vt_rag_walks_over_the_nodes_that_it_retrieves(
    held: HeldProcess, claims: tuple[LabelledClaim, ...]
) -> None:
    supported = next(one for one in claims if one.label is Verdict.FULLY_SUPPORTED)
    found, _ = _judged("vt_rag", held, supported, k=2, q=3)
    assert found.iterations is not None
    assert found.iterations > 1
    assert found.nodes_verified is not None


def test_direct_reads_all_source_text_where_it_fits(
    held: HeldProcess, claims: tuple[LabelledClaim, ...]
) -> None:
    found, _ = _judged("direct", held, claims[0])
    assert found.verdict is claims[0].label
    assert "fitted" not in (found.reason or "")


@pytest.mark.parametrize(
    ("name", "parameters", "said"),
    [
        ("rag", {"k": 0}, "k must be a whole number"),
        ("rag", {}, "k must be a whole number"),
        ("rag", {"k": 1, "sources": "web"}, "sources must be one of process, below, documents"),
        ("veritrail", {"q": True}, "q must be a whole number"),
        ("direct", {"seed": "x"}, "seed must be a whole number"),
        ("veritrail", {"no_evidence": "keep"}, "no_evidence must be unsupported or exclude"),
        ("veritrail", {"no_evidence": "exclude"}, "about several samples of a language model"),
    ],
)
def test_wrong_parameters_are_told(name: str, parameters: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        asyncio.run(method_kind(name).make(parameters, LexicalResources()))


def test_the_nearest_are_those_of_a_slow_search() -> None:
    chance = random.Random(3)
    for _ in range(20):
        vectors = [[chance.choice((0.0, 1.0, 2.0)) for _ in range(4)] for _ in range(12)]
        query = [chance.random() for _ in range(4)]
        distances = [
            (sum((a - b) ** 2 for a, b in zip(one, query, strict=True)), place)
            for place, one in enumerate(vectors)
        ]
        found = nearest_places(vectors, query, 5)
        assert sorted(round({p: d for d, p in distances}[one], 5) for one in found) == [
            round(one, 5) for one, _ in sorted(distances)[:5]
        ]


def test_only_the_documents_that_a_claim_names_are_read_where_that_is_asked(
    held: HeldProcess, claims: tuple[LabelledClaim, ...]
) -> None:
    supported = next(one for one in claims if one.label is Verdict.FULLY_SUPPORTED)
    by_words = sorted(held.roots, key=lambda ref: "1,386" in held.texts[ref.node_id])
    without, whole = by_words[0].node_id, tuple(ref.node_id for ref in held.roots)
    verdicts = [
        _judged("direct", held, supported.replace(documents=names), sources="documents")[0].verdict
        for names in ((without,), whole, None)
    ]
    assert verdicts == [
        None,
        Verdict.FULLY_SUPPORTED,
        Verdict.FULLY_SUPPORTED,
    ]


def test_overlapping_chunks_make_one_text() -> None:
    text = "".join(chr(97 + (i * 7 + i // 5) % 26) for i in range(400))
    chunks = [text[start : start + 100] for start in range(0, 400, 60)]
    assert joined(chunks) == text
    assert joined(["One chunk.", "Another one."]) == "One chunk.\nAnother one."
    assert joined([]) == ""
    assert overlap("a" * 50, "a" * 30) == 30
    assert overlap("x" + "ab" * (LEAST_OVERLAP // 2), "ab" * LEAST_OVERLAP) == LEAST_OVERLAP
    assert overlap("short", "short text") == 0


def test_chunks_that_name_one_document_are_one_document() -> None:
    draft = Draft(Header("test", process_id="p"))
    for number, title in enumerate(("A", "B", "A", None)):
        draft.node(
            f"c{number}", f"Text {number}.", "", origin=Origin.SOURCE, metadata={"title": title}
        )
    draft.node("t", "All of it.", "", origin=Origin.GENERATED)
    for number in range(4):
        draft.edge(f"c{number}", "t", "")
    held = HeldProcess.read(draft)
    documents = documents_of(held, held.roots)
    assert [(one.text, len(one.chunks)) for one in documents] == [
        ("Text 0.\nText 2.", 2),
        ("Text 1.", 1),
        ("Text 3.", 1),
    ]
