"""The environment of each local function: what the deployment would set, worked out from its row in the table."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ferryman
from ferryman.domain.operator_model import parse_operator_models
from ferryman.domain.platform_variables import PLATFORM_VARIABLES
from ferryman.domain.problem import InvalidInputError
from ferryman.settings import S3_PREFIXES, SEARXNG_VARIABLES, WORKSPACE_VARIABLES

LOCATION = "us-central1"
QUEUE = "executions"
SCHEDULES_QUEUE = "schedules"
QUEUE_CALLER = "ferryman-queue"
BUCKET = "ferryman-files"
"""The bucket of files, without the project's name."""

WARMER = "ferryman-warmer"
"""The account that has each function connect before `ferryman up` says that all is ready."""

ID_CHARACTERS_MAX = 40
PLATFORM_SECRET = "ferryman-platform-key"  # noqa: S105 - the name of a secret
MODEL_TALKER = "orchestrator"
"""The one function that talks to models, and so the only one that gets a model key."""

SEARCHER = "search"
"""The one function that asks the search engine, and so the only one that is told of another than the local cloud's."""

REAL_MODEL_URL = "https://api.anthropic.com"
SCRIPTED_PRICE = {"input": "3", "output": "15"}
"""USD per million tokens: scripted models cost as much as a middling real one, so that credits mean something."""

PASSED_ON = (
    "FERRYMAN_PLANS",
    "FERRYMAN_PLATFORM_USER_ID",
    "FERRYMAN_PLATFORM_WORKSPACE_ID",
    "FERRYMAN_MODELS",
    "FERRYMAN_DIRECT_LINKS",
    "FERRYMAN_OAUTH_ISSUER",
    "FERRYMAN_OAUTH_RESOURCE",
    "FERRYMAN_PUBLIC_URL",
    "FERRYMAN_ROBOTS",
    "FERRYMAN_PAGE_BYTES_MAX",
    "FERRYMAN_LEASE_S",
    "FERRYMAN_REQUEST_S",
    "FERRYMAN_SLICE_S",
    "FERRYMAN_EXECUTION_S",
    "FERRYMAN_POLL_S",
    "FERRYMAN_RETRY_AFTER_S",
    "FERRYMAN_KEYS_TTL_S",
    "FERRYMAN_RETENTION_DAYS",
    "FERRYMAN_LOG_LEVEL",
    "FERRYMAN_TRACE_CONTENT",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
)
"""Variables of the process that starts the stack, which reach every function as they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StackEnvironment:
    """What is the same for all functions. `caller` is the environment of the process that starts the stack."""

    project: str
    urls: Mapping[str, str]
    sealing_public_key: str
    receipt_public_keys: Mapping[str, str]
    decision_public_keys: Mapping[str, str]
    scripted_model_url: str
    hosts: Sequence[str] = ()
    caller: Mapping[str, str] = field(default_factory=dict, repr=False)


def build_account(identity: str, project: str) -> str:
    """Return the e-mail of a service account."""
    return f"{identity}@{project}.iam.gserviceaccount.com"


def derive_integration_id(host: str) -> str:
    """Return the id of the integration that means a host of the user's own: its name in the letters ids are made of."""
    words = re.sub(r"[^a-z0-9]+", "_", host.lower()).strip("_")
    return (words if words[:1].isalpha() else f"host_{words}")[:ID_CHARACTERS_MAX]


LEASE_S = "15"
"""Shorter than in the cloud: a killed stack's executions go on soon after the next one is up."""

POLL_S = "0.2"
"""More often than in the cloud, where every look is a read that is paid for: what is watched here shows sooner."""


def build_integration(host: str) -> dict[str, Any]:
    """Return the integration that a host of the user's own is approved by."""
    return {
        "id": derive_integration_id(host),
        "name": host,
        "description": "A server of your own, mapped into the local stack.",
        "category": "local",
        "allowed_domains": [host],
        "default_auth_type": "bearer",
    }


