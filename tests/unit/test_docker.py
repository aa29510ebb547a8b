"""The compose file, the image's recipe and the file of secrets, without Docker."""

from __future__ import annotations

import re
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from neo4j_server.launcher import RELEASES

ROOT = Path(__file__).resolve().parents[2]
COMPOSE = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
SERVICES: dict[str, dict[str, Any]] = yaml.safe_load(COMPOSE)["services"]
ENV_FILE = ROOT / "examples" / "env_file.py"


def test_the_compose_file_follows_the_compose_specification() -> None:
    from compose_spec import PyCompose

    filled = re.sub(r"\$\{\w+:\?[^}]*\}", "a-secret", COMPOSE)  # as compose fills it
    filled = re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", filled)
    assert "$" not in filled
    assert sorted(PyCompose.from_yaml(filled).service_names()) == ["api", "neo4j"]
    with pytest.raises(ValueError, match="portz"):
        PyCompose.from_yaml(filled.replace("    ports:\n", "    portz:\n", 1))


def test_both_neo4j_are_the_very_ones_of_the_tests() -> None:
    # A tag beside a digest counts for nothing, and is no image to the compose specification.
    told = " ".join(re.findall(r"^    # (.*)$", COMPOSE, re.MULTILINE))
    current, lts = RELEASES["current"].version, RELEASES["lts"].version
    assert f"{current}-community. " in told
    assert re.search(rf"{lts}-community, is neo4j@sha256:[0-9a-f]{{64}}\.", told)


def test_images_of_others_are_pinned_by_digest() -> None:
    froms = re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE)
    assert len(froms) == 2
    assert len(set(froms)) == 1
    neo4j = re.sub(r"^\$\{NEO4J_IMAGE:-(.*)\}$", r"\1", SERVICES["neo4j"]["image"])
    for image in (*froms, neo4j):
        assert re.fullmatch(r"[\w.:-]+@sha256:[0-9a-f]{64}", image), image


def test_the_image_installs_wheels_by_hash_and_builds_with_nothing_from_elsewhere() -> None:
    runs = re.findall(r"^RUN (.*)$", DOCKERFILE, re.MULTILINE)
    parts = [part for run in runs for part in run.split("&&")]
    steps = [part for part in parts if re.search(r"\bpip (install|wheel)\b", part)]
    assert len(steps) == 4
    for step in steps:
        by_hash = "--require-hashes" in step and "--only-binary :all:" in step
        assert by_hash or "--no-index" in step, step
        assert "pip wheel" not in step or "--no-build-isolation" in step


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_every_service_is_reached_from_this_machine_only_and_watched(name: str) -> None:
    service = SERVICES[name]
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    assert service["healthcheck"]["test"][0] == "CMD"
    assert service["stop_grace_period"]
    assert "no-new-privileges:true" in service["security_opt"]
    assert service["cap_drop"] == ["ALL"]
    assert "cap_add" not in service
    assert not service["user"].startswith("0")
    assert re.fullmatch(r"\$\{\w+_MEMORY:-\dG\}", service["mem_limit"])
    assert 100 <= service["pids_limit"] <= 1000
    named = yaml.safe_load(COMPOSE)["volumes"]
    assert all(volume.split(":")[0] in named for volume in service["volumes"])


def test_the_service_writes_nowhere_but_to_its_volume_and_is_not_root() -> None:
    api = SERVICES["api"]
    assert api["read_only"] is True
    assert api["user"] == "10001:10001"
    assert re.search(r"^USER 10001:10001$", DOCKERFILE, re.MULTILINE)
    assert DOCKERFILE.count("\nFROM ") == 2


