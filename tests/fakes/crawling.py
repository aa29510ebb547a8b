"""Follows every link of a site, as a search engine would, and keeps what it answers."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import parse_qsl, urldefrag, urljoin, urlsplit

import httpx2

ADDRESSES = {("a", "href"), ("link", "href"), ("script", "src"), ("img", "src"), ("use", "href")}
LEFT_OUT = ("/v1/", "/docs", "/openapi.json", "/sign-out")
KINDS = re.compile(r"^/(processes|jobs)/[^/]+")
INNER = re.compile(r"/(claims|nodes)/[^/]+")


class Links(HTMLParser):
    """The addresses on a page, its ids, and the elements that no page of ours has."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []
        self.ids: set[str] = set()
        self.wrong: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        for name, value in attrs:
            if (tag, name) in ADDRESSES and value is not None:
                self.found.append(value)
            if name == "id" and value is not None:
                self.ids.add(value)
            if name.startswith("on") or name in ("style", "srcdoc", "data-hostile"):
                self.wrong.append(f"<{tag} {name}={value!r}>")
        if tag == "form" and (given.get("method") or "get").lower() == "get":
            self.found.append(given.get("action") or "")
        if tag in ("hostile-mark", "iframe", "object", "embed", "base"):
            self.wrong.append(f"<{tag}>")


@dataclass
class Crawl:
    """A walk over a site.

    Attributes:
        client: Asks; its base is the site.
        each: How many addresses of one kind (the same page and parameters) are visited.
        answers: Status and text by address.
        faults: What is wrong: an answer of 4xx or 5xx with the page that links there, a link to
            another machine, an element that no page of ours has.
    """

    client: httpx2.Client
    each: int = 6
    answers: dict[str, httpx2.Response] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)

    def walk(self, *starts: str) -> Crawl:
        """Follow everything from these addresses."""
        waiting = deque((start, "the start") for start in starts)
        known = set(starts)
        while waiting:
            address, origin = waiting.popleft()
            for link in self._visit(address, origin):
                if link not in known and self.kinds[kind_of(link)] < self.each:
                    known.add(link)
                    self.kinds[kind_of(link)] += 1
                    waiting.append((link, address))
        return self

    def pages(self) -> list[str]:
        """The addresses that answered HTML."""
        return [name for name, got in self.answers.items() if is_html(got)]

    def _visit(self, address: str, origin: str) -> Iterator[str]:
        got = self.client.get(address, follow_redirects=True)
        self.answers[address] = got
        if got.status_code >= 400:
            self.faults.append(f"{got.status_code} {address} (linked by {origin})")
        if not is_html(got) or "attachment" in got.headers.get("content-disposition", ""):
            return
        links = Links(got.text)
        self.faults += [f"{one} on {address}" for one in links.wrong]
        here = str(got.url) if got.history else urljoin(str(self.client.base_url), address)
        for found in links.found:
            yield from self._inside(found, here, address, links.ids)

    def _inside(self, found: str, base: str, address: str, ids: set[str]) -> Iterator[str]:
        target, fragment = urldefrag(urljoin(base, found))
        parts, own = urlsplit(target), urlsplit(str(self.client.base_url))
        if parts.scheme == "data" and target.startswith("data:image/"):
            return
        if (parts.scheme, parts.netloc) != (own.scheme, own.netloc):
            self.faults.append(f"{found[:200]!r} on {address} leads away")
            return
        link = parts.path + (f"?{parts.query}" if parts.query else "")
        if target == urldefrag(base)[0] and fragment and fragment not in ids:
            self.faults.append(f"#{fragment} is not on {address}")
        if not parts.path.startswith(LEFT_OUT):
            yield link


def kind_of(address: str) -> str:
    """What an address is of, whatever ids it holds."""
    parts = urlsplit(address)
    path = INNER.sub(r"/\1/*", KINDS.sub(r"/\1/*", parts.path))
    names = sorted({name for name, _ in parse_qsl(parts.query, keep_blank_values=True)})
    return f"{path}?{'&'.join(names)}"


def is_html(got: httpx2.Response) -> bool:
    """Whether an answer is a page."""
    return got.headers.get("content-type", "").startswith("text/html")
