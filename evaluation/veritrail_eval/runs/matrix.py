"""The matrix of an evaluation: which data sets, which claims of them, which methods.

It is a TOML file. A parameter of a method that is a list is tried value by value; every
combination of values is a configuration, and a row of the table.

Source: VeriTrail 4.2, E.4 (hyperparameter configurations); the file is ours.
"""

from __future__ import annotations

import hashlib
import itertools
import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from veritrail_eval.datasets.loading import loaders
from veritrail_eval.methods.registry import MethodKind, method_kind
from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.errors import InputError, Violation, shown
from veritrail_graph.graph.model.canonical import canonical

MOST_CONFIGURATIONS = 5_000
MOST_BYTES = 1_000_000


class SampleBy(StrEnum):
    """The unit by which a subset is drawn."""

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
        place: Which entry of the matrix it is, for messages.
    """

    name: str
    path: Path
    format: str | None = None
    sample: Sample | None = None
    place: str = ""


@dataclass(frozen=True, slots=True)
class Configuration:
    """A method with one value for each parameter.

    Attributes:
        kind: The method.
        label: What the tables call the method; the method's name unless the matrix gives one.
        parameters: The values.
        place: Which entry of the matrix it is of, for messages.
        without: Parameters whose values in the matrix cannot be read, so that `parameters` has
            other values for them, or none: nothing may run, but the others can be checked.
        datasets: Names of the data sets that it judges; None: all of them.
    """

    kind: MethodKind
    label: str
    parameters: Mapping[str, Any]
    place: str = ""
    without: tuple[str, ...] = ()
    datasets: tuple[str, ...] | None = None

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

    def of(self, entry: DatasetEntry) -> list[Configuration]:
        """The configurations that judge a data set."""
        return [
            one for one in self.configurations if one.datasets is None or entry.name in one.datasets
        ]


def read_matrix(path: Path) -> Matrix:
    """Read a matrix; paths in it are relative to its folder.

    Raises:
        InputError: It cannot be read, or a key or a value is wrong; `violations` lists all faults.
    """
    matrix, faults = parse_matrix(path)
    refuse_faults(path, faults)
    return matrix


def refuse_faults(path: Path, faults: Sequence[Violation]) -> None:
    """Raise where a matrix has faults.

    Raises:
        InputError: With every fault.
    """
    if faults:
        message = f"{path} has {counted(len(faults), 'fault')}; nothing was judged."
        raise InputError(message, sorted(faults, key=_order))


def _order(fault: Violation) -> tuple[int, int]:
    """The order of the file: what is of the whole, data sets, and methods, by their numbers."""
    found = re.search(r": (dataset|method) (\d+)", fault.where)
    if found is None:
        return 0, 0
    return 1 + (found[1] == "method"), int(found[2])


def parse_matrix(path: Path) -> tuple[Matrix, list[Violation]]:
    """Read a matrix as far as it can be read; gives what could be read, and what is wrong.

    Raises:
        InputError: The file cannot be read at all, or is not TOML.
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
    reader = _Reader(path)
    return reader.read(values), reader.faults


