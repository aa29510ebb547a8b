"""The sample processes hold what their labels and the README say."""

import json
import re
from collections import Counter
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NAMES = ["harbour-summary", "graphrag-energy"]
LABELS = {"FULLY_SUPPORTED", "NOT_FULLY_SUPPORTED", "INCONCLUSIVE"}
ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}")
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")

KEYS = {
    "process": {
        "format",
        "process_id",
        "name",
        "question",
        "stages",
        "nodes",
        "edges",
        "terminals",
        "claims",
    },
    "node": {"node_id", "text", "stage", "kind", "step", "metadata"},
    "edge": {"source", "target"},
    "claim": {"claim_id", "text", "node_id", "start", "end", "sub_claims", "label"},
}

# Words that only a text with the planted error holds.
MARKS = {
    "harbour-summary": {
        "k04": "84,200",
        "k10": "built in Gdańsk",
        "k13": "Co-operative leases",
        "k14": "replaced by Thole",
        "k17": "reached the grade excellent",
        "k18": "every quay",
        "k21": "paid for by a grant",
    },
    "graphrag-energy": {
        "q02": "used 41 per cent less",
        "q05": "87 gigawatt",
        "q07": "has rejected",
        "q11": "three times as much",
        "q14": "owned by the energy company Rheva",
        "q16": "because of a protest",
        "q18": "32 per cent",
        "q21": "all of which later renovated",
        "q23": "headed by Ines Coll",
    },
}


class Sample:
    """One process file and the record of its planted errors."""

    def __init__(self, name):
        self.name = name
        self.process = json.loads((EXAMPLES / f"{name}.json").read_text(encoding="utf-8"))
        self.errors = json.loads((EXAMPLES / f"{name}.labels.json").read_text(encoding="utf-8"))
        self.nodes = {node["node_id"]: node for node in self.process["nodes"]}
        self.claims = {claim["claim_id"]: claim for claim in self.process["claims"]}
        (self.terminal,) = self.process["terminals"]
        self.sources = {node_id: set() for node_id in self.nodes}
        self.targets = {node_id: set() for node_id in self.nodes}
        for edge in self.process["edges"]:
            self.sources[edge["target"]].add(edge["source"])
            self.targets[edge["source"]].add(edge["target"])

    def roots(self):
        return [self.nodes[node_id] for node_id, sources in self.sources.items() if not sources]

    def ancestors(self, node_id):
        found, todo = set(), [node_id]
        while todo:
            for source in self.sources[todo.pop()] - found:
                found.add(source)
                todo.append(source)
        return found

    def carried(self, node_id, mark):
        """Whether some way from the node to the terminal holds the mark in every node."""
        if mark not in self.nodes[node_id]["text"]:
            return False
        if node_id == self.terminal:
            return True
        return any(self.carried(target, mark) for target in self.targets[node_id])


@pytest.fixture(params=NAMES)
def sample(request):
    return Sample(request.param)


def test_harbour_summary_counts():
    sample = Sample("harbour-summary")
    stages = Counter(node["stage"] for node in sample.nodes.values())
    assert stages == {1: 14, 2: 14, 3: 4, 4: 1}
    assert len(sample.process["edges"]) == 32
    labels = Counter(claim["label"] for claim in sample.claims.values())
    assert labels == {"FULLY_SUPPORTED": 16, "NOT_FULLY_SUPPORTED": 7, "INCONCLUSIVE": 1}
    introduced = Counter(error["error_stage"] for error in sample.errors.values())
    assert introduced == {2: 2, 3: 3, 4: 2}
    for root in sample.roots():
        assert 120 <= len(root["text"].split()) <= 220, root["node_id"]


def test_graphrag_energy_counts():
    sample = Sample("graphrag-energy")
    stages = Counter(node["stage"] for node in sample.nodes.values())
    assert stages == {1: 12, 2: 37, 3: 11, 4: 6, 5: 5, 6: 1}
    assert len(sample.process["edges"]) == 102
    labels = Counter(claim["label"] for claim in sample.claims.values())
    assert labels == {"FULLY_SUPPORTED": 13, "NOT_FULLY_SUPPORTED": 9, "INCONCLUSIVE": 1}
    introduced = Counter(error["error_stage"] for error in sample.errors.values())
    assert introduced == {2: 1, 3: 2, 4: 2, 5: 2, 6: 2}
    assert sample.process["question"]


