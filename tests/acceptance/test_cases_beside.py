"""Small inputs that must hold, from a folder of cases beside the repository where it is there."""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from acceptance import in_process
from acceptance.command import Veritrail

pytestmark = [pytest.mark.engine, pytest.mark.slow]

CASES = Path(__file__).resolve().parents[3] / "shared" / "cases"
OPEN = sorted(path.parent.name for path in CASES.glob("open/*/expect.json"))


@cache
def runner() -> Any:
    spec = importlib.util.spec_from_file_location("run_cases", CASES / "run_cases.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("case", OPEN)
def test_a_case_holds(
    veritrail: Veritrail, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    def call(arguments: list[str], folder: Path, _seconds: int = 0) -> tuple[int, str, str]:
        monkeypatch.chdir(folder)
        status, out, error = in_process.call(arguments, veritrail.environment({"NO_COLOR": "1"}))
        return status, out.decode(errors="replace"), error.decode(errors="replace")

    product = runner().Product(Path("veritrail"), tmp_path)
    product.call = call
    assert product.shorts(CASES / "open" / case) == []
