"""Declared tools: HTTP endpoints that a task's owner describes as data, each one tool to the model (S1-1)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from ferryman.domain.http.request import BodyType, Method
from ferryman.domain.problem import InvalidInputError, Problem

TOOLS_PER_TASK_MAX = 2_000
CLUSTERS_PER_TASK_MAX = 50
CLUSTER_CHARACTERS_MAX = 64
DECLARATION_BYTES_MAX = 65_536
"""One declared tool, written as JSON."""
TASK_BYTES_MAX = 16_777_216
"""All declared tools of a task, written as JSON: whoever opens an execution of it has them all in memory."""

REFRESH_ON = (401,)
"""Statuses that say a token is no longer good (S1-28)."""


class Style(StrEnum):
    """How a list or an object is written in a query, a path or a header; `repeat` is a list's default (OpenAPI 3.1, 4.8.12)."""

    REPEAT = "repeat"
    COMMA = "comma"
    SPACE = "space"
    PIPE = "pipe"
    DEEP = "deep"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One thing the model says: its JSON Schema, whether it must be said, and how it is written outside of a JSON body."""

    schema: Mapping[str, Any]
    required: bool = True
    style: Style = Style.REPEAT


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientCredentials:
    """OAuth 2.0 client credentials (RFC 6749, 4.4; S1-27). `client_id`, `client_secret`: templates; `cache_ttl`: seconds."""

    token_url: str
    client_id: str
    client_secret: str
    scope: str | None = None
    creds_location: str = "basic_header"
    cache_ttl: int | None = None
    refresh_on: tuple[int, ...] = REFRESH_ON


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """The request that a login endpoint answers with a token; everything but the method is a template (S1-29)."""

    url: str
    method: Method = Method.POST
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body_type: BodyType = BodyType.JSON
    body: Any = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Extract:
    """Where the token stands in the answer: JSONPath in `json`, the whole body in `text`."""

    response_format: str = "json"
    token_path: str | None = None
    expires_path: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Apply:
    """Where the token is put: `{token}` in `format` stands for it. None: "Bearer {token}" in a header, "{token}" in a query."""

    location: str = "header"
    name: str = "Authorization"
    format: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenExchange:
    """A login that is no OAuth (S1-29). `cache_ttl` is in seconds."""

    request: Exchange
    extract: Extract = field(default_factory=Extract)
    apply: Apply = field(default_factory=Apply)
    cache_ttl: int | None = None
    refresh_on: tuple[int, ...] = REFRESH_ON


Auth = ClientCredentials | TokenExchange


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """One declared tool as stored: checked, and with everything that can be derived from it.

    `url` has the placeholders `{X}`, `{X?}`, `{?a&b}`; `params` pins some of them; `query`, `headers` and `body` are templates
    by the name on the wire. `parameters` are all that the model may say, by the name it says them under. An empty `ok_statuses`
    means 200 to 299. `public_env` names the variables of the environment that are not secret, in embedded use. One that is not
    `enabled` tells why in `reason`, is not shown to the model and is not carried.
    """

    name: str
    description: str = ""
    summary: str = ""
    method: Method = Method.GET
    url: str
    params: Mapping[str, Any] = field(default_factory=dict, repr=False)
    query: Mapping[str, Any] = field(default_factory=dict, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body_type: BodyType = BodyType.JSON
    body: Any = field(default=None, repr=False)
    auth: Auth | None = None
    ok_statuses: tuple[int, ...] = ()
    public_env: tuple[str, ...] = ()
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    cluster: str = ""
    enabled: bool = True
    reason: str | None = None

    @property
    def schema(self) -> dict[str, Any]:
        """The input schema the model is shown."""
        required = [name for name, each in self.parameters.items() if each.required]
        properties = {name: dict(each.schema) for name, each in self.parameters.items()}
        return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}

    @property
    def fingerprint(self) -> str:
        """16 hexadecimal digits of what it does: two declarations that would send the same have the same."""
        apart = ("cluster", "enabled", "reason", "public_env")
        said = {key: value for key, value in asdict(self).items() if key not in apart}
        return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRow:
    """One tool of a cluster as the cluster's document lists it."""

    name: str
    fingerprint: str
    enabled: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """Declared tools of a task that are stored, replaced and deleted as one (S3-52). That of no name holds the others (S3-54).

    `generation` rises whenever any cluster of the task is stored, and is never given again; `size_bytes` is that of its tools,
    written as JSON.
    """

    name: str
    generation: int
    rows: tuple[ToolRow, ...]
    size_bytes: int = 0


def build_cluster(name: str, generation: int, tools: Iterable[Declared]) -> Cluster:
    """The cluster that `tools` make."""
    rows, size = [], 0
    for each in tools:
        rows.append(ToolRow(name=each.name, fingerprint=each.fingerprint, enabled=each.enabled))
        size += len(json.dumps(asdict(each)))
    return Cluster(name=name, generation=generation, rows=tuple(rows), size_bytes=size)


def check_cluster(others: Sequence[Cluster], cluster: Cluster) -> None:
    """Raise `InvalidInputError` where `cluster`, beside the `others` of the task, would break a rule of them all."""
    found, name = [], cluster.name
    if len(others) + 1 > CLUSTERS_PER_TASK_MAX:
        found.append(Problem(field="cluster", message=f"a task may have at most {CLUSTERS_PER_TASK_MAX} clusters"))
    if len(name) > CLUSTER_CHARACTERS_MAX or not name.isprintable():
        found.append(Problem(field="cluster", message=f"must be at most {CLUSTER_CHARACTERS_MAX} printable characters"))
    size = cluster.size_bytes + sum(each.size_bytes for each in others)
    if size > TASK_BYTES_MAX:
        message = f"the declared tools of a task may have at most {TASK_BYTES_MAX} bytes as JSON, not {size}"
        found.append(Problem(field="tools", message=message))
    total = len(cluster.rows) + sum(len(each.rows) for each in others)
    if total > TOOLS_PER_TASK_MAX:
        found.append(
            Problem(field="tools", message=f"a task may have at most {TOOLS_PER_TASK_MAX} declared tools, not {total}")
        )
    taken = {row.name: each.name for each in others for row in each.rows}
    for index, tool in enumerate(cluster.rows):
        if tool.name in taken:
            where = f"cluster {taken[tool.name]!r}" if taken[tool.name] else "the ungrouped tools"
            found.append(Problem(field=f"tools.{index}.name", message=f"{tool.name} is taken by {where}"))
        taken[tool.name] = name
    if found:
        raise InvalidInputError(found)
