"""The admin: what tests and the command line change and look up while the local cloud runs, in JSON over HTTP."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from emulator.functions import Failed
from emulator.internet.oauth import Server, read_rules
from emulator.internet.routes import read_route
from emulator.reading import Invalid, checked, member, obj, only, strings
from emulator.web import App, from_programs_only

if TYPE_CHECKING:
    from emulator.cloud import Cloud

Answer = Mapping[str, object]
Handler = Callable[["Cloud", Request], Awaitable[Answer]]


class Unknown(Exception):  # noqa: N818 - it reads `raise Unknown(…)`
    """There is nothing of that name."""


def admin_app(cloud: Cloud) -> App:
    """The application of one cloud."""

    def route(path: str, method: str, handler: Handler, status: int = 200) -> Route:
        async def endpoint(request: Request) -> JSONResponse:
            try:
                return JSONResponse(await handler(cloud, request), status)
            except Invalid as error:
                return _error(400, str(error))
            except Unknown as error:
                return _error(404, str(error))
            except Failed as error:
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
    return from_programs_only(Starlette(routes=routes))


async def _status(cloud: Cloud, _: Request) -> Answer:
    return cloud.status()


async def _function(cloud: Cloud, request: Request) -> Answer:
    return cloud.functions.status(_name(cloud, request))


async def _run(cloud: Cloud, request: Request) -> Answer:
    return await cloud.run(_name(cloud, request), await _env(request))


async def _change(cloud: Cloud, request: Request) -> Answer:
    name = _name(cloud, request)
    try:
        return await cloud.change(name, await _env(request))
    except KeyError:
        raise Unknown(f"{name} was not started") from None


async def _env(request: Request) -> dict[str, str]:
    body = await _body(request, "env")
    env = member(body, "env", dict, "body", {})
    for key, value in env.items():
        text = checked(value, str, f"body.env.{key}")
        if not key or "=" in key or "\0" in key + text:
            raise Invalid(f"body.env.{key} cannot stand in an environment")
    return env


async def _token(cloud: Cloud, request: Request) -> Answer:
    """An identity token of any account, as whoever may impersonate it gets one."""
    body = await _body(request, "email", "audience")
    email, audience = (member(body, name, str, "body") for name in ("email", "audience"))
    return {"token": cloud.tokens.mint(email, audience)}


async def _stop(cloud: Cloud, request: Request) -> Answer:
    name = _name(cloud, request)
    if not await cloud.stop(name):
        raise Unknown(f"{name} was not started")
    return cloud.functions.status(name)


async def _kill(cloud: Cloud, request: Request) -> Answer:
    name = _name(cloud, request)
    if not await cloud.functions.kill(name):
        raise Unknown(f"{name} is not running")
    return cloud.functions.status(name)


async def _hosts(cloud: Cloud, _: Request) -> Answer:
    return {"hosts": cloud.internet.hosts()}


async def _put_host(cloud: Cloud, request: Request) -> Answer:
    body = await _body(request, "port", "routes", "oauth", "addresses", "dial")
    host = request.path_params["name"]
    if sum(kind in body for kind in ("port", "routes", "oauth")) != 1:
        raise Invalid("body must have either port, routes or oauth")
    if "oauth" in body:
        cloud.internet.authorize(host, read_rules(body["oauth"], "body.oauth"))
        return {"name": host.lower(), **cloud.internet.hosts()[host.lower()]}
    addresses = strings(body.get("addresses", []), "body.addresses")
    port = member(body, "port", int, "body", cloud.internet.port)
    dial = _dial(body["dial"], port) if "dial" in body else None
    if "port" in body:
        cloud.internet.map(host, port, addresses=addresses, dial=dial)
    else:
        items = member(body, "routes", list, "body")
        routes = [read_route(item, f"body.routes[{n}]") for n, item in enumerate(items)]
        cloud.internet.can(host, routes, addresses=addresses, dial=dial)
    return {"name": host.lower(), **cloud.internet.hosts()[host.lower()]}


def _dial(value: object, port: int) -> dict[str, int]:
    """Address to port; a mere list of addresses leads to the host's own port."""
    if isinstance(value, list):
        return dict.fromkeys(strings(value, "body.dial"), port)
    return {key: checked(item, int, f"body.dial.{key}") for key, item in obj(value, "body.dial").items()}


