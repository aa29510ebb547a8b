"""The pieces that agents of AutoGen, AG2 and Magentic-One put into one message.

A message of a web surfer holds what the agent did and the page that it then saw; a message of a
terminal holds what a program printed; some lines are printed by the program that runs the agents.
"""

from __future__ import annotations

import re

from veritrail_graph.graph.importers.traces.parts import plain

_PERSON = re.compile(r"(?:user|human|admin|customer|person)(?:proxy)?(?:agent)?\d*")
_EXECUTORS = {
    "computerterminal", "terminal", "codeexecutor", "codeexecutoragent", "executor",
    "toolexecutor", "codeinterpreter", "commandline",
}  # fmt: skip
_EXECUTED = re.compile(r"exitcode: -?\d+ \(execution |The script ran, then exited with")
_PAGE = re.compile(
    r"^(?:Here is a (?:full-page |full page )?screenshot of |The web browser is open to "
    r"|(?:Address|Path): \S)",
    re.MULTILINE,
)
_BROWSERS = ("surfer", "browser")
_TERMINATION = {
    "terminate", "terminated", "exit", "stop", "taskdone", "taskcomplete", "endconversation",
    "approve",
}  # fmt: skip
_CONTROL = re.compile(
    r"(?:Next speaker [^\n]*|Request satisfied\.?|No agent selected\.?"
    r"|Stalled\.+ ?Replanning\.*|Replan counter exceeded\.* ?Terminating\.*"
    r"|Max rounds \(\d+\) reached\.?|Max time \([^)]*\) reached\.?"
    r"|There is no code from the last \d+ messages? for me to execute\.[^\n]*"
    r"|No code blocks found in the thread\.[^\n]*|Transferred to [^\n]*)"
)
_PLAN = re.compile(r"^(?:Initial|New) plan:", re.MULTILINE)
# A warning of Python: the place, and the line of the program below it.
_LOGGED = re.compile(
    r"^(?:/\S+\.py:\d+: \w+:.*(?:\n[ \t]+\S.*)?|(?:SCENARIO\.PY|RUN\.SH) COMPLETE !#!#)$\n?",
    re.MULTILINE,
)
_FINAL = re.compile(r"^FINAL ANSWER:", re.MULTILINE)
_PICTURE = "<Image>"


def is_person(name: str) -> bool:
    """Return whether a name is one that people carry in logs of agents, such as `user_proxy`."""
    return _PERSON.fullmatch(plain(name)) is not None


def is_execution(name: str | None, text: str) -> bool:
    """Return whether a message is what a program printed: its sender or its form says so."""
    return _EXECUTED.match(text) is not None or (name is not None and plain(name) in _EXECUTORS)


def is_termination(text: str) -> bool:
    """Return whether a message only says that the conversation ends."""
    return len(text) < 40 and plain(text) in _TERMINATION


def is_control(text: str) -> bool:
    """Return whether a message is a line of the program that runs the agents."""
    return _CONTROL.fullmatch(text.strip()) is not None


def is_plan(text: str) -> bool:
    """Return whether an orchestrator's thought is a plan, which it sends to all agents."""
    return _PLAN.search(text) is not None


def without_log_lines(text: str) -> tuple[str, bool]:
    """A text without lines that the program around the agents printed, and if there were any."""
    kept, count = _LOGGED.subn("", text)
    return (kept, True) if count else (text, False)


def action_and_page(name: str | None, text: str) -> tuple[str, str]:
    """Return what a surfing agent did, and the page or file it saw then; either may be empty."""
    if name is None or not any(part in name.lower() for part in _BROWSERS):
        return text, ""
    found = _PAGE.search(text)
    return (text, "") if found is None else (text[: found.start()].strip(), text[found.start() :])


def before_and_answer(text: str) -> tuple[str, str]:
    """Return the text before a line `FINAL ANSWER:`, and the answer; either may be empty.

    Of the first, what a program printed after a picture is left out.
    """
    found = _FINAL.search(text)
    if found is None:
        return text, ""
    before, picture, _printed = text[: found.start()].partition(_PICTURE)
    return before + picture, text[found.start() :].strip()
