"""Once more after a 401, and not more often than that."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import pytest

from ferryman.domain.calls.call import ToolCallResult, is_outcome_unknown
from ferryman.domain.calls.refusal import CallRefusedError, refuse_address
from ferryman.domain.credentials.credential import Credential
from ferryman.domain.http.request import Method, OutboundRequest
from ferryman.domain.tools.tool import Repeatable
from ferryman.ports.errors import NotSentError, UnavailableError
from ferryman.tools.tokens.access import FORMER, obtain_access, send_with_token
from ferryman.tools.tokens.client import TOKEN
from tests.plain_gate import build_response

from .harness import OUTBOUND, Api, Harness, call, need, token


async def test_a_good_token_is_sent_once(harness: Harness) -> None:
    api = Api(token(1))
    assert (await call(harness.instance(), api)).response_status == 200
    assert api.got == [token(1)]


async def test_a_call_that_got_401_is_sent_once_more_with_a_new_token(harness: Harness) -> None:
    api = Api(token(2))
    assert (await call(harness.instance(), api)).response_status == 200
    assert api.got == [token(1), token(2)]


async def test_a_second_401_is_the_answer(harness: Harness) -> None:
    api = Api()
    assert (await call(harness.instance(), api)).response_status == 401
    assert api.got == [token(1), token(2)]
    assert len(harness.login.requests) == 2


async def test_another_status_may_ask_for_it_and_then_401_does_not(harness: Harness) -> None:
    auth = dataclasses.replace(need().auth, refresh_on=(419,))
    assert (await call(harness.instance(), Api(status=401), need(auth))).response_status == 401
    assert len(harness.login.requests) == 1
    again = Api(status=419)
    await call(harness.instance(), again, need(auth))
    assert len(again.got) == 2


POST = dataclasses.replace(OUTBOUND, method=Method.POST)


@pytest.mark.parametrize("status", [400, 403, 404, 409, 419, 429, 440, 498, 499, 500, 503])
@pytest.mark.parametrize("method", [Method.POST, Method.PUT, Method.DELETE])
async def test_what_is_not_safe_to_repeat_is_in_doubt_after_any_status_but_401(
    harness: Harness, status: int, method: Method
) -> None:
    auth = dataclasses.replace(need().auth, refresh_on=(401, status))
    api, outbound = Api(token(2), status=status), dataclasses.replace(OUTBOUND, method=method)
    result = await call(harness.instance(), api, need(auth, outbound=outbound))
    assert (len(api.got), is_outcome_unknown(result, Repeatable.KEYED), result.blocked) == (1, True, False)
    assert result.content == (
        "Error: outcome unknown -- the request may have been executed. It was not repeated. "
        f"It was answered with HTTP {status}."
    )


async def test_a_post_is_repeated_after_401(harness: Harness) -> None:
    api = Api(token(2))
    assert (await call(harness.instance(), api, need(outbound=POST))).response_status == 200
    assert api.got == [token(1), token(2)]


async def test_a_status_that_asks_for_no_token_is_the_answer(harness: Harness) -> None:
    api = Api(status=403)
    assert (await call(harness.instance(), api, need(outbound=POST))).response_status == 403
    assert len(harness.login.requests) == 1


async def test_the_call_after_one_in_doubt_has_another_token(harness: Harness) -> None:
    auth = dataclasses.replace(need().auth, refresh_on=(419,))
    deps, api = harness.instance(), Api(token(2), status=419)
    await call(deps, api, need(auth, outbound=POST))
    assert (await call(deps, api, need(auth, outbound=POST))).response_status == 200
    assert api.got == [token(1), token(2)]


async def test_what_is_safe_to_repeat_is_sent_once_more_after_any_status(harness: Harness) -> None:
    auth = dataclasses.replace(need().auth, refresh_on=(419, 500))
    for number, status in enumerate((419, 500)):
        api = Api(token(2 * number + 2), status=status)
        outbound = dataclasses.replace(OUTBOUND, url=f"{OUTBOUND.url}/{number}")
        auth = dataclasses.replace(auth, cache_ttl=1_000 + number)
        assert (await call(harness.instance(), api, need(auth, outbound=outbound))).response_status == 200


async def test_a_post_with_a_key_for_repetitions_is_repeated(harness: Harness) -> None:
    auth = dataclasses.replace(need().auth, refresh_on=(500,))
    outbound = dataclasses.replace(OUTBOUND, method=Method.POST, idempotency=("Idempotency-Key", "e-1"))
    api = Api(token(2), status=500)
    assert (await call(harness.instance(), api, need(auth, outbound=outbound))).response_status == 200


async def test_the_first_answer_is_returned_where_there_is_no_new_token(harness: Harness) -> None:
    deps, api = harness.instance(), Api()
    await obtain_access(deps, need(), within_s=30)
    harness.login.answer = lambda _: build_response("gone", 500)
    assert (await call(deps, api)).response_status == 401
    assert api.got == [token(1)]


async def test_the_first_answer_is_returned_where_the_store_is_unavailable(harness: Harness) -> None:
    class UnavailableTokens(Api):
        async def send(self, outbound, credentials):
            deps.tokens.get = deps.tokens.claim = fail  # type: ignore[method-assign] # a store that goes away meanwhile
            return await super().send(outbound, credentials)

    async def fail(*_: object, **__: object) -> None:
        raise UnavailableError("away")

    deps = harness.instance()
    assert (await call(deps, UnavailableTokens())).response_status == 401


async def test_a_store_that_is_away_before_anything_was_sent_is_told(harness: Harness) -> None:
    deps, api = harness.instance(), Api()

    async def fail(*_: object, **__: object) -> None:
        raise UnavailableError("away")

    deps.tokens.get = fail  # type: ignore[method-assign] # a store that is away
    with pytest.raises(NotSentError):
        await call(deps, api)
    assert not api.got


async def test_a_call_whose_time_is_over_is_not_sent_again(harness: Harness) -> None:
    seconds, api = iter([30, 30, 0]), Api()
    result = await send_with_token(harness.instance(), need(), api.send, left_s=lambda: next(seconds))
    assert (result.response_status, len(api.got)) == (401, 1)


async def test_the_token_before_is_known_where_the_second_answer_is_redacted(harness: Harness) -> None:
    api = Api(token(2))
    await call(harness.instance(), api)
    first, second = api.known
    assert (first[TOKEN].secret.reveal(), FORMER in first) == (token(1), False)
    assert (second[TOKEN].secret.reveal(), second[FORMER].secret.reveal()) == (token(2), token(1))
    assert second[FORMER].label.hosts == ()


async def test_a_call_without_a_token_is_not_sent(harness: Harness) -> None:
    harness.login.answer, api = lambda _: build_response("no", 400), Api()
    with pytest.raises(CallRefusedError):
        await call(harness.instance(), api)
    assert not api.got


async def test_a_call_that_was_sent_once_is_not_told_as_blocked(harness: Harness) -> None:
    first = Api(status=401)

    async def send(outbound: OutboundRequest, credentials: Mapping[str, Credential]) -> ToolCallResult:
        if first.got:
            return ToolCallResult.from_refusal(outbound.tool, refuse_address("api.service.test"))
        return await first.send(outbound, credentials)

    result = await send_with_token(harness.instance(), need(), send, left_s=lambda: 30)
    assert (result.blocked, result.response_status) == (False, 401)