async def _remove_host(cloud: Cloud, request: Request) -> Answer:
    name = request.path_params["name"]
    if not cloud.internet.remove(name):
        raise Unknown(f"there is no host {name}")
    return {"name": name}


def _server(cloud: Cloud, request: Request) -> Server:
    name = request.path_params["name"]
    server = cloud.internet.server(name)
    if server is None:
        raise Unknown(f"{name} is no OAuth server")
    return server


async def _oauth(cloud: Cloud, request: Request) -> Answer:
    return _server(cloud, request).report()


async def _change_oauth(cloud: Cloud, request: Request) -> Answer:
    """Other rules; what was given out stays good for as long as it was given out for."""
    server = _server(cloud, request)
    server.rules = read_rules(await _json(request), "body", server.rules)
    return server.report()


async def _requests(cloud: Cloud, request: Request) -> Answer:
    host = request.query_params.get("host")
    return {"requests": [asked.as_json() for asked in cloud.internet.requests(host)]}


async def _forget_requests(cloud: Cloud, _: Request) -> Answer:
    cloud.internet.forget()
    return {"requests": []}


async def _trust(cloud: Cloud, request: Request) -> Answer:
    path = Path(member(await _body(request, "path"), "path", str, "body"))
    if not path.is_absolute():
        raise Invalid("body.path must be absolute")
    cloud.internet.trust(path)
    return {"bundle": str(cloud.internet.bundle)}


async def _scripts(cloud: Cloud, _: Request) -> Answer:
    return {"scripts": cloud.messages.names()}


async def _put_script(cloud: Cloud, request: Request) -> Answer:
    cloud.messages.put(request.path_params["name"], await _json(request))
    return await _script(cloud, request)


async def _script(cloud: Cloud, request: Request) -> Answer:
    name = request.path_params["name"]
    report = cloud.messages.report(name)
    if report is None:
        raise Unknown(f"there is no script {name}")
    return report


async def _remove_script(cloud: Cloud, request: Request) -> Answer:
    name = request.path_params["name"]
    if not cloud.messages.remove(name):
        raise Unknown(f"there is no script {name}")
    return {"name": name}


async def _model_requests(cloud: Cloud, _: Request) -> Answer:
    return {"requests": cloud.messages.requests()}


async def _forget_model_requests(cloud: Cloud, _: Request) -> Answer:
    cloud.messages.forget()
    return {"requests": []}


async def _delivered(cloud: Cloud, _: Request) -> Answer:
    return {"tasks": cloud.tasks.delivered()}


async def _forget_delivered(cloud: Cloud, _: Request) -> Answer:
    cloud.tasks.forget()
    return {"tasks": []}


async def _advance(cloud: Cloud, request: Request) -> Answer:
    seconds = member(await _body(request, "seconds"), "seconds", float, "body")
    try:
        cloud.clock.advance(timedelta(seconds=seconds))
    except (ValueError, OverflowError) as error:
        raise Invalid(f"the clock cannot be turned by {seconds} seconds: {error}") from error
    return {"now": cloud.clock.now().isoformat()}


async def _certs(cloud: Cloud, _: Request) -> Answer:
    return cloud.tokens.certs()


async def _jwks(cloud: Cloud, _: Request) -> Answer:
    return cloud.tokens.jwks()


async def _shutdown(cloud: Cloud, _: Request) -> Answer:
    cloud.stopping.set()
    return {"state": "stopping"}


def _name(cloud: Cloud, request: Request) -> str:
    name: str = request.path_params["name"]
    if name not in cloud.functions.rows:
        raise Unknown(f"there is no function {name}; there are {', '.join(cloud.functions.rows)}")
    return name


async def _json(request: Request) -> object:
    try:
        return json.loads(await request.body())
    except (ValueError, RecursionError) as error:
        raise Invalid(f"the body is not JSON: {error}") from error


async def _body(request: Request, *known: str) -> dict[str, object]:
    body = obj(await _json(request), "body")
    only(body, known, "body")
    return body


def _error(status: int, text: str) -> JSONResponse:
    return JSONResponse({"error": text}, status)
