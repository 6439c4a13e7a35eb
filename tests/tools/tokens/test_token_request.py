"""The token request: what the auth block says, each credential in its place, and nothing to a host that was not approved."""

from __future__ import annotations

import base64
import dataclasses
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.credentials.credential import Credential
from ferryman.domain.http.request import BodyType, Method
from ferryman.domain.tools.declared import Apply, Exchange, Extract, TokenExchange
from ferryman.tools.tokens.access import obtain_access
from ferryman.tools.tokens.client import BASIC
from ferryman.tools.tokens.token_request import build_token_request
from tests.plain_gate import build_response

from .harness import HOSTS, OAUTH, OUTBOUND, POLICY, SECRET, Harness, credential, need, token

LOGIN = TokenExchange(
    request=Exchange(
        url="https://login.service.test/login",
        headers={"X-App": "{{secrets.APP_KEY}}", "X-Region": "{{env.REGION}}", "X-None": "{{env.NONE}}"},
        body={"user": "u", "deep": [{"pass": "{{secrets.CLIENT_SECRET}}!"}]},
    ),
    extract=Extract(token_path="$.data.jwt"),
)
TEXT = Extract(response_format="text")
VISIBLE = st.characters(min_codepoint=33, max_codepoint=126)
NO_OBJECT = Exchange(url=OAUTH.token_url, body_type=BodyType.FORM, body="{{secrets.CLIENT_SECRET}}")
APP = credential(name="APP_KEY")


async def request_access(harness: Harness, what) -> str:
    access = await obtain_access(harness.instance(), what, within_s=30)
    return access.credential.secret.reveal()


async def test_id_and_secret_go_into_the_header_as_the_standard_has_them(harness: Harness) -> None:
    await request_access(harness, need())
    (arrived,) = harness.login.requests
    scheme, _, pair = arrived.headers["authorization"].partition(" ")
    encoded = SECRET.replace("+", "%2B").replace("/", "%2F").replace("=", "%3D")
    assert (scheme, base64.b64decode(pair).decode()) == ("Basic", f"the+client:{encoded}")
    assert arrived.body == {"grant_type": "client_credentials", "scope": "read write"}
    assert (arrived.method, arrived.body_type, arrived.headers["accept"]) == ("POST", BodyType.FORM, "application/json")


async def test_id_and_secret_go_into_the_body_where_that_is_declared(harness: Harness) -> None:
    await request_access(harness, need(dataclasses.replace(OAUTH, creds_location="body", scope=None)))
    (arrived,) = harness.login.requests
    assert arrived.body == {"grant_type": "client_credentials", "client_id": "the client", "client_secret": SECRET}
    assert "authorization" not in arrived.headers


@given(client=st.text(min_size=1, max_size=20), secret=st.text(VISIBLE, min_size=16, max_size=40))
def test_no_letter_of_id_or_secret_moves_the_border_between_them(client: str, secret: str) -> None:
    auth, credentials = dataclasses.replace(OAUTH, client_id="{{env.CLIENT}}"), {"CLIENT_SECRET": credential(secret)}
    access = build_token_request(need(auth, credentials=credentials, env={"CLIENT": client}))
    pair = base64.b64decode(access.credentials[BASIC].secret.reveal())
    assert pair.count(b":") == 1
    assert pair.isascii()


async def test_what_is_made_of_a_secret_goes_to_the_token_endpoint_alone() -> None:
    access = build_token_request(need())
    assert access.credentials[BASIC].label.hosts == ("login.service.test",)
    assert set(access.used) == {"CLIENT_SECRET"}


async def test_a_login_is_asked_as_it_is_declared(harness: Harness) -> None:
    harness.login.answer = lambda _: build_response(f'{{"data": {{"jwt": "{token(1)}"}}}}')
    what = need(LOGIN, env={"REGION": "eu"}, credentials={"CLIENT_SECRET": credential(), "APP_KEY": APP})
    assert await request_access(harness, what) == token(1)
    (arrived,) = harness.login.requests
    assert arrived.headers == {"x-app": APP.secret.reveal(), "x-region": "eu"}
    assert arrived.body == {"user": "u", "deep": [{"pass": f"{SECRET}!"}]}
    assert (arrived.method, arrived.body_type) == ("POST", BodyType.JSON)


async def test_a_login_may_be_a_get_whose_answer_is_the_token(harness: Harness) -> None:
    harness.login.answer = lambda _: build_response(f"{token(1)}\r\n")
    body = {"key": "{{secrets.CLIENT_SECRET}}", "scope": ["a", 1, True], "none": None}
    request = Exchange(url="https://login.service.test/in", method=Method.GET, body_type=BodyType.QUERY, body=body)
    assert await request_access(harness, need(TokenExchange(request=request, extract=TEXT))) == token(1)
    (arrived,) = harness.login.requests
    assert arrived.query_params == {"key": SECRET, "scope": ["a", "1", "true"]}
    assert (arrived.method, arrived.body) == ("GET", None)


