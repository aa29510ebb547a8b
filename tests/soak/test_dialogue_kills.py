"""A dialogue killed again and again, through every door: the turns of an undisturbed run, once."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest
from acceptance.command import Veritrail
from acceptance.homes import a_home
from acceptance.model_fixtures import asking
from acceptance.rest.job_calls import Calls
from acceptance.rest.test_two_workers import working
from fakes.dialogues import SAMPLE, DialogueReader, gold_run, sample_dialogue
from fakes.model_server import ModelServer, Received
from fakes.service_process import serving
from fakes.waiting import until
from postgres_server.launcher import Server

pytestmark = [pytest.mark.engine, pytest.mark.soak, pytest.mark.timeout(1_800)]

DIALOGUE = "lindholm-dialogue"
TURNS = [turn.turn_id for turn in gold_run().turns]
TEXTS = {one.turn_id: one.text for one in sample_dialogue().turns}
KILLED_BEHIND = (1, 4, 7, 11, 14)
"""After how many stored turns the work is killed, while it is at the next one."""
FROM_MODEL = {"dialogue_id": DIALOGUE, "use_cache": False, "turn_check": True}


@pytest.fixture
def home() -> Iterator[Veritrail]:
    with a_home() as veritrail:
        veritrail("ingest", str(SAMPLE))
        yield veritrail


class Stuck:
    """A model that answers for a number of turns, and then takes its time at one call of the next.

    Args:
        model: The server.
    """

    def __init__(self, model: ModelServer) -> None:
        self.model = model
        self._chance = random.Random(18)  # a repeatable loop, no secret
        self._behind = len(TURNS)
        self._step = ""
        self.is_stuck = False

    def behind(self, turns: int | None) -> None:
        """Answer for so many turns; of the next one, one step takes a minute. None: never."""
        if turns is None:
            self.model.latency = 0.0
            return
        steps = ["dialogue_extraction", "dialogue_verification", "dialogue_turn_check"]
        self._behind, self._step = turns, self._chance.choice(steps)
        self.is_stuck = False
        self.model.latency = self._latency

    def until_stuck(self, done: Callable[[], int]) -> None:
        """Wait until the model takes its time and the turns before are done.

        Args:
            done: How many are.
        """
        until(lambda: self.is_stuck and done() == self._behind, 180)

    def _latency(self, received: Received) -> float:
        claims = [f"Claim: {claim.claim}" for claim in gold_run().turns[self._behind].claims]
        is_of_claims = self._step == "dialogue_verification" and bool(claims)
        lines = claims if is_of_claims else [f"Turn: {TEXTS[TURNS[self._behind]]}"]
        # A turn without claims is taken apart, and nothing else is asked about them.
        step = self._step if claims else "dialogue_extraction"
        is_its = received.step == step and received.user.rsplit("\n", 1)[-1] in lines
        self.is_stuck = self.is_stuck or is_its
        return 60.0 if is_its else 0.0


def taken_apart(model: ModelServer) -> Counter[str]:
    """How often each turn was taken apart, by its turn_id."""
    names = {text: name for name, text in TEXTS.items()}
    asked = [one.user.rpartition("Turn: ")[2] for one in model.of("dialogue_extraction")]
    return Counter(names[text] for text in asked)


def undisturbed(home: Veritrail) -> list[tuple[str, ...]]:
    """What a run finds that is left alone."""
    with ModelServer(DialogueReader()) as model:
        told = home(
            "dialogue", "verify", DIALOGUE, "--turn-check", "--no-cache", "--json", **asking(model)
        )
    return outcomes(told.json["turns"])


def outcomes(turns: list[dict[str, object]]) -> list[tuple[str, ...]]:
    """What was found of turns, but for what calls cost."""
    kept = ("turn_id", "status", "label", "claims", "turn_check", "score", "background_lacks")
    return [tuple(str(turn[key]) for key in kept) for turn in turns]


def each_once_but_those_at_kills(model: ModelServer, kills: int) -> None:
    """No turn that was stored is asked about again: at each kill one turn was under way."""
    times = taken_apart(model)
    assert set(times) == set(TURNS)
    again = {TURNS[behind] for behind in KILLED_BEHIND}
    assert {name for name, count in times.items() if count > 1} <= again
    assert sum(times.values()) <= len(TURNS) + kills


def test_a_command_killed_at_several_turns(home: Veritrail) -> None:
    wanted = undisturbed(home)
    verify = ("dialogue", "verify", DIALOGUE, "--turn-check", "--no-cache", "--json")
    with ModelServer(DialogueReader()) as model:
        stuck, run, resume = Stuck(model), "", list[str]()
        for behind in KILLED_BEHIND:
            stuck.behind(behind)
            started = home.start(*verify, *resume, **asking(model))
            run = started.until_said(r"run (r-\S+)")
            resume = ["--resume", run]
            stuck.until_stuck(lambda run=run: stored(home, run))
            started.child.kill()
            started.child.communicate()
        stuck.behind(None)
        told = home(*verify, *resume, **asking(model)).json
        assert told["kept"] == KILLED_BEHIND[-1]
        assert outcomes(told["turns"]) == wanted
        each_once_but_those_at_kills(model, len(KILLED_BEHIND))
    shown = home("dialogue", "show", DIALOGUE, "--run", run, "--json").json
    assert outcomes(shown["turns"]) == wanted


def stored(home: Veritrail, run: str) -> int:
    """How many turns a run has stored; the run is unknown before the first one."""
    with suppress(AssertionError):
        shown = home("dialogue", "show", DIALOGUE, "--run", run, "--json").json
        return len(shown["turns"])
    return 0


def test_a_service_killed_at_several_turns(home: Veritrail) -> None:
    wanted = undisturbed(home)
    with (
        ModelServer(DialogueReader()) as model,
        serving(home, env=asking(model), child=True) as service,
    ):
        service.until_ready()
        calls, stuck = Calls(service.url), Stuck(model)
        stuck.behind(KILLED_BEHIND[0])
        accepted = service.post("/v1/dialogue-verifications", json=FROM_MODEL).json()
        job_id = accepted["job_id"]
        for following in (*KILLED_BEHIND[1:], None):
            stuck.until_stuck(lambda: succeeded(calls, job_id))
            service.kill()
            stuck.behind(following)
            service.start()
        job = calls.wait(job_id)
        ended = [one.data["turn_id"] for one in calls.listed(job_id) if one.kind == "turn.finished"]
        answer = service.get(
            f"/v1/processes/{DIALOGUE}/dialogue", params={"run_id": accepted["run_id"]}
        )
    assert (job["status"], job["counts"]) == ("succeeded", {"succeeded": len(TURNS)})
    assert ended == TURNS
    assert outcomes(answer.json()["turns"]) == wanted
    each_once_but_those_at_kills(model, len(KILLED_BEHIND))


def succeeded(calls: Calls, job_id: str) -> int:
    found: int = calls.job(job_id)["counts"].get("succeeded", 0)
    return found


def test_workers_killed_at_several_turns(home: Veritrail, postgres_server: Server) -> None:
    wanted = undisturbed(home)
    database = postgres_server.new_database()
    with ModelServer(DialogueReader()) as model:
        env = asking(model)
        jobs_env = {**env, "VERITRAIL_JOBS_URL": database}
        with serving(home, env=jobs_env, args=["--no-worker"]) as service:
            service.until_ready()
            calls, stuck = Calls(service.url), Stuck(model)
            stuck.behind(KILLED_BEHIND[0])
            accepted = service.post("/v1/dialogue-verifications", json=FROM_MODEL).json()
            job_id = accepted["job_id"]
            for following in (*KILLED_BEHIND[1:3], None):
                with working(home, database, **env) as worker:
                    stuck.until_stuck(lambda: succeeded(calls, job_id))
                    worker.command.child.kill()
                    worker.command.child.communicate()
                stuck.behind(following)
            with working(home, database, **env):
                job = calls.wait(job_id, seconds=180)
            answer = service.get(
                f"/v1/processes/{DIALOGUE}/dialogue", params={"run_id": accepted["run_id"]}
            )
    assert (job["status"], job["counts"]) == ("succeeded", {"succeeded": len(TURNS)})
    assert outcomes(answer.json()["turns"]) == wanted
    each_once_but_those_at_kills(model, 3)
