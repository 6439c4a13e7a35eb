"""The server: authorize, token, login and a protected resource, at one host of the simulated internet."""

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

from emulator.clock import EmulatorClock
from emulator.internet.oauth import hostile
from emulator.internet.oauth.page import consent
from emulator.internet.oauth.rules import Rules
from emulator.internet.oauth.store import OAuthRefusedError, TokenStore
from emulator.web import Receive, Scope, Send

LOOPBACK = re.compile(r"http://(127\.0\.0\.1|\[::1\]|localhost)(:\d+)?(/[^?#]*)?")
METADATA_PATHS = ("/.well-known/oauth-authorization-server", "/.well-known/openid-configuration")
NO_STORE = {"Cache-Control": "no-store"}


class OAuthServer:
    """An ASGI application; `rules` may be changed while it serves."""

    def __init__(self, rules: Rules, clock: EmulatorClock) -> None:
        self.rules = rules
        self._store = TokenStore(clock)
        routes = [
            *(Route(path, self._metadata, methods=["GET"]) for path in METADATA_PATHS),
            Route("/jwks", self._keys, methods=["GET"]),
            Route("/register", self._register, methods=["POST"]),
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
        """Return how often each grant was used, and everything secret that was given out, for a search."""
        return {"counts": dict(self._store.counts), "issued": list(self._store.issued)}

    def is_valid(self, token: str, resource: str) -> bool:
        """Return whether a token is good now for this resource (RFC 8707)."""
        return self._store.is_valid(token, resource)

    async def _authorize(self, request: Request) -> Response:
        if request.method == "POST":
            parameters = _form(await request.body())
            decision = parameters.pop("decision", "deny")
        else:
            parameters = dict(request.query_params)
            decision = "" if self.rules.consent == "ask" else self.rules.consent
        self._store.counts["authorize"] += 1
        uri = parameters.get("redirect_uri", "")
        if not self._is_client(parameters.get("client_id", "")) or not self._redirectable(uri):
            return PlainTextResponse("unknown client or redirect URI", 400)  # never redirected: RFC 6749, 4.1.2.1
        if parameters.get("response_type") != "code":
            return self._back(uri, parameters, error="unsupported_response_type")
        if parameters.get("code_challenge_method") != "S256" or len(parameters.get("code_challenge", "")) != 43:
            return self._back(uri, parameters, error="invalid_request")
        resource = parameters.get("resource", "")
        if resource and resource not in self.rules.resources:
            return self._back(uri, parameters, error="invalid_target")
        if not decision:
            return HTMLResponse(consent(request.headers.get("host", ""), parameters), headers=NO_STORE)
        if decision != "allow":
            return self._back(uri, parameters, error="access_denied")
        code = self._store.issue_code(
            self.rules,
            client=parameters["client_id"],
            redirect_uri=uri,
            challenge=parameters["code_challenge"],
            scope=parameters.get("scope", ""),
            resource=resource,
        )
        return self._back(uri, parameters, code=code)

    async def _token(self, request: Request) -> Response:
        form = {**_form(await request.body()), "issuer": self._name_issuer(request)}
        kind = form.get("grant_type", "")
        await asyncio.sleep(self.rules.delay_s)
        try:
            client = self._client(request, form, secret_needed=kind == "client_credentials")
            if kind == "authorization_code":
                answer = self._store.exchange_code(self.rules, form, client)
            elif kind == "refresh_token":
                answer = self._store.refresh(self.rules, form, client)
            elif kind == "client_credentials":
                answer = self._store.issue_to_client(self.rules, client, form.get("scope", ""))
            else:
                raise OAuthRefusedError("unsupported_grant_type", "authorization_code, refresh_token or client_credentials")
        except OAuthRefusedError as refused:
            self._store.counts[f"refused {refused.error}"] += 1
            body = {"error": refused.error, "error_description": str(refused)}
            return JSONResponse(body, refused.status, headers=NO_STORE)
        self._store.counts[kind] += 1
        return JSONResponse(answer, headers=NO_STORE)

    async def _metadata(self, request: Request) -> Response:
        """Answer the metadata of the server (RFC 8414)."""
        issuer = self._name_issuer(request)
        base = f"https://{request.headers.get('host', '')}"
        described = {
            "issuer": issuer,
            "authorization_endpoint": f"{base}/authorize",
            "token_endpoint": f"{base}/token",
            "registration_endpoint": f"{base}/register",
            "jwks_uri": f"{base}/jwks",
            "response_types_supported": ["code"],
            "grant_types_supported": ["authorization_code", "refresh_token", "client_credentials"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none", "client_secret_basic", "client_secret_post"],
            "authorization_response_iss_parameter_supported": bool(self.rules.iss),
            "client_id_metadata_document_supported": self.rules.documents,
        }
        self._store.counts["metadata"] += 1
        return JSONResponse(described)

    async def _keys(self, _: Request) -> Response:
        self._store.counts["keys"] += 1
        return JSONResponse(self._store.signer.list_keys())

    async def _register(self, request: Request) -> Response:
        """Register a public client with redirect URIs on this machine (RFC 7591)."""
        try:
            body = json.loads(await request.body())
            uris = tuple(map(str, body["redirect_uris"]))
        except (ValueError, KeyError, TypeError):
            uris = ()
        if not uris or not all(map(self._redirectable, uris)):
            return JSONResponse({"error": "invalid_redirect_uri"}, 400)
        client = self._store.register(uris)
        return JSONResponse(
            {"client_id": client, "redirect_uris": list(uris), "token_endpoint_auth_method": "none"}, 201, headers=NO_STORE
        )

    def _name_issuer(self, request: Request) -> str:
        return self.rules.iss or f"https://{request.headers.get('host', '')}"

    def _is_client(self, client: str) -> bool:
        return client in self.rules.clients or client in self._store.registered or self._has_document(client)

    def _has_document(self, client: str) -> bool:
        """Tell whether a client names itself by the URL of its metadata document, where such ones are taken."""
        return self.rules.documents and client.startswith("https://")

    async def _hostile(self, request: Request) -> Response:
        kind = request.path_params["kind"]
        if kind not in hostile.KINDS:
            return PlainTextResponse("not found", 404)
        self._store.counts[f"hostile {kind}"] += 1
        return hostile.answer(kind, _form(await request.body()), request.headers.get("authorization", ""))

    async def _login(self, request: Request) -> Response:
        """Check user and password, in JSON or a form; answer the token in JSON with its lifetime, or as bare text."""
        body = await request.body()
        parameters = _json(body) if "json" in request.headers.get("content-type", "") else _form(body)
        user, password = parameters.get("username", ""), parameters.get("password", "")
        self._store.counts["login"] += 1
        known = self.rules.users.get(user)
        if known is None or not secrets.compare_digest(known.encode(), password.encode()):
            return JSONResponse({"message": "wrong user or password"}, 401)
        token = self._store.open_session(self.rules, user)
        if request.url.path.endswith(".txt"):
            return PlainTextResponse(token + "\n")
        return JSONResponse({"session": {"id": token, "lives": self.rules.access_s}})

    async def _resource(self, request: Request) -> Response:
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        presented = (
            token if scheme.lower() == "bearer" else request.headers.get("x-session") or request.query_params.get("session", "")
        )
        good = self._store.is_valid(presented)
        self._store.counts["resource" if good else "resource 401"] += 1
        if good:
            return JSONResponse({"resource": "yours"})
        return JSONResponse({"error": "invalid_token"}, 401, headers={"WWW-Authenticate": 'Bearer error="invalid_token"'})

    async def _sessions(self, _: Request) -> Response:
        return JSONResponse({"sessions": self._store.issued})

    def _back(self, uri: str, parameters: Mapping[str, str], **answer: str) -> Response:
        beside = {
            **({"state": parameters["state"]} if "state" in parameters else {}),
            **({"iss": self.rules.iss} if self.rules.iss else {}),
        }
        return RedirectResponse(f"{uri}{'&' if '?' in uri else '?'}{urlencode({**answer, **beside})}", 302, headers=NO_STORE)

    def _redirectable(self, uri: str) -> bool:
        return LOOPBACK.fullmatch(uri) is not None or uri in self.rules.redirect_uris

    def _client(self, request: Request, form: Mapping[str, str], *, secret_needed: bool) -> str:
        """Return the client, by the basic header or the body (RFC 6749, 2.3.1)."""
        client, secret = form.get("client_id", ""), form.get("client_secret")
        scheme, _, encoded = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "basic":
            try:
                pair = base64.b64decode(encoded, validate=True).decode()
            except (binascii.Error, UnicodeDecodeError):
                pair = ""
            client, _, secret = (unquote_plus(item) for item in pair.partition(":"))
        if (client in self._store.registered or self._has_document(client)) and not secret_needed:
            return client
        expected = self.rules.clients.get(client)
        fits = expected is None or (secret is not None and secrets.compare_digest(expected.encode(), secret.encode()))
        if client not in self.rules.clients or not fits or (secret_needed and expected is None):
            raise OAuthRefusedError("invalid_client", "unknown client or wrong secret", 401)
        return client


def _form(body: bytes) -> dict[str, str]:
    return dict(parse_qsl(body.decode("latin-1"), keep_blank_values=True))


def _json(body: bytes) -> dict[str, str]:
    try:
        known = json.loads(body)
    except ValueError:
        known = None
    return {name: value for name, value in known.items() if isinstance(value, str)} if isinstance(known, dict) else {}
