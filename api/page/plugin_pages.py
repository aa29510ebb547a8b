"""Pages that other packages add over the entry points of the group `veritrail_graph.pages`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from typing import Any, Literal

from fastapi import APIRouter

from veritrail_graph.api.show.rendering import assets, environment
from veritrail_graph.graph.plugins import load

GROUP = "veritrail_graph.pages"

Place = Literal["attributions", "dialogue"]
"""Where a page of ours has links: beside the attributions of a process, on a dialogue."""


@dataclass(frozen=True, slots=True)
class PageLink:
    """A link from a page of ours.

    Attributes:
        place: Where it stands.
        path: The parts of its address behind that of the process.
        words: Its text.
    """

    place: Place
    path: tuple[str, ...]
    words: str


@dataclass(frozen=True, slots=True)
class Pages:
    """The pages of a package: what its entry point names.

    Attributes:
        package: The package that holds the folders `templates` and `static`.
        routers: Their routes; each says with `needs` which scopes it asks for.
        links: How pages of ours lead to them.
    """

    package: str
    routers: Sequence[APIRouter]
    links: Sequence[PageLink] = ()


@cache
def plugin_pages() -> tuple[Pages, ...]:
    """Return the pages of every package whose entry point can be used."""
    return tuple(plugin.value for plugin in load(entry_points(group=GROUP), (), _whole)[0])


def page_packages() -> tuple[str, ...]:
    """Return the packages of these pages."""
    return tuple(pages.package for pages in plugin_pages())


def plugin_routers() -> list[APIRouter]:
    """Return the routes of these pages."""
    return [router for pages in plugin_pages() for router in pages.routers]


def links_beside(place: Place) -> list[PageLink]:
    """Return the links that stand at a place of our pages."""
    return [link for pages in plugin_pages() for link in pages.links if link.place == place]


def _whole(pages: Any) -> Pages:
    if not isinstance(pages, Pages):
        raise TypeError(f"it names a {type(pages).__name__}, and no Pages")
    if not all(isinstance(one, APIRouter) for one in pages.routers):
        raise TypeError("its routers are no routers")
    if not all(isinstance(one, PageLink) for one in pages.links):
        raise TypeError("its links are no links")
    environment(pages.package)
    assets(pages.package)
    return pages
