"""Forms of pages, filled in and sent as a browser without scripts does."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import httpx2


class _Forms(HTMLParser):
    """Reads the forms of a page: where each goes, and what it holds."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []
        self._area: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.found.append((given.get("action", ""), {}))
        elif tag == "input" and self.found and "name" in given:
            is_chosen = given.get("type") not in ("radio", "checkbox") or "checked" in given
            if is_chosen and given.get("type") != "file":
                self.found[-1][1][given["name"]] = given.get("value", "")
        elif tag == "textarea" and self.found and "name" in given:
            self._area = given["name"]
            self.found[-1][1][self._area] = ""

    def handle_data(self, data: str) -> None:
        if self._area is not None:
            self.found[-1][1][self._area] += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea":
            self._area = None


def forms_of(page: str) -> dict[str, dict[str, str]]:
    """The content of the forms of a page, by where they go."""
    reader = _Forms()
    reader.feed(page)
    return dict(reader.found)


def send(
    client: httpx2.Client, page: httpx2.Response, action: str, **filled: Any
) -> httpx2.Response:
    """Fill in a form of a page and send it; what it answers with is not followed."""
    values = forms_of(page.text)[action]
    return client.post(action, data={**values, **filled}, follow_redirects=False)
