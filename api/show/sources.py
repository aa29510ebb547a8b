"""Name the place of a source in its document: page, offset and address, from its metadata.

Source: ours.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit, urlunsplit

_TITLES = ("title", "file_name", "filename", "file", "document", "document_title", "source", "path")
_PAGES = ("page", "page_number", "page_label", "pages")
_ADDRESSES = ("url", "uri", "link", "source_url", "source")
_BEGINS = ("start", "offset", "start_index", "char_start", "start_char", "start_char_idx")
_ENDS = ("end", "end_index", "char_end", "end_char", "end_char_idx")
_LONGEST = 200
_WITHIN = ("metadata", "source_metadata", "loc", "attributes")


@dataclass(frozen=True, slots=True)
class SourcePlace:
    """The place of a source in its document.

    Attributes:
        title: The document, or None.
        page: The page, or None.
        start: Where it begins there, in characters, or None.
        end: Where it ends, or None.
        href: The address of the document, of its page where that can be said; None: none.
    """

    title: str | None
    page: str | None
    start: int | None
    end: int | None
    href: str | None

    @property
    def words(self) -> str:
        """Return the same in a line."""
        parts = [self.title] if self.title else []
        if self.page is not None:
            parts.append(f"page {self.page}")
        if self.start is not None:
            upto = f" to {self.end:,}" if self.end is not None else ""
            parts.append(f"characters {self.start:,}{upto}" if upto else f"offset {self.start:,}")
        return ", ".join(parts)


def place_of(metadata: str | Mapping[str, Any] | None) -> SourcePlace | None:
    """The place that metadata names; None: it names none.

    Args:
        metadata: The metadata of a node, as JSON or read.
    """
    if isinstance(metadata, str):
        try:
            metadata = json.loads(metadata)
        except (ValueError, RecursionError):
            return None
    if not isinstance(metadata, Mapping):
        return None
    values = _flat(metadata)
    title, page = _text(values, _TITLES), _text(values, _PAGES)
    start, end = _number(values, _BEGINS), _number(values, _ENDS)
    href = _address(values, page)
    if title is not None and href is not None and title.startswith(("http://", "https://")):
        title = urlsplit(title).path.rpartition("/")[2] or urlsplit(title).netloc
    if page is None and start is None and href is None:
        return None
    return SourcePlace(title, page, start, end if start is not None else None, href)


def _flat(metadata: Mapping[str, Any]) -> dict[str, Any]:
    found = {str(key).lower(): value for key, value in metadata.items()}
    for name in _WITHIN:
        if isinstance(found.get(name), Mapping):
            found = {str(k).lower(): v for k, v in found[name].items()} | found
    return found


def _text(values: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    for name in names:
        value = values.get(name)
        if isinstance(value, bool) or value is None:
            continue
        if isinstance(value, int | float) or (isinstance(value, str) and value.strip()):
            return str(value).strip()[:_LONGEST]
    return None


def _number(values: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    for name in names:
        value = values.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**12:
            return value
    return None


def _address(values: Mapping[str, Any], page: str | None) -> str | None:
    """An address on the web, and nothing that a browser would run or read from the disk."""
    for name in _ADDRESSES:
        value = values.get(name)
        if not isinstance(value, str) or len(value) > 2_000:
            continue
        try:
            parts = urlsplit(value.strip())
        except ValueError:
            continue
        if parts.scheme not in ("http", "https") or not parts.netloc:
            continue
        if parts.username or parts.password:
            continue
        is_pdf = parts.path.lower().endswith(".pdf")
        if is_pdf and page is not None and page.isdecimal() and not parts.fragment:
            parts = parts._replace(fragment=f"page={page}")
        return urlunsplit(parts)
    return None
