"""Which sentences of an answer are claims where no model extracts any, in many languages."""

from __future__ import annotations

import pytest

from veritrail_graph.graph.sentences import SentenceSplitter
from veritrail_graph.graph.sentences.stating import statements, word_count

SPLITTER = SentenceSplitter.for_language()


def stated(text: str) -> list[str]:
    found = statements(text, SPLITTER)
    for one in found:
        words = text[one.start : one.end]
        assert words == one.text or ("|" in words and text.rfind("|", 0, one.start) >= 0)
    return [one.text for one in found]


ANSWER = """\
Hello! Sure, here is the answer: The ferry **Tern** carries 42 cars. It sank. Thank you!

## Costs of the harbour

- **Capacity**: The ferry carries 42 cars.[1]
- fresh cod
2. The fee rose to 4 euros in May. [Data: Reports (2, 3)]

Key findings

Here are the ferries:

| Ferry | Cars |
|---|---|
| Tern | 42 cars |
| Gull | 17 |

```python
print("The ferry carries 48 cars.")
```
Do you want more? I hope this helps! Let me know if you have any questions.

**References**

[1] Smith, J. The ferry book. 2020.
- https://example.org

## More
The yard was sold in 1999
"""


def test_an_answer_in_markdown_gives_its_statements_without_marks() -> None:
    assert stated(ANSWER) == [
        "The ferry **Tern** carries 42 cars.",
        "It sank.",
        "**Capacity**: The ferry carries 42 cars.",
        "The fee rose to 4 euros in May.",
        "Ferry: Tern, Cars: 42 cars",
        "Ferry: Gull, Cars: 17",
        "The yard was sold in 1999",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The ferry carries 42 cars", ["The ferry carries 42 cars"]),
        ("> - [ ] The fee rose in May.", ["The fee rose in May."]),
        ("**The fee rose in May.** *It fell.*", ["The fee rose in May.", "It fell."]),
        ("✅ The fee rose in May.¹", ["The fee rose in May."]),
        ("Hi, the ferry sank in the night.", ["Hi, the ferry sank in the night."]),
        ("The ferry has:\n1. cars\n2. Two lounges on deck\n", ["Two lounges on deck"]),
        (
            "It carries 42 cars.1,2 It is old.(3) It ran daily.^4^",
            ["It carries 42 cars.", "It is old.", "It ran daily."],
        ),
        ("See the table in Fig.3", ["See the table in Fig.3"]),
        ("渡轮很大很红\n它每天航行", ["渡轮很大很红", "它每天航行"]),
        ("- Cars: 42\n- Fee: €4\n- Deck\n", ["Cars: 42", "Fee: €4"]),
        ("Title of it\n=====\nThe fee rose in May.", ["The fee rose in May."]),
        (
            "你好！渡轮可载48辆汽车。你还想知道什么？\n\n## 总结\n\n- 渡轮每天航行\n二、费用上涨。\n\n"  # noqa: E501, RUF001
            "参考文献\n[1] 张三. 渡轮之书. 2020.\n\n希望这对你有帮助。",
            ["渡轮可载48辆汽车。", "渡轮每天航行", "费用上涨。"],
        ),
        (
            "こんにちは。フェリーは42台の車を運びます。質問はありますか。お役に立てれば幸いです。",
            ["フェリーは42台の車を運びます。"],
        ),
        ("เรือเฟอร์รี่บรรทุกรถได้ 42 คัน", ["เรือเฟอร์รี่บรรทุกรถได้ 42 คัน"]),
        ("नमस्ते! नौका 42 कारें ले जाती है। क्या यह चलती है?", ["नौका 42 कारें ले जाती है।"]),
        ("مرحبا! العبارة تحمل 42 سيارة. هل هي حمراء؟", ["العبارة تحمل 42 سيارة."]),
        (
            "Gerne! Hier ist die Antwort: Die Fähre trägt 42 Autos. Ich hoffe, das hilft! "
            "Mit freundlichen Grüßen",
            ["Die Fähre trägt 42 Autos."],
        ),
        ("Bonjour ! Voici la réponse : Le bac porte 42 voitures.", ["Le bac porte 42 voitures."]),
        ("¡Hola! El ferry lleva 42 coches. Espero que ayude.", ["El ferry lleva 42 coches."]),
        ("Здравствуйте! Паром везёт 42 машины. Надеюсь, это поможет.", ["Паром везёт 42 машины."]),
    ],
)
def test_statements_are_told_from_the_rest(text: str, expected: list[str]) -> None:
    assert stated(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "Hello!",
            "Hello there!",
            "Hello, and thank you for asking!",
            "Paris",
            "42 cars",
            "1.",
            "- \n- \n2)",
            "---",
            "| a | b |",
        ),
        *("I don't know.", "I'm sorry, I cannot help.", "Sure, here is a summary of it.", "好的。"),
        *("# The ferry carries 42 cars", "How many cars does it carry?", "https://a.b/c", "はい。"),
        *("![The ferry Tern](http://a.b/c)", "```\nThe ferry carries 42 cars.\n", "您好！"),  # noqa: RUF001
    ],
)
def test_what_states_nothing_is_no_claim(text: str) -> None:
    assert stated(text) == []


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (
            [
                "| Ship | Cars |",
                "|:--|--:|",
                "| **Tern** | 48 [1] |",
                "| Gull | - |",
                "| Auk | 3\\|4 |",
            ],
            {"Ship: Tern, Cars: 48": "**Tern** | 48 [1]", "Ship: Auk, Cars: 3|4": "Auk | 3\\|4"},
        ),
        (["| | 2020 |", "|---|---|", "| Cars | 48 |"], {"Cars, 2020: 48": "Cars | 48"}),
        (["| Ship |", "|---|", "| Tern | 48 |"], {"Tern | 48": "Tern | 48"}),
        (["| Ship | Cars |", "| Tern | 48 |"], {"Tern | 48": "Tern | 48"}),
    ],
)
def test_a_row_of_a_table_is_stated_with_the_names_of_its_columns(rows, expected):
    text = "\n".join(["The ferries are these:", "", *rows, "", "It ran."])
    found = statements(text, SPLITTER)
    assert {one.text: text[one.start : one.end] for one in found[:-1]} == expected


def test_words_are_counted_where_no_spaces_stand_between_them() -> None:
    assert word_count("The ferry carries 4.5 cars") == 5
    assert word_count("渡轮可载48辆汽车") in {4, 5}
    assert word_count("") == 0
