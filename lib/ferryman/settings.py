"""Settings: the only reader of the environment."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from decimal import Decimal
from pathlib import Path
from typing import Any

from ferryman.domain.files.access import S3Access
from ferryman.domain.http.request import REQUEST_SECONDS
from ferryman.domain.ids import ID_ABOUT, is_id
from ferryman.domain.oauth_urls import (
    ISSUER_ABOUT,
    PUBLIC_URL_ABOUT,
    RESOURCE_ABOUT,
    find_oauth_problem,
    locate_client_document,
    parse_issuer,
    parse_public_url,
    parse_resource,
)
from ferryman.domain.operator_model import OperatorModel, parse_operator_models
from ferryman.domain.platform_variables import read_platform
from ferryman.domain.problem import InvalidInputError

GOOGLE_CERTS_URL = "https://www.googleapis.com/oauth2/v1/certs"
RETENTION_DAYS = 90
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")

WARM_PATH = "/warm"
"""Where a function of a local stack is asked to connect before its first request."""

WORKER_PATH = "/warm/worker"
"""Where one that reads strangers' texts is asked, later, to start what reads the long ones."""

WORKSPACE_VARIABLES = ("FERRYMAN_WORKSPACE_ID", "CRAWBL_WORKSPACE_ID")
"""The workspace that commands and the Python client act in (S4-134); the first that is set and not empty counts."""

SEARXNG_VARIABLES = ("FERRYMAN_SEARXNG_ENDPOINT", "CRAWBL_SEARXNG_ENDPOINT")
"""Where SearXNG is (S4-135); the first that is set and not empty counts, and without either the default (S4-119)."""

SEARXNG_ENDPOINT = "http://searxng.backend.svc.cluster.local:8080"
_ENDPOINT = re.compile(r"https?://([a-z0-9.-]{1,253}|\[[0-9a-f:.]{2,45}\])(:\d{1,5})?(/[A-Za-z0-9._~-]{1,255}){0,8}", re.ASCII)

S3_PREFIXES = ("FERRYMAN_S3_", "CRAWBL_SPACES_")
"""How the variables of a bucket of S3 begin; of each the first that is set and not empty counts."""

S3_PARTS: Mapping[str, tuple[str, str]] = {
    "endpoint": (r"https?://[a-z0-9.-]{1,253}(:\d{1,5})?", "a URL of a host alone, as https://fra1.example.com"),
    "region": ("[a-z0-9-]{1,64}", "a region, as fra1"),
    "bucket": ("[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]", "the name of a bucket"),
    "access_key": ("[!-~]{1,256}", "an access key of visible ASCII characters"),
    "secret_key": ("[!-~]{1,256}", "a secret key of visible ASCII characters"),
}
"""How they end, and what each must be."""

TRACING_VARIABLES = ("GOOGLE_SDK_PYTHON_LOGGING_SCOPE", "ANTHROPIC_LOG", "GRPC_TRACE", "SSLKEYLOGFILE")
"""Variables that make a library write requests, responses or session keys outside of our log."""


class MisconfiguredError(RuntimeError):
    """The environment does not describe a deployment that may start; the message names the variable."""


