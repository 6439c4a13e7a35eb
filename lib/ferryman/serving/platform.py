"""platform as a function: the platform's own MCP server for the runtime. A request is verified before anything of it runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import UUID

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from ferryman.domain.signed_request import (
    AGE_MAX,
    IDENTITY_HEADER,
    MCP_PATH,
    RequestToken,
    SignedRequest,
    UnsignedRequestError,
    verify_request,
)
from ferryman.serving import entry
from ferryman.serving.entry import Handler
from ferryman.serving.faults import describe_fault
from ferryman.serving.mcp import Complete, McpError, McpExchange, McpServer, refuse_http, refuse_params, respond
from ferryman.serving.mcp.server import hide_error
from ferryman.serving.problems import create_problem
from ferryman.settings import Settings

if TYPE_CHECKING:
    from ferryman.composition.platform import PlatformFunction

LIST_TTL_MS = 300_000
"""For how long a client may take the list of tools for the present one: it changes with a deployment alone."""

NONCE_MARGIN = timedelta(minutes=10)
"""For how much longer a nonce is remembered than its token is good for, whatever clocks say."""


def build_function(known: Settings) -> PlatformFunction:
    """Return what the function is made of."""
    from ferryman.composition.platform import PlatformFunction

    function = PlatformFunction(known)
    function.load()
    return function


def serve(build: Callable[[Settings], PlatformFunction] = build_function) -> Handler:
    """Return the function's `main`: POST /mcp is a request of the Model Context Protocol, signed for one user in one workspace.

    401 without a token that was signed for exactly this request within the last five minutes and was not used before, or for
    the wrong caller; 403 for a call that is none of the token's user and workspace.
    """
    return entry.serve(build, _answer, entry.allow_callers, identity=IDENTITY_HEADER)


async def _answer(function: PlatformFunction, request: Request) -> Response:
    if request.url.path != MCP_PATH:
        return create_problem(404, "there is nothing here")
    try:
        with function.tracer.span("platform", kind="server", parent=request.headers.get("traceparent", "")):
            return await respond(build_server(function), request)
    finally:
        await function.tracer.flush()


def build_server(function: PlatformFunction) -> McpServer:
    """Return the server."""

    def translate(error: Exception, exchange: McpExchange | None) -> McpError:
        function.tracer.line("platform.fault", **describe_fault(error), severity="ERROR")
        return hide_error(error, exchange)

    return McpServer(
        name="ferryman-platform",
        version="1",
        title="Ferryman, for its own runtime",
        clock=function.dependencies.clock,
        capabilities={"tools": {}},
        methods={"tools/list": list_tools, "tools/call": partial(call_tool, function)},
        authenticate=partial(authenticate, function),
        principal=lambda token: f"{token.workspace} {token.user}",
        translate=translate,
    )


async def authenticate(function: PlatformFunction, request: Request, body: bytes) -> RequestToken:
    """Return whom a request is for. Raise `HTTPException` with 401, or `UnavailableError` where the keys cannot be read."""
    signed = _read_signed(request, body)
    headers, now = request.headers.getlist("authorization"), function.dependencies.clock.now()
    authorization = headers[0] if len(headers) == 1 else None
    try:
        try:
            token = verify_request(await function.keys.valid(), authorization, signed, now=now)
        except UnsignedRequestError:
            newer = await function.keys.renewed()  # it may have been signed with a version that came since they were read
            if not newer:
                raise
            token = verify_request(newer, authorization, signed, now=now)
    except UnsignedRequestError as error:
        function.tracer.line("platform.refused", reason=str(error), severity="WARNING")
        raise HTTPException(401, str(error), {"WWW-Authenticate": "Bearer"}) from None
    if not await function.nonces.use(token.nonce, until=token.at + AGE_MAX + NONCE_MARGIN):
        function.tracer.line("platform.refused", reason="replay", severity="WARNING")
        raise HTTPException(401, "the token was used before", {"WWW-Authenticate": "Bearer"})
    return token


def _read_signed(request: Request, body: bytes) -> SignedRequest:
    """Return what must have been signed. Raise `HTTPException` where a header that counts comes twice."""
    named = {name: request.headers.getlist(name) for name in ("mcp-method", "mcp-name")}
    if any(len(values) > 1 for values in named.values()):
        raise HTTPException(401, "a header that is signed comes twice")
    path, query = request.scope.get("raw_path") or request.url.path.encode(), request.scope.get("query_string", b"")
    target = path.partition(b"?")[0] + (b"?" + query if query else b"")
    method, name = ("".join(named[header]) for header in ("mcp-method", "mcp-name"))
    return SignedRequest(method=request.method, path=target.decode("latin-1"), mcp_method=method, mcp_name=name, body=body)


async def list_tools(_: McpExchange) -> Complete:
    """Return the tools of the platform, in the catalog's order: the same for everybody."""
    from ferryman.catalog.tools import PLATFORM, TOOLS

    tools = [
        {"name": tool.name, "title": tool.display_name, "description": tool.description, "inputSchema": dict(tool.schema)}
        for tool in TOOLS.values()
        if tool.kind == PLATFORM
    ]
    return Complete({"tools": tools}, ttl_ms=LIST_TTL_MS, scope="public")


async def call_tool(function: PlatformFunction, exchange: McpExchange) -> Complete:
    """Run a tool for the token's user in its workspace. Raise `McpError`, or `UnavailableError` to have it called again."""
    from ferryman.catalog.tools import PLATFORM, TOOLS
    from ferryman.domain.calls.call import ToolCall
    from ferryman.ports.local_functions import build_user_id
    from ferryman.tools.local_function.execute import answer
    from ferryman.tools.platform.call import InvalidCallError, begin_call
    from ferryman.tools.platform.forwarding import CALL_META, CODE_META

    name, arguments = exchange.get_text("name"), exchange.get_object("arguments")
    if name not in TOOLS or TOOLS[name].kind != PLATFORM:
        raise refuse_params(f"there is no tool {name!r}")
    meta = exchange.params.get("_meta")
    try:
        call = await begin_call(
            function.dependencies, exchange.caller, meta.get(CALL_META) if isinstance(meta, Mapping) else None
        )
    except InvalidCallError as error:
        function.tracer.line("platform.refused", reason=str(error), tool=name, severity="WARNING")
        raise refuse_http(403, str(error)) from None
    tool_call = ToolCall(id=f"{call.execution.id}-{call.seq}", name=name, arguments=dict(arguments))
    with function.tracer.span(f"execute {name}", {"gen_ai.tool.name": name}, kind="server"):
        answered = await answer(tool_call, UUID(build_user_id(call.execution.context)), call)
    if call.faults:
        raise call.faults[0]
    failed: dict[str, Any] = {} if answered.code is None else {"isError": True, "_meta": {CODE_META: answered.code}}
    return Complete({"content": [{"type": "text", "text": answered.content}], **failed})
