"""The prompt of our own: statements and commands, one after the other, on any engine."""

from __future__ import annotations

import asyncio
import signal
import sys
from dataclasses import dataclass, field
from typing import Any

from veritrail_graph.api.cli.advice import ADVICE
from veritrail_graph.api.cli.exits import NOT_ALL_SUCCEEDED, Exit
from veritrail_graph.api.cli.shell.lines import Lines
from veritrail_graph.api.cli.shell.literals import LiteralError, read_parameters
from veritrail_graph.api.cli.shell.statements import Piece, Splitter
from veritrail_graph.api.cli.shell.values import notation, tell
from veritrail_graph.api.cli.terminal import say, show
from veritrail_graph.api.views.texts import clean, one_line
from veritrail_graph.graph.errors import EngineUnavailable, InputError, VeriTrailError, with_advice
from veritrail_graph.graph.store import Store

ROWS = 1_000

HELP = """\
A statement ends with ; and may stand on several lines; several may stand on one.
:param NAME => VALUE  set a parameter, used as $NAME: 'text', 1, 2.5, true, null, [1, 2], {a: 1}
:params               show the parameters
:clear                forget the parameters
:queries              list the queries of the library; `veritrail query NAME --cypher` prints one
:help                 this
:exit                 leave, as Ctrl-D does; Ctrl-C drops what is typed or stops waiting"""


class _Leave(Exception):  # not a fault: the person is done
    """Ends the session."""


@dataclass(slots=True)
class Session:
    """A prompt on a graph.

    Attributes:
        store: The graph.
        lines: Where the input comes from.
        parameters: What `:param` has set.
    """

    store: Store
    lines: Lines
    parameters: dict[str, Any] = field(default_factory=dict)

    async def run(self) -> None:
        """Read until the end of the input.

        Raises:
            Exit: Something in a pipe failed; what follows it was not run.
        """
        splitter = Splitter()
        if self.lines.is_terminal:
            say("End a statement with ; and leave with :exit. :help says more.", "dim")
        while (line := await self._next_line(splitter)) is not None:
            for piece in splitter.feed(line):
                if not await self._do(piece):
                    return
        for piece in splitter.rest():
            await self._do(piece)

    async def _next_line(self, splitter: Splitter) -> str | None:
        while True:
            try:
                return await self.lines.read(begun=splitter.is_open)
            except KeyboardInterrupt:  # at a terminal: drop what was typed
                sys.stderr.write("\n")
                splitter.rest()

    async def _do(self, piece: Piece) -> bool:
        """Run a statement or a command; false when the session is over."""
        try:
            if piece.is_command:
                self._command(piece.text)
            else:
                await self._statement(piece.text)
        except _Leave:
            return False
        except VeriTrailError as error:
            if isinstance(error, EngineUnavailable) and not self.lines.is_terminal:
                raise
            say(with_advice(error, ADVICE), "bold red")
            if not self.lines.is_terminal:
                raise Exit(NOT_ALL_SUCCEEDED) from None
        return True

    async def _statement(self, text: str) -> None:
        work = self.store.database.run_text(text, self.parameters, ROWS, write=True)
        if not self.lines.is_terminal or sys.platform == "win32":
            tell(await work)
            return
        task = asyncio.ensure_future(work)
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, task.cancel)
        try:
            tell(await task)
        except asyncio.CancelledError:
            here = asyncio.current_task()
            if here is not None and here.cancelling():  # the command is to end, not the statement
                raise
            say("No longer waited for; the engine may still finish it.", "yellow")

    def _command(self, text: str) -> None:
        name, _, rest = text.removesuffix(";").partition(" ")
        rest = rest.strip()
        if name in {":exit", ":quit"}:
            raise _Leave
        if name == ":help":
            show(HELP)
        elif name == ":queries":
            _tell_queries()
        elif name == ":clear" or (name in {":param", ":params"} and rest == "clear"):
            self.parameters.clear()
        elif name == ":params" or (name == ":param" and rest in {"", "list"}):
            for key, value in sorted(self.parameters.items()):
                show(f":param {key} => {clean(notation(value))};")
        elif name == ":param":
            self._set(rest)
        else:
            raise InputError(f"There is no command {name!r}; :help lists those that there are.")

    def _set(self, text: str) -> None:
        try:
            self.parameters.update(read_parameters(text))
        except LiteralError as error:
            raise InputError(f":param {one_line(text, 60)}: {error}") from None


def _tell_queries() -> None:
    from veritrail_graph.graph.store.queries import library

    statements = library()
    width = max(len(statement.short_name) for statement in statements)
    for statement in statements:
        show(f"{statement.short_name:<{width}}  {statement.purpose}")
