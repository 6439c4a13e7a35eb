"""Names of MCP servers and of their tools: `SERVER__TOOL` for the model, and what two names have in common that look alike."""

from __future__ import annotations

import hashlib
import re

from ferryman.domain.tools.names import PREFIX, has_prefix

SEPARATOR = "__"
"""What is between a server's name and its tool's. No declared or imported tool has it in its name."""

SERVER_CHARACTERS_MAX = 24
TOOL_CHARACTERS_MAX = 128
"""The longest name of a tool that a server may give it (MCP 2026-07-28, tools)."""

NAME_CHARACTERS_MAX = 64
"""The longest name that a model knows a tool by."""

_DIGEST_DIGITS = 6
_SERVER = re.compile(r"[a-z0-9]+(?:[_-][a-z0-9]+)*", re.ASCII)
_TOOL = re.compile(rf"[A-Za-z0-9_.-]{{1,{TOOL_CHARACTERS_MAX}}}", re.ASCII)
_NOT_FOR_MODELS = re.compile(r"[^A-Za-z0-9_-]", re.ASCII)
_SHAPES = str.maketrans("0123456789i", "olzeasgtbql", "_-.")
"""A digit and the letter that it looks like; no two digits become the same, so that `step_6` and `step_8` stay two names."""


def is_remote_name(name: str) -> bool:
    """Tell whether `name` has the form of the name of an MCP server's tool. None of the platform's own has it."""
    return SEPARATOR in name and not has_prefix(name)


def split_name(name: str) -> tuple[str, str]:
    """Return the server's name, and what the tool is called behind it. Raise ValueError for a name of another form."""
    server, separator, tool = name.partition(SEPARATOR)
    if not separator:
        raise ValueError(f"{name!r} is no name of an MCP server's tool")
    return server, tool


def build_tool_name(server: str, tool: str) -> str:
    """Return the name by which a model knows `tool` of `server`.

    What a model's tools may not have in their names becomes `_`, and more than 64 characters are cut; such a name ends with
    six hexadecimal digits of the SHA-256 of the tool's own, so that two tools do not become one.
    """
    name = f"{server}{SEPARATOR}{tool}"
    valid = _NOT_FOR_MODELS.sub("_", name)
    if valid == name and len(name) <= NAME_CHARACTERS_MAX:
        return name
    ending = "_" + hashlib.sha256(tool.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_DIGITS]
    return valid[: NAME_CHARACTERS_MAX - len(ending)] + ending


def is_mcp_name(tool: str) -> bool:
    """Tell whether a server may give a tool this name: 1 to 128 ASCII letters, digits, `_`, `-` and `.`."""
    return _TOOL.fullmatch(tool) is not None


def fold_name(name: str) -> str:
    """Return what an ASCII name has in common with all that look like it: in whatever case, with digits for letters, with or
    without `_`, `-` and `.`, and with `rn` for `m` or `vv` for `w`."""
    return name.lower().translate(_SHAPES).replace("rn", "m").replace("vv", "w")


def find_server_name_problem(name: str) -> str | None:
    """Return why no MCP server may have this name; None where it may."""
    if len(name) > SERVER_CHARACTERS_MAX or not _SERVER.fullmatch(name):
        return (
            f"must be 1 to {SERVER_CHARACTERS_MAX} lower-case letters and digits, with single '_' or '-' between them; "
            f"'{SEPARATOR}' ends it in the names of its tools"
        )
    if fold_name(name) == fold_name(PREFIX):
        return f"is the name of the platform's own tools, or looks like it ({PREFIX.removesuffix(SEPARATOR)})"
    return None
