"""Settings: from options, the environment, then `.env` and `veritrail.toml` of the working folder.

A setting of the models holds for all steps. A step's own has its name in front:
`VERITRAIL_VERDICT_MODEL` beside `VERITRAIL_MODEL`. A step with an endpoint of its own takes no key
that was set for another.

`pydantic_settings` takes a while to import: import this module in the functions that read settings.
"""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, cast
from urllib.parse import urlsplit

import platformdirs
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationError,
    model_validator,
)
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from veritrail_graph.api.settings import values as read
from veritrail_graph.api.settings.file import ProjectFile, is_of_user
from veritrail_graph.api.settings.secret_files import SecretFiles
from veritrail_graph.api.settings.sources import Origins, Setting, Source, check_told
from veritrail_graph.graph.errors import InputError

CALLS = 16
"""Simultaneous calls to an endpoint, where nothing is set."""

_PREFIX = "VERITRAIL_"
_ORIGINS: ContextVar[Origins] = ContextVar("origins")  # of the settings that are being read


class Login(BaseModel):
    """User, password and database of a graph besides the usual one."""

    model_config = ConfigDict(frozen=True)

    username: read.Text = None
    password: read.Secret = None
    database: read.Text = None


class ModelFields(BaseModel):
    """Settings of models: for all models, or for the model of one step.

    Attributes:
        model: Name of the model.
        temperature: Of a single answer; None: the endpoint's own.
        reasoning_effort: How much it may reason; None: as goes with the temperature.
        context_tokens: The context window; None: the model table, else 128,000.
        max_output_tokens: The longest answer; None: a share of the window.
        concurrency: The most simultaneous calls.
        rpm: The most calls a minute.
        tpm: The most tokens a minute.
        price: USD per million tokens: input, output and, optionally, cached input.
        structured: Whether requests carry the JSON schema of the answer.
    """

    model_config = ConfigDict(frozen=True)

    model: read.Text = None
    temperature: Annotated[float | None, read.parsed(read.temperature)] = 0.0
    reasoning_effort: Annotated[str | None, read.parsed(read.effort)] = None
    context_tokens: read.Whole | None = None
    max_output_tokens: read.Whole | None = None
    concurrency: read.Whole = CALLS
    rpm: read.Whole | None = None
    tpm: read.Whole | None = None
    price: Annotated[tuple[float, ...] | None, NoDecode, read.parsed(read.parse_price)] = None
    structured: Annotated[bool, read.parsed(read.flag)] = False


class StepFields(ModelFields):
    """Settings of the model of one step, with its endpoint and key."""

    base_url: read.Address = None
    api_key: read.Secret = None


class VerdictFields(StepFields):
    """Settings of the step that gives verdicts; `engine`: of another engine."""

    engine: read.Text = None


class EntailmentFields(BaseModel):
    """Settings of the entailment model of the engine `nli`.

    `ModelChoice` and `EntailmentParts` of the verifier describe the fields.
    """

    model_config = ConfigDict(frozen=True)

    model: read.Text = None
    adapter: Annotated[str, read.parsed(str.lower)] = "pairs"
    threshold: Annotated[float, read.probability] = 0.5
    evidence_threshold: Annotated[float, read.probability] = 0.5
    evidence_sentences: read.Whole = 5
    joint: Annotated[bool, read.parsed(read.flag)] = True
    window: read.Whole | None = None
    labels: read.Text = None
    template: read.Text = None
    weights: Annotated[Path | None, read.parsed(read.folder)] = None
    api_key: read.Secret = None


