"""Declared tools in one's own process: the same gate, and the variables they name are credentials."""

from __future__ import annotations

import asyncio
import base64
import json
from typing import Any

import pytest

from ferryman.composition.embedded import Embedded
from ferryman.domain.calls.part import PartKind
from ferryman.domain.problem import InvalidInputError
from tests.canaries import canary
from tests.egress.conftest import Answer, GateHarness, reply

HOST = "api.news.test"
VALUE = canary.create_key("a variable", 24)
PASSWORD = canary.create_key("a password", 30)
TOKEN = canary.create_key("a fetched token", 40)
ENTRY: dict[str, Any] = {
    "kind": "http",
    "name": "search",
    "url": f"https://{HOST}/v1/search?q={{q}}",
    "headers": {"X-Api-Key": "{{env.NEWS_KEY}}"},
}
LOGIN = {
    "type": "token_exchange",
    "request": {"url": "https://other.wild.test/login", "body": {"pass": "{{env.PASSWORD}}"}},
    "extract": {"token_path": "$.jwt"},
}
ENV = {"NEWS_KEY": VALUE, "PASSWORD": PASSWORD, "SHORT": "secret", "EMPTY": ""}


def embedded(harness: GateHarness, *entries: dict[str, Any]) -> Embedded:
    return Embedded.declare(entries or [ENTRY], env=ENV, gate=harness.gate(), log=harness.log)


def faults(*entries: dict[str, Any]) -> list[str]:
    with pytest.raises(InvalidInputError) as caught:
        Embedded.declare(entries, env=ENV)
    return [f"{problem.field} {problem.message}" for problem in caught.value.problems]


async def test_a_variable_with_a_colon_is_sent_as_a_user_name_and_a_password(harness: GateHarness) -> None:
    entry = {**ENTRY, "headers": {"Authorization": "Basic {{env.LOGIN}}"}}
    for value, sent in ((f"me:{VALUE}", base64.b64encode(f"me:{VALUE}".encode())), (VALUE, VALUE.encode())):
        tools = Embedded.declare([entry], env={"LOGIN": value}, gate=harness.gate(), log=harness.log)
        async with harness.serve(HOST, reply()):
            await tools.call("search", {"q": "x"})
        assert b"Basic " + sent in harness.requests[-1][1]


def test_a_variable_that_is_no_pair_of_a_secret_is_refused() -> None:
    entry = {**ENTRY, "headers": {"Authorization": "Basic {{env.LOGIN}}"}}
    with pytest.raises(InvalidInputError, match="the password must be at least 16 characters"):
        Embedded.declare([entry], env={"LOGIN": "administrator:hunter2"})


async def test_a_tool_is_called_with_its_variable_and_the_answer_is_framed(harness: GateHarness) -> None:
    async with harness.serve(HOST, reply(b'{"found": 3}')):
        result = await embedded(harness).call("search", {"q": "rain & sun"})
    ((_, request),) = harness.requests
    assert request.startswith(b"GET /v1/search?q=rain%20%26%20sun HTTP/1.1\r\n")
    assert f"x-api-key: {VALUE}\r\n".encode() in request.lower().replace(VALUE.lower().encode(), VALUE.encode())
    assert (result.response_status, result.credential_used, result.blocked) == (200, "NEWS_KEY", False)
    assert result.content.startswith("<tool_response")
    assert '{"found": 3}' in result.content


REGIONAL = {
    **ENTRY,
    "url": f"https://{HOST}/v1/{{region}}/search?q={{q}}",
    "params": {"region": "{{env.SHORT}}"},
    "query": {"note": "{{#if env.EMPTY}}full{{else}}in {{env.SHORT}}{{/if}}"},
    "public_env": ["SHORT", "EMPTY"],
}


async def test_a_variable_that_is_not_secret_is_a_text_like_any_other(harness: GateHarness) -> None:
    async with harness.serve(HOST, reply(b'{"region": "secret"}')):
        result = await embedded(harness, REGIONAL).call("search", {"q": "is it secret"})
    ((_, request),) = harness.requests
    assert request.startswith(b"GET /v1/secret/search?q=is%20it%20secret&note=in%20secret HTTP/1.1\r\n")
    assert '{"region": "secret"}' in result.content
    assert result.credential_used == "NEWS_KEY"


