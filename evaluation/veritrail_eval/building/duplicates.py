"""Claims of a data set that say nearly the same: a person decides which ones go.

Source: VeriTrail B (redundant claims were removed by hand).
"""

from __future__ import annotations

from pathlib import Path

from veritrail_eval.building.review import write_review
from veritrail_eval.datasets.model import Dataset
from veritrail_graph.graph.model import Claim
from veritrail_graph.graph.near_duplicates import near_duplicates

COLUMNS = ("process_id", "claim_id", "claim", "like", "like_claim", "overlap", "remove")


def write_duplicates(dataset: Dataset, path: Path) -> int:
    """Write the claims that say nearly the same as an earlier one, with an empty column `remove`.

    Returns:
        How many there are.

    Raises:
        InputError: The file is there already, or cannot be written.
    """
    rows: list[dict[str, object]] = []
    for process_id in dict.fromkeys(claim.process_id for claim in dataset.claims):
        texts = {one.claim_id: one.text for one in dataset.claims if one.process_id == process_id}
        claims = [
            Claim(claim_id=one.claim_id, text=one.text, node_id=one.node_id or "the only terminal")
            for one in dataset.claims
            if one.process_id == process_id
        ]
        rows += [
            {
                "process_id": process_id,
                "claim_id": one.claim_id,
                "claim": texts[one.claim_id],
                "like": one.like,
                "like_claim": texts[one.like],
                "overlap": one.overlap,
                "remove": "",
            }
            for one in near_duplicates(claims)
        ]
    write_review(path, COLUMNS, rows)
    return len(rows)
