"""veritrail-record alone: its wheel, what it imports, what it says where the rest is missing."""

from __future__ import annotations

import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from recorded_file import checked, nodes

import veritrail_graph
import veritrail_record
from veritrail_graph.graph import contract
from veritrail_graph.graph.importers.process_file.schema import process_file_schema
from veritrail_record import contract as ours

FOLDER = Path(__file__).resolve().parents[1]
ALONE = """
import sys
sys.path[:] = [place for place in sys.path if "site-packages" not in place] + [sys.argv[1]]
import veritrail_record as vr
from veritrail_record import calls, openai

@vr.recorded_step(step="summarise")
def summarise(page):
    return f"In short: {page}"

with vr.record("alone", path=sys.argv[2], store=True, claims="It opened.") as run:
    run.answer(summarise(run.source("The quay opened.")))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder)]
    subprocess.run(command, cwd=FOLDER, check=True, capture_output=True)
    (built,) = folder.glob("veritrail_record-*.whl")
    return built


def alone(code: str, *arguments: str | Path) -> str:
    """Run a program that finds no installed package; return what it says on stderr."""
    command = [sys.executable, "-I", "-S", "-c", code, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stderr


@pytest.mark.slow
def test_the_wheel_alone_records_a_process_that_an_ingest_reads(wheel: Path, tmp_path: Path):
    file = tmp_path / "alone.jsonl"
    said = alone(ALONE, wheel, file)
    assert "the process stays in its file: veritrail-graph is not installed; pip install" in said
    assert f"veritrail check {file}" in said
    found = checked(file)
    assert (found.terminals, [claim.text for claim in found.claims]) == (
        ("summarise/1",), ["It opened."],
    )  # fmt: skip
    assert nodes(file)["summarise/1"]["text"] == "In short: The quay opened."


@pytest.mark.slow
def test_the_wheel_holds_every_module(wheel: Path):
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
    package = FOLDER / "veritrail_record"
    assert held == {f"veritrail_record/{path.name}" for path in package.iterdir() if path.suffix}


LIBRARIES = """
import sys
sys.path.append(sys.argv[1])
for name in sys.argv[2:]:
    try:
        __import__(f"veritrail_record.{name}")
    except ImportError as error:
        print(error, file=sys.stderr)
"""


def test_a_library_that_is_not_installed_is_named_with_the_extra_that_brings_it():
    needs = {
        "langchain": "langchain-core",
        "llamaindex": "LlamaIndex",
        "haystack": "Haystack",
        "opentelemetry": "opentelemetry-sdk",
        "graphrag": "veritrail-graph",
    }
    assert alone(LIBRARIES, FOLDER, *needs).splitlines() == [
        f"{library} is not installed; pip install 'veritrail-record[{extra}]'"
        for extra, library in needs.items()
    ]


IMPORT_TIME = """
import sys, time
sys.path.append(sys.argv[1])
begin = time.process_time()
exec(sys.argv[2])
print(time.process_time() - begin, file=sys.stderr)
"""


@pytest.mark.slow
def test_it_is_imported_sooner_than_a_model_of_pydantic_can_be_declared():
    import pydantic

    places = {
        "import veritrail_record": FOLDER,
        "import pydantic; pydantic.BaseModel": Path(pydantic.__file__).parents[1],
    }
    best = {
        code: min(float(alone(IMPORT_TIME, place, code)) for _ in range(3))
        for code, place in places.items()
    }
    ours, theirs = best.values()
    assert ours < theirs


def test_names_and_limits_are_those_that_the_reader_of_process_files_has():
    for name in ("FORMAT", "RECORDED", "PUBLIC_ID", "MAX_NODE_ID", "MAX_STAGE", "MAX_DEPTH"):
        assert getattr(ours, name) == getattr(contract, name)
    schema = process_file_schema()
    assert schema["properties"]["format"]["const"] == ours.FORMAT
    for depth in (ours.MAX_DEPTH, ours.MAX_DEPTH + 1, ours.MAX_DEPTH + 2):
        value: object = "text"
        for level in range(depth):
            value = [value] if level % 2 else {"key": value}
        assert ours.is_deeper_than(value) == contract.is_deeper_than(value)
        assert ours.is_deeper_than(value) == (depth > ours.MAX_DEPTH)


def test_both_distributions_have_one_version():
    versions = [
        tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]["version"]
        for folder in (FOLDER, FOLDER.parent)
    ]
    assert versions[0] == versions[1]


def test_the_product_hands_on_the_names_of_the_recorder():
    assert veritrail_graph.record is veritrail_record.record
    assert veritrail_graph.recorded_step is veritrail_record.recorded_step
    assert {"record", "recorded_step"} <= set(dir(veritrail_graph))
    from veritrail_graph.integrations.openai import instrument

    from veritrail_record import openai

    assert instrument is openai.instrument


PRODUCT = """
import sys
sys.path.append(sys.argv[1])
import veritrail_graph as vt
assert "record" not in dir(vt)
for code in ("vt.record", "from veritrail_graph.integrations.langchain import RecordingHandler"):
    try:
        exec(code)
    except ImportError as error:
        print(error, file=sys.stderr)
"""


def test_without_it_the_product_says_in_a_line_how_to_install_it():
    root = Path(veritrail_graph.__file__).parents[1]
    line = "the recorder is not installed; pip install veritrail-record"
    assert alone(PRODUCT, root).splitlines() == [line, line]
