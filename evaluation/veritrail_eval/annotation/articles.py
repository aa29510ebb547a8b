"""`articles.docx`: the documents of a folder, a heading and a page each.

Source: VeriTrail B.2.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from veritrail_eval.annotation.folders import Folder
from veritrail_eval.workbook import xml_text

FILE = "articles.docx"


def write_articles(folder: Folder, path: Path) -> int:
    """Write the documents of a folder.

    Returns:
        How many characters that no XML may hold were left out.
    """
    parts = [
        (f"Document {number}: {article.name}", article.text)
        for number, article in enumerate(folder.articles, start=1)
    ]
    return write_parts(f"Folder {folder.code}", folder.question, parts, path)


def write_parts(
    title: str, question: str | None, parts: Sequence[tuple[str, str]], path: Path
) -> int:
    """Write texts with a heading and a page each.

    Args:
        title: The title of the file.
        question: A line below it; None: none.
        parts: Heading and text of each.
        path: The file.

    Returns:
        How many characters that no XML may hold were left out.
    """
    import docx
    from docx.enum.text import WD_BREAK

    document = docx.Document()
    facts = document.core_properties
    facts.author, facts.title = "VeriTrail Graph", title
    facts.comments = ""
    removed = 0

    def clean(text: str) -> str:
        nonlocal removed
        kept, count = xml_text(text)
        removed += count
        return kept

    document.add_heading(title, 0)
    if question is not None:
        document.add_paragraph(clean(question))
    for number, (heading, text) in enumerate(parts):
        if number:
            document.add_paragraph().add_run().add_break(WD_BREAK.PAGE)
        document.add_heading(" ".join(clean(heading).split()), 1)
        for line in clean(text).splitlines():
            if line.strip():
                document.add_paragraph(line)
    document.save(str(path))
    return removed
