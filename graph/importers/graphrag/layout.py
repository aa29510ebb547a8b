"""Which files of a folder are the tables of a GraphRAG index, and of which generation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

REQUIRED: Mapping[str, str] = {
    "text_units": "the text units (stage 1)",
    "entities": "the entities (stages 2 and 3)",
    "relationships": "the relationships (stages 2 and 3)",
    "communities": "the entities and relationships that each report was written from",
    "community_reports": "the community reports (stage 4)",
}
"""What each table is needed for."""

OLD_PREFIX = "create_final_"
OUTPUT = "output"


@dataclass(frozen=True, slots=True)
class Layout:
    """The tables of one index.

    Attributes:
        folder: Where the parquet files are.
        prefix: What their names begin with: `create_final_` in 1.x, nothing later.
    """

    folder: Path
    prefix: str

    @property
    def is_first_generation(self) -> bool:
        """Whether the files are named as GraphRAG 1.x names them."""
        return self.prefix == OLD_PREFIX

    @property
    def generation(self) -> str:
        """The schema generation, as far as file names tell it."""
        return "1.x" if self.is_first_generation else "2.x or 3.x"

    def path(self, table: str) -> Path:
        """The file of a table; snapshots of raw extractions never have the prefix."""
        prefix = "" if table.startswith("raw_") else self.prefix
        return self.folder / f"{prefix}{table}.parquet"

    def present(self) -> list[str]:
        """The required tables that are there."""
        return [table for table in REQUIRED if self.path(table).is_file()]

    def missing(self) -> list[str]:
        """The required tables that are not there."""
        return [table for table in REQUIRED if not self.path(table).is_file()]


def find_layout(path: Path) -> Layout | str:
    """The index at `path` or in its `output` subfolder, or why there is none.

    Two tables are enough to recognise a folder: opening it then names the missing ones.
    """
    if not path.is_dir():
        return "not a folder"
    for folder in (path, path / OUTPUT):
        # A migrated index keeps its old files beside the new ones; the new ones are in use.
        layouts = [Layout(folder, ""), Layout(folder, OLD_PREFIX)]
        best = max(layouts, key=lambda layout: len(layout.present()))
        if len(best.present()) >= 2:
            return best
    return (
        f"neither it nor its {OUTPUT}/ subfolder holds GraphRAG's tables "
        f"(community_reports.parquet, {OLD_PREFIX}community_reports.parquet, …)"
    )
