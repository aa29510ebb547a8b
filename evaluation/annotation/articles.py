"""`articles.docx`: the documents of a folder, a heading and a page each.

Source: VeriTrail B.2.3.
"""

from __future__ import annotations

from pathlib import Path

from veritrail_graph.evaluation.annotation.folders import Folder
from veritrail_graph.evaluation.workbook import needed, xml_text

FILE = "articles.docx"


def write_articles(folder: Folder, path: Path) -> int:
    """Write the documents of a folder.

    Returns:
        How many characters that no XML may hold were left out.

    Raises:
        InputError: python-docx is not installed.
    """
    try:
        import docx
        from docx.enum.text import WD_BREAK
    except ImportError:
        raise needed("python-docx") from None
    document = docx.Document()
    facts = document.core_properties
    facts.author, facts.title = "VeriTrail Graph", f"Folder {folder.code}"
    facts.comments = ""
    removed = 0

    def clean(text: str) -> str:
        nonlocal removed
        kept, count = xml_text(text)
        removed += count
        return kept

    document.add_heading(f"Folder {folder.code}", 0)
    if folder.question is not None:
        document.add_paragraph(clean(folder.question))
    for number, article in enumerate(folder.articles, start=1):
        if number > 1:
            document.add_paragraph().add_run().add_break(WD_BREAK.PAGE)
        name = " ".join(clean(article.name).split())
        document.add_heading(f"Document {number}: {name}", 1)
        for line in clean(article.text).splitlines():
            if line.strip():
                document.add_paragraph(line)
    document.save(str(path))
    return removed
