"""A simulation is a real walk with a judge that errs as often as one says."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from fakes.dag import Dag, DagSource
from fakes.scripted_judge import Script, ScriptedJudge

from veritrail_eval.figures.confusion import ONE_CLASS
from veritrail_eval.simulation.claims import PlantedClaim, Planter
from veritrail_eval.simulation.configuration import (
    ClaimSettings,
    Configuration,
    Grid,
    JudgeSettings,
)
from veritrail_eval.simulation.figures import Row
from veritrail_eval.simulation.judge import SimulatedJudge, SimulatedNodes
from veritrail_eval.simulation.meaning import meaning
from veritrail_eval.simulation.noise import Noise
from veritrail_eval.simulation.packing import packed
from veritrail_eval.simulation.process_shape import ProcessShape
from veritrail_eval.simulation.run import Simulation, simulate
from veritrail_eval.simulation.shapes import SHAPES, ShapeOptions, generate
from veritrail_eval.simulation.walking import Walker
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model import Claim, Sentence, Verdict
from veritrail_graph.verifier.driver import Task, verify_claim
from veritrail_graph.verifier.evidence import EvidenceStep
from veritrail_graph.verifier.excerpts import Unit, pack
from veritrail_graph.verifier.limits import Limits, Samples
from veritrail_graph.verifier.models.port import Meter, Step
from veritrail_graph.verifier.prompted import PromptedStep
from veritrail_graph.verifier.prompts import PAPER, load_prompts

FS, NFS = Verdict.FULLY_SUPPORTED, Verdict.NOT_FULLY_SUPPORTED
ORACLE = Grid(
    recall=(1.0,),
    false_positives=(0.0,),
    flip_supported=(0.0,),
    flip_unsupported=(0.0,),
    inconclusive=(0.0,),
)
SMALL = {"hierarchical": 80, "graphrag": 200, "chain": 12, "rag": 20, "random": 80}


def small(name: str) -> ProcessShape:
    return generate(ShapeOptions(name, SMALL[name]))


def rows(shape: ProcessShape, grid: Grid, claims: int = 60, **options: object) -> list[Row]:
    planted = ClaimSettings(claims, **options)  # type: ignore[arg-type]
    return list(simulate(Simulation(shape, planted, grid, JudgeSettings(), 1)).rows)


@pytest.mark.parametrize("name", list(SHAPES))
def test_a_judge_that_never_errs_is_always_right_and_names_the_stage_of_the_error(name):
    for row in rows(small(name), replace(ORACLE, q=(1, 5)), 16, unsupported=0.5):
        figures = row.figures
        assert figures["accuracy"] == figures["macro_f1"] == figures["balanced_accuracy"] == 1.0
        assert figures["errors_found"] == 8
        assert figures["error_stage_exact"] == figures["error_node_within"] == 1.0
        assert figures["selection_recall"] == figures["selection_precision"] == 1.0


@pytest.mark.parametrize("name", list(SHAPES))
def test_claims_of_several_facts_are_judged_right_too(name):
    # Sources that were read before are not read again: claims of several facts may escape then.
    (row,) = rows(small(name), replace(ORACLE, q=(2,)), 20, facts=3, unsupported=0.5)
    assert row.figures["accuracy"] >= 0.9
    assert row.figures["error_stage_within"] >= 0.9


def test_a_node_of_a_stage_feeds_only_later_ones_and_all_roots_are_source_text():
    for name in SHAPES:
        shape = small(name)
        targets = np.repeat(np.arange(shape.nodes), np.diff(shape.starts))
        assert (shape.stages[shape.sources] < shape.stages[targets]).all()
        roots = np.flatnonzero(np.diff(shape.starts) == 0)
        assert (shape.stages[roots] == 1).all()
        assert shape.nodes <= SMALL[name]


def test_the_paper_has_the_counts_of_its_appendix():
    shape = generate(ShapeOptions("graphrag"))
    assert [count for _, count in shape.stage_counts()] == [3_199, 95_465, 11_974, 3_650, 107, 1]
    assert (shape.nodes, shape.edges) == (114_396, 309_061)


# A process worked through by hand: t from a and b; a from r1 and r2; b from c; c from r3.
HAND = {"t": ("a", "b"), "a": ("r1", "r2"), "b": ("c",), "c": ("r3",)}
STAGES = {"r1": 1, "r2": 1, "r3": 1, "a": 2, "c": 2, "b": 3, "t": 4}


def hand_made(q: int, finds: dict[str, list[int]], error_node: str | None) -> tuple:
    """The same process and the same claim: simulated, and verified with a scripted judge."""
    numbers = {name: number for number, name in enumerate(STAGES)}
    dag = Dag.of(HAND, stages=STAGES, positions=numbers)
    pairs = [(numbers[s], numbers[t]) for t, sources in HAND.items() for s in sources]
    sources, targets = (np.array(side) for side in zip(*pairs, strict=True))
    shape = ProcessShape.of_edges("hand", (3, 2, 1, 1), [(sources, targets)], (2, 2, 2, 2))
    evidence = {(numbers[name], place): 0 for name, places in finds.items() for place in places}
    planted = PlantedClaim(
        0,
        1,
        evidence,
        1,
        None if error_node is None else numbers[error_node],
        None if error_node is None else STAGES[error_node],
        np.array(sorted({node for node, _ in evidence})),
    )
    configuration = Configuration(q, Noise(), Limits(), Samples())
    simulated = asyncio.run(Walker(shape, JudgeSettings(), configuration).walk(planted))
    judge = ScriptedJudge(Script(finds, lambda found, roots: FS if found or roots else NFS))
    dag = replace(dag, texts={name: ["One.", "Two."] for name in STAGES})
    task = Task(Claim(claim_id="claim-0", text="w", node_id="t"), dag.refs["t"])
    real = asyncio.run(verify_claim(task, "hand", judge, DagSource(dag), q=q))
    names = list(STAGES)
    seen = [
        (i.verdict, [names[int(ref.node_id)] for ref in i.checked], len(i.evidence))
        for i in simulated.iterations
    ]
    expected = [
        (i.verdict, [ref.node_id for ref in i.checked], len(i.evidence)) for i in real.iterations
    ]
    assert seen == expected
    assert (simulated.verdict, simulated.termination) == (real.verdict, real.termination)
    result = asyncio.run(Walker(shape, JudgeSettings(), configuration).result(planted))
    assert result.stages == tuple(sorted({ref.known_stage for ref in real.error_nodes}))
    return seen, result


def test_a_supported_claim_is_walked_as_a_real_one():
    seen, result = hand_made(3, {"b": [1], "c": [0], "r3": [1]}, None)
    assert seen == [(FS, ["a", "b"], 1), (FS, ["c"], 1), (FS, ["r3"], 1)]
    assert (result.nodes, result.stages) == (4, ())


@pytest.mark.parametrize(
    ("q", "expected"),
    [
        (1, [(FS, ["a", "b"], 1), (NFS, ["c"], 0)]),
        (3, [(FS, ["a", "b"], 1), (NFS, ["c"], 0), (NFS, ["r3"], 0)]),
    ],
)
def test_an_error_is_walked_as_a_real_one(q, expected):
    seen, result = hand_made(q, {"b": [0]}, "b")
    assert seen == expected
    assert (result.verdict, result.stages, result.names_node) == (NFS, (3,), True)


def test_an_error_of_the_verified_node_is_walked_as_a_real_one():
    seen, result = hand_made(2, {}, "t")
    assert seen == [(NFS, ["a", "b"], 0), (NFS, ["r1", "r2", "c"], 0)]
    assert (result.stages, result.names_node) == ((4,), True)


def test_sentences_are_cut_into_prompts_as_real_ones():
    for seed in range(25):
        draw = random.Random(seed)
        tokens = draw.randint(1, 30)
        sizes = [draw.randint(1, draw.choice((2, 9, 60))) for _ in range(draw.randint(1, 20))]
        limit = draw.choice((None, 1, 3, 40))
        room = draw.choice((1, 60, 300, 2_000, 100_000))
        units = [
            Unit(tuple(Sentence(str(n), i, 0, 0, " ".join(["w"] * tokens)) for i in range(size)))
            for n, size in enumerate(sizes)
        ]
        real = list(pack(units, limit, room, lambda text: text.count(" ") + 1))
        found = packed(np.array(sizes), limit, room, tokens)
        assert np.diff(found.bounds).tolist() == [len(one.sentences) for one in real], seed
        assert found.blocks == sum(len(one.units) for one in real), seed
        assert found.context == sum(len(unit.before) for one in real for unit in one.units), seed


@pytest.mark.parametrize("limit", [None, 7, 40])
def test_calls_and_tokens_are_those_of_the_prompts_that_a_run_would_send(limit):
    shape = small("graphrag")
    settings, samples, limits = JudgeSettings(), Samples(2, 1), Limits(limit, limit)
    nodes = SimulatedNodes(shape, settings.sentence_tokens)
    prompts = load_prompts(PAPER)
    judge = SimulatedJudge(shape, nodes, Noise(), limits, samples, prompts, 25, 6_000)
    nothing = PlantedClaim(0, 1, {}, 1)
    claim = Claim(claim_id="claim-0", text="w w w", node_id="199")
    frontier = [nodes.node(number) for number in range(0, 199, 3)]

    judge.begin(nothing)
    asyncio.run(judge.select_evidence(claim, frontier, Meter()))
    drawn = judge.asked.spent

    judge.begin(nothing)
    step = EvidenceStep(
        PromptedStep(prompts[Step.EVIDENCE_SELECTION], judge.asked, samples), limits
    )
    asyncio.run(step.select(claim, step.prompts_of(claim, frontier), Meter()))
    assert judge.asked.spent.calls > 10 if limit == 7 else judge.asked.spent.calls > 2
    assert drawn == judge.asked.spent


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("recall", (1.0, 0.8, 0.4)),
        ("flip_supported", (0.0, 0.1, 0.4)),
        ("flip_unsupported", (0.0, 0.1, 0.4)),
        ("inconclusive", (0.0, 0.1, 0.4)),
    ],
)
def test_more_noise_is_never_better(name, values):
    grid = replace(ORACLE, q=(2,), **{name: values})
    # Of one fact a verdict is asked for only where evidence was found: nothing could be flipped.
    found = rows(small("random"), grid, 50, facts=2, unsupported=0.5)
    accuracies = [row.figures["accuracy"] for row in found]
    assert all(later <= earlier + 0.02 for earlier, later in pairwise(accuracies))
    assert accuracies[0] > 0.98
    assert accuracies[-1] < 0.95


def test_what_was_drawn_is_what_was_asked_for():
    grid = replace(ORACLE, q=(3,), recall=(0.8,), false_positives=(0.05,))
    figures = rows(small("hierarchical"), grid, 150)[0].figures
    assert figures["selection_recall"] == pytest.approx(0.8, abs=0.04)
    assert 0 < figures["selection_precision"] < 1


def test_samples_that_must_agree_leave_claims_without_a_verdict():
    grid = replace(ORACLE, q=(3,), recall=(0.6,), samples=(1, 5), threshold=(1, 3, 5))
    grid = replace(grid, same_mistakes=0.0)
    assert grid.left_out == 2
    found = {
        (row.configuration.samples.count, row.configuration.samples.threshold): row.figures
        for row in rows(small("hierarchical"), grid, 40)
    }
    assert found[1, 1]["no_verdict"] == 0
    assert found[5, 1]["selection_recall"] > found[5, 3]["selection_recall"]
    assert found[5, 1]["no_verdict"] == 0 < found[5, 3]["no_verdict"] < found[5, 5]["no_verdict"]
    assert found[5, 1]["calls"] > 2 * found[1, 1]["calls"]


def test_samples_that_all_err_alike_are_of_no_use():
    grid = replace(ORACLE, q=(3,), recall=(0.6,), samples=(1, 3), threshold=(1,))
    one, three = rows(small("hierarchical"), replace(grid, same_mistakes=1.0), 40)
    assert one.figures["accuracy"] == three.figures["accuracy"] < 1.0


def test_flips_at_a_stage_take_the_place_of_the_others():
    shape = small("rag")
    wrong = replace(ORACLE, q=(1,), flips_at=((1, 1.0),))
    supported = rows(shape, wrong, 20, unsupported=0.0)[0].figures
    assert supported["accuracy"] == 0.0
    elsewhere = replace(ORACLE, q=(1,), flip_supported=(1.0,), flips_at=((1, 0.0),))
    assert rows(shape, elsewhere, 20, unsupported=0.0)[0].figures["accuracy"] == 1.0


@pytest.mark.parametrize(("verdict_sentences", "reruns"), [(200, 0), (3, 2)])
def test_verdict_prompts_that_are_full_are_selected_from_again(verdict_sentences, reruns):
    shape = generate(ShapeOptions("hierarchical", 400, 3, 20))
    limits = Limits(40, 1, verdict_sentences, 2)
    noise = Noise(false_positives=0.5, same_mistakes=0.8)
    walker = Walker(shape, JudgeSettings(), Configuration(1, noise, limits, Samples()))
    planter = Planter(shape, 0)
    outcome = asyncio.run(walker.walk(planter.claim(0)))
    assert outcome.iterations[0].reruns == reruns


def test_one_class_alone_has_no_score_and_says_why():
    (row,) = rows(small("rag"), replace(ORACLE, q=(1,)), 10, unsupported=0.0)
    assert row.figures["macro_f1"] is row.figures["cost_per_claim"] is None
    assert row.reasons["macro_f1"] == ONE_CLASS
    assert set(row.reasons) == {name for name, value in row.figures.items() if value is None}


@pytest.mark.slow
def test_the_same_seed_gives_the_same_rows_whatever_the_number_of_workers(monkeypatch):
    monkeypatch.setattr("veritrail_eval.simulation.run.PORTION", 5)
    claims, grid = ClaimSettings(15, seed=7), Grid(q=(1, 3))
    one, two = (
        simulate(Simulation(small("random"), claims, grid, JudgeSettings(), workers)).rows
        for workers in (1, 2)
    )
    assert one == two
    other = replace(claims, seed=8)
    assert simulate(Simulation(small("random"), other, grid, JudgeSettings(), 1)).rows != one


def test_planted_facts_are_passed_on_from_a_source_text_to_the_verified_node():
    shape = small("random")
    planter = Planter(shape, 3, facts=2, unsupported=0.5)
    for number in range(40):
        claim = planter.claim(number)
        assert len(set(claim.evidence.values())) == 2 or claim.error_node == shape.node
        for fact in set(claim.evidence.values()):
            way = sorted(
                (node for (node, _), of in claim.evidence.items() if of == fact),
                key=lambda node: shape.distances[node],
            )
            assert [int(shape.distances[node]) for node in way] == list(range(1, len(way) + 1))
            for nearer, farther in zip([shape.node, *way], way, strict=False):
                assert farther in shape.source_numbers(np.array([nearer]))


def test_the_sentences_compare_what_one_can_choose():
    settings = JudgeSettings(price=(2.0, 8.0))
    grid = Grid(q=(1, 3), recall=(0.8,), false_positives=(0.0,))
    claims = ClaimSettings(60, unsupported=0.3)
    found = simulate(Simulation(small("hierarchical"), claims, grid, settings, 1)).rows
    assert [one.split(" points")[0][:11] for one in meaning(found)] == ["q = 1 loses"]
    assert "of macro F1 against q = 3 and costs" in meaning(found)[0]
    both = simulate(
        Simulation(small("rag"), claims, replace(grid, recall=(0.7, 0.9)), settings, 1)
    ).rows
    assert all("recall = 0.7" in one or "recall = 0.9" in one for one in meaning(both))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (ShapeOptions("pyramid"), "there is none"),
        (ShapeOptions("rag", 1), "must be from 2"),
        (ShapeOptions("rag", 10, fan_in=3), "no such setting"),
        (ShapeOptions("hierarchical", 1_000, 3, 3), "too many nodes for the depth"),
        (ShapeOptions("hierarchical", 10, None, 1), "needs a number of levels"),
        (ShapeOptions("chain", 1_000_000), "too many nodes for the depth"),
        (ShapeOptions("chain", 5, fan_in=9), "one step needs 10 nodes"),
        (ShapeOptions("random", 3, 5), "at least as many nodes"),
        (ShapeOptions("graphrag", 5), "needs at least 12 nodes"),
        (ShapeOptions("random", 10**9), "must be from 2 to 5,000,000"),
    ],
)
def test_impossible_shapes_are_refused(options, words):
    with pytest.raises(InputError, match=words):
        generate(options)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"recall": (1.2,)}, "recall=1.2: a probability"),
        ({"recall": (float("nan"),)}, "recall=nan: a probability"),
        ({"false_positives": (-0.1,)}, "false_positives=-0.1"),
        ({"same_mistakes": 2.0}, "same_mistakes=2"),
        ({"q": (0,)}, "q=0: must be from 1"),
        ({"q": ()}, "q: give at least one value"),
        ({"samples": (3,), "threshold": (4,)}, "above the number of samples"),
        ({"max_sentences": (0,)}, "max_sentences=0"),
        ({"max_reruns": 21}, "max_reruns=21"),
        ({"q": tuple(range(1, 1_100))}, "1,099 combinations"),
    ],
)
def test_impossible_settings_are_refused(values, words):
    with pytest.raises(InputError, match=words):
        Grid(**values)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"flip_supported": 0.7, "inconclusive": 0.5}, "more than 1"),
        ({"flips_at": ((3, 1.5),)}, "flip at stage 3=1.5"),
    ],
)
def test_impossible_noise_is_refused(values, words):
    with pytest.raises(InputError, match=words):
        Noise(**values)


def test_impossible_claims_are_refused():
    with pytest.raises(InputError, match="claims=0"):
        ClaimSettings(0)
    with pytest.raises(InputError, match="unsupported=2"):
        ClaimSettings(1, unsupported=2.0)
    with pytest.raises(InputError, match="error_stages=1: no node of that stage"):
        rows(small("rag"), ORACLE, 10, error_stages=(1,))
    with pytest.raises(InputError, match="3 stages"):
        generate(ShapeOptions("hierarchical", 7, 3, 2)).with_sentences((1, 2))
    with pytest.raises(InputError, match="walks; at most"):
        rows(small("rag"), Grid(q=tuple(range(1, 21))), 1_000_000)


def test_settings_that_would_change_nothing_or_cannot_be_are_refused() -> None:
    shape = generate(ShapeOptions("chain"))
    with pytest.raises(InputError, match="0 is too few"):
        shape.with_sentences([0])
    top = int(shape.stages[shape.node])
    grid = Grid(flips_at=((top, 0.2),))
    with pytest.raises(InputError, match="the stage of the verified node"):
        simulate(Simulation(shape, ClaimSettings(5), grid, JudgeSettings()))
