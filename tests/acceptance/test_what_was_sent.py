"""Models that take no temperature, and models that end: what every output says of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from acceptance.command import Veritrail
from acceptance.model_fixtures import asking, pumps
from fakes.model_server import ModelServer

from veritrail_graph.verifier.models.known_models import TABLE

pytestmark = pytest.mark.engine

AT_ZERO = re.compile(r"at temperature|[\"']temperature[\"']: ?0|\| 0 \| low")


@pytest.fixture(scope="module")
def process(veritrail: Veritrail, tmp_path_factory: pytest.TempPathFactory) -> str:
    veritrail("ingest", pumps(tmp_path_factory.mktemp("sent") / "pumps-sent.json", 1))
    return "pumps-sent"


def test_a_temperature_that_was_not_taken_is_said_nowhere(
    veritrail: Veritrail, process: str, tmp_path: Path
) -> None:
    """The model's name is not in the table, so the endpoint's refusal teaches it."""
    with ModelServer(is_luna=True) as server:
        how = ("verify", process, "--effort", "low", "--json")
        told = veritrail(*how, **asking(server))
        asked = len(server.requests)
        veritrail(*how, **asking(server))
        assert len(server.requests) == asked, "it was verified with the same settings"
    (found,) = told.json["verifications"]
    steps = {(one["temperature"], one["effort"]) for one in found["steps"]}
    assert steps == {(None, "low")}
    settings = found["settings"]["steps"]
    assert {one["temperature"] for one in settings.values()} == {None}
    shown = veritrail("show", found["verification_id"]).out
    assert "with effort low" in " ".join(shown.split())
    texts = [told.out, shown, veritrail("show", found["verification_id"], "--json").out]
    texts += [veritrail("report", process, "--format", kind).out for kind in REPORTS]
    for name in ("process.json", "graph.cypher"):
        veritrail("export", process, "-o", str(tmp_path / name))
        texts.append((tmp_path / name).read_text(encoding="utf-8"))
    for text in texts:
        assert not AT_ZERO.search(text.replace("\\", "")), AT_ZERO.search(text)
    assert '<th scope="col">Effort</th>' in texts[3 + REPORTS.index("html")]


REPORTS = ("markdown", "html", "json", "csv")


def test_samples_that_cannot_be_drawn_end_the_run_with_what_to_do(
    veritrail: Veritrail, process: str
) -> None:
    with ModelServer(refuses=["temperature"]) as server:
        how = ("verify", process, "--again", "--no-cache", "--samples", "3")
        ended = veritrail(*how, status=3, **asking(server))
    assert "takes no temperature" in ended.err
    assert "leave the samples out" in " ".join(ended.err.split())


def test_an_estimate_names_the_model_for_the_place_of_one_that_ends(
    veritrail: Veritrail, process: str
) -> None:
    ending = next(row for row in TABLE if row.retired)
    told = veritrail("estimate", process, "--model", ending.begins).err
    assert f"name {ending.instead} in its place" in " ".join(told.split())
