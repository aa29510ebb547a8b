"""The values of a text: figures, sums, shares, dates, times, names and quotations.

`values` reads them, in one normal form whichever way they are written. `same_matter` says whether
a sentence speaks of what a claim says of one of its values; `rival` gives the value that stands in
its place there. All three look at words alone and ask no model.

    >>> claim = "The mill sold 41 tonnes in 2024."
    >>> value = values(claim)[0]
    >>> rival(value, claim, "In 2024 the mill sold 37 tonnes of flour.").surface
    '37 tonnes'
"""

from __future__ import annotations

from veritrail_graph.verifier.values.matter import rival, same_matter
from veritrail_graph.verifier.values.model import Value, ValueKind
from veritrail_graph.verifier.values.reading import values

__all__ = ["Value", "ValueKind", "rival", "same_matter", "values"]
