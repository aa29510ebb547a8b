"""Exports and reports of both samples."""

from __future__ import annotations

import pytest
from golden.conftest import SAMPLES, Scene
from golden.golden import check

pytestmark = pytest.mark.engine

EXPORTS = ("process", "graphml", "csv", "cypher", "neo4j-csv")
REPORTS = ("html", "markdown", "csv", "json", "junit", "pytest")
OF_WORDS = ("html", "markdown", "junit", "pytest")


@pytest.mark.parametrize("form", EXPORTS)
@pytest.mark.parametrize("sample", SAMPLES)
def test_export(scene: Scene, sample: str, form: str) -> None:
    name = f"{sample}.{form}"
    ended = scene.call("export", sample, "--format", form, "-o", name, "--json")
    assert ended.status == 0
    check(f"data/exports/{name}.told.json", scene.plain.json(ended.json))
    path = scene.call.folder / name
    for file in sorted(path.iterdir()) if path.is_dir() else [path]:
        more = f"/{file.name}" if path.is_dir() else ""
        check(f"data/exports/{name}{more}", scene.plain.text(file.read_bytes().decode("utf-8")))


@pytest.mark.parametrize("form", REPORTS)
@pytest.mark.parametrize("sample", SAMPLES)
def test_report(scene: Scene, sample: str, form: str) -> None:
    ended = scene.call("report", sample, "--format", form)
    assert ended.status == 0
    place = "words" if form in OF_WORDS else "data"
    check(f"{place}/reports/{sample}.{form}", scene.plain.text(ended.out))


def test_dossier(scene: Scene) -> None:
    for form, place in (("json", "data"), ("html", "words")):
        ended = scene.call("report", SAMPLES[0], "--claim", "k04", "--format", form)
        check(f"{place}/reports/dossier.{form}", scene.plain.text(ended.out))


def test_a_file_gives_the_same_report(scene: Scene) -> None:
    scene.call("export", SAMPLES[0], "-o", "sample.json")
    told = scene.call("report", "sample.json", "--format", "csv").out
    assert told == scene.call("report", SAMPLES[0], "--format", "csv").out
