"""Check that this machine and its settings have all that VeriTrail needs.

Nothing is started, stored or sent, unless a call to the model is asked for.
"""

from __future__ import annotations

import importlib.metadata
import platform
import shutil
import socket
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from veritrail_graph.api.configured.graph_connection import engine_settings, server_address
from veritrail_graph.graph.errors import InputError, VeriTrailError

if TYPE_CHECKING:
    from veritrail_graph.api.settings import ModelSettings, Settings
    from veritrail_graph.verifier.engines import Engine
    from veritrail_graph.verifier.models.port import Completion, Endpoint, Request

PORT = 8000
"""Where `veritrail serve` listens unless an option says otherwise."""
_OLDEST = (3, 11)
_GIBIBYTE = 1024**3
_CONCURRENCY = 1
_PARAMETERS = 3
_LONGEST_ANSWER = 256
_QUESTION = "Claim: The ferry carries 42 cars."


class State(StrEnum):
    """The state of something that was checked."""

    FINE = "fine"
    WARNING = "warning"
    FAULT = "fault"


@dataclass(frozen=True, slots=True)
class DoctorFinding:
    """One thing that was looked at.

    Attributes:
        about: What was looked at.
        state: How it is.
        told: In words, what was found, and what to do where it is not fine.
    """

    about: str
    state: State
    told: str


async def examine(settings: Settings, *, ask: bool = False) -> AsyncIterator[DoctorFinding]:
    """Look at everything, one after another.

    Args:
        settings: The settings.
        ask: Whether the model is asked one short question, which may cost something.
    """
    yield _python()
    yield _data_folder(settings)
    async for finding in _graph(settings):
        yield finding
    yield _port()
    async for finding in _model(settings, ask=ask):
        yield finding


def _python() -> DoctorFinding:
    version = platform.python_version()
    own = importlib.metadata.version("veritrail-graph")
    told = f"Python {version}, veritrail-graph {own}, {platform.system()} {platform.machine()}"
    if sys.version_info < _OLDEST:
        return DoctorFinding("versions", State.FAULT, f"{told}; Python 3.11 or later is needed.")
    return DoctorFinding("versions", State.FINE, told)


def _data_folder(settings: Settings) -> DoctorFinding:
    place = settings.home
    while not place.exists() and place != place.parent:
        place = place.parent
    try:
        free = shutil.disk_usage(place).free
    except OSError as error:
        return DoctorFinding(
            "data folder", State.FAULT, f"{settings.home}: {error.strerror or error}"
        )
    return DoctorFinding(
        "data folder", State.FINE, f"{settings.home}, {free / _GIBIBYTE:.1f} GiB free"
    )


async def _graph(settings: Settings) -> AsyncIterator[DoctorFinding]:
    from veritrail_graph.graph.embedded import engine_status
    from veritrail_graph.graph.store.database import server_facts

    server = server_address(settings)
    if server is not None:
        facts = await server_facts(server)
        if facts.answers:
            told = f"{server.uri} answers: {facts.agent} {facts.edition or ''}".rstrip()
            yield DoctorFinding("graph (NEO4J_URI)", State.FINE, told)
        else:
            yield DoctorFinding("graph (NEO4J_URI)", State.FAULT, f"{server.uri}: {facts.error}")
        return
    own = engine_settings(settings)
    try:
        status = await engine_status(own)
        if status.running:
            told = f"the embedded engine {status.version} runs at {status.uri}"
            yield DoctorFinding("graph", State.FINE, told)
            return
        yield DoctorFinding("graph", State.FINE, _startable(settings))
    except VeriTrailError as error:
        yield DoctorFinding("graph", State.FAULT, str(error))


def _startable(settings: Settings) -> str:
    """Return what is known of an engine that would start.

    Raises:
        EngineUnavailable: It would not.
    """
    from veritrail_graph.graph.embedded.folder import EngineFolder
    from veritrail_graph.graph.embedded.launch import (
        available_memory,
        check_host,
        engine_version,
    )

    own = engine_settings(settings)
    check_host(own, EngineFolder(own.home))
    memory = available_memory() / _GIBIBYTE
    return (
        f"the embedded engine {engine_version()} starts with the first command that needs it "
        f"({memory:.1f} GiB of memory free, heap {settings.db_heap})"
    )


def _port() -> DoctorFinding:
    with socket.socket() as probe:
        try:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", PORT))
        except OSError:
            told = f"{PORT} is in use: start the page with `veritrail serve --port {PORT + 1}`"
            return DoctorFinding("port", State.WARNING, told)
    return DoctorFinding("port", State.FINE, f"{PORT} is free for `veritrail serve`")