def test_secrets_come_as_files_and_stand_in_no_environment(tmp_path: Path) -> None:
    assert not re.findall(r"\$\{\w*(?:PASS|KEY|SECRET|AUTH)", COMPOSE)
    files = {name: one["file"] for name, one in yaml.safe_load(COMPOSE)["secrets"].items()}
    for service in SERVICES.values():
        for name, value in service["environment"].items():
            if re.search(r"PASS|KEY|AUTH", name):
                assert name.endswith(("_FILE", "_PATH"))
                assert value.removeprefix("/run/secrets/") in service["secrets"]
        assert set(service["secrets"]) <= set(files)
    written = values(make_env(tmp_path / ".env"))
    texts = {name: (tmp_path / path).read_text(encoding="utf-8") for name, path in files.items()}
    assert texts == {
        "neo4j_auth": f"neo4j/{written['NEO4J_PASSWORD']}",
        "neo4j_password": written["NEO4J_PASSWORD"],
        "veritrail_api_key": written["VERITRAIL_API_KEY"],
    }
    offered = set(re.findall(r"\$\{(\w+):-", COMPOSE))
    assert offered <= set(re.findall(r"^# (\w+)=", (tmp_path / ".env").read_text(), re.MULTILINE))


def test_the_secrets_are_random_private_and_never_written_over(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    first, second = make_env(tmp_path / "a" / ".env"), make_env(tmp_path / "b" / ".env")
    assert stat.S_IMODE(first.stat().st_mode) == 0o600
    folder = tmp_path / "a" / ".secrets"
    # Nobody else enters the folder; the users of the containers read the files that they are given.
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(one.stat().st_mode) for one in folder.iterdir()} == {0o444}
    assert not set(values(first).values()) & set(values(second).values())
    assert all(re.fullmatch(r"[\w-]{32,}", value) for value in values(first).values())
    before = first.read_bytes(), [one.read_bytes() for one in sorted(folder.iterdir())]
    make_env(first)
    assert before == (first.read_bytes(), [one.read_bytes() for one in sorted(folder.iterdir())])


def test_secrets_of_an_older_file_become_files(tmp_path: Path) -> None:
    path = tmp_path / ".env"
    path.write_text("NEO4J_PASSWORD=old\nVERITRAIL_API_KEY=key\n", encoding="utf-8")
    make_env(path)
    assert (tmp_path / ".secrets" / "neo4j_auth").read_text() == "neo4j/old"


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    command = [sys.executable, str(ENV_FILE), "--file", str(tmp_path / "no" / ".env")]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert "cannot be written" in ended.stderr
    assert "Traceback" not in ended.stderr


def copied() -> list[tuple[str, str]]:
    """Source and target of what the image is built from."""
    return [
        (source, target)
        for line in re.findall(r"^COPY (?!--from)(.*)$", DOCKERFILE, re.MULTILINE)
        for *sources, target in [line.split()]
        for source in sources
    ]


def test_what_the_image_copies_is_there_and_let_through() -> None:
    sources = [source for source, _ in copied()]
    let_through = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert let_through[1] == "*"
    assert all((ROOT / source).exists() and f"!{source}" in let_through for source in sources)


def test_every_link_of_the_package_leads_to_what_the_image_copies() -> None:
    """The package is links to the folders and to the samples: the wheel holds what they lead to."""
    there = {Path("/src") / source: Path(target) for source, target in copied()}
    assert all(source == target for source, target in there.items() if target.name == source.name)
    links = [one for one in (ROOT / "veritrail_graph").rglob("*") if one.is_symlink()]
    assert len(links) > 6
    for link in links:
        assert Path("/src") / link.resolve().relative_to(ROOT) in there, link


def test_the_image_installs_what_the_lock_pins_without_tools_and_engine() -> None:
    def pinned(name: str) -> dict[str, str]:
        text = (ROOT / name).read_text(encoding="utf-8")
        return dict(re.findall(r"^([a-z0-9-]+)==(\S+)", text, re.MULTILINE))

    runtime, everything = pinned("requirements-runtime.lock"), pinned("requirements.lock")
    assert runtime.items() <= everything.items(), "run `make lock`"
    assert {"neo4j", "fastapi", "uvicorn", "openai", "nltk", "pydantic"} <= runtime.keys()
    assert not {"ruff", "pytest", "mypy", "arcadedb"} & runtime.keys()


def make_env(path: Path) -> Path:
    command = [sys.executable, str(ENV_FILE), "--file", str(path)]
    subprocess.run(command, check=True, capture_output=True)
    return path


def values(path: Path) -> dict[str, str]:
    return dict(re.findall(r"^(\w+)=(.+)$", path.read_text(encoding="utf-8"), re.MULTILINE))
