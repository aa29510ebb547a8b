"""Help of a command with many commands: they are listed in sections."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup

_INDENT, _GAP = 2, 2


class SectionedGroup(TyperGroup):
    """Lists its commands below the heading that each names as `rich_help_panel`.

    Sections stand in the order of their first command. The names of all sections have one width,
    so that their summaries begin in one column.
    """

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the sections.

        Args:
            ctx: The context of the call.
            formatter: Takes the text.
        """
        sections: dict[str, list[tuple[str, Any]]] = {}
        for name in self.list_commands(ctx):
            command: Any = self.get_command(ctx, name)
            if command is not None and not command.hidden:
                heading = getattr(command, "rich_help_panel", None)
                heading = heading if isinstance(heading, str) else "Commands"
                sections.setdefault(heading, []).append((name, command))
        widest = max((len(name) for rows in sections.values() for name, _ in rows), default=0)
        limit = formatter.width - widest - _INDENT - _GAP
        for heading, rows in sections.items():
            with formatter.section(heading):
                formatter.write_dl(
                    [
                        (name.ljust(widest), command.get_short_help_str(limit))
                        for name, command in rows
                    ]
                )


def sectioned(help_text: str) -> typer.Typer:
    """A command whose commands are listed in sections.

    Args:
        help_text: What it is for, in a line.
    """
    return typer.Typer(
        help=help_text, cls=SectionedGroup, no_args_is_help=True, rich_markup_mode=None
    )
