"""Injection: the bytes of a request as they go out, and what cannot be written."""

from __future__ import annotations

import base64

import pytest

from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import CallRefusedError, Refusal
from ferryman.domain.credentials.credential import AuthType, Credential
from ferryman.domain.http.request import BodyType, Method, PreparedRequest, SecretPlaceholder, Template
from ferryman.domain.http.url import parse_url
from ferryman.egress.inject import BODY_BYTES_MAX, TARGET_CHARACTERS_MAX, build_request
from tests.egress.plants import VALUES, credential, outbound

VALUE = VALUES["symbols"]
FORM = "application/x-www-form-urlencoded"
PAIR = VALUES["basic"]
CODED = base64.b64encode(PAIR.encode()).decode()
KEYS = {"A": credential(VALUE, "A"), "PAIR": credential(PAIR, "PAIR", kind=AuthType.BASIC)}
LONG = "x" * BODY_BYTES_MAX
SECRET = Template(("x", SecretPlaceholder("A")))


def build(url: str = "https://api.news.test/v1?a=b", key: Credential | None = None, **fields: object) -> PreparedRequest:
    request = outbound(**{"url": url, "headers": {}, **fields})
    return build_request(request, parse_url(url), request.headers.items(), key, KEYS)


def refuse(**fields: object) -> Refusal:
    with pytest.raises(CallRefusedError) as refused:
        build(**fields)  # type: ignore[arg-type] # fields of a request
    return refused.value.refusal


def test_a_request_without_more_has_the_headers_of_every_request() -> None:
    request = build(body=None)
    assert request.headers == (("accept", "*/*"), ("user-agent", "ferryman"), ("accept-encoding", "gzip, deflate, br"))
    assert (request.method, request.url.target, request.body) == (Method.POST, "/v1?a=b", None)


def test_the_model_s_headers_come_before_the_fixed_and_none_before_the_coding() -> None:
    request = build(
        body=None,
        headers={"accept": "text/csv", "prefer": "a"},
        fixed_headers={"Prefer": SECRET, "User-Agent": "other", "Accept-Encoding": "br"},
    )
    assert dict(request.headers) == {
        "accept": "text/csv",
        "prefer": f"x{VALUE}",
        "user-agent": "other",
        "accept-encoding": "gzip, deflate, br",
    }


def test_a_placeholder_is_filled_in_query_and_body() -> None:
    request = build(query_params={"q": SECRET}, body={"b": [SECRET]})
    assert request.url.target.startswith("/v1?a=b&q=xp%40ss%2Fw%2Brd%3D")
    assert request.body == f'{{"b":["x{VALUE}"]}}'.encode()


@pytest.mark.parametrize(
    ("kind", "body", "content", "media"),
    [
        (BodyType.JSON, {"a": "é", "b": [1, 2]}, b'{"a":"\\u00e9","b":[1,2]}', "application/json"),
        (BodyType.JSON, "text", b'"text"', "application/json"),
        (
            BodyType.FORM,
            {"a": "é &", "b": [1, True], "c": None},
            b"a=%C3%A9+%26&b=1&b=true",
            "application/x-www-form-urlencoded",
        ),
    ],
)
def test_a_body_is_written_by_its_type(kind: BodyType, body: object, content: bytes, media: str) -> None:
    request = build(body=body, body_type=kind)
    assert (request.body, dict(request.headers)["content-type"]) == (content, media)
    named = build(body=body, body_type=kind, fixed_headers={"Content-Type": "text/other"})
    assert dict(named.headers)["content-type"] == "text/other"


def test_a_body_of_a_query_follows_the_parameters() -> None:
    request = build(query_params={"q": 1}, body={"b": [2.5, SECRET]}, body_type=BodyType.QUERY, headers={"content-type": "a"})
    assert request.url.target.startswith("/v1?a=b&q=1&b=2.5&b=xp%40ss")
    assert (request.body, "content-type" in dict(request.headers)) == (None, False)


@pytest.mark.parametrize("method", [Method.GET, Method.HEAD])
def test_a_method_without_a_body_sends_none(method: Method) -> None:
    assert build(method=method, body={"a": 1}).body is None


def test_the_idempotency_header_is_the_executors() -> None:
    assert (
        dict(build(headers={"idempotency-key": "mine"}, idempotency=("Idempotency-Key", "ours")).headers)["idempotency-key"]
        == "ours"
    )


@pytest.mark.parametrize(
    ("kind", "fields", "header"),
    [
        (AuthType.BEARER, {}, ("authorization", f"Bearer {VALUE}")),
        (AuthType.HEADER, {"auth_header_name": "X-Key"}, ("x-key", VALUE)),
        (AuthType.BASIC, {}, ("authorization", f"Basic {base64.b64encode(VALUE.encode()).decode()}")),
    ],
)
def test_a_credential_is_set_last_as_its_label_says(kind: AuthType, fields: dict[str, str], header: tuple[str, str]) -> None:
    request = build(key=credential(VALUE, kind=kind, **fields), fixed_headers={header[0]: "theirs"})
    assert dict(request.headers)[header[0]] == header[1]
    assert request.url.target == "/v1?a=b"


