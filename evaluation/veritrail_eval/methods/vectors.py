"""Texts as vectors, and the nearest of them: what embedding-based retrieval rests on.

Source: VeriTrail 4.2 (nearest neighbours by Faiss with L2 distance), E.1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from veritrail_eval.embeddings.port import Embedder
from veritrail_graph.graph.model import NodeRef
from veritrail_graph.verifier.held_process import HeldProcess
from veritrail_graph.verifier.models.port import Meter
from veritrail_graph.verifier.ports import JudgeError

AT_ONCE = 256
"""Texts that are embedded in one call."""
_DIFFER = "the vectors of the embedding model differ in length"


@dataclass
class NodeVectors:
    """Vectors of nodes, by process and node.

    Attributes:
        embedder: Makes them.
    """

    embedder: Embedder
    _of: dict[str, dict[str, Sequence[float]]] = field(default_factory=dict)
    _last: tuple[tuple[str, ...], Any] | None = None

    async def add(self, process: HeldProcess, nodes: Sequence[NodeRef], meter: Meter) -> None:
        """Embed nodes that are not embedded yet.

        Raises:
            VeriTrailError: No vectors could be had.
        """
        known = self._of.setdefault(process.process_id, {})
        new = [ref.node_id for ref in nodes if ref.node_id not in known]
        new = [name for name in new if process.texts[name].strip()]
        for start in range(0, len(new), AT_ONCE):
            names = new[start : start + AT_ONCE]
            texts = [process.texts[name] for name in names]
            vectors = await self.embedder.embed(texts, meter)
            if len(vectors) != len(names):
                raise JudgeError(
                    f"{self.embedder.name} gave {len(vectors)} vectors for {len(names)} texts"
                )
            known.update(zip(names, vectors, strict=True))

    async def nearest(
        self, text: str, process: HeldProcess, nodes: Sequence[NodeRef], most: int, meter: Meter
    ) -> list[NodeRef]:
        """The nodes nearest to a text, the nearest first; nodes without text are never near.

        Raises:
            VeriTrailError: The text could not be embedded.
        """
        await self.add(process, nodes, meter)
        known = self._of[process.process_id]
        there = [ref for ref in nodes if ref.node_id in known]
        if not there:
            return []
        query = await self.embedder.embed([text], meter)
        names = (process.process_id, *(ref.node_id for ref in there))
        if self._last is None or self._last[0] != names:  # all claims of a process share it
            self._last = names, index_of([known[ref.node_id] for ref in there])
        places = places_near(self._last[1], query[0], most)
        return [there[place] for place in places]

    @property
    def settings(self) -> Mapping[str, Any]:
        """Return what decides them, as JSON."""
        return {"embedding": dict(self.embedder.settings), "distance": "L2"}


def nearest_places(
    vectors: Sequence[Sequence[float]], query: Sequence[float], most: int
) -> list[int]:
    """Places of the vectors nearest to one, by exact L2 distance; at a tie the first goes first.

    Raises:
        JudgeError: The vectors differ in length.
    """
    return places_near(index_of(vectors), query, most)


def index_of(vectors: Sequence[Sequence[float]]) -> Any:
    """An index of Faiss over vectors, by exact L2 distance.

    Raises:
        JudgeError: The vectors differ in length.
    """
    import faiss
    import numpy as np

    try:
        matrix = np.asarray(vectors, dtype=np.float32)
    except ValueError:
        raise JudgeError(_DIFFER) from None
    if matrix.ndim != 2:
        raise JudgeError(_DIFFER)
    index = faiss.IndexFlatL2(matrix.shape[1])
    index.add(matrix)
    return index


def places_near(index: Any, query: Sequence[float], most: int) -> list[int]:
    """Places of the vectors of an index nearest to one; at a tie the first goes first.

    Raises:
        JudgeError: The vector has another length.
    """
    import numpy as np

    target = np.asarray([query], dtype=np.float32)
    if target.shape[1] != index.d:
        raise JudgeError(_DIFFER)
    distances, places = index.search(target, min(most, index.ntotal))
    order = sorted(zip(distances[0].tolist(), places[0].tolist(), strict=True))
    return [place for _, place in order]
