"""What the command line waits for: the browser with this connection's state, and nobody else."""

from __future__ import annotations

import asyncio
import contextlib

import httpx
import pytest

from ferryman.cli.consent import CallbackServer, choose_callback, serve_callback
from ferryman.domain.credentials.authorization_response import (
    AuthorizationResponse,
    ConsentDeclinedError,
    UnexpectedCallbackError,
    read_response,
)
from ferryman.domain.credentials.redirect_uris import choose_pasted_uri

STATE = "s" * 43
PATH = "/callback/calendar"
URI = f"http://127.0.0.1:1{PATH}"
BACK = f"{URI}?state={STATE}"


def read(address: str) -> AuthorizationResponse:
    return read_response(address, redirect_uri=URI, state=STATE)


def test_the_code_is_read_out_of_the_address() -> None:
    assert read(f"{BACK}&code=a%2Fb\n") == AuthorizationResponse("a/b")


def test_the_issuer_is_read_out_of_the_address_where_it_is_there() -> None:
    assert read(f"{BACK}&code=a&iss=https%3A%2F%2Flogin.test%2Fa").iss == "https://login.test/a"


@pytest.mark.parametrize("error", ["access_denied", "invalid_scope"])
def test_an_error_of_the_standard_is_told_by_its_name(error: str) -> None:
    with pytest.raises(ConsentDeclinedError, match=error):
        read(f"{BACK}&error={error}&error_description=secret")


def test_an_error_of_the_services_own_is_not_repeated() -> None:
    with pytest.raises(ConsentDeclinedError, match="an error of its own") as error:
        read(f"{BACK}&error=%1b]0;owned")
    assert "owned" not in str(error.value)


@pytest.mark.parametrize(
    "address",
    [
        "",
        "nonsense",
        BACK,
        f"{BACK}&code=a&code=b",
        f"{BACK}&code=a&iss=https://login.test&iss=https://evil.test",
        f"http://127.0.0.1:1/callback/other?state={STATE}&code=a",
        f"http://127.0.0.1:2{PATH}?state={STATE}&code=a",
        f"https://127.0.0.1:1{PATH}?state={STATE}&code=a",
        f"http://evil.test{PATH}?state={STATE}&code=a",
        f"http://127.0.0.1:1/callback/calendar?state={'t' * 43}&code=a",
        f"{BACK}&state={'t' * 43}&code=a",
        "http://127.0.0.1:1/callback/calendar?code=a",
        f"http://127.0.0.1:1/callback/calendar?state={'t' * 43}&error=access_denied",
        "http://[::1/callback",
        "http://127.0.0.1:1/?state=é",
    ],
)
def test_an_address_that_is_not_of_this_connection_is_no_answer(address: str) -> None:
    with pytest.raises(UnexpectedCallbackError):
        read(address)


async def visit(place: CallbackServer, *targets: str) -> list[int]:
    """Visit these addresses and return the answers."""
    async with httpx.AsyncClient(trust_env=False) as browser:
        return [(await browser.get(f"http://127.0.0.1:{place.port}{item}")).status_code for item in targets]


async def test_only_the_browser_with_the_state_ends_the_waiting() -> None:
    async with serve_callback(0, PATH) as place:
        place.state = STATE
        wrong = ("/", "/callback", f"/callback/other?code=evil&state={STATE}", PATH, f"{PATH}?code=evil&state={'t' * 43}")
        assert await visit(place, *wrong) == [404, 404, 404, 400, 400]
        assert not place.came.done()
        assert await visit(place, f"{PATH}?code=good&state={STATE}", f"{PATH}?code=late&state={STATE}") == [200, 200]
        assert (await place.response(5)).code == "good"


async def test_what_is_no_request_holds_nothing_up() -> None:
    async with serve_callback(0, PATH) as place:
        place.state = STATE
        for sent in (b"\0\0\0\r\n\r\n", b"GET\r\n\r\n", b"x" * 20_000):
            reader, writer = await asyncio.open_connection("127.0.0.1", place.port)
            writer.write(sent)
            with contextlib.suppress(ConnectionResetError):
                assert await reader.read() == b""
            writer.close()
        await visit(place, f"{PATH}?code=good&state={STATE}")
        assert (await place.response(5)).code == "good"


async def test_a_consent_that_is_declined_ends_the_waiting() -> None:
    async with serve_callback(0, PATH) as place:
        place.state = STATE
        await visit(place, f"{PATH}?error=access_denied&state={STATE}")
        with pytest.raises(ConsentDeclinedError):
            await place.response(5)


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "127.0.0.1"},
        {"Host": "localhost:{port}"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
    ],
)
async def test_a_page_that_came_by_another_name_or_origin_ends_nothing(headers: dict[str, str]) -> None:
    async with serve_callback(0, PATH) as place, httpx.AsyncClient(trust_env=False) as page:
        place.state = STATE
        sent = {name: value.format(port=place.port) for name, value in headers.items()}
        answer = await page.get(f"{place.uri}?code=evil&state={STATE}", headers=sent)
        assert (answer.status_code, place.came.done()) == (421, False)


LOOPBACK = "http://127.0.0.1:8765/calendar"
SITE = "https://console.example.com/connected"


@pytest.mark.parametrize(
    ("registered", "port", "place"),
    [
        ([], 0, (0, "/callback/calendar")),
        ([], 9, (9, "/callback/calendar")),
        ([SITE], 0, (0, "/callback/calendar")),
        ([SITE, LOOPBACK], 0, (8765, "/calendar")),
        ([LOOPBACK], 8765, (8765, "/calendar")),
        ([LOOPBACK], 9, (9, "/callback/calendar")),
        (["http://127.0.0.1:8765"], 0, (8765, "/")),
        (["http://[::1]:8765/calendar"], 0, (0, "/callback/calendar")),
    ],
)
def test_every_service_leads_back_to_an_address_of_its_own(registered: list[str], port: int, place: tuple[int, str]) -> None:
    assert choose_callback("calendar", registered, port) == place


@pytest.mark.parametrize(
    ("registered", "port", "uri"),
    [
        ([], 0, "http://127.0.0.1:49152/callback/calendar"),
        ([], 9, "http://127.0.0.1:9/callback/calendar"),
        ([SITE, LOOPBACK], 0, SITE),
        ([SITE], 9, "http://127.0.0.1:9/callback/calendar"),
    ],
)
def test_a_pasted_address_is_the_services_own_where_it_has_one(registered: list[str], port: int, uri: str) -> None:
    assert choose_pasted_uri("calendar", registered, port) == uri


def test_a_code_is_not_shown() -> None:
    assert "secret" not in repr(AuthorizationResponse("secret"))
