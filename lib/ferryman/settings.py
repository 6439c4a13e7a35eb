"""Settings: the only reader of the environment."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from ferryman.domain.http.request import REQUEST_SECONDS

GOOGLE_CERTS_URL = "https://www.googleapis.com/oauth2/v1/certs"
RETENTION_DAYS = 90
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")

TRACING_VARIABLES = ("GOOGLE_SDK_PYTHON_LOGGING_SCOPE", "ANTHROPIC_LOG", "GRPC_TRACE", "SSLKEYLOGFILE")
"""Variables that make a library write requests, responses or session keys outside of our log."""


class MisconfiguredError(RuntimeError):
    """The environment does not describe a deployment that may start; the message names the variable."""


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
    sealing_key_secret: str = "ferryman-sealing-key"  # noqa: S105 - the secret that holds the sealing key
    sealing_public_key: str = field(default="", repr=False)  # what new credentials are sealed to
    receipt_key_secret: str = "ferryman-receipt-key"  # noqa: S105 - the secret that holds the key of receipts
    receipt_public_keys: Mapping[str, str] = field(default_factory=dict)  # public halves of that key, by version, as JSON
    anthropic_api_key: str | None = field(default=None, repr=False)  # the Messages API's key; without it, Vertex AI is used
    anthropic_base_url: str | None = None  # another address of the Messages API
    scripted_model_url: str | None = None  # where models named scripted/NAME are served, on the local stack
    vertex_region: str = "global"  # the region of models on Vertex AI
    plans: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # plans beside the built-in ones, as JSON
    prices: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # models and their prices, as JSON
    integrations: tuple[Mapping[str, Any], ...] = ()  # services beside the built-in ones, as JSON
    lease_s: float = 120.0  # how long an instance has an execution to itself before another may take over
    request_s: float = REQUEST_SECONDS  # how long one call may take
    slice_s: float = 1_740.0  # how long a function works on an execution before the next one goes on
    execution_s: float = 21_600.0  # how long an execution may take in all
    poll_s: float = 0.5  # how often a running execution looks for a cancel or a halt
    retry_after_s: float = 5.0  # when the queue tries a delivery again that could not be worked on
    keys_ttl_s: float = 300.0  # how long keys are kept in memory
    retention_days: int = RETENTION_DAYS  # how many days an execution is kept after its end, with all below it; 0 for ever
    otlp_endpoint: str | None = None  # where traces are sent
    trace_content: bool = False  # whether traces hold what the model is asked and says
    log_level: str = "INFO"  # DEBUG, INFO, WARNING or ERROR

    @property
    def local(self) -> bool:
        """Whether the cloud this runs on is the local one."""
        return self.firestore_host is not None

    @property
    def firestore_token(self) -> str | None:
        """The token for our own Firestore; Google's emulator, at an address of its own, does not get the others' token."""
        return self.local_token if self.firestore_host == self.secret_manager_host else None


def read(environment: Mapping[str, str] = os.environ) -> Settings:
    """Return the settings in `environment`. Raise `MisconfiguredError`.

    The local stack's switches (the simulated internet, other certificates) are refused in a deployed function.
    """
    get = environment.get
    deployed = "K_SERVICE" in environment
    simulated_internet = get("FERRYMAN_PRETEND_INTERNET")
    certs_url = get("FERRYMAN_CERTS_URL", GOOGLE_CERTS_URL)
    settings = Settings(
        project=get("GOOGLE_CLOUD_PROJECT", "local"),
        function=get("FERRYMAN_FUNCTION", ""),
        deployed=deployed,
        firestore_host=get("FIRESTORE_EMULATOR_HOST"),
        secret_manager_host=get("SECRET_MANAGER_EMULATOR_HOST"),
        cloud_tasks_host=get("CLOUD_TASKS_EMULATOR_HOST"),
        local_token=_read_token(environment),
        metadata_host=get("GCE_METADATA_HOST", "metadata.google.internal"),
        certs_url=certs_url,
        simulated_internet=Path(simulated_internet) if simulated_internet else None,
        location=get("FERRYMAN_LOCATION", "us-central1"),
        queue=get("FERRYMAN_QUEUE", "executions"),
        schedules_queue=get("FERRYMAN_SCHEDULES_QUEUE", "schedules"),
        queue_caller=get("FERRYMAN_QUEUE_CALLER", ""),
        function_urls=_read_json(environment, "FERRYMAN_FUNCTION_URLS", {}),
        callers=tuple(_read_json(environment, "FERRYMAN_CALLERS", [])),
        resealers=tuple(_read_json(environment, "FERRYMAN_RESEALERS", [])),
        connectors=tuple(_read_json(environment, "FERRYMAN_CONNECTORS", [])),
        sealing_key_secret=get("FERRYMAN_SEALING_KEY_SECRET", "ferryman-sealing-key"),
        sealing_public_key=get("FERRYMAN_SEALING_PUBLIC_KEY", ""),
        receipt_key_secret=get("FERRYMAN_RECEIPT_KEY_SECRET", "ferryman-receipt-key"),
        receipt_public_keys=_read_json(environment, "FERRYMAN_RECEIPT_PUBLIC_KEYS", {}),
        anthropic_api_key=get("ANTHROPIC_API_KEY"),
        anthropic_base_url=get("ANTHROPIC_BASE_URL"),
        scripted_model_url=get("FERRYMAN_SCRIPTED_MODEL_URL"),
        vertex_region=get("FERRYMAN_VERTEX_REGION", "global"),
        plans=_read_json(environment, "FERRYMAN_PLANS", {}),
        prices=_read_json(environment, "FERRYMAN_PRICES", {}),
        integrations=tuple(_read_json(environment, "FERRYMAN_INTEGRATIONS", [])),
        request_s=_read_seconds(environment, "FERRYMAN_REQUEST_S", REQUEST_SECONDS),
        lease_s=_read_seconds(environment, "FERRYMAN_LEASE_S", 120.0),
        slice_s=_read_seconds(environment, "FERRYMAN_SLICE_S", 1_740.0),
        execution_s=_read_seconds(environment, "FERRYMAN_EXECUTION_S", 21_600.0),
        poll_s=_read_seconds(environment, "FERRYMAN_POLL_S", 0.5),
        retry_after_s=_read_seconds(environment, "FERRYMAN_RETRY_AFTER_S", 5.0),
        keys_ttl_s=_read_seconds(environment, "FERRYMAN_KEYS_TTL_S", 300.0),
        retention_days=_read_days(environment, "FERRYMAN_RETENTION_DAYS", RETENTION_DAYS),
        otlp_endpoint=(get("OTEL_EXPORTER_OTLP_ENDPOINT") or "").rstrip("/") or None,
        trace_content=get("FERRYMAN_TRACE_CONTENT") == "1",
        log_level=_read_level(environment, "FERRYMAN_LOG_LEVEL"),
    )
    _refuse_local_switches(settings)
    _refuse_tracing_variables(environment)
    return settings


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
    hosts = (settings.firestore_host, settings.secret_manager_host, settings.cloud_tasks_host)
    if settings.deployed and any(hosts):
        raise MisconfiguredError("an emulator host is set; a deployed function does not start with one")


def _refuse_tracing_variables(environment: Mapping[str, str]) -> None:
    for name in TRACING_VARIABLES:
        if environment.get(name):
            raise MisconfiguredError(f"{name} makes a library write requests and responses, keys included; unset it")


def _read_token(environment: Mapping[str, str]) -> str | None:
    file = environment.get("LOCAL_CLOUD_TOKEN_FILE")
    try:
        return Path(file).read_text().strip() if file else environment.get("LOCAL_CLOUD_TOKEN")
    except (OSError, ValueError):
        raise MisconfiguredError(
            f"LOCAL_CLOUD_TOKEN_FILE is {file}, which cannot be read: that local cloud has ended"
        ) from None


def _read_level(environment: Mapping[str, str], name: str) -> str:
    level = environment.get(name) or "INFO"
    if level not in LEVELS:
        raise MisconfiguredError(f"{name} must be one of {', '.join(LEVELS)}")
    return level


def _read_json(environment: Mapping[str, str], name: str, default: Any) -> Any:
    text = environment.get(name)
    if not text:
        return default
    try:
        value = json.loads(text, parse_float=Decimal)
    except ValueError as error:
        raise MisconfiguredError(f"{name} is not JSON") from error
    if type(value) is not type(default):
        raise MisconfiguredError(f"{name} must be a JSON {'object' if isinstance(default, dict) else 'array'}")
    return value


def _read_seconds(environment: Mapping[str, str], name: str, default: float) -> float:
    text = environment.get(name)
    try:
        value = float(text) if text else default
    except ValueError as error:
        raise MisconfiguredError(f"{name} must be a number of seconds") from error
    if not 0 < value < float("inf"):
        raise MisconfiguredError(f"{name} must be a positive number of seconds")
    return value


def _read_days(environment: Mapping[str, str], name: str, default: int) -> int:
    text = environment.get(name)
    if text is None:
        return default
    if re.fullmatch("[0-9]{0,5}", text, re.ASCII) is None:
        raise MisconfiguredError(f"{name} must be a whole number of days below 100000; 0, or nothing, keeps everything")
    return int(text or 0)
