"""Settings: from options, then the environment, then a `.env` file in the working folder.

A setting of the models holds for all steps. A step's own has its name in front:
`VERITRAIL_VERDICT_MODEL` beside `VERITRAIL_MODEL`. A step with an endpoint of its own takes no key
that was set for another.

`pydantic_settings` takes a while to import: import this module in the functions that read settings.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

import platformdirs
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict, SettingsError

from veritrail_graph.graph.errors import InputError

CALLS = 16
"""Simultaneous calls to an endpoint, where nothing is set."""

DAY = 86_400.0
_LONGEST = 86_400.0
_SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")
_SIZE_UNITS = {"": 1, "b": 1, "kb": 1_000, "mb": 1_000_000, "gb": 1_000_000_000}
_TIME_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": DAY}
_ON, _OFF = ("on", "1", "true", "yes"), ("off", "0", "false", "no")
_PREFIX = "VERITRAIL_"


def _parsed(parse: Callable[[str], Any]) -> BeforeValidator:
    """Parse texts; a value that code passes is taken unchanged.

    A `ValueError` becomes the error message, after the name of the setting and its value. Where the
    message names the setting itself, it holds `{name}`, or `{setting}` for name and value.
    """
    return BeforeValidator(lambda value: parse(value) if isinstance(value, str) else value)


def number(text: str) -> float:
    """A finite number of at least 0.

    Raises:
        ValueError: The text is none.
    """
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value >= 0):
        raise ValueError("must be a number, 0 or more")
    return value


def _above_zero(text: str) -> float:
    if (value := number(text)) == 0:
        raise ValueError("must be a number above 0")
    return value


def _whole(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text) < 10**9):
        raise ValueError("must be a whole number above 0")
    return int(text)


def _flag(text: str) -> bool:
    if text.lower() not in (*_ON, *_OFF):
        raise ValueError("must be on or off")
    return text.lower() in _ON


def _seconds(least: float) -> BeforeValidator:
    def parse(text: str) -> float:
        if not re.fullmatch(r"\d+(\.\d+)?", text) or not least <= float(text) <= _LONGEST:
            raise ValueError(f"must be a number of seconds from {least:g} to {_LONGEST:g}")
        return float(text)

    return _parsed(parse)


def _float_within(least: float, most: float, message: str) -> BeforeValidator:
    def parse(text: str) -> float:
        try:
            seconds = float(text)
        except ValueError:
            seconds = math.nan
        if not least <= seconds <= most:  # also what is no number
            raise ValueError(message)
        return seconds

    return _parsed(parse)


def _duration(text: str) -> float:
    match = re.fullmatch(r"(\d{1,9}(?:\.\d{1,3})?)([smhd]?)", text.lower())
    if match is None:
        raise ValueError("is no time; write it as 30s, 10m, 1h or 30d")
    return float(match[1]) * _TIME_UNITS[match[2]]


def _size(text: str) -> int:
    match = re.fullmatch(r"(\d+)\s*([a-z]*)", text.lower())
    if match is None or match[2] not in _SIZE_UNITS or int(match[1]) == 0:
        raise ValueError("must be a number of bytes above 0, or such as 10MB")
    return int(match[1]) * _SIZE_UNITS[match[2]]


def _rate(text: str) -> int:
    if not (text.isdecimal() and 0 < int(text) <= 1_000_000):
        raise ValueError("must be a number of requests a minute")
    return int(text)


def _temperature(text: str) -> float | None:
    if text.lower() == "none":
        return None
    if (value := number(text)) > 2:
        raise ValueError("must lie between 0 and 2, or be none")
    return value


def parse_price(text: str) -> tuple[float, ...]:
    """A price: INPUT,OUTPUT or INPUT,OUTPUT,CACHED, in USD per million tokens.

    Raises:
        InputError: It is none; the message calls it `price`, as options and settings give it.
    """
    from veritrail_graph.verifier.models.prices import HIGHEST

    parts = [part.strip() for part in text.split(",")]
    if len(parts) not in {2, 3}:
        raise InputError(
            f"price {text!r}: write INPUT,OUTPUT or INPUT,OUTPUT,CACHED, in USD per million tokens"
        )
    price: list[float] = []
    for part in parts:
        try:
            price.append(number(part))
        except ValueError as error:
            raise InputError(f"price={part!r}: {error}") from None
    if max(price) > HIGHEST:
        raise InputError(f"price {text!r}: no model costs so much; it is USD per million tokens")
    return tuple(price)


def _embedding_price(text: str) -> float:
    """A price in USD per million tokens: embeddings have no tokens of an answer."""
    from veritrail_graph.verifier.models.prices import HIGHEST

    if (price := number(text)) > HIGHEST:
        raise ValueError("no model costs so much; it is USD per million tokens")
    return price


def _origins(text: str) -> frozenset[str]:
    origins = frozenset(text.replace(",", " ").split())
    for origin in origins:
        try:
            parts = urlsplit(origin)
            is_whole = parts.scheme in ("http", "https") and bool(parts.hostname)
        except ValueError:
            is_whole = False
        if not is_whole or origin != f"{parts.scheme}://{parts.netloc}":
            raise ValueError(
                f"{{name}}: {origin!r} is no origin; write each as https://example.org, without a "
                "path, and with blanks between them"
            )
    return origins


def _browser(text: str) -> str:
    found = urlsplit(text)
    if found.scheme not in ("http", "https") or not found.hostname or found.query:
        raise ValueError(
            "{setting} is no address of Neo4j Browser; write it as http://host:7474/browser/"
        )
    return text


def _folder(text: str) -> Path:
    try:
        return Path(text).expanduser()
    except RuntimeError:
        raise ValueError("the home folder of that user is not known") from None


def _bolt(uri: str) -> str:
    """The address of a Bolt server; a fault is named here, before the driver names it."""
    form = "write it as bolt://host:7687 or neo4j://host:7687"
    try:
        parts = urlsplit(uri)
        is_whole = parts.scheme in _SCHEMES and bool(parts.hostname) and parts.port != 0
    except ValueError:
        raise ValueError(f"{{setting}} is no address; {form}") from None
    if parts.username is not None or parts.password is not None:
        raise ValueError(
            f"{{name}} holds a user name or password; {form}, and set NEO4J_USERNAME and "
            "NEO4J_PASSWORD"
        )
    if parts.scheme in ("http", "https"):
        raise ValueError(
            "{setting} is an address for a web browser; this program speaks Bolt: write it as "
            f"bolt://{parts.hostname or 'host'}:7687"
        )
    if not is_whole:
        raise ValueError(f"{{setting}} is no address of a Bolt server; {form}")
    return uri


_probability = _float_within(0.0, 1.0, "must be a number from 0 to 1")
_Whole = Annotated[int, _parsed(_whole)]
_Text = str | None
_Secret = Annotated[str | None, Field(repr=False)]
_Positive = Annotated[float, _parsed(_above_zero)]
_Duration = Annotated[float, _parsed(_duration)]
_Size = Annotated[int, _parsed(_size)]


class Login(BaseModel):
    """User, password and database of a graph besides the usual one."""

    model_config = ConfigDict(frozen=True)

    username: _Text = None
    password: _Secret = None
    database: _Text = None


class ModelFields(BaseModel):
    """What can be set for all models, and for the model of one step.

    Attributes:
        model: Name of the model.
        temperature: Of a single answer; None: the endpoint's own.
        context_tokens: The context window; None: the model table, else 128,000.
        max_output_tokens: The longest answer; None: a share of the window.
        concurrency: The most simultaneous calls.
        rpm: The most calls a minute.
        tpm: The most tokens a minute.
        price: USD per million tokens: input, output and, optionally, cached input.
        structured: Whether requests carry the JSON schema of the answer.
    """

    model_config = ConfigDict(frozen=True)

    model: _Text = None
    temperature: Annotated[float | None, _parsed(_temperature)] = 0.0
    context_tokens: _Whole | None = None
    max_output_tokens: _Whole | None = None
    concurrency: _Whole = CALLS
    rpm: _Whole | None = None
    tpm: _Whole | None = None
    price: Annotated[tuple[float, ...] | None, NoDecode, _parsed(parse_price)] = None
    structured: Annotated[bool, _parsed(_flag)] = False


class StepFields(ModelFields):
    """What can be set for the model of one step, its endpoint and key among it."""

    base_url: _Text = None
    api_key: _Secret = None


class VerdictFields(StepFields):
    """What can be set for the step that gives verdicts; `engine`: of another engine."""

    engine: _Text = None


class EntailmentFields(BaseModel):
    """What can be set for the entailment model of the engine `nli`.

    `ModelChoice` and `EntailmentParts` of the verifier describe the fields.
    """

    model_config = ConfigDict(frozen=True)

    model: _Text = None
    adapter: Annotated[str, _parsed(str.lower)] = "pairs"
    threshold: Annotated[float, _probability] = 0.5
    evidence_threshold: Annotated[float, _probability] = 0.5
    evidence_sentences: _Whole = 5
    joint: Annotated[bool, _parsed(_flag)] = True
    window: _Whole | None = None
    labels: _Text = None
    template: _Text = None
    weights: Annotated[Path | None, _parsed(_folder)] = None
    api_key: _Secret = None


class EmbeddingFields(BaseModel):
    """What can be set for the embedding model of retrieval.

    Attributes:
        model: A folder, a fetched model, or the name of a model at an endpoint.
        base_url: The endpoint; None: that of the language models.
        api_key: Its key; None: that of the language models, where `base_url` is not set.
        price: USD per million tokens.
        concurrency: The most simultaneous calls.
        rpm: The most calls a minute.
        tpm: The most tokens a minute.
    """

    model_config = ConfigDict(frozen=True)

    model: _Text = None
    base_url: _Text = None
    api_key: _Secret = None
    price: Annotated[float | None, _parsed(_embedding_price)] = None
    concurrency: _Whole | None = None
    rpm: _Whole | None = None
    tpm: _Whole | None = None


class Settings(ModelFields, BaseSettings):
    """Everything that can be set from outside; environment names are `VERITRAIL_` and the field's.

    Attributes:
        neo4j_uri: A server to use; None: the embedded engine.
        neo4j_username: Its user; None: no authentication.
        neo4j_password: Its password.
        neo4j_database: Its database; None: the server's default.
        home: Folder of the embedded engine, of jobs, keys and caches.
        query_seconds: Limit of a query of the library or of the shell.
        connect_seconds: How long to wait for a server that is starting.
        neo4j_browser: Where Neo4j Browser is; None: beside the server.
        engine: Engine of judgement, as set; see `engine_name`.
        language: Language whose rules split texts into sentences.
        max_node_text: The longest text of a node, in bytes of UTF-8.
        db_idle: Time without a client after which the embedded engine stops.
        db_heap: Heap of the embedded engine, in Java's notation.
        db_jit: How well its Java machine compiles: `full` or `quick`.
        claims: Settings of the model that extracts claims.
        selection: Settings of the model that selects evidence.
        verdict: Settings of the model, or of the engine, that gives verdicts.
        nli: Settings of the entailment model of the engine `nli`.
        embedding: Settings of the embedding model of retrieval.
        prices: A price table of the user.
        call_deadline: Seconds for one call with all its attempts.
        attempt_timeout: Seconds for one attempt.
        claim_deadline: Seconds after which a claim is given up.
        answer_retries: How often a malformed answer is asked for again.
        warm_prefixes: Whether calls that share a prefix wait for the first of them.
        jobs_url: The database of the service; None: a file in the home folder.
        jobs_keep: Seconds that a job is kept after its end.
        jobs_patience: Seconds that a claim waits for a graph engine that does not answer.
        api_key: The key of the service.
        api_key_file: A file that holds it.
        rate: Requests a minute that a key may send; None: the default.
        cors_origins: Origins whose pages may call the service.
        body_seconds: How long a body may stop arriving.
        events_heartbeat: Seconds between heartbeats of an event stream.
        proxies: Addresses of proxies whose headers count.
        upload_max: Bytes of an upload.
        otlp_quiet: Seconds without a span after which a trace that is not whole is stored.
        otlp_keep: Seconds that spans of a stored trace are kept for spans that come late.
        otlp_traces: The most traces whose spans wait, and the most that are kept.
        otlp_bytes: The most bytes of spans that wait, and the most that are kept.
        reviewer: Who reviews, where a call names no reviewer.
        copy_from: Login of the graph that is copied from.
        copy_to: Login of the graph that is copied to.
        import_from: Login of a graph that another application wrote and `ingest` reads.
    """

    model_config = SettingsConfigDict(
        env_prefix=_PREFIX,
        env_file=".env",
        env_file_encoding="utf-8",
        env_nested_delimiter="_",
        env_nested_max_split=1,
        extra="ignore",
        frozen=True,
        hide_input_in_errors=True,
    )

    neo4j_uri: Annotated[_Text, _parsed(_bolt)] = Field(None, validation_alias="NEO4J_URI")
    neo4j_username: _Text = Field(None, validation_alias="NEO4J_USERNAME")
    neo4j_password: _Text = Field(None, validation_alias="NEO4J_PASSWORD", repr=False)
    neo4j_database: _Text = Field(None, validation_alias="NEO4J_DATABASE")
    openai_base_url: _Text = Field(None, validation_alias="OPENAI_BASE_URL")
    openai_api_key: _Text = Field(None, validation_alias="OPENAI_API_KEY", repr=False)
    openai_api_version: _Text = Field(None, validation_alias="OPENAI_API_VERSION")
    azure_openai_endpoint: _Text = Field(None, validation_alias="AZURE_OPENAI_ENDPOINT")
    azure_openai_api_key: _Text = Field(None, validation_alias="AZURE_OPENAI_API_KEY", repr=False)
    home: Annotated[Path, _parsed(_folder)] = Field(
        default_factory=lambda: platformdirs.user_data_path("veritrail")
    )
    query_seconds: Annotated[float, _seconds(0.1)] = 60.0
    connect_seconds: Annotated[float, _seconds(0.0)] = 5.0
    neo4j_browser: Annotated[_Text, _parsed(_browser)] = None
    engine: _Text = None
    language: Annotated[str, _parsed(str.lower)] = "english"
    max_node_text: _Size = 10_000_000
    db_idle: str = "10m"
    db_heap: Annotated[str, _parsed(str.lower)] = "1g"
    db_jit: Annotated[str, _parsed(str.lower)] = "full"
    claims: StepFields = StepFields()
    selection: StepFields = StepFields()
    verdict: VerdictFields = VerdictFields()
    nli: EntailmentFields = EntailmentFields()
    embedding: EmbeddingFields = EmbeddingFields()
    prices: Annotated[Path | None, _parsed(_folder)] = None
    call_deadline: _Positive | None = None
    attempt_timeout: _Positive | None = None
    claim_deadline: _Positive = 14_400.0
    answer_retries: Annotated[int, _parsed(lambda text: int(number(text)))] = 5
    warm_prefixes: Annotated[str, _parsed(str.lower)] = "auto"
    jobs_url: _Secret = None
    jobs_keep: _Duration = 30 * DAY
    jobs_patience: _Duration = 3_600.0
    api_key: _Secret = None
    api_key_file: _Text = None
    rate: Annotated[int | None, _parsed(_rate)] = None
    cors_origins: Annotated[frozenset[str], NoDecode, _parsed(_origins)] = frozenset()
    body_seconds: Annotated[
        float, _float_within(5e-324, 3_600.0, "must be a number of seconds above 0")
    ] = 20.0
    events_heartbeat: Annotated[
        float, _float_within(0.1, 3_600.0, "must be a number of seconds, 0.1 to 3600")
    ] = 15.0
    proxies: str = "127.0.0.1"
    upload_max: _Size = 2_000_000_000
    otlp_quiet: _Duration = 30.0
    otlp_keep: _Duration = 3_600.0
    otlp_traces: _Whole = 10_000
    otlp_bytes: _Size = 1_000_000_000
    reviewer: _Text = None
    copy_from: Login = Field(Login(), validation_alias=f"{_PREFIX}FROM")
    copy_to: Login = Field(Login(), validation_alias=f"{_PREFIX}TO")
    import_from: Login = Field(Login(), validation_alias=f"{_PREFIX}IMPORT")

    def __init__(self, **values: Any) -> None:
        """Read the environment and a `.env` of the working folder; the environment wins.

        Args:
            **values: Values that come before both, by their name here or in the environment.

        Raises:
            InputError: A setting has a value that it cannot have; the message names it.
        """
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise InputError(_message(error)) from None
        except SettingsError as error:
            raise InputError(str(error)) from None
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{Path('.env').resolve()} cannot be read: {error}") from None

    @model_validator(mode="before")
    @classmethod
    def _stripped(cls, values: dict[str, Any]) -> dict[str, Any]:
        """Leave out what is blank; a server with a password has the user `neo4j` by default."""
        found = _without_blanks(values)
        return {"NEO4J_USERNAME": "neo4j", **found} if "NEO4J_PASSWORD" in found else found

    def engine_name(self, engine: str | None = None, model: str | None = None) -> str:
        """The engine of judgement: option, setting, `openai` when a model is named, `lexical`.

        A key alone in the environment never makes a call. Whether such an engine exists is checked
        where it is looked up.
        """
        return engine or self.engine or ("openai" if model or self.model else "lexical")

    def verdict_engine_name(self, evidence: str, verdict: str | None = None) -> str | None:
        """The engine that gives verdicts: option, then setting; None: the one of the evidence."""
        found = verdict or self.verdict.engine
        return None if found == evidence else found


def _without_blanks(values: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, dict):
            found[name] = _without_blanks(value)
        elif not isinstance(value, str) or (value and "password" in name.lower()):
            found[name] = value  # blanks may be part of a password
        elif value.strip():
            found[name] = value.strip()
    return found


def _message(error: ValidationError) -> str:
    """The first fault, with the name that its setting has in the environment."""
    fault = error.errors(include_url=False)[0]
    name = "_".join(str(part) for part in fault["loc"]).upper()
    if not str(fault["loc"][0]).isupper():
        name = f"{_PREFIX}{name}"
    cause = fault.get("ctx", {}).get("error")
    text = str(cause) if isinstance(cause, ValueError) else fault["msg"]
    setting = f"{name}={fault['input']!r}"
    if "{name}" in text or "{setting}" in text:
        return text.replace("{name}", name).replace("{setting}", setting)
    return f"{setting}: {text}"


class Use(StrEnum):
    """What a model is used for."""

    CLAIMS = "claims"
    SELECTION = "selection"
    VERDICT = "verdict"


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """How one model is asked; the fields that `ModelFields` has are described there.

    Attributes:
        base_url: The endpoint; None: the engine's default.
        api_key: The key; never shown, logged or stored.
        api_version: Version of the endpoint's interface (Azure).
    """

    model: str
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    api_version: str | None = None
    temperature: float | None = 0.0
    context_tokens: int | None = None
    max_output_tokens: int | None = None
    concurrency: int = CALLS
    rpm: int | None = None
    tpm: int | None = None
    price: tuple[float, ...] | None = None
    structured: bool = False


def model_settings(
    settings: Settings,
    use: Use,
    engine: str,
    *,
    model: str | None = None,
    concurrency: int | None = None,
    price: str | None = None,
    structured: bool = False,
) -> ModelSettings:
    """Settings of the model of a step; options come first.

    Args:
        settings: The settings.
        use: The step.
        engine: The engine; `azure` has settings of its own for address and key.
        model: The model, where an option names it.
        concurrency: Simultaneous calls, where an option sets them.
        price: The price, where an option sets it.
        structured: Whether an option turns structured answers on.

    Raises:
        InputError: An address or a key cannot be one, or no model is named.
    """
    own: StepFields = getattr(settings, use.value)
    found = {
        name: getattr(own if name in own.model_fields_set else settings, name)
        for name in ModelFields.model_fields
    }
    if model is not None and not model.strip():
        raise InputError("the name of a model is empty")
    options = {
        "model": model,
        "concurrency": concurrency,
        "price": parse_price(price) if price else None,
        "structured": structured or None,
    }
    found.update({name: value for name, value in options.items() if value is not None})
    if found["model"] is None:
        raise InputError(f"Engine {engine} needs a model.", code="model_needed", engine=engine)
    address, key = endpoint_address(settings, own, use, engine)
    version = settings.openai_api_version
    return ModelSettings(base_url=address, api_key=key, api_version=version, **found)


def endpoint_address(
    settings: Settings, own: StepFields | EmbeddingFields, use: str, engine: str = "openai"
) -> tuple[str | None, str | None]:
    """Base URL and key of a model; None: the engine's default, and no key.

    Args:
        settings: The settings of all models.
        own: Those of this one.
        use: What it is used for, as in the names of its settings.
        engine: The engine; `azure` has settings of its own.

    Raises:
        InputError: One of them cannot be one.
    """
    prefix = f"{_PREFIX}{use.upper()}_"
    own_key = checked_key(own.api_key, f"{prefix}API_KEY")
    if own.base_url is not None:  # another server: it is not sent the first one's key
        return checked_url(own.base_url, f"{prefix}BASE_URL"), own_key
    names = ("AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_API_KEY")
    url, key = names if engine == "azure" else ("OPENAI_BASE_URL", "OPENAI_API_KEY")
    address = getattr(settings, url.lower())
    usual = checked_key(getattr(settings, key.lower()), key)
    return (checked_url(address, url) if address else None), own_key or usual


def checked_key(key: str | None, name: str) -> str | None:
    """A key that a header can hold; the HTTP client would repeat any other in its messages.

    Raises:
        InputError: It cannot be one; the message does not repeat it.
    """
    if key is not None and not (key.isascii() and key.isprintable() and " " not in key):
        raise InputError(
            f"{name} is no key: it holds a blank, a line break or a character that no key has; "
            "copy it again"
        )
    return key


def checked_url(url: str, name: str) -> str:
    """A base URL that can be one, and that holds no key.

    Raises:
        InputError: It is none; the message does not repeat what may be a password.
    """
    form = "write it as https://host/v1 or http://127.0.0.1:8000/v1"
    try:
        if not (url.isascii() and url.isprintable() and " " not in url):
            raise ValueError
        parts = urlsplit(url)
        is_whole = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        raise InputError(f"{name} is no address; {form}") from None
    if parts.username is not None or parts.password is not None:
        raise InputError(f"{name} holds a user name or password; {form}, and set the key apart")
    if not is_whole:
        raise InputError(f"{name} is no address; {form}")
    if parts.query or parts.fragment:
        raise InputError(f"{name} holds a query or a fragment (`?` or `#`); {form}")
    if parts.path.rstrip("/").endswith("/chat/completions"):
        raise InputError(
            f"{name} ends with /chat/completions, which is added automatically; {form}"
        )
    return url
