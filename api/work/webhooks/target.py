"""The target of a webhook, checked: TLS to a public address, or this machine, or as allowed.

The address is the operator's, from a setting or an option, never from a request. All the same its
name may come to mean a machine inside: so the addresses that the name has now are checked, and the
connection goes to the one that was checked. Redirects and proxies are not followed.

A message has one time for everything, from the name of the host to the status of the answer; then
the connection is cut, whatever trickles in.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import socket
import ssl
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

import anyio.to_thread
import h11

from veritrail_graph.api.settings import Settings
from veritrail_graph.api.settings.sources import Setting
from veritrail_graph.api.work.webhooks.addresses import (
    IpAddress,
    is_never_allowed,
    is_public,
    reached,
)
from veritrail_graph.api.work.webhooks.message import Message, headers
from veritrail_graph.graph.errors import InputError, VeriTrailError

SECONDS = 10.0
LEAST_SECRET = 24
_PREFIX = "whsec_"
URL, SECRET, PRIVATE = (
    "VERITRAIL_WEBHOOK_URL",
    "VERITRAIL_WEBHOOK_SECRET",
    "VERITRAIL_WEBHOOK_PRIVATE",
)

WAITS = (1.0, 3.0, 9.0)

_PIECE = 1 << 14


class NotDelivered(VeriTrailError):
    """A message was not accepted; the text names neither address nor secret."""


@dataclass(frozen=True, slots=True)
class Target:
    """A webhook target.

    Attributes:
        url: The address; it may hold a token, and is never shown.
        secret: What messages are signed with.
        allows_private: Whether addresses of private networks, and HTTP without TLS to them, are
            allowed.
    """

    url: str = field(repr=False)
    secret: bytes = field(repr=False)
    allows_private: bool = False

    @classmethod
    def of(cls, settings: Settings, url: str | None = None) -> Target | None:
        """The one that is configured; None: none is.

        Args:
            settings: The settings.
            url: The address, where an option names it.

        Raises:
            InputError: It cannot be one, or there is no secret.
        """
        name = "--webhook" if url else URL
        url = url or settings.webhook_url
        if url is None:
            return None
        _checked(url, name, allows_private=settings.webhook_private)
        if settings.webhook_secret is None:
            raise InputError(f"{name} needs a secret to sign with: set {SECRET}")
        if name == URL:
            signed = Setting.of(SECRET, "webhook_secret")
            settings.check_told(Setting.of(URL, "webhook_url"), signed)
        return cls(url, _secret(settings.webhook_secret), settings.webhook_private)

    async def send(self, message: Message, seconds: float = SECONDS) -> None:
        """Send a message once.

        Args:
            message: The message.
            seconds: How long all of it may take.

        Raises:
            NotDelivered: The receiver did not accept it.
        """
        try:
            async with asyncio.timeout(seconds):
                status = await self._status(message)
        except TimeoutError:
            raise NotDelivered(f"no whole answer within {seconds:g} seconds") from None
        except ssl.SSLError as error:  # its text may name the host
            raise NotDelivered(f"TLS failed: {error.reason}") from None
        except OSError as error:
            raise NotDelivered(error.strerror or type(error).__name__) from None
        except h11.RemoteProtocolError:
            raise NotDelivered("the receiver did not answer in HTTP") from None
        if not 200 <= status < 300:
            raise NotDelivered(f"the receiver answered {status}")

    async def _status(self, message: Message) -> int:
        """Send a message to the address that the name has now; the status of the answer."""
        parts = urlsplit(self.url)
        host = parts.hostname or ""
        address, port = await self._address(parts)
        tls = None
        if parts.scheme == "https":
            tls = await anyio.to_thread.run_sync(ssl.create_default_context)
        reader, writer = await asyncio.open_connection(
            address, port, ssl=tls, server_hostname=host if tls else None
        )
        try:
            writer.write(_request(parts, message, self.secret))
            return await _answered(reader)
        finally:
            writer.transport.abort()  # nothing more of the answer is waited for

    async def _address(self, parts: SplitResult) -> tuple[str, int]:
        """The address and port that the name has now.

        Raises:
            NotDelivered: It has none, or one that is not allowed.
        """
        host = parts.hostname or ""
        port = parts.port or (443 if parts.scheme == "https" else 80)
        found = await _addresses(host, port)
        for address in found:
            self._check(address, parts)
        return str(found[0]), port

    def _check(self, address: IpAddress, parts: SplitResult) -> None:
        """Refuse an address that is not allowed.

        Raises:
            NotDelivered: It is not.
        """
        found: IpAddress = reached(address)
        if found.is_loopback and _is_local(parts.hostname or ""):
            return
        is_open = is_public(address)
        if is_never_allowed(address) or not (is_open or self.allows_private):
            raise NotDelivered("the address of the receiver is not allowed: it is not public")
        if parts.scheme == "http" and is_open:
            raise NotDelivered("a public receiver needs https")


def _request(parts: SplitResult, message: Message, secret: bytes) -> bytes:
    """A request as it goes over the connection."""
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    body = message.body.encode()
    given = {
        "Host": parts.netloc,
        "Connection": "close",
        "Content-Length": str(len(body)),
        **headers(message, secret, int(time.time())),
    }
    sending = h11.Connection(h11.CLIENT)
    request = h11.Request(method="POST", target=path, headers=list(given.items()))
    return b"".join(
        sending.send(event) or b"" for event in (request, h11.Data(data=body), h11.EndOfMessage())
    )


async def _answered(reader: asyncio.StreamReader) -> int:
    """The status of an answer; its body is left where it is."""
    reading = h11.Connection(h11.CLIENT)
    while True:
        event = reading.next_event()
        if isinstance(event, h11.Response):
            return event.status_code
        if isinstance(event, h11.InformationalResponse):
            continue
        if event is not h11.NEED_DATA:
            raise h11.RemoteProtocolError("it ended without an answer")
        reading.receive_data(await reader.read(_PIECE))


async def _addresses(host: str, port: int) -> list[IpAddress]:
    """The addresses of a host, whose name may be one itself.

    Raises:
        NotDelivered: It has none.
    """
    try:
        return [ip_address(host)]
    except ValueError:
        pass
    ask = partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
    try:
        # A resolver that hangs is left to itself: nobody waits for its thread, at the end neither.
        found = await anyio.to_thread.run_sync(ask, abandon_on_cancel=True)
        return [ip_address(place[0]) for *_, place in found]
    except (OSError, ValueError):
        raise NotDelivered("the name of the receiver has no address") from None


def _is_local(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _checked(url: str, name: str, *, allows_private: bool) -> None:
    """Refuse what cannot be an address of a receiver; the message does not repeat it.

    Raises:
        InputError: It cannot be one.
    """
    try:
        if not (url.isascii() and url.isprintable() and " " not in url):
            raise ValueError
        parts = urlsplit(url)
        is_whole = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_whole = False
    if not is_whole:
        raise InputError(f"{name} is no address; write it as https://host/path")
    if parts.username is not None or parts.password is not None:
        raise InputError(f"{name} holds a user name or password; messages are signed instead")
    if parts.fragment:
        raise InputError(f"{name} holds a fragment (`#`)")
    if parts.scheme == "http" and not _is_local(parts.hostname or "") and not allows_private:
        raise InputError(
            f"{name} needs https, unless it is on this machine; {PRIVATE}=on allows http to "
            "a private address"
        )


def _secret(text: str) -> bytes:
    """The bytes of a secret: those behind `whsec_` are Base64, as in Standard Webhooks.

    Raises:
        InputError: It is too short or no Base64; the message does not repeat it.
    """
    try:
        key = (
            base64.b64decode(text.removeprefix(_PREFIX), validate=True)
            if text.startswith(_PREFIX)
            else text.encode()
        )
    except binascii.Error:
        raise InputError(f"{SECRET} begins with {_PREFIX} but is no Base64 after it") from None
    if len(key) < LEAST_SECRET:
        raise InputError(f"{SECRET} is too short: it needs at least {LEAST_SECRET} bytes")
    return key


async def send_now(target: Target, message: Message, waits: Sequence[float] | None = None) -> None:
    """Send a message, and again after growing waits while it is not accepted.

    Raises:
        NotDelivered: It was not accepted in the end.
    """
    for wait in WAITS if waits is None else waits:
        try:
            await target.send(message)
        except NotDelivered:
            await asyncio.sleep(wait)
        else:
            return
    await target.send(message)
