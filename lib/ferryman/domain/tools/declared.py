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
from ferryman.domain.tools.tool import build_definition

TOOLS_PER_TASK_MAX = 2_000
CLUSTERS_PER_TASK_MAX = 50
CLUSTER_CHARACTERS_MAX = 64
DECLARATION_BYTES_MAX = 65_536
"""One declared tool, written as JSON."""
TASK_BYTES_MAX = 16_777_216
"""All declared tools of a task, written as JSON: the setup of an execution has them all in memory."""

REFRESH_ON = (401,)  # statuses that mean a token is no longer valid (S1-28)


class Style(StrEnum):
    """How a list or an object is written in a query, a path or a header; `repeat` is a list's default (OpenAPI 3.1, 4.8.12)."""

    REPEAT = "repeat"
    COMMA = "comma"
    SPACE = "space"
    PIPE = "pipe"
    DEEP = "deep"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One argument of the model: its JSON Schema, whether it is required, and its style outside of a JSON body."""

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
    """The request to a login endpoint, which answers with a token; everything but the method is a template (S1-29)."""

    url: str
    method: Method = Method.POST
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body_type: BodyType = BodyType.JSON
    body: Any = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Extract:
    """The place of the token in the answer: JSONPath in `json`, the whole body in `text`."""

    response_format: str = "json"
    token_path: str | None = None
    expires_path: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Apply:
    """The place of the token in a request, `{token}` in `format`. None: "Bearer {token}" in a header, "{token}" in a query."""

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
class DeclaredTool:
    """One declared tool as stored: checked, with all derived values.

    `url` has the placeholders `{X}`, `{X?}`, `{?a&b}`; `params` pins some of them; `query`, `headers` and `body` are templates
    by the name on the wire. `parameters` are the arguments of the model by name. An empty `ok_statuses` means 200 to 299.
    `public_env` names the variables of the environment that are not secret, in embedded use. A tool that is not `enabled` has a
    `reason`, is not offered to the model and is not executed. `is_own` tells that a person declared it: what was
    read out of a document or an archive, strangers may have written.
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
    is_own: bool = False

    @property
    def schema(self) -> dict[str, Any]:
        """The input schema that the model reads."""
        required = [name for name, parameter in self.parameters.items() if parameter.required]
        properties = {name: dict(parameter.schema) for name, parameter in self.parameters.items()}
        return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}

    def to_definition(self) -> dict[str, Any]:
        """Return the tool as a definition that the model reads; with its summary where it has no description."""
        return build_definition(self.name, self.description or self.summary, self.schema)

    @property
    def fingerprint(self) -> str:
        """16 hexadecimal digits of a digest: two declarations that would send the same requests have the same."""
        excluded = ("cluster", "enabled", "reason", "public_env", "is_own")
        content = {key: value for key, value in asdict(self).items() if key not in excluded}
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRow:
    """One tool in the list of a cluster's document."""

    name: str
    fingerprint: str
    enabled: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """Declared tools of a task that are stored, replaced and deleted together (S3-52). The cluster named "" has the rest
    (S3-54).

    `generation` rises whenever any cluster of the task is stored, and is never used twice; `size_bytes` is the size of its
    tools, written as JSON.
    """

    name: str
    generation: int
    rows: tuple[ToolRow, ...]
    size_bytes: int = 0


ToolPlace = tuple[str, str]
"""Where a tool is in a list by cluster and name."""


def build_cluster(name: str, generation: int, tools: Iterable[DeclaredTool]) -> Cluster:
    """Return the cluster of `tools`."""
    rows, size = [], 0
    for tool in tools:
        rows.append(ToolRow(name=tool.name, fingerprint=tool.fingerprint, enabled=tool.enabled))
        size += len(json.dumps(asdict(tool)))
    return Cluster(name=name, generation=generation, rows=tuple(rows), size_bytes=size)


def check_cluster(others: Sequence[Cluster], cluster: Cluster) -> None:
    """Raise `InvalidInputError` where `cluster` and the `others` of the task would together break a rule."""
    problems, name = [], cluster.name
    if len(others) + 1 > CLUSTERS_PER_TASK_MAX:
        problems.append(Problem("cluster", f"a task may have at most {CLUSTERS_PER_TASK_MAX} clusters"))
    if len(name) > CLUSTER_CHARACTERS_MAX or not name.isprintable():
        problems.append(Problem("cluster", f"must be at most {CLUSTER_CHARACTERS_MAX} printable characters"))
    size = cluster.size_bytes + sum(other.size_bytes for other in others)
    if size > TASK_BYTES_MAX:
        message = f"the declared tools of a task may have at most {TASK_BYTES_MAX} bytes as JSON, not {size}"
        problems.append(Problem("tools", message))
    total = len(cluster.rows) + sum(len(other.rows) for other in others)
    if total > TOOLS_PER_TASK_MAX:
        message = f"a task may have at most {TOOLS_PER_TASK_MAX} declared tools, not {total}"
        problems.append(Problem("tools", message))
    clusters = {row.name: other.name for other in others for row in other.rows}
    for index, tool in enumerate(cluster.rows):
        if tool.name in clusters:
            where = f"cluster {clusters[tool.name]!r}" if clusters[tool.name] else "the ungrouped tools"
            problems.append(Problem(f"tools.{index}.name", f"{tool.name} is taken by {where}"))
        clusters[tool.name] = name
    if problems:
        raise InvalidInputError(problems)
