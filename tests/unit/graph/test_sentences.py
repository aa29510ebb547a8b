"""Sentences of a node: offsets that hold, layout that ends them, time that stays linear."""

from __future__ import annotations

import hashlib
import json
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from veritrail_graph.api.app.samples import FOLDER, SAMPLES
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.sentences import SentenceSplitter
from veritrail_graph.graph.sentences.plain_ends import plain_spans
from veritrail_graph.graph.sentences.tables import tokenizer

SPLITTER = SentenceSplitter.for_language("english")


def texts(text: str) -> list[str]:
    return [sentence.text for sentence in SPLITTER.split("n", text)]


def check_offsets(text: str) -> None:
    sentences = SPLITTER.split("n", text)
    covered = 0
    for index, sentence in enumerate(sentences):
        assert sentence.node_id == "n"
        assert sentence.index == index
        assert sentence.text == text[sentence.start : sentence.end]
        assert sentence.text
        assert sentence.text == sentence.text.strip()
        assert not text[covered : sentence.start].strip()
        assert sentence.start >= covered
        covered = sentence.end
    assert not text[covered:].strip()


# Pieces that meet the rules of layout far more often than random characters do.
WORDS = (
    "Yahoo! ",
    "Inc. ",
    "was? ",
    "Dr. ",
    "Smith",
    " went. ",
    "He",
    "A. ",
    "TITLE",
    "! ",
    '." ',
    ") ",
    "...",
    "x" * 1_100,
    "**Tern.** ",
    '"좋다."고 ',
    "« Oui. » ",
    "red.2,3 ",
    "old.(1) ",
    "It is 4.\n5 euros",
    "渡轮很红\n",
    "เรือเฟอร์รี่บรรทุกรถยนต์มาก ",
    "།  ",
)
MARKS = (
    "# ",
    "- ",
    "1. ",
    "a) ",
    "|",
    "---",
    "===",
    "\u2022 ",
    "\U0001f389",
    "e\u0301",
    "\u53e5\u3002",
)
SPACE = ("\n\n", "\r\n", *"\n\x85\u2028\u2029\u00a0\u3000\x1c\f\v\ufeff\u200b ")
PIECES = st.sampled_from(WORDS + MARKS + SPACE)


@settings(max_examples=25, deadline=None)
@given(st.one_of(st.text(), st.lists(PIECES).map("".join)))
@example("")
@example(" \r\n\t\x85 ")
@example("!!! ... ???")
@example("x" * 3_000 + ". Then")
def test_every_visible_character_is_in_exactly_one_sentence(text: str) -> None:
    check_offsets(text)


@settings(max_examples=15, deadline=None)
@given(st.lists(PIECES).map("".join))
def test_splitting_twice_gives_the_same(text: str) -> None:
    assert SPLITTER.split("n", text) == SentenceSplitter.for_language("english").split("n", text)


