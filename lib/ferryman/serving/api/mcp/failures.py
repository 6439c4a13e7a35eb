"""Failures: what a client of /mcp learns of an exception. None repeats what was sent, and none tells where in the code."""

from __future__ import annotations

from ferryman.composition.api import ApiDependencies
from ferryman.domain.owners.limit import LimitReachedError
from ferryman.domain.problem import InvalidInputError
from ferryman.domain.stale import StaleError
from ferryman.domain.workspaces.agent import AgentGoneError
from ferryman.domain.workspaces.workspace import WorkspaceClosedError, WorkspaceGoneError
from ferryman.serving.faults import describe_fault
from ferryman.serving.mcp.errors import McpError, refuse_http, refuse_params
from ferryman.serving.mcp.exchange import McpExchange
from ferryman.serving.mcp.server import hide_error


def translate(deps: ApiDependencies, error: Exception, exchange: McpExchange | None) -> McpError:
    """Return the error of a request that ended with `error`; what nobody expected is logged, by its kind and place alone."""
    match error:
        case InvalidInputError():
            return refuse_params("; ".join(f"{problem.field} {problem.message}" for problem in error.problems))
        case WorkspaceGoneError():
            return refuse_http(404, "there is no such workspace")
        case AgentGoneError():
            return refuse_http(404, "there is no such agent")
        case WorkspaceClosedError() | LimitReachedError():
            return refuse_http(409, str(error))
        case StaleError():
            return refuse_http(409, f"{error}; try again")
    method = "" if exchange is None else exchange.method
    deps.tracer.line("mcp.crash", severity="ERROR", method=method, **describe_fault(error))
    return hide_error(error, exchange)
