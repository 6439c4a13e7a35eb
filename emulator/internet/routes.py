"""Routes: the canned answers of a simulated host."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from starlette.responses import Response

from emulator.reading import InvalidRequestError, check_kind, read_member, read_object, refuse_unknown

MEMBERS = ("method", "path", "status", "headers", "body", "json", "body_base64", "delay_s", "echo")


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One answer to one method and path (`*` is any); with `echo`, the body is the request as the host saw it."""

    method: str
    path: str
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    delay_s: float
    echo: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedRequest:
    """A request that a simulated host received; `at` is seconds since 1970. A body that is no UTF-8 is in base64."""

    host: str
    method: str
    path: str
    query: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    at: float

    def as_json(self) -> dict[str, object]:
        """Return the form that the admin answers; headers stay pairs, since a name may come twice."""
        return {
            "host": self.host,
            "method": self.method,
            "path": self.path,
            "query": self.query,
            "headers": [list(pair) for pair in self.headers],
            **_body_json(self.body),
            "time": self.at,
        }


def read_route(value: object, where: str) -> Route:
    """Return a route from JSON; raise InvalidRequestError."""
    source = read_object(value, where)
    refuse_unknown(source, MEMBERS, where)
    status = read_member(source, "status", int, where, 200)
    if not 200 <= status <= 599:
        raise InvalidRequestError(f"{where}.status must be 200 to 599, not {status}")
    path = read_member(source, "path", str, where)
    if not path.startswith("/") and path != "*":
        raise InvalidRequestError(f"{where}.path must start with /, or be * for any")
    delay_s = read_member(source, "delay_s", float, where, 0)
    if delay_s < 0:
        raise InvalidRequestError(f"{where}.delay_s must not be negative")
    body, kind = _body(source, where)
    headers = _headers(read_member(source, "headers", dict, where, {}), where)
    if kind and not any(name.lower() == "content-type" for name, _ in headers):
        headers = (*headers, ("content-type", kind))
    return Route(
        method=read_member(source, "method", str, where, "GET").upper(),
        path=path,
        status=status,
        headers=headers,
        body=body,
        delay_s=delay_s,
        echo=read_member(source, "echo", bool, where, False),
    )


def find(routes: Sequence[Route], method: str, path: str) -> Route | None:
    """Return the first route for this method and path."""
    return next((route for route in routes if route.path in (path, "*") and route.method in (method, "*")), None)


def answer(route: Route | None, received: ReceivedRequest) -> Response:
    """Return what the host answers; without a route, 404."""
    if route is None:
        return _json(404, {"error": f"no route for {received.method} {received.path} at {received.host}"})
    response = _json(route.status, _echo(received)) if route.echo else Response(route.body, route.status)
    for name, value in route.headers:
        response.headers.append(name, value)
    return response


def _echo(received: ReceivedRequest) -> dict[str, object]:
    seen = received.as_json()
    return {key: value for key, value in seen.items() if key not in ("time", "headers")} | {"headers": dict(received.headers)}


def _json(status: int, value: object) -> Response:
    return Response(json.dumps(value, ensure_ascii=False).encode(), status, media_type="application/json")


def _body(source: Mapping[str, object], where: str) -> tuple[bytes, str]:
    if len(members := [key for key in ("body", "json", "body_base64", "echo") if source.get(key) not in (None, False)]) > 1:
        raise InvalidRequestError(f"{where} has more than one body: {', '.join(members)}")
    if "json" in source:
        return json.dumps(source["json"], ensure_ascii=False).encode(), "application/json"
    if "body_base64" in source:
        try:
            return base64.b64decode(read_member(source, "body_base64", str, where), validate=True), "application/octet-stream"
        except binascii.Error as error:
            raise InvalidRequestError(f"{where}.body_base64 is not base64") from error
    text = read_member(source, "body", str, where, "")
    return text.encode(), "text/plain; charset=utf-8" if text else ""


def _headers(source: Mapping[str, object], where: str) -> tuple[tuple[str, str], ...]:
    pairs = []
    for name, value in source.items():
        for item in value if isinstance(value, list) else [value]:
            text = check_kind(item, str, f"{where}.headers.{name}")
            if not name.isascii() or not name.isprintable() or any(mark in text for mark in "\r\n\0"):
                raise InvalidRequestError(f"{where}.headers.{name} cannot be sent")
            pairs.append((name, text))
    return tuple(pairs)


def _body_json(body: bytes) -> dict[str, str]:
    try:
        return {"body": body.decode()}
    except UnicodeDecodeError:
        return {"body_base64": base64.b64encode(body).decode()}
