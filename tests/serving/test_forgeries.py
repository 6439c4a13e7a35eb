"""Forged tokens at every function that is not open: refused, and nothing read, written or sent."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from uuid import UUID

import httpx
import pytest
from functions_framework import aio

from emulator.clock import EmulatorClock
from emulator.identity import IdentityTokens
from ferryman.domain.calls.url_origin import UrlOrigin
from ferryman.gcp.identity import TokenCallers
from ferryman.serving import (
    concierge,
    files,
    http_tool,
    local_tools,
    orchestrator,
    platform,
    platform_call,
    search,
    tool,
    trigger,
    web,
    webhook,
)
from ferryman.settings import Settings
from ferryman.stack import environment
from tests.figures import Tally
from tests.gcp.forged import AUDIENCE, CALLER, claims, forgeries, sign_claims

EVENT = {
    "ce-id": "1",
    "ce-source": "//firestore.googleapis.com/projects/p/databases/(default)",
    "ce-type": "google.cloud.firestore.document.v1.created",
    "ce-specversion": "1.0",
    "ce-document": "executions/exec_1",
}
CALL = {"execution": "exec_1", "call": 0, "epoch": 1}
ROWS = environment.load_functions()
TOOL: Callable[[str], Any] = lambda name: lambda build: tool.serve_tool(name, build, {})  # noqa: E731 - one for each tool
KINDS: dict[str, tuple[Any, str, dict[str, str], dict[str, Any]]] = {
    "orchestrator": (orchestrator.serve, "/", {}, {"execution": "exec_1", "slice": 0, "waits": 0}),
    "on_execution": (trigger.serve, "/", EVENT, {}),
    **{name: (TOOL(name), "/", {}, CALL) for name in (row["name"] for row in ROWS if row["unseals"])},
    "local_tools": (
        lambda build: local_tools.serve(build),
        "/",
        {},
        {"call": "c", "tool": "calculator", "arguments": {}, "user": str(UUID(int=1)), "within_s": 5.0},
    ),
    "files": (
        lambda build: files.serve(build),
        "/list",
        {},
        {"workspace": "w", "prefix": "", "cursor": "", "most": 1},
    ),
    "search": (
        lambda build: search.serve(build),
        "/",
        {},
        {"call": "c", "tool": "web_search_tool", "arguments": {}, "user": str(UUID(int=1)), "within_s": 5.0},
    ),
    "platform_call": (
        lambda build: platform_call.serve(build),
        "/list",
        {},
        {"execution": "exec_1", "epoch": 1},
    ),
    "platform": (lambda build: platform.serve(build), "/mcp", {"content-type": "application/json"}, {}),
    "concierge": (
        lambda build: concierge.serve(build),
        "/",
        {},
        {"call": "c", "tool": "save_preference", "arguments": {}, "user": str(UUID(int=1)), "within_s": 5.0},
    ),
    "web": (
        lambda build: web.serve(build),
        "/",
        {},
        {
            **{"call": "c", "tool": "web_fetch", "arguments": {}, "user": str(UUID(int=1)), "within_s": 5.0},
            **{"origin": UrlOrigin.WRITTEN.value, "anywhere": True, "domains": [], "most": 30_000},
        },
    ),
    "alert": (
        lambda build: tool.serve_tool("webhook", build, {}, for_callers=webhook.ROUTES),
        "/alert",
        {},
        {"alert": "alert_1"},
    ),
    "reseal": (TOOL("api_call"), "/reseal", {}, {"task": "task_1", "version": 2}),
    "connect": (
        lambda build: tool.serve_tool("http_tool", build, http_tool.ROUTES),
        "/connect",
        {},
        {"task": "task_1", "owner": "ann", "digest": "d", "code": "c", "version": 2},
    ),
    "authority": (lambda build: tool.serve_tool("http_tool", build, http_tool.ROUTES), "/authority", {}, {}),
    "stream": (orchestrator.serve, "/stream", {}, {"execution": "exec_1", "slice": 0}),
    "window": (TOOL("api_call"), "/window", {}, {"execution": "exec_1", "task": "task_1", "epoch": 1, "texts": []}),
    "scan": (TOOL("api_call"), "/scan", {}, {"execution": "exec_1", "task": "task_1", "epoch": 1, "content": []}),
}


class Certificates:
    """A wire to the certificates of one key pair."""

    def __init__(self, certs: dict[str, str]) -> None:
        self._certs = certs

    def client(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(transport=httpx.MockTransport(lambda _: httpx.Response(200, json=self._certs)))


class BurningFunction:
    """A function's dependencies, each of which records that it was used, and fails."""

    def __init__(self, tokens: IdentityTokens) -> None:
        self.callers = TokenCallers(Certificates(tokens.certs()), Settings())  # type: ignore[arg-type]  # a wire by its shape
        self.entered: list[str] = []

    def __getattr__(self, room: str) -> Any:
        self.entered.append(room)
        raise RuntimeError(f"{room} was entered")


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> IdentityTokens:
    return IdentityTokens(path=tmp_path_factory.mktemp("ours"), clock=EmulatorClock())


