"""What to paste into the configuration of MCP clients, in the form that each documents.

Without a key in it, the key comes from a variable of the client's environment, from an input that the client asks for, or from
the local stack's own folder.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

CLAUDE, CURSOR, VSCODE = CLIENTS = ("claude", "cursor", "vscode")
STDIO, HTTP = "stdio", "http"
NAME = "ferryman"
INPUT = "ferryman-key"
PLACEHOLDERS = {CLAUDE: "${FERRYMAN_KEY}", CURSOR: "${env:FERRYMAN_KEY}", VSCODE: f"${{input:{INPUT}}}"}
"""How each client writes a value that it fills in itself."""

PLACES = {
    CLAUDE: "Claude Code reads it from .mcp.json in the project, and Claude Desktop (stdio) from claude_desktop_config.json.",
    CURSOR: "Cursor reads it from ~/.cursor/mcp.json, or .cursor/mcp.json in the project.",
    VSCODE: "VS Code reads it from .vscode/mcp.json in the project, or from the mcp.json of the user's profile.",
}


def write_config(
    client: str, transport: str, *, url: str, key: str | None, agent: str | None = None, local: Path | None = None
) -> str:
    """Return the JSON to paste. `key` is in it where it is not None; `local` is the data folder of a local stack, whose key the
    bridge reads there."""
    secret = PLACEHOLDERS[client] if key is None else key
    if transport == HTTP:
        server = _describe_http(client, url, secret, agent)
    else:
        server = _describe_stdio(client, url, secret, agent, local if key is None else None)
    config: dict[str, Any] = {"servers" if client == VSCODE else "mcpServers": {NAME: server}}
    if client == VSCODE and PLACEHOLDERS[VSCODE] in json.dumps(server):
        asking = {"type": "promptString", "id": INPUT, "description": "API key of Ferryman", "password": True}
        config = {"inputs": [asking], **config}
    return json.dumps(config, indent=2)


def describe_place(client: str, transport: str, *, is_key_shown: bool, is_local: bool) -> str:
    """Return where it goes, and where its key comes from."""
    if is_key_shown:
        source = "Your API key is in it: keep it out of what is shared."
    elif is_local and transport == STDIO:
        source = "The key is read from the folder of the local stack."
    elif client == VSCODE:
        source = "VS Code asks for the API key, once."
    else:
        source = (
            "The client takes the API key from the variable FERRYMAN_KEY; for Claude Desktop it has to be in it: --show-key."
        )
    return f"{PLACES[client]}\n{source}"


def _describe_http(client: str, url: str, secret: str, agent: str | None) -> dict[str, Any]:
    query = f"?{urlencode({'agent': agent})}" if agent else ""
    server = {"url": f"{url}/mcp{query}", "headers": {"Authorization": f"Bearer {secret}"}}
    return server if client == CURSOR else {"type": "http", **server}


def _describe_stdio(client: str, url: str, secret: str, agent: str | None, local: Path | None) -> dict[str, Any]:
    remote = {"FERRYMAN_URL": url, "FERRYMAN_KEY": secret}
    environment = remote if local is None else {"FERRYMAN_DATA": str(local.resolve())}
    arguments = ["mcp", "serve", *(["--agent", agent] if agent else [])]
    server = {"command": find_command(), "args": arguments, "env": environment}
    return {"type": "stdio", **server} if client == VSCODE else server


def find_command() -> str:
    """Return the path of this command: a client's own search path may lack it."""
    beside = Path(sys.executable).with_name("ferryman")
    return str(beside) if beside.exists() else shutil.which("ferryman") or "ferryman"
