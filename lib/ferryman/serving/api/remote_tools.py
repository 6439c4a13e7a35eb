"""The tools of an MCP server as people read them: what the server says, what a model would read, and what has changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ferryman import offload
from ferryman.composition.api import ApiDependencies
from ferryman.domain.remote_servers.descriptor import read_descriptor
from ferryman.domain.remote_servers.difference import FieldDifference, compare_descriptors
from ferryman.domain.remote_servers.offered import RemoteTool, count_tokens, name_model_text, read_model_text
from ferryman.domain.remote_servers.pin import ToolPin
from ferryman.domain.remote_servers.server import RemoteServer
from ferryman.ports.errors import UnavailableError
from ferryman.serving.api.shapes import remote_server as shapes


async def describe_tools(
    deps: ApiDependencies, server: RemoteServer, pins: Sequence[ToolPin]
) -> tuple[shapes.RemoteToolResponse, ...]:
    """Return the responses for tools of `server`. Raise `UnavailableError`."""
    digests = {digest for pin in pins for digest in (pin.digest, pin.pending) if digest is not None}
    texts = await deps.remote_servers.descriptors(
        server.id, [name for digest in digests for name in (digest, name_model_text(digest))]
    )
    try:
        read = await offload.run(server.owner, offload.DOCUMENT, read_tools, server.name, [*pins], dict(texts))
    except offload.OverBudgetError as error:
        raise UnavailableError(f"the tools of this MCP server cannot be read: {error}") from None
    return tuple(_describe(server, pin, *members) for pin, members in zip(pins, read, strict=True))


ReadTool = tuple[Mapping[str, Any], str, int, Sequence[FieldDifference]]
"""The descriptor that is listed, the description that a model reads, its tokens, and what has changed."""


def read_tools(server: str, pins: Sequence[ToolPin], texts: Mapping[str, str]) -> list[ReadTool]:
    """Return what is said of tools; `texts` are a stranger's: a pure function, for workers."""
    return [_read(server, pin, texts) for pin in pins]


def _read(server: str, pin: ToolPin, texts: Mapping[str, str]) -> ReadTool:
    listed, accepted = (read_descriptor(texts.get(digest or "", "{}")) for digest in (pin.listed_digest, pin.digest))
    text = texts.get(name_model_text(pin.listed_digest or ""))
    description, tokens = "", 0
    if text is not None:
        description, schema = read_model_text(text)
        tool = RemoteTool(name=pin.name, tool=pin.tool, server=server, description=description, input_schema=schema)
        tokens = count_tokens(tool)
    changed = pin.pending is not None and pin.digest is not None
    return listed, description, tokens, compare_descriptors(accepted, listed) if changed else ()


def _describe(
    server: RemoteServer,
    pin: ToolPin,
    descriptor: Mapping[str, Any],
    description: str,
    tokens: int,
    difference: Sequence[FieldDifference],
) -> shapes.RemoteToolResponse:
    annotations = _get(descriptor, "annotations", dict)
    return shapes.RemoteToolResponse(
        config=shapes.RemoteToolConfig(server_id=server.id, tool_name=pin.tool),
        name=pin.name,
        state=pin.state,
        reason=pin.reason,
        digest=pin.listed_digest,
        accepted_digest=pin.digest,
        accepted_at=pin.accepted_at,
        title=_get(descriptor, "title", str) or _get(annotations, "title", str),
        description=_get(descriptor, "description", str),
        input_schema=_get(descriptor, "inputSchema", dict),
        annotations=annotations,
        model_description=description,
        tokens=tokens,
        difference=tuple(map(shapes.FieldDifferenceResponse.model_validate, difference)),
    )


def _get(descriptor: Mapping[str, Any], name: str, kind: type[Any]) -> Any:
    """Return a member of a descriptor, or an empty one where it is of another type."""
    value = descriptor.get(name)
    return value if isinstance(value, kind) else kind()