@pytest.fixture(scope="module")
def forged(ours: IdentityTokens, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str | None]]:
    return forgeries(ours, IdentityTokens(path=tmp_path_factory.mktemp("theirs"), clock=EmulatorClock()))


@pytest.fixture(params=KINDS)
def function(
    request: pytest.FixtureRequest, ours: IdentityTokens, monkeypatch: pytest.MonkeyPatch
) -> tuple[str, BurningFunction, Any]:
    # the routes that are not its caller's
    special = {
        "reseal": "FERRYMAN_RESEALERS",
        "connect": "FERRYMAN_CONNECTORS",
        "authority": "FERRYMAN_CONNECTORS",
        "stream": "FERRYMAN_STREAMERS",
    }
    monkeypatch.setenv(special.get(request.param, "FERRYMAN_CALLERS"), json.dumps([CALLER]))
    monkeypatch.setenv("FERRYMAN_FUNCTION", request.param)
    monkeypatch.setenv("FERRYMAN_FUNCTION_URLS", json.dumps({request.param: AUDIENCE}))
    deps = BurningFunction(ours)
    return request.param, deps, aio._create_asgi_app_with_function(KINDS[request.param][0](lambda _: deps), "http", False)


async def send_request(kind: str, app: Any, authorization: str | None) -> int:
    _, path, headers, body = KINDS[kind]
    header = platform.IDENTITY_HEADER if kind == "platform" else "authorization"
    sent = {**headers, **({} if authorization is None else {header: authorization})}
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://f.test") as client:
        raw = [(name.encode(), value.encode("latin-1")) for name, value in sent.items()]
        return (await client.post(path, json=body, headers=raw)).status_code


def test_each_function_that_is_not_open_is_tried() -> None:
    assert {row["name"] for row in ROWS if row["callers"] != ["anyone"]} <= set(KINDS)


async def test_the_right_account_s_token_is_let_in(function: tuple[str, BurningFunction, Any], ours: IdentityTokens) -> None:
    kind, deps, app = function
    assert await send_request(kind, app, f"Bearer {sign_claims(ours, claims())}") == 500
    assert deps.entered


async def test_a_forged_token_is_refused_and_has_no_effect(
    function: tuple[str, BurningFunction, Any], forged: dict[str, dict[str, str | None]], tally: Tally
) -> None:
    kind, deps, app = function
    missed = []
    for klass, tokens in forged.items():
        for name, authorization in tokens.items():
            status = await send_request(kind, app, authorization)
            passed = status in (401, 403) and deps.entered == []
            tally("forged tokens", klass, passed)
            if not passed:
                missed.append((klass, name, status, tuple(deps.entered)))
                deps.entered.clear()
    assert missed == []


async def test_a_function_that_does_not_know_its_own_address_believes_nobody(
    function: tuple[str, BurningFunction, Any], ours: IdentityTokens, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind, deps, _ = function
    monkeypatch.setenv("FERRYMAN_FUNCTION_URLS", "{}")
    app = aio._create_asgi_app_with_function(KINDS[kind][0](lambda _: deps), "http", False)
    assert await send_request(kind, app, f"Bearer {sign_claims(ours, claims(aud=''))}") == 401
    assert deps.entered == []


@pytest.mark.parametrize("kind", ["authority", "connect", "reseal", "stream"])
async def test_a_caller_of_calls_may_use_no_other_route(
    kind: str, ours: IdentityTokens, monkeypatch: pytest.MonkeyPatch
) -> None:
    accounts = {"CALLERS": [CALLER], "CONNECTORS": [], "RESEALERS": [], "STREAMERS": []}
    for name, value in {**accounts, "FUNCTION_URLS": {kind: AUDIENCE}}.items():
        monkeypatch.setenv(f"FERRYMAN_{name}", json.dumps(value))
    monkeypatch.setenv("FERRYMAN_FUNCTION", kind)
    deps = BurningFunction(ours)
    app = aio._create_asgi_app_with_function(KINDS[kind][0](lambda _: deps), "http", False)
    assert await send_request(kind, app, f"Bearer {sign_claims(ours, claims())}") == 403
    assert deps.entered == []
