"""The kinds of a message's parts: a text, a thought, a call, a result, or something without text.

Vendors name the same part in many ways: `tool_use`, `toolUse`, `tool-call`, `functionCall`. Names
are compared in small letters, without signs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from veritrail_graph.graph.importers.printed import NO_LITERAL, literal

_SIGNS = re.compile(r"[^a-z0-9]+")
KIND_KEYS = ("type", "part_kind", "block_type")
_TEXTS = frozenset((
    "text", "outputtext", "inputtext", "markdown", "refusal", "plaintext", "string",
))  # fmt: skip
_RESULTS = (
    "calloutput", "toolcallresponse", "toolresult", "toolreturn", "functionresponse",
    "toolresponse", "toolcallresult", "codeexecutionresult", "calloutputitem", "toolresultblock",
)  # fmt: skip
"""How kinds of results end: `web_search_tool_result` is one."""
_CALLS = ("functioncall", "tooluse", "toolcall", "toolrequest", "executablecode", "call")
"""How kinds of calls end: `web_search_call` is one."""
WRAPPED = frozenset((
    "functioncall", "tooluse", "toolcall", "functionresponse", "toolresult", "executablecode",
    "codeexecutionresult",
))  # fmt: skip
"""Fields that hold a part and are its kind."""
_SUMMARIES = frozenset(("compaction", "compactionsummary", "contextsummary"))
_THOUGHTS = ("thinking", "redactedthinking", "thought", "reasoning", "redactedreasoning")
"""How kinds of thoughts begin."""
_MEDIA = ("image", "inputimage", "outputimage", "audio", "inputaudio", "outputaudio", "video",
          "inputvideo", "media", "blob", "inlinedata", "filedata", "inputfile", "binary",
          "screenshot")  # fmt: skip
"""How kinds of parts without text begin."""
_MEDIA_KINDS = frozenset(("file", "uri", "resourcelink", "datauri"))
_PAYLOADS = frozenset((
    "data", "bytes", "url", "uri", "filedata", "fileid", "blob", "imageurl", "source", "image",
    "inputaudio", "content", "fileuri", "filename", "file", "audio",
))  # fmt: skip
_THOUGHT_FIELDS = frozenset((
    "reasoning", "reasoningcontent", "reasoningdetails", "reasoningtext", "reasoningsummary",
    "thinking", "thinkingblocks", "thinkingcontent", "thought", "thoughts", "toolplan",
    "chainofthought", "innerthoughts", "innermonologue",
))  # fmt: skip
"""Fields beside an answer in which models' thoughts stand."""
_SEALED_FIELDS = frozenset((
    "thoughtsignature", "thinkingsignature", "reasoningsignature", "encryptedcontent",
    "redactedcontent", "encryptedreasoning", "reasoningencrypted", "reasoningopaque",
))  # fmt: skip
"""Fields that hold a thought nobody can read."""
_MARKS = (
    ("<think>", "</think>"), ("<thinking>", "</thinking>"), ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"), ("[THINK]", "[/THINK]"), ("◁think▷", "◁/think▷"),
    ("<seed:think>", "</seed:think>"),
)  # fmt: skip
"""Marks with which models put a thought in front of an answer."""
_CHANNEL = re.compile(
    r"<\|channel\|>\s*(?P<channel>\w++)[^<]*+<\|message\|>(?P<text>.*?)"
    r"(?=<\|(?:end|return|call|start|channel)\|>|\Z)", re.DOTALL,
)  # fmt: skip
"""A channel of the harmony format of gpt-oss, with what a model wrote in it."""
_OPAQUE = re.compile(r"[A-Za-z0-9+/_\-]+={0,3}")
_LEAST_OPAQUE = 64
_DATA_URI = re.compile(r"data:[\w.+-]{1,80}/[\w.+-]{1,80}(?:;[\w=.+-]{1,80}){0,4},")
_REPRESENTED = re.compile(r"<(?:class '[\w.]+'|[\w.]+ object|[A-Z]\w*\([^<>]*\))>")
_ID = re.compile(
    r"[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
)
_PRINTED = re.compile(r"\[?[A-Z]\w{0,80}Message\w{0,80}\(\w{1,80}=")
_PRINTED_TEXT = re.compile(
    r"(?<=\W)(?:_?content|text)=('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")", re.DOTALL
)
_MOST_DEPTH = 8
ENDS = ".!?:\u2026\u3002\uff01\uff1f\u0964\u06d4\u061f"
"""Signs with which sentences end, in several writings."""


