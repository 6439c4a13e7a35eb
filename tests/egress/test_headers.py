"""Headers and parameters: what a model may set, and how the credential is set last and alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.credentials.credential import AuthType
from ferryman.domain.http.request import Method, PreparedRequest
from ferryman.domain.http.url import parse_url
from ferryman.egress.headers import check_headers
from ferryman.egress.inject import build_request
from tests.egress.plants import VALUES, credential, outbound

KEYS = [credential(VALUES["prefixed"], kind=AuthType.HEADER, auth_header_name="X-Cmc-Pro-Key")]
SERVICE_HEADERS = ("X-GitHub-Api-Version", "Notion-Version", "x_under_score")
ALLOWED = [
    *("Accept", "accept-language", "If-None-Match", "If-Match", "Prefer", "Idempotency-Key", "IF_MATCH"),
    *("x-github-api-version", "NOTION-VERSION", "x-github_api-version"),
]
FORBIDDEN = [
    *("Authorization", "authorization", "Host", "HOST", "Content-Length", "Transfer-Encoding", "Connection", "Cookie", "Date"),
    *("Proxy-Authorization", "Upgrade", "TE", "Trailer", "Expect", "Via", "Forwarded", "Origin", "Referer", "User-Agent"),
    *("Metadata-Flavor", "Accept-Encoding", "Content-Encoding", "Range", "Keep-Alive", "HTTP2-Settings", "Set-Cookie"),
    *("X-Forwarded-For", "X-Forwarded-Host", "X_Forwarded_For", "X-Real-IP", "X-HTTP-Method-Override", "X-Original-URL"),
    *("X-Rewrite-URL", "X-Host", "X-Api-Key", "X-ApiKey", "X-Auth-Token", "X-Access-Token", "X-Amz-Security-Token"),
    *("X-Goog-User-Project", "X-Serverless-Authorization", "X-CloudTasks-QueueName", "x-cmc-pro-key", "X_CMC_PRO_KEY"),
    *("Sec-Fetch-Site", "apikey", "api-key", "", " accept", "accept ", "accept:", "accept\r\nx", "acc\x00ept", "ac cept"),
    *("x-é", "аccept", "x-" + "a" * 63, "X-", "x-_", ":authority", ":path"),
    *("X-Custom", "X-Request-Id", "X-Hasura-Role", "X-Consumer-Username", "X-Tenant", "X-Api-Version", "Stripe-Version"),
]
HUGE = 10**5_000
VALUES_REFUSED = ["", " a", "a ", "a\r\nb: c", "a\nb", "a\x00", "é", "​", "\ta", 1, None, ["a"], {"a": 1}]


@pytest.mark.parametrize("name", ALLOWED)
def test_a_header_of_the_list_or_of_the_service_s_own_is_allowed(name: str) -> None:
    assert check_headers({name: "value"}, KEYS, SERVICE_HEADERS) == ((name.lower().replace("_", "-"), "value"),)


def test_a_header_goes_out_as_its_service_spells_it() -> None:
    assert check_headers({"X-Under-Score": "value"}, KEYS, SERVICE_HEADERS) == (("x_under_score", "value"),)


def test_a_refusal_names_what_is_allowed_for_the_host() -> None:
    with pytest.raises(CallRefusedError) as refused:
        check_headers({"X-Tenant": "a"}, KEYS, ("Notion-Version",))
    assert refused.value.refusal.message == (
        "Error: header not allowed -- allowed for this host are accept, accept-language, content-type, idempotency-key, "
        "if-match, if-modified-since, if-none-match, if-unmodified-since, notion-version, prefer"
    )


def test_a_service_cannot_have_the_credential_s_header_set_by_the_model() -> None:
    with pytest.raises(CallRefusedError):
        check_headers({"X-Cmc-Pro-Key": "a"}, KEYS, ("X-Cmc-Pro-Key",))


@pytest.mark.parametrize("name", FORBIDDEN)
def test_any_other_is_refused(name: str) -> None:
    with pytest.raises(CallRefusedError) as refused:
        check_headers({name: "value"}, KEYS, SERVICE_HEADERS)
    assert refused.value.refusal.reason == "header_forbidden"
    assert len(name) < 6 or name not in refused.value.refusal.message


@pytest.mark.parametrize("value", VALUES_REFUSED)
def test_a_value_that_could_not_stand_in_a_header_is_refused(value: object) -> None:
    with pytest.raises(CallRefusedError):
        check_headers({"accept": value}, KEYS)


@pytest.mark.parametrize(("value", "allowed"), [("application/json", True), ("application/json; charset=utf-8", True)])
def test_the_body_may_be_called_json(value: str, allowed: bool) -> None:
    assert check_headers({"Content-Type": value}, KEYS)


@pytest.mark.parametrize("value", ["text/plain", "multipart/form-data", "application/json, text/html", "application/jsonx"])
def test_the_body_may_be_called_nothing_else(value: str) -> None:
    with pytest.raises(CallRefusedError):
        check_headers({"Content-Type": value}, KEYS)


@pytest.mark.parametrize("second", ["ACCEPT", "Accept"])
def test_a_header_in_two_spellings_is_refused(second: str) -> None:
    with pytest.raises(CallRefusedError):
        check_headers({"accept": "a", second: "b"}, KEYS)
    with pytest.raises(CallRefusedError):
        check_headers({"x-under-score": "a", "x-under_score": "b"}, KEYS, SERVICE_HEADERS)


def test_twenty_headers_and_four_kilobytes_are_the_most() -> None:
    names = [f"x-{number}" for number in range(21)]
    assert len(check_headers(dict.fromkeys(names[:20], "a"), KEYS, names)) == 20
    for headers in (dict.fromkeys(names, "a"), {"x-1": "a" * 4_096}):
        with pytest.raises(CallRefusedError, match="at most"):
            check_headers(headers, KEYS, names)


@given(st.dictionaries(st.text(max_size=12), st.text(max_size=12), max_size=4))
def test_what_is_allowed_is_a_token_and_ascii(headers: dict[str, str]) -> None:
    try:
        allowed = check_headers(headers, KEYS)
    except CallRefusedError:
        return
    assert all(name.isascii() and name == name.lower() and "\n" not in value for name, value in allowed)


def prepared(url: str = "https://api.news.test/a", *, key: object = None, **fields: object) -> PreparedRequest:
    request = outbound(**fields)
    return build_request(request, parse_url(url), check_headers(request.headers, KEYS), key)  # type: ignore[arg-type]  # a credential or none


def test_a_bearer_credential_is_in_authorization() -> None:
    assert dict(prepared(key=credential(VALUES["prefixed"])).headers)["authorization"] == f"Bearer {VALUES['prefixed']}"


def test_a_header_credential_is_raw_in_its_header() -> None:
    assert dict(prepared(key=KEYS[0]).headers)["x-cmc-pro-key"] == VALUES["prefixed"]


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("https://api.news.test/a", "/a?api_key=p%40ss"),
        ("https://api.news.test/a?b=c", "/a?b=c&api_key=p%40ss"),
        ("https://api.news.test/a?", "/a?api_key=p%40ss"),
    ],
)
def test_a_parameter_credential_is_the_last_parameter(url: str, target: str) -> None:
    key = credential("p@ss", kind=AuthType.QUERY_PARAM)
    assert prepared(url, key=key).url.target == target


@pytest.mark.parametrize("query", ["api_key=x", "API_KEY=x", "a=b&api_key", "a;api_key=x", "%61pi_key=x", "api%5fkey=x"])
def test_a_parameter_credential_may_be_the_only_parameter(query: str) -> None:
    with pytest.raises(CallRefusedError):
        prepared(f"https://api.news.test/a?{query}", key=credential("p@ss", kind=AuthType.QUERY_PARAM))


def test_a_parameter_credential_cannot_be_preceded_by_the_model_s_own() -> None:
    with pytest.raises(CallRefusedError):
        prepared(key=credential("p@ss", kind=AuthType.QUERY_PARAM), query_params={"Api_Key": "mine"})


def test_parameters_are_appended_scalars_as_text_lists_repeated_null_left_out() -> None:
    params = {"a": [1, 2], "b": True, "c": None, "d": "x y&z", "e": 1.5, "f": [None, False]}
    assert prepared("https://api.news.test/a?q=1", query_params=params).url.target == (
        "/a?q=1&a=1&a=2&b=true&d=x%20y%26z&e=1.5&f=false"
    )


@pytest.mark.parametrize("value", [{"a": 1}, [[1]], float("nan"), float("inf"), "\ud800", HUGE], ids=lambda _: "value")
def test_a_parameter_that_cannot_be_written_is_refused(value: object) -> None:
    with pytest.raises(CallRefusedError) as refused:
        prepared(query_params={"a": value})
    assert refused.value.refusal.reason == "invalid_arguments"


@pytest.mark.parametrize("value", [float("nan"), HUGE, {1, 2}, "x" * 1_100_000], ids=lambda _: "value")
def test_a_body_that_cannot_be_written_is_refused(value: object) -> None:
    with pytest.raises(CallRefusedError) as refused:
        prepared(body={"a": value})
    assert refused.value.refusal.reason == "invalid_arguments"


def test_a_lone_surrogate_in_a_body_is_escaped() -> None:
    assert prepared(body={"a": "\ud800"}).body == b'{"a":"\\ud800"}'


def test_a_body_is_json_and_a_get_has_none() -> None:
    assert dict(prepared(body={"a": 1}).headers)["content-type"] == "application/json"
    get = prepared(method=Method.GET, headers={"content-type": "application/json"})
    assert get.body is None
    assert "content-type" not in dict(get.headers)
