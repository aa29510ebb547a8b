"""Jobs in batches over REST: all claims share each round, and what waits where is said."""

from __future__ import annotations

from pathlib import Path

import pytest
from acceptance.command import Veritrail
from acceptance.model_fixtures import asking, expected, pumps
from acceptance.rest.job_calls import Calls
from fakes.model_batches import BatchDesk
from fakes.model_prompts import split_shared
from fakes.model_server import ModelServer
from fakes.service_process import serving
from fakes.waiting import until

pytestmark = pytest.mark.engine


def test_a_job_in_batches_says_what_it_waits_for_and_ends_its_batches_when_it_is_cancelled(
    home: Veritrail, tmp_path: Path
) -> None:
    home("ingest", pumps(tmp_path / "rounds.json", 3))
    desk = BatchDesk(held=True)
    with (
        ModelServer(desk=desk) as model,
        serving(home, env=asking(model, VERITRAIL_BATCH_POLL="0.05")) as service,
    ):
        calls = Calls(service.url)
        job_id = calls.submit("rounds", mode="batch", price="1,2")
        until(lambda: bool(desk.batches) and desk.batches[0].looks > 2)
        (waiting,) = service.get(f"/v1/jobs/{job_id}").json()["batches"]
        assert (waiting["batch_id"], waiting["status"]) == ("batch_0", "in_progress")
        assert waiting["lines"] == 3
        page = service.get(f"/jobs/{job_id}").text
        assert "batch_0" in page, "the page says it, too"
        assert ": being answered, 0 of 3 answered" in page
        assert "in_progress" not in page
        assert "Being checked" not in page
        assert page.count("Waiting for a batch") == 3
        said = service.get(f"/v1/jobs/{job_id}").json()
        (run,) = service.get("/v1/processes/rounds/runs").json()["runs"]
        assert (run["run_id"], run["q"]) == (said["run_id"], 3)
        assert (run["mode"], run["since"], run["kept"]) == ("batch", None, 0)
        assert ", in batches" in service.get("/processes/rounds/runs").text
        assert (said["mode"], said["model"], said["share"]) == ("batch", "scripted", None)
        again = service.post(f"/v1/jobs/{job_id}:resume")
        assert (again.status_code, again.json()["status"]) == (200, "running")
        assert len(desk.batches) == 1, "it goes on as it was"
        desk.batches[0].answered = 2
        assert service.post(f"/v1/jobs/{job_id}:cancel").status_code == 200
        # Whether the batch is looked at once more before the job ends is a matter of moments.
        until(lambda: desk.batches[0].status in ("cancelling", "cancelled"))
        desk.held = False
        assert calls.wait(job_id, seconds=20)["status"] == "cancelled"
        assert service.post(f"/v1/jobs/{job_id}:resume").status_code == 200
        job = calls.wait(job_id, seconds=30)
        assert calls.outcome(job) == expected(3)
        assert job["batches"] == []
        (warning,) = job["warnings"]
        assert warning.startswith("Batch batch_0 was cancelled with 2 of 3 lines answered")
        assert "2 of 3 lines answered" in service.get(f"/jobs/{job_id}").text
        assert job["usage"]["batch_calls"] == job["usage"]["calls"] == len(model.requests)


def test_a_process_that_is_removed_by_force_ends_its_job_and_the_batch(
    home: Veritrail, tmp_path: Path
) -> None:
    home("ingest", pumps(tmp_path / "forced.json", 3))
    desk = BatchDesk(held=True)
    with (
        ModelServer(desk=desk) as model,
        serving(home, env=asking(model, VERITRAIL_BATCH_POLL="0.05")) as service,
    ):
        calls = Calls(service.url)
        job_id = calls.submit("forced", mode="batch")
        until(lambda: bool(desk.batches) and desk.batches[0].looks > 2)
        assert service.delete("/v1/processes/forced").status_code == 409
        assert service.delete("/v1/processes/forced?force=true").status_code == 204
        until(lambda: desk.batches[0].status in ("cancelling", "cancelled"), seconds=10)
        job = calls.wait(job_id, seconds=10)  # the batch itself is still on its way
        assert (job["status"], job["error"]) == ("cancelled", "process 'forced' was deleted")
        assert set(job["counts"]) <= {"cancelled", "failed"}
        assert len(desk.batches) == 1


@pytest.mark.soak
def test_a_service_that_was_killed_goes_on_with_its_batch(home: Veritrail, tmp_path: Path) -> None:
    home("ingest", pumps(tmp_path / "killed.json", 4))
    desk = BatchDesk(held=True)
    with ModelServer(desk=desk) as model:
        env = asking(model, VERITRAIL_BATCH_POLL="0.05")
        with serving(home, env=env, child=True) as service:
            job_id = Calls(service.url).submit("killed", mode="batch")
            until(lambda: bool(desk.batches) and desk.batches[0].looks > 2)
            service.kill()
        desk.held = False
        with serving(home, env=env) as service:
            calls = Calls(service.url)
            job = calls.wait(job_id, seconds=40)
            assert calls.outcome(job) == expected(4)
        assert len(set(desk.sent)) == len(desk.sent)
        assert desk.uploads == len(desk.batches)


def test_the_claims_of_a_job_share_prompts_also_where_workers_do_them(
    home: Veritrail, tmp_path: Path
) -> None:
    home("ingest", pumps(tmp_path / "sharing.json", 6))
    with ModelServer() as model, serving(home, env=asking(model)) as service:
        calls = Calls(service.url)
        job = calls.wait(calls.submit("sharing", share=4, price="1,2"), seconds=30)
        assert (job["mode"], job["share"], job["since"]) == ("live", 4, None)
        assert calls.outcome(job) == expected(6)
        shared = model.of("evidence_selection_shared")
        for page, words in (
            (
                f"/jobs/{job['job_id']}",
                "Shared prompts (ours, not the paper&#39;s): up to 4 claims",
            ),
            ("/jobs", ", 4 claims a prompt"),
            ("/processes/sharing/runs", ", 4 claims a prompt"),
            ("/processes/sharing/claims/k0", ", 4 claims a prompt"),
        ):
            assert words in service.get(page).text, page
        # All six over the same texts; then the two that no text supported, over the texts below.
        assert [len(split_shared(one.user)) for one in shared] == [3, 3, 2]
        assert job["usage"]["calls"] == len(model.requests)
