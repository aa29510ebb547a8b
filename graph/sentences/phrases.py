"""Set phrases with which assistants greet, announce and close, in several languages."""

from __future__ import annotations

import re


def _any(*phrases: str) -> str:
    return "|".join(phrase for some in phrases for phrase in some.split("; "))


WHOLE = re.compile(
    _any(
        r"(?:hello|hi|hey|good (?:morning|afternoon|evening)|dear)(?:,? \S+){0,2},?"
        r"(?:(?: and)? (?:thank you|thanks)(?: for .*)?)?",
        r"(?:sure|certainly|absolutely|of course|great|okay|ok|yes|no|right|understood|"
        r"got it|thanks)"
        r"(?: thing)?(?: not)?",
        r"(?:that's|what) an? (?:great|good|excellent|interesting) question; (?:great|"
        r"good) question",
        r"thank you(?: (?:very|so) much)?(?: for .*)?; thanks (?:a lot|for .*); you're welcome",
        r"no problem; oh (?:no|dear|yes); good luck; see (?:below|above)(?: for .*)?; "
        r"not applicable",
        r"(?:best|kind|warm) (?:regards|wishes).*; (?:yours )?sincerely.*; cheers; all the best",
        r"(?:hallo|guten (?:tag|morgen|abend)|liebe[rs]? \S+|sehr geehrte[rs]?)(?: \S+){0,2}",
        r"(?:gerne?|natürlich|selbstverständlich|klar|sicher|ja|nein|alles klar|"
        r"gute frage)(?: doch)?",
        r"(?:vielen dank|danke)(?: .*)?; (?:mit freundlichen|viele|beste|freundliche|"
        r"liebe) grüßen?.*",
        r"(?:bonjour|bonsoir|salut)(?: \S+){0,2}; bien sûr; certainement; avec plaisir; "
        r"cordialement",
        r"merci(?: .*)?; bonne question; (?:hola|buen[oa]s (?:días|tardes|noches))(?: \S+){0,2}",
        r"¿?claro(?: que sí)?; por supuesto; (?:muchas )?gracias(?: .*)?; un saludo; saludos.*",
        r"(?:olá|oi|bom dia|boa tarde)(?: \S+){0,2}; com certeza; (?:muito )?obrigad[oa](?: .*)?",
        r"(?:ciao|buongiorno|salve)(?: \S+){0,2}; certo; certamente; grazie(?: .*)?; "
        r"cordiali saluti",
        r"natuurlijk; zeker; goede vraag; dank je(?: wel)?.*; met vriendelijke groet.*; "
        r"merhaba; elbette",
        r"(?:здравствуйте|привет|добрый день)(?:,? \S+){0,2}; конечно; разумеется; "
        r"спасибо(?: .*)?",
        r"с уважением.*; (?:你好|您好|大家好|好的|当然(?:可以)?|没问题|谢谢(?:您|"  # noqa: RUF001
        r"你)?.{0,12}|不客气)",
        r"是的|不是|以上; (?:こんにちは|はい|いいえ|もちろん(?:です)?|"
        r"承知(?:いた)?しました|わかりました)",
        r"ありがとうございます|よろしくお願いします; (?:안녕하세요|네|아니요|물론(?:이죠|"
        r"입니다)?|감사합니다)",
        r"(?:مرحبا|أهلا|بالتأكيد|بالطبع|شكرا)(?: \S+){0,2}; (?:नमस्ते|ज़रूर|धन्यवाद)(?: \S+){0,2}",
        r"สวัสดี(?:ครับ|ค่ะ)?|ได้เลย(?:ครับ|ค่ะ)?|ขอบคุณ(?:ครับ|ค่ะ)?",
    ),
    re.IGNORECASE,
)
"""Whole sentences that state nothing."""

_OPENER = (
    r"(?:(?:sure|certainly|absolutely|of course|okay|ok|yes|great|gerne?|natürlich|klar|bien sûr|"
    r"claro|por supuesto|certo|natuurlijk|конечно|当然|好的|はい|もちろん|"
    r"물론)[,!.，！、 ]+)?"  # noqa: RUF001
)

_ANNOUNCED = _any(
    r"(?:here (?:is|are|'s)|here you go|below (?:is|are)|the following (?:is|are)|"
    r"this is (?:the|a|my) "
    r"(?:answer|summary|overview|list))\b",
    r"hier (?:ist|sind|eine?)\b; im folgenden\b; nachfolgend\b; voici\b; ci-dessous\b; "
    r"a continuación\b",
    r"aquí (?:está|están|tienes?|le)\b; aqui (?:está|estão)\b; ecco\b; di seguito\b; "
    r"hier (?:is|zijn)\b",
    r"вот\b; ниже\b; işte\b; 以下(?:是|为|は|に); 下面是; 다음은; 아래는; إليك; فيما يلي; "
    r"यहाँ; นี่คือ",
)

