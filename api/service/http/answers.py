"""Answers that are ready to be sent: JSON is written once, and no model reads it again.

What a route answers is described by its `response_model`, so that it is in the OpenAPI
document, and tests hold the two against each other.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_origin

from fastapi import Depends, Request, Response
from fastapi.dependencies.utils import get_flat_params
from fastapi.exceptions import RequestValidationError
from fastapi.params import ParamTypes
from fastapi.routing import APIRoute
from pydantic_core import to_json

from veritrail_graph.graph.errors import InputError, Violation


def answer(content: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """JSON values as an answer."""
    return Response(_bytes(content), status, dict(headers or {}), "application/json")


async def known_tags(request: Request) -> str:
    """Return the tags that the client of a request has, as `If-None-Match` names them."""
    return request.headers.get("if-none-match", "")


KnownTags = Annotated[str, Depends(known_tags)]
"""The parameter type of a route whose answers have tags: those that the client has."""


def tagged(known: str, content: Any) -> Response:
    """An answer with an ETag, or 304 for a client that has it already.

    The tag is weak, as the bytes that are sent may be compressed.

    Args:
        known: The tags that the client has, as `If-None-Match` names them.
        content: The answer.
    """
    body = _bytes(content)
    tag = f'W/"{hashlib.sha256(body).hexdigest()[:32]}"'
    headers = {"ETag": tag, "Cache-Control": "private, no-cache"}
    if _has(known, tag):
        # The answer that it replaces has this header, which compression adds.
        return Response(None, 304, {**headers, "Vary": "Accept-Encoding"})
    return Response(body, 200, headers, "application/json")


def _bytes(content: Any) -> bytes:
    # A number that JSON cannot write is no number for a reader.
    return to_json(content, inf_nan_mode="null")


def _has(known: str, tag: str) -> bool:
    """Return whether If-None-Match names a tag; weak and strong ones are compared alike."""
    names = [name.strip().removeprefix("W/") for name in known.split(",")]
    return "*" in names or tag.removeprefix("W/") in names


@dataclass(frozen=True, slots=True)
class _Parameter:
    """A parameter behind the question mark.

    Attributes:
        repeats: Whether it may be there several times.
        is_integer: Whether it is an integer.
    """

    repeats: bool
    is_integer: bool


_KNOWN: dict[Any, dict[str, _Parameter]] = {}
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)")


def _known(route: Any) -> dict[str, _Parameter]:
    """The parameters behind the question mark that a route reads, found out once."""
    if route.endpoint not in _KNOWN:
        fields = get_flat_params(route.dependant) if isinstance(route, APIRoute) else []
        found = {}
        for one in fields:
            if getattr(one.field_info, "in_", None) is ParamTypes.query:
                kind = one.field_info.annotation
                repeats = get_origin(kind) in (list, tuple)
                found[one.alias] = _Parameter(repeats, _is_integer(kind))
        _KNOWN[route.endpoint] = found
    return _KNOWN[route.endpoint]


def _is_integer(kind: Any) -> bool:
    """Return whether a type is that of integers, or holds them among others."""
    return kind is int or any(map(_is_integer, get_args(kind)))


async def only_known_parameters(request: Request) -> None:
    """Refuse parameters that a route does not know: a filter that is misspelt would hide itself.

    Raises:
        InputError: Some are unknown or given twice; all are listed.
    """
    if not request.url.query:
        return
    known = _known(request.scope["route"])
    wanted = ", ".join(known) or "none"
    faults = [
        Violation("unknown_parameter", f"query.{name}", f"is no parameter; there are: {wanted}")
        for name in request.query_params
        if name not in known
    ]
    if faults:
        raise InputError("The address has parameters that are not known here", faults)
    given = Counter(name for name, _ in request.query_params.multi_items())
    twice = [
        Violation("repeated_parameter", f"query.{name}", "is given more than once; say which")
        for name, count in given.items()
        if count > 1 and not known[name].repeats
    ]
    if twice:
        raise InputError("The address has parameters more than once", twice)


async def only_plain_integers(request: Request) -> None:
    """Refuse integers that are not written with the digits 0 to 9 alone, such as `+1` or `1_0`.

    Raises:
        RequestValidationError: Some parameters are such integers.
    """
    if not request.url.query:
        return
    known = _known(request.scope["route"])
    faults = [
        {
            "type": "int_parsing",
            "loc": ("query", name),
            "msg": "Input should be a valid integer, unable to parse string as an integer",
            "input": value,
        }
        for name, value in request.query_params.multi_items()
        if name in known and known[name].is_integer and not _INTEGER.fullmatch(value)
    ]
    if faults:
        raise RequestValidationError(faults)
