"""`veritrail db shell`: Cypher by hand, on the embedded engine and on a server alike.

It hands over to cypher-shell where that is installed; else statements and commands are read from
the terminal or a pipe, and what they give is shown in the notation of Cypher.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shutil
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from veritrail_graph.api.cli.advice import ADVICE
from veritrail_graph.api.cli.exits import NOT_ALL_SUCCEEDED, Exit
from veritrail_graph.api.cli.terminal import console, say, show
from veritrail_graph.api.show.texts import clean, one_line
from veritrail_graph.graph.errors import EngineUnavailable, InputError, VeriTrailError, with_advice
from veritrail_graph.graph.private import make_private_folders

if TYPE_CHECKING:
    from veritrail_graph.api.app import Application
    from veritrail_graph.graph.model.queried import QueryRows


async def run_shell(app: Application, *, own: bool = False) -> None:
    """Open a prompt on the graph; statements may also come from a pipe.

    Args:
        app: The application.
        own: Take the prompt of our own, also where cypher-shell is installed.

    Raises:
        EngineUnavailable: The engine cannot be started or reached.
        Exit: A statement that came from a pipe failed.
    """
    program = None if own else shutil.which("cypher-shell")
    if program is not None:
        await _cypher_shell(program, app)
        return
    await app.graph.store()  # an engine that cannot be reached is an error before the first line
    lines = Lines()
    if not lines.is_terminal:
        await Session(app, lines).run()
        return
    with history(app.settings.home / "shell_history"):
        await Session(app, lines).run()


async def _cypher_shell(program: str, app: Application) -> None:
    address = await app.graph_address()
    environment = dict(os.environ)  # the password goes by the environment, not by the arguments
    for name in ("NEO4J_USERNAME", "NEO4J_PASSWORD", "NEO4J_DATABASE"):
        environment.pop(name, None)
    if address.username:
        environment["NEO4J_USERNAME"] = address.username
        environment["NEO4J_PASSWORD"] = address.password or ""
    database = ["-d", address.database] if address.database else []
    if sys.platform != "win32":  # Ctrl-C is for cypher-shell, which stops a query with it
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, lambda: None)
    child = await asyncio.create_subprocess_exec(
        program, "-a", address.uri, *database, env=environment
    )
    if await child.wait():
        raise Exit(NOT_ALL_SUCCEEDED)


ROWS = 1_000

_PARAMETER = re.compile(r"(?P<name>[A-Za-z_]\w*|`[^`]+`)\s*(?:=>|:)\s*(?P<value>.+)", re.DOTALL)

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
        app: The application.
        lines: Where the input comes from.
        parameters: What `:param` has set.
    """

    app: Application
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

    async def _do(self, piece: ShellInput) -> bool:
        """Run a statement or a command; false when the session is over."""
        try:
            if piece.is_command:
                await self._command(piece.text)
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
        work = self.app.queries.statement(text, self.parameters, ROWS, write=True)
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

    async def _command(self, text: str) -> None:
        name, _, rest = text.removesuffix(";").partition(" ")
        rest = rest.strip()
        if name in {":exit", ":quit"}:
            raise _Leave
        if name == ":help":
            show(HELP)
        elif name == ":queries":
            self._tell_queries()
        elif name == ":clear" or (name in {":param", ":params"} and rest == "clear"):
            self.parameters.clear()
        elif name == ":params" or (name == ":param" and rest in {"", "list"}):
            for key, value in sorted(self.parameters.items()):
                show(clean(f":param {key} => {notation(value)};"))
        elif name == ":param":
            await self._set(rest)
        else:
            raise InputError(f"There is no command {name!r}; :help lists those that there are.")

    async def _set(self, text: str) -> None:
        """Set parameters; the engine itself evaluates the expression."""
        text = text.removesuffix(";").strip()
        named = _PARAMETER.fullmatch(text)
        if named is None and not text.startswith("{"):
            raise InputError("Write `:param name => value`, or `:param {name: value}`.")
        expression = named["value"] if named else text
        try:
            found = await self.app.queries.statement(
                f"RETURN {expression}\nAS value", self.parameters, 1
            )
        except EngineUnavailable:
            raise
        except VeriTrailError as error:
            raise InputError(f":param {one_line(text, 60)}: {error}") from None
        if len(found.rows) != 1 or len(found.rows[0]) != 1:
            raise InputError(f":param {one_line(text, 60)}: it must give one value")
        value = found.rows[0][0]
        if named is None and not isinstance(value, Mapping):
            raise InputError(f":param {one_line(text, 60)}: it must be a map, and is none")
        self.parameters.update({named["name"].strip("`"): value} if named else dict(value))

    def _tell_queries(self) -> None:
        statements = self.app.queries.all()
        width = max(len(statement.short_name) for statement in statements)
        for statement in statements:
            show(f"{statement.short_name:<{width}}  {statement.purpose}")