class _Reader:
    """Reads the tables, and gathers what is wrong."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.faults: list[Violation] = []

    def read(self, values: dict[str, Any]) -> Matrix:
        """Return what can be read of the matrix; `faults` says what cannot."""
        self._keys(values, "", {"name", "seed", "dataset", "method"})
        name = self._text(values, "name", "") or self._path.stem
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
                if known is made or known.without or made.without:
                    continue
                joined = _joined(known, made)
                if joined is None:
                    self._wrong(f"{made.title} is in the matrix twice", made.place)
                else:
                    configurations[made.configuration_id] = joined
        if len(configurations) > MOST_CONFIGURATIONS:
            self._wrong(f"{len(configurations):,} configurations; at most {MOST_CONFIGURATIONS:,}")
        matrix = Matrix(name, seed, tuple(datasets), tuple(configurations.values()))
        if len(datasets) == len(values.get("dataset", ())):
            self._check_datasets(matrix)
        return matrix

    def _check_datasets(self, matrix: Matrix) -> None:
        """See that methods name data sets of the matrix, and that each data set has a method."""
        known = [entry.name for entry in matrix.datasets]
        named = {
            (one.place, name)
            for one in matrix.configurations
            for name in one.datasets or ()
            if name not in known
        }
        for place, name in sorted(named):
            told = f"datasets: there is no data set {shown(name)}; there are: {', '.join(known)}"
            self._wrong(told, place)
        for entry in matrix.datasets:
            if not (self.faults or matrix.of(entry)):
                self._wrong("no method judges it", entry.place)

    def _wrong(self, message: str, where: str = "") -> None:
        self.faults.append(Violation("wrong_value", place_of(self._path, where), message))

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
                self._wrong(f"unknown key {shown(key)}; known keys: {names}", where)

    def _text(self, values: Mapping[str, Any], key: str, where: str) -> str | None:
        value = values.get(key)
        if value is not None and (not isinstance(value, str) or not value.strip()):
            self._wrong(f"{key} must be a text", where)
            return None
        return value

    def _dataset(self, values: dict[str, Any], where: str) -> DatasetEntry | None:
        self._keys(values, where, {"name", "path", "format", "sample"})
        path = self._text(values, "path", where)
        if path is None and "path" not in values:
            self._wrong("the key 'path' is missing", where)
        found = None if path is None else self._path.parent / path
        if found is not None and not found.exists():
            self._wrong(f"{found}: no such file or folder", where)
        name = self._text(values, "name", where)
        format_name = self._text(values, "format", where)
        known = [loader.name for loader in loaders()]
        if format_name is not None and format_name not in known:
            self._wrong(f"unknown format {shown(format_name)}; known formats: {', '.join(known)}",
                        where)  # fmt: skip
        sample = self._sample(values, where)
        if found is None:
            return None
        name = name or found.name.partition(".")[0] or found.name
        return DatasetEntry(name, found, format_name, sample, where)

    def _sample(self, values: dict[str, Any], where: str) -> Sample | None:
        given = values.get("sample")
        if given is None:
            return None
        if not isinstance(given, dict):
            self._wrong('sample must be such as { by = "document", count = 6 }', where)
            return None
        self._keys(given, f"{where}, sample", {"by", "count"})
        by, count = given.get("by", "claim"), given.get("count")
        is_known = isinstance(by, str) and by in set(SampleBy)
        if not is_known:
            self._wrong(f"sample: by must be one of {', '.join(SampleBy)}", where)
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            self._wrong("sample: count must be a whole number of 1 or more", where)
            return None
        return Sample(SampleBy(by), count) if is_known else None

    def _configurations(self, values: dict[str, Any], where: str) -> list[Configuration]:
        name = self._text(values, "method", where)
        if name is None:
            if "method" not in values:
                self._wrong("the key 'method' is missing", where)
            return []
        try:
            kind = method_kind(name)
        except InputError as error:
            self._wrong(str(error), where)
            return []
        where = f"{where} ({name})"
        label = self._text(values, "label", where) or name
        self._keys(values, where, {"method", "label", "datasets", *kind.parameters})
        datasets = self._datasets(values, where)
        given = {key: one for key, one in values.items() if key in kind.parameters}
        every = {**kind.grid, **given}
        ordered = {key: every[key] for key in kind.parameters if key in every}
        without = []
        for key, one in list(ordered.items()):
            plain = self._plain(key, one, where)
            if not plain:
                without.append(key)
            ordered[key] = plain or kind.grid.get(key, ())
        ordered = {key: one for key, one in ordered.items() if one}
        return [
            Configuration(
                kind,
                label,
                dict(zip(ordered, combination, strict=True)),
                where,
                tuple(without),
                datasets,
            )
            for combination in itertools.product(*map(_values, ordered.values()))
        ]

    def _datasets(self, values: dict[str, Any], where: str) -> tuple[str, ...] | None:
        """The data sets that a method is for; None: all of them."""
        if "datasets" not in values:
            return None
        given = values["datasets"]
        names = [given] if isinstance(given, str) else given
        is_list = isinstance(names, list) and all(isinstance(one, str) for one in names)
        if not is_list or not names:
            self._wrong('datasets must name data sets of the matrix, such as ["books"]', where)
            return None
        return tuple(dict.fromkeys(names))

    def _plain(self, key: str, given: Any, where: str) -> list[Any]:
        """The values of a parameter that a method may get; the others are faults."""
        values = list(_values(given))
        if not values:
            self._wrong(f"{key} is an empty list", where)
        plain = [one for one in values if _is_plain(one)]
        for value in values:
            if not _is_plain(value):
                self._wrong(f"{key} has the value {value!r}; values are texts, finite "
                            "numbers, true or false", where)  # fmt: skip
        return plain


def _joined(first: Configuration, second: Configuration) -> Configuration | None:
    """One configuration of two entries for different data sets; None: both judge the same one."""
    if first.datasets is None or second.datasets is None:
        return None
    if set(first.datasets) & set(second.datasets):
        return None
    return replace(first, datasets=first.datasets + second.datasets)


def place_of(path: Path, where: str) -> str:
    """A place in a matrix, such as `m.toml: method 2 (rag)`."""
    return f"{path.name}: {where}" if where else path.name


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
