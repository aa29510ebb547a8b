"""Readers, while the process that they read is replaced, removed and verified all the time."""

from __future__ import annotations

import json
import os
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest
from acceptance.command import Veritrail
from acceptance.homes import a_home
from fakes.service_process import serving

pytestmark = [pytest.mark.engine, pytest.mark.soak, pytest.mark.timeout(3_600)]

SECONDS = float(os.environ.get("VERITRAIL_SOAK_SECONDS", "120"))
NODES = {"odd": 39, "even": 52}
CHANGES = (404, 409)
"""What a reader may be told of a process that is removed, or changes at every attempt."""
ALWAYS, SOMETIMES = "always-there", "sometimes-there"
OF_A_PROCESS = (
    "check_claims", "check_counts", "check_edges", "check_links", "check_reviews", "check_roles",
    "check_trails",
)  # fmt: skip
OF_ALL = ("check_loose_ends", "check_orphans")


def content(word: str) -> bytes:
    """A version of a process: every text of it holds the word."""
    nodes = [{"node_id": f"{word}{n}", "text": f"Gauge {n} {word}."} for n in range(NODES[word])]
    ids = [node["node_id"] for node in nodes]
    claims = [
        {"claim_id": f"{word}-k{n}", "text": f"Gauge {n} {word}.", "node_id": ids[-1]}
        for n in range(4)
    ]
    return json.dumps(
        {
            "format": "veritrail.process/1",
            "process_id": "named-by-the-call",
            "nodes": nodes,
            "edges": [{"source": name, "target": ids[-1]} for name in ids[:-1]],
            "claims": claims,
        }
    ).encode()


CONTENT = {word: content(word) for word in NODES}


