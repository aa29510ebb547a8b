"""Style sheets, scripts and icons: small files of ours, each under an address with its hash."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

PREFIX = "/static/"

TYPES = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}


@dataclass(frozen=True, slots=True)
class Asset:
    """A file that pages load.

    Attributes:
        content: Its bytes.
        media_type: What they are.
        version: A hash of them.
    """

    content: bytes
    media_type: str
    version: str


@lru_cache(maxsize=1)
def assets() -> dict[str, Asset]:
    """Every file by its name; they are read once."""
    folder = resources.files("veritrail_graph.api.web").joinpath("static")
    found = {}
    for file in folder.iterdir():
        kind = TYPES.get(file.name.rpartition(".")[2])
        if kind is not None:
            content = file.read_bytes()
            found[file.name] = Asset(content, kind, hashlib.sha256(content).hexdigest()[:12])
    return found


def static(name: str) -> str:
    """The address of a file; another content has another one, so it may be kept for ever."""
    return f"{PREFIX}{name}?v={assets()[name].version}"


def text_of(name: str) -> str:
    """A file as text, for a page that holds it itself."""
    return assets()[name].content.decode("utf-8")
