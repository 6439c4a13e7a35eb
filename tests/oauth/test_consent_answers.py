"""What the command line waits for: the browser with this connection's state, and nobody else."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from ferryman.cli.consent import Declined, Landing, Strange, code_of, landing

STATE = "s" * 43
BACK = f"http://127.0.0.1:1/callback?state={STATE}"


def test_the_code_is_read_out_of_the_address() -> None:
    assert code_of(f"{BACK}&code=a%2Fb\n", STATE) == "a/b"


@pytest.mark.parametrize("error", ["access_denied", "invalid_scope"])
def test_an_error_of_the_standard_is_told_by_its_name(error: str) -> None:
    with pytest.raises(Declined, match=error):
        code_of(f"{BACK}&error={error}&error_description=secret", STATE)


def test_an_error_of_the_services_own_is_not_repeated() -> None:
    with pytest.raises(Declined, match="an error of its own") as told:
        code_of(f"{BACK}&error=%1b]0;owned", STATE)
    assert "owned" not in str(told.value)


@pytest.mark.parametrize(
    "address",
    [
        "",
        "nonsense",
        BACK,
        f"{BACK}&code=a&code=b",
        f"http://127.0.0.1:1/callback?state={'t' * 43}&code=a",
        f"{BACK}&state={'t' * 43}&code=a",
        "http://127.0.0.1:1/callback?code=a",
        f"http://127.0.0.1:1/callback?state={'t' * 43}&error=access_denied",
        "http://[::1/callback",
        "http://127.0.0.1:1/?state=é",
    ],
)
def test_an_address_that_is_not_of_this_connection_is_no_answer(address: str) -> None:
    with pytest.raises(Strange):
        code_of(address, STATE)


async def came(place: Landing, *targets: str) -> list[int]:
    """What visits to these addresses are answered."""
    async with httpx.AsyncClient(trust_env=False) as browser:
        return [(await browser.get(f"http://127.0.0.1:{place.port}{each}")).status_code for each in targets]


async def test_only_the_browser_with_the_state_ends_the_waiting() -> None:
    async with landing() as place:
        place.state = STATE
        wrong = ("/", "/favicon.ico", "/callback", f"/callback?code=evil&state={'t' * 43}")
        assert await came(place, *wrong) == [404, 404, 400, 400]
        assert not place.came.done()
        assert await came(place, f"/callback?code=good&state={STATE}", f"/callback?code=late&state={STATE}") == [200, 200]
        assert await place.code(5) == "good"


async def test_what_is_no_request_holds_nothing_up() -> None:
    async with landing() as place:
        place.state = STATE
        for sent in (b"\0\0\0\r\n\r\n", b"GET\r\n\r\n", b"x" * 20_000):
            reader, writer = await asyncio.open_connection("127.0.0.1", place.port)
            writer.write(sent)
            assert await reader.read() == b""
            writer.close()
        await came(place, f"/callback?code=good&state={STATE}")
        assert await place.code(5) == "good"


async def test_a_consent_that_is_declined_ends_the_waiting() -> None:
    async with landing() as place:
        place.state = STATE
        await came(place, f"/callback?error=access_denied&state={STATE}")
        with pytest.raises(Declined):
            await place.code(5)
