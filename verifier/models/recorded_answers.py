"""Recorded answers: files of them, an endpoint that gives them again, and who writes them.

A file is JSON Lines: `{"format": "veritrail.recorded/1", "recorded": DATE, "reader": TEXT}`, then
`{"system_sha256", "user_sha256", "answer"}`. A line may also say `sample`, the number of the answer
among several to one prompt, and, where they are not those of the header, `recorded` and `reader`.
No prompt is in it.

Source: ours; docs/adr/0052-recorded-answers.md.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from errno import ENOSPC
from functools import lru_cache
from hashlib import sha256
from importlib import resources
from pathlib import Path
from typing import Any

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model import Usage
from veritrail_graph.verifier.models.port import Completion, Request, RequestRejected

FORMAT = "veritrail.recorded/1"
SHIPPED = resources.files("veritrail_graph") / "samples"
"""Where the recorded answers are that come with the samples."""
ENDING = ".recorded.jsonl"
MOST_BYTES = 500_000_000  # of a file
LONGEST_LINE = 8_000_000  # bytes: an answer has at most a million characters
MOST_SAMPLES = 100
_BEGIN = b'{"format":'
_HASH = re.compile(r"[0-9a-f]{64}")
_NO_CALL = Usage(cost_usd=0.0)
"""What a recorded answer costs."""

_Prompt = tuple[str, str]
"""SHA-256 of the system message and of the user message."""


class InvalidRecording(InputError):
    """A file of recorded answers cannot be used."""

    code = "invalid_recording"


class NotRecorded(RequestRejected):
    """A prompt has no recorded answer, however often it is asked."""

    code = "not_recorded"


def hash_of(text: str) -> str:
    """Return the SHA-256 of a message, in hexadecimal."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def reader_of(model: str) -> str:
    """Return the name by which a file says that a model gave an answer."""
    return "".join(filter(str.isprintable, model))[:200].strip() or "a model"


def header(recorded: str, reader: str) -> str:
    """Return the first line of a file: when answers were recorded, and who gave them."""
    return _line({"format": FORMAT, "recorded": recorded, "reader": reader})


def answer_line(system_sha256: str, user_sha256: str, answer: str, **more: Any) -> str:
    """Return the line of an answer; `more` are the keys that it may have besides."""
    return _line(
        {"system_sha256": system_sha256, "user_sha256": user_sha256, "answer": answer, **more}
    )


def _line(found: Mapping[str, Any]) -> str:
    return json.dumps(found, ensure_ascii=False, separators=(",", ":")) + "\n"


@dataclass(frozen=True, slots=True)
class RecordedAnswers:
    """The answers of one file or several.

    Attributes:
        readers: Who gave them, in the order of the files.
        days: When they were recorded, sorted.
        answers: The answers by prompt, then by the number of the sample.
        digest: Begins the SHA-256 of the files: other answers have another one.
    """

    readers: tuple[str, ...]
    days: tuple[date, ...]
    answers: Mapping[_Prompt, Mapping[int, str]]
    digest: str

    @property
    def label(self) -> str:
        """Whose answers these are and when they were recorded, in words."""
        names = list(self.readers)
        if len(names) > 3:
            names = [*names[:2], f"{len(names) - 2} others"]
        who = " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)
        first, last = (f"{day.day} {day:%B %Y}" for day in (self.days[0], self.days[-1]))
        when = f"on {first}" if first == last else f"from {first} to {last}"
        return f"answers of {who}, recorded {when}"

    def answer(self, request: Request) -> str:
        """Return the recorded answer to a prompt.

        Raises:
            NotRecorded: There is none; the message says what to do.
        """
        prompt = hash_of(request.system), hash_of(request.user)
        samples = self.answers.get(prompt)
        if samples is not None and request.sample in samples:
            return samples[request.sample]
        raise NotRecorded(self._missing(request, prompt, samples))

    def _missing(self, request: Request, prompt: _Prompt, samples: Mapping[int, str] | None) -> str:
        step = request.call.step
        if samples is not None:
            why = f"sample {request.sample + 1} of a prompt of {step} has no recorded answer"
        elif not any(system == prompt[0] for system, _ in self.answers):
            why = f"no answer to the instructions {request.call.prompt} was recorded"
        else:
            why = (
                f"no answer to this prompt of {step} (SHA-256 {prompt[1][:12]}) is among the "
                f"{len(self.answers):,} that were recorded"
            )
        return (
            f"{why}; another claim, text, limit or wording makes another prompt. Verify what was "
            "recorded, as it was; or ask a model, whose answers --record FILE keeps"
        )


