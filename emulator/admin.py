"""The admin: what tests and the command line change and look up while the local cloud runs, in JSON over HTTP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Protocol

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from emulator.access import PortToken, is_allowed
from emulator.clock import EmulatorClock
from emulator.functions import FunctionFailedError, Functions
from emulator.identity import IdentityTokens
from emulator.internet import Internet
from emulator.internet.mcp import SimulatedMcpServer, read_mcp_rules
from emulator.internet.oauth import OAuthServer, read_rules
from emulator.internet.routes import read_route
from emulator.messages import Messages
from emulator.reading import InvalidRequestError, check_kind, read_member, read_object, read_strings, refuse_unknown
from emulator.tasks import CloudTasksEmulator
from emulator.web import App, behind_bearer

Answer = Mapping[str, object]


class ManagedCloud(Protocol):
    """What the admin needs of a local cloud. `stopping` asks for its end."""

    functions: Functions
    internet: Internet
    messages: Messages
    tasks: CloudTasksEmulator
    tokens: IdentityTokens
    clock: EmulatorClock
    token: PortToken
    stopping: asyncio.Event

    def status(self) -> dict[str, object]:
        """Return everything another program may want to know, without secrets."""
        ...

    async def run(self, name: str, env: Mapping[str, str]) -> dict[str, object]:
        """Start or restart a function."""
        ...

    async def change(self, name: str, env: Mapping[str, str]) -> dict[str, object]:
        """Restart a function with these variables changed. Raise KeyError if it was never started."""
        ...

    async def stop(self, name: str) -> bool:
        """End a function; false if it was not started."""
        ...


Handler = Callable[[ManagedCloud, Request], Awaitable[Answer]]


class UnknownFunctionError(Exception):
    """There is nothing of that name."""


def admin_app(cloud: ManagedCloud) -> App:
    """Return the application of one cloud."""

    def route(path: str, method: str, handler: Handler, status: int = 200) -> Route:
        async def endpoint(request: Request) -> JSONResponse:
            try:
                return JSONResponse(await handler(cloud, request), status)
            except InvalidRequestError as error:
                return _error(400, str(error))
            except UnknownFunctionError as error:
                return _error(404, str(error))
            except FunctionFailedError as error:
                return _error(500, str(error))

        return Route(path, endpoint, methods=[method])

    routes = [
        route("/", "GET", _status),
        route("/functions/{name}", "GET", _function),
        route("/functions/{name}", "PUT", _run),
        route("/functions/{name}", "PATCH", _change),
        route("/functions/{name}", "DELETE", _stop),
        route("/functions/{name}/kill", "POST", _kill),
        route("/hosts", "GET", _hosts),
        route("/hosts/{name}", "PUT", _put_host),
        route("/hosts/{name}", "DELETE", _remove_host),
        route("/oauth/{name}", "GET", _oauth),
        route("/oauth/{name}", "PATCH", _change_oauth),
        route("/mcp/{name}", "GET", _mcp),
        route("/mcp/{name}", "PATCH", _change_mcp),
        route("/mcp/{name}/sessions", "DELETE", _forget_sessions),
        route("/requests", "GET", _requests),
        route("/requests", "DELETE", _forget_requests),
        route("/ca", "POST", _trust),
        route("/scripts", "GET", _scripts),
        route("/scripts/{name}", "PUT", _put_script),
        route("/scripts/{name}", "GET", _script),
        route("/scripts/{name}", "DELETE", _remove_script),
        route("/model/requests", "GET", _model_requests),
        route("/model/requests", "DELETE", _forget_model_requests),
        route("/tasks/delivered", "GET", _delivered),
        route("/tasks/delivered", "DELETE", _forget_delivered),
        route("/clock/advance", "POST", _advance),
        route("/tokens", "POST", _token),
        route("/certs", "GET", _certs),
        route("/jwks", "GET", _jwks),
        route("/shutdown", "POST", _shutdown, 202),
    ]
    return behind_bearer(Starlette(routes=routes), cloud.token)


async def _status(cloud: ManagedCloud, _: Request) -> Answer:
    return cloud.status()


async def _function(cloud: ManagedCloud, request: Request) -> Answer:
    return cloud.functions.status(_name(cloud, request))


async def _run(cloud: ManagedCloud, request: Request) -> Answer:
    name = _name(cloud, request)
    return await cloud.run(name, await _env(request, cloud.functions.rows[name].environment))


async def _change(cloud: ManagedCloud, request: Request) -> Answer:
    name = _name(cloud, request)
    try:
        return await cloud.change(name, await _env(request, cloud.functions.rows[name].environment))
    except KeyError:
        raise UnknownFunctionError(f"{name} was not started") from None


async def _env(request: Request, allowed: Sequence[str]) -> dict[str, str]:
    body = await _body(request, "env")
    env = read_member(body, "env", dict, "body", {})
    for key, value in env.items():
        text = check_kind(value, str, f"body.env.{key}")
        if not key or "=" in key or "\0" in key + text:
            raise InvalidRequestError(f"body.env.{key} cannot be set in an environment")
        if not is_allowed(key, allowed):
            raise InvalidRequestError(
                f"body.env.{key} may not be set: the table's `environment` allows {', '.join(allowed) or 'nothing'}"
            )
    return env


async def _token(cloud: ManagedCloud, request: Request) -> Answer:
    """Return an identity token of any account, as one who may impersonate it gets."""
    body = await _body(request, "email", "audience")
    email, audience = (read_member(body, name, str, "body") for name in ("email", "audience"))
    return {"token": cloud.tokens.mint(email, audience)}


async def _stop(cloud: ManagedCloud, request: Request) -> Answer:
    name = _name(cloud, request)
    if not await cloud.stop(name):
        raise UnknownFunctionError(f"{name} was not started")
    return cloud.functions.status(name)


async def _kill(cloud: ManagedCloud, request: Request) -> Answer:
    name = _name(cloud, request)
    if not await cloud.functions.kill(name):
        raise UnknownFunctionError(f"{name} is not running")
    return cloud.functions.status(name)


async def _hosts(cloud: ManagedCloud, _: Request) -> Answer:
    return {"hosts": cloud.internet.hosts()}


async def _put_host(cloud: ManagedCloud, request: Request) -> Answer:
    body = await _body(request, "port", "routes", "oauth", "mcp", "addresses", "dial", "lookup_s")
    host = request.path_params["name"]
    if sum(kind in body for kind in ("port", "routes", "oauth", "mcp")) != 1:
        raise InvalidRequestError("body must have either port, routes, oauth or mcp")
    if "mcp" in body:
        cloud.internet.serve_mcp(host, read_mcp_rules(body["mcp"], "body.mcp"))
        return {"name": host.lower(), **cloud.internet.hosts()[host.lower()]}
    if "oauth" in body:
        cloud.internet.authorize(host, read_rules(body["oauth"], "body.oauth"))
        return {"name": host.lower(), **cloud.internet.hosts()[host.lower()]}
    addresses = read_strings(body.get("addresses", []), "body.addresses")
    port = read_member(body, "port", int, "body", cloud.internet.port)
    dial = _dial(body["dial"], port) if "dial" in body else None
    if "port" in body:
        cloud.internet.map(host, port, addresses=addresses, dial=dial)
    else:
        items = read_member(body, "routes", list, "body")
        routes = [read_route(item, f"body.routes[{n}]") for n, item in enumerate(items)]
        cloud.internet.can(host, routes, addresses=addresses, dial=dial)
    if "lookup_s" in body:
        cloud.internet.slow(host, read_member(body, "lookup_s", float, "body"))
    return {"name": host.lower(), **cloud.internet.hosts()[host.lower()]}


def _dial(value: object, port: int) -> dict[str, int]:
    """Return address to port; a mere list of addresses leads to the host's own port."""
    if isinstance(value, list):
        return dict.fromkeys(read_strings(value, "body.dial"), port)
    return {key: check_kind(item, int, f"body.dial.{key}") for key, item in read_object(value, "body.dial").items()}


