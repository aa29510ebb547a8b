"""Make the recorded answers of a sample from a log of whole prompts and their answers.

    python examples/recorded_answers.py LOG.jsonl examples/SAMPLE.recorded.jsonl \
        --reader "a large language model" --date 2026-11-26

A line of the log is `{"system_sha256", "user", "answer"}`, the answer a text or the object that
ends it; lines with `system` hold instructions and are left out. `veritrail verify … --record FILE`
writes such a file without a log.
"""

from __future__ import annotations

import argparse
import json
from hashlib import sha256
from pathlib import Path

from veritrail_graph.verifier.models.recorded_answers import answer_line, header


def main() -> None:
    """Write the file; the order is that of the log, and equal lines stand in it once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("log", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--reader", required=True, help="Who answered.")
    parser.add_argument("--date", required=True, help="When, as 2026-11-26.")
    given = parser.parse_args()
    lines = {header(given.date, given.reader): None}
    for text in given.log.read_text("utf-8").splitlines():
        found = json.loads(text)
        if "answer" in found:
            answer = found["answer"]
            if not isinstance(answer, str):
                answer = json.dumps(answer, ensure_ascii=False)
            user = sha256(found["user"].encode()).hexdigest()
            lines[answer_line(found["system_sha256"], user, answer)] = None
    given.output.write_text("".join(lines), "utf-8")


if __name__ == "__main__":
    main()
