"""Custom tools: as they are declared, imported, listed and shown."""

from __future__ import annotations

from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import Field, StrictBool, StrictStr

from ferryman.declared import urls
from ferryman.domain.http.url import InvalidUrlError
from ferryman.domain.tools.declared import Cluster, DeclaredTool
from ferryman.serving.api.shapes.shape import ListPage, RequestShape, ResponseShape

Data = TypeVar("Data")


class Configuration(ResponseShape):
    """Where a tool's calls go (S3-55 … S3-57)."""

    baseUrl: str  # noqa: N815 - the envelope's own names
    pathTemplate: str  # noqa: N815
    method: str
    pathParams: tuple[str, ...]  # noqa: N815
    queryParams: tuple[str, ...]  # noqa: N815


class CustomTool(ResponseShape):
    """A declared tool. `reason` says why it is not enabled; `parameters` is the schema that the model is shown."""

    id: str
    name: str
    description: str
    summary: str
    type: Literal["http"] = "http"
    configuration: Configuration
    parameters: dict[str, Any]
    isEnabled: bool  # noqa: N815
    reason: str | None
    cluster: str


class Envelope(ResponseShape, Generic[Data]):
    """What every route of custom tools answers."""

    success: Literal[True] = True
    data: Data


class ClusterResponse(ResponseShape):
    """A cluster of a task's own tools, and how many it has; that of the name "" has those which are in none."""

    name: str
    tools: int
    disabled: int = Field(description="How many of them are stored, and not shown to the model")


class CustomToolList(ListPage):
    """A page of a task's own tools, by cluster and name. The first one has all clusters, too; later ones have none."""

    success: Literal[True] = True
    data: tuple[CustomTool, ...]
    clusters: tuple[ClusterResponse, ...]


Selection = tuple[Annotated[StrictStr, Field(min_length=1, max_length=200)], ...]


class ImportBody(RequestShape):
    """An OpenAPI or Swagger document to be imported: its `url`, or itself as `spec`, an object or a text."""

    url: StrictStr | None = Field(default=None, description="Where the document is; fetched through the gate")
    spec: dict[str, Any] | StrictStr | None = Field(default=None, description="The document itself, JSON or YAML")
    documents: dict[str, StrictStr] = Field(
        default_factory=dict, max_length=20, description="Texts that a `spec` refers to, by their names relative to it"
    )
    cluster: StrictStr | None = Field(default=None, description="What the tools are grouped under; default: its title")
    server: StrictStr | None = Field(default=None, description="A URL in place of the servers that the document names")
    only: Selection = Field(
        default=(),
        max_length=20,
        description="Patterns of names of operations to import, getPet*, or of paths, /pets/*",
    )
    tags: Selection = Field(default=(), max_length=20, description="Tags of the operations to import")
    dry_run: StrictBool = Field(default=False, description="true: nothing is stored")


class ImportResponse(ResponseShape):
    """The result of an import. `tokens` is about what the enabled tools' definitions cost in every prompt."""

    success: Literal[True] = True
    data: tuple[CustomTool, ...]
    cluster: str
    imported: int
    disabled: int
    tokens: int
    notes: tuple[str, ...]
    dry_run: bool


class ChatTool(ResponseShape):
    """A tool as a chat model is shown it (S3-62)."""

    name: str
    description: str
    parameters: dict[str, Any]


class ChatTools(ListPage):
    """A page of the tools that conversations with this task have (S3-108): those that neither the settings of the agent nor the
    lists of agent, workspace and plan take away. `read_result`, which comes with any of them, is left out.
    """

    tools: tuple[ChatTool, ...]


class Deleted(ResponseShape):
    """What was deleted."""

    deleted: str


def to_cluster(cluster: Cluster) -> ClusterResponse:
    """Return the response for a cluster."""
    disabled = sum(not row.enabled for row in cluster.rows)
    return ClusterResponse(name=cluster.name, tools=len(cluster.rows), disabled=disabled)


def to_response(tool: DeclaredTool) -> CustomTool:
    """Return the response for `tool`; nothing of its headers, its body or its login."""
    try:
        address = urls.parse(tool.url)
        base, path = address.base, "/" + tool.url.removeprefix(address.base).partition("?")[0].lstrip("/")
        in_path, in_query = tuple(address.path_names()), tuple(parameter.name for parameter in address.query_placeholders())
    except InvalidUrlError:
        base, path, in_path, in_query = tool.url, "", (), ()
    return CustomTool(
        id=tool.name,
        name=tool.name,
        description=tool.description,
        summary=tool.summary,
        configuration=Configuration(
            baseUrl=base, pathTemplate=path, method=tool.method.value, pathParams=in_path, queryParams=(*in_query, *tool.query)
        ),
        parameters=tool.schema,
        isEnabled=tool.enabled,
        reason=tool.reason,
        cluster=tool.cluster,
    )
