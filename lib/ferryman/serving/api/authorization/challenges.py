"""Challenges (RFC 6750, 3): what a client that may not is told to come back with, in `WWW-Authenticate`."""

from __future__ import annotations

from starlette.exceptions import HTTPException

from ferryman.catalog.tools import find_tool
from ferryman.composition.api import ApiDependencies
from ferryman.domain.executions.execution import Execution
from ferryman.domain.workspaces.identity import READ_SCOPE, RUN_SCOPE, TOOLS_SCOPE
from ferryman.domain.workspaces.member import Right
from ferryman.domain.workspaces.tool_scopes import covers_tool
from ferryman.serving.api.access import build_unauthorized_error
from ferryman.serving.api.rights import Caller, check_right

FIRST_SCOPES = (READ_SCOPE, RUN_SCOPE)
"""What a client is told to ask for that has no token yet."""

OWN_CATEGORY = "tasks"
"""The category of this server's own tools at /mcp, which start tasks and talk with agents."""

SCOPE_OF = {Right.READ: READ_SCOPE, Right.RUN: RUN_SCOPE}


def build_challenge(deps: ApiDependencies, *, scopes: tuple[str, ...], error: str = "", about: str = "") -> str:
    """Return the value of `WWW-Authenticate`. `about` is a sentence of ours, without quotes."""
    if deps.resource is None:
        return "Bearer"
    named = {"error": error, "error_description": about, "scope": " ".join(scopes)}
    named["resource_metadata"] = deps.resource.metadata_url
    return "Bearer " + ", ".join(f'{name}="{value}"' for name, value in named.items() if value)


def build_unauthorized(deps: ApiDependencies, about: str = "") -> HTTPException:
    """Return the 401 for a request without a valid API key or access token; `about` says what is wrong with the one it has."""
    if deps.resource is None:
        return build_unauthorized_error()
    error = "invalid_token" if about else ""
    detail = f"the access token is not accepted: {about}" if about else "an API key or an access token is required"
    return HTTPException(
        401, detail, {"WWW-Authenticate": build_challenge(deps, scopes=FIRST_SCOPES, error=error, about=about)}
    )


def check_scope(deps: ApiDependencies, caller: Caller, tool: str, category: str) -> None:
    """Raise 403 where the caller has an access token that does not cover the tool of this name and `category`.

    The client is told which scopes it needs: step-up authorization.
    """
    if caller.key.issuer and not covers_tool(caller.key.tools, tool, category):
        needed = (READ_SCOPE, f"{TOOLS_SCOPE}{category}")
        raise _refuse_scope(deps, needed, f"tools of the category {category} need another scope")


def check_execution(deps: ApiDependencies, caller: Caller, execution: Execution) -> None:
    """Raise 403 where the caller is narrowed to tools that do not cover what the execution does: one of a task or an answer is
    covered as the tools are that start those."""
    tool = execution.called_tool
    category = find_tool(tool).category if tool else OWN_CATEGORY
    check_scope(deps, caller, tool, category)
    if not covers_tool(caller.key.tools, tool, category):
        raise HTTPException(403, "this API key is narrowed to tools, and the execution is of another one")


def require_right(deps: ApiDependencies, caller: Caller, right: Right) -> None:
    """Raise 403 where the caller lacks this right. A client with an access token is told which scope it needs, where another
    scope would give it."""
    if right not in caller.rights and right not in caller.key.scopes and caller.key.issuer and right in SCOPE_OF:
        needed = tuple(dict.fromkeys((READ_SCOPE, SCOPE_OF[right])))
        raise _refuse_scope(deps, needed, f"this needs the right {right}")
    check_right(right, caller)


def _refuse_scope(deps: ApiDependencies, scopes: tuple[str, ...], about: str) -> HTTPException:
    challenge = build_challenge(deps, scopes=scopes, error="insufficient_scope", about=about)
    return HTTPException(403, f"{about}: {' '.join(scopes)}", {"WWW-Authenticate": challenge})