PAGE_BYTES_MAX = 10_485_760
"""Bytes of a page that may be read: what a reader of pages takes in its time and memory (`ferryman.pages`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The environment, parsed. Names that end in `_s` are seconds; URLs have no trailing slash.

    The comments are what docs/settings.md says of each variable.
    """

    project: str = "local"  # the Google Cloud project
    function: str = ""  # the name of this function; the entry point's platform sets it
    deployed: bool = False
    firestore_host: str | None = None  # the local Firestore; with it everything counts as local
    secret_manager_host: str | None = None  # the local Secret Manager
    cloud_tasks_host: str | None = None  # the local Cloud Tasks
    storage_host: str | None = None  # the local Cloud Storage, as a URL
    local_token: str | None = field(default=None, repr=False)  # the file with the token of the local cloud's ports
    metadata_host: str = "metadata.google.internal"  # the metadata server that issues identity tokens
    certs_url: str = GOOGLE_CERTS_URL  # where the keys of identity tokens are fetched; refused where deployed
    simulated_internet: Path | None = None  # the folder of the local stack's simulated internet; refused where deployed
    location: str = "us-central1"  # the region of queues and functions
    queue: str = "executions"  # the queue of executions
    schedules_queue: str = "schedules"  # the queue of schedules
    queue_caller: str = ""  # the account that Cloud Tasks calls the orchestrator as
    function_urls: Mapping[str, str] = field(default_factory=dict)  # URLs of the other functions, by name, as JSON
    callers: tuple[str, ...] = ()  # accounts that may call this function, as JSON
    resealers: tuple[str, ...] = ()  # accounts that may have it seal credentials again
    connectors: tuple[str, ...] = ()  # accounts that may have it redeem a person's consent
    streamers: tuple[str, ...] = ()  # accounts that may have it deliver an execution, and are sent what the model writes
    warmers: tuple[str, ...] = ()  # accounts that may have it connect before its first request; the local stack's own
    sealing_key_secret: str = "ferryman-sealing-key"  # noqa: S105 - the secret that holds the sealing key
    sealing_public_key: str = field(default="", repr=False)  # what new credentials are sealed to
    receipt_key_secret: str = "ferryman-receipt-key"  # noqa: S105 - the secret that holds the key of receipts
    receipt_public_keys: Mapping[str, str] = field(default_factory=dict)  # public halves of that key, by version, as JSON
    api_key_secret: str = "ferryman-api-key"  # noqa: S105 - the secret that the key for decisions of people is derived from
    decision_public_keys: Mapping[str, str] = field(default_factory=dict)  # public halves of that key, by version, as JSON
    platform_key_secret: str = "ferryman-platform-key"  # noqa: S105 - the secret whose key signs requests to the platform
    platform_endpoint: str = ""  # where the platform's tools are served, where that is not the function platform
    platform_signing_key: str = field(default="", repr=False)  # the key that signs requests to that endpoint
    platform_user_id: str = ""  # the one user that calls of the platform's tools are made for, where there is one alone
    platform_workspace_id: str = ""  # the one workspace that calls of the platform's tools are made in likewise
    objects_bucket: str = ""  # the bucket of Google Cloud Storage that files are kept in
    files_set: bool = False  # whether there is a bucket for files, which the function files alone is given
    s3_endpoint: str = ""  # the service that speaks S3 and has the files, as https://HOST; it requires the other four of S3
    s3_region: str = ""  # the region of the S3 bucket
    s3_bucket: str = ""  # the S3 bucket that has the files
    s3_access_key: str = field(default="", repr=False)  # the id of the access key to the S3 bucket
    s3_secret_key: str = field(default="", repr=False)  # the secret of the access key to the S3 bucket
    direct_links: bool = False  # whether direct links to files are given: anybody who has one can download the file
    searxng_endpoint: str = field(default=SEARXNG_ENDPOINT, repr=False)  # where SearXNG, which searches the web, is asked
    oauth_issuer: str = ""  # the issuer of access tokens for /mcp: an authorization server of your own
    oauth_resource: str = ""  # the URL of /mcp as its clients reach it, which access tokens must be for (RFC 8707)
    public_url: str = ""  # the https URL of the API as others reach it; without it, that of FERRYMAN_OAUTH_RESOURCE
    anthropic_api_key: str | None = field(default=None, repr=False)  # the Messages API's key; without it, Vertex AI is used
    anthropic_base_url: str | None = None  # another address of the Messages API
    scripted_model_url: str | None = None  # where models named scripted/NAME are served, on the local stack
    vertex_region: str = "global"  # the region of models on Vertex AI
    plans: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # plans beside the built-in ones, as JSON
    prices: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # models and their prices, as JSON
    models: Mapping[str, OperatorModel] = field(default_factory=dict)  # models of your own, with URLs and prices, as JSON
    model_keys: Mapping[str, str] = field(default_factory=dict, repr=False)  # a key that one of your models names
    model_keys_set: tuple[str, ...] = ()  # the names of those keys that are set, as JSON; the keys are the orchestrator's alone
    model_key_set: bool = True  # whether the models with list prices can be used; 0 on a local stack without a key
    integrations: tuple[Mapping[str, Any], ...] = ()  # services beside the built-in ones, as JSON
    robots: bool = True  # whether pages are fetched only where the robots.txt of their site allows it
    page_bytes_max: int = PAGE_BYTES_MAX  # how many bytes of a page may be read, whatever a call asks for
    lease_s: float = 120.0  # how long an instance has an execution to itself before another may take over
    request_s: float = REQUEST_SECONDS  # how long one call may take
    slice_s: float = 1_740.0  # how long a function works on an execution before the next one goes on
    execution_s: float = 21_600.0  # how long an execution may take in all
    poll_s: float = 0.5  # how often a running execution looks for a cancel or a halt
    retry_after_s: float = 5.0  # when the queue tries a delivery again that could not be worked on
    keys_ttl_s: float = 300.0  # how long keys, and the credentials that they opened, are kept in memory
    retention_days: int = RETENTION_DAYS  # how many days an execution is kept after its end, with all below it; 0 for ever
    otlp_endpoint: str | None = None  # where traces are sent
    trace_content: bool = False  # whether traces hold what the model is asked and says
    log_level: str = "INFO"  # DEBUG, INFO, WARNING or ERROR

    @property
    def client_document_url(self) -> str:
        """Where authorization servers read our client ID metadata document, "" where they cannot."""
        return locate_client_document(self.public_url, self.oauth_resource)

    @property
    def local(self) -> bool:
        """Whether the cloud this runs on is the local one."""
        return self.firestore_host is not None

    @property
    def s3(self) -> S3Access | None:
        """The bucket of a service that speaks S3, where one is named."""
        if not self.s3_endpoint:
            return None
        return S3Access(
            endpoint=self.s3_endpoint,
            region=self.s3_region,
            bucket=self.s3_bucket,
            access_key=self.s3_access_key,
            secret_key=self.s3_secret_key,
        )

    @property
    def has_files(self) -> bool:
        """Whether there is a bucket to keep files in: without one, no tool of files is offered."""
        return bool(self.files_set or self.objects_bucket or self.s3_endpoint)

    @property
    def firestore_token(self) -> str | None:
        """The token for our own Firestore; Google's emulator, at an address of its own, does not get the others' token."""
        return self.local_token if self.firestore_host == self.secret_manager_host else None


