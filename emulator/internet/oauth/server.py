"""The server: authorize, token, login and a protected resource, at one host of the pretend internet."""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
import re
import secrets
from collections.abc import Mapping
from urllib.parse import parse_qsl, unquote_plus, urlencode

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from emulator.clock import Clock
from emulator.internet.oauth import hostile
from emulator.internet.oauth.page import consent
from emulator.internet.oauth.rules import Rules
from emulator.internet.oauth.store import Refused, Store
from emulator.web import Receive, Scope, Send

LOOPBACK = re.compile(r"http://(127\.0\.0\.1|\[::1\])(:\d+)?(/[^?#]*)?")
NO_STORE = {"Cache-Control": "no-store"}


class Server:
    """An ASGI application; `rules` may be changed while it serves."""

    def __init__(self, rules: Rules, clock: Clock) -> None:
        self.rules = rules
        self._store = Store(clock)
        routes = [
            Route("/authorize", self._authorize, methods=["GET", "POST"]),
            Route("/token", self._token, methods=["POST"]),
            Route("/token/{kind}", self._hostile, methods=["POST"]),
            Route("/login", self._login, methods=["POST"]),
            Route("/login.txt", self._login, methods=["POST"]),
            Route("/resource", self._resource, methods=["GET", "POST"]),
            Route("/sessions", self._sessions, methods=["GET"]),
        ]
        self._app = Starlette(routes=routes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)

    def report(self) -> dict[str, object]:
        """How often each grant was used, and everything secret that was given out, for a search."""
        return {"counts": dict(self._store.counts), "issued": list(self._store.issued)}

    async def _authorize(self, request: Request) -> Response:
        if request.method == "POST":
            asked = _form(await request.body())
            decision = asked.pop("decision", "deny")
        else:
            asked = dict(request.query_params)
            decision = "" if self.rules.consent == "ask" else self.rules.consent
        self._store.counts["authorize"] += 1
        uri = asked.get("redirect_uri", "")
        if asked.get("client_id") not in self.rules.clients or not self._redirectable(uri):
            return PlainTextResponse("unknown client or redirect URI", 400)  # never redirected: RFC 6749, 4.1.2.1
        if asked.get("response_type") != "code":
            return _back(uri, asked, error="unsupported_response_type")
        if asked.get("code_challenge_method") != "S256" or len(asked.get("code_challenge", "")) != 43:
            return _back(uri, asked, error="invalid_request")
        if not decision:
            return HTMLResponse(consent(request.headers.get("host", ""), asked), headers=NO_STORE)
        if decision != "allow":
            return _back(uri, asked, error="access_denied")
        code = self._store.consented(
            self.rules,
            client=asked["client_id"],
            redirect_uri=uri,
            challenge=asked["code_challenge"],
            scope=asked.get("scope", ""),
        )
        return _back(uri, asked, code=code)

    async def _token(self, request: Request) -> Response:
        form = _form(await request.body())
        kind = form.get("grant_type", "")
        await asyncio.sleep(self.rules.delay_s)
        try:
            client = self._client(request, form, secret_needed=kind == "client_credentials")
            if kind == "authorization_code":
                answer = self._store.exchanged(self.rules, form, client)
            elif kind == "refresh_token":
                answer = self._store.refreshed(self.rules, form, client)
            elif kind == "client_credentials":
                answer = self._store.own(self.rules, client, form.get("scope", ""))
            else:
                raise Refused("unsupported_grant_type", "authorization_code, refresh_token or client_credentials")
        except Refused as refused:
            self._store.counts[f"refused {refused.error}"] += 1
            body = {"error": refused.error, "error_description": str(refused)}
            return JSONResponse(body, refused.status, headers=NO_STORE)
        self._store.counts[kind] += 1
        return JSONResponse(answer, headers=NO_STORE)

    async def _hostile(self, request: Request) -> Response:
        kind = request.path_params["kind"]
        if kind not in hostile.KINDS:
            return PlainTextResponse("not found", 404)
        self._store.counts[f"hostile {kind}"] += 1
        return hostile.answer(kind, _form(await request.body()), request.headers.get("authorization", ""))

    async def _login(self, request: Request) -> Response:
        """User and password, in JSON or a form; the token in JSON with its lifetime, or as a text that is nothing else."""
        body = await request.body()
        asked = _json(body) if "json" in request.headers.get("content-type", "") else _form(body)
        user, password = asked.get("username", ""), asked.get("password", "")
        self._store.counts["login"] += 1
        known = self.rules.users.get(user)
        if known is None or not secrets.compare_digest(known.encode(), password.encode()):
            return JSONResponse({"message": "wrong user or password"}, 401)
        token = self._store.session(self.rules, user)
        if request.url.path.endswith(".txt"):
            return PlainTextResponse(token + "\n")
        return JSONResponse({"session": {"id": token, "lives": self.rules.access_s}})

    async def _resource(self, request: Request) -> Response:
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        shown = (
            token if scheme.lower() == "bearer" else request.headers.get("x-session") or request.query_params.get("session", "")
        )
        good = self._store.good(shown)
        self._store.counts["resource" if good else "resource 401"] += 1
        if good:
            return JSONResponse({"resource": "yours"})
        return JSONResponse({"error": "invalid_token"}, 401, headers={"WWW-Authenticate": 'Bearer error="invalid_token"'})

    async def _sessions(self, _: Request) -> Response:
        return JSONResponse({"sessions": self._store.issued})

    def _redirectable(self, uri: str) -> bool:
        return LOOPBACK.fullmatch(uri) is not None or uri in self.rules.redirect_uris

    def _client(self, request: Request, form: Mapping[str, str], *, secret_needed: bool) -> str:
        """Who asks, by the basic header or the body (RFC 6749, 2.3.1)."""
        client, secret = form.get("client_id", ""), form.get("client_secret")
        scheme, _, encoded = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "basic":
            try:
                pair = base64.b64decode(encoded, validate=True).decode()
            except (binascii.Error, UnicodeDecodeError):
                pair = ""
            client, _, secret = (unquote_plus(each) for each in pair.partition(":"))
        wanted = self.rules.clients.get(client)
        fits = wanted is None or (secret is not None and secrets.compare_digest(wanted.encode(), secret.encode()))
        if client not in self.rules.clients or not fits or (secret_needed and wanted is None):
            raise Refused("invalid_client", "unknown client or wrong secret", 401)
        return client


def _back(uri: str, asked: Mapping[str, str], **said: str) -> Response:
    state = {"state": asked["state"]} if "state" in asked else {}
    return RedirectResponse(f"{uri}{'&' if '?' in uri else '?'}{urlencode({**said, **state})}", 302, headers=NO_STORE)


def _form(body: bytes) -> dict[str, str]:
    return dict(parse_qsl(body.decode("latin-1"), keep_blank_values=True))


def _json(body: bytes) -> dict[str, str]:
    try:
        known = json.loads(body)
    except ValueError:
        known = None
    return {name: value for name, value in known.items() if isinstance(value, str)} if isinstance(known, dict) else {}
