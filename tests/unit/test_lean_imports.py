"""A command of ours loads no numerical library; a program that uses the package may find them."""

from __future__ import annotations

import subprocess
import sys

import pytest

LEAN = "from veritrail_graph.graph.lean_imports import keep_imports_lean as lean\nlean()\n"
USE = """
from veritrail_graph.graph.sentences.tables import tokenizer
from veritrail_graph.graph.store import Database
from veritrail_graph.verifier.vocabulary import stem
assert list(tokenizer("english").span_tokenize("One is. Two are."))
assert stem("ferries") == stem("ferry")
import sys
print(*(name for name in ("numpy", "pandas", "scipy", "sklearn") if name in sys.modules))
import numpy
"""


AT_ONCE = """
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from veritrail_graph.graph.sentences.tables import tokenizer
from veritrail_graph.verifier.vocabulary import stem
begin = Barrier(8)
def use(number):
    begin.wait()
    return stem("ferries") if number % 2 else len(list(tokenizer("english").span_tokenize("One.")))
with ThreadPoolExecutor(8) as threads:
    print(*sorted(map(str, threads.map(use, range(8)))))
"""


def said(code: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@pytest.mark.slow
def test_the_driver_and_threads_that_all_use_the_toolkit_first_load_no_numerical_library() -> None:
    assert said(LEAN + AT_ONCE + USE) == ["1 1 1 1 ferri ferri ferri ferri", ""]


@pytest.mark.soak
def test_without_it_they_load_all_that_is_there() -> None:
    assert said(USE) == ["numpy pandas scipy sklearn"]


@pytest.mark.soak
def test_threads_may_be_the_first_to_use_the_toolkit_again_and_again() -> None:
    for _ in range(10):
        assert said(LEAN + AT_ONCE) == ["1 1 1 1 ferri ferri ferri ferri"]
