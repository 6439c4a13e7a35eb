"""Web pages: a local stack's functions answer under their own name and to no other origin."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from functions_framework import aio
from starlette.requests import Request
from starlette.responses import PlainTextResponse

from ferryman.serving.entry import serve

OWN_ORIGIN = "http://127.0.0.1:1234"


@pytest.fixture(autouse=True)
def _registry(monkeypatch: pytest.MonkeyPatch) -> None:
    from functions_framework import _function_registry as registry

    monkeypatch.setattr(registry, "REGISTRY_MAP", {})
    monkeypatch.setattr(registry, "ASGI_FUNCTIONS", set())


async def send_request(env: dict[str, str], method: str = "GET", **headers: str) -> int:
    async def answer(_: None, __: Request) -> PlainTextResponse:
        return PlainTextResponse("served")

    with pytest.MonkeyPatch.context() as patch:
        for name, value in env.items():
            patch.setenv(name, value)
        main = serve(lambda _: None, answer)
    app: Any = aio._create_asgi_app_with_function(main, "http", False)  # type: ignore[no-untyped-call] # it has no types
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=OWN_ORIGIN) as client:
        answer = await client.request(method, "/", headers=headers)
    assert not any(name.startswith("access-control") for name in answer.headers)
    return answer.status_code


LOCAL, CLOUD = {"FIRESTORE_EMULATOR_HOST": "127.0.0.1:1"}, dict[str, str]()


async def test_its_own_name_and_origin_are_served() -> None:
    assert await send_request(LOCAL) == 200
    assert await send_request(LOCAL, Host="localhost:1234") == 200
    assert await send_request(LOCAL, Origin=OWN_ORIGIN) == 200
    assert await send_request(LOCAL, Host="localhost:1234", Origin="http://localhost:1234") == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:1234", "127.0.0.1", "127.0.0.1:80", "127.0.0.1:1234.evil.example", "", "[::1]:1234"]
)
async def test_a_name_that_was_rebound_is_misdirected(host: str) -> None:
    assert await send_request(LOCAL, Host=host) == 421


@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS", "DELETE"])
@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1:1234", "http://localhost:1234", ""]
)
async def test_another_origin_is_refused_and_so_is_its_preflight(method: str, origin: str) -> None:
    assert await send_request(LOCAL, method, Origin=origin, **{"Access-Control-Request-Method": "PATCH"}) == 403


async def test_in_the_cloud_the_platform_says_which_names_lead_here() -> None:
    assert await send_request(CLOUD, Host="ferryman-api-abc.a.run.app", Origin="https://console.example") == 200