def test_text_without_visible_characters_has_no_sentences() -> None:
    assert SPLITTER.split("n", "") == ()
    assert SPLITTER.split("n", " \n\u2003\r\n") == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Dr. Smith went home. He slept.", ["Dr. Smith went home.", "He slept."]),
        ("Dr. Smith (b. 1921) wrote. So.", ["Dr. Smith (b. 1921) wrote.", "So."]),
        ("Ada (b. 3 May 1921; d. June 1980). So.", ["Ada (b. 3 May 1921; d. June 1980).", "So."]),
        ("A poet (fl. c. 1200; r. ca. 1210).", ["A poet (fl. c. 1200; r. ca. 1210)."]),
        ("A king (or two; fl. May 1200).", ["A king (or two; fl. May 1200)."]),
        ("It is plan b. 1921 was good.", ["It is plan b.", "1921 was good."]),
        ("Τι είναι; Ένα πλοίο.", ["Τι είναι;", "Ένα πλοίο."]),  # noqa: RUF001
        ("Τι είναι\u037e Ένα πλοίο.", ["Τι είναι\u037e", "Ένα πλοίο."]),  # noqa: RUF001
        ("«Τι είναι;» είπε. Ναι.", ["«Τι είναι;» είπε.", "Ναι."]),  # noqa: RUF001
        ("With α; Β holds.", ["With α; Β holds."]),  # noqa: RUF001
        ("བོད་ཡིག་ཡིན། དེ་ནས་སོང༌། །མཐར་སླེབས།", ["བོད་ཡིག་ཡིན།", "དེ་ནས་སོང༌། །", "མཐར་སླེབས།"]),
        ("It cost 4.5 tons. (Really!) Yes.", ["It cost 4.5 tons.", "(Really!)", "Yes."]),
        ("Wait… what? ... Yes", ["Wait… what? ...", "Yes"]),
        ("One.\u00a0Two.\u2003Three.", ["One.", "Two.", "Three."]),
        ("A wrapped\nsentence ends.\r\nNext one.", ["A wrapped\nsentence ends.", "Next one."]),
        ("left\u2028over wrap. Two", ["left\u2028over wrap.", "Two"]),
        ("no full stop\n\nnext block", ["no full stop", "next block"]),
        ("paragraph one\u2029paragraph two", ["paragraph one", "paragraph two"]),
        ("# Part one\nText of it", ["# Part one", "Text of it"]),
        ("Title of it\n=====\nText", ["Title of it\n=====", "Text"]),
        ("It ended.\nHARBOUR HISTORY\nIt began.", ["It ended.", "HARBOUR HISTORY", "It began."]),
        (
            "Costs\nThe harbour cost more than it earned.",
            ["Costs", "The harbour cost more than it earned."],
        ),
        (
            "**Costs**\nThe harbour cost more than it earned.",
            ["**Costs**", "The harbour cost more than it earned."],
        ),
        ("- cod\n- eel\n* ling\n• hake", ["- cod", "- eel", "* ling", "• hake"]),
        ("- a wrapped\n  item\n- two", ["- a wrapped\n  item", "- two"]),
        ("- eel\nThe catch was good.", ["- eel", "The catch was good."]),
        ("1. The catch grew.\n2. It fell.", ["1. The catch grew.", "2. It fell."]),
        ("a) first\nb) second", ["a) first", "b) second"]),
        ("Fish:\n1) cod\n2) eel", ["Fish:", "1) cod", "2) eel"]),
        ("| a | b |\n|---|---|\n| 1. X | Y. Z |", ["| a | b |\n|---|---|", "| 1. X | Y. Z |"]),
        ("| a |\nAfter the table.", ["| a |", "After the table."]),
        ("Before.\n---\nAfter it.", ["Before.\n---", "After it."]),
        (
            "渡轮每天运载42辆车\n它很大\n它于1962年开始",
            ["渡轮每天运载42辆车", "它很大", "它于1962年开始"],
        ),
        ("一、渡轮\n（1）它很大\n（2）它很红", ["一、渡轮", "（1）它很大", "（2）它很红"]),  # noqa: RUF001
        ("เรือบรรทุกรถ 42 คัน\nมันวิ่งทุกวัน", ["เรือบรรทุกรถ 42 คัน", "มันวิ่งทุกวัน"]),
        ("Sources:\n[1] Smith.\n[2] Doe.", ["Sources:", "[1] Smith.", "[2] Doe."]),
    ],
)
def test_layout_and_punctuation_end_sentences(text: str, expected: list[str]) -> None:
    assert texts(text) == expected
    check_offsets(text)