class Race:
    """What callers did at once, and every answer that was wrong.

    Attributes:
        answers: How often what was asked had which status.
        wrong: Answers that no version of the process would give.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._until = time.monotonic() + SECONDS
        self._lock = threading.Lock()
        self.answers: Counter[tuple[str, int]] = Counter()
        self.wrong: list[str] = []

    def run(self, *steps: Callable[[httpx2.Client, random.Random], None]) -> None:
        """Let each caller take its step again and again until the time is over."""
        threads = [
            threading.Thread(target=self._repeat, args=(step, seed))
            for seed, step in enumerate(steps)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _repeat(self, step: Callable[[httpx2.Client, random.Random], None], seed: int) -> None:
        chance = random.Random(seed)
        with httpx2.Client(base_url=self._url, timeout=120, trust_env=False) as client:
            while time.monotonic() < self._until:
                try:
                    step(client, chance)
                except Exception as error:  # noqa: BLE001  # it is told at the end
                    self.note(step.__name__, 0, repr(error))

    def note(self, what: str, status: int, wrong: str | None = None) -> None:
        """Count an answer, and keep what is wrong with it."""
        with self._lock:
            self.answers[what, status] += 1
            if wrong is not None:
                self.wrong.append(f"{what} {status}: {wrong[:300]}")

    def read(
        self, client: httpx2.Client, process: str, path: str, wrong: Callable[[Any], str | None]
    ) -> None:
        """Ask for something of a process, and look whether one version would answer so."""
        what, _, _ = path.partition("?")
        found = client.get(path.format(process))
        if found.status_code == 200:
            self.note(what, 200, wrong(found))
        elif found.status_code == 409 or (found.status_code == 404 and process == SOMETIMES):
            self.note(what, found.status_code)
        else:
            self.note(what, found.status_code, found.text)


def one_version(ids: set[str]) -> str | None:
    """Why node_ids are not those of a whole version; None: they are."""
    whole = [{f"{word}{n}" for n in range(count)} for word, count in NODES.items()]
    return None if ids in whole else f"{len(ids)} nodes: {sorted(ids)[:3]} …"


def one_word(text: str) -> str | None:
    """Why a text holds words of no version, or of two; None: it holds those of one."""
    found = [word for word in NODES if f" {word}." in text]
    return None if len(found) == 1 else f"words of {found}: {text[:200]}"


def nodes_of(answer: Any) -> str | None:
    return one_version({one["node_id"] for one in answer.json()["nodes"]})


def lines_of(answer: Any) -> str | None:
    lines = [json.loads(line) for line in answer.text.splitlines()]
    ids = {line["node"]["node_id"] for line in lines if "node" in line}
    edges = sum("edge" in line for line in lines)
    return one_version(ids) or (None if edges == len(ids) - 1 else f"{edges} edges of {len(ids)}")


def rows_of(answer: Any) -> str | None:
    rows = answer.text.removeprefix("\ufeff").splitlines()[1:]
    return one_version({row.partition(",")[0] for row in rows})


def claims_of(answer: Any) -> str | None:
    claims = answer.json()["claims"]
    words = {one["claim_id"].partition("-")[0] for one in claims}
    return None if len(claims) == 4 and len(words) == 1 else f"{len(claims)} claims of {words}"


def text_of(answer: Any) -> str | None:
    return one_word(answer.text)


READS = (
    ("/v1/processes/{}/nodes?limit=1000", nodes_of),
    ("/v1/processes/{}/claims", claims_of),
    ("/v1/processes/{}/export?format=process", lines_of),
    ("/processes/{}", text_of),
    ("/processes/{}/nodes.csv", rows_of),
    ("/processes/{}/report.html", text_of),
)


@pytest.fixture(params=["embedded", "neo4j"])
def home(request: pytest.FixtureRequest) -> Iterator[Veritrail]:
    with a_home() as veritrail:
        if request.param == "neo4j":
            veritrail = veritrail.on(request.getfixturevalue("neo4j_server"))
        yield veritrail


def test_every_answer_is_that_of_one_version(home: Veritrail) -> None:
    with serving(home, child=True) as service:
        service.until_ready()
        race = Race(service.url)

        def upload(client: httpx2.Client, process: str, word: str) -> None:
            asked = {"process_id": process, "replace": "true", "force": "true"}
            sent = {"Content-Type": "application/json"}
            found = client.post("/v1/processes", params=asked, content=CONTENT[word], headers=sent)
            is_told = found.status_code in (200, 201, 409)
            race.note("upload", found.status_code, None if is_told else found.text)

        def replace(client: httpx2.Client, chance: random.Random) -> None:
            upload(client, chance.choice((ALWAYS, SOMETIMES)), chance.choice(list(NODES)))

        def delete(client: httpx2.Client, chance: random.Random) -> None:
            time.sleep(chance.uniform(0.0, 0.6))
            found = client.delete(f"/v1/processes/{SOMETIMES}", params={"force": "true"})
            is_told = found.status_code in (204, *CHANGES)
            race.note("delete", found.status_code, None if is_told else found.text)

        def read(client: httpx2.Client, chance: random.Random) -> None:
            path, wrong = chance.choice(READS)
            race.read(client, chance.choice((ALWAYS, SOMETIMES)), path, wrong)

        def listed(client: httpx2.Client, chance: random.Random) -> None:
            time.sleep(chance.uniform(0.0, 0.1))
            found = client.get("/v1/processes")
            names = [one["process_id"] for one in found.json().get("processes", ())]
            is_there = found.status_code == 200 and ALWAYS in names
            race.note("list", found.status_code, None if is_there else found.text)

        def verify(client: httpx2.Client, chance: random.Random) -> None:
            time.sleep(chance.uniform(0.0, 1.0))
            asked = {"process_id": chance.choice((ALWAYS, SOMETIMES))}
            found = client.post("/v1/verifications", json=asked)
            is_told = found.status_code in (200, 202, *CHANGES)
            race.note("verify", found.status_code, None if is_told else found.text)

        with httpx2.Client(base_url=service.url, timeout=120, trust_env=False) as client:
            upload(client, ALWAYS, "odd")
        race.run(replace, replace, delete, read, read, read, listed, verify)
    for (what, status), count in sorted(race.answers.items()):
        print(f"{what:45} {status} {count:6,}")
    print(f"{len(race.wrong)} of {sum(race.answers.values()):,} answers are wrong")
    print(*Counter(race.wrong).most_common(20), sep="\n")
    assert not race.wrong
    assert home("db", "clean", "--json").json == {"cleaned": []}
    names = [one["process_id"] for one in home("list", "--json").json["processes"]]
    checks = [(check, name) for check in OF_A_PROCESS for name in names]
    for check in [*checks, *((check,) for check in OF_ALL)]:
        assert home("query", *check, "--json").json["rows"] == [], check
