"""Print the changes of a run against an earlier version, and of two versions of a process."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from veritrail_graph.api.cli.terminal import marked, say, show, table, verdict_words
from veritrail_graph.api.show.texts import one_line, some
from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers import files
from veritrail_graph.graph.importers.process_file.reading import NotJson, parse
from veritrail_graph.graph.model import Status, Verdict

if TYPE_CHECKING:
    from rich.text import Text

    from veritrail_graph.api.app.changes import Changes
    from veritrail_graph.api.app.version_diff import ClaimDifference, VersionDifference

MOST_PAIRS_FILE = 10_000_000
ROWS_SHOWN = 30
TEXTS_SHOWN = 10
REASONS_SHOWN = NAMES_SHOWN = 3
_COLUMNS = ("earlier", "claim_id")


def matched(options: Mapping[str, Any]) -> Sequence[dict[str, str]]:
    """Return the pairs of the file that --match names; none without it.

    Raises:
        InputError: There is no --since, or the file does not hold pairs.
    """
    if options["match"] is None:
        return ()
    if options["since"] is None:
        raise InputError("--match pairs claims with those of --since; name that, too.")
    return read_pairs(options["match"])


def read_pairs(path: Path) -> list[dict[str, str]]:
    """Pairs of claim ids: CSV with the columns `earlier` and `claim_id`, or the same as JSON.

    In JSON, a pair may also be an array: [earlier, claim_id].

    Raises:
        InputError: It cannot be read, or does not hold pairs.
    """
    try:
        if path.stat().st_size > MOST_PAIRS_FILE:
            raise InputError(f"{path} is larger than {MOST_PAIRS_FILE:,} bytes")
        values = _table(path) if path.suffix.lower() in files.DELIMITERS else _json(path)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None
    pairs = []
    for place, value in enumerate(values, start=1):
        if isinstance(value, list) and len(value) == len(_COLUMNS):
            value = dict(zip(_COLUMNS, value, strict=True))
        if not isinstance(value, dict) or set(value) != set(_COLUMNS):
            raise InputError(f"{path}, pair {place}: it must have `earlier` and `claim_id`")
        if not all(isinstance(one, str) and one for one in value.values()):
            raise InputError(f"{path}, pair {place}: both must be ids of claims")
        pairs.append(value)
    twice = [one["claim_id"] for one in pairs]
    if len(set(twice)) < len(twice):
        raise InputError(f"{path}: a claim_id is in several pairs")
    if not pairs:
        raise InputError(f"{path} holds no pair")
    return pairs


def _table(path: Path) -> list[Any]:
    rows = [[cell.strip() for cell in row] for _, row in files.delimited(path) if any(row)]
    if not rows or sorted(rows[0]) != sorted(_COLUMNS):
        raise InputError(f"{path}: its first line must name the columns earlier and claim_id")
    return [dict(zip(rows[0], row, strict=False)) for row in rows[1:]]


def _json(path: Path) -> list[Any]:
    try:
        values = parse(path.read_text(encoding="utf-8-sig"))
    except (NotJson, UnicodeDecodeError) as error:
        raise InputError(f"{path}: {error}") from None
    if not isinstance(values, list):
        raise InputError(f"{path}: pairs must be a JSON array")
    return values


def tell_changes(changes: Changes) -> None:
    """Tell what was kept, what was verified, and which verdicts and error stages moved."""
    moved = [one for one in changes.claims if one.is_changed or one.is_moved]
    if moved:
        table(
            ("before", "now", "error stage", "claim"),
            [
                (
                    _verdict(one.verdict_before),
                    _verdict(one.verdict),
                    f"{_stages(one.error_stages_before)} → {_stages(one.error_stages)}",
                    one_line(one.claim),
                )
                for one in moved[:ROWS_SHOWN]
            ],
        )
        if len(moved) > ROWS_SHOWN:
            say(f"… and {len(moved) - ROWS_SHOWN:,} more; --json has all.", "dim")
    say(_summary(changes))
    if changes.calls_spared_share is not None:
        say(_calls(changes), "dim")
    reasons: dict[str, list[str]] = {}
    for one in changes.claims:
        if not one.kept:
            reasons.setdefault(one.reason, []).append(one.claim_id)
    often = sorted(reasons.items(), key=lambda one: -len(one[1]))
    for reason, claim_ids in often[:REASONS_SHOWN]:
        say(f"Verified anew: {some(claim_ids, NAMES_SHOWN)}: {one_line(reason)}", "dim")
    if len(often) > REASONS_SHOWN:
        left = counted(len(often) - REASONS_SHOWN, "more reason")
        say(f"… and {left}; --json has that of each claim.", "dim")
    likely = changes.possible_matches
    if likely:
        pairs = some([f"{one.earlier},{one.claim_id}" for one in likely])
        say(
            f"{len(likely):,} claim(s) without a match resemble earlier ones ({pairs}). Where both "
            "say the same, put the pairs into a CSV file (earlier,claim_id) for --match.",
            "yellow",
        )


def _calls(changes: Changes) -> str:
    """Return which answers of models were needed, and for how many of them a call was made."""
    before = changes.calls - changes.calls_made - changes.cached_calls
    parts = [f"kept verdicts rest on {changes.saved_calls:,}"]
    if before:
        parts.append(f"{before:,} were given when claims were verified before")
    if changes.cached_calls:
        parts.append(f"{changes.cached_calls:,} came from the cache")
    parts.append(f"{counted(changes.calls_made, 'call was', 'calls were')} made")
    every = counted(changes.saved_calls + changes.calls, "answer")
    told = f"{', '.join(parts[:-1])} and {parts[-1]}"
    return f"Of {every} of models, {told}: {changes.calls_spared_share:.0%} of the calls saved."


def _summary(changes: Changes) -> str:
    """Say how much was kept and verified, and whether anything differs from the earlier version."""
    digits = changes.content_hash[:12]
    is_named = changes.since.endswith(f".{digits}")  # as `--keep` does
    since = changes.since if is_named else f"{changes.since} ({digits})"
    share = f"{changes.kept:,} of {counted(len(changes.claims), 'verdict')} kept"
    words = f"Compared with {since}: {share}, {counted(changes.verified, 'claim')} verified anew."
    if not any(one.earlier for one in changes.claims):
        return f"{words} None of these claims was compared with a verdict there."
    if not changes.changed and not changes.moved:
        return f"{words} No verdict and no error stage changed."
    verdicts = counted(changes.changed, "verdict")
    moved = counted(changes.moved, "claim has", "claims have")
    return f"{words} {verdicts} changed; {moved} the same verdict with other error stages."


def show_versions(found: VersionDifference) -> None:
    """Show two versions of a process side by side."""
    table(
        ("", "nodes", "which"),
        [
            (words, f"{len(names):,}", some(names) if names else "")
            for words, names in (
                ("added", found.nodes_added),
                ("removed", found.nodes_removed),
                ("changed", found.nodes_changed),
                ("other inputs", found.inputs_changed),
                ("another stage", found.moved),
            )
        ]
        + [("same", f"{found.nodes_same:,}", "")],
        right=("nodes",),
    )
    _show_texts(found)
    show("")
    table(
        ("stage", "name", "nodes before", "now", "errors before", "errors now"),
        [
            (
                str(one.stage),
                one_line(one.name or ""),
                f"{one.nodes_before:,}",
                f"{one.nodes:,}",
                f"{one.errors_before:,}",
                f"{one.errors:,}",
            )
            for one in found.stages
        ],
        right=("nodes before", "now", "errors before", "errors now"),
    )
    if found.claims:
        show("")
        table(
            ("before", "now", "error stage", "claim"),
            [
                (
                    _side(one.claim_id_before, one.verdict_before, one.status_before),
                    _side(one.claim_id, one.verdict, one.status),
                    f"{_stages(one.error_stages_before)} → {_stages(one.error_stages)}",
                    _wording(one),
                )
                for one in found.claims[:ROWS_SHOWN]
            ],
        )
    say(
        f"{found.old} → {found.new}: {found.edges_added:,} edge(s) added, {found.edges_removed:,} "
        f"removed; {len(found.claims):,} claim(s) differ, {found.claims_same:,} have the same "
        "verdict and error stages."
    )


def _show_texts(found: VersionDifference) -> None:
    """Show what was rewritten in the first changed nodes, with a few words around it."""
    from veritrail_graph.graph.word_diff import rewritten

    if not found.texts:
        return
    show("")
    rows: list[tuple[str, str | Text, str | Text]] = []
    for one in found.texts[:TEXTS_SHOWN]:
        name = one_line(one.node_id, 40)
        if one.before == one.after:
            is_whole = max(one.length_before, one.length) <= one.start + len(one.after)
            words = "the same text" if is_whole else "the same text, as far as it was compared"
            rows.append((name, words, words))
        else:
            before, after = rewritten(one.before, one.after)
            rows.append((name, marked(before), marked(after)))
    table(("changed", "before", "now"), rows)
    left = len(found.nodes_changed) - len(rows)
    if left > 0:
        more = "all" if len(found.texts) == len(found.nodes_changed) else f"{len(found.texts):,}"
        say(f"… and {counted(left, 'more changed node')}; --json has the texts of {more}.", "dim")


def _wording(one: ClaimDifference) -> str | Text:
    """The text of a claim; of one that a person matched, both wordings."""
    if one.claim_before is None:
        return one_line(one.claim)
    from rich.text import Text

    from veritrail_graph.graph.word_diff import rewritten

    before, after = rewritten(one.claim_before, one.claim)
    return Text.assemble(marked(before), " → ", marked(after))


def _verdict(word: str | None) -> Text:
    from rich.text import Text

    if word is None:
        return Text("none", style="dim")
    words, style = verdict_words(Verdict(word), Status.SUCCEEDED)
    return Text(words, style=style)


def _side(claim_id: str | None, verdict: str | None, status: str | None) -> Text:
    from rich.text import Text

    if claim_id is None:
        return Text("no such claim", style="dim")
    if verdict is not None:
        return _verdict(verdict)
    return Text(status.replace("_", " ") if status else "not verified", style="dim")


def _stages(stages: Sequence[int] | Iterable[int]) -> str:
    return ", ".join(map(str, stages)) or "-"