OTHER_NAMES = {
    "deployed": "K_SERVICE",
    "project": "GOOGLE_CLOUD_PROJECT",
    "firestore_host": "FIRESTORE_EMULATOR_HOST",
    "secret_manager_host": "SECRET_MANAGER_EMULATOR_HOST",
    "cloud_tasks_host": "CLOUD_TASKS_EMULATOR_HOST",
    "storage_host": "STORAGE_EMULATOR_HOST",
    "local_token": "LOCAL_CLOUD_TOKEN_FILE",
    "metadata_host": "GCE_METADATA_HOST",
    "simulated_internet": "FERRYMAN_PRETEND_INTERNET",
    "anthropic_api_key": "ANTHROPIC_API_KEY",
    "anthropic_base_url": "ANTHROPIC_BASE_URL",
    "model_keys": "MODEL_KEY_NAME",
    "otlp_endpoint": "OTEL_EXPORTER_OTLP_ENDPOINT",
}
"""The variables whose names are not FERRYMAN_ and the field's name."""


def get_variable(name: str) -> str:
    """Return the variable that the field `name` is read from."""
    return OTHER_NAMES.get(name) or f"FERRYMAN_{name.upper()}"


def read(environment: Mapping[str, str] = os.environ) -> Settings:
    """Return the settings in `environment`. Raise `MisconfiguredError`.

    The local stack's switches (the simulated internet, other certificates) are refused in a deployed function.
    """
    values: dict[str, Any] = {"local_token": _read_token(environment), "model_keys": {}, **_read_s3(environment)}
    values |= _read_searxng(environment)
    try:
        values |= read_platform(environment)
    except ValueError as error:
        raise MisconfiguredError(str(error)) from None
    for item in fields(Settings):
        variable = get_variable(item.name)
        if item.name in values or variable not in environment:
            continue
        parse, expected = _PARSERS.get(item.name) or _PARSERS[re.split(r"\W", str(item.type))[0]]
        try:
            value = parse(environment[variable])
        except InvalidInputError as error:
            raise MisconfiguredError(f"{variable}: {error}") from None
        except ValueError:
            raise MisconfiguredError(f"{variable} {expected}") from None
        if value is not None:
            values[item.name] = value
    values["model_keys"] = _read_model_keys(environment, values.get("models", {}))
    settings = Settings(**values)
    _refuse_local_switches(settings)
    if problem := find_oauth_problem(settings.oauth_issuer, settings.oauth_resource, local=settings.local):
        raise MisconfiguredError(problem)
    if settings.objects_bucket and settings.s3_endpoint:
        raise MisconfiguredError("FERRYMAN_OBJECTS_BUCKET is set and so is a bucket of S3: files are kept in one of them")
    for name in TRACING_VARIABLES:
        if environment.get(name):
            raise MisconfiguredError(f"{name} makes a library write requests and responses, keys included; unset it")
    return settings