class DecisionFields(BaseModel):
    """Settings of the decision model of the engine `decisions`.

    Attributes:
        url: Its endpoint, whole or up to `/v1`; None: that of the language models.
        model: Its name.
        dialect: `openai` or `systemone`; None: guessed from the address.
        threshold: From which probability on a sentence is evidence.
        api_key: Its key; None: that of OpenAI, for OpenAI alone.
        price: USD per million tokens.
        context_tokens: The context window; None: the model table, else 128,000.
    """

    model_config = ConfigDict(frozen=True)

    url: read.Address = None
    model: read.Text = None
    dialect: Annotated[read.Text, read.parsed(str.lower)] = None
    threshold: Annotated[float, read.probability] = 0.5
    api_key: read.Secret = None
    price: Annotated[float | None, read.parsed(read.input_price)] = None
    context_tokens: read.Whole | None = None


class EmbeddingFields(BaseModel):
    """Settings of the embedding model of retrieval.

    Attributes:
        model: A folder, a fetched model, or the name of a model at an endpoint.
        base_url: The endpoint; None: that of the language models.
        api_key: Its key; None: that of the language models, where `base_url` is not set.
        price: USD per million tokens.
        concurrency: The most simultaneous calls.
        rpm: The most calls a minute.
        tpm: The most tokens a minute.
        batch: The most texts of a call.
    """

    model_config = ConfigDict(frozen=True)

    model: read.Text = None
    base_url: read.Address = None
    api_key: read.Secret = None
    price: Annotated[float | None, read.parsed(read.input_price)] = None
    concurrency: read.Whole | None = None
    rpm: read.Whole | None = None
    tpm: read.Whole | None = None
    batch: read.Whole | None = None


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
        recorded: Answers that the engine `recorded` gives; None: those of the samples.
        record: A file that takes every valid answer of a model.
        language: Language whose rules split texts into sentences.
        max_node_text: The longest text of a node, in bytes of UTF-8.
        walk: How frontiers of a walk are read, as `Walk` has it.
        db_idle: Time without a client after which the embedded engine stops.
        db_heap: Heap of the embedded engine, such as `1g`.
        claims: Settings of the model that extracts claims.
        selection: Settings of the model that selects evidence.
        verdict: Settings of the model, or of the engine, that gives verdicts.
        escalation: Settings of the model that gives the verdicts of which the first is not sure.
        nli: Settings of the entailment model of the engine `nli`.
        decisions: Settings of the decision model of the engine `decisions`.
        embedding: Settings of the embedding model of retrieval.
        prices: A price table of the user.
        call_deadline: Seconds for one call with all its attempts.
        attempt_timeout: Seconds for one attempt.
        claim_deadline: Seconds after which a claim is given up.
        answer_retries: How often a malformed answer is asked for again.
        warm_prefixes: Whether calls that share a prefix wait for the first of them.
        batch_poll: Seconds between two looks at a batch, at most.
        batch_lines: Lines of a file of a batch, at most.
        batch_bytes: Bytes of a file of a batch, at most.
        batch_keep_files: Whether files of batches stay at the endpoint after they were read.
        jobs_url: The database of the service; None: a file in the home folder.
        jobs_keep: Seconds that a job is kept after its end.
        jobs_patience: Seconds that a claim waits for a graph engine that does not answer.
        webhook_url: Where messages about ended jobs and failed gates go.
        webhook_secret: What they are signed with.
        webhook_private: Whether they may go to addresses of private networks.
        api_key: The key of the service.
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

    neo4j_uri: Annotated[read.Address, read.parsed(read.bolt)] = Field(
        None, validation_alias="NEO4J_URI"
    )
    neo4j_username: read.Text = Field(None, validation_alias="NEO4J_USERNAME")
    neo4j_password: read.Secret = Field(None, validation_alias="NEO4J_PASSWORD")
    neo4j_database: read.Text = Field(None, validation_alias="NEO4J_DATABASE")
    openai_base_url: read.Address = Field(None, validation_alias="OPENAI_BASE_URL")
    openai_api_key: read.Secret = Field(None, validation_alias="OPENAI_API_KEY")
    openai_api_version: read.Text = Field(None, validation_alias="OPENAI_API_VERSION")
    azure_openai_endpoint: read.Address = Field(None, validation_alias="AZURE_OPENAI_ENDPOINT")
    azure_openai_api_key: read.Secret = Field(None, validation_alias="AZURE_OPENAI_API_KEY")
    home: Annotated[Path, read.parsed(read.folder), read.Role.WRITTEN] = Field(
        default_factory=lambda: platformdirs.user_data_path("veritrail")
    )
    query_seconds: Annotated[float, read.seconds(0.1)] = 60.0
    connect_seconds: Annotated[float, read.seconds(0.0)] = 5.0
    neo4j_browser: Annotated[read.Text, read.parsed(read.browser)] = None
    engine: read.Text = None
    recorded: Annotated[Path | None, read.parsed(read.folder)] = None
    record: read.Written = None
    language: Annotated[str, read.parsed(str.lower)] = "english"
    max_node_text: read.Size = 10_000_000
    walk: Annotated[read.Walk, read.parsed(read.walk)] = read.Walk.SHARED
    db_idle: str = "10m"
    db_heap: Annotated[str, read.parsed(str.lower)] = "1g"
    claims: StepFields = StepFields()
    selection: StepFields = StepFields()
    verdict: VerdictFields = VerdictFields()
    escalation: StepFields = StepFields()
    nli: EntailmentFields = EntailmentFields()
    decisions: DecisionFields = DecisionFields()
    embedding: EmbeddingFields = EmbeddingFields()
    prices: Annotated[Path | None, read.parsed(read.folder)] = None
    call_deadline: read.Positive | None = None
    attempt_timeout: read.Positive | None = None
    claim_deadline: read.Positive = 14_400.0
    answer_retries: Annotated[int, read.parsed(lambda text: int(read.number(text)))] = 5
    warm_prefixes: Annotated[str, read.parsed(str.lower)] = "auto"
    batch_poll: read.Positive = 30.0
    batch_lines: read.Whole = 50_000
    batch_bytes: read.Size = 100_000_000
    batch_keep_files: Annotated[bool, read.parsed(read.flag)] = False
    jobs_url: Annotated[read.Secret, read.Role.ADDRESS] = None
    jobs_keep: read.Duration = 30 * read.DAY
    jobs_patience: read.Duration = 3_600.0
    webhook_url: Annotated[read.Secret, read.Role.ADDRESS] = None
    webhook_secret: read.Secret = None
    webhook_private: Annotated[bool, read.parsed(read.flag), read.Role.OPENS] = False
    api_key: read.Secret = None
    rate: Annotated[int | None, read.parsed(read.rate)] = None
    cors_origins: Annotated[
        frozenset[str], NoDecode, read.parsed(read.origins), read.Role.OPENS
    ] = frozenset()
    body_seconds: Annotated[
        float, read.float_within(5e-324, 3_600.0, "must be a number of seconds above 0")
    ] = 20.0
    events_heartbeat: Annotated[
        float, read.float_within(0.1, 3_600.0, "must be a number of seconds, 0.1 to 3600")
    ] = 15.0
    proxies: Annotated[str, read.Role.OPENS] = "127.0.0.1"
    upload_max: read.Size = 2_000_000_000
    otlp_quiet: read.Duration = 30.0
    otlp_keep: read.Duration = 3_600.0
    otlp_traces: read.Whole = 10_000
    otlp_bytes: read.Size = 1_000_000_000
    reviewer: read.Text = None
    copy_from: Login = Field(Login(), validation_alias=f"{_PREFIX}FROM")
    copy_to: Login = Field(Login(), validation_alias=f"{_PREFIX}TO")
    import_from: Login = Field(Login(), validation_alias=f"{_PREFIX}IMPORT")
    _origins: Origins = PrivateAttr(default_factory=Origins)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Values of a call come first, then the environment, `.env`, `veritrail.toml`."""
        # To look for each setting in a file that is not there takes as long as in the environment.
        sources = [
            (Source.CALL, init_settings),
            (Source.ENVIRONMENT, env_settings),
            (Source.ENVIRONMENT, SecretFiles(settings_cls)),
            *([(Source.DOTENV, dotenv_settings)] if _has_dotenv() else []),
            (Source.PROJECT, ProjectFile(settings_cls)),
        ]
        origins = _ORIGINS.get()
        noted = (origins.noting(source, read) for source, read in sources)
        return cast(tuple[PydanticBaseSettingsSource, ...], tuple(noted))

    def __init__(self, **values: Any) -> None:
        """Read the environment, then `.env` of the working folder and `veritrail.toml`.

        Args:
            **values: Values that come before all of them, by their name here or in the environment.

        Raises:
            InputError: A setting has a value that it cannot have; the message names it.
        """
        origins = Origins()
        token = _ORIGINS.set(origins)
        try:
            super().__init__(**values)
            self._origins = origins
        except ValidationError as error:
            raise InputError(_message(error)) from None
        except SettingsError as error:
            raise InputError(str(error)) from None
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{Path('.env').resolve()} cannot be read: {error}") from None
        finally:
            _ORIGINS.reset(token)

    @property
    def origins(self) -> Origins:
        """Return where each setting came from."""
        return self._origins

    def check_told(self, address: Setting, secret: Setting) -> None:
        """See that a secret may be sent to an address; both are set.

        Raises:
            InputError: The address comes from a less trusted source than the secret.
        """
        check_told(self._origins, address, secret)

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


def _has_dotenv() -> bool:
    path = Path(".env")
    return path.exists() and is_of_user(path)


class Use(StrEnum):
    """A step that a model is used for."""

    CLAIMS = "claims"
    SELECTION = "selection"
    VERDICT = "verdict"
    ESCALATION = "escalation"


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """Settings of one model; the fields that `ModelFields` has are described there.

    Attributes:
        base_url: The endpoint; None: the engine's default.
        api_key: The key; never shown, logged or stored.
        api_version: Version of the endpoint's interface (Azure).
        decides: Whether it is a decision model, at the address that is posted to.
    """

    model: str
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    api_version: str | None = None
    temperature: float | None = 0.0
    reasoning_effort: str | None = None
    context_tokens: int | None = None
    max_output_tokens: int | None = None
    concurrency: int = CALLS
    rpm: int | None = None
    tpm: int | None = None
    price: tuple[float, ...] | None = None
    structured: bool = False
    decides: bool = False


def model_settings(
    settings: Settings,
    use: Use,
    engine: str,
    *,
    model: str | None = None,
    concurrency: int | None = None,
    price: str | None = None,
    structured: bool = False,
    effort: str | None = None,
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
        effort: The effort of reasoning, where an option sets it.

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
        "price": read.parse_price(price) if price else None,
        "structured": structured or None,
        "reasoning_effort": effort,
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
        InputError: One of them cannot be one, or the address may not be told the key.
    """
    prefix = f"{_PREFIX}{use.upper()}_"
    own_secret = Setting.of(f"{prefix}API_KEY", use, "api_key")
    own_key = checked_key(own.api_key, own_secret.name)
    if own.base_url is not None:  # another server: it is not sent the first one's key
        place = Setting.of(f"{prefix}BASE_URL", use, "base_url")
        if own_key is not None:
            settings.check_told(place, own_secret)
        return checked_url(own.base_url, place.name), own_key
    names = ("AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_API_KEY")
    url, key = names if engine == "azure" else ("OPENAI_BASE_URL", "OPENAI_API_KEY")
    address = getattr(settings, url.lower())
    usual = checked_key(getattr(settings, key.lower()), key)
    if not address:
        return None, own_key or usual
    if own_key or usual:
        settings.check_told(Setting.of(url), own_secret if own_key else Setting.of(key))
    return checked_url(address, url), own_key or usual


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
