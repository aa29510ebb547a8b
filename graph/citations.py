"""Citations in a text: the words by which it says where it has something from.

GraphRAG writes `[Data: Entities (9)]`, others footnotes, numbers, or authors with a year. A place
with a year, `(Lyon, 2020)`, cannot be told from an author with a year and counts as a citation.
"""

from __future__ import annotations

import re

_AUTHORS = r"[^\W\d_][^()\[\];,\d]{0,80}"
CITATION = re.compile(
    r"\[\s*(?:data|records?|sources?|reports?|entities|relationships|claims)\s*:[^\[\]]{0,4000}\]"
    r"|\[\s*\^[^\[\]\s]{1,40}\s*\]"  # [^1], [^note]
    r"|\[\s*\d{1,3}(?:\s*[,;\u2013-]\s*\d{1,3})*\s*\]"  # [1], [2, 5-7]
    rf"|\((?:{_AUTHORS},\s*\d{{4}}[a-z]?(?:,\s*pp?\.\s*[\d\u2013-]+)?(?:;\s*|(?=\))))+\)",
    re.IGNORECASE,
)
