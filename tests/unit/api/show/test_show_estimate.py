"""The documents of an estimate and of `doctor`: every writer makes all fields of them."""

from __future__ import annotations

import pytest
from fakes.shown_fields import WRITERS, fields_of, left_out, read
from fakes.trails import spent

from veritrail_graph.api.app.doctor import DoctorFinding, State
from veritrail_graph.api.app.doctor_inputs import InputExamined
from veritrail_graph.api.app.estimation import Estimated
from veritrail_graph.api.app.kept_estimate import Kept
from veritrail_graph.api.show.doctor import inputs_shown, setup_shown
from veritrail_graph.api.show.estimate import NOT_SHOWN, estimate_shown
from veritrail_graph.verifier.call_modes import LIVE, CallMode
from veritrail_graph.verifier.estimate import Estimate, Estimates

USAGE = spent(1_207, 0, (1_300, 170, 190), 0.23, batch_calls=6)
SHARED = CallMode("shared_batch_cascade", batch=True, share=8, cascade=True)
ONE = Estimate(USAGE, frozenset({"a-node"}), {"live": USAGE, SHARED.name: USAGE})
WHOLE = Estimated(
    process_id="process-1", claims=24, model="a-model", estimates=Estimates(ONE, ONE, ONE),
    is_priced=True, is_exact=True, ways=(LIVE, SHARED), caches=False,
    kept=Kept("process-0", 17, ()), chosen="live",
)  # fmt: skip
UNKNOWN = Estimated(
    process_id="process-1", claims=24, model="a-model", estimates=Estimates(), is_priced=False,
    is_exact=False, kept=Kept("process-0", None, (), "no key is set"),
)  # fmt: skip
SAMPLES = (WHOLE, UNKNOWN)
WORDS = {
    "Estimated.is_priced": "the price is not known",
    "Estimated.caches": "not known to cache prefixes",
    "CallMode.name": "shared prompts of 8, in batches, cascade",
    "CallMode.cascade": "cascade",
    "Estimate.visited": "1",
    "Usage.cost_usd": "$0.2300",
    "Usage.batch_calls": "at the price of batches",
}
FINDINGS = (DoctorFinding("port", State.FAULT, "something else listens on it"),)


@pytest.mark.parametrize("writer", WRITERS)
def test_every_field_of_an_estimate_stands_in_what_a_writer_makes(writer: str) -> None:
    assert set(NOT_SHOWN) <= fields_of(SAMPLES)
    documents = [estimate_shown(one) for one in SAMPLES]
    assert left_out(writer, SAMPLES, documents, WORDS, NOT_SHOWN) == {}


@pytest.mark.parametrize("writer", WRITERS)
def test_every_field_of_a_finding_of_doctor_stands_in_what_a_writer_makes(writer: str) -> None:
    assert left_out(writer, FINDINGS, [setup_shown(FINDINGS)], {}, ()) == {}


def test_of_many_inputs_each_gap_is_shown_once_and_faults_come_first() -> None:
    lacks = DoctorFinding("question", State.WARNING, "it names none")
    inputs = [
        InputExamined("a.json", (lacks,), {"texts": {"source": 2}}),
        InputExamined("b.json", (lacks, *FINDINGS), {"texts": {"source": 1}}),
    ]
    shown = read(WRITERS["plain"](inputs_shown(inputs)))
    assert "2 processes: 3 source texts" in shown
    assert 'warning | question | 2 of 2, the first in a.json: "it names none"' in shown
    assert shown.index("fault | port") < shown.index("warning | question")


def test_of_many_inputs_each_kind_of_warning_is_shown_with_how_many_have_it() -> None:
    def left(count: int) -> DoctorFinding:
        words = f"{count} instruction{'s' * (count > 1)} of models left out: 'Be {count}.'"
        return DoctorFinding("read", State.WARNING, words)

    broken = DoctorFinding("read", State.WARNING, "1 call ended with an error: look")
    empty, torn = (
        DoctorFinding("input", State.FAULT, f"{name} is in no format: {why}")
        for name, why in (("c.json", "it is empty"), ("d.json", "not JSON: line 3"))
    )
    shown = read(WRITERS["plain"](inputs_shown([
        InputExamined("a.json", (left(1), broken, left(3)), {}),
        InputExamined("b.json", (left(2),), {}),
        InputExamined("c.json", (empty,), {}),
        InputExamined("d.json", (torn,), {}),
    ])))  # fmt: skip
    assert "fine | input | 4 processes fault" in shown
    assert 'read | 2 of 4, the first in a.json: "1 instruction' in shown
    assert 'read | 1 of 4, the first in a.json: "1 call ended' in shown
    assert "input | 1 of 4, the first in c.json" in shown
    assert "input | 1 of 4, the first in d.json" in shown