def check_services(environment: Mapping[str, str]) -> None:
    """Raise `MisconfiguredError` unless the bucket of S3 and SearXNG are described as their functions need it."""
    _read_s3(environment)
    _read_searxng(environment)


def read_workspace(environment: Mapping[str, str] = os.environ) -> str | None:
    """Return the id of the workspace that a caller of the API acts in, None where `environment` names none (S4-134).

    Raise `MisconfiguredError`, also for a variable that would not count, as it would on another day.
    """
    named = {name: environment[name] for name in WORKSPACE_VARIABLES if environment.get(name)}
    for name, text in named.items():
        if not is_id(text):
            raise MisconfiguredError(f"{name} must be the id of a workspace: {ID_ABOUT}")
    return next(iter(named.values()), None)


def _refuse_local_switches(settings: Settings) -> None:
    switches = {
        "FERRYMAN_PRETEND_INTERNET": settings.simulated_internet is not None,
        "FERRYMAN_CERTS_URL": settings.certs_url != GOOGLE_CERTS_URL,
        "FERRYMAN_SCRIPTED_MODEL_URL": settings.scripted_model_url is not None,
    }
    for name, is_set in switches.items():
        if is_set and (settings.deployed or not settings.local):
            raise MisconfiguredError(f"{name} is for the local stack only; a deployed function does not start with it")
    if settings.deployed and settings.local_token is not None:
        raise MisconfiguredError("a local cloud's token is set; a deployed function does not start with one")
    plain = [model.name for model in settings.models.values() if not model.url.startswith("https://")]
    if settings.deployed and plain:
        raise MisconfiguredError(f"FERRYMAN_MODELS: {plain[0]}.url must be https where deployed: prompts go there")
    hosts = (settings.firestore_host, settings.secret_manager_host, settings.cloud_tasks_host, settings.storage_host)
    if settings.deployed and settings.s3_endpoint.startswith("http://"):
        raise MisconfiguredError("FERRYMAN_S3_ENDPOINT must be https where deployed: files go there")
    if settings.deployed and settings.platform_endpoint.startswith("http://"):
        raise MisconfiguredError("FERRYMAN_PLATFORM_ENDPOINT must be https where deployed: what agents know goes there")
    if settings.deployed and any(hosts):
        raise MisconfiguredError("an emulator host is set; a deployed function does not start with one")


def _read_token(environment: Mapping[str, str]) -> str | None:
    file = environment.get("LOCAL_CLOUD_TOKEN_FILE")
    try:
        return Path(file).read_text().strip() if file else environment.get("LOCAL_CLOUD_TOKEN")
    except (OSError, ValueError):
        raise MisconfiguredError(
            f"LOCAL_CLOUD_TOKEN_FILE is {file}, which cannot be read: that local cloud has ended"
        ) from None


def _read_model_keys(environment: Mapping[str, str], models: Mapping[str, OperatorModel]) -> Mapping[str, str]:
    names = {model.key for model in models.values() if model.key is not None and environment.get(model.key)}
    keys = {name: environment[name].strip() for name in names}
    for name, key in keys.items():
        if re.fullmatch("[!-~]{1,4096}", key) is None:
            raise MisconfiguredError(f"{name} must be a key of at most 4,096 visible ASCII characters")
    return keys


