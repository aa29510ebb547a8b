"""Settings as a process with another environment reads them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from unittest.mock import patch

from veritrail_graph.api.settings import Settings


def settings_of(environ: Mapping[str, str]) -> Settings:
    """Settings of an environment that holds these variables alone."""
    with patch.dict(os.environ, environ, clear=True):
        return Settings()