@pytest.mark.parametrize(("name", "scheme"), [("Authorization", "Basic "), ("authorization", "basic ")])
def test_a_pair_fills_its_place_in_base64(name: str, scheme: str) -> None:
    request = build(body=None, fixed_headers={name: Template((scheme, SecretPlaceholder("PAIR")))})
    assert dict(request.headers)["authorization"] == f"Basic {CODED}"


def test_a_value_that_its_owner_wrote_in_base64_is_sent_as_it_is() -> None:
    request = build(body=None, fixed_headers={"Authorization": Template(("Basic ", SecretPlaceholder("A")))})
    assert dict(request.headers)["authorization"] == f"Basic {VALUE}"


@pytest.mark.parametrize(
    "fields",
    [
        {"fixed_headers": {"Authorization": Template(("Bearer ", SecretPlaceholder("PAIR")))}},
        {"fixed_headers": {"Authorization": Template(("Basic ", SecretPlaceholder("PAIR"), "x"))}},
        {"fixed_headers": {"X-Auth": Template(("Basic ", SecretPlaceholder("PAIR")))}},
        {"query_params": {"q": Template((SecretPlaceholder("PAIR"),))}},
        {"body": {"b": Template((SecretPlaceholder("PAIR"),))}},
    ],
)
def test_a_pair_has_no_other_place(fields: dict[str, object]) -> None:
    assert refuse(**fields) == refusal.refuse_misplaced_pair("PAIR")


def test_a_header_credential_without_a_name_is_refused() -> None:
    key = credential(VALUE, kind=AuthType.HEADER)
    object.__setattr__(key.label, "auth_header_name", None)
    assert refuse(key=key) == refusal.refuse_unreadable_credential("NEWS_KEY")


@pytest.mark.parametrize("query", ["key=1", "a=b&KEY=1", "a;key", "k%65y=1", "+key=1", "key[]=1", "%20Key%5B0%5D=1"])
def test_no_other_parameter_has_the_name_of_the_credential_s(query: str) -> None:
    key = credential("value", kind=AuthType.QUERY_PARAM, auth_param_name="key")
    assert refuse(url=f"https://api.news.test/?{query}", key=key) == refusal.refuse_header(
        "the credential's own query parameter is set by the executor only"
    )


def test_a_parameter_credential_is_escaped_and_the_last() -> None:
    key = credential("a b&/", kind=AuthType.QUERY_PARAM, auth_param_name="my key")
    assert build(key=key, query_params={"keys": 1}).url.target == "/v1?a=b&keys=1&my%20key=a%20b%26%2F"
    assert build("https://api.news.test/", credential("v", kind=AuthType.QUERY_PARAM)).url.target == "/?api_key=v"


def test_a_target_and_a_body_have_a_limit() -> None:
    fits = TARGET_CHARACTERS_MAX - len("/v1?a=b&q=")
    assert len(build(query_params={"q": "x" * fits}).url.target) == TARGET_CHARACTERS_MAX
    assert refuse(query_params={"q": "x" * (fits + 1)}) == refusal.refuse_malformed_url(
        f"the URL with its parameters is longer than {TARGET_CHARACTERS_MAX} characters"
    )
    assert len(build(body="x" * (BODY_BYTES_MAX - 2)).body or b"") == BODY_BYTES_MAX


@pytest.mark.parametrize(
    ("fields", "field", "expected"),
    [
        ({"query_params": ["a"]}, "query_params", "an object"),
        ({"body": "a", "body_type": BodyType.QUERY}, "body", "an object"),
        ({"query_params": {"a": {}}}, "query_params", "an object of texts, numbers and lists of them"),
        ({"query_params": {"a": float("nan")}}, "query_params", "an object of texts, numbers and lists of them"),
        ({"body": {"a": [[]]}, "body_type": BodyType.FORM}, "body", "an object of texts, numbers and lists of them"),
        ({"query_params": {"a": "\ud800"}}, "query_params", "valid Unicode"),
        ({"query_params": {"\ud800": "a"}}, "query_params", "valid Unicode"),
        ({"body": {"a": {1}}}, "body", "an object that can be written as JSON"),
        ({"body": {"a": float("inf")}}, "body", "an object that can be written as JSON"),
        ({"body": LONG}, "body", f"at most {BODY_BYTES_MAX} bytes of JSON"),
        (
            {"body": {"a": "x" * BODY_BYTES_MAX}, "body_type": BodyType.FORM},
            "body",
            f"at most {BODY_BYTES_MAX} bytes of a form",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_written_is_refused_by_its_field(fields: dict[str, object], field: str, expected: str) -> None:
    assert refuse(**fields) == refusal.refuse_wrong_argument("api_call", field, expected)
