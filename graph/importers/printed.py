"""Lists that a table holds as text: as JSON, as Python prints them, and as numpy prints arrays.

So are documents of frameworks: `Document(page_content='…', metadata={…})` is an object with these
keys, alone and in a list.
"""

from __future__ import annotations

import ast
import json
import re
import threading
import warnings
from typing import Any

NO_LITERAL = (ValueError, SyntaxError, MemoryError, RecursionError, SystemError)
"""What Python raises for a text that is none of its values; the last where one nests too deeply."""

_ONE_BY_ONE = threading.Lock()

_ARRAY = re.compile(r"(?:np\.|numpy\.)?array\(")
_DTYPE = re.compile(r",\s*dtype=")
_STRING = re.compile(
    r"""[uU]?(?:'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")""",
    re.DOTALL,
)
_BETWEEN = re.compile(r"\s*,\s*|\s+")
_OBJECT = re.compile(r"[A-Z]\w*\(\s*\w+\s*=.*\)", re.DOTALL)
_CONTENT = re.compile(r"(?:page_content|text)=(?=['\"])")


def unfolded(text: str) -> Any:
    """Return the list or object that a text is; None for a blank text, else the text itself."""
    bare = text.strip()
    if not bare:
        return None
    array = _in_array(bare)
    if array is not None:
        bare = array.strip()
    if bare[:1] != "[" or bare[-1:] != "]":
        return document(text)
    # Python itself would glue the texts of an array, between which numpy prints no comma.
    for read in (json.loads, _strings, literal, _objects):
        try:
            value = read(bare)
        except NO_LITERAL:
            continue
        if isinstance(value, list):
            return value
    return text


def looks_like_list(text: str) -> bool:
    """Return whether a text has the brackets of a list, of an array or of a printed object."""
    bare = text.strip()
    is_list = (bare[:1] == "[" and bare[-1:] == "]") or _in_array(bare) is not None
    return is_list or bool(_OBJECT.fullmatch(bare))


def document(text: str) -> Any:
    """Return the object that a printed document is, or the text itself where it is none.

    It is printed as `Document(page_content='…', …)`, or as `page_content='…' metadata={…}`.
    """
    bare = text.strip()
    if _OBJECT.fullmatch(bare):
        try:
            found = _value(syntax_of(bare))
        except NO_LITERAL:
            return text
        return found if isinstance(found, dict) else text
    begin = _CONTENT.match(bare)
    string = _STRING.match(bare, begin.end()) if begin else None
    if begin is None or string is None or re.match(r"\s*$|\s+\w+=", bare[string.end() :]) is None:
        return text
    try:
        found = {begin[0][:-1]: literal(string[0])}
    except NO_LITERAL:
        return text
    rest = bare[string.end() :].strip()
    return {**found, "printed": rest} if rest else found


def _objects(bare: str) -> list[Any]:
    """Return a list in which objects are printed as calls with named arguments.

    Raises:
        ValueError: There is something else in it.
    """
    tree = syntax_of(bare)
    if not isinstance(tree, ast.List):
        raise ValueError("no list")
    return [_value(one) for one in tree.elts]


def _value(tree: ast.expr) -> Any:
    """Return a printed value: an object for a call with named arguments; nothing is run.

    Raises:
        ValueError: It is no value.
    """
    if isinstance(tree, ast.Call) and not tree.args and tree.keywords:
        return {one.arg or "": _inner(one.value) for one in tree.keywords}
    return ast.literal_eval(tree)


def _inner(tree: ast.expr) -> Any:
    """Return a value within an object; what is no value, such as a date, as it is printed."""
    if isinstance(tree, ast.Dict):
        return {
            str(_inner(key)): _inner(value)
            for key, value in zip(tree.keys, tree.values, strict=True)
            if key is not None
        }
    if isinstance(tree, (ast.List, ast.Tuple)):
        return [_inner(one) for one in tree.elts]
    try:
        return _value(tree)
    except ValueError:
        return ast.unparse(tree)


def _in_array(bare: str) -> str | None:
    """Return the content of an array, without its type; None if it is none. In linear time."""
    opening = _ARRAY.match(bare)
    if opening is None or bare[-1] != ")":
        return None
    inner = bare[opening.end() : -1]
    behind = max(map(inner.rfind, "()[]")) + 1
    of_type = _DTYPE.search(inner, behind)
    return inner if of_type is None else inner[: of_type.start()]


def _strings(bare: str) -> list[str]:
    """Texts in quotes, with commas or white space between them.

    Raises:
        ValueError: There is something else in it.
    """
    found, at, end = [], 1, len(bare) - 1
    while at < end and bare[at].isspace():
        at += 1
    while at < end:
        string = _STRING.match(bare, at, end)
        if string is None:
            raise ValueError("no text in quotes")
        found.append(literal(string[0]))
        at = string.end()
        between = _BETWEEN.match(bare, at, end)
        if between is None and at < end:
            raise ValueError("no gap between two texts")
        at = between.end() if between else at
    return found


def literal(text: str) -> Any:
    """Return the value that Python prints as this text; what is raised else is in NO_LITERAL."""
    return ast.literal_eval(syntax_of(text.lstrip(" \t")))


def syntax_of(text: str) -> ast.expr:
    """Return the syntax tree of an expression; what is raised else is in NO_LITERAL.

    One thread at a time: Python 3.11 counts the depth of all trees that are made in one place.
    """
    with _ONE_BY_ONE, warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # `\d` in a text: Python keeps it
        return ast.parse(text, mode="eval").body