async def test_a_login_may_name_a_variable_that_is_not_secret(harness: GateHarness) -> None:
    request = {"url": f"https://{HOST}/login", "body": {"pass": "{{env.PASSWORD}}", "region": "{{env.SHORT}}"}}
    entry = {**ENTRY, "headers": {}, "auth": {**LOGIN, "request": request}, "public_env": ["SHORT"]}
    async with harness.serve(HOST, reply(json.dumps({"jwt": TOKEN}).encode())):
        await embedded(harness, entry).call("search", {"q": "a"})
    assert harness.requests[0][1].endswith(json.dumps({"pass": PASSWORD, "region": "secret"}, separators=(",", ":")).encode())


async def test_a_variable_that_comes_back_is_redacted(harness: GateHarness) -> None:
    async with harness.serve(HOST, reply(json.dumps({"you": VALUE}).encode())):
        result = await embedded(harness).call("search", {"q": "a"})
    assert "[redacted:NEWS_KEY]" in result.content
    assert VALUE not in result.content + str(harness.log.lines)


async def test_a_variable_in_an_argument_does_not_leave(harness: GateHarness) -> None:
    result = await embedded(harness).call("search", {"q": f"it is {VALUE}"})
    assert (result.block_reason, harness.dialer.dialled) == ("credential_leak", [])
    assert VALUE not in str(result)


async def test_a_variable_of_one_tool_does_not_go_to_the_host_of_another(harness: GateHarness) -> None:
    other = {**ENTRY, "name": "other", "url": "https://other.wild.test/", "headers": {}}
    tools = embedded(harness, ENTRY, {**other, "query": {"a": "{{a}}"}})
    assert tools.credentials["NEWS_KEY"].label.hosts == (HOST,)
    assert (await tools.call("other", {"a": VALUE})).block_reason == "credential_leak"


async def test_a_host_inside_is_refused_as_ever(harness: GateHarness) -> None:
    result = await embedded(harness, {**ENTRY, "url": "https://private.wild.test/"}).call("search", {})
    assert result.block_reason == "dns_validation_failed"


async def test_an_error_of_the_other_end_is_an_error(harness: GateHarness) -> None:
    async with harness.serve(HOST, reply(b"nothing here", status="404 Not Found")):
        result = await embedded(harness).call("search", {"q": "a"})
        fine = await embedded(harness, {**ENTRY, "ok_statuses": [404]}).call("search", {"q": "a"})
    assert result.content.startswith("Error: HTTP 404 Not Found -- the upstream answered with an error.\n<tool_response")
    assert fine.content.startswith("<tool_response")


async def test_a_token_is_fetched_once_for_many_calls_and_is_redacted(harness: GateHarness) -> None:
    def answer(body: bytes) -> Answer:
        return reply(body)

    tools = embedded(harness, {**ENTRY, "headers": {}, "auth": LOGIN})
    async with (
        harness.serve("other.wild.test", answer(json.dumps({"jwt": TOKEN}).encode()), address="25.0.0.10"),
        harness.serve(HOST, answer(json.dumps({"token": TOKEN}).encode())),
    ):
        harness.names.table = {**harness.names.table, "other.wild.test": ["25.0.0.10"]}
        results = await asyncio.gather(*(tools.call("search", {"q": str(number)}) for number in range(4)))
    logins = [request for host, request in harness.requests if host == "other.wild.test"]
    calls = [request for host, request in harness.requests if host == HOST]
    assert (len(logins), len(calls)) == (1, 4)
    assert logins[0].endswith(json.dumps({"pass": PASSWORD}, separators=(",", ":")).encode())
    assert all(f"Bearer {TOKEN}".encode() in call for call in calls)
    assert not any(TOKEN in str(result) or PASSWORD in str(result) for result in (*results, harness.log.lines))


EXCHANGED = {
    "text": ({"response_format": "text"}, f"{TOKEN}\n"),
    "json": ({"token_path": "$.session.keys[0]"}, json.dumps({"session": {"keys": [TOKEN]}})),
}


