"""English words that carry no content: those of NLTK's list that one token can be.

NLTK keeps the list as data that is downloaded apart. It is written out here by kind of word, so
that figures need no download; a test compares it with NLTK's own. Of contractions only the
halves are listed, since a token holds no apostrophe.
"""

from __future__ import annotations

_KINDS = {
    "persons": """
        i me my myself we our ours ourselves you your yours yourself yourselves
        he him his himself she her hers herself it its itself they them their theirs themselves
    """,
    "pointing and asking": """
        this that these those what which who whom when where why how here there then once
    """,
    "auxiliaries": """
        am is are was were be been being have has had having do does did doing
        can will should now just
    """,
    "articles, amounts and degrees": """
        a an the all any both each few more most other some such own same
        no nor not only so than too very
    """,
    "conjunctions and prepositions": """
        and but if or because as until while of at by for with about against between into through
        during before after above below to from up down in out on off over under again further
    """,
    "halves of contractions": """
        s t d ll m o re ve y don ain aren couldn didn doesn hadn hasn haven isn ma mightn mustn
        needn shan shouldn wasn weren won wouldn
    """,
}
STOP_WORDS = frozenset(word for words in _KINDS.values() for word in words.split())
"""In small letters."""
