"""Entailment models of this machine: those that a person has downloaded."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from veritrail_graph.api.settings import Settings
    from veritrail_graph.verifier.nli.fetching import Fetched


def fetch_model(
    settings: Settings,
    name: str,
    revision: str | None = None,
    on_file: Callable[[str], None] = lambda _file: None,
) -> Fetched:
    """Download a model from a hub into the home folder; nothing else ever downloads one.

    Args:
        settings: The settings; they name the home folder.
        name: Its name on the hub.
        revision: A branch, tag or commit; None: the main branch.
        on_file: Called with each file before it is downloaded.

    Raises:
        InputError: There is no such model, or it is none of entailment.
        Unreachable: The hub did not answer.
    """
    from veritrail_graph.verifier.nli.fetching import fetch

    return fetch(name, settings.home, revision=revision, on_file=on_file)
