"""The pages of studies and of labels of dialogues, for the service of veritrail-graph."""

from __future__ import annotations

from veritrail_eval.pages import study, turn_labels
from veritrail_graph.api.page.plugin_pages import PageLink, Pages

PAGES = Pages(
    package="veritrail_eval",
    routers=(turn_labels.router, study.router),
    links=(
        PageLink("attributions", ("studies",), "Let readers judge them: studies"),
        PageLink("dialogue", ("dialogue", "labels"), "Labels"),
    ),
)
