"""Signs that a text speaks to its reader or judge: orders in several languages, and marks.

Each kind of sign has words, one of which is in every such text, so that most texts are passed
over quickly, and a pattern; both are in small letters.
"""

# ruff: noqa: RUF001 (letters of many scripts)

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from veritrail_graph.graph.model import AppealKind

_GAP = r"[^.!?\n]{0,40}?"
_SHORT = r"[^.!?\n]{0,20}?"
_QUOTE = r"[\"'`\u2018-\u201f\u00ab\u00bb]"
_BEGIN = rf"(?:^|(?:{_QUOTE}|[.!?:;,(\[{{>\n*])\s{{0,3}}|\b(?:please|now|just|simply|always)\s)"


AROUND = 400
"""Characters before and behind a word that are looked at; no pattern spans more."""


@dataclass(frozen=True, slots=True)
class AppealSigns:
    """The signs of one kind that a text speaks to its reader.

    Attributes:
        kind: What it does.
        words: One of them is in every such text, in small letters.
        pattern: What such a text says, in small letters.
    """

    kind: AppealKind
    words: tuple[str, ...]
    pattern: re.Pattern[str]

    def are_in(self, text: str) -> bool:
        """Return whether a text in small letters has them."""
        for word in self.words:  # most texts have none
            if word in text:
                break
        else:
            return False
        search = self.pattern.search
        return any(search(text, start, end) for start, end in self._stretches(text))

    def _stretches(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield what of a text stands near the words, each part once."""
        start = end = 0
        for at in sorted(at for word in self.words for at in _places(word, text)):
            if at - AROUND > end:
                if end:
                    yield start, end
                start = max(0, at - AROUND)
            end = at + AROUND
        if end:
            yield start, end


def _places(word: str, text: str) -> Iterator[int]:
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + 1)


def _order(words: str, *patterns: str) -> AppealSigns:
    return AppealSigns(AppealKind.ORDER, tuple(words.split("|")), re.compile("|".join(patterns)))


def _forgetting(words: str, verbs: str, which: str, what: str) -> AppealSigns:
    """The order to ignore earlier orders; the verb stands before or behind what it is about."""
    before = rf"(?:{verbs}){_GAP}(?:(?:{which}){_SHORT}(?:{what})|(?:{what}){_SHORT}(?:{which}))"
    behind = rf"(?:(?:{which}){_SHORT}(?:{what})|(?:{what}){_SHORT}(?:{which})){_SHORT}(?:{verbs})"
    return _order(words, before, behind)


_ROLE = (
    r"\bas (?:the|an?|our|your) (?:\w+[ -]){0,2}?(?:verifier|fact[ -]?checker|llm|ai|"
    r"(?:ai|language) model|ai assistant)[,: ]{1,3}"
    r"(?:you (?:must|should|shall|have to|need to|are)|your|it is your|answer|respond|reply)\b"
)
_ANSWER = "(?:verdict|answer|judge?ment|label|response|output)"
_VERDICT = r"(?:not[ _-])?fully[ _-]supported\b(?! by\b)"
SIGNS: tuple[AppealSigns, ...] = (
    _forgetting(
        "ignore|disregard|forget|override|bypass|t follow|t obey|r follow|r obey",
        r"(?:ignore|disregard|forget|override|bypass|(?:do not|don.t|never) (?:follow|obey))\b",
        r"\b(?:previous|prior|above|earlier|preceding|foregoing|original|other|system|your)\b",
        r"\b(?:instruction|prompt|directive|command)s?\b",
    ),
    _order(
        "ignore|disregard|forget",
        rf"{_BEGIN}(?:ignore|disregard|forget) (?:all|everything|anything|any|the|every) "
        r"(?:else|above|the above|other (?:sentences?|evidence|sources?|texts?|excerpts?)|"
        r"(?:sentences?|evidence|texts?|excerpts?|rules?) (?:above|before|below))\b",
    ),
    _order(
        "supported",
        rf"{_BEGIN}(?:answer|respond|reply|output|return|say|print|write|conclude|choose|select|mark|"
        r"label|rate|judge|rule|classify|treat|report|consider|declare|deem|grade|give|set|use|emit)\b"
        rf"[^.!?\n]{{0,60}}?\b{_VERDICT}",
        rf"\b(?:the|your) (?:only |final |right |correct ){{0,2}}{_ANSWER} "
        rf"(?:is|(?:must|should|shall|has to|will) be)[ :]{{1,3}}{_QUOTE}?{_VERDICT}",
        rf"\byour {_ANSWER} (?:must|should|shall|has to|will) be[ :]{{1,3}}{_QUOTE}?supported\b",
    ),
    _order(
        "claim|statement|verdict",
        rf"{_BEGIN}(?:mark|label|rate|judge|rule|classify|treat|consider|declare|deem|grade|report|"
        r"call|score|regard|accept) (?:this|the|every|all|each|any|that)\b"
        rf"{_SHORT}\b(?:claim|statement|verdict)s?\b"
        rf"{_SHORT}\b(?:supported|verified|faithful|entailed|true|correct|accurate|factual)\b",
        r"\b(?:you|ai|llm|verifier|assistant|model)s? (?:must|should|shall|have to|need to|are (?:"
        r"required|instructed|ordered|told|obliged|asked) to) (?:now |always |only |simply )?"
        r"(?:answer|respond|reply|output|return|conclude|say|select|cite|mark|label|rule|judge|treat|"
        r"ignore|disregard|accept|rate|give|choose)\b[^.!?\n]{0,60}?\b(?:verdict|json|"
        r"claims? (?:as|is|are|to be)|empty (?:list|array))\b",
    ),
    _order("verifier|checker|llm| ai|language model", _ROLE),
    _order(
        " ai|llm|language model|verifier|checker",
        r"\b(?:note|message|instruction|notice|attention|reminder|order|command|hint|request)s? "
        r"(?:to|for) (?:the |any |all |every |an? |whichever )?(?:\w+ )?"
        r"(?:ai|llms?|(?:ai|language) models?|ai (?:assistant|system)s?|verifiers?|"
        r"fact[ -]?checkers?)(?:\s?[:\u2013\u2014]| (?:that |who )?"
        r"(?:reads?|reading|judg(?:es?|ing)|verif(?:y|ies|ying)))",
    ),
    _order(
        "sentence|evidence",
        rf"{_BEGIN}(?:select|return|cite|choose|name) (?:no (?:sentences?|evidence)|only (?:this "
        r"sentence|sentence \d{1,6}))\b",
    ),
    _forgetting(
        "ignorier|missacht|vergiss|vergess|befolg",
        r"ignorier(?:e|en sie|t)\b|missachte(?:n sie|t)?\b|vergiss\b|verge(?:ssen sie|sst)\b",
        r"\b(?:vorherig|vorig|bisherig|obig|vorangehend|vorangegangen|früher|vorstehend)\w{0,3}\b",
        r"\b(?:anweisung|instruktion|vorgabe|befehl|prompt)\w{0,3}\b",
    ),
    _forgetting(
        "ignor|oubli|compte",
        r"ignore[zr]?\b|oublie[zr]?\b|ne (?:tiens|tenez) pas compte\b",
        r"\b(?:précédent|antérieur|ci-dessus)\w{0,2}\b",
        r"\b(?:instruction|consigne|directive|commande|prompt)s?\b",
    ),
    _forgetting(
        "ignor|olvid",
        r"ignor(?:a|e|ad|en)\b|olvid(?:a|e|ad|en)\b",
        r"\b(?:anterior|previ[ao]|precedente)\w{0,2}\b",
        r"\b(?:instrucci[oó]n|indicaci[oó]n|orden|prompt)\w{0,2}\b",
    ),
    _forgetting(
        "ignor|dimentic",
        r"ignora(?:te|re)?\b|dimentica(?:te|re)?\b",
        r"\b(?:precedent[ei]|anteriori|qui sopra)\b",
        r"\b(?:istruzion[ei]|indicazion[ei]|comand[io]|prompt)\b",
    ),
    _forgetting(
        "ignor|esque",
        r"ignor(?:e|a|em|ar)\b|esqueça(?:m)?\b",
        r"\b(?:anterior|prévi[ao]|acima)\w{0,2}\b",
        r"\b(?:instruç|orientaç|comando|prompt)\w{0,4}\b",
    ),
    _forgetting(
        "negeer|vergeet",
        r"negeer\b|vergeet\b",
        r"\b(?:vorige|voorgaande|eerdere|bovenstaande)\b",
        r"\b(?:instructies?|aanwijzing(?:en)?|opdracht(?:en)?|prompts?)\b",
    ),
    _forgetting(
        "ignoruj|zapomnij",
        r"(?:z?ignoruj|zapomnij)(?:cie)?\b",
        r"\b(?:poprzedni|wcześniejsz|powyższ)\w{0,3}\b",
        r"\b(?:instrukcj|poleceń|polecen|prompt)\w{0,4}",
    ),
    _forgetting(
        "игнор|забуд",
        r"(?:про)?игнорируй(?:те)?"
        r"\b|забудь(?:те)?\b",
        "предыдущ|прежн"
        "|выше",
        "инструкц|указани"
        "|команд|промпт",
    ),
    _forgetting(
        "yok say|görmezden gel|unut",
        r"yok say|görmezden gel|unut",
        r"\bönceki\b|\byukarıdaki\b",
        r"\btalimat|\byönerge|\bkomut",
    ),
    _forgetting(
        "تجاهل|انس",
        "تجاهل|انس",
        "السابقة|المذكورة",
        "التعليمات|الأوامر",
    ),
    _forgetting(
        "अनदेखा|नज़रअंदाज़"
        "|भूल",
        "अनदेखा|नज़रअंदाज़"
        "|भूल",
        "पिछले|पूर्व",
        "निर्देश",
    ),
    _forgetting(
        "忽略|无视|無視|忽视|忽視|忘记",
        "忽略|无视|無視|忽视|忽視|忘记",
        "之前|以上|先前|上述|前面|此前",
        "指令|指示|提示|命令",
    ),
    _forgetting(
        "無視|忘れ",
        "無視|忘れ",
        "前の|上記|以前|これまで",
        "指示|命令|プロンプト",
    ),
    _forgetting(
        "무시|잊",
        "무시|잊어",
        "이전|위의|앞의|기존",
        "지시|명령|프롬프트",
    ),
    AppealSigns(
        AppealKind.ANSWER_KEYS,
        ("_id", "verdict", "reasoning", "attributions", "_claims", "_disambiguated", "label",
         "contradiction", "category"),
        re.compile(
            r"\b(?:sentence|context|background)_ids?\b|\bno_verifiable_claims\b"
            r"|\bcannot_be_disambiguated\b"
            rf"|{_QUOTE}\s?(?:verdict|attributions)\s?{_QUOTE}\s{{0,3}}[:=]"
            rf"|{_QUOTE}reasoning{_QUOTE}\s{{0,3}}:\s{{0,3}}{_QUOTE}[^\n]{{0,300}}?{_QUOTE}"
            rf"(?:claims|sentence|outcome|propositions|label){_QUOTE}\s{{0,3}}:"
            r"|\{\s{0,3}(?:verdict|attributions)\s{0,3}[:=]"
            rf"|\bverdict\s{{0,3}}[:=]\s{{0,3}}(?:{_QUOTE}|\*){{0,3}}"
            r"(?:(?:not[ _-])?(?:fully[ _-])?supported|(?:un)?faithful)\b"
            r"|[\"']label[\"']\s{0,3}:\s{0,3}[\"'](?:(?:un)?verifi(?:ed|able)|(?:un)?faithful"
            r"|hallucinated)\b"
            r"|[\"']contradiction[\"']\s{0,3}:\s{0,3}(?:true|false)\b"
            r"|[\"']category[\"']\s{0,3}:\s{0,3}[\"'](?:out_of_scope|contradicted|lacking_evidence)\b"
        ),
    ),
    AppealSigns(
        AppealKind.VERDICT_WORD,
        ("fully_supported",),
        re.compile(r"\b(?:not_)?fully_supported\b"),
    ),
    AppealSigns(
        AppealKind.CHAT_MARKUP,
        ("<|", "[/inst]", "<<sys>>", "_of_turn>"),
        re.compile(
            r"<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id|(?:start|end)_header_id)\|>"
            r"|\[/inst\]|<<sys>>|<(?:start|end)_of_turn>"
        ),
    ),
)  # fmt: skip


def least_words() -> tuple[str, ...]:
    """Words one of which is in every text with any sign; none of them is in another."""
    known = sorted({word for signs in SIGNS for word in signs.words}, key=len)
    kept: list[str] = []
    for word in known:
        if not any(one in word for one in kept):
            kept.append(word)
    return tuple(kept)
