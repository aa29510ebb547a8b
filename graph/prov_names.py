"""Names that the PROV-JSON export writes and the importer reads again.

Source: PROV-DM and PROV-JSON (W3C) for the structure; the namespace is ours.
"""

from __future__ import annotations

import hashlib
from urllib.parse import quote

PREFIX = "veritrail"
NAMESPACE = "urn:veritrail:"
"""IRI of our own attributes and types."""

PROV = "http://www.w3.org/ns/prov#"
XSD = "http://www.w3.org/2001/XMLSchema"
"""The namespace of XML Schema; PROV-JSON files write it with and without a `#` behind it."""

NUMBER = "number"
"""The place of a record among those of its kind: the order of JSON objects says nothing."""

JSON_TYPE = "JSON"
"""The type, in our namespace, of a literal that is a JSON value as text."""

RECORD = "record"
"""The attribute that holds a whole verification as JSON."""

KINDS = {
    "process": "Process",
    "node": "Span",
    "claim": "Claim",
    "extraction": "Extraction",
    "verification": "Verification",
    "review": "Review",
}
"""prov:type, in our namespace, by kind of record."""

_LONGEST = 400


def begins_as_ours(head: bytes) -> bool:
    """Return whether a file is an export of ours, by its first bytes."""
    return head.removeprefix(b"\xef\xbb\xbf").startswith(opening().encode())


def opening() -> str:
    """Return what an export begins with."""
    return f'{{"prefix":{{"{PREFIX}":"{NAMESPACE}"'


def local_name(kind: str, *names: str) -> str:
    """The part of a qualified name behind its prefix: characters that every notation takes.

    Args:
        kind: What is named, such as `node`.
        *names: Its ids; a very long one is replaced by its SHA-256.
    """
    return "/".join([kind, *map(_quoted, names)])


def _quoted(name: str) -> str:
    found = quote(name, safe="")
    if len(found) > _LONGEST:
        return f"sha256/{hashlib.sha256(name.encode()).hexdigest()}"
    # PROV-N takes no full stop at the end of a name.
    return f"{found[:-1]}%2E" if found.endswith(".") else found