@pytest.mark.parametrize(
    "text",
    [
        "渡轮可载48辆汽车。|港口费涨到4欧元！|真的吗？|是的．|共3．5欧元。",  # noqa: RUF001
        "他说：“好。”|然后他走了。|他说：“好！”，走了。|好.|不好.",  # noqa: RUF001
        "「行く。」と言った。|彼は来た！|本当？|（後述。）|はい｡",  # noqa: RUF001
        "नौका 42 कारें ले जाती है।| यह प्रतिदिन चलती है॥| डॉ. शर्मा आए।",
        "كم سيارة تحمل؟| تحمل 42 سيارة۔| هي حمراء.| د. أحمد هنا.",  # noqa: RUF001
        "Լավ է։| Այո։| ጤና ይስጥልኝ።| እንዴት ነህ፧| ကောင်းပါတယ်။| ល្អ។| បាទ៕",  # noqa: RUF001
        "Είναι εδώ.| Паром ходит ежедневно, т.е. каждый день, и т.д. и т.п.| Он красный.",  # noqa: RUF001
        "The plan is in Fig. 3 of the report.| Ferry No. 5 is approx. 61 m long.",
        "See Sec. 2, Vol. IV, pp. 5-7 and Jan. 5 (cf. Smith et al. on e.g. Cod, i.e. big ones).",
        "Eels, cod etc. are sold vs. ling.| It is 3 in. wide.| It cost more.| then less.",
        "J. R. R. Tolkien and A. Brown met Dr. Lee.| Plan B.| The end.",
        "Yahoo! Inc. was founded by Yang.| He left Yahoo! Finance.| I like Yahoo!| It is old.",
        "Jeopardy! was first aired in 1964.| *Airplane!* and E! News ran.| Go! Inc.| It ran.",
        'She wrote "Who Is Afraid?" in 1962.| (Really!) said Tom.| He cried "Fire!"| Tom ran.',
        "Is it open?| Yes.| Fire!| Get out.| He asked why?| eBay rose.| Is it?| Inc. asked so.",
        "so what?| really?| i know.",
        "Acme Inc. Chairman Lee met Tyco Intl. Ltd. of Gary, Ind. in May.| Apple Inc.| It fell.",
        "Sony Corp. and Tata Ltd. in the U.S. Virgin Islands rose.| Mt. Fuji is in no U.S. state.",
        "It left at 9:30 a.m. for Ives.| At 5 p.m.| It came back at 6 p.m. on Monday.",
        "It rose by 4.5, he said ... and fell.| Well… it fell.| It costs .5 euros.",
        "Am 3. Oktober kam er, d.h. spät.| Der 2. und 3. Mai.| Es sind 5 Mio. Euro bzw. Nr. 4.",
        "Er wurde z. B. 1931 gebaut.| Dort steht u. a. Die Brücke, d. h. die alte.| Sie steht.",
        "C'est p. ex. Paris.| La Sra. López, por ej. Madrid.| M. Dupont vient.",
        "It carries 42 cars.[1]| It runs daily.[2][3]| It is red.¹| It sank.【4†a】| It rose.",
        "It carries 42 cars. [1]| It runs. [Data: Reports (2, 3)]| It is red. [Smith 2020]| End.",
        "It is old.1| It is red.2,3| It runs, see Fig.3 Now.| He rowed.12\u201314| It ran.5",
        'It is old.（1）| It is red.(2)| It ended.^1^| It is "red."4| It sank.[^note]| It rose.',  # noqa: RUF001
        "It is red.[^Data: Reports (1)]| It is old.[数据：报告（1）]| Last.\u200b[6]| End.",  # noqa: RUF001
        "**Tern.**| It carries cars.| *Gull.*| It sank.| ***Auk!***| It is *red.*| *Then* it ran.",
        '저는 "좋다."고 말했다.| 그는 "정말?"이라고 물었다.| 그는 갔다.',
        "Il a 42 places.| « C'est vrai. »| Il part.| « Bon. » dit-il.| « Ah ! » fit-elle.| Fin.",
        'He said "Go." and went.| It is so.| (Really.)| No.',
        "The fare is 4.\n5 euros a car.| It began in 1962.\n|1963 was better.| It had 3.\n|Then 4.",
        "It is red.| [2] says so.| Cars [1] are red.| See https://a.b/c. and that.| The end.",
    ],
)
def test_sentences_of_many_languages_and_shapes(text: str) -> None:
    expected = [one.strip() for one in text.split("|")]
    assert texts(text.replace("|", "")) == expected
    check_offsets(text)


def test_thai_and_lao_are_cut_at_spaces_between_clauses_of_some_length() -> None:
    clauses = [
        "เรือข้ามฟากชื่อนางนวลบรรทุกรถได้ 48 คัน และออกทุกวัน",
        "ค่าโดยสารสำหรับรถหนึ่งคันคือ 4 ยูโร",
        "อู่เรือเก่าถูกขายไปเมื่อปี 1999 โดยเมืองท่า",
        "ຄ່າໂດຍສານສຳລັບລົດໜຶ່ງຄັນແມ່ນສີ່ເອີໂຣ",
    ]
    assert texts(" ".join(clauses)) == clauses
    assert texts("กาแฟ ชา นม น้ำ") == ["กาแฟ ชา นม น้ำ"]
    check_offsets(" ".join(clauses))


SAMPLES_SPLIT = "5b3dbf69c954e1863690c9518387c9a9778f87f9618cce85ba672385d11cb289"


def test_the_samples_are_split_as_when_their_answers_were_recorded() -> None:
    # Answers are looked up by the hash of a prompt, and a prompt numbers sentences.
    split = {}
    for name in SAMPLES:
        sample = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
        for node in sample["nodes"]:
            spans = [(one.start, one.end) for one in SPLITTER.split("", node["text"])]
            split[f"{name}/{node['node_id']}"] = spans
    assert (len(split), sum(map(len, split.values()))) == (105, 517)
    found = hashlib.sha256(json.dumps(split, sort_keys=True).encode()).hexdigest()
    assert found == SAMPLES_SPLIT


@pytest.mark.parametrize(
    "text",
    [
        "The harbour was built in the years before the war by\nLeeds masons and men of the coast.",
        "He joined the board of the\nUNESCO\nand stayed there for many years.",
        "The meeting was put off to the evening of May\n12 because of the storm.",
        "The United Nations and\nThe World Bank agreed on it and on many other things.",
        "渡轮每天从北方的港口运载四十二辆汽车和许多乘客\n到海湾对面的小镇并且在晚上返回港口",
        "渡轮每天运载汽车，\n并且很大",  # noqa: RUF001
        "They sold cod, herring and eel - all of it fresh - to\nthe markets of the north.",
    ],
)
def test_hard_wrapped_prose_is_not_cut(text: str) -> None:
    assert texts(text) == [text]


