"""Scores of labelled turns: who is counted, and figures equal to slow references."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from veritrail_eval.dialogues.claim_sets import ClaimMatcher
from veritrail_eval.dialogues.gold import (
    DialogueGold,
    LabelledTurn,
    LabelledTurnClaim,
    TurnAnnotation,
)
from veritrail_eval.dialogues.predicted import PredictedTurns, read_predicted
from veritrail_eval.dialogues.score import TurnScore, comparisons_of, label_of_turn
from veritrail_eval.figures.options import Resampling
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model import Status, Usage
from veritrail_graph.graph.model.dialogue import (
    ClaimCategory,
    Dialogue,
    DialogueLabel,
    TurnCheck,
    TurnClaim,
    TurnVerification,
)

LABELS = list(DialogueLabel)
CATEGORIES = list(ClaimCategory)
ENDINGS = [Status.FAILED, Status.OVER_BUDGET, Status.CANCELLED]
PLAIN = ClaimMatcher()


def claim(text: str, category: ClaimCategory | None, **values: Any) -> TurnClaim:
    is_verified = category is ClaimCategory.VERIFIED
    label = DialogueLabel.VERIFIED if is_verified else DialogueLabel.UNVERIFIABLE
    return TurnClaim(
        claim_id=f"c-{text}".replace(" ", "-"), claim=text, category=category, label=label, **values
    )


def verified(turn_id: str, *claims: TurnClaim, **values: Any) -> TurnVerification:
    return TurnVerification.of_claims(turn_id, claims, **values)


def labelled(turn_id: str, label: DialogueLabel | None = None, **values: Any) -> LabelledTurn:
    return LabelledTurn(dialogue_id="d", turn_id=turn_id, label=label, **values)


def people(**claims: ClaimCategory) -> tuple[LabelledTurnClaim, ...]:
    return tuple(LabelledTurnClaim(claim=text, category=one) for text, one in claims.items())


def method(name: str, turns: dict[str, TurnVerification], **values: Any) -> PredictedTurns:
    return PredictedTurns(name, {("d", key): one for key, one in turns.items()}, **values)


def score(
    turns: list[LabelledTurn], predicted: PredictedTurns, *, consensus: bool = False
) -> TurnScore:
    return TurnScore.of(DialogueGold({}, tuple(turns)), predicted, PLAIN, consensus=consensus)


def random_turns(rng: random.Random, count: int) -> dict[str, TurnVerification]:
    found: dict[str, TurnVerification] = {}
    for number in range(count):
        match rng.randrange(5):
            case 0:
                continue  # not reached
            case 1:
                status = rng.choice(ENDINGS)
                found[f"t{number}"] = TurnVerification(turn_id=f"t{number}", status=status)
            case _:
                label = rng.choice(LABELS)
                done = TurnVerification(turn_id=f"t{number}", status=Status.SUCCEEDED, label=label)
                found[f"t{number}"] = done
    return found


@pytest.mark.parametrize("seed", range(4))
def test_turns_are_scored_as_slow_references_score_them(seed: int) -> None:
    from sklearn.metrics import accuracy_score, f1_score
    from statsmodels.stats.contingency_tables import mcnemar

    rng = random.Random(seed)
    gold = {f"t{number}": rng.choice([*LABELS, None]) for number in range(60)}
    turns = [labelled(name, label) for name, label in gold.items()]
    first, second = (score(turns, method(name, random_turns(rng, 60))) for name in ("one", "other"))
    row, other = first.as_json(), second.as_json()
    for one, document in ((first, row), (second, other)):
        said = {key[1]: turn for key, turn in one.predicted.turns.items()}
        pairs = [
            (label, said[name].label)
            for name, label in gold.items()
            if label and name in said and said[name].status is Status.SUCCEEDED
        ]
        expected, answers = zip(*pairs, strict=True)
        assert document["accuracy"] == pytest.approx(accuracy_score(expected, answers))
        assert document["macro_f1"] == pytest.approx(f1_score(expected, answers, average="macro"))
        assert document["scored"] == len(pairs)
        assert document["scored"] + sum(document["excluded"].values()) == document["turns"] == 60
        none = sum(each["NONE"] for each in document["confusion"].values())
        assert none == document["turns"] - document["scored"] - document["excluded"]["no_label"]
        why = Counter(
            said[name].status.value if name in said else "missing"
            for name, label in gold.items()
            if label and (name not in said or said[name].status is not Status.SUCCEEDED)
        )
        assert {key: n for key, n in document["excluded"].items() if n and key != "no_label"} == why
    both = [
        (label is one, label is two)
        for key, (label, one) in first.outcomes.items()
        if one is not None and (two := second.outcomes[key][1]) is not None
    ]
    table = [[both.count((a, b)) for b in (True, False)] for a in (True, False)]
    (test,) = comparisons_of([first, second])
    assert (test["first"], test["second"]) == ("one", "other")
    assert (test["b"], test["c"], test["turns"]) == (table[0][1], table[1][0], len(both))
    assert test["p_value"] == pytest.approx(mcnemar(table, exact=True).pvalue)
    assert test["difference"] == pytest.approx((table[0][1] - table[1][0]) / len(both))
    names = [(one["first"], one["second"]) for one in comparisons_of([first, second, first])]
    assert names == [("one", "other"), ("one", "one"), ("other", "one")]
    assert json.loads(json.dumps([row, other], allow_nan=False)) == [row, other]


def test_the_score_is_given_by_our_formula_and_by_that_of_the_released_program() -> None:
    verdicts = ClaimCategory.VERIFIED, ClaimCategory.OUT_OF_SCOPE, ClaimCategory.LACKING_EVIDENCE
    said = {"t1": verified("t1", *(claim(one.value, one) for one in verdicts))}
    found = score([labelled("t1")], method("m", said)).as_json()["vista_score"]
    assert found == {"claims": 3, "score": 0.5, "released": pytest.approx(2 / 3)}


def test_a_failure_is_never_a_label() -> None:
    failed = verified("t1", claim("a", None, status=Status.FAILED, error="cut off"))
    turns = [labelled("t1", DialogueLabel.UNVERIFIABLE, claims=people(a=CATEGORIES[3]))]
    row = score(turns, method("m", {"t1": failed})).as_json()
    assert (row["scored"], row["excluded"]["failed"], row["accuracy"]) == (0, 1, None)
    assert row["confusion"]["UNVERIFIABLE"]["NONE"] == 1
    assert row["claims"]["categories"]["confusion"]["LACKING_EVIDENCE"]["NONE"] == 1
    assert row["reasons"]["accuracy"] == "nothing is scored"


def test_a_turn_without_claims_is_not_unverifiable() -> None:
    turns = [labelled("t1", DialogueLabel.VERIFIED), labelled("t2", DialogueLabel.UNVERIFIABLE)]
    row = score(turns, method("m", {"t1": verified("t1"), "t2": verified("t2")})).as_json()
    assert (row["scored"], row["accuracy"]) == (2, 0.5)


def test_out_of_scope_and_abstention_are_unverifiable_for_turns_and_apart_for_claims() -> None:
    scope, abstention = ClaimCategory.OUT_OF_SCOPE, ClaimCategory.ABSTENTION
    turns = [
        labelled("t1", DialogueLabel.UNVERIFIABLE, claims=people(a=scope)),
        labelled("t2", DialogueLabel.UNVERIFIABLE, claims=people(b=abstention)),
    ]
    said = {"t1": verified("t1", claim("a", scope)), "t2": verified("t2", claim("b", scope))}
    row = score(turns, method("m", said)).as_json()
    assert row["accuracy"] == 1
    assert row["claims"]["labels"]["accuracy"] == 1
    assert row["claims"]["categories"]["accuracy"] == 0.5
    assert row["claims"]["categories"]["confusion"]["ABSTENTION"]["OUT_OF_SCOPE"] == 1


@pytest.mark.parametrize("seed", range(3))
def test_claims_are_scored_as_slow_references_score_them(seed: int) -> None:
    from sklearn.metrics import accuracy_score, f1_score

    rng = random.Random(seed)
    turns, said = [], {}
    expected: list[ClaimCategory] = []
    answers: list[str] = []
    unmatched = extra = 0
    for number in range(10):
        texts = [f"claim {number} {n}" for n in range(5)]
        mine = {text: rng.choice(CATEGORIES) for text in rng.sample(texts, 3)}
        theirs = {text: rng.choice([*CATEGORIES, None]) for text in rng.sample(texts, 3)}
        turns.append(labelled(f"t{number}", claims=people(**mine)))
        said[f"t{number}"] = verified(
            f"t{number}",
            *(
                claim(text, one) if one else claim(text, None, status=Status.FAILED)
                for text, one in theirs.items()
            ),
        )
        both = [text for text in mine if text in theirs]
        expected += [mine[text] for text in both]
        answers += [theirs[text] or "NONE" for text in both]
        unmatched += len(mine.keys() - theirs.keys())
        extra += len(theirs.keys() - mine.keys())
    row = score(turns, method("m", said)).as_json(how=Resampling(50, 1))
    claims = row["claims"]
    assert (claims["claims"], claims["unmatched"], claims["extra"]) == (30, unmatched, extra)
    assert claims["sets"]["jaccard"] == pytest.approx(len(expected) / (60 - len(expected)))
    every = claims["categories"]["with_unmatched"]
    whole = [turn_claim.category for turn in turns for turn_claim in turn.claims or ()]
    right = sum(one == two for one, two in zip(expected, answers, strict=True))
    assert every["accuracy"] == pytest.approx(right / len(whole))
    strict = claims["categories"]["with_none"]
    assert strict["accuracy"] == pytest.approx(accuracy_score(expected, answers))
    pairs = [pair for pair in zip(expected, answers, strict=True) if pair[1] != "NONE"]
    there, said_of_them = zip(*pairs, strict=True)
    found = claims["categories"]
    assert found["accuracy"] == pytest.approx(accuracy_score(there, said_of_them))
    assert found["macro_f1"] == pytest.approx(
        f1_score(there, said_of_them, average="macro", zero_division=0)
    )
    low, high = found["intervals"]["accuracy"]
    assert low <= found["accuracy"] <= high


def test_a_method_without_categories_or_claims_says_so() -> None:
    turns = [
        labelled(
            "t1",
            DialogueLabel.VERIFIED,
            claims=people(a=ClaimCategory.VERIFIED),
            holds={ClaimCategory.ABSTENTION: False},
        )
    ]
    bare = claim("a", None)
    row = score(turns, method("binary", {"t1": verified("t1", bare)})).as_json()
    assert row["claims"]["categories"] is None
    assert row["claims"]["labels"]["accuracy"] == 0
    assert row["holds"]["ABSTENTION"]["reasons"] == {"accuracy": "the method gives no categories"}
    whole = TurnVerification(turn_id="t1", status=Status.SUCCEEDED, label=DialogueLabel.VERIFIED)
    row = score(
        turns, method("judge", {"t1": whole}, names_claims=False, gives_categories=False)
    ).as_json()
    assert (row["claims"], row["accuracy"]) == (None, 1)
    assert row["reasons"]["claims"] == "the method names no claims"
    assert row["reasons"]["macro_f1"] == "one class only"
    assert "nothing" not in json.dumps(row["reasons"])


@pytest.mark.parametrize("seed", range(5))
def test_single_categories_are_found_as_scikit_learn_counts(seed: int) -> None:
    from sklearn.metrics import accuracy_score, precision_recall_fscore_support

    rng = random.Random(seed)
    category = ClaimCategory.CONTRADICTED
    turns, said, pairs, checks = [], {}, [], []
    for number in range(40):
        name, label = f"t{number}", rng.random() < 0.5
        turns.append(labelled(name, holds={category: label}))
        if rng.random() < 0.1:
            said[name] = TurnVerification(turn_id=name, status=Status.FAILED)
            continue
        own = [claim("a", rng.choice(CATEGORIES)), claim("b", ClaimCategory.VERIFIED)]
        check = TurnCheck(contradiction=rng.random() < 0.5)
        said[name] = verified(name, *own, turn_check=check)
        pairs.append((label, own[0].category is category))
        checks.append((label, check.contradiction))
    row = score(turns, method("m", said)).as_json()
    assert row["excluded"]["no_label"] == row["turns"]
    found = row["holds"]["CONTRADICTED"]
    assert (found["turns"], found["scored"]) == (40, len(pairs))
    for document, outcomes in ((found, pairs), (found["turn_check"], checks)):
        expected, answers = zip(*outcomes, strict=True)
        precision, recall, f1, _ = precision_recall_fscore_support(
            expected, answers, average="binary", zero_division=0
        )
        assert (document["recall"], document["f1"]) == (pytest.approx(recall), pytest.approx(f1))
        assert (document["precision"] or 0) == pytest.approx(precision)
        assert document["accuracy"] == pytest.approx(accuracy_score(expected, answers))


def test_a_turn_that_undecided_claims_leave_open_is_left_out_and_counted() -> None:
    open_ = claim("b", None).replace(label=None, status=Status.UNDECIDED)
    right, wrong = claim("a", ClaimCategory.VERIFIED), claim("a", ClaimCategory.CONTRADICTED)
    said = {"t1": verified("t1", right, open_), "t2": verified("t2", wrong, open_)}
    lacks = {ClaimCategory.LACKING_EVIDENCE: False, ClaimCategory.CONTRADICTED: True}
    turns = [labelled(name, DialogueLabel.UNVERIFIABLE, holds=lacks) for name in said]
    row = score(turns, method("m", said)).as_json()
    assert (row["scored"], row["excluded"]["undecided"], row["excluded"]["failed"]) == (1, 1, 0)
    assert row["holds"]["CONTRADICTED"]["scored"] == 1
    assert row["holds"]["LACKING_EVIDENCE"]["scored"] == 0
    bare = TurnVerification(turn_id="t1", status=Status.SUCCEEDED, claims=(right, open_))
    assert label_of_turn(bare) is None


def test_the_cost_of_a_turn_is_as_if_nothing_were_cached_or_is_unknown() -> None:
    paid = Usage(calls=1, cost_usd=0.5)
    cached = Usage(cached_calls=1)
    turns = {
        "t1": verified("t1", usage=paid),
        "t2": verified("t2", usage=cached),
        "t3": TurnVerification(turn_id="t3", status=Status.FAILED, usage=paid),
    }
    reused = {("d", "t2"): Usage(calls=1, cost_usd=1.0)}
    assert score([], method("m", turns, reused=reused)).cost_per_turn.value == 0.75
    assert score([], method("m", turns)).cost_per_turn.value == 0.5
    only = {"t2": turns["t2"]}
    assert "--no-cache" in (score([], method("m", only)).cost_per_turn.reason or "")
    assert score([], method("m", {"t1": verified("t1")})).cost_per_turn.value is None


def test_labels_are_those_of_the_data_set_or_of_the_annotators() -> None:
    turns = [
        labelled("t1", DialogueLabel.VERIFIED, claims=people(a=ClaimCategory.ABSTENTION)),
        labelled("t2", DialogueLabel.VERIFIED),
        labelled("t3", claims=()),
    ]
    said = method("m", {name: verified(name) for name in ("t1", "t2", "t3")})
    assert score(turns, said).as_json()["accuracy"] == 1
    row = score(turns, said, consensus=True).as_json()
    assert (row["accuracy"], row["scored"], row["excluded"]["no_label"]) == (0.5, 2, 1)


def test_a_turn_whose_annotators_agree_on_nothing_is_counted_apart_and_not_scored() -> None:
    labels = tuple(
        TurnAnnotation(annotator=name, claims=people(**{name: ClaimCategory.LACKING_EVIDENCE}))
        for name in "abc"
    )
    turns = [
        labelled("t1", labels=labels, claims=()),  # of a file from before they waited
        labelled("t2", labels=labels),
        labelled("t3", DialogueLabel.VERIFIED, labels=labels, claims=()),
        labelled("t4"),
    ]
    said = method("m", {name: verified(name) for name in ("t1", "t2", "t3", "t4")})
    row = score(turns, said).as_json()
    assert (row["scored"], row["excluded"]["unresolved"], row["excluded"]["no_label"]) == (1, 2, 1)
    row = score(turns, said, consensus=True).as_json()
    assert (row["scored"], row["excluded"]["unresolved"], row["claims"]) == (0, 3, None)


GOLD = DialogueGold({"d": Dialogue.model_construct(turns=())}, ())


@pytest.mark.parametrize(
    ("text", "kind", "where"),
    [
        ("{}", "unknown_shape", "entry 1"),
        ('{"dialogue_id": "d", "turns": []}', "no_turns", "runs.json"),
        ('{"dialogues": [{"dialogue_id": "d", "turns": [{}]}]}', "missing_key", "dialogues[0]"),
        (
            '{"dialogue_id": "d", "turns": [{"turn_id": "t", "status": "done"}]}',
            "unknown_word",
            "entry 1",
        ),
        (
            '{"dialogue_id": "d", "turns": [{"turn_id": "t", "status": "failed"},'
            ' {"turn_id": "t", "status": "failed"}]}',
            "duplicate_turn_id",
            "turn 't'",
        ),
    ],
)
def test_runs_with_faults_are_refused(text: str, kind: str, where: str, tmp_path: Path) -> None:
    path = tmp_path / "runs.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as found:
        read_predicted(path, GOLD)
    assert kind in {one.kind for one in found.value.violations}
    assert where in str(found.value.violations[0].where)


def test_runs_of_the_contract_are_read_and_strange_turns_noted(tmp_path: Path) -> None:
    turn = {
        "turn_id": "t", "status": "succeeded", "label": "UNVERIFIABLE", "score": 0.0,
        "claims": [{
            "claim_id": "c", "claim": "a", "category": "ABSTENTION", "reason": "r",
            "compared_with": [], "contradicts": [],
        }],
        "turn_check": None,
    }  # fmt: skip
    run = {"run_id": "r", "dialogue_id": "d", "turns": [turn], "score": None, "usage": {}}
    for name, text in (
        ("one.json", json.dumps(run)),
        ("all.json", json.dumps({"dialogues": [run]})),
        ("lines.jsonl", json.dumps(run) + "\n"),
    ):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        found = read_predicted(path, GOLD)
        assert found.method == name.partition(".")[0]
        assert found.turns["d", "t"].label is DialogueLabel.UNVERIFIABLE
        assert "1 turn of no dialogue" in found.notes[0]
        gold = [labelled("t", claims=people(a=ClaimCategory.ABSTENTION))]
        assert score(gold, found).as_json()["claims"]["labels"]["accuracy"] == 1
        turn["label"] = None  # it follows from the claims
        path.write_text(json.dumps(run) if name != "all.json" else text, encoding="utf-8")
        row = score(gold, read_predicted(path, GOLD), consensus=True).as_json()
        assert row["confusion"]["UNVERIFIABLE"]["UNVERIFIABLE"] == 1
        turn["label"] = "UNVERIFIABLE"