def build_environment(row: Mapping[str, Any], around: StackEnvironment) -> dict[str, str]:
    """Return the variables of the function that `row` of the table describes. Raise ValueError for bad JSON of the caller's."""
    caller = around.caller
    prices = {"scripted": SCRIPTED_PRICE, **_read(caller, "FERRYMAN_PRICES", {})}
    try:
        models = parse_operator_models(_read(caller, "FERRYMAN_MODELS", {}))
    except InvalidInputError as error:
        raise ValueError(f"FERRYMAN_MODELS: {error}") from None
    keys = {model.key: caller[model.key] for model in models.values() if model.key is not None and caller.get(model.key)}
    integrations = [*_read(caller, "FERRYMAN_INTEGRATIONS", []), *map(build_integration, around.hosts)]
    accounts = {
        role: [build_account(name, around.project) for name in row.get(role, []) if name != "anyone"]
        for role in ("callers", "resealers", "connectors", "streamers")
    }
    env = {
        "FERRYMAN_SEALING_PUBLIC_KEY": around.sealing_public_key,
        "FERRYMAN_RECEIPT_PUBLIC_KEYS": json.dumps(dict(around.receipt_public_keys)),
        "FERRYMAN_DECISION_PUBLIC_KEYS": json.dumps(dict(around.decision_public_keys)),
        "FERRYMAN_FUNCTION_URLS": json.dumps(dict(around.urls)),
        **{f"FERRYMAN_{role.upper()}": json.dumps(allowed) for role, allowed in accounts.items()},
        "FERRYMAN_WARMERS": json.dumps([build_account(WARMER, around.project)]),
        "FERRYMAN_LOCATION": LOCATION,
        "FERRYMAN_QUEUE": QUEUE,
        "FERRYMAN_SCHEDULES_QUEUE": SCHEDULES_QUEUE,
        "FERRYMAN_QUEUE_CALLER": build_account(QUEUE_CALLER, around.project),
        "FERRYMAN_PRICES": json.dumps(prices),
        "FERRYMAN_MODEL_KEY_SET": "1" if caller.get("ANTHROPIC_API_KEY") else "0",
        "FERRYMAN_MODEL_KEYS_SET": json.dumps(sorted(keys)),
        "FERRYMAN_INTEGRATIONS": json.dumps(integrations),
        "FERRYMAN_FILES_SET": "1",
        "FERRYMAN_LEASE_S": LEASE_S,
        "FERRYMAN_POLL_S": POLL_S,
        **{name: caller[name] for name in PASSED_ON if caller.get(name)},
    }
    endpoint = next(filter(None, map(caller.get, SEARXNG_VARIABLES)), None)
    if row["name"] == SEARCHER and endpoint is not None:
        env[SEARXNG_VARIABLES[0]] = endpoint  # in the place of the local cloud's own engine
    env |= _name_bucket(row, around) | _name_platform(row, caller)
    if row["name"] != MODEL_TALKER:
        # the local cloud offers its scripted model to everyone; only one of them may talk to models
        return {**env, "ANTHROPIC_BASE_URL": ""}
    env["FERRYMAN_SCRIPTED_MODEL_URL"] = around.scripted_model_url
    env["ANTHROPIC_BASE_URL"] = caller.get("ANTHROPIC_BASE_URL") or REAL_MODEL_URL
    env |= keys
    if caller.get("ANTHROPIC_API_KEY"):
        env["ANTHROPIC_API_KEY"] = caller["ANTHROPIC_API_KEY"]
    return env


def name_bucket(project: str) -> str:
    """Return the name of the local stack's bucket of files, as the deployment names it."""
    return f"{project}-{BUCKET}"


def _name_bucket(row: Mapping[str, Any], around: StackEnvironment) -> dict[str, str]:
    """Return what the function that keeps files is told of their bucket: one of S3 where the caller's variables name it."""
    if BUCKET not in row.get("buckets", []):
        return {}
    named = {name: value for name, value in around.caller.items() if name.startswith(S3_PREFIXES) and value}
    return named or {"FERRYMAN_OBJECTS_BUCKET": name_bucket(around.project)}


def _name_platform(row: Mapping[str, Any], caller: Mapping[str, str]) -> dict[str, str]:
    """Return what the functions with the platform's key are told of another platform, or of the one user or workspace.

    The workspace of commands has the name that the runtime's has: it is the runtime's beside an endpoint alone.
    """
    if PLATFORM_SECRET not in row["secrets"]:
        return {}
    variables = [variable for names, _, _ in PLATFORM_VARIABLES.values() for variable in names if caller.get(variable)]
    is_elsewhere = any(caller.get(variable) for variable in PLATFORM_VARIABLES["platform_endpoint"][0])
    return {name: caller[name] for name in variables if is_elsewhere or name not in WORKSPACE_VARIABLES}


def _read(caller: Mapping[str, str], name: str, default: Any) -> Any:
    text = caller.get(name)
    value = json.loads(text) if text else default
    if type(value) is not type(default):
        raise ValueError(f"{name} must be a JSON {'object' if isinstance(default, dict) else 'array'}")
    return value


def load_functions() -> list[dict[str, Any]]:
    """Return the rows of the table of functions: the checkout's own, or the one in the wheel."""
    library = Path(ferryman.__file__).resolve().parent
    places = (library.parent.parent / "infra" / "functions.json", library.parent / "emulator" / "shipped" / "functions.json")
    path = next(place for place in places if place.exists())
    rows: list[dict[str, Any]] = json.loads(path.read_text())["functions"]
    return rows