def test_abbreviations_come_from_the_tables_of_the_package() -> None:
    from punkt.data import english

    assert "prof" in english.ABBREV_TYPES
    assert texts("Prof. Brakke of St. Ives came. He left.") == [
        "Prof. Brakke of St. Ives came.",
        "He left.",
    ]


def test_another_language_of_the_package() -> None:
    german = SentenceSplitter.for_language("german")
    found = german.split("n", "Das kostet z.B. viel. Er ging.")
    assert [sentence.text for sentence in found] == ["Das kostet z.B. viel.", "Er ging."]


def test_a_language_is_read_from_the_users_own_data(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    import nltk.data

    monkeypatch.setattr(nltk.data, "path", [])
    tokenizer.cache_clear()
    with pytest.raises(InputError, match="nothing is downloaded"):
        SentenceSplitter.for_language("klingon")

    folder = tmp_path / "tokenizers" / "punkt_tab" / "klingon"  # type: ignore[operator]
    folder.mkdir(parents=True)
    for name in ("collocations.tab", "sent_starters.txt", "ortho_context.tab"):
        (folder / name).write_text("")
    (folder / "abbrev_types.txt").write_text("qap\n")
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    found = SentenceSplitter.for_language("klingon").split("n", "ab qap. cd ef. gh")
    assert [sentence.text for sentence in found] == ["ab qap. cd ef.", "gh"]


@pytest.mark.parametrize("name", ["", "../english", "English", "a b", "x" * 60, "english/"])
def test_a_name_that_is_no_language_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="language"):
        SentenceSplitter.for_language(name)


def test_unknown_words_leave_nothing_behind() -> None:
    known = tokenizer("english")._params.ortho_context  # type: ignore[attr-defined]
    before = len(known)
    texts(" ".join(f"Zork{n}. Blark{n} came." for n in range(50)))
    assert len(known) == before


def _seconds(text: str) -> float:
    begin = time.thread_time()
    SPLITTER.split("n", text)
    return time.thread_time() - begin


@pytest.mark.parametrize(
    "unit",
    [
        *("word ", "x", "!", ". ", "a!\u00a0", '."', "- a\n", "|\n", "\n", "One is. Two are. "),
        *("AB\n", "好。", '好。"', "a.[1] ", "x.[Data: ", "a.¹", "A. B. ", "no. 3 "),
        *(
            "z. B. ",
            'a."b',
            "**a.** ",
            "« a. ",
            "a.1 B",
            "4.\n5 ",
            "渡轮\n",
            "เรือข้ามฟากออกเดินทางทุกวัน ",
        ),
    ],
)
def test_time_grows_linearly(unit: str) -> None:
    texts("Warm. Up.")
    small, large = ("Start. " + unit * n + " End." for n in (500, 4_000))
    # Linear is 8, quadratic is 64; the margin and the other attempts are for noise.
    most = 32 * min(_seconds(small) for _ in range(3)) + 0.03
    assert any(_seconds(large) < most for _ in range(10))


def test_a_line_of_ten_megabytes_without_punctuation() -> None:
    text = "word " * 2_000_000
    (sentence,) = SPLITTER.split("n", text)
    assert sentence.end == len(text) - 1


_PIECES = (
    "The", "harbour", "closed", "Anna", "Smith", "Dr", "approx", "Inc", "e.g", "3.5", "2019", "Vi",
    "I", "Yahoo", "Jeopardy", "was", "ex", "p", "(it)", "-", "#", '"so"', "[1]", "NASA", "no",
    "Élan", "naïve", "Łódź", "ž", "Paris\u2013Lyon", "—", "don\u2019t",
    "\u201cso\u201d", "Straße", "É.L", "İ", "Mme",
)  # fmt: skip


@given(
    st.lists(
        st.tuples(st.sampled_from(_PIECES), st.sampled_from(("", "", ".", "?", "!", ","))),
        min_size=1,
        max_size=12,
    )
)
@settings(max_examples=100, deadline=None)
def test_a_plain_text_has_the_sentences_that_the_rules_find(words: list[tuple[str, str]]) -> None:
    text = " ".join(word + mark for word, mark in words)
    found = plain_spans(text, "english")
    assert found is None or found == SPLITTER.spans(f"{text}\n")


def test_prose_is_plain() -> None:
    text = "Anna closed the harbour in 2019 for 3.5 days. Was it open before? The ships left."
    found = plain_spans(text, "english")
    assert found == [(0, 45), (46, 65), (66, 81)]
    assert plain_spans("The harbour of St. Mary was closed.", "english") is None
    text = (
        "José\u2019s ship \u2013 the \u201cÉlan\u201d \u2013 left. Its crew stayed. Étienne wrote."
    )
    assert plain_spans(text, "english") == [(0, 32), (33, 49), (50, 64)]
    assert plain_spans("He said \u201cgo.\u201d It left\u2026", "english") is None
