"""Webhooks: what is sent, how it is signed, when again, and where never."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import socket
import threading
import time
from collections.abc import Iterator
from functools import partial
from ipaddress import ip_address

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
from veritrail_graph.api.work.webhooks.addresses import is_never_allowed, is_public
from veritrail_graph.api.work.webhooks.message import GATE_FAILED, Message
from veritrail_graph.api.work.webhooks.target import NotDelivered, Target, send_now
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model import Status, Usage

SECRET = "a secret of the receiver, long enough"
SOON = 0.001
PATIENCE = 20.0
MESSAGE = Message.of(GATE_FAILED, {})


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as found:
        yield found


def target(url: str, *, private: bool = False) -> Target:
    settings = Settings(webhook_url=url, webhook_secret=SECRET, webhook_private=private)
    found = Target.of(settings)
    assert found is not None
    return found


def end_job(
    service: ServiceDatabase,
    *,
    has_webhook: bool = True,
    is_local: bool = False,
    job_id: str = "j-1",
) -> None:
    """Submit a job and let its only claim fail."""
    log = EventLog(service, has_webhook=has_webhook)
    job = {
        "job_id": job_id,
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
    claim = {
        "verification_id": f"v-{job_id}",
        "claim_id": "k0",
        "status": "queued",
        "reused": False,
    }
    work = Work(job_id, f"v-{job_id}", 1)
    ended = Ended(work, Status.FAILED, "a text of a model", Usage(), {"status": "failed"})
    service.run_now(lambda one: changes.insert(one, job, [claim], log))
    service.run_now(lambda one: changes.begin(one, "w", [work], log))
    service.run_now(lambda one: changes.finish(one, "w", [ended], log))


def deliveries_to(service: ServiceDatabase, url: str) -> Deliveries:
    repository = JobRepository(service, EventLog(service), "w", waits=False)
    return Deliveries(repository, target(url), first_wait=SOON)


def send_due(service: ServiceDatabase, url: str) -> None:
    """Let a worker that just started send what is due."""

    async def work() -> None:
        deliveries = deliveries_to(service, url)
        await deliveries.send_due()
        await deliveries.close(PATIENCE)

    asyncio.run(work())
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
    take = partial(webhook_messages.take, most=10)
    end_job(service)
    (first,) = service.run_now(take)
    assert service.run_now(take) == []
    time.sleep(0.25)
    (second,) = service.run_now(take)
    assert (first.message, first.attempts + 1) == (second.message, second.attempts)
    service.run_now(lambda one: upkeep.forget(one, ["j-1"]))
    assert due(service) == []


@pytest.mark.parametrize(("has_webhook", "is_local"), [(False, False), (True, True)])
def test_jobs_of_commands_and_of_services_without_a_webhook_send_nothing(
    service: ServiceDatabase, *, has_webhook: bool, is_local: bool
) -> None:
    end_job(service, has_webhook=has_webhook, is_local=is_local)
    assert due(service) == []


def test_a_receiver_that_trickles_is_left_and_holds_back_no_other_message(
    service: ServiceDatabase, receiver: Receiver
) -> None:
    async def work() -> None:
        deliveries = deliveries_to(service, receiver.url)
        receiver.trickling = 3
        for number in range(5):
            end_job(service, job_id=f"j-{number}")
            await deliveries.send_due()
        await deliveries.close(0.5)

    asyncio.run(work())
    assert len(receiver.received) == 5
    assert [one is None for one in due(service)].count(True) == 2  # the others are sent again
    receiver.trickling = 1
    with pytest.raises(NotDelivered, match=r"no whole answer within 0\.2 seconds"):
        asyncio.run(target(receiver.url).send(MESSAGE, 0.2))


def test_a_name_that_does_not_resolve_in_time_holds_up_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    released = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: released.wait(PATIENCE))
    with pytest.raises(NotDelivered, match="no whole answer"):
        asyncio.run(target("https://example.org/").send(MESSAGE, 0.1))
    assert not released.is_set()
    released.set()


@pytest.mark.parametrize("answer", [b"", b"SSH-2.0-x\r\n", b"HTTP/1.1 100 Continue\r\n\r\n"])
def test_what_is_no_answer_is_told_in_one_line(answer: bytes) -> None:
    def answer_once() -> None:
        line, _ = listening.accept()
        with line:
            line.recv(100_000)
            line.sendall(answer)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=answer_once)
        thread.start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/"
        with pytest.raises(NotDelivered, match="did not answer in HTTP"):
            asyncio.run(target(url).send(MESSAGE))
        thread.join()


def test_a_command_sends_a_few_times_and_then_says_why_not(receiver: Receiver) -> None:
    message = Message.of(GATE_FAILED, {"process_id": "p"})
    receiver.statuses = [500]
    asyncio.run(send_now(target(receiver.url), message, (SOON,)))
    assert [one.headers["webhook-id"] for one in receiver.received] == [message.message_id] * 2
    receiver.statuses = [500, 500]
    with pytest.raises(NotDelivered, match="answered 500"):
        asyncio.run(send_now(target(receiver.url), message, (SOON,)))


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


PUBLIC = ["1.1.1.1", "2606:4700::1", "::ffff:1.1.1.1", "64:ff9b::101:101"]
INSIDE = ["10.0.0.1", "fd00::1", "::ffff:192.168.0.1", "100.64.0.1", "64:ff9b::a00:1"]
NEVER = [
    "0.0.0.0",
    "224.0.0.1",
    "ff02::1",
    "fe80::1%eth0",
    # where clouds keep keys of machines
    "169.254.169.254",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
    "fd00:ec2::254",
    "fd20:ce::254",
    # the same, or a private address, in another form
    "::ffff:169.254.169.254",
    "::ffff:0:a9fe:a9fe",
    "::169.254.169.254",
    "::10.0.0.1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b::6464:64c8",
    "64:ff9b:1::a9fe:a9fe",
    "2002:a9fe:a9fe::",
    "2002:a00:1::1",
    "2001:0:a9fe:a9fe::1",
    "2001:db8::5efe:a9fe:a9fe",
    "fec0::1",
]


@pytest.mark.parametrize(
    ("address", "private"), [*((one, False) for one in INSIDE), *((one, True) for one in NEVER)]
)
def test_no_connection_is_made_to_an_address_that_is_not_allowed(
    address: str, *, private: bool
) -> None:
    url = f"https://[{address}]/" if ":" in address else f"https://{address}/"
    with pytest.raises(NotDelivered, match="not public"):
        asyncio.run(target(url, private=private).send(MESSAGE))


def test_public_addresses_are_allowed_also_behind_a_translator() -> None:
    for address in map(ip_address, PUBLIC):
        assert is_public(address)
        assert not is_never_allowed(address)
    assert not any(is_never_allowed(ip_address(one)) for one in INSIDE)


def test_a_public_receiver_needs_tls() -> None:
    with pytest.raises(NotDelivered, match="needs https"):
        asyncio.run(target("http://1.1.1.1/", private=True).send(MESSAGE))


def test_neither_address_nor_secret_is_shown() -> None:
    settings = Settings(webhook_url="http://127.0.0.1/hidden-part", webhook_secret=SECRET)
    shown = f"{settings!r} {Target.of(settings)!r}"
    assert SECRET not in shown
    assert "hidden-part" not in shown
