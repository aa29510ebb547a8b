"""The matrix of an evaluation: which data sets, which claims of them, which methods.

It is a TOML file. A parameter of a method that is a list is tried value by value; every
combination of values is a configuration, and a row of the table.

Source: VeriTrail 4.2, E.4 (hyperparameter configurations); the file is ours.
"""

from __future__ import annotations

import hashlib
import itertools
import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from veritrail_graph.evaluation.methods.registry import MethodKind, method_kind
from veritrail_graph.graph.errors import InputError, shown
from veritrail_graph.graph.model.canonical import canonical

MOST_CONFIGURATIONS = 5_000
MOST_BYTES = 1_000_000


class SampleBy(StrEnum):
    """What a subset is drawn of."""

    DOCUMENT = "document"
    """Processes with all their claims, such as books."""
    QUESTION = "question"
    """Answers with all their claims: one process may hold many."""
    CLAIM = "claim"


@dataclass(frozen=True, slots=True)
class Sample:
    """A random subset of the claims of a data set. Source: VeriTrail E."""

    by: SampleBy
    count: int


@dataclass(frozen=True, slots=True)
class DatasetEntry:
    """A data set of the matrix.

    Attributes:
        name: What the tables call it.
        path: Where it is.
        format: Its format; None: detected.
        sample: The subset; None: all of it.
    """

    name: str
    path: Path
    format: str | None = None
    sample: Sample | None = None


@dataclass(frozen=True, slots=True)
class Configuration:
    """A method with one value for each parameter.

    Attributes:
        kind: The method.
        label: What the tables call the method; the method's name unless the matrix gives one.
        parameters: The values.
    """

    kind: MethodKind
    label: str
    parameters: Mapping[str, Any]

    @property
    def configuration_id(self) -> str:
        """The method and a hash of the values: the same in every run."""
        content = canonical({"method": self.kind.name, "parameters": dict(self.parameters)})
        return f"{self.kind.name}-{hashlib.sha256(content).hexdigest()[:12]}"

    @property
    def title(self) -> str:
        """Label and values, for people."""
        values = ", ".join(f"{name} = {_told(one)}" for name, one in self.parameters.items())
        return f"{self.label} ({values})" if values else self.label


@dataclass(frozen=True, slots=True)
class Matrix:
    """An evaluation, before it runs.

    Attributes:
        name: Its name.
        seed: Where chance comes from.
        datasets: The data sets.
        configurations: The configurations; no two have one id.
    """

    name: str
    seed: int
    datasets: tuple[DatasetEntry, ...]
    configurations: tuple[Configuration, ...]


