"""Words of a server, made fit for a message: short, on one line, without the key, storable."""

from __future__ import annotations

import re

SHOWN = 200
REPLACEMENT = "\ufffd"

# What no database and no document takes: halves of characters, and no characters at all.
_UNSTORABLE = re.compile("[\ud800-\udfff\ufffe\uffff]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_PAGE = re.compile(r"\s*(<\?xml[^>]*>\s*)?<(!doctype html|html|head|body)\b", re.IGNORECASE)
_TITLE = re.compile(r"<title[^>]{0,100}>([^<]{1,200})", re.IGNORECASE)
_TAG = re.compile(r"</?[a-z][^<>]{0,200}>", re.IGNORECASE)


def storable(text: str) -> str:
    """The text with a mark in place of what cannot be stored."""
    return _UNSTORABLE.sub(REPLACEMENT, text)


def is_page(text: str) -> bool:
    """Whether a text is a page for a browser."""
    return _PAGE.match(text) is not None


def shown(text: str, secret: str | None = None) -> str:
    """A server's words, fit for a message; of a page for a browser its title alone."""
    if secret and len(secret) > 3:
        text = text.replace(secret, "…")
    if is_page(text):
        title = _TITLE.search(text)
        text = f"an HTML page: {title[1]}" if title and title[1].strip() else "an HTML page"
    elif "</" in text:
        text = _TAG.sub(" ", text)
    text = " ".join(_CONTROL.sub(" ", storable(text)).split())
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
