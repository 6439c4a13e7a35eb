"""The metadata server: Google's own library finds itself on Google Cloud."""

import asyncio
from collections.abc import AsyncIterator

import google.auth.transport
import httpx
import pytest
from google.auth import jwt
from google.auth.compute_engine import _metadata

from emulator.clock import EmulatorClock
from emulator.identity import IdentityTokens, metadata_app

EMAIL = "api-call@test.iam.gserviceaccount.com"
ROOT = "/computeMetadata/v1"
ACCOUNT = f"{ROOT}/instance/service-accounts/default"


@pytest.fixture(scope="module")
def tokens():
    return IdentityTokens(path=None, clock=EmulatorClock())


@pytest.fixture
async def server(tokens) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(metadata_app(tokens, EMAIL, "test"))
    headers = {"Metadata-Flavor": "Google"}
    async with httpx.AsyncClient(transport=transport, base_url="http://metadata", headers=headers) as client:
        yield client


class Library(google.auth.transport.Request):
    """What google-auth asks through, from the thread it blocks."""

    def __init__(self, server: httpx.AsyncClient) -> None:
        self._server = server
        self._loop = asyncio.get_running_loop()

    def __call__(self, url, method="GET", body=None, headers=None, timeout=None, **_):
        path = httpx.URL(url).raw_path.decode()
        response = self._server.request(method, path, content=body, headers=headers)
        answer = asyncio.run_coroutine_threadsafe(response, self._loop).result()
        return Answer(answer)


class Answer(google.auth.transport.Response):
    def __init__(self, answer: httpx.Response) -> None:
        self._answer = answer

    status = property(lambda self: self._answer.status_code)
    headers = property(lambda self: self._answer.headers)
    data = property(lambda self: self._answer.content)


async def test_a_function_gets_a_token_for_whom_it_calls(server, tokens):
    answer = await server.get(f"{ACCOUNT}/identity", params={"audience": "http://tool", "format": "full"})
    claims = jwt.decode(answer.text, certs=tokens.certs(), audience="http://tool")
    assert claims["email"] == EMAIL


async def test_a_token_for_nobody_is_refused(server):
    assert (await server.get(f"{ACCOUNT}/identity")).status_code == 400


async def test_another_account_is_not_found(server):
    other = f"{ROOT}/instance/service-accounts/other@test.iam.gserviceaccount.com"
    for path in ("email", "token", "identity?audience=x", ""):
        assert (await server.get(f"{other}/{path}")).status_code == 404


async def test_the_account_may_be_asked_for_by_its_name(server):
    assert (await server.get(f"{ROOT}/instance/service-accounts/{EMAIL}/email")).text == EMAIL


async def test_a_page_in_a_browser_gets_nothing(server):
    del server.headers["Metadata-Flavor"]
    answer = await server.get(f"{ACCOUNT}/identity", params={"audience": "http://tool"})
    assert answer.status_code == 403
    assert answer.headers["metadata-flavor"] == "Google"


async def test_a_request_through_a_proxy_gets_nothing(server):
    answer = await server.get(f"{ACCOUNT}/email", headers={"X-Forwarded-For": "1.2.3.4"})
    assert answer.status_code == 403


async def test_every_answer_bears_the_mark(server):
    for path in (f"{ACCOUNT}/email", f"{ROOT}/project/project-id", "/", "/nothing"):
        assert (await server.get(path)).headers["metadata-flavor"] == "Google"


async def test_the_library_finds_the_server_the_project_and_the_account(server):
    library = Library(server)
    assert await asyncio.to_thread(_metadata.ping, library)
    assert await asyncio.to_thread(_metadata.get_project_id, library) == "test"
    assert await asyncio.to_thread(_metadata.get_universe_domain, library) == "googleapis.com"
    account = await asyncio.to_thread(_metadata.get_service_account_info, library)
    assert account["email"] == EMAIL


async def test_the_library_gets_an_access_token(server):
    value, _ = await asyncio.to_thread(_metadata.get_service_account_token, Library(server))
    assert value


async def test_an_access_token_is_no_identity_token(server, tokens):
    value = (await server.get(f"{ACCOUNT}/token")).json()["access_token"]
    with pytest.raises(ValueError, match="Wrong number of segments"):
        jwt.decode(value, certs=tokens.certs())