PROMPT, MORE = "veritrail> ", "      ...> "
_KEPT_LINES = 1_000


class Lines:
    """Lines of standard input, with a prompt where a person types them.

    Attributes:
        is_terminal: Whether a person types them.
    """

    def __init__(self) -> None:
        self.is_terminal = sys.stdin.isatty()
        self._number = 0

    async def read(self, *, begun: bool) -> str | None:
        """The next line, or None at the end.

        Args:
            begun: Whether a statement has been begun, which the prompt shows.

        Raises:
            KeyboardInterrupt: Ctrl-C was pressed at the terminal.
            InputError: The line is no text.
        """
        if self.is_terminal:
            return _typed(MORE if begun else PROMPT)
        self._number += 1
        try:
            line = await asyncio.to_thread(sys.stdin.readline)
            line.encode()
        except UnicodeError:
            raise InputError(f"Line {self._number} of the input is not UTF-8 text") from None
        return line or None


def _typed(prompt: str) -> str | None:
    # Nothing else waits for the event loop meanwhile, and a line that is read in the thread of
    # the signals can be dropped with Ctrl-C.
    with _interruptible():
        try:
            if sys.stdout.isatty():
                return input(prompt)
            sys.stderr.write(prompt)
            sys.stderr.flush()
            return sys.stdin.readline() or None
        except EOFError:
            sys.stderr.write("\n")
            return None
        except UnicodeError:
            return ""


@contextmanager
def _interruptible() -> Iterator[None]:
    """Let Ctrl-C raise KeyboardInterrupt, and put back what it did before."""
    if sys.platform == "win32":
        yield
        return
    asyncio.get_running_loop().remove_signal_handler(signal.SIGINT)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    # Else the loop would hear of it as well, afterwards, and end what runs then.
    wakeup = signal.set_wakeup_fd(-1)
    try:
        yield
    finally:
        signal.set_wakeup_fd(wakeup)
        signal.signal(signal.SIGINT, before)


@contextmanager
def history(file: Path) -> Iterator[None]:
    """Editing and a history of the typed lines, where Python was built with them."""
    try:
        import readline
    except ImportError:
        yield
        return
    readline.set_history_length(_KEPT_LINES)
    with contextlib.suppress(OSError):
        readline.read_history_file(file)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            make_private_folders(file.parent)
            file.touch(mode=0o600)  # statements may hold private data
            readline.write_history_file(file)


_QUOTES = "'\"`"
_ENDS = {"//": "\n", "/*": "*/"}


@dataclass(frozen=True, slots=True)
class ShellInput:
    """A statement, or a command to the prompt (`:help`)."""

    text: str

    @property
    def is_command(self) -> bool:
        """Return whether it is for the prompt and not for the engine."""
        return self.text.startswith(":")


