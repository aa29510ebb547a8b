"""What the site does to the pages: README.md is its first page, and links out of docs/ are text.

In a clone such links lead to code and examples beside the pages; the site holds the pages alone.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
HOME = "index.md"

_LINK = re.compile(r"(?<!!)\[(?P<words>[^\]]*)\]\((?P<target>[^)\s]+)\)")
_IMAGE = re.compile(r"!\[(?P<words>[^\]]*)\]\(docs/(?P<target>[^)\s]+)\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the first page."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    files.append(File.generated(config, HOME, content=readme))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let links lead to pages of the site, and the names of other files stand as text."""
    # README.md stands beside docs/, and every other page within it.
    folder = "" if page.file.src_uri == HOME else f"docs/{posixpath.dirname(page.file.src_uri)}"

    def led(link: re.Match[str]) -> str:
        path, mark, anchor = link["target"].partition("#")
        if "://" in path or not path:
            return link[0]
        place = posixpath.normpath(posixpath.join(folder, path))
        if place == "README.md":
            place = f"docs/{HOME}"
        if not place.startswith("docs/"):
            return link["words"]
        here = posixpath.dirname(page.file.src_uri)
        return f"[{link['words']}]({posixpath.relpath(place[5:], here or '.')}{mark}{anchor})"

    if page.file.src_uri == HOME:
        markdown = _IMAGE.sub(r"![\g<words>](\g<target>)", markdown)
    return _LINK.sub(led, markdown)
