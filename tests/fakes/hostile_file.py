"""A process in which every field that a person controls holds what a page must never run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

CLOSING = "".join(
    f"</{name}>"
    for name in (
        "title", "textarea", "script", "style", "svg", "noscript", "template", "option", "select",
        "button", "form", "summary", "details", "mark", "bdi", "code", "a", "p", "li", "ol", "td",
        "tr", "table", "div", "section", "main", "body", "html",
    )
)  # fmt: skip
PAYLOADS = (
    '<script>window.__hit=1;alert(1)</script><hostile-mark data-hostile="1">',
    '"><img src=x onerror="window.__hit=1;alert(2)"><hostile-mark>',
    "'><svg/onload='window.__hit=1;alert(3)'><hostile-mark>",
    f"{CLOSING}<hostile-mark onclick=alert(4)>-->]]></hostile-mark>",
    "javascript:window.__hit=1;alert(5)//",
    "{{7*7}}{% raw %}${7*7}#{7*7}<%= 7*7 %>{{ config }}",
    "<iframe srcdoc='<script>parent.__hit=1</script>'></iframe><base href=//evil.example/>",
    "<meta http-equiv=refresh content='0;url=//evil.example'>"
    "<link rel=stylesheet href=//evil.example/x.css>",
    "\u202eright to left\u202c \u2066isolated\u2069 \u200bzero\u200dwidth\ufeff\u00ad",
    "Z\u0353\u0351a\u0300\u0301\u0302\u0303\u0304l\u0489g\u0338o" + "\u0336" * 40,
    "line\u2028separator\u2029paragraph\x85next\x1b[31mred\x07\x7f nul\x00",
    "W" * 4000,
    "👩\u200d👩\u200d👧\u200d👦🏳️\u200d🌈🇫🇷 😀",
    "&lt;b&gt;&amp;&#60;script&#62;&quot;' <b>bold</b> &nbsp;",
    "-1+cmd|' /C calc'!A0\t=HYPERLINK(\"http://evil.example\")",
    "@everyone #1 http://evil.example/?q=<s> [x](javascript:alert(6)) ![i](http://evil.example/i.png)",
)
SHORT = tuple(payload[:190] for payload in PAYLOADS)
NODE_IDS = (
    "a/b//c", "..", ".", "%2F..%2f", "\"q\"'", "?x=1&y=2#z", "\\back\\slash", " ", "~", "+",
    "\u202ex", "//evil.example/", "javascript:alert(1)", "n\u2028n", "😀", "é" * 300, "{{7*7}}",
    "%", "%zz", ";a=b", "nul\x00", *PAYLOADS[:4],
)  # fmt: skip
ANSWER = "answer/<final>"


def hostile_process(path: Path, process_id: str = "hostile") -> str:
    """Write it; three claims of it were judged, one could not be, others were never checked."""
    document = {
        "format": "veritrail.process/1",
        "process_id": process_id,
        "name": PAYLOADS[0],
        "question": PAYLOADS[1],
        "stages": {"1": SHORT[0], "2": SHORT[3], "3": SHORT[2]},
        "nodes": [*_roots(), *_middle(), _node(ANSWER, 3, _answer(), PAYLOADS[3])],
        "edges": _edges(),
        "claims": _claims(),
        "verifications": _verifications(process_id),
        "reviews": _reviews(process_id),
    }
    path.write_text(json.dumps(document), encoding="utf-8")
    return str(path)


def _node(name: str, stage: int, text: str, payload: str) -> dict[str, Any]:
    return {
        "node_id": name,
        "stage": stage,
        "text": text,
        "kind": payload[:190],
        "step": payload[:190],
        "metadata": {payload[:190]: payload, "model": payload, "prompt": payload, "x": [payload]},
    }


def _roots() -> list[dict[str, Any]]:
    return [
        _node(name, 1, f"{PAYLOADS[place % len(PAYLOADS)]} Source {place}.", PAYLOADS[place % 8])
        for place, name in enumerate(NODE_IDS)
    ]


def _middle() -> list[dict[str, Any]]:
    return [
        _node(f"s/{place}", 2, f"{payload} It rained.", payload)
        for place, payload in enumerate(PAYLOADS)
    ]


def _answer() -> str:
    return " ".join(PAYLOADS)


def _edges() -> list[dict[str, str]]:
    count = len(PAYLOADS)
    up = [{"source": name, "target": f"s/{place % count}"} for place, name in enumerate(NODE_IDS)]
    return [*up, *({"source": f"s/{place}", "target": ANSWER} for place in range(count))]


def _claims() -> list[dict[str, Any]]:
    answer, claims, start = _answer(), [], 0
    for place, payload in enumerate(PAYLOADS):
        start = answer.index(payload, start)
        spot = {"start": start, "end": start + len(payload)} if place != 3 else {}
        subs = [payload, "plain"] if place < 8 else []
        claims.append(
            {
                "claim_id": f"k{place}",
                "text": payload,
                "node_id": ANSWER,
                "sub_claims": subs,
                **spot,
            }
        )
    return claims


def _verifications(process_id: str) -> list[dict[str, Any]]:
    kinds = ("FULLY_SUPPORTED", "NOT_FULLY_SUPPORTED", "INCONCLUSIVE", None)
    return [_verification(process_id, place, kinds[place % 4]) for place in range(12)]


def _verification(process_id: str, place: int, verdict: str | None) -> dict[str, Any]:
    payload = PAYLOADS[place]
    is_bad = verdict == "NOT_FULLY_SUPPORTED"
    return {
        "verification_id": f"v-{process_id}-{place}",
        "claim_id": f"k{place}",
        "claim": payload,
        "node_id": ANSWER,
        "q": 2,
        "engine": "openai",
        "model": payload[:190],
        "indicative": False,
        "created_at": "2026-01-31T09:30:00.000000Z",
        "status": "succeeded" if verdict else "failed",
        "verdict": verdict,
        "reasoning": payload if verdict else None,
        "termination": "only_roots_with_evidence_left" if verdict else None,
        "error_stages": [3] if is_bad else [],
        "error_nodes": [ANSWER] if is_bad else [],
        "iterations": [_iteration(1, verdict, place)] if verdict else [],
        "error": None if verdict else payload,
    }


def _iteration(number: int, verdict: str, place: int) -> dict[str, Any]:
    payload = PAYLOADS[place]
    sentence = {
        "node_id": f"s/{place}", "sentence": 0, "start": 0, "end": len(payload), "text": payload,
        "role": "evidence",
    }  # fmt: skip
    return {
        "number": number,
        "verdict": verdict,
        "reasoning": payload,
        "checked": [f"s/{each}" for each in range(len(PAYLOADS))],
        "carried_roots": [],
        "evidence": [sentence],
        "summaries": [
            {
                "text": payload,
                "missing": payload,
                "node_ids": [f"s/{place}"],
                "sentences": [sentence],
            }
        ],
    }


def _reviews(process_id: str) -> list[dict[str, Any]]:
    return [
        {
            "review_id": f"review-{process_id}-{place}-{who}",
            "claim_id": f"k{place}",
            "claim": PAYLOADS[place],
            "verdict": "INCONCLUSIVE" if place == 2 and who == 0 else "UNCLEAR",
            "kind": "confirmed" if place == 2 and who == 0 else "unclear",
            "reason": PAYLOADS[place + who],
            "reviewer": " ".join(PAYLOADS[who].split())[:100],
            "created_at": f"2026-02-0{who + 1}T09:30:00.000000Z",
            "overrides": f"v-{process_id}-{place}",
            "model_verdict": ("FULLY_SUPPORTED", "NOT_FULLY_SUPPORTED", "INCONCLUSIVE")[place],
        }
        for place in range(3)
        for who in range(2)
    ]
