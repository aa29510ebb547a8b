"""`veritrail eval`: the papers' experiments, one module a command."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from veritrail_eval.cli import (
    agreement,
    attribution,
    build,
    building,
    corrections,
    dialogue,
    faithfulness,
    graphrag,
    localization,
    report,
    review,
    run,
    score,
    sentences,
    sheets,
    simulate,
    study,
)
from veritrail_graph.api.cli.sections import sectioned

app = sectioned("The papers' experiments: data, runs, figures, simulation.")
# In the order of the work: data first, then runs, then figures.
_SECTIONS: Mapping[str, Mapping[str, Callable[..., None]]] = {
    "Data sets": {
        "formats": build.formats,
        "build": build.build,
        "summarise": building.summarise,
        "graphrag": graphrag.graphrag,
        "chunk": building.chunk,
        "questions": building.questions,
        "duplicates": building.duplicates,
        "match": building.match,
        "sheets": sheets.sheets,
        "sentences": sentences.sentences,
    },
    "Runs": {"run": run.run, "report": report.report, "review": review.review},
    "Figures of your own tables": {
        "score": score.score,
        "agreement": agreement.agreement,
        "localization": localization.localization,
    },
    "Figures of attributions": {
        "attribution": attribution.attribution,
        "faithfulness": faithfulness.faithfulness,
        "corrections": corrections.corrections,
        "study": study.study,
    },
    "Dialogues": {"dialogue": dialogue.dialogue},
    "Simulation": {"simulate": simulate.simulate},
}
for _section, _commands in _SECTIONS.items():
    for _name, _command in _commands.items():
        app.command(_name, rich_help_panel=_section)(_command)
