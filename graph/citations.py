"""Citations in a text: the words by which it says where it has something from.

GraphRAG writes `[Data: Entities (9)]`, others footnotes, numbers, keys, or authors with a year. A
place with a year, `(Lyon, 2020)`, cannot be told from an author with a year and counts as a
citation. Without a comma only surnames do: `(Smith 2020)`, not `(May 2020)` or `(in 2020)`.
"""

from __future__ import annotations

import re

_AUTHORS = r"[^\W\d_][^()\[\];,\d]{0,80}"
_TIMES = (
    r"jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?|spring|summer|autumn|fall|winter|easter|christmas"
    r"|about|after|around|before|by|circa|during|early|end|founded|from|in|late|mid|opened|since"
    r"|until|year"
)
_SURNAME = (
    rf"(?!(?:{_TIMES})\b)(?:(?:van|von|der|den|de|di|da|del|la|le)\s+){{0,3}}"
    r"(?-i:(?![a-z\u00df-\u00f6\u00f8-\u00ff])[^\W\d_])[^\W\d_]{0,40}(?:['\u2019-][^\W\d_]{1,40}){0,3}"
)
_SURNAMES = (
    r"(?:(?:see|cf\.?|e\.g\.,?)(?:\s+also)?\s+)?"
    rf"{_SURNAME}(?:\s*(?:,|,?\s*&|,?\s+and\s)\s*{_SURNAME}){{0,8}}(?:,?\s+et\s+al\b\.?)?"
)
_PAGES = r",\s*pp?\.\s*[\d\u2013-]+"
CITATION = re.compile(
    r"\[\s*(?:data|records?|sources?|reports?|entities|relationships|claims)\s*:[^\[\]]{0,4000}\]"
    r"|\[\s*\^[^\[\]\s]{1,40}\s*\]"  # [^1], [^note]
    r"|\[\s*\d{1,3}(?:\s*[,;\u2013-]\s*\d{1,3})*\s*\]"  # [1], [2, 5-7]
    r"|\[(?:[^\[\]@]{0,40}[\s;])?-?@\w[^\[\]]{0,400}\]"  # [@smith2020, p. 3; @doe1999]
    r"|\u3010\s*\d{1,4}(?::\d{1,4})?\s*\u2020[^\u3010\u3011]{0,200}\u3011"  # lenticular: 5†source
    rf"|\((?:(?:{_AUTHORS},|{_SURNAMES},?)\s*\d{{4}}[a-z]?(?:,\s*\d{{4}}[a-z]?){{0,8}}(?:{_PAGES})?"
    r"(?:\s*;\s*|(?=\))))+\)"
    rf"|\(\d{{4}}(?:[a-r]|[a-r]?{_PAGES})\)",  # (2020a), (2020, p. 4), not (1980s)
    re.IGNORECASE,
)
