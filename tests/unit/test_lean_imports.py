"""A command of ours loads no numerical library; a program that uses the package may find them."""

from __future__ import annotations

import subprocess
import sys

import pytest

USE = """
from veritrail_graph.graph.sentences.tables import tokenizer
from veritrail_graph.graph.store import Database
from veritrail_graph.verifier.engines.lexical.vocabulary import stem
assert list(tokenizer("english").span_tokenize("One is. Two are."))
assert stem("ferries") == stem("ferry")
import sys
print(*(name for name in ("numpy", "pandas", "scipy", "sklearn") if name in sys.modules))
import numpy
"""


@pytest.mark.slow
@pytest.mark.parametrize("is_lean", [True, False])
def test_the_driver_and_the_toolkit_load_no_numerical_library(is_lean: bool) -> None:
    begin = "from veritrail_graph.graph.lean_imports import keep_imports_lean as lean\nlean()\n"
    done = subprocess.run(
        [sys.executable, "-c", begin * is_lean + USE], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ([] if is_lean else ["numpy", "pandas", "scipy", "sklearn"])


AT_ONCE = """
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from veritrail_graph.graph.sentences.tables import tokenizer
from veritrail_graph.verifier.engines.lexical.vocabulary import stem
begin = Barrier(8)
def use(number):
    begin.wait()
    return stem("ferries") if number % 2 else len(list(tokenizer("english").span_tokenize("One.")))
with ThreadPoolExecutor(8) as threads:
    print(*sorted(map(str, threads.map(use, range(8)))))
"""


@pytest.mark.slow
def test_threads_may_be_the_first_to_use_the_toolkit_all_at_once() -> None:
    begin = "from veritrail_graph.graph.lean_imports import keep_imports_lean as lean\nlean()\n"
    children = [
        subprocess.Popen([sys.executable, "-c", begin + AT_ONCE], stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    told = [child.communicate()[0] for child in children]
    assert told == ["1 1 1 1 ferri ferri ferri ferri\n"] * 3
