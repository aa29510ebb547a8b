"""`veritrail worker`: works on the jobs of a service, on this machine or another one."""

from __future__ import annotations

import asyncio
import signal
from typing import TYPE_CHECKING

from veritrail_graph.api.cli.log_options import Format, Level, LogLevel, form_of
from veritrail_graph.api.cli.terminal import say
from veritrail_graph.api.settings import Settings

if TYPE_CHECKING:
    from veritrail_graph.api.auth.database import ServiceDatabase
    from veritrail_graph.api.jobs.events import EventLog
    from veritrail_graph.api.jobs.worker import Worker


def worker(log_format: Format = None, log_level: Level = LogLevel.INFO) -> None:
    """Work on jobs until told to end; the same settings as those of the service are needed.

    Several workers share the work where VERITRAIL_JOBS_URL names a PostgreSQL database, or on one
    machine with one home folder. It opens no port.
    """
    from veritrail_graph.api.server.logs import start_logs

    settings = Settings.load()
    start_logs(settings, form_of(log_format), log_level)
    asyncio.run(_work(settings))


async def _work(settings: Settings) -> None:
    from veritrail_graph.api.auth.database import ServiceDatabase, service_url
    from veritrail_graph.api.jobs.events import EventLog
    from veritrail_graph.api.jobs.worker import Worker

    service = ServiceDatabase(service_url(settings))
    log = EventLog(service)
    worker = Worker(settings, service, log)
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for one in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(one, ended.set)
    starting = asyncio.create_task(worker.start())
    waiting = asyncio.create_task(ended.wait())
    await asyncio.wait([starting, waiting], return_when=asyncio.FIRST_COMPLETED)
    try:
        if not ended.is_set():
            starting.result()
            say(f"Working as {worker.worker_id}", "dim")
            await waiting
            say("Ending: what was begun is handed back.", "dim")
    finally:
        await _end(worker, starting, service, log)


async def _end(
    worker: Worker, starting: asyncio.Task[None], service: ServiceDatabase, log: EventLog
) -> None:
    worker.end()
    await asyncio.wait([starting])
    await worker.stop()
    await asyncio.to_thread(log.close)
    service.close()
