"""Files of summaries: which shape an entry has, and one process for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from veritrail_graph.graph.counted import some
from veritrail_graph.graph.errors import InputError, shown
from veritrail_graph.graph.importers import files, nulled
from veritrail_graph.graph.importers.draft import Draft
from veritrail_graph.graph.importers.records import ProcessInput
from veritrail_graph.graph.importers.registry import Found, ImportOptions
from veritrail_graph.graph.importers.summaries import texts
from veritrail_graph.graph.importers.summaries.levels import BOOOOKSCORE, PLAIN, read_levels
from veritrail_graph.graph.importers.summaries.steps import STEPS, is_step, read_steps
from veritrail_graph.graph.importers.summaries.tree import read_tree, tree_of

NAME = "summaries"
_FABLES = "FABLES"
_SHAPES = (
    "`summaries_dict`, `levels`, `steps` of chunk and summary, `chunks` and `summary`, `summary` "
    "and `claims`, or `all_nodes`"
)


class SummariesImporter:
    """Reads hierarchical and incremental summaries and RAPTOR trees."""

    name = NAME
    description = "summaries: BooookScore, FABLES, levels, running summaries, RAPTOR trees (JSON)"
    extra = None
    options = frozenset({"grouping"})

    def detect(self, path: Path) -> str | None:
        """By the keys of its entries."""
        if not path.is_file():
            return "not a file"
        value = files.first_value(path)
        if value is None:
            return "no JSON of another project"
        listed = value if isinstance(value, list) else [value]
        for one in listed:
            if _reader(one) is not None or (isinstance(one, dict) and _named(one)):
                return None
        return f"no entry has {_SHAPES}"

    def processes(self, path: Path, options: ImportOptions) -> Iterator[Found]:
        """One an entry: a book, a tree, or a list of steps.

        Raises:
            InputError: The file cannot be read.
        """
        if not path.is_file():
            raise InputError(f"{path} is not a file")
        if files.is_lines(path):
            yield from _of_lines(path, options)
            return
        whole = files.document(path)
        if isinstance(whole, list) and not any(map(is_step, whole[:1])):
            for number, value in enumerate(whole, start=1):
                yield from _found(value, f"{path}#{number}", None, options)
            if not whole:
                raise InputError(f"{path}: the list is empty.")
            return
        yield from _found(whole, str(path), None, options)


def _of_lines(path: Path, options: ImportOptions) -> Iterator[Found]:
    """Lines of steps are one process; of other lines each holds one, or several by name."""
    lines = files.values(path)
    steps: list[Any] = []
    for number, value in lines:
        if steps or (number == 1 and is_step(value)):
            steps.append(value)
        else:
            yield from _found(value, f"{path}#{number}", None, options)
    if steps:
        yield Found(str(path), partial(_steps_of_lines, steps, str(path)))


def _steps_of_lines(steps: list[Any], where: str) -> ProcessInput:
    for one in steps:
        if isinstance(one, InputError):
            raise one
    return read_steps(steps, where, None)


_Read = Callable[[Any, str, str | None, ImportOptions], Draft]


def _reader(value: Any) -> _Read | None:
    """Return what reads an entry, by its keys; None: it is none."""
    if isinstance(value, list):
        return _list_of_steps if value and is_step(value[0]) else None
    if not isinstance(value, dict):
        return None
    if is_step(value):
        return lambda step, where, name, _: read_steps([step], where, name)
    if isinstance(value.get(BOOOOKSCORE), (dict, list)):
        return read_levels
    if tree_of(value) is not None:
        return lambda tree, where, name, _: read_tree(tree, where, name)
    levels = value.get(PLAIN)
    listed = list(levels.values()) if isinstance(levels, dict) else levels
    if isinstance(listed, list) and any(map(_is_level, listed)):
        return read_levels
    steps = value.get(STEPS)
    if isinstance(steps, list) and steps and is_step(steps[0]):
        return lambda entry, where, name, _: read_steps(entry[STEPS], where, name, entry)
    if _is_final(value):
        return read_levels
    return None


def _list_of_steps(value: Any, where: str, name: str | None, options: ImportOptions) -> Draft:
    return read_steps(value, where, name)


def _is_level(value: Any) -> bool:
    return isinstance(value, list) and texts.are_texts(value)


def _is_final(value: dict[str, Any]) -> bool:
    """Return whether an entry is a summary with its claims or with its chunks."""
    chunks = files.first_of(value, texts.CHUNKS)
    of_claims = isinstance(value.get("claims"), (dict, list)) and "summary" in value
    final = files.first_of(value, texts.FINAL)
    return isinstance(final, str) and (_is_level(chunks) or of_claims)


def _named(value: dict[str, Any]) -> list[tuple[str, str | None, Any]]:
    """The entries that an object holds by name: what to call their place, name and value.

    An entry is a book, or a book with the summaries of several models. Empty: it holds none.
    """
    inner = value.get(_FABLES)
    if isinstance(inner, dict):
        value = inner
    if any(_reader(one) is not None for one in value.values()):
        return [(name, name, one) for name, one in value.items()]
    inside = (two for one in value.values() if isinstance(one, dict) for two in one.values())
    if any(_reader(one) is not None for one in inside):
        return list(_by_model(value))
    return []


def _by_model(value: dict[str, Any]) -> Iterator[tuple[str, str | None, Any]]:
    """The entries of books that have one for each model, as FABLES has them."""
    for book, by_model in value.items():
        if not isinstance(by_model, dict):
            yield book, book, by_model
            continue
        for model, one in by_model.items():
            if isinstance(one, dict):
                one = {"name": f"{book} ({model})", "model": model, **one}
            yield f"{book}/{model}", book, one


def _texts_by_name(value: Any) -> bool:
    """Return whether an object holds lists of summaries by name, as BooookScore's do.

    Many an object looks like that, so it is not detected but read where the format is named.
    """
    return isinstance(value, dict) and any(_is_level(one) for one in value.values())


def _found(value: Any, where: str, name: str | None, options: ImportOptions) -> Iterator[Found]:
    """The processes of a value: one, or those that it holds by name."""
    if isinstance(value, dict) and _reader(value) is None:
        named = _named(value)
        if not named and _texts_by_name(value):
            named = [(key, key, one) for key, one in value.items()]
        if named:
            for place, known_as, one in named:
                at = f"{where}#{place}"
                yield Found(at, partial(_process, one, at, known_as, options))
            return
    yield Found(where, partial(_process, value, where, name, options))


def _process(value: Any, where: str, name: str | None, options: ImportOptions) -> ProcessInput:
    if isinstance(value, InputError):
        raise value
    read = _reader(value)
    if read is None and name and _is_level(value):
        read = _list_of_steps
    if read is None:
        raise InputError(
            f"{where}: no summaries. An entry is an object with {_SHAPES}, "
            f"and this is {texts.kind_of(value)}"
            + (f" with {some(map(shown, value))}." if isinstance(value, dict) and value else ".")
        )
    return nulled.told(read(value, where, name, options), value)
