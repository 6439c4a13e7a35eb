"""Connections over HTTP: begun with what only the key holder can open, finished by asking it, and nobody else's."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from ferryman.domain.credentials import connection as rules
from ferryman.domain.credentials.connection import NotConnectedError
from ferryman.inmemory.clock import START
from ferryman.ports.errors import UnavailableError
from ferryman.vault import seal
from tests.canaries import canary

from .conftest import PRIVATE, Stage

SECRET = canary.create_key("serving, a client's secret", 24, before="cs-")
REDIRECT = "http://127.0.0.1:9/callback"


def path(task: str, end: str = "") -> str:
    return f"/v1/tasks/{task}/credentials/connect{end}"


async def begun(client: httpx.AsyncClient, task: str, **args: Any) -> httpx.Response:
    return await client.post(path(task), json={"service": "calendar", "redirect_uri": REDIRECT, **args})


async def test_what_is_not_given_comes_from_the_catalog(client: httpx.AsyncClient, task: str, stage: Stage) -> None:
    answer = (await begun(client, task)).json()
    assert answer["expires_at"] == "2026-11-21T12:10:00Z"
    query = {name: value for name, [value] in parse_qs(urlsplit(answer["authorize_url"]).query).items()}
    (stored,) = stage.memory.connections[task].values()
    proof = seal.decode_proof(seal.PrivateKey(PRIVATE).unseal(stored.ciphertext, seal.build_connection_info(stored)))
    assert answer["authorize_url"].startswith("https://login.calendar.test/authorize?tenant=all&")
    assert query == {
        "tenant": "all",
        "access_type": "offline",
        "response_type": "code",
        "client_id": "operator-client",
        "redirect_uri": REDIRECT,
        "scope": "events.read events.write",
        "state": answer["state"],
        "code_challenge": rules.derive_challenge(proof.verifier.reveal()),
        "code_challenge_method": "S256",
    }
    assert (stored.label.name, stored.label.owner, stored.label.hosts) == ("CALENDAR_TOKEN", "ann", ("api.calendar.test",))


async def test_neither_state_verifier_nor_secret_is_kept_in_clear(client: httpx.AsyncClient, task: str, stage: Stage) -> None:
    answer = await begun(client, task, client_id="own", client_secret=SECRET)
    (stored,) = stage.memory.connections[task].values()
    proof = seal.decode_proof(seal.PrivateKey(PRIVATE).unseal(stored.ciphertext, seal.build_connection_info(stored)))
    assert proof.client_secret is not None
    assert proof.client_secret.reveal() == SECRET
    for secret in (answer.json()["state"], proof.verifier.reveal(), SECRET):
        assert secret not in repr(stored) + str(stage.log.lines)
        assert secret.encode() not in stored.ciphertext
    assert SECRET not in answer.text
    assert len(proof.verifier.reveal()) == 43


async def test_every_connection_has_a_state_and_a_verifier_of_its_own(client: httpx.AsyncClient, task: str) -> None:
    answers = [(await begun(client, task)).json() for _ in range(3)]
    for name in ("state", "authorize_url"):
        assert len({answer[name] for answer in answers}) == 3
    assert all(len(answer["state"]) == 43 for answer in answers)


REFUSED: dict[str, tuple[dict[str, Any], str, str]] = {
    "a service that is not connected by consent": ({"service": "github"}, "service", "by consent: calendar"),
    "a service the task lacks": ({"service": "slack"}, "service", "by consent: calendar"),
    "a name that is none": ({"name": "token"}, "name", "capital letters"),
    "a redirect to elsewhere": ({"redirect_uri": "https://evil.test/"}, "redirect_uri", "http://127.0.0.1:PORT"),
    "a redirect to this machine's name": ({"redirect_uri": "http://localhost:9/"}, "redirect_uri", "http://127.0.0.1:PORT"),
    "a scope with a space": ({"scopes": ["a b"]}, "scopes", "visible ASCII"),
    "a client with a line break": ({"client_id": "a\nb"}, "client_id", "visible ASCII"),
    "a short client secret": ({"client_secret": "short"}, "client_secret", "at least 16"),
    "an unknown field": ({"token_url": "https://evil.test/"}, "token_url", "is not a field"),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_a_connection_is_refused_with_the_field_and_the_rule(
    client: httpx.AsyncClient, task: str, stage: Stage, case: str
) -> None:
    change, field, message = REFUSED[case]
    answer = await begun(client, task, **change)
    assert answer.status_code == 422
    assert message in {error["field"]: error["message"] for error in answer.json()["errors"]}[field]
    assert not stage.memory.connections


async def test_a_registered_https_address_may_be_led_back_to(client: httpx.AsyncClient, task: str) -> None:
    assert (await begun(client, task, redirect_uri="https://console.example.com/connected")).status_code == 200


async def test_without_a_redirect_uri_it_is_the_services_own(client: httpx.AsyncClient, task: str) -> None:
    answer = (await begun(client, task, redirect_uri=None)).json()
    assert answer["redirect_uri"] == "https://console.example.com/connected"
    assert parse_qs(urlsplit(answer["authorize_url"]).query)["redirect_uri"] == [answer["redirect_uri"]]


async def test_twenty_may_be_under_way_for_ten_minutes(client: httpx.AsyncClient, task: str, stage: Stage) -> None:
    assert {(await begun(client, task)).status_code for _ in range(20)} == {200}
    assert (await begun(client, task)).status_code == 409
    stage.clock.turn(rules.LIFETIME)
    assert (await begun(client, task)).status_code == 200


async def test_a_key_holder_is_asked_to_finish_it_and_hears_no_state(
    client: httpx.AsyncClient, task: str, stage: Stage
) -> None:
    state = (await begun(client, task)).json()["state"]
    answer = await client.post(path(task, "/finish"), json={"state": state, "code": "the code"})
    assert stage.connector.requests == [
        {"task": task, "owner": "ann", "digest": rules.digest_state(state), "code": "the code", "iss": None, "version": 7}
    ]
    credential = answer.json()
    assert (credential["name"], credential["status"], credential["scopes"]) == ("CALENDAR_TOKEN", "connected", ["events.read"])
    assert credential["token_expires_at"] == f"{START + timedelta(hours=1):%Y-%m-%dT%H:%M:%SZ}"
    assert (await client.get(f"/v1/tasks/{task}/credentials")).json() == {"credentials": [credential], "next": None}


async def test_a_key_holder_hears_which_issuer_the_response_named(client: httpx.AsyncClient, task: str, stage: Stage) -> None:
    state = (await begun(client, task)).json()["state"]
    await client.post(path(task, "/finish"), json={"state": state, "code": "c", "iss": "https://login.calendar.test"})
    assert [request["iss"] for request in stage.connector.requests] == ["https://login.calendar.test"]


@pytest.mark.parametrize(
    ("fails", "status", "message"),
    [
        (NotConnectedError("the token endpoint answered invalid_grant; connect again"), 409, "answered invalid_grant"),
        (UnavailableError("away"), 503, "try again"),
    ],
)
async def test_why_it_came_to_nothing_is_told(
    client: httpx.AsyncClient, task: str, stage: Stage, fails: Exception, status: int, message: str
) -> None:
    stage.connector.fails = fails
    answer = await client.post(path(task, "/finish"), json={"state": "s" * 43, "code": "c"})
    assert (answer.status_code, message in answer.json()["detail"]) == (status, True)


@pytest.mark.parametrize(
    "body",
    [
        {"state": "s", "code": "c"},
        {"state": "s" * 43, "code": ""},
        {"state": "s" * 43, "code": "a\nb"},
        {"state": "s" * 43, "code": "c", "iss": ""},
        {"state": "s" * 43, "code": "c", "iss": "https://a.test/\n"},
        {"state": "s" * 43, "code": "c", "iss": "h" * 2_049},
    ],
)
async def test_what_cannot_be_a_state_or_a_code_is_not_passed_on(
    client: httpx.AsyncClient, task: str, stage: Stage, body: dict[str, str]
) -> None:
    assert (await client.post(path(task, "/finish"), json=body)).status_code == 422
    assert stage.connector.requests == []


async def test_another_owners_task_is_not_there(client: httpx.AsyncClient, task: str, stage: Stage) -> None:
    for end, body in (("", {"service": "calendar", "redirect_uri": REDIRECT}), ("/finish", {"state": "s" * 43, "code": "c"})):
        assert (await client.post(path(task, end), json=body, headers=stage.owner("bob"))).status_code == 404
    assert stage.connector.requests == []