@pytest.mark.parametrize("form", EXCHANGED)
async def test_a_login_has_its_own_field_names_its_own_answer_and_its_own_header(form: str, harness: GateHarness) -> None:
    extract, answered = EXCHANGED[form]
    auth = {
        "type": "token_exchange",
        "request": {"url": f"https://{HOST}/enter", "body_type": "form", "body": {"who": "desk", "pin": "{{env.PASSWORD}}"}},
        "extract": extract,
        "apply": {"name": "X-Session", "format": "sid={token}; v=1"},
    }
    async with harness.serve(HOST, reply(answered.encode())):
        result = await embedded(harness, {**ENTRY, "headers": {}, "auth": auth}).call("search", {"q": "a"})
    login, call = (request for _, request in harness.requests)
    assert login.startswith(b"POST /enter HTTP/1.1\r\n")
    assert login.endswith(f"who=desk&pin={PASSWORD}".encode())
    assert f"x-session: sid={TOKEN}; v=1\r\n".lower().encode() in call.lower()
    assert (TOKEN.encode() in call, b"authorization" in call.lower(), TOKEN in result.content) == (True, False, False)


async def test_a_token_that_another_tool_meets_is_redacted_too(harness: GateHarness) -> None:
    first, other = ({**ENTRY, "name": name, "headers": {}} for name in ("own", "other"))
    tools = embedded(
        harness, {**first, "auth": {**LOGIN, "request": {**LOGIN["request"], "url": f"https://{HOST}/login"}}}, other
    )
    async with harness.serve(HOST, reply(json.dumps({"jwt": TOKEN}).encode())):
        await tools.call("own", {"q": "a"})
        result = await tools.call("other", {"q": "a"})
    assert '{"jwt": "[redacted:token]"}' in result.content
    assert TOKEN not in result.content


async def test_what_cannot_be_called_says_so(harness: GateHarness) -> None:
    tools = embedded(harness, ENTRY, {**ENTRY, "name": "off", "enabled": False})
    reasons = [(await tools.call(name, {"q": "a"})).block_reason for name in ("none", "off")]
    assert reasons == ["unknown_tool", "tool_disabled"]
    missing = await tools.call("search", {})
    assert json.loads(missing.content) == {
        "error": "'q' field required for search",
        "code": "INVALID_ARGUMENTS",
        "suggestion": "Correct the arguments and call the tool again.",
    }
    kinds = [part.kind for part in missing.parts]
    assert (missing.ok, missing.block_reason, kinds) == (False, "invalid_arguments", [PartKind.JSON])
    assert not harness.dialer.dialled


@pytest.mark.parametrize(
    ("entries", "sentences"),
    [
        ([{**ENTRY, "headers": {"X-A": "{{env.NOWHERE}}"}}], ["env.NOWHERE is not set in the environment"]),
        ([{**ENTRY, "headers": {"X-A": "{{env.EMPTY}}"}}], ["env.EMPTY is not set in the environment"]),
        (
            [{**ENTRY, "headers": {"X-A": "{{env.SHORT}}"}}],
            ["env.SHORT must be at least 16 characters, so that a leak can be told from chance"],
        ),
        (
            [{**ENTRY, "headers": {"X-A": "{{env.lower}}"}}],
            ["tools.0.headers.X-A must name a variable, as in {{env.API_KEY}}: capital letters, digits and underscores"],
        ),
        (
            [{**ENTRY, "headers": {"X-A": "{{#if env.NEWS_KEY}}a{{/if}}"}}],
            ["tools.0.headers.X-A has a secret in a condition: what is sent would reveal it"],
        ),
        ([ENTRY, ENTRY], ["tools.1.name is declared twice"]),
        (
            [{**ENTRY, "query": {"a": "{{env.NOWHERE}}"}, "public_env": ["NOWHERE"]}],
            ["env.NOWHERE is not set in the environment"],
        ),
        (
            [{**ENTRY, "public_env": ["SHORT"]}],
            ["tools.0.public_env names 'SHORT', which no template names: write {{env.NAME}} where it is used, or remove it"],
        ),
        (
            [ENTRY, {**ENTRY, "name": "other", "public_env": ["NEWS_KEY"]}],
            ["tools.1.public_env lists NEWS_KEY as not secret, and another tool names it as a credential: list it in both"],
        ),
        (
            [{**ENTRY, "url": f"https://{HOST}/{{key}}", "headers": {}, "params": {"key": "{{env.NEWS_KEY}}"}}],
            [
                "tools.0.params.key is a secret in the path of the URL, where every log on the way would have it:"
                " send it in a header"
            ],
        ),
    ],
)
def test_what_is_wrong_with_a_declaration_or_a_variable_is_named(entries: list[dict[str, Any]], sentences: list[str]) -> None:
    assert faults(*entries) == sentences


def test_no_variable_shows_itself(harness: GateHarness) -> None:
    assert VALUE not in repr(embedded(harness))
