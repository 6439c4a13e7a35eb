"""POST /warm: a function connects before its first request, for the accounts that start it and for nobody else."""

from __future__ import annotations

from dataclasses import dataclass, replace

import httpx
import pytest
from functions_framework import aio

from ferryman.serving import api, tool, trigger

from .conftest import Stage

CALLER, WARMER = "ferryman-trigger@p.iam.gserviceaccount.com", "ferryman-warmer@p.iam.gserviceaccount.com"


@dataclass
class Process:
    """What a function is made of: its caller is anyone the header names."""

    warmed: int = 0
    workers: int = 0

    @property
    def callers(self) -> Process:
        return self

    async def identify(self, authorization: str | None, *, audience: str) -> str:
        if authorization is None:
            raise PermissionError("no identity token")
        return authorization

    async def warm(self) -> None:
        self.warmed += 1

    async def warm_worker(self) -> None:
        self.workers += 1

    @property
    def dependencies(self) -> Process:
        return self

    @property
    def tracer(self) -> Process:
        return self

    async def flush(self) -> None:
        """Send nothing: nothing was traced."""


@pytest.fixture
def process(monkeypatch: pytest.MonkeyPatch) -> Process:
    monkeypatch.setenv("FERRYMAN_CALLERS", f'["{CALLER}"]')
    monkeypatch.setenv("FERRYMAN_WARMERS", f'["{WARMER}"]')
    return Process()


async def ask(main: object, authorization: str | None, method: str = "POST", path: str = "/warm") -> httpx.Response:
    app = aio._create_asgi_app_with_function(main, "http", False)
    headers = {} if authorization is None else {"authorization": authorization}
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://f.test") as client:
        return await client.request(method, path, headers=headers, json={})


async def test_it_connects_for_who_starts_it(process):
    answer = await ask(trigger.serve(lambda _: process), WARMER)
    assert (answer.status_code, process.warmed) == (200, 1)


@pytest.mark.parametrize(("authorization", "status"), [(None, 401), (CALLER, 403)], ids=["nobody", "its caller"])
async def test_it_does_nothing_for_others(process, authorization, status):
    answer = await ask(trigger.serve(lambda _: process), authorization)
    assert (answer.status_code, process.warmed) == (status, 0)


async def test_a_page_that_is_only_fetched_does_nothing(process):
    answer = await ask(trigger.serve(lambda _: process), WARMER, "GET")
    assert (answer.status_code, process.warmed) == (405, 0)


async def test_without_such_accounts_there_is_no_such_path(process, monkeypatch):
    monkeypatch.delenv("FERRYMAN_WARMERS")
    answer = await ask(trigger.serve(lambda _: process), WARMER)
    assert (answer.status_code, process.warmed) == (403, 0)


async def test_the_api_connects_likewise(process, stage: Stage):
    main = api.serve(lambda _: replace(stage.deps(), callers=process, warm=process.warm))
    assert [(await ask(main, who)).status_code for who in (None, CALLER, WARMER)] == [401, 403, 200]
    assert process.warmed == 1


@pytest.mark.parametrize(
    ("authorization", "status"), [(None, 401), (CALLER, 403), (WARMER, 200)], ids=["nobody", "its caller", "who starts it"]
)
async def test_a_tool_starts_a_worker_for_who_starts_it_alone(process, authorization, status):
    main = tool.serve_tool("http_get", lambda _: process, {})
    assert (await ask(main, authorization, path="/warm/worker")).status_code == status
    assert process.workers == (status == 200)


async def test_without_such_accounts_a_tool_starts_no_worker(process, monkeypatch):
    monkeypatch.delenv("FERRYMAN_WARMERS")
    answer = await ask(tool.serve_tool("http_get", lambda _: process, {}), WARMER, path="/warm/worker")
    assert (answer.status_code, process.workers) == (403, 0)
