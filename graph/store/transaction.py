"""One transaction: what runs in it, and what is known when it has to be tried again.

The driver runs a transaction again after a passing fault, as long as it is certain that the
former attempt was rolled back. It is not certain when the connection was lost while the engine
stored: then only a transaction that is marked `repeatable` runs again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import neo4j

from veritrail_graph import cypher

if TYPE_CHECKING:
    from veritrail_graph.graph.store.database import Database

Row = tuple[Any, ...]
Step = tuple[str, Mapping[str, Any]]
T = TypeVar("T")

# A second MERGE, SET or DELETE finds what the first one did; a second CREATE doubles it.
_DOUBLING = re.compile(r"(?<!ON )\bCREATE\b(?!\s+(?:CONSTRAINT|INDEX|RANGE|TEXT|POINT)\b)")


def is_repeatable(steps: Sequence[Step]) -> bool:
    """Whether statements, run a second time, leave the graph as the first time did."""
    return not any(_DOUBLING.search(cypher.load(name).text) for name, _ in steps)


class Transaction:
    """A transaction that runs statements of `cypher/` by name.

    Attributes:
        attempt: 1 the first time, 2 and more when it is tried again.
        in_doubt: Whether what an earlier attempt wrote may be stored: the connection was lost
            before the engine answered. Use MERGE then where the first attempt uses CREATE.
    """

    def __init__(
        self,
        tx: neo4j.ManagedTransaction,
        database: Database,
        attempt: int = 1,
        *,
        in_doubt: bool = False,
    ) -> None:
        self._tx = tx
        self._database = database
        self.attempt = attempt
        self.in_doubt = in_doubt

    def run(self, name: str, /, **parameters: Any) -> list[Row]:
        """Run a statement and read all its rows."""
        self._database.calls += 1
        result = self._tx.run(cypher.load(name).text, parameters)
        return [tuple(record.values()) for record in result]

    def run_text(self, text: str, parameters: Mapping[str, Any]) -> neo4j.Result:
        """Run a statement that is given as text; its rows are still to be read."""
        self._database.calls += 1
        return self._tx.run(text, dict(parameters))


class GivenUp(Exception):  # ends a transaction whose caller waits no longer
    """The caller waits no longer; what the transaction did must not be stored."""


class RetriedTransaction(Generic[T]):
    """A transaction with all its attempts; called in a thread.

    Attributes:
        in_doubt: Whether an attempt may be stored although the engine did not confirm it.
        given_up: Set when the caller waits no longer: nothing is stored from then on.
    """

    def __init__(
        self,
        database: Database,
        access: str,
        work: Callable[[Transaction], T],
        *,
        repeatable: bool,
        seconds: float | None = None,
    ) -> None:
        self._database = database
        self._is_read = access == neo4j.READ_ACCESS
        self._access = access
        self._work = work
        self._seconds = seconds
        self._attempt = 0
        self.repeatable = repeatable or self._is_read
        self.in_doubt = False
        self.given_up = False

    @property
    def may_have_stored(self) -> bool:
        """Whether it may have stored something without a confirmation."""
        return self.in_doubt and not self._is_read

    def __call__(self) -> T:
        """Run it once; the driver tries again what is certain to have been rolled back."""
        attempt = neo4j.unit_of_work(timeout=self._seconds)(self._once)
        with self._database.busy(), self._database.session(self._access) as session:
            run = session.execute_read if self._is_read else session.execute_write
            found: T = run(attempt)
            return found

    def _once(self, tx: neo4j.ManagedTransaction) -> T:
        self._attempt += 1
        if self._is_over:
            raise GivenUp
        transaction = Transaction(tx, self._database, self._attempt, in_doubt=self.in_doubt)
        try:
            found = self._work(transaction)
        except Exception:
            # The driver would try again, on a connection that is never closed.
            if self._is_over:
                raise GivenUp from None
            raise
        if self.given_up:
            raise GivenUp
        return found

    @property
    def _is_over(self) -> bool:
        return self.given_up or self._database.is_closing