class RecordedEndpoint:
    """An endpoint that asks nobody: it gives the recorded answer, or says that there is none.

    Attributes:
        address: Names the recording.
    """

    def __init__(self, recorded: RecordedAnswers) -> None:
        self.address = f"recorded:{recorded.digest}"
        self._recorded = recorded

    def known(self, request: Request) -> str | None:
        """Return the recorded answer; None: there is none."""
        with suppress(NotRecorded):
            return self._recorded.answer(request)
        return None

    async def send(self, request: Request, max_output_tokens: int | None) -> Completion:
        """Return the recorded answer; see `Endpoint`."""
        del max_output_tokens
        return Completion(self._recorded.answer(request), _NO_CALL)

    async def close(self) -> None:
        """Do nothing: there is no connection."""


def recorded_answers(file: Path | None = None) -> RecordedAnswers:
    """Read recorded answers.

    Args:
        file: A file of the user's; None: those that come with the samples.

    Raises:
        InvalidRecording: It cannot be read or used; the message names the line.
    """
    if file is None:
        return _shipped()
    try:
        state = file.stat()
    except OSError as error:
        raise _unreadable(file, error) from None
    return _cached(file, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=1)
def _shipped() -> RecordedAnswers:
    found = [one for one in SHIPPED.iterdir() if one.name.endswith(ENDING)]
    return _combined([(one.name, one.read_bytes()) for one in sorted(found, key=lambda x: x.name)])


@lru_cache(maxsize=4)
def _cached(file: Path, changed_at: int, size: int) -> RecordedAnswers:
    del changed_at  # part of the key
    if size > MOST_BYTES:
        raise InvalidRecording(
            f"{file} has {size:,} bytes; a file of recorded answers has at most {MOST_BYTES:,}. "
            "Record into several files."
        )
    if not file.is_file():
        raise InvalidRecording(f"{file} is no file. Name one that was recorded.")
    try:
        return _combined([(str(file), file.read_bytes())])
    except OSError as error:
        raise _unreadable(file, error) from None


def _unreadable(file: Path, error: OSError) -> InvalidRecording:
    return InvalidRecording(
        f"{file} cannot be read: {error.strerror or error}. Name a file that was recorded."
    )


def _combined(files: Iterable[tuple[str, bytes]]) -> RecordedAnswers:
    readers: dict[str, None] = {}
    days: set[date] = set()
    answers: dict[_Prompt, dict[int, str]] = {}
    digest = sha256()
    for name, content in files:
        digest.update(content)
        _read(name, content, readers, days, answers)
    return RecordedAnswers(tuple(readers), tuple(sorted(days)), answers, digest.hexdigest()[:12])


def _read(
    name: str,
    content: bytes,
    readers: dict[str, None],
    days: set[date],
    answers: dict[_Prompt, dict[int, str]],
) -> None:
    """Read the lines of a file; a last line that was broken off by a kill is left out."""
    lines = content.split(b"\n")
    lines.pop()  # behind the last line break: nothing, or a line that never came to its end
    first: dict[str, Any] | None = None
    for number, line in enumerate(lines, start=1):
        where = f"{name}, line {number}"
        if first is None or line.startswith(_BEGIN):  # two programs may have begun the file
            first = _header(line, where)
            readers[first["reader"]] = None
            days.add(_day(first["recorded"], where))
        elif line.strip():
            found = _answer(line, where)
            readers[_reader(found.get("reader", first["reader"]), where)] = None
            days.add(_day(found.get("recorded", first["recorded"]), where))
            samples = answers.setdefault((found["system_sha256"], found["user_sha256"]), {})
            free = next(place for place in range(len(samples) + 1) if place not in samples)
            samples[_sample(found.get("sample", free), where)] = found["answer"]
    if first is None:
        raise InvalidRecording(f"{name} has no line. It begins with {header('DATE', 'TEXT')[:-1]}")