def read_matrix(path: Path) -> Matrix:
    """Read a matrix; paths in it are relative to its folder.

    Raises:
        InputError: It cannot be read, or a key or a value is wrong; all faults are told.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None
    if len(data) > MOST_BYTES:
        raise InputError(f"{path} is larger than {MOST_BYTES:,} bytes: it is no matrix")
    try:
        values = tomllib.loads(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8: byte {error.start} cannot be decoded") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path} is not TOML: {error}") from None
    return _Reader(path).read(values)


class _Reader:
    """Reads the tables, and gathers what is wrong."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._faults: list[str] = []

    def read(self, values: dict[str, Any]) -> Matrix:
        """The matrix.

        Raises:
            InputError: A key or a value is wrong.
        """
        self._keys(values, "the file", {"name", "seed", "dataset", "method"})
        name = self._text(values, "name", "the file") or self._path.stem
        seed = values.get("seed", 0)
        if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
            self._wrong("seed must be a whole number of 0 or more")
            seed = 0
        datasets = [
            found
            for number, one in enumerate(self._tables(values, "dataset"), 1)
            if (found := self._dataset(one, f"dataset {number}"))
        ]
        for again in _repeated([one.name for one in datasets]):
            self._wrong(f"two data sets are called {shown(again)}; give each a name of its own")
        configurations: dict[str, Configuration] = {}
        for number, one in enumerate(self._tables(values, "method"), 1):
            for made in self._configurations(one, f"method {number}"):
                known = configurations.setdefault(made.configuration_id, made)
                if known is not made:
                    self._wrong(f"method {number}: {made.title} stands in the matrix twice")
        if len(configurations) > MOST_CONFIGURATIONS:
            self._wrong(f"{len(configurations):,} configurations; at most {MOST_CONFIGURATIONS:,}")
        if self._faults:
            raise InputError(
                f"{self._path} is wrong:\n" + "\n".join(f"  {f}" for f in self._faults)
            )
        return Matrix(name, seed, tuple(datasets), tuple(configurations.values()))

    def _wrong(self, message: str) -> None:
        self._faults.append(message)

    def _tables(self, values: dict[str, Any], key: str) -> list[dict[str, Any]]:
        found = values.get(key)
        if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
            self._wrong(f"needs at least one table [[{key}]]")
            return []
        return found

    def _keys(self, values: Mapping[str, Any], where: str, known: set[str]) -> None:
        for key in values:
            if key not in known:
                names = ", ".join(sorted(known))
                self._wrong(f"{where}: unknown key {shown(key)}; known keys: {names}")

    def _text(self, values: Mapping[str, Any], key: str, where: str) -> str | None:
        value = values.get(key)
        if value is not None and (not isinstance(value, str) or not value.strip()):
            self._wrong(f"{where}: {key} must be a text")
            return None
        return value

    def _dataset(self, values: dict[str, Any], where: str) -> DatasetEntry | None:
        self._keys(values, where, {"name", "path", "format", "sample"})
        path = self._text(values, "path", where)
        if path is None:
            if "path" not in values:
                self._wrong(f"{where}: the key 'path' is missing")
            return None
        found = self._path.parent / path
        if not found.exists():
            self._wrong(f"{where}: {found}: no such file or folder")
        name = self._text(values, "name", where) or found.name.partition(".")[0] or found.name
        return DatasetEntry(
            name, found, self._text(values, "format", where), self._sample(values, where)
        )

    def _sample(self, values: dict[str, Any], where: str) -> Sample | None:
        given = values.get("sample")
        if given is None:
            return None
        if not isinstance(given, dict):
            self._wrong(f'{where}: sample must be such as {{ by = "document", count = 6 }}')
            return None
        self._keys(given, f"{where}: sample", {"by", "count"})
        by, count = given.get("by", "claim"), given.get("count")
        if by not in set(SampleBy):
            self._wrong(f"{where}: sample: by must be one of {', '.join(SampleBy)}")
            return None
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            self._wrong(f"{where}: sample: count must be a whole number of 1 or more")
            return None
        return Sample(SampleBy(by), count)

    def _configurations(self, values: dict[str, Any], where: str) -> list[Configuration]:
        name = self._text(values, "method", where)
        if name is None:
            if "method" not in values:
                self._wrong(f"{where}: the key 'method' is missing")
            return []
        try:
            kind = method_kind(name)
        except InputError as error:
            self._wrong(f"{where}: {error}")
            return []
        label = self._text(values, "label", where) or name
        self._keys(values, f"{where} ({name})", {"method", "label", *kind.parameters})
        given = {key: one for key, one in values.items() if key in kind.parameters}
        every = {**kind.grid, **given}
        ordered = {key: every[key] for key in kind.parameters if key in every}
        for key, one in ordered.items():
            for value in _values(one):
                if not _is_plain(value):
                    self._wrong(f"{where} ({name}): {key} has the value {value!r}; "
                                "values are texts, finite numbers, true or false")  # fmt: skip
                    return []
            if isinstance(one, Sequence) and not isinstance(one, str) and not one:
                self._wrong(f"{where} ({name}): {key} is an empty list")
                return []
        return [
            Configuration(kind, label, dict(zip(ordered, combination, strict=True)))
            for combination in itertools.product(*map(_values, ordered.values()))
        ]


def _values(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else [value]


def _is_plain(value: Any) -> bool:
    return isinstance(value, str | bool | int) or (
        isinstance(value, float) and math.isfinite(value)
    )


def _told(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _repeated(names: Sequence[str]) -> list[str]:
    return sorted({name for name in names if names.count(name) > 1})
