"""All that is wrong with the parameters of a method, in one error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from veritrail_graph.graph.errors import InputError, Violation


class Gathering:
    """Gathers faults while a method is made."""

    def __init__(self) -> None:
        self._errors: list[InputError] = []

    @contextmanager
    def keep(self) -> Iterator[None]:
        """Keep a fault of what is done inside, and go on after it."""
        try:
            yield
        except InputError as error:
            self._errors.append(error)

    def refuse(self) -> None:
        """Raise what was gathered, if anything.

        Raises:
            InputError: The only fault, or one whose `violations` are all of them.
        """
        if len(self._errors) == 1:
            raise self._errors[0]
        if self._errors:
            every = [one for error in self._errors for one in violations_of(error)]
            raise InputError("; ".join(map(str, self._errors)), every)


def violations_of(error: InputError) -> list[Violation]:
    """Return what an error lists, or itself as the only entry of the list."""
    return list(error.violations) or [Violation(error.code, "", str(error), error.facts)]
