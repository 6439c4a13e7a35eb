"""The tools of MCP servers as models are offered them: what a person accepted, neutralized, and cut to a budget of tokens."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ferryman.domain.remote_servers.server import RemoteServer
from ferryman.domain.tools.tool import build_definition

CHARACTERS_PER_TOKEN = 4
TOOL_TOKENS_MAX = 500
"""The description of one tool, by the estimate of a token for every four characters."""

SERVER_TOKENS_MAX = 8_000
"""The definitions of one server's tools together. Of those beyond it a model reads the first words of the description, and no
prose of the schema."""

SHORT_CHARACTERS = 160
_PROSE = frozenset(("title", "description", "examples", "$comment"))
_NAMED = frozenset(("properties", "patternProperties", "dependentSchemas", "$defs", "definitions"))
_VALUES = frozenset(("const", "default", "enum"))
CUT = " [cut: the description is longer than its budget]"


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteTool:
    """A tool of an MCP server, as models read it. `server` is the server's name, `fingerprint` what a call of it depends on.

    It satisfies `OfferedTool`, as declared tools do.
    """

    name: str
    tool: str
    server: str
    description: str = ""
    input_schema: Mapping[str, Any] = field(default_factory=dict, repr=False)
    fingerprint: str = ""

    @property
    def cluster(self) -> str:
        """Its server's name: its tools are offered together."""
        return self.server

    @property
    def summary(self) -> str:
        """Nothing: a tool of a server has no second text."""
        return ""

    @property
    def schema(self) -> dict[str, Any]:
        """The input schema that the model reads."""
        return dict(self.input_schema)

    @property
    def enabled(self) -> bool:
        """Whether it is offered: one that is not accepted is none of these."""
        return True

    @property
    def is_own(self) -> bool:
        """Whether a person of the owner's wrote its definition: never."""
        return False

    def to_definition(self) -> dict[str, Any]:
        """Return the tool as a definition that the model reads."""
        return build_definition(self.name, self.description, self.input_schema)


def write_model_text(description: str, schema: Mapping[str, Any]) -> str:
    """Return what models read of a descriptor, as it is stored beside it."""
    return json.dumps([cut_description(description, TOOL_TOKENS_MAX), schema], separators=(",", ":"))


def read_model_text(text: str) -> tuple[str, dict[str, Any]]:
    """Return the description and the input schema that `write_model_text` has written."""
    description, schema = json.loads(text)
    return description, schema


def name_model_text(digest: str) -> str:
    """Return the name under which `write_model_text` is stored, for the descriptor of this digest."""
    return f"{digest}.model"


def cut_description(description: str, tokens: int) -> str:
    """Return a description of at most so many tokens, with a mark where it was cut."""
    most = tokens * CHARACTERS_PER_TOKEN
    return description if len(description) <= most else description[: most - len(CUT)].rstrip() + CUT


def count_tokens(tool: RemoteTool) -> int:
    """Return how many tokens the definition takes in every model call, by estimate."""
    return -(-len(json.dumps(tool.to_definition(), ensure_ascii=False)) // CHARACTERS_PER_TOKEN)


def build_tools(server: RemoteServer, texts: Mapping[str, str]) -> tuple[RemoteTool, ...]:
    """Return the accepted tools of `server`, whose model texts are among `texts`, within the budget of one server."""
    tools = []
    for pin in server.list_accepted():
        assert pin.digest is not None, "an accepted tool has a digest"
        text = texts.get(name_model_text(pin.digest))
        if text is None:
            continue  # listed again meanwhile: it is no tool of this execution
        description, schema = read_model_text(text)
        fingerprint = server.fingerprint_of(pin)
        tools.append(
            RemoteTool(
                name=pin.name,
                tool=pin.tool,
                server=server.name,
                description=description,
                input_schema=schema,
                fingerprint=fingerprint,
            )
        )
    return fit_server(tools)


def fit_server(tools: Sequence[RemoteTool]) -> tuple[RemoteTool, ...]:
    """Return the tools of one server with the descriptions cut of those beyond `SERVER_TOKENS_MAX`, the last ones."""
    fitted, used = [], 0
    for tool in tools:
        used += count_tokens(tool)
        fitted.append(tool if used <= SERVER_TOKENS_MAX else _shorten(tool))
    return tuple(fitted)


def _shorten(tool: RemoteTool) -> RemoteTool:
    """Return the tool with the first words of its description alone, and with no prose in its schema."""
    tool = replace(tool, input_schema=drop_prose(tool.input_schema))
    if len(tool.description) <= SHORT_CHARACTERS:
        return tool
    return replace(tool, description=tool.description[: SHORT_CHARACTERS - len(CUT)].rstrip() + CUT)


def drop_prose(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema without its titles, descriptions and examples; what it admits is the same."""
    return {name: _drop_within(name, inner) for name, inner in schema.items() if name not in _PROSE}


def _drop_within(keyword: str, value: Any) -> Any:
    if keyword in _VALUES:
        return value
    if isinstance(value, Mapping):
        if keyword in _NAMED:
            return {name: drop_prose(inner) if isinstance(inner, Mapping) else inner for name, inner in value.items()}
        return drop_prose(value)
    if isinstance(value, list):
        return [drop_prose(inner) if isinstance(inner, Mapping) else inner for inner in value]
    return value


def list_model_texts(server: RemoteServer) -> list[str]:
    """Return the names of the texts that `build_tools` reads."""
    return [name_model_text(pin.digest) for pin in server.list_accepted() if pin.digest is not None]
