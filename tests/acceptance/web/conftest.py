"""One service for all tests that only look at pages; each stores processes of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from acceptance.command import Veritrail
from fakes.service_process import ServiceProcess, serving


@pytest.fixture(scope="session")
def shared_service(veritrail: Veritrail) -> Iterator[ServiceProcess]:
    """The service over the engine that the commands of the other tests use too."""
    with serving(veritrail, args=["--no-worker"]) as service:
        service.until_ready()
        yield service
