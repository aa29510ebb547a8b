"""The certificates that this machine trusts, read once for all connections of a program.

A client of HTTP reads them when it is made, and once more for each kind of proxy, although most
endpoints are on this machine: some 50 ms each time.
"""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ssl


def trusted_certificates(*, trust_env: bool = True) -> ssl.SSLContext:
    """Return how the other end of a connection is checked.

    Args:
        trust_env: Whether SSL_CERT_FILE and SSL_CERT_DIR count.
    """
    named = ("SSL_CERT_FILE", "SSL_CERT_DIR") if trust_env else ()
    return _read(trust_env, *(os.environ.get(name) for name in named))


@cache  # the names tell apart what different environments mean
def _read(trust_env: bool, *named: str | None) -> ssl.SSLContext:
    import httpx2

    return httpx2.create_ssl_context(trust_env=trust_env)
