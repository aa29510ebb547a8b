"""A file without a name on a disk that becomes full."""

from __future__ import annotations

import resource
import signal
from collections.abc import Iterator

import pytest

from veritrail_graph.graph.model import NodeRef
from veritrail_graph.graph.sentences import SentenceSplitter
from veritrail_graph.verifier.filed_texts import UNKNOWN, NumbersOfNodes, TextFile
from veritrail_graph.verifier.ports import LateNode, ReadNode
from veritrail_graph.verifier.unnamed_file import UnnamedFile

MOST = 40_000
"""Bytes that a file may have in these tests."""


@pytest.fixture
def a_small_disk() -> Iterator[None]:
    """No file of this process grows beyond `MOST` bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (MOST, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.usefixtures("a_small_disk")
def test_what_was_written_is_read_also_after_a_write_that_failed() -> None:
    file = UnnamedFile()
    parts = [bytes([n]) * 7_000 for n in range(5)]
    for part in parts:
        file.add([part])
    for _ in range(2):
        with pytest.raises(OSError, match="too large"):
            file.add([b"x" * 3_000, b"y" * 3_000])
        assert [file.read(n * 7_000, 7_000) for n in range(5)] == parts
    file.add([b"end"])
    assert file.read(file.end - 4, 4) == b"\x04end"


@pytest.mark.usefixtures("a_small_disk")
def test_texts_that_were_filed_are_read_also_after_a_disk_was_full() -> None:
    split = SentenceSplitter.for_language("english").split
    file = TextFile()

    def put(texts: list[str]) -> list[str]:
        refs = [NodeRef.named(f"n{n}") for n in range(len(texts))]
        nodes = file.nodes(refs, texts, [split("n", text) for text in texts])
        return [sentence.text for node in nodes for sentence in node.sentences]

    small = [f"This is text {n}. It is short." for n in range(200)]
    first = put(small)
    with pytest.raises(OSError, match="too large"):
        put([f"A long text, {n}. " * 200 for n in range(20)])
    assert first == put(small)


def test_nodes_of_files_and_others_have_their_own_numbers() -> None:
    files = [TextFile(), TextFile()]
    refs = [NodeRef.named(f"n{n}") for n in range(4)]
    filed = [file.nodes(refs, ["Text."] * 4, [()] * 4) for file in files]
    held = [LateNode.of(ref, "Text.", ()) for ref in refs]
    mixed: list[ReadNode] = [*filed[0], *held, *filed[1]]
    numbers = NumbersOfNodes(lambda node: node.ref.node_id)
    assert set(numbers.numbers(mixed)) == {UNKNOWN}
    for number, node in list(enumerate(mixed))[::-1]:
        if number % 3:
            numbers.put(node, number)
    expected = [n if n % 3 else UNKNOWN for n in range(len(mixed))]
    assert list(numbers.numbers(mixed)) == expected
    assert list(numbers.numbers(mixed[::-1])) == expected[::-1]
    again = files[1].nodes(refs[:1], ["Text."], [()])  # a text that was put there later
    assert list(numbers.numbers(again)) == [UNKNOWN]
