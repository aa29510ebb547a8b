"""The earlier place of the recorders of libraries, which are modules of veritrail-record.

`veritrail_graph.integrations.langchain` is `veritrail_record.langchain`, imported on first use, and
so are its neighbours.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

__path__: list[str] = []  # makes this module a package, whose modules the finder below knows


def recorder(module: str) -> ModuleType:
    """Import a module of veritrail-record.

    Raises:
        ModuleNotFoundError: It is not installed; the message says what installs it.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != "veritrail_record":
            raise
        message = "the recorder is not installed; pip install veritrail-record"
        raise ModuleNotFoundError(message, name=error.name) from None


class _Recorders(MetaPathFinder, Loader):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        is_ours = fullname.rpartition(".")[0] == __name__
        return ModuleSpec(fullname, self) if is_ours else None

    def exec_module(self, module: ModuleType) -> None:
        place = module.__name__.replace(__name__, "veritrail_record")
        sys.modules[module.__name__] = recorder(place)


sys.meta_path.append(_Recorders())