_ANSWER_KEYS = frozenset({"system_sha256", "user_sha256", "answer"})
_MORE_KEYS = frozenset({"sample", "recorded", "reader"})
_AS_WRITTEN = "Leave the file as it was recorded."


def _object(line: bytes, where: str) -> dict[str, Any]:
    if len(line) > LONGEST_LINE:
        raise InvalidRecording(f"{where}: longer than {LONGEST_LINE:,} bytes. {_AS_WRITTEN}")
    try:
        text = line.decode("utf-8-sig")  # json would guess UTF-16 and UTF-32
    except UnicodeDecodeError as error:
        raise InvalidRecording(
            f"{where}: not UTF-8 (byte {error.start} of the line). Save the file as UTF-8."
        ) from None
    if "\0" in text:
        raise InvalidRecording(
            f"{where}: not UTF-8 (it has bytes of value 0, as UTF-16 has). Save the file as UTF-8."
        )
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidRecording(f"{where}: no JSON object. {_AS_WRITTEN}") from None
    if not isinstance(found, dict):
        raise InvalidRecording(f"{where}: no JSON object. {_AS_WRITTEN}")
    return found


def _header(line: bytes, where: str) -> dict[str, Any]:
    found = _object(line, where)
    if found.get("format") != FORMAT:
        raise InvalidRecording(
            f"{where}: the first line of recorded answers says "
            f'"format": "{FORMAT}", and this one does not. Name a file that was recorded.'
        )
    for key in ("recorded", "reader"):
        if key not in found:
            raise InvalidRecording(f"{where}: the key {key!r} is missing. {_AS_WRITTEN}")
    _reader(found["reader"], where)
    return found


def _answer(line: bytes, where: str) -> dict[str, Any]:
    found = _object(line, where)
    if lacking := sorted(_ANSWER_KEYS - found.keys()):
        raise InvalidRecording(f"{where}: the key {lacking[0]!r} is missing. {_AS_WRITTEN}")
    if unknown := sorted(found.keys() - _ANSWER_KEYS - _MORE_KEYS):
        raise InvalidRecording(f"{where}: unknown key {unknown[0]!r}. {_AS_WRITTEN}")
    for key in ("system_sha256", "user_sha256"):
        if not (isinstance(found[key], str) and _HASH.fullmatch(found[key])):
            raise InvalidRecording(
                f"{where}: {key} is no SHA-256 in hexadecimal digits. {_AS_WRITTEN}"
            )
    if not isinstance(found["answer"], str):
        raise InvalidRecording(f"{where}: answer is no text. {_AS_WRITTEN}")
    return found


def _day(value: Any, where: str) -> date:
    try:
        return date.fromisoformat(value)
    except (TypeError, ValueError):
        raise InvalidRecording(
            f"{where}: recorded is no date, such as 2026-11-26. {_AS_WRITTEN}"
        ) from None


def _reader(value: Any, where: str) -> str:
    if isinstance(value, str) and value.strip() and value.isprintable() and len(value) <= 200:
        return value
    raise InvalidRecording(
        f"{where}: reader is no line of text of at most 200 characters. {_AS_WRITTEN}"
    )


def _sample(value: Any, where: str) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < MOST_SAMPLES:
        return value
    raise InvalidRecording(
        f"{where}: sample is no number from 0 to {MOST_SAMPLES - 1}. {_AS_WRITTEN}"
    )


@contextmanager
def _held(descriptor: int) -> Iterator[None]:
    """Keep other programs from a file: what one writes looks to another as if a kill cut it off."""
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    with suppress(OSError):  # a file system without locks
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        yield
    finally:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_UN)


