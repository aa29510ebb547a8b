"""Parameters of addresses that many routes share."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Path

from veritrail_graph.api.http.answers import only_known_parameters

ProcessId = Annotated[
    str, Path(description="The process, by its process_id.", examples=["harbour-summary"])
]
ClaimId = Annotated[str, Path(description="The claim, by its claim_id.", examples=["k04"])]
VerificationId = Annotated[
    str,
    Path(
        description="The verification, by its id.",
        examples=["v-0b0f6d0c6a6b4f0f9c3f0c4b6a0f7a11"],
    ),
]

CHECKED: Any = Depends(only_known_parameters)
"""What every router of ours asks for: no parameter that nobody reads."""

PROCESS_ID = r"^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$"
"""A process_id, as a regular expression."""
