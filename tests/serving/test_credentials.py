"""Credentials over HTTP: sealed with their label, defaulted from the catalog, and never given back."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest

from ferryman.domain.credentials.credential import AuthType
from ferryman.vault import seal
from tests.canaries import canary

from .conftest import PRIVATE, Stage

VALUE = canary.create_key("serving, credentials", 20, before="ow-")


def path(task: str, name: str = "OPENWEATHER_API_KEY") -> str:
    return f"/v1/tasks/{task}/credentials/{name}"


async def test_what_is_not_given_comes_from_the_catalog(client: httpx.AsyncClient, task: str) -> None:
    answer = await client.put(path(task), json={"value": VALUE, "service": "openweather"})
    assert answer.status_code == 200
    assert answer.json() == {
        "name": "OPENWEATHER_API_KEY",
        "service": "openweather",
        "status": "connected",
        "scopes": None,
        "token_expires_at": None,
        "auth_type": "query_param",
        "auth_header_name": None,
        "auth_param_name": "appid",
        "allowed_domains": ["api.openweathermap.org"],
        "version": 1,
        "key_version": 7,
        "created_at": "2026-11-21T12:00:00Z",
        "updated_at": "2026-11-21T12:00:00Z",
    }
    assert (await client.get(f"/v1/tasks/{task}/credentials")).json() == {"credentials": [answer.json()], "next": None}


async def test_what_is_given_wins_over_the_catalog(client: httpx.AsyncClient, task: str) -> None:
    body = {"value": VALUE, "service": "openweather", "auth_type": "header", "auth_header_name": "X-Key"}
    credential = (await client.put(path(task), json=body)).json()
    assert (credential["auth_type"], credential["auth_header_name"], credential["auth_param_name"]) == ("header", "X-Key", None)


async def test_a_query_parameter_without_a_name_gets_the_default_one(client: httpx.AsyncClient, task: str) -> None:
    body = {"value": VALUE, "service": "github", "auth_type": "query_param"}
    assert (await client.put(path(task), json=body)).json()["auth_param_name"] == "api_key"


async def test_only_the_key_holder_opens_it_and_only_under_its_own_label(
    client: httpx.AsyncClient, task: str, stage: Stage
) -> None:
    await client.put(path(task), json={"value": VALUE, "service": "openweather"})
    sealed = stage.memory.credentials[task]["OPENWEATHER_API_KEY"]
    assert VALUE.encode() not in sealed.ciphertext
    assert sealed.label.hosts == ("api.openweathermap.org",)
    assert sealed.label.auth_type is AuthType.QUERY_PARAM
    assert seal.PrivateKey(PRIVATE).unseal(sealed.ciphertext, seal.build_credential_info(sealed.label)) == VALUE.encode()


async def test_storing_it_again_raises_the_version_and_keeps_the_day_it_was_made(
    client: httpx.AsyncClient, task: str, stage: Stage
) -> None:
    await client.put(path(task), json={"value": VALUE, "service": "openweather"})
    stage.clock.turn(60)
    body = (await client.put(path(task), json={"value": VALUE[::-1], "service": "openweather"})).json()
    assert (body["version"], body["created_at"], body["updated_at"]) == (2, "2026-11-21T12:00:00Z", "2026-11-21T12:01:00Z")


async def test_a_deleted_one_is_gone_and_its_version_is_not_used_again(client: httpx.AsyncClient, task: str) -> None:
    await client.put(path(task), json={"value": VALUE, "service": "openweather"})
    assert (await client.delete(path(task))).status_code == 204
    assert (await client.delete(path(task))).status_code == 404
    assert (await client.get(f"/v1/tasks/{task}/credentials")).json() == {"credentials": [], "next": None}
    assert (await client.put(path(task), json={"value": VALUE, "service": "openweather"})).json()["version"] == 3


REFUSED: dict[str, tuple[str, dict[str, Any], str, str]] = {
    "a lower-case name": ("openweather_key", {}, "name", "capital letters"),
    "a short value": ("KEY", {"value": "abcdefgh1234567"}, "value", "at least 16 characters"),
    "a value with a newline": ("KEY", {"value": VALUE + "\n"}, "value", "stray newline"),
    "a value of one letter": ("KEY", {"value": "a" * 30}, "value", "different characters"),
    "an empty value": ("KEY", {"value": ""}, "value", "visible ASCII"),
    "a long value": ("KEY", {"value": VALUE * 300}, "value", "at most 4096 characters"),
    "a value that is no text": ("KEY", {"value": 1234567890123456}, "value", "should be a valid string"),
    "a service the task lacks": ("KEY", {"service": "slack"}, "service", "openweather, github"),
    "an unknown service": ("KEY", {"service": "nowhere"}, "service", "openweather, github"),
    "an auth type of its own": ("KEY", {"auth_type": "digest"}, "auth_type", "'bearer', 'header', 'query_param' or 'basic'"),
    "a pair without a colon": ("KEY", {"auth_type": "basic"}, "value", "with a colon between them"),
    "a pair of two words": ("KEY", {"auth_type": "basic", "value": "admin:hunter2hunter"}, "value", "the password must be at"),
    "a pair in a header": ("KEY", {"auth_type": "basic", "auth_header_name": "X-Key"}, "auth_header_name", "only for"),
    "a header without a name": ("KEY", {"service": "github", "auth_type": "header"}, "auth_header_name", "is required"),
    "a header that frames": (
        "KEY",
        {"auth_type": "header", "auth_header_name": "Host"},
        "auth_header_name",
        "frames the request",
    ),
    "a header for a bearer": ("KEY", {"auth_type": "bearer", "auth_header_name": "X-Key"}, "auth_header_name", "only for"),
    "a parameter for a bearer": ("KEY", {"service": "github", "auth_param_name": "key"}, "auth_param_name", "only for"),
    "an unknown field": ("KEY", {"secret": "x"}, "secret", "is not a field"),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_a_credential_is_refused_with_the_field_and_the_rule(
    client: httpx.AsyncClient, task: str, stage: Stage, case: str
) -> None:
    name, change, field, message = REFUSED[case]
    answer = await client.put(path(task, name), json={"value": VALUE, "service": "openweather", **change})
    assert answer.status_code == 422
    messages = {response["field"]: response["message"] for response in answer.json()["errors"]}
    assert message in messages[field]
    assert not stage.memory.credentials.get(task)


async def test_a_value_that_is_in_the_prompt_is_no_secret(client: httpx.AsyncClient, task: str) -> None:
    value = "no-secret-2b7e151628ae"  # the API shows it in the prompt, where its owner has written it
    await client.patch(f"/v1/tasks/{task}", json={"task_prompt": f"Use the key {value} for the weather."})
    answer = await client.put(path(task), json={"value": value, "service": "openweather"})
    assert answer.json()["errors"] == [{"field": "value", "message": "is in the task's task_prompt; remove it there first"}]
    assert value not in answer.text


async def test_a_pair_whose_password_is_in_the_prompt_is_no_secret(client: httpx.AsyncClient, task: str) -> None:
    password = "no-secret-7e151628ae2b"
    await client.patch(f"/v1/tasks/{task}", json={"task_prompt": f"Log in with {password}."})
    body = {"value": f"me:{password}", "service": "openweather", "auth_type": "basic"}
    answer = await client.put(path(task), json=body)
    assert answer.json()["errors"] == [{"field": "value", "message": "is in the task's task_prompt; remove it there first"}]


async def test_a_user_name_and_a_password_are_sealed_as_one(client: httpx.AsyncClient, task: str, stage: Stage) -> None:
    body = {"value": f"me:{VALUE}", "service": "openweather", "auth_type": "basic"}
    answer = await client.put(path(task), json=body)
    sealed = stage.memory.credentials[task]["OPENWEATHER_API_KEY"]
    opened = seal.PrivateKey(PRIVATE).unseal(sealed.ciphertext, seal.build_credential_info(sealed.label))
    assert (answer.json()["auth_type"], opened) == ("basic", f"me:{VALUE}".encode())
    assert VALUE not in answer.text


async def test_of_two_who_store_at_once_one_is_told_to_try_again(client: httpx.AsyncClient, task: str, stage: Stage) -> None:
    stage.memory.versions[task] = {}

    class Hasty(dict[str, int]):
        """Versions that somebody else raises between the reading and the writing."""

        reads = 0

        def get(self, name: str, default: int = 0) -> int:  # type: ignore[override] # only integers are asked for here
            self.reads += 1
            return self.reads - 1

    stage.memory.versions[task] = Hasty()
    answer = await client.put(path(task), json={"value": VALUE, "service": "openweather"})
    assert (answer.status_code, answer.json()["title"]) == (409, "Conflict")


async def test_a_task_has_at_most_twenty_and_each_can_still_be_replaced(client: httpx.AsyncClient, task: str) -> None:
    body = {"value": VALUE, "service": "openweather"}
    for number in range(20):
        assert (await client.put(path(task, f"KEY_{number}"), json=body)).status_code == 200
    assert (await client.put(path(task, "KEY_20"), json=body)).status_code == 409
    assert (await client.put(path(task, "KEY_0"), json=body)).json()["version"] == 2


async def test_of_those_who_store_the_last_credential_at_once_one_does(client: httpx.AsyncClient, task: str) -> None:
    body = {"value": VALUE, "service": "openweather"}
    for number in range(19):
        assert (await client.put(path(task, f"KEY_{number}"), json=body)).status_code == 200
    answers = await asyncio.gather(*(client.put(path(task, f"LAST_{number}"), json=body) for number in range(6)))
    assert sorted(outcome.status_code for outcome in answers) == [200, *[409] * 5]
    assert {outcome.json()["detail"] for outcome in answers if outcome.is_error} == {"a task may have at most 20 credentials"}
    assert len((await client.get(f"/v1/tasks/{task}/credentials")).json()["credentials"]) == 20
