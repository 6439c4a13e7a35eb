"""`ferryman mcp config`: the JSON that each client documents, without the key unless that is asked for."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from ferryman.cli.mcp_config import CLIENTS, HTTP, STDIO, find_command, write_config

from .conftest import Typed

KEY = "fm_" + "k" * 43
URL = "https://ferryman.example.com"
TEXTS = {"type": "object", "additionalProperties": {"type": "string"}}
COMMAND = {
    "type": "object",
    "properties": {
        "type": {"const": "stdio"},
        "command": {"type": "string", "minLength": 1},
        "args": {"type": "array", "items": {"type": "string"}},
        "env": TEXTS,
    },
    "required": ["command"],
    "additionalProperties": False,
}
REMOTE = {
    "type": "object",
    "properties": {"type": {"const": "http"}, "url": {"type": "string", "format": "uri"}, "headers": TEXTS},
    "required": ["url"],
    "additionalProperties": False,
}


def describe_servers(member: str, *, typed: bool, **more: Any) -> dict[str, Any]:
    """Return the schema of a client's configuration; `typed` where each server has to say its type."""
    needed = {"required": ["type"]} if typed else {}
    servers = {"type": "object", "minProperties": 1, "additionalProperties": {"allOf": [needed], "anyOf": [COMMAND, REMOTE]}}
    return {"type": "object", "properties": {member: servers, **more}, "required": [member], "additionalProperties": False}


INPUTS = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "type": {"enum": ["promptString", "pickString", "command"]},
            "id": {"type": "string"},
            "description": {"type": "string"},
            "password": {"type": "boolean"},
        },
        "required": ["type", "id", "description"],
        "additionalProperties": False,
    },
}
SCHEMAS = {
    "claude": describe_servers("mcpServers", typed=False),
    "cursor": describe_servers("mcpServers", typed=False),
    "vscode": describe_servers("servers", typed=True, inputs=INPUTS),
}
"""The documented shapes: code.claude.com/docs/en/mcp, cursor.com/docs/mcp, and the MCP configuration reference of VS Code."""


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("transport", [STDIO, HTTP])
@pytest.mark.parametrize("key", [None, KEY], ids=["no key", "key"])
@pytest.mark.parametrize("local", [None, Path("data")], ids=["remote", "local"])
def test_it_has_the_shape_that_the_client_documents(client: str, transport: str, key: str | None, local: Path | None) -> None:
    text = write_config(client, transport, url=URL, key=key, agent="agent_1", local=local)
    config = json.loads(text)
    Draft202012Validator(SCHEMAS[client]).validate(config)
    assert (KEY in text) == (key is not None)
    (server,) = (config.get("mcpServers") or config["servers"]).values()
    if transport == HTTP:
        assert server["url"] == f"{URL}/mcp?agent=agent_1"
    else:
        assert server["args"] == ["mcp", "serve", "--agent", "agent_1"]


def test_claude_over_http_says_its_type_and_takes_the_key_from_a_variable() -> None:
    server = json.loads(write_config("claude", HTTP, url=URL, key=None))["mcpServers"]["ferryman"]
    assert server == {"type": "http", "url": f"{URL}/mcp", "headers": {"Authorization": "Bearer ${FERRYMAN_KEY}"}}


def test_vscode_asks_for_the_key_where_it_needs_one() -> None:
    remote = json.loads(write_config("vscode", HTTP, url=URL, key=None))
    assert remote["inputs"][0]["password"] is True
    assert remote["servers"]["ferryman"]["headers"] == {"Authorization": "Bearer ${input:ferryman-key}"}
    assert "inputs" not in json.loads(write_config("vscode", STDIO, url=URL, key=None, local=Path("data")))


def test_a_local_stack_needs_no_key() -> None:
    server = json.loads(write_config("cursor", STDIO, url=URL, key=None, local=Path("data")))["mcpServers"]["ferryman"]
    assert server["env"] == {"FERRYMAN_DATA": str(Path("data").resolve())}


@pytest.mark.parametrize("client", CLIENTS)
def test_the_command_prints_json_alone_and_the_key_only_when_asked_to(
    typed: Typed, service: dict[str, str], client: str
) -> None:
    for transport in ("--http", "--stdio"):
        hidden = typed("mcp", "config", client, transport)
        json.loads(hidden.stdout)
        assert service["FERRYMAN_KEY"] not in hidden.output
        assert service["FERRYMAN_KEY"] in typed("mcp", "config", client, transport, "--show-key").stdout


def test_without_a_service_it_says_what_to_do(typed: Typed, tmp_path: Path) -> None:
    result = typed("mcp", "config", "claude", FERRYMAN_URL="", FERRYMAN_KEY="", FERRYMAN_DATA=str(tmp_path))
    assert (result.exit_code, result.stdout) == (1, "")
    assert "ferryman up" in result.stderr


def test_the_bridge_without_a_service_writes_nothing_to_standard_output(typed: Typed, tmp_path: Path) -> None:
    result = typed("mcp", "serve", stdin="{}\n", FERRYMAN_URL="", FERRYMAN_KEY="", FERRYMAN_DATA=str(tmp_path))
    assert (result.exit_code, result.stdout) == (1, "")
    assert "ferryman up" in result.stderr


def test_the_bridge_writes_a_line_for_each_request_and_nothing_else(service: dict[str, str]) -> None:
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    messages = [{"jsonrpc": "2.0", "id": number, "method": "tools/list", "params": {"_meta": meta}} for number in (1, 2)]
    ran = subprocess.run(
        [find_command(), "mcp", "serve"],
        input="".join(f"{json.dumps(message)}\n" for message in messages) + "no message\n",
        env={**os.environ, **service},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = [json.loads(line) for line in ran.stdout.splitlines()]
    assert (ran.returncode, ran.stderr) == (0, "")
    assert sorted(str(line["id"]) for line in lines) == ["1", "2", "None"]
    assert [line["error"]["code"] for line in lines if "error" in line] == [-32700]
