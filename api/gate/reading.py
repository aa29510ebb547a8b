"""What a gate judges: a stored process, or a process file with verifications."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from veritrail_graph.api.gate.baseline import Baseline
from veritrail_graph.api.gate.rules import Limits, failed_again
from veritrail_graph.api.reports.data import CheckedClaim, Material
from veritrail_graph.api.views.words import State

if TYPE_CHECKING:
    from veritrail_graph.api.settings import Settings


async def read_material(
    settings: Settings, process: str, on_start: Callable[[], None] | None = None
) -> Material:
    """The process and its claims, without their trails.

    Args:
        settings: The settings of the command.
        process: A process_id, or a process file.
        on_start: Called when the embedded engine has to be started first.

    Raises:
        VeriTrailError: There is no such process, the file breaks rules, or no engine answers.
    """
    from veritrail_graph.api.reports.from_file import (
        FiledOrigin,
        check_process_id,
        file_meant,
        is_file,
    )

    if is_file(process):
        return FiledOrigin.read(Path(process), max_node_text=settings.max_node_text).material
    from veritrail_graph.api.graph_connection import open_graph
    from veritrail_graph.api.reports.from_store import StoredOrigin

    check_process_id(process)
    async with open_graph(settings, on_start) as store:
        with file_meant(process):
            await store.processes.get(process)
        return (await StoredOrigin.read(store, process)).material


def judges(material: Material) -> tuple[str, ...]:
    """Who judged: the engines, with their models."""
    found = {
        f"{one.engine} {one.model}" if one.model else one.engine for one in material.verifications
    }
    return tuple(sorted(found))


def notes_on(material: Material, baseline: Baseline | None, limits: Limits) -> tuple[str, ...]:
    """What a reader should know beside the rules."""
    claims = material.claims
    notes = []
    if material.is_indicative:
        notes.append("verdicts are indicative only: no language model judged, words were compared")
    if failed := _count(claims, failed_again):
        notes.append(
            f"of {failed:,} claim(s) the latest check ended without a verdict; the older verdict "
            "does not count. Verify them anew with: veritrail verify "
            f"{material.process.process_id} --again"
        )
    if waiting := _count(claims, _waits_again):
        notes.append(
            f"{waiting:,} claim(s) have a later verification that has not ended; the verdict "
            "before it counts"
        )
    if edited := _count(claims, lambda one: one.was_edited):
        notes.append(f"{edited:,} claim(s) were edited after they were verified: not checked")
    if older := _count(claims, lambda one: _is_older(one, material.process.content_hash)):
        notes.append(f"{older:,} verdict(s) were given before the process was appended to")
    nowhere = _count(claims, lambda one: one.state is State.NOT_SUPPORTED and not one.error_stages)
    if limits.stages and nowhere:
        notes.append(
            f"of {nowhere:,} claim(s) no error stage could be identified; no forbidden stage "
            "counts them"
        )
    if baseline is not None and set(baseline.judges) != set(judges(material)):
        then, now = (", ".join(each) or "nobody" for each in (baseline.judges, judges(material)))
        notes.append(
            f"the baseline was judged by {then}, this by {now}: a verdict may differ by that"
        )
    return tuple(notes)


def _waits_again(one: CheckedClaim) -> bool:
    return one.later is not None and one.verdict is not None and not failed_again(one)


def _is_older(one: CheckedClaim, content_hash: str) -> bool:
    found = one.verification
    if found is None or found.verdict is None or found.content_hash is None:
        return False
    return found.content_hash != content_hash


def _count(claims: Iterable[CheckedClaim], holds: Callable[[CheckedClaim], bool]) -> int:
    return sum(map(holds, claims))
