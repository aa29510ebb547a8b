"""Make the documentation of the data model: `python -m veritrail_graph.graph.data_model DOCS`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from veritrail_graph.graph.data_model.arrows import arrows
from veritrail_graph.graph.data_model.drawing import drawing
from veritrail_graph.graph.data_model.page import filled
from veritrail_graph.graph.data_model.style import style

PAGE = "data-model.md"


def made(folder: Path) -> dict[str, str]:
    """Every file that is made from the model, by its path in the folder of the documentation."""
    return {
        PAGE: filled((folder / PAGE).read_text(encoding="utf-8")),
        "images/data-model.svg": drawing(),
        "data-model.arrows.json": json.dumps(arrows(), indent=2) + "\n",
        "veritrail.grass": style(),
    }


def main(arguments: list[str]) -> int:
    """Write the files into the folder that is named, or else into `docs`."""
    folder = Path(arguments[0] if arguments else "docs")
    for name, text in made(folder).items():
        (folder / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
