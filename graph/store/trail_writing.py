"""Writing trails: all that are given in one transaction, small ones in one statement.

Source: VeriTrail 3.2.
"""

from __future__ import annotations

from collections.abc import Sequence

from veritrail_graph.graph.errors import NotFound
from veritrail_graph.graph.model import Verification
from veritrail_graph.graph.store.database import Database
from veritrail_graph.graph.store.trail_parcels import Parcel, parcels
from veritrail_graph.graph.store.transaction import Transaction

CLEARING = (
    "trail/clear_paths",
    "trail/clear_errors",
    "trail/clear_iterations",
    "trail/clear_steps",
)
"""What takes off all that hangs on a verification; paths first, found through the iterations."""


async def write_all(database: Database, verifications: Sequence[Verification]) -> None:
    """Write verifications with their trails in one transaction, replacing what was there.

    Raises:
        NotFound: A claim is not stored (any more); nothing was written.
    """
    # Of two under one id the later one counts, as if they had come one after the other.
    latest = {one.verification_id: one for one in verifications}
    groups: dict[tuple[str, str | None], list[Verification]] = {}
    for one in latest.values():
        groups.setdefault((one.process_id, one.content_hash), []).append(one)

    def work(tx: Transaction) -> None:
        for (process_id, content_hash), some in groups.items():
            for parcel in parcels(some):
                _write(tx, process_id, content_hash, parcel)

    # What an attempt that is in doubt has stored is replaced by the next one.
    await database.write_with(work, repeatable=True)


def _write(tx: Transaction, process_id: str, content_hash: str | None, parcel: Parcel) -> None:
    ids = {"process_id": process_id, "content_hash": content_hash}
    written: dict[str, bool] = dict(tx.run("trail/write", rows=parcel.rows, cleared=False, **ids))
    for row in parcel.rows:
        if row["verification_id"] not in written:
            raise NotFound(
                f"Process {process_id!r} or its claim {row['claim_id']!r} was removed or replaced "
                "meanwhile; the verification was not stored."
            )
    again = [verification_id for verification_id, existed in written.items() if existed]
    if again:
        for verification_id in again:
            for name in CLEARING:
                tx.run(name, verification_id=verification_id)
        tx.run("trail/write", rows=parcel.only(again), cleared=True, **ids)
    for rest in parcel.rests.values():
        for name, rows in rest.batches():
            tx.run(name, process_id=process_id, rows=rows)