async def _remove_host(cloud: ManagedCloud, request: Request) -> Answer:
    name = request.path_params["name"]
    if not cloud.internet.remove(name):
        raise UnknownFunctionError(f"there is no host {name}")
    return {"name": name}


def _server(cloud: ManagedCloud, request: Request) -> OAuthServer:
    name = request.path_params["name"]
    server = cloud.internet.server(name)
    if server is None:
        raise UnknownFunctionError(f"{name} is no OAuth server")
    return server


async def _oauth(cloud: ManagedCloud, request: Request) -> Answer:
    return _server(cloud, request).report()


async def _change_oauth(cloud: ManagedCloud, request: Request) -> Answer:
    """Change the rules; what was issued stays valid until it expires."""
    server = _server(cloud, request)
    server.rules = read_rules(await _json(request), "body", server.rules)
    return server.report()


def _mcp_server(cloud: ManagedCloud, request: Request) -> SimulatedMcpServer:
    name = request.path_params["name"]
    server = cloud.internet.mcp_server(name)
    if server is None:
        raise UnknownFunctionError(f"{name} is no MCP server")
    return server


async def _mcp(cloud: ManagedCloud, request: Request) -> Answer:
    return _mcp_server(cloud, request).report()


async def _change_mcp(cloud: ManagedCloud, request: Request) -> Answer:
    """Change the rules, from the next request on."""
    server = _mcp_server(cloud, request)
    server.rules = read_mcp_rules(await _json(request), "body", server.rules)
    return server.report()