@lru_cache(maxsize=4_096)
def plain(name: str) -> str:
    """A name in small letters, without signs between its words."""
    return _SIGNS.sub("", name.lower())


def kind_of(part: Mapping[str, Any]) -> str:
    """The kind of a part, in small letters; empty where it names none."""
    named = next((part[key] for key in KIND_KEYS if isinstance(part.get(key), str)), "")
    return plain(named) if len(named) < 100 else ""


def kind_within(part: Mapping[str, Any]) -> str:
    """The kind of a part, also where a field of its own is the kind, as Gemini and Bedrock have it.

    Empty where it names none.
    """
    kind = kind_of(part)
    if kind or "role" in part or len(part) > 3:
        return kind
    wrapped = (plain(name) for name, one in part.items() if isinstance(one, dict))
    return next((name for name in wrapped if name in WRAPPED), "")


def is_text(kind: str) -> bool:
    """Return whether a part of this kind is a text."""
    return kind in _TEXTS


def is_result(kind: str) -> bool:
    """Return whether a part of this kind is what a tool returned."""
    return kind.endswith(_RESULTS)


def is_call(kind: str) -> bool:
    """Return whether a part of this kind is the call of a tool."""
    return kind.endswith(_CALLS) and not is_result(kind)


def is_summary(kind: str) -> bool:
    """Return whether a part is what a model wrote in place of earlier messages: no answer."""
    return kind in _SUMMARIES


def is_thought(part: Mapping[str, Any], kind: str) -> bool:
    """Return whether a part is a thought of a model, readable or not."""
    if kind.startswith(_THOUGHTS) or part.get("thought") is True:
        return True
    names = {plain(key) for key in part} if len(part) <= 3 else set()
    only = names - {"type", "signature", "index", *_SEALED_FIELDS}
    return bool(names) and only <= {"reasoningcontent"} and bool(names & {
        "reasoningcontent", *_SEALED_FIELDS,
    })  # fmt: skip


def is_thought_field(name: str) -> bool:
    """Return whether a field holds thoughts of a model, or what seals them."""
    bare = plain(name)
    return bare in _THOUGHT_FIELDS or bare in _SEALED_FIELDS


def is_seal(name: str) -> bool:
    """Return whether a field seals a thought, and holds none that can be read."""
    return plain(name) in _SEALED_FIELDS


def thought_text(value: Any, depth: int = 0) -> str:
    """Return what can be read of a thought; empty where it is sealed."""
    if isinstance(value, str):
        return "" if is_opaque(value) else value
    if depth > _MOST_DEPTH:
        return ""
    if isinstance(value, list):
        return "\n".join(filter(None, (thought_text(one, depth + 1) for one in value)))
    if not isinstance(value, dict):
        return ""
    parts = []
    for name, one in value.items():
        bare = plain(name)
        if bare in _THOUGHT_FIELDS or bare in ("text", "content", "summary", "value"):
            parts.append(thought_text(one, depth + 1))
    return "\n".join(filter(None, parts))


def without_thought(text: str) -> tuple[str, str]:
    """A text without the thought in front of it, and that thought.

    A model whose prompt ends with the opening mark writes the closing one alone.
    """
    start = text.lstrip()
    if start.startswith(("<|channel|>", "<|start|>")):
        return _without_channels(start)
    for opening, closing in _MARKS:
        at = start.find(closing)
        if at < 0 or (not start.startswith(opening) and opening in start):
            continue
        said = start[at + len(closing) :].lstrip()
        return said, start[:at].removeprefix(opening).strip()
    return text, ""