LEAD_IN = re.compile(
    rf"{_OPENER}(?:{_ANNOUNCED})[^:：\n]{{0,120}}[:：]\s*(?=\S)",  # noqa: RUF001
    re.IGNORECASE,
)
"""An announcement before what is stated: "Sure, here is the answer: …"."""

ASIDE = re.compile(
    _OPENER
    + "(?:"
    + _any(
        _ANNOUNCED,
        r"i (?:really |do )?hope (?:this|that|it|these|you); hope (?:this|that|it) helps",
        r"(?:please )?(?:let me know|feel free|do not hesitate|don't hesitate|reach out|"
        r"contact us)\b",
        r"if you (?:have|need|want|would like|'d like)\b.{0,80}\b(?:ask|know|help|assist|"
        r"question|free)",
        r"i(?:'m| am) (?:happy|glad|here|sorry|unable|not able|not sure|an ai)\b; as an ai\b",
        r"i(?:'d| would| will|'ll) be (?:happy|glad); i apologi[sz]e; (?:we're |we are )?sorry\b",
        r"i (?:do not|don't|cannot|can't|could not|couldn't) (?:know|have|answer|find|"
        r"provide|help)\b",
        r"is there anything else; would you like; thank you for\b; thanks for\b",
        r"let(?:'s| us) (?:look|take|dive|break|start|begin|go)\b; i(?:'ll|"
        r" will) (?:now )?(?:explain|go)\b",
        r"ich hoffe,?\b; (?:bitte )?(?:lass|lassen sie|gib|geben sie) mi[rc]h?\b; "
        r"wenn (?:du|sie) .{0,60}fragen",
        r"falls (?:du|sie) .{0,60}fragen; zögern sie nicht; (?:es )?tut mir leid; "
        r"ich weiß (?:es )?nicht",
        r"ich (?:kann|konnte) .{0,60}(?:nicht|keine)\b.{0,60}(?:beantworten|finden); als ki\b",
        r"j'espère (?:que|avoir); n'hésitez pas; n'hésite pas; "
        r"si vous avez .{0,60}questions?; je suis désolée?",
        r"je ne (?:sais|peux) pas; espero que; no dud(?:es|e) en; "
        r"si tienes? .{0,60}preguntas?; lo siento",
        r"no lo sé; se tiver .{0,60}(?:dúvidas?|perguntas?); desculpe; spero che; "
        r"mi dispiace; non so\b",
        r"fammi sapere; ik hoop dat; laat me weten; надеюсь; если у вас .{0,60}вопрос; "  # noqa: RUF001
        r"извините; я не знаю",
        r"umarım; 希望(?:这|以上|对|能).{0,20}(?:帮助|有用|帮到); 如(?:果|"  # noqa: RUF001
        r"有).{0,30}(?:问题|疑问|需要)",
        r"(?:抱歉|对不起|不好意思); 我(?:不知道|无法|不能)(?:回答|提供|确定)?; 请(?:随时|"
        r"告诉我); 作为(?:一个)?(?:ai|人工智能)",
        r".{0,30}(?:お役に立て|お気軽に|申し訳); わかりません; .{0,30}(?:도움이 되|궁금한|죄송)",
        r"(?:آمل|أتمنى) أن; (?:आशा|उम्मीद) है; मुझे (?:नहीं )?पता",
    )
    + ")",
    re.IGNORECASE,
)
"""Beginnings of sentences that state nothing."""

REFERENCES = re.compile(
    _any(
        r"(?:(?:list of )?references?|sources?|citations?|bibliography|works cited|"
        r"further reading|"
        r"footnotes?|endnotes?|see also|links?)(?: (?:used|cited|consulted))?",
        r"quellen(?:verzeichnis|angaben)?; literatur(?:verzeichnis)?; (?:einzel)?nachweise; "
        r"referenzen",
        r"références?; bibliographie; sources? citées; referencias; fuentes; bibliografía; "
        r"referências",
        r"fontes; bibliografia; riferimenti; fonti; bronnen; referenties; источники; "
        r"литература; kaynaklar",
        r"参考文献|参考资料|来源|引用|出典|参照; 참고 ?문헌|출처; المراجع|المصادر; संदर्भ|"
        r"स्रोत; อ้างอิง",
    ),
    re.IGNORECASE,
)
"""Headings of lists of references."""
