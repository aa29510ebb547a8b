"""Where webhooks go, checked: TLS to a public address, or this machine, unless more is allowed.

The address is the operator's, from a setting or an option, never from a request. All the same its
name may come to mean a machine inside: so the addresses that the name has now are checked, and the
connection goes to the one that was checked. Redirects and proxies are not followed.
"""

from __future__ import annotations

import base64
import binascii
import http.client
import ipaddress
import socket
import ssl
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import SplitResult, urlsplit

from veritrail_graph.api.setting_sources import Setting
from veritrail_graph.api.settings import Settings
from veritrail_graph.api.webhooks.message import Message, headers
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

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class NotDelivered(VeriTrailError):
    """A message was not accepted; the text names neither address nor secret."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where webhooks go.

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

    def send(self, message: Message, seconds: float = SECONDS) -> None:
        """Send a message once.

        Args:
            message: The message.
            seconds: How long each step may take.

        Raises:
            NotDelivered: The receiver did not accept it.
        """
        parts = urlsplit(self.url)
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection = _Connection(parts, self._address(parts), seconds)
        try:
            sent = headers(message, self.secret, int(time.time()))
            connection.request("POST", path, message.body.encode(), sent)
            status = connection.getresponse().status
        except ssl.SSLError as error:  # its text may name the host
            raise NotDelivered(f"TLS failed: {error.reason}") from None
        except (OSError, http.client.HTTPException) as error:
            reason = error.strerror if isinstance(error, OSError) else None
            raise NotDelivered(reason or type(error).__name__) from None
        finally:
            connection.close()
        if not 200 <= status < 300:
            raise NotDelivered(f"the receiver answered {status}")

    def _address(self, parts: SplitResult) -> tuple[str, int]:
        """The address and port that the name has now.

        Raises:
            NotDelivered: It has none, or one that is not allowed.
        """
        host = parts.hostname or ""
        port = parts.port or (443 if parts.scheme == "https" else 80)
        found = _addresses(host, port)
        for address in found:
            self._check(address, parts)
        return str(found[0]), port

    def _check(self, address: _Address, parts: SplitResult) -> None:
        """Refuse an address that is not allowed.

        Raises:
            NotDelivered: It is not.
        """
        if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
            address = address.ipv4_mapped
        if address.is_loopback and _is_local(parts.hostname or ""):
            return
        is_never = address.is_link_local or address.is_multicast or address.is_unspecified
        if is_never or not (address.is_global or self.allows_private):
            raise NotDelivered("the address of the receiver is not allowed: it is not public")
        if parts.scheme == "http" and address.is_global:
            raise NotDelivered("a public receiver needs https")


class _Connection(http.client.HTTPConnection):
    """A connection to an address that was checked, under the name of its host."""

    def __init__(self, parts: SplitResult, address: tuple[str, int], seconds: float) -> None:
        super().__init__(parts.hostname or "", parts.port, timeout=seconds)
        self._address = address
        self._tls = ssl.create_default_context() if parts.scheme == "https" else None
        self.default_port = 443 if self._tls else 80
        self.port = address[1]

    def connect(self) -> None:
        """Connect to the address, whatever the name means by now."""
        self.sock = socket.create_connection(self._address, self.timeout)
        if self._tls is not None:
            self.sock = self._tls.wrap_socket(self.sock, server_hostname=self.host)


def _addresses(host: str, port: int) -> list[_Address]:
    """The addresses of a host, whose name may be one itself.

    Raises:
        NotDelivered: It has none.
    """
    try:
        return [ipaddress.ip_address(host)]
    except ValueError:
        pass
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        return [ipaddress.ip_address(place[0]) for *_, place in found]
    except (OSError, ValueError):
        raise NotDelivered("the name of the receiver has no address") from None


def _is_local(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
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


def send_now(target: Target, message: Message, waits: Sequence[float] | None = None) -> None:
    """Send a message, and again after growing waits while it is not accepted.

    Raises:
        NotDelivered: It was not accepted in the end.
    """
    for wait in WAITS if waits is None else waits:
        try:
            target.send(message)
        except NotDelivered:
            time.sleep(wait)
        else:
            return
    target.send(message)