def _read_s3(environment: Mapping[str, str]) -> Mapping[str, str]:
    """Return the fields of the bucket of S3: all of them, or none. Raise `MisconfiguredError`, which names those missing."""
    values = {}
    for part in S3_PARTS:
        named = (environment.get(f"{prefix}{part.upper()}", "").strip() for prefix in S3_PREFIXES)
        values[f"s3_{part}"] = next(filter(None, named), "")
    if not any(values.values()):
        return values
    ours, others = S3_PREFIXES
    if missing := [f"{ours}{part.upper()}" for part in S3_PARTS if not values[f"s3_{part}"]]:
        raise MisconfiguredError(
            f"{', '.join(missing)} must be set, or {others}… of the same end: of a bucket of S3, all five are needed or none"
        )
    values["s3_endpoint"] = values["s3_endpoint"].rstrip("/")
    for part, (form, expected) in S3_PARTS.items():
        if re.fullmatch(form, values[f"s3_{part}"], re.ASCII) is None:
            raise MisconfiguredError(f"{ours}{part.upper()} must be {expected}")
    return values


def _read_searxng(environment: Mapping[str, str]) -> Mapping[str, str]:
    """Return the endpoint of SearXNG where one is named. Raise `MisconfiguredError` without repeating it."""
    for name in SEARXNG_VARIABLES:
        if endpoint := environment.get(name, "").strip().rstrip("/"):
            if _ENDPOINT.fullmatch(endpoint) is None:
                raise MisconfiguredError(f"{name} must be a URL of a host, as http://searxng.example.com:8080, without a query")
            return {"searxng_endpoint": endpoint}
    return {"searxng_endpoint": SEARXNG_ENDPOINT}


def _parse_json(text: str, kind: type) -> Any:
    value = json.loads(text, parse_float=Decimal) if text else kind()
    if type(value) is not kind:
        raise ValueError
    return value


def _parse_seconds(text: str) -> float | None:
    value = float(text) if text else None
    if value is not None and not 0 < value < float("inf"):
        raise ValueError
    return value


def _parse_page_bytes(text: str) -> int | None:
    if re.fullmatch("[0-9]{0,8}", text, re.ASCII) is None or not 0 < int(text or 1) <= PAGE_BYTES_MAX:
        raise ValueError
    return int(text) if text else None


def _parse_days(text: str) -> int:
    if re.fullmatch("[0-9]{0,5}", text, re.ASCII) is None:
        raise ValueError
    return int(text or 0)


_PARSERS: Mapping[str, tuple[Callable[[str], Any], str]] = {
    "str": (str, ""),
    "float": (_parse_seconds, "must be a positive number of seconds"),
    "int": (_parse_days, "must be a whole number of days below 100000; 0, or nothing, keeps everything"),
    "bool": (lambda text: text == "1", ""),
    "Path": (lambda text: Path(text) if text else None, ""),
    "Mapping": (lambda text: _parse_json(text, dict), "must be a JSON object"),
    "tuple": (lambda text: tuple(_parse_json(text, list)), "must be a JSON array"),
    "models": (lambda text: parse_operator_models(_parse_json(text, dict)), "must be a JSON object"),
    "oauth_issuer": (parse_issuer, ISSUER_ABOUT),
    "oauth_resource": (parse_resource, RESOURCE_ABOUT),
    "public_url": (parse_public_url, PUBLIC_URL_ABOUT),
    "page_bytes_max": (_parse_page_bytes, f"must be a whole number of bytes from 1 to {PAGE_BYTES_MAX:,}"),
    "deployed": (lambda _: True, ""),  # the platform sets it, to the function's name
    "otlp_endpoint": (lambda text: text.rstrip("/") or None, ""),
    "log_level": (lambda text: LEVELS[LEVELS.index(text or "INFO")], f"must be one of {', '.join(LEVELS)}"),
}
"""How a variable's text is read, by the field's name or its type (None: as if it were not set), and what it must be."""
