"""The pytest plugin: the fixture `veritrail` checks answers in a home of its own.

Nothing of the product is imported before a test checks something.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from veritrail_graph.api.client import Local
    from veritrail_graph.api.client.checks import CheckResult
    from veritrail_graph.api.settings import Settings

RECORDED = "recorded"
"""The engine that gives recorded answers."""
KEY_NEEDED = ("key_needed", "azure_key_needed")
"""Codes of the error that the key of a model is not set."""
JUDGES = (
    "engine", "verdict_engine", "model", "claims_model", "selection_model", "verdict_model",
    "escalate_to",
)  # fmt: skip
"""Options that name who judges."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of a run."""
    group = parser.getgroup("veritrail", "veritrail: answers checked against their sources")
    group.addoption("--veritrail-model", metavar="NAME", help="The model that judges.")
    group.addoption(
        "--veritrail-budget",
        type=float,
        metavar="USD",
        help="The most that the checks of this run may cost together.",
    )
    group.addoption(
        "--veritrail-record",
        type=Path,
        metavar="FILE",
        help="Take answers of the model from FILE, and write those into it that it lacks: a test "
        "costs once, and needs no key after that.",
    )


class CheckedRun:
    """The checks of a test run.

    Args:
        settings: Where the graph is, and who judges where nothing else is named.
        model: The model that judges; None: as the settings say.
        budget: The most that all checks may cost in USD; None: any amount.
        record: A file of recorded answers; None: none.
    """

    def __init__(
        self,
        settings: Settings,
        model: str | None = None,
        budget: float | None = None,
        record: Path | None = None,
    ) -> None:
        self._settings, self._model, self._budget = settings, model, budget
        self._record = record.absolute() if record is not None else None
        self._spent = 0.0
        self._here: Local | None = None

    def check(self, what: Any = None, sources: Any = None, **options: Any) -> CheckResult:
        """Check as `veritrail_graph.check` does.

        Args:
            what: With `sources` the answer; else whatever there is.
            sources: What the answer was made from.
            options: What else `veritrail_graph.check` takes.
        """
        __tracebackhide__ = True
        from veritrail_graph.api.client.faults import Problem
        from veritrail_graph.graph.errors import VeriTrailError

        named = {name: value for name, value in options.items() if value is not None}
        if "engine" not in named and self._model is not None:
            named.setdefault("model", self._model)
        try:
            if not self._calls_models(named):
                return self._replayed(what, sources, named)
            try:
                return self._asked(what, sources, named)
            except Problem as error:
                lacks_key = getattr(error.__cause__, "code", None) in KEY_NEEDED
                if not lacks_key or self._record is None or not self._record.exists():
                    raise
            rest = {name: value for name, value in named.items() if name not in JUDGES}
            return self._replayed(what, sources, rest)
        except VeriTrailError as error:
            raise error.with_traceback(None) from None

    def close(self) -> None:
        """Close what was opened."""
        if self._here is not None:
            self._here.close()

    def _calls_models(self, options: dict[str, Any]) -> bool:
        """Return whether a check with these options asks a model."""
        from veritrail_graph.api.configured.judge import JudgeOptions

        engine = self._settings.engine_name(options.get("engine"), options.get("model"))
        verdicts = self._settings.verdict_engine_name(engine, options.get("verdict_engine"))
        return JudgeOptions(engine, verdicts).calls_models

    def _asked(self, what: Any, sources: Any, options: dict[str, Any]) -> CheckResult:
        """Check with a model; what is recorded is not asked."""
        from veritrail_graph.api.client.faults import Problem

        if self._budget is not None:
            left = self._budget - self._spent
            if left <= 0:
                pytest.fail(f"--veritrail-budget {self._budget}: it is spent.", pytrace=False)
            options = {**options, "budget": min(left, options.get("budget", left))}
        try:
            result = self._local.check(what, sources, **options)
        except Problem as error:
            self._spent += (error.checked.cost_usd or 0.0) if error.checked is not None else 0.0
            raise
        self._spent += result.cost_usd or 0.0
        return result

    def _replayed(self, what: Any, sources: Any, options: dict[str, Any]) -> CheckResult:
        """Check without a model: with recorded answers, where no engine is named."""
        if self._record is not None and options.get("engine") is None:
            if not self._record.exists():
                pytest.fail(
                    f"--veritrail-record {self._record}: there is no such file yet, and no model "
                    "whose answers it could get. Name one with --veritrail-model.",
                    pytrace=False,
                )
            options = {**options, "engine": RECORDED}
        return self._local.check(what, sources, **options)

    @property
    def _local(self) -> Local:
        from veritrail_graph.api.client import Local

        if self._here is None:
            files = {RECORDED: self._record, "record": self._record} if self._record else {}
            self._here = Local(self._settings.model_copy(update=files))
        return self._here


def settings_of_run() -> Settings:
    """Return the settings of the folder that is tested; what is wrong with them fails the test."""
    from veritrail_graph.api.settings import Settings
    from veritrail_graph.graph.errors import VeriTrailError

    try:
        return Settings()
    except VeriTrailError as error:
        words = str(error)
    pytest.fail(words, pytrace=False)  # frames would show what is in the file


@pytest.fixture(scope="session")
def veritrail(request: pytest.FixtureRequest) -> Iterator[CheckedRun]:
    """Checks in a home of their own: `veritrail.check(answer, sources).assert_supported()`."""
    from veritrail_graph.api.app.engine import stop_engine

    option = request.config.getoption
    # A path of a socket has about 100 characters: folders of pytest may be longer.
    with tempfile.TemporaryDirectory(
        prefix="vt-",
        dir="/tmp" if os.name == "posix" else None,  # noqa: S108
        ignore_cleanup_errors=True,
    ) as folder:
        own = {"home": Path(folder) / "home", "neo4j_uri": None, "jobs_url": None}
        settings = settings_of_run().model_copy(update=own)
        checks = CheckedRun(
            settings,
            option("--veritrail-model"),
            option("--veritrail-budget"),
            option("--veritrail-record"),
        )
        yield checks
        checks.close()
        asyncio.run(stop_engine(settings))
