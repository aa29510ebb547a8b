"""What the tests of jobs over REST share: submitting, watching, waiting, reading verdicts."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx2
from acceptance.model_fixtures import outcome

PATIENCE = 120.0
FINAL = ("succeeded", "failed", "cancelled")


@dataclass(frozen=True)
class Told:
    """One event as a client got it."""

    seq: int
    kind: str
    data: dict[str, Any]
    at: float


@dataclass
class Calls:
    """Calls the service as a program of a user's does; where it is down, it asks again.

    Attributes:
        url: Where the service is now.
        headers: Sent with every request.
    """

    url: str
    headers: dict[str, str] = field(default_factory=dict)

    def ask(self, method: str, path: str, **more: Any) -> httpx2.Response:
        headers = {**self.headers, **more.pop("headers", {})}
        return httpx2.request(method, self.url + path, headers=headers, timeout=30, **more)

    def patiently(self, method: str, path: str, **more: Any) -> httpx2.Response:
        """Ask until the service is there."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                answer = self.ask(method, path, **more)
                if answer.status_code != 503:
                    return answer
            except httpx2.TransportError:
                pass
            assert time.monotonic() < deadline, f"{method} {path}: the service did not come back"
            time.sleep(0.2)

    def submit(self, process_id: str, key: str | None = None, **body: Any) -> str:
        headers = {"Idempotency-Key": key} if key else {}
        answer = self.patiently(
            "POST", "/v1/verifications", json={"process_id": process_id, **body}, headers=headers
        )
        assert answer.status_code == 202, answer.text
        job_id: str = answer.json()["job_id"]
        assert answer.headers["location"] == f"/v1/jobs/{job_id}"
        return job_id

    def job(self, job_id: str) -> dict[str, Any]:
        answer = self.patiently("GET", f"/v1/jobs/{job_id}")
        assert answer.status_code == 200, answer.text
        told: dict[str, Any] = answer.json()
        return told

    def wait(
        self, job_id: str, *statuses: str, seconds: float = PATIENCE, step: float = 0.1
    ) -> dict[str, Any]:
        """Wait until a job has a status; default: until nothing of it is left to do."""
        deadline = time.monotonic() + seconds
        while (job := self.job(job_id))["status"] not in (statuses or FINAL):
            assert time.monotonic() < deadline, f"{job_id} did not end: {job}"
            time.sleep(step)
        return job

    def verifications(self, job: dict[str, Any]) -> list[dict[str, Any]]:
        found = []
        for one in job["verification_ids"]:
            answer = self.patiently("GET", f"/v1/verifications/{one}")
            assert answer.status_code == 200, answer.text
            found.append(answer.json())
        return found

    def outcome(self, job: dict[str, Any]) -> Any:
        """Verdict, error stages and evidence of every claim of a job."""
        return outcome({"verifications": self.verifications(job)})

    def listed(self, job_id: str, **params: Any) -> list[Told]:
        """Events by the page."""
        found: list[Told] = []
        while True:
            answer = self.patiently(
                "GET",
                f"/v1/jobs/{job_id}/events",
                params=params,
                headers={"Accept": "application/json"},
            )
            assert answer.status_code == 200, answer.text
            page = answer.json()
            found += [Told(one["seq"], one["event"], one["data"], 0.0) for one in page["events"]]
            if page["nextCursor"] is None:
                return found
            params = {**params, "cursor": page["nextCursor"]}

    def stream(self, job_id: str, after: int = 0, read: float = 60.0) -> Iterator[Told]:
        """Events as they come, until the stream ends in whatever way."""
        headers = {**self.headers, "Accept": "text/event-stream"}
        if after:
            headers["Last-Event-ID"] = str(after)
        timeout = httpx2.Timeout(30, read=read)
        address = f"{self.url}/v1/jobs/{job_id}/events"
        with httpx2.stream("GET", address, headers=headers, timeout=timeout) as answer:
            assert answer.status_code in (200, 204), answer.read()
            yield from told_by(answer.iter_lines())

    def followed(self, job_id: str, after: int = 0, seconds: float = PATIENCE) -> list[Told]:
        """Everything to the end of the job, however often the stream is lost."""
        found: list[Told] = []
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            try:
                for one in self.stream(job_id, found[-1].seq if found else after):
                    found.append(one)  # noqa: PERF402  # what came before a loss stays
            except (httpx2.TransportError, AssertionError):
                time.sleep(0.2)
                continue
            if not found or found[-1].kind == "job.finished":
                return found
        raise AssertionError(f"the job did not end; {len(found)} events")


def told_by(lines: Iterator[str]) -> Iterator[Told]:
    """The events in the lines of a stream, read as the specification says."""
    fields: dict[str, str] = {}
    for line in lines:
        if line:
            name, _, value = line.partition(":")
            if name:
                fields[name] = value.removeprefix(" ")
        elif "data" in fields:
            data = json.loads(fields["data"])
            yield Told(int(fields["id"]), fields["event"], data, time.monotonic())
            fields = {}


def by_claim(events: list[Told]) -> dict[str, list[str]]:
    """The kinds of events of every claim, in order."""
    found: dict[str, list[str]] = {}
    for one in events:
        if "claim_id" in one.data:
            found.setdefault(one.data["claim_id"], []).append(one.kind)
    return found


def timed(work: Callable[[], Any]) -> float:
    """Seconds that something takes."""
    began = time.monotonic()
    work()
    return time.monotonic() - began
