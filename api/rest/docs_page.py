"""`/docs`: the description for people, as one page without any script.

It is written here from the OpenAPI document; nothing on it is loaded from elsewhere, and its
content security policy allows nothing but its own style sheet.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from importlib import resources
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from veritrail_graph.api.rest.examples import example_of, schema_words

router = APIRouter(include_in_schema=False)

POLICY = (
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
_METHODS = ("get", "post", "put", "patch", "delete")
_CODE = re.compile(r"`([^`]+)`")


@router.get("/docs")
async def docs(request: Request) -> HTMLResponse:
    """The page; it is made once."""
    state = request.app.state
    if not hasattr(state, "docs_page"):
        state.docs_page = page(request.app.openapi())
    return HTMLResponse(state.docs_page, headers={"Content-Security-Policy": POLICY})


@router.get("/docs/style.css")
async def style() -> Response:
    """How the page looks."""
    text = (
        resources.files("veritrail_graph.api.rest").joinpath("docs.css").read_text(encoding="utf-8")
    )
    return Response(text, media_type="text/css", headers={"Cache-Control": "public, max-age=3600"})


def page(told: Mapping[str, Any]) -> str:
    """The page of an OpenAPI document."""
    info = told["info"]
    groups = dict(_groups(told))
    links = "".join(f'<a href="#{_id(name)}">{escape(name)}</a>' for name in groups)
    body = "".join(_group(told, name, calls) for name, calls in groups.items())
    schemas = told.get("components", {}).get("schemas", {})
    kinds = "".join(_kind(name, schema) for name, schema in sorted(schemas.items()))
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(info['title'])}: REST</title>"
        '<link rel="stylesheet" href="/docs/style.css"></head><body>'
        f"<header><h1>{escape(info['title'])} <small>{escape(info['version'])}</small></h1>"
        f"<p>{_text(info.get('summary', ''))}</p></header>"
        f'<nav>{links}<a href="#kinds">types</a><a href="/openapi.json">openapi.json</a></nav>'
        f"<main>{_paragraphs(info.get('description', ''))}{_keys(told)}{body}"
        f'<section id="kinds"><h2>types</h2>{kinds}</section></main></body></html>'
    )


def _groups(told: Mapping[str, Any]) -> Iterator[tuple[str, list[tuple[str, str, Any]]]]:
    """The calls by their tag, in the order of the tags."""
    calls: dict[str, list[tuple[str, str, Any]]] = {tag["name"]: [] for tag in told["tags"]}
    for path, item in told["paths"].items():
        for method in _METHODS:
            if method in item:
                tag = (item[method].get("tags") or ["other"])[0]
                calls.setdefault(tag, []).append((method, path, item[method]))
    yield from ((name, found) for name, found in calls.items() if found)


def _group(told: Mapping[str, Any], name: str, calls: list[tuple[str, str, Any]]) -> str:
    about = next((tag["description"] for tag in told["tags"] if tag["name"] == name), "")
    inside = "".join(_call(told, *one) for one in calls)
    return (
        f'<section id="{_id(name)}"><h2>{escape(name)}</h2><p>{_text(about)}</p>{inside}</section>'
    )


def _call(told: Mapping[str, Any], method: str, path: str, call: Mapping[str, Any]) -> str:
    scopes = [
        scope for one in call.get("security", ()) for names in one.values() for scope in names
    ]
    needed = f'<span class="scope">{escape(" ".join(scopes))}</span>' if scopes else ""
    first, _, rest = call.get("description", "").partition("\n\n")
    return (
        f'<details id="{_id(f"{method} {path}")}"><summary><span class="method {method}">'
        f"{method.upper()}</span> <code>{escape(path)}</code> {needed}"
        f"<span class=what>{_text(first)}</span></summary>{_paragraphs(rest)}"
        f"{_parameters(call)}{_body(told, call)}{_curl(told, method, path, call)}"
        f"{_answers(told, call)}</details>"
    )


def _parameters(call: Mapping[str, Any]) -> str:
    rows = [
        (
            f"<code>{escape(one['name'])}</code>",
            escape(one["in"]),
            escape(schema_words(one.get("schema", {}))),
            ("needed. " if one.get("required") else "") + _text(one.get("description", "")),
        )
        for one in call.get("parameters", ())
    ]
    return _table(("parameter", "in", "type", ""), rows)


def _body(told: Mapping[str, Any], call: Mapping[str, Any]) -> str:
    content = call.get("requestBody", {}).get("content", {})
    return "".join(
        f"<h3>Body <small>{escape(kind)}</small></h3>"
        f"<p>{_linked(schema_words(one.get('schema', {})))}</p>{_example(told, one)}"
        for kind, one in content.items()
    )


def _answers(told: Mapping[str, Any], call: Mapping[str, Any]) -> str:
    rows = []
    for status, answer in call.get("responses", {}).items():
        content = answer.get("content", {})
        kinds = "; ".join(
            f"{_linked(schema_words(one.get('schema', {})))} <small>{escape(kind)}</small>"
            for kind, one in content.items()
        )
        rows.append((escape(status), _text(answer.get("description", "")), kinds))
    shown = next(
        (
            _example(told, one)
            for status, answer in call.get("responses", {}).items()
            for kind, one in answer.get("content", {}).items()
            if status.startswith("2") and kind == "application/json"
        ),
        "",
    )
    return f"<h3>Answers</h3>{_table(('status', '', 'type'), rows)}{shown}"


def _example(told: Mapping[str, Any], content: Mapping[str, Any]) -> str:
    found = example_of(content, told)
    return (
        ""
        if found is None
        else f"<pre>{escape(json.dumps(found, indent=2, ensure_ascii=False))}</pre>"
    )


def _curl(told: Mapping[str, Any], method: str, path: str, call: Mapping[str, Any]) -> str:
    words = ["curl -s"]
    if method != "get":
        words.append(f"-X {method.upper()}")
    words.append(f'"http://127.0.0.1:8000{path}"')
    if call.get("security"):
        words.append('-H "Authorization: Bearer $VERITRAIL_API_KEY"')
    body = call.get("requestBody", {}).get("content", {}).get("application/json")
    if body is not None:
        example = example_of(body, told) or {}
        found = json.dumps(example, ensure_ascii=False).replace("'", "'\\''")
        words += ["-H 'Content-Type: application/json'", f"-d '{found}'"]
    lines = " \\\n  ".join(words)
    return f"<pre>{escape(lines)}</pre>"


def _kind(name: str, schema: Mapping[str, Any]) -> str:
    needed = set(schema.get("required", ()))
    rows = [
        (
            f"<code>{escape(field)}</code>",
            _linked(schema_words(one)),
            ("" if field in needed else "<em>may be left out.</em> ")
            + _text(one.get("description", "")),
        )
        for field, one in schema.get("properties", {}).items()
    ]
    about = schema.get("description", "")
    words = "" if rows else f"<p>{_linked(schema_words(schema))}</p>"
    return (
        f'<details id="kind-{_id(name)}"><summary><code>{escape(name)}</code>'
        f"<span class=what>{_text(about)}</span></summary>{words}"
        f"{_table(('field', 'type', ''), rows)}</details>"
    )


def _keys(told: Mapping[str, Any]) -> str:
    schemes = told.get("components", {}).get("securitySchemes", {})
    return "".join(f"<p>{_text(one.get('description', ''))}</p>" for one in schemes.values())


def _table(heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """A table; its cells are HTML already."""
    if not rows:
        return ""
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    lines = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="wide"><table><tr>{head}</tr>{lines}</table></div>'


def _linked(words: str) -> str:
    """A type in words, with links to those that are described below."""
    return re.sub(r"\[(\w+)\]", r'<a href="#kind-\1">\1</a>', escape(words))


def _text(words: str) -> str:
    """One line of a docstring: what stands between backticks is code."""
    return _CODE.sub(r"<code>\1</code>", escape(words))


def _paragraphs(words: str) -> str:
    return "".join(f"<p>{_text(one)}</p>" for one in words.split("\n\n") if one.strip())


def _id(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_]+", "-", name).strip("-")