def test_only_known_keys_and_unique_ids(sample):
    process = sample.process
    assert set(process) <= KEYS["process"]
    for kind, items in (("node", "nodes"), ("edge", "edges"), ("claim", "claims")):
        for item in process[items]:
            assert set(item) <= KEYS[kind], item
    assert process["format"] == "veritrail.process/1"
    assert process["process_id"] == sample.name
    assert len(sample.nodes) == len(process["nodes"])
    assert len(sample.claims) == len(process["claims"])
    assert len({(edge["source"], edge["target"]) for edge in process["edges"]}) == len(
        process["edges"]
    )
    assert all(ID.fullmatch(claim_id) for claim_id in sample.claims)
    assert set(process["stages"]) == {str(node["stage"]) for node in sample.nodes.values()}


def test_graph_keeps_the_stage_rules(sample):
    assert len(list(TopologicalSorter(sample.sources).static_order())) == len(sample.nodes)
    stages = {node_id: node["stage"] for node_id, node in sample.nodes.items()}
    for edge in sample.process["edges"]:
        assert stages[edge["source"]] <= stages[edge["target"]], edge
    roots = {root["node_id"] for root in sample.roots()}
    assert roots == {node_id for node_id, stage in stages.items() if stage == 1}
    assert stages[sample.terminal] == max(stages.values())
    assert sample.ancestors(sample.terminal) == set(sample.nodes) - {sample.terminal}


def test_each_claim_points_at_one_whole_sentence(sample):
    for claim in sample.claims.values():
        assert claim["label"] in LABELS
        assert claim["node_id"] == sample.terminal
        text = sample.nodes[claim["node_id"]]["text"]
        assert 0 <= claim["start"] < claim["end"] <= len(text)
        sentence = text[claim["start"] : claim["end"]]
        assert re.search(r"(?:^|\n(?:- )?|[.!?] )$", text[: claim["start"]]), sentence
        assert re.match(r"[ \n]|$", text[claim["end"] :]), sentence
        assert re.fullmatch(r"[A-Z][^\n]*[.!?]", sentence), sentence
        assert not re.search(r"[.!?]\s", sentence), sentence


def test_every_number_of_a_supported_claim_stands_in_the_source(sample):
    numbers = {number for root in sample.roots() for number in NUMBER.findall(root["text"])}
    for claim in sample.claims.values():
        if claim["label"] == "FULLY_SUPPORTED":
            assert set(NUMBER.findall(claim["text"])) <= numbers, claim["text"]


def test_planted_errors_are_recorded(sample):
    wrong = {
        claim_id
        for claim_id, claim in sample.claims.items()
        if claim["label"] == "NOT_FULLY_SUPPORTED"
    }
    assert set(sample.errors) == wrong
    lineage = sample.ancestors(sample.terminal) | {sample.terminal}
    for error in sample.errors.values():
        assert set(error) == {"error_stage", "error_nodes", "note"}
        assert error["error_nodes"]
        assert error["note"]
        assert set(error["error_nodes"]) <= lineage
        assert {sample.nodes[node_id]["stage"] for node_id in error["error_nodes"]} == {
            error["error_stage"]
        }


def test_planted_errors_start_where_recorded_and_reach_the_terminal(sample):
    marks = MARKS[sample.name]
    assert set(marks) == set(sample.errors)
    for claim_id, mark in marks.items():
        holders = {node_id for node_id, node in sample.nodes.items() if mark in node["text"]}
        error_nodes = set(sample.errors[claim_id]["error_nodes"])
        first = {node_id for node_id in holders if not sample.sources[node_id] & holders}
        assert first == error_nodes, claim_id
        assert all(sample.carried(node_id, mark) for node_id in error_nodes), claim_id


def test_readme_lists_every_planted_error(sample):
    readme = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    for claim_id, error in sample.errors.items():
        for node_id in error["error_nodes"]:
            assert f"| {claim_id} | {error['error_stage']} | `{node_id}` |" in readme