@dataclass(slots=True)
class Splitter:
    """Cuts input into pieces, line by line.

    A statement ends at a `;` that is neither in a string, nor in a name in backticks, nor in
    a comment; several may stand on a line. A command is the rest of a line that begins with `:`
    where a statement could begin.
    """

    _text: list[str] = field(default_factory=list)
    _has_code: bool = False
    _until: str = ""  # what ends the string or comment that is open

    @property
    def is_open(self) -> bool:
        """Return whether a statement has been begun and not ended."""
        return self._has_code or bool(self._until)

    def feed(self, line: str) -> list[ShellInput]:
        """The pieces that end on this line."""
        found: list[ShellInput] = []
        line = line.rstrip("\r\n") + "\n"
        place = 0
        while place < len(line):
            if not self.is_open and line[place] == ":":
                found.append(ShellInput(line[place:].strip()))
                self._begin_anew()
                break
            if not self._until and line[place] == ";":
                found += self.rest()
                place += 1
            else:
                place += self._take(line, place)
        return found

    def rest(self) -> list[ShellInput]:
        """Say what has been begun, as if it ended here; nothing where there are only comments."""
        text = "".join(self._text).strip()
        has_code = self._has_code
        self._begin_anew()
        return [ShellInput(text)] if has_code else []

    def _begin_anew(self) -> None:
        self._text, self._has_code, self._until = [], False, ""

    def _take(self, line: str, place: int) -> int:
        """Take the next characters, and say how many."""
        if self._until:
            return self._take_inside(line, place)
        two = line[place : place + 2]
        if two in _ENDS:
            self._until = _ENDS[two]
            self._text.append(two)
            return 2
        char = line[place]
        if char in _QUOTES:
            self._until = char
        self._has_code = self._has_code or not char.isspace()
        self._text.append(char)
        return 1

    def _take_inside(self, line: str, place: int) -> int:
        if line.startswith(self._until, place):
            size = len(self._until)
            self._until = ""
        else:
            escapes = self._until in {"'", '"'} and line[place] == "\\"
            size = 2 if escapes else 1
        self._text.append(line[place : place + size])
        return size


MOST_ON_TERMINAL = 400
"""Characters of a value on a terminal; in a pipe it is whole."""

_PLAIN_NAME = re.compile(r"[A-Za-z_]\w*")


def tell(found: QueryRows) -> None:
    """Print the rows as a table, and say what was changed."""
    from rich.table import Table
    from rich.text import Text

    screen = console()
    most = MOST_ON_TERMINAL if screen.is_terminal else None
    if found.columns:
        table = Table(box=None, pad_edge=False, header_style="bold")
        for column in found.columns:
            table.add_column(Text(clean(column)), overflow="fold")
        for row in found.rows:
            table.add_row(*(Text(cell(value, most)) for value in row))
        screen.print(table)
    said = ", ".join(f"{name.replace('_', ' ')}: {n:,}" for name, n in found.changes.items())
    if found.truncated:
        say(f"There are more rows than {len(found.rows):,}; end with LIMIT.", "yellow")
    elif said:
        say(said, "dim")
    elif not found.rows:
        say("No rows.", "dim")


def cell(value: Any, most: int | None = None) -> str:
    """A value of a row, on one line; a string without quotes."""
    return one_line(value if isinstance(value, str) else notation(value), most)


def notation(value: Any) -> str:
    """A value as Cypher writes it; nodes, relationships and paths as patterns."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")
        return f"'{escaped}'"
    if hasattr(value, "labels"):  # these three are mappings and sequences as well
        return _node(value)
    if hasattr(value, "relationships"):
        return _path(value)
    if hasattr(value, "start_node"):
        return _relationship(value)
    if isinstance(value, Mapping):
        return _map(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(notation(item) for item in value)}]"
    return str(value)


def _map(value: Mapping[str, Any]) -> str:
    return "{" + ", ".join(f"{_name(key)}: {notation(item)}" for key, item in value.items()) + "}"


def _name(name: str) -> str:
    return name if _PLAIN_NAME.fullmatch(name) else f"`{name.replace('`', '``')}`"


def _node(node: Any) -> str:
    labels = "".join(f":{_name(label)}" for label in sorted(node.labels))
    return f"({_with_properties(labels, node)})"


def _relationship(relationship: Any) -> str:
    return f"[{_with_properties(f':{_name(relationship.type)}', relationship)}]"


def _with_properties(head: str, thing: Any) -> str:
    properties = dict(thing.items())
    return " ".join([head, _map(properties)] if properties else [head])


def _path(path: Any) -> str:
    parts = [_node(path.nodes[0])]
    for before, relationship, after in zip(
        path.nodes, path.relationships, path.nodes[1:], strict=False
    ):
        forward = relationship.start_node is None or relationship.start_node == before
        inside = _relationship(relationship)
        parts.append(f"-{inside}->" if forward else f"<-{inside}-")
        parts.append(_node(after))
    return "".join(parts)
