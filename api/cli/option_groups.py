"""Help of a command with many options: in groups, and those that few people need on request."""

from __future__ import annotations

import re
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from veritrail_graph.api.cli.options import JUDGING, WHICH

WHAT, JUDGE, COST, OUTPUT = "What to check", "Judge", "Cost", "Output"
_COST = frozenset({
    "batch", "batch_finish", "batch_price_factor", "budget", "concurrency", "max_calls",
    "no_cache", "price", "share",
})  # fmt: skip
_OUTPUT = frozenset(
    {"as_json", "every", "fail_on", "help", "_whole", "output", "verbose", "webhook"}
)
_RARE = frozenset({
    "batch_finish", "batch_price_factor", "claims_model", "correct", "effort", "max_reruns",
    "max_root_sentences", "max_sentences", "no_sub_claims", "prompts", "retry_failed", "samples",
    "selection_model", "share", "structured", "threshold", "unfinished", "verdict_engine",
    "verdict_model", "verdict_root_sentences", "verdict_sentences", "walk", "webhook",
})  # fmt: skip
"""Options that `--help-all` shows; every option can also stand in the file of the project."""
_RARE_OF = {
    "check": frozenset({
        "chunk_words", "columns", "concurrency", "keeps", "max_calls", "most", "no_cache", "price",
        "process_id", "q", "record", "recorded", "write_back",
    }),
    "verify": frozenset({
        "add", "cancel", "claim_id", "concurrency", "escalate_to", "explain", "match",
        "max_calls", "no_cache", "node", "price", "q", "record", "recorded", "since",
    }),
    "estimate": frozenset({"claim_id", "concurrency", "match", "no_cache", "node", "since"}),
    "gate": frozenset({
        "artifact", "form", "format_name", "max_failed", "max_unchecked", "other_judge",
    }),
    "import": frozenset({
        "answer_id", "columns", "community_level", "grouping", "infer", "only_explicit",
        "sources", "strict",
    }),
}  # fmt: skip
"""By command those that `--help-all` shows of it alone."""
_RARE_OF["ingest"] = _RARE_OF["import"]
_GROUPS_OF = {
    "gate": {
        "Limits": frozenset({
            "forbid_error_stage", "max_failed", "max_rate", "max_unchecked", "max_undecided",
            "max_unsupported", "strict",
        }),
        "Baseline": frozenset({"baseline", "write_baseline", "other_judge"}),
    },
    "import": {
        "How it is stored": frozenset({"append", "keep", "process_id", "replace", "strict",
                                       "verifies"}),
        "How it is read": frozenset({
            "answer", "answer_id", "columns", "community_level", "format_name", "grouping",
            "infer", "only_explicit", "question", "sources",
        }),
    },
}  # fmt: skip
"""By command its own groups, before those of all."""
_GROUPS_OF["ingest"] = _GROUPS_OF["import"]
_ALL = "veritrail.all_options"


_NEGATIVE = re.compile(r"-\d")
_MINUS = "\ue000"
"""Stands for the minus sign of a value while options are separated from values."""


class ValuesCommand(TyperCommand):
    """A command whose values may be negative numbers: `-5` is no option."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read a call.

        Args:
            ctx: The context of the call.
            args: What was typed.
        """
        taking = {
            name
            for each in self.params
            for name in each.opts
            if each.param_type_name == "option" and not getattr(each, "is_flag", False)
        }
        before = ["", *args]
        marked = [
            _MINUS + each[1:] if _NEGATIVE.match(each) and last not in taking else each
            for last, each in zip(before, args, strict=False)
        ]
        rest: list[str] = super().parse_args(ctx, marked)
        for name, value in ctx.params.items():
            if isinstance(value, (list, tuple)):
                ctx.params[name] = [_unmarked(each) for each in value]
            else:
                ctx.params[name] = _unmarked(value)
        return rest


def _unmarked(value: Any) -> Any:
    is_marked = isinstance(value, str) and _MINUS in value
    return value.replace(_MINUS, "-") if is_marked else value


class GroupedCommand(TyperCommand):
    """A command whose help lists its options in groups."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        if any(self._is_rare(str(each.name)) for each in self.params):
            self.params.append(_help_all())

    def _is_rare(self, name: str) -> bool:
        return name in _RARE or name in _RARE_OF.get(self.name or "", ())

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then the options in their groups.

        Args:
            ctx: The context of the call.
            formatter: Takes the text.
        """
        arguments: list[tuple[str, str]] = []
        own = _GROUPS_OF.get(self.name or "", {})
        groups: dict[str, list[tuple[str, str]]] = {heading: [] for heading in own}
        groups |= {WHAT: [], JUDGE: [], COST: [], OUTPUT: []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is None or (self._is_rare(str(parameter.name)) and not ctx.meta.get(_ALL)):
                continue
            if parameter.param_type_name == "argument":
                arguments.append(record)
            else:
                name = str(parameter.name)
                heading = next((one for one, names in own.items() if name in names), None)
                groups[heading or (OUTPUT if own else group_of(name))].append(record)
        for heading, rows in {"Arguments": arguments, **groups}.items():
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)


def group_of(name: str) -> str:
    """Return the group of an option.

    Args:
        name: The name of its parameter.
    """
    if name in _COST:
        return COST
    if name in _OUTPUT:
        return OUTPUT
    return JUDGE if name in JUDGING and name not in WHICH else WHAT


def _show_all(context: typer.Context, wanted: bool) -> None:
    if wanted:
        context.meta[_ALL] = True
        typer.echo(context.get_help())
        raise typer.Exit


def _help_all() -> Any:
    """Return the option that shows every option."""
    app = typer.Typer(add_completion=False)

    @app.command()
    def _command(
        _whole: Annotated[
            bool,
            typer.Option(
                "--help-all",
                is_eager=True,
                expose_value=False,
                callback=_show_all,
                help="Show every option.",
            ),
        ] = False,
    ) -> None: ...

    params = typer.main.get_command(app).params
    return next(each for each in params if "--help-all" in each.opts)