async def test_a_login_may_be_a_form(harness: Harness) -> None:
    harness.login.answer = lambda _: build_response(token(1))
    request = Exchange(
        url="https://login.service.test/",
        body_type=BodyType.FORM,
        body={"user": "u", "pass": "{{secrets.CLIENT_SECRET}}", "n": 1},
    )
    await request_access(harness, need(TokenExchange(request=request, extract=TEXT)))
    (arrived,) = harness.login.requests
    assert (arrived.body, arrived.body_type) == ({"user": "u", "pass": SECRET, "n": "1"}, BodyType.FORM)


async def test_what_the_block_comes_to_decides_which_token_it_is(harness: Harness) -> None:
    harness.login.answer = lambda _: build_response(token(len(harness.login.requests)))
    request = Exchange(url="https://login.service.test/", body={"tenant": "{{env.TENANT}}"})
    auth = TokenExchange(request=request, extract=TEXT)
    tokens = [await request_access(harness, need(auth, env={"TENANT": item})) for item in "aba"]
    assert tokens == [token(1), token(2), token(1)]


@pytest.mark.parametrize(
    ("what", "sentence"),
    [
        (
            {"auth": dataclasses.replace(OAUTH, token_url="https://evil.test/")},
            "Domain evil.test not in any approved integration",
        ),
        ({"auth": dataclasses.replace(OAUTH, token_url="http://login.service.test/")}, "only https:// URLs are allowed"),
        ({"auth": dataclasses.replace(OAUTH, token_url="https://login.service.test:8443/")}, "the port is not 443"),
        (
            {"auth": dataclasses.replace(OAUTH, token_url="https://api.other.test/")},
            "credential CLIENT_SECRET is not valid for host api.other.test",
        ),
        ({"credentials": {}}, "credential 'CLIENT_SECRET' not found"),
        ({"auth": TokenExchange(request=NO_OBJECT)}, "must be an object"),
        ({"auth": dataclasses.replace(OAUTH, client_id="{{#item}}")}, "an internal fault"),
        ({"outbound": dataclasses.replace(OUTBOUND, url="https://evil.test/")}, "Domain evil.test not in any approved"),
        (
            {"outbound": dataclasses.replace(OUTBOUND, url="https://api.other.test/")},
            "credential CLIENT_SECRET is not valid for host api.other.test",
        ),
    ],
)
async def test_what_may_not_be_asked_is_not_asked(harness: Harness, what, sentence: str) -> None:
    with pytest.raises(CallRefusedError, match=r"^Error: no token could be fetched for this tool -- ") as refused:
        await obtain_access(harness.instance(), need(**what), within_s=30)
    assert sentence in refused.value.refusal.message
    assert refused.value.refusal.blocked
    assert not harness.login.requests


async def test_a_token_that_is_kept_is_not_given_to_an_execution_that_may_not_fetch_it(harness: Harness) -> None:
    await request_access(harness, need())
    narrower = dataclasses.replace(POLICY, domains=("api.service.test",))
    with pytest.raises(CallRefusedError, match=r"Domain login\.service\.test not in any approved integration"):
        await request_access(harness, need(policy=narrower))


async def test_a_secret_that_no_longer_goes_to_the_endpoint_gets_no_kept_token(harness: Harness) -> None:
    await request_access(harness, need())
    elsewhere = {"CLIENT_SECRET": credential(hosts=("api.service.test",))}
    with pytest.raises(CallRefusedError, match="not valid for host"):
        await request_access(harness, need(credentials=elsewhere))


async def test_the_token_goes_to_the_tools_own_host_alone(harness: Harness) -> None:
    access = await obtain_access(harness.instance(), need(), within_s=30)
    label = access.credential.label
    assert (label.hosts, label.owner, label.task) == ((HOSTS[1],), "ann", "task_1")


async def test_the_token_is_known_by_the_header_or_the_parameter_it_goes_into(harness: Harness) -> None:
    harness.login.answer = lambda _: build_response(token(1))
    for apply, names in ((Apply(name="X-Session"), ("X-Session", None)), (Apply(location="query", name="sid"), (None, "sid"))):
        auth = TokenExchange(request=Exchange(url="https://login.service.test/"), extract=TEXT, apply=apply)
        label = (await obtain_access(harness.instance(), need(auth), within_s=30)).credential.label
        assert (label.auth_header_name, label.auth_param_name) == names


async def test_a_refusal_does_not_repeat_a_secret_that_the_host_is_made_of(harness: Harness) -> None:
    secret = credential("abcdefghijklmnopqrst0123")
    url = f"https://{secret.secret.reveal()}.evil.test/"
    with pytest.raises(CallRefusedError) as refused:
        await request_access(
            harness, need(outbound=dataclasses.replace(OUTBOUND, url=url), credentials={"CLIENT_SECRET": secret})
        )
    assert secret.secret.reveal() not in refused.value.refusal.message


async def test_a_login_that_answers_a_secret_in_another_spelling_gives_no_token(harness: Harness) -> None:
    async def redact(_: str, credentials: Iterable[Credential], text: str) -> str:
        return "[redacted]" if any(credential.secret.reveal()[::-1] in text for credential in credentials) else text

    harness.login.answer = lambda _: build_response(f'{{"access_token": "{SECRET[::-1]}"}}')
    with pytest.raises(CallRefusedError, match="gave back what it was sent"):
        await obtain_access(harness.instance(redact=redact), need(), within_s=30)
    assert not any(slot.token for slot in harness.memory.tokens.values())