async def _forget_sessions(cloud: ManagedCloud, request: Request) -> Answer:
    server = _mcp_server(cloud, request)
    server.forget_sessions()
    return server.report()


async def _requests(cloud: ManagedCloud, request: Request) -> Answer:
    host = request.query_params.get("host")
    return {"requests": [received.as_json() for received in cloud.internet.requests(host)]}


async def _forget_requests(cloud: ManagedCloud, _: Request) -> Answer:
    cloud.internet.forget()
    return {"requests": []}


async def _trust(cloud: ManagedCloud, request: Request) -> Answer:
    path = Path(read_member(await _body(request, "path"), "path", str, "body"))
    if not path.is_absolute():
        raise InvalidRequestError("body.path must be absolute")
    cloud.internet.trust(path)
    return {"bundle": str(cloud.internet.bundle)}


async def _scripts(cloud: ManagedCloud, _: Request) -> Answer:
    return {"scripts": cloud.messages.names()}


async def _put_script(cloud: ManagedCloud, request: Request) -> Answer:
    cloud.messages.put(request.path_params["name"], await _json(request))
    return await _script(cloud, request)


async def _script(cloud: ManagedCloud, request: Request) -> Answer:
    name = request.path_params["name"]
    report = cloud.messages.report(name)
    if report is None:
        raise UnknownFunctionError(f"there is no script {name}")
    return report


async def _remove_script(cloud: ManagedCloud, request: Request) -> Answer:
    name = request.path_params["name"]
    if not cloud.messages.remove(name):
        raise UnknownFunctionError(f"there is no script {name}")
    return {"name": name}


async def _model_requests(cloud: ManagedCloud, _: Request) -> Answer:
    return {"requests": cloud.messages.requests()}


async def _forget_model_requests(cloud: ManagedCloud, _: Request) -> Answer:
    cloud.messages.forget()
    return {"requests": []}


async def _delivered(cloud: ManagedCloud, _: Request) -> Answer:
    return {"tasks": cloud.tasks.delivered()}


async def _forget_delivered(cloud: ManagedCloud, _: Request) -> Answer:
    cloud.tasks.forget()
    return {"tasks": []}


async def _advance(cloud: ManagedCloud, request: Request) -> Answer:
    seconds = read_member(await _body(request, "seconds"), "seconds", float, "body")
    try:
        cloud.clock.advance(timedelta(seconds=seconds))
    except (ValueError, OverflowError) as error:
        raise InvalidRequestError(f"the clock cannot be turned by {seconds} seconds: {error}") from error
    return {"now": cloud.clock.now().isoformat()}


async def _certs(cloud: ManagedCloud, _: Request) -> Answer:
    return cloud.tokens.certs()


async def _jwks(cloud: ManagedCloud, _: Request) -> Answer:
    return cloud.tokens.jwks()


async def _shutdown(cloud: ManagedCloud, _: Request) -> Answer:
    cloud.stopping.set()
    return {"state": "stopping"}


def _name(cloud: ManagedCloud, request: Request) -> str:
    name: str = request.path_params["name"]
    if name not in cloud.functions.rows:
        raise UnknownFunctionError(f"there is no function {name}; there are {', '.join(cloud.functions.rows)}")
    return name


async def _json(request: Request) -> object:
    try:
        return json.loads(await request.body())
    except (ValueError, RecursionError) as error:
        raise InvalidRequestError(f"the body is not JSON: {error}") from error


async def _body(request: Request, *known: str) -> dict[str, object]:
    body = read_object(await _json(request), "body")
    refuse_unknown(body, known, "body")
    return body


def _error(status: int, text: str) -> JSONResponse:
    return JSONResponse({"error": text}, status)