async def _model(settings: Settings, *, ask: bool) -> AsyncIterator[DoctorFinding]:
    from veritrail_graph.api.settings import Use, model_settings
    from veritrail_graph.verifier.engines import engine_named

    name = settings.engine_name()
    try:
        engine = engine_named(name)
        if engine.endpoint is None:
            told = f"engine {name}: no language model is asked."
            if name == "lexical":
                told += (
                    " Words are compared, so verdicts are indicative; name a model in "
                    "VERITRAIL_MODEL."
                )
                yield DoctorFinding("model", State.WARNING, told)
            else:
                yield DoctorFinding("model", State.FINE, told)
            return
        if engine.recorded is not None:
            told = f"engine {name}: {engine.recorded(settings.recorded)}; no model is asked"
            yield DoctorFinding("model", State.FINE, told)
            return
        chosen = model_settings(settings, Use.VERDICT, name)
        endpoint = _opened(settings, engine, chosen)
        try:
            for finding in _endpoint(settings, chosen, engine):
                yield finding
            if ask:
                yield await _answer(endpoint, chosen)
            else:
                told = "not asked; `veritrail doctor --ask` sends one short question"
                yield DoctorFinding("answer", State.FINE, told)
        finally:
            await endpoint.close()
    except InputError as error:
        yield DoctorFinding("model", State.FAULT, str(error))


def _endpoint(settings: Settings, chosen: ModelSettings, engine: Engine) -> Iterator[DoctorFinding]:
    from veritrail_graph.api.configured.models import own_prices, price_of, retirement_warnings

    host = urlsplit(chosen.base_url or "").hostname or "api.openai.com"
    key = "a key is set" if chosen.api_key else "no key is set"
    yield DoctorFinding(
        "model", State.FINE, f"{chosen.model} of engine {engine.name} at {host}; {key}"
    )
    for words in retirement_warnings(engine, [chosen]):
        yield DoctorFinding("model", State.WARNING, words)
    price = price_of(chosen, own_prices(settings))
    if price is None:
        told = "not known: a --budget needs --price IN,OUT, or a table in VERITRAIL_PRICES"
        yield DoctorFinding("price", State.WARNING, told)
    else:
        told = f"{price.input:g} USD a million input tokens, {price.output:g} output tokens"
        yield DoctorFinding("price", State.FINE, told)


async def _sent(endpoint: Endpoint, request: Request) -> Completion:
    """The answer of a model; a parameter that it does not take is left out."""
    from veritrail_graph.verifier.models.port import ParameterRefused

    for _ in range(_PARAMETERS):
        with suppress(ParameterRefused):
            return await endpoint.send(request, _LONGEST_ANSWER)
    return await endpoint.send(request, _LONGEST_ANSWER)


def _opened(settings: Settings, engine: Engine, chosen: ModelSettings) -> Endpoint:
    """The endpoint of a model; no call is made.

    Raises:
        InputError: Its key is missing, or its address cannot be one.
    """
    from veritrail_graph.api.configured.models import patience
    from veritrail_graph.verifier.engines import EndpointSettings

    assert engine.endpoint is not None  # noqa: S101  # only such an engine has models
    return engine.endpoint(
        EndpointSettings(
            chosen.model,
            chosen.base_url,
            chosen.api_key,
            chosen.api_version,
            patience(settings).attempt_timeout,
            _CONCURRENCY,
        )
    )


async def _answer(endpoint: Endpoint, chosen: ModelSettings) -> DoctorFinding:
    """Return whether the model answers one short question."""
    from veritrail_graph.verifier.models.known_models import known_model
    from veritrail_graph.verifier.models.port import ModelError, Request, Step, StepCall
    from veritrail_graph.verifier.prompts import load_prompts

    prompt = load_prompts()[Step.SUB_CLAIM_DECOMPOSITION]
    asked = known_model(chosen.model).asked(chosen.temperature, chosen.reasoning_effort)
    call = StepCall(prompt.step.value, prompt.name, prompt.hash, chosen.model, *asked)
    request = Request(call, prompt.text, _QUESTION)
    try:
        usage = (await _sent(endpoint, request)).usage
    except ModelError as error:
        return DoctorFinding("answer", State.FAULT, str(error))
    told = f"it answers ({usage.input_tokens:,} tokens in, {usage.output_tokens:,} out)"
    return DoctorFinding("answer", State.FINE, told)