class AnswerRecorder:
    """Writes every valid answer of a run into a file; what was written stays, and more follows.

    Each line is written whole, at once. A kill leaves a file that can be read and gone on with.

    Args:
        file: The file; one that is not there is made, for the user's own eyes.
        warn: Told once when the file cannot be written any more.
        replays: Whether a prompt that stands in the file has its answer from there.

    Attributes:
        readers: Who gave the answers that stood in the file at first.

    Raises:
        InvalidRecording: The file is something else, or cannot be written.
    """

    def __init__(
        self,
        file: Path,
        warn: Callable[[str], None] = lambda _: None,
        *,
        replays: bool = False,
    ) -> None:
        self.readers: tuple[str, ...] = ()
        self._file, self._warn, self._replays = file, warn, replays
        self._today = datetime.now(UTC).date().isoformat()
        self._first: Mapping[str, Any] | None = None
        self._known: dict[_Prompt, dict[int, str]] = {}
        self._descriptor: int | None = None
        try:
            self._open()
        except OSError as error:
            self.close()
            raise InvalidRecording(
                f"{file} cannot be written: {error.strerror or error}. Name another file."
            ) from None
        except InvalidRecording:
            self.close()
            raise

    def _open(self) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
        self._descriptor = os.open(self._file, flags, 0o600)
        if not self._file.is_file():
            raise InvalidRecording(f"{self._file} is no file. Name another one.")
        with _held(self._descriptor):
            self._go_on(self._descriptor)

    def _go_on(self, descriptor: int) -> None:
        """Read what stands in the file, and cut off a line that a kill broke off."""
        size = os.fstat(descriptor).st_size
        if not size:
            return
        whole = self._begin_of_last_line(size)
        if whole:
            found = recorded_answers(self._file)
            self.readers = found.readers
            self._known = {prompt: dict(samples) for prompt, samples in found.answers.items()}
        elif FORMAT.encode() not in self._file.read_bytes()[:200]:
            raise InvalidRecording(
                f"{self._file} is something else, and is left as it is. Name another file."
            )
        if whole < size:
            os.ftruncate(descriptor, whole)

    def _begin_of_last_line(self, size: int) -> int:
        """Return how many bytes whole lines take."""
        with self._file.open("rb") as file:
            file.seek(max(size - LONGEST_LINE, 0))
            tail = file.read()
        return size - len(tail) + tail.rfind(b"\n") + 1

    def known(self, request: Request) -> str | None:
        """Return the answer that stands in the file, where it is to be taken from there."""
        if not self._replays:
            return None
        prompt = hash_of(request.system), hash_of(request.user)
        return self._known.get(prompt, {}).get(request.sample)

    def write(self, request: Request, answer: str) -> None:
        """Write the valid answer to a prompt, unless it stands there already."""
        if self._descriptor is None:
            return
        prompt = hash_of(request.system), hash_of(request.user)
        known = self._known.setdefault(prompt, {})
        if known.get(request.sample) == answer:
            return
        reader = reader_of(request.call.model)
        more: dict[str, Any] = {"sample": request.sample} if request.sample or known else {}
        try:
            with _held(self._descriptor):
                text = self._begun(reader)
                first = self._first or {}
                own = {"recorded": self._today, "reader": reader}
                more |= {key: value for key, value in own.items() if first[key] != value}
                line = (text + answer_line(*prompt, answer, **more)).encode("utf-8", "replace")
                if os.write(self._descriptor, line) < len(line):
                    raise OSError(ENOSPC, os.strerror(ENOSPC))
        except OSError as error:
            self.close()
            self._warn(
                f"{self._file} cannot be written any more: {error.strerror or error}. It lacks "
                "answers of this run."
            )
            return
        known[request.sample] = answer

    def _begun(self, reader: str) -> str:
        """The first line, where the file has none yet; nothing where it has one, which is read."""
        if self._first is not None or self._descriptor is None:
            return ""
        if not os.fstat(self._descriptor).st_size:
            self._first = {"recorded": self._today, "reader": reader}
            return header(self._today, reader)
        with self._file.open("rb") as file:
            self._first = _header(file.readline(LONGEST_LINE), f"{self._file}, line 1")
        return ""

    def close(self) -> None:
        """Close the file."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
