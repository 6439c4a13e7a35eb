"""A person connects a service on the command line; ten executions find its token expired, and it is renewed once."""

from __future__ import annotations

import asyncio
import json
import os
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from tests.canaries import canary
from tests.journeys.conftest import FERRYMAN, Journey, asks, call, says

HOST = "calendar.example.com"
NAME = "CALENDAR_TOKEN"
ISSUER = f"https://{HOST}"
AT_ONCE = 10


def names(stack: Mapping[str, Any]) -> dict[str, Any]:
    """Return the simulated internet's table."""
    known: dict[str, Any] = json.loads(Path(stack["env"]["FERRYMAN_PRETEND_INTERNET"]).read_text())
    return known


async def visit(stack: Mapping[str, Any], address: str) -> str:
    """Return the address that the calendar's consent page leads a browser to."""
    return await visit_host(stack, address)


async def visit_host(stack: Mapping[str, Any], address: str) -> str:
    """Return the address that a browser, with the simulated internet's names, is redirected to from `address`."""
    table = names(stack)
    parts = urlsplit(address)
    host = str(parts.hostname)
    port = table["dial"][table["names"][host][0]]
    tls = ssl.create_default_context(cafile=table["ca"])
    tls.load_cert_chain(table["client"])
    async with httpx.AsyncClient(verify=tls, trust_env=False) as browser:
        there = f"https://127.0.0.1:{port}{parts.path}?{parts.query}"
        answer = await browser.get(there, headers={"host": host}, extensions={"sni_hostname": host})
    assert answer.status_code == 302, answer.text
    return str(answer.headers["location"])


async def ferryman(journey: Journey, *arguments: str) -> asyncio.subprocess.Process:
    """Return `ferryman`, run by the journey's owner."""
    key = journey.client._http.headers["authorization"].removeprefix("Bearer ")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("FERRYMAN_")}
    return await asyncio.create_subprocess_exec(
        FERRYMAN,
        *arguments,
        env={**environment, "FERRYMAN_URL": journey.stack["url"], "FERRYMAN_KEY": key},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


async def calendar(journey: Journey, **rules: Any) -> str:
    """Return a task that asks the calendar, which is an OAuth server that knows nobody yet."""
    await journey.admin.serve_oauth(HOST, {"consent": "allow", "iss": ISSUER, **rules})
    uses = call("api_call", method="GET", url=f"https://{HOST}/resource", credential=NAME)
    steps = (asks(uses), says("Done.", expect=('"resource"',)))
    return await journey.task(*steps, tools=["api_call"], integrations=["calendar"])


def sought(report: Mapping[str, Any]) -> list[str]:
    """Return the tokens that the server issued, and search the run for them from now on. A code is in the browser's address."""
    tokens = [token for token in report["issued"] if not token.startswith("code_")]
    for token in tokens:
        canary.register_value("a token of the calendar's", token)
    return tokens


async def test_a_service_is_connected_used_and_renewed_once_by_ten_executions_at_once(journey: Journey) -> None:
    task = await calendar(journey, access_s=0)
    connecting = await ferryman(journey, "credential", "connect", "calendar", "--task", task, "--json")
    assert connecting.stdout is not None
    begun = json.loads(await connecting.stdout.readline())
    back = await visit(journey.stack, begun["authorize_url"])
    async with httpx.AsyncClient(trust_env=False) as browser:
        assert "close this window" in (await browser.get(back)).text
    out, err = await connecting.communicate()
    assert connecting.returncode == 0, err.decode()
    credential = json.loads(out)
    assert (credential["name"], credential["status"], credential["scopes"], credential["version"]) == (
        NAME,
        "connected",
        ["events.read"],
        1,
    )
    first = sought(await journey.admin.read_oauth(HOST))

    await journey.admin.change_oauth(HOST, {"access_s": 3600, "delay_s": 0.5})
    records = await asyncio.gather(*(journey.run(task) for _ in range(AT_ONCE)))
    assert {record["output"] for record in records} == {"Done."}
    assert await journey.problems() == []

    report = await journey.admin.read_oauth(HOST)
    # a GET whose answer is lost is repeated
    assert report["counts"].pop("resource") >= AT_ONCE
    assert report["counts"] == {"authorize": 1, "authorization_code": 1, "refresh_token": 1}
    (listed,) = await journey.client.list_credentials(task)
    assert (listed["version"], listed["status"]) == (2, "connected")
    assert len(first) == 2
    assert len(sought(report)) == 4
    for secret in sought(report):
        assert secret not in str((credential, listed, records, begun)) + (out + err).decode()


async def test_a_pasted_address_connects_and_one_that_is_declined_or_of_another_issuer_says_so(journey: Journey) -> None:
    task = await calendar(journey)
    for consent, iss, code, message in (
        ("deny", ISSUER, 5, "the authorization response says access_denied"),
        ("allow", "https://evil.example.com", 5, "came from another issuer"),
        ("allow", "", 5, "has no iss"),
        ("allow", ISSUER, 0, ""),
    ):
        await journey.admin.change_oauth(HOST, {"consent": consent, "iss": iss})
        connecting = await ferryman(journey, "credential", "connect", "calendar", "--task", task, "--json", "--no-listen")
        assert connecting.stdout is not None
        begun = json.loads(await connecting.stdout.readline())
        back = await visit(journey.stack, begun["authorize_url"])
        _, err = await connecting.communicate(back.encode() + b"\n")
        assert (connecting.returncode, message in err.decode()) == (code, True), err
    assert [credential["name"] for credential in await journey.client.list_credentials(task)] == [NAME]
    assert len(sought(await journey.admin.read_oauth(HOST))) == 2


async def test_a_consent_that_was_taken_back_is_told_to_the_model_and_the_owner(journey: Journey) -> None:
    task = await calendar(journey, access_s=0)
    begun = await journey.client.begin_connection(task, {"service": "calendar", "redirect_uri": "http://127.0.0.1:9/back"})
    query = httpx.URL(await visit(journey.stack, begun["authorize_url"])).params
    await journey.client.finish_connection(task, query["state"], query["code"], query["iss"])
    await journey.admin.change_oauth(HOST, {"clients": {}})
    record = await journey.run(task)
    assert record["tool_calls"][0]["block_reason"] == "credential_reconnect"
    assert record["tool_calls"][0]["content"].startswith(f"Error: credential {NAME} has to be connected again")
    assert [credential["status"] for credential in await journey.client.list_credentials(task)] == ["reconnect"]