def _without_channels(text: str) -> tuple[str, str]:
    """Return what a model wrote in the final channel of the harmony format, and in all others."""
    said: list[str] = []
    thoughts: list[str] = []
    for told in _CHANNEL.finditer(text):
        (said if told["channel"] == "final" else thoughts).append(told["text"].strip())
    return "\n".join(filter(None, said)), "\n".join(filter(None, thoughts))


def is_opaque(text: str) -> bool:
    """Return whether a text is bytes or a seal, written in letters: nobody reads it."""
    bare = text.strip()
    if bare.startswith(("@@@langfuseMedia:", "data:")):
        return bare.startswith("@") or _DATA_URI.match(bare) is not None
    if len(bare) < _LEAST_OPAQUE or " " in bare[:200]:
        return False
    joined = bare.replace("\n", "").replace("\r", "")
    mixed = joined.lower() != joined != joined.upper() and any(map(str.isdigit, joined[:4_000]))
    return mixed and _OPAQUE.fullmatch(joined) is not None


def is_represented(text: str) -> bool:
    """Return whether a text is how Python prints an object that has no text."""
    bare = text.strip() if len(text) < 400 else ""
    if bare[:1] != "<" or bare[-1:] != ">":
        return False
    return " at 0x" in bare or _REPRESENTED.fullmatch(bare) is not None


@lru_cache(maxsize=256)
def printed_texts(text: str) -> tuple[str, ...]:
    """Return the texts of messages that Python printed as objects; none where it did not."""
    if _PRINTED.match(text) is None:
        return ()
    found = []
    for quoted in _PRINTED_TEXT.findall(text):
        try:
            inner = literal(quoted)
        except NO_LITERAL:
            continue
        if isinstance(inner, str) and inner.strip():
            found.append(inner)
    return tuple(dict.fromkeys(found))


def is_id(text: str) -> bool:
    """Return whether a text is a number that programs name things with."""
    return len(text) in (32, 36, 40, 64) and _ID.fullmatch(text) is not None


def media(part: Mapping[str, Any], kind: str) -> str | None:
    """The name of a part without text, such as `image/png`; None: it is another part."""
    names = {plain(key): key for key in part} if len(part) <= 12 else {}
    by_kind = kind.startswith(_MEDIA) or kind in _MEDIA_KINDS
    if kind == "document" or (not kind and "document" in names and len(part) == 1):
        inner = part.get("source") if kind else part[names["document"]]
        source = inner.get("source", inner) if isinstance(inner, dict) else inner
        held = set(map(plain, source)) if isinstance(source, dict) else set()
        by_kind = bool(held & {"bytes", "base64", "url", "fileid"}) or (
            isinstance(source, dict) and source.get("type") in ("base64", "url", "file")
        )
    if by_kind and (_PAYLOADS & names.keys() or len(part) <= 2):
        return _media_name(part) or kind or "document"
    if kind == "resource" and isinstance(part.get("resource"), dict):
        return _media_name(part["resource"]) or kind if "blob" in part["resource"] else None
    if not kind and len(part) <= 2:
        for name in names:
            if name in ("inlinedata", "filedata", "imageurl", "inputaudio") or (
                name in ("image", "audio", "video")
                and isinstance(part[names[name]], dict)
                and {"source", "format", "url", "data", "bytes"} & set(part[names[name]])
            ):
                inner = part[names[name]]
                return (_media_name(inner) if isinstance(inner, dict) else None) or name
    return None


def _media_name(part: Mapping[str, Any], depth: int = 0) -> str | None:
    for name, one in part.items():
        if plain(name) in ("mediatype", "mimetype") and isinstance(one, str):
            return one[:60]
    for one in part.values():
        if isinstance(one, dict) and depth < 3 and (found := _media_name(one, depth + 1)):
            return found
    return None
