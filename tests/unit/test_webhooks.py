"""Webhooks: what is sent, how it is signed, when again, and where never."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import time
from collections.abc import Iterator

import pytest
import sqlalchemy as sa
from fakes.service_databases import IN_BOTH
from fakes.webhook_receiver import Receiver

from veritrail_graph.api.auth.database import ServiceDatabase
from veritrail_graph.api.jobs import worker as working
from veritrail_graph.api.jobs.model import Ended, Work
from veritrail_graph.api.jobs.storage import changes, upkeep, webhook_messages
from veritrail_graph.api.jobs.storage.events import EventLog
from veritrail_graph.api.jobs.storage.repository import JobRepository
from veritrail_graph.api.jobs.storage.tables import webhook_messages as messages
from veritrail_graph.api.jobs.worker import Deliveries
from veritrail_graph.api.requests.verify import VerifyRequest
from veritrail_graph.api.settings import Settings
from veritrail_graph.api.webhooks.message import GATE_FAILED, Message
from veritrail_graph.api.webhooks.target import NotDelivered, Target, send_now
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model import Status, Usage

SECRET = "a secret of the receiver, long enough"
SOON = 0.001


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as found:
        yield found


def target(url: str, *, private: bool = False) -> Target:
    settings = Settings(webhook_url=url, webhook_secret=SECRET, webhook_private=private)
    found = Target.of(settings)
    assert found is not None
    return found


def end_job(service: ServiceDatabase, *, has_webhook: bool = True, is_local: bool = False) -> None:
    """Submit a job and let its only claim fail."""
    log = EventLog(service, has_webhook=has_webhook)
    job = {
        "job_id": "j-1",
        "run_id": "r-1",
        "process_id": "p",
        "content_hash": "h",
        "status": "queued",
        "key_id": "",
        "name": "a person",
        "input_hash": "i",
        "request": VerifyRequest(process_id="p").to_json(),
        "settings": "{}",
        "header": "{}",
        "is_extracted": True,
        "is_cancelled": False,
        "is_local": is_local,
        "created_at": "2026-11-21T00:00:00Z",
    }
    claim = {"verification_id": "v0", "claim_id": "k0", "status": "queued", "reused": False}
    work = Work("j-1", "v0", 1)
    ended = Ended(work, Status.FAILED, "a text of a model", Usage(), {"status": "failed"})
    service.run_now(lambda one: changes.insert(one, job, [claim], log))
    service.run_now(lambda one: changes.begin(one, "w", [work], log))
    service.run_now(lambda one: changes.finish(one, "w", [ended], log))


def send_due(service: ServiceDatabase, url: str) -> None:
    """Let a worker that just started send what is due."""
    repository = JobRepository(service, EventLog(service), "w", waits=False)
    asyncio.run(Deliveries(repository, target(url), first_wait=SOON).send_due())
    time.sleep(5 * SOON)


def due(service: ServiceDatabase) -> list[float | None]:
    return list(service.read_now(lambda one: one.execute(sa.select(messages.c.due)).scalars()))


def test_the_end_of_a_job_is_sent_once_signed_and_without_texts(
    service: ServiceDatabase, receiver: Receiver
) -> None:
    end_job(service)
    send_due(service, receiver.url)
    send_due(service, receiver.url)
    (found,) = receiver.received
    body = json.loads(found.body)
    assert body.keys() == {"type", "timestamp", "data"}
    assert body["type"] == "job.finished"
    assert body["data"] == {
        "job_id": "j-1",
        "run_id": "r-1",
        "process_id": "p",
        "kind": "verification",
        "status": "failed",
        "counts": {"failed": 1},
    }
    sent_at = found.headers["webhook-timestamp"]
    assert abs(int(sent_at) - time.time()) < 60
    signed = f"{found.headers['webhook-id']}.{sent_at}.{found.body}".encode()
    digest = hmac.new(SECRET.encode(), signed, hashlib.sha256).digest()
    assert found.headers["webhook-signature"] == f"v1,{base64.b64encode(digest).decode()}"
    assert SECRET not in found.body + str(found.headers)
    assert due(service) == [None]


def test_a_message_that_was_not_accepted_is_sent_again_under_its_id(
    service: ServiceDatabase, receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    receiver.statuses = [503, 302]
    end_job(service)
    for _ in range(4):
        send_due(service, receiver.url)
    assert len(receiver.received) == 3
    assert len({one.headers["webhook-id"] for one in receiver.received}) == 1
    assert len({one.body for one in receiver.received}) == 1
    assert "the receiver answered 503; it is sent again" in caplog.text
    assert SECRET not in caplog.text
    assert receiver.url not in caplog.text


def test_a_message_is_given_up_in_the_end(
    service: ServiceDatabase,
    receiver: Receiver,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(working, "WEBHOOK_ATTEMPTS", 2)
    receiver.statuses = [500] * 9
    end_job(service)
    for _ in range(4):
        send_due(service, receiver.url)
    assert len(receiver.received) == 2
    assert due(service) == [None]
    assert "it is given up" in caplog.text


@IN_BOTH
def test_one_worker_takes_a_message_and_another_only_where_that_one_was_killed(
    service: ServiceDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhook_messages, "TAKEN_SECONDS", 0.2)
    end_job(service)
    (first,) = service.run_now(webhook_messages.take)
    assert service.run_now(webhook_messages.take) == []
    time.sleep(0.25)
    (second,) = service.run_now(webhook_messages.take)
    assert (first.message, first.attempts + 1) == (second.message, second.attempts)
    service.run_now(lambda one: upkeep.forget(one, ["j-1"]))
    assert due(service) == []


@pytest.mark.parametrize(("has_webhook", "is_local"), [(False, False), (True, True)])
def test_jobs_of_commands_and_of_services_without_a_webhook_send_nothing(
    service: ServiceDatabase, *, has_webhook: bool, is_local: bool
) -> None:
    end_job(service, has_webhook=has_webhook, is_local=is_local)
    assert due(service) == []


def test_a_command_sends_a_few_times_and_then_says_why_not(receiver: Receiver) -> None:
    message = Message.of(GATE_FAILED, {"process_id": "p"})
    receiver.statuses = [500]
    send_now(target(receiver.url), message, (SOON,))
    assert [one.headers["webhook-id"] for one in receiver.received] == [message.message_id] * 2
    receiver.statuses = [500, 500]
    with pytest.raises(NotDelivered, match="answered 500"):
        send_now(target(receiver.url), message, (SOON,))


@pytest.mark.parametrize(
    ("url", "secret", "why"),
    [
        ("http://example.org/x", SECRET, "needs https"),
        ("ftp://example.org/x", SECRET, "is no address"),
        ("https://me:pass@example.org/x", SECRET, "user name or password"),
        ("https://example.org/x#y", SECRET, "fragment"),
        ("https://example.org/x", None, "needs a secret"),
        ("https://example.org/x", "short", "too short"),
        ("https://example.org/x", "whsec_?", "no Base64"),
    ],
)
def test_a_faulty_setting_is_refused_without_repeating_it(
    url: str, secret: str | None, why: str
) -> None:
    with pytest.raises(InputError, match=why) as caught:
        Target.of(Settings(webhook_url=url, webhook_secret=secret))
    assert "pass" not in str(caught.value).replace("password", "")
    assert url not in str(caught.value)
    assert "short" not in str(caught.value).replace("too short", "")


@pytest.mark.parametrize(
    ("url", "private"),
    [
        ("https://10.0.0.1/", False),
        ("https://[fd00::1]/", False),
        ("https://[::ffff:192.168.0.1]/", False),
        ("https://100.64.0.1/", False),
        ("https://169.254.169.254/", True),  # where clouds keep keys of machines
        ("https://0.0.0.0/", True),
        ("https://224.0.0.1/", True),
        ("http://1.1.1.1/", True),
    ],
)
def test_no_connection_is_made_to_an_address_that_is_not_allowed(
    url: str, *, private: bool
) -> None:
    with pytest.raises(NotDelivered, match=r"not public|needs https"):
        target(url, private=private).send(Message.of(GATE_FAILED, {}), 0.1)


def test_neither_address_nor_secret_is_shown() -> None:
    settings = Settings(webhook_url="http://127.0.0.1/hidden-part", webhook_secret=SECRET)
    shown = f"{settings!r} {Target.of(settings)!r}"
    assert SECRET not in shown
    assert "hidden-part" not in shown
