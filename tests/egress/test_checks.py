"""The checks as pure functions: what they return of a response, a refusal, a text and a model's turn."""

from __future__ import annotations

import pytest

from ferryman.domain.calls import refusal
from ferryman.domain.calls.call import RESULT_CHARACTERS_MAX, TRUNCATED
from ferryman.domain.calls.refusal import CallRefusedError, Refusal
from ferryman.domain.http.request import InboundResponse, Method, SecretPlaceholder, Template
from ferryman.egress import checks, sanitize
from ferryman.egress.leaks import SecretScanner
from tests.egress.plants import VALUES, credential, outbound, policy

VALUE, OTHER = VALUES["prefixed"], VALUES["github"]
KEY, SECOND = credential(VALUE), credential(OTHER, "OTHER_KEY")
KEYS = {"NEWS_KEY": KEY, "OTHER_KEY": SECOND}
MARK, OTHER_MARK = "[redacted:NEWS_KEY]", "[redacted:OTHER_KEY]"


def answer(body: bytes = b"fine", status: int = 200, **fields: object) -> InboundResponse:
    return InboundResponse(status=status, headers=(), body=body, size_bytes=len(body), **fields)  # type: ignore[arg-type] # one flag


def frame(body: str, nonce: str = "n0", truncated: str = "false", status: int | None = None) -> str:
    attributes = "" if status is None else f' status="{status}"'
    return f'<tool_response id="{nonce}" truncated="{truncated}"{attributes}>{body}</tool_response>'


def test_a_result_tells_the_call_and_the_answer() -> None:
    request = outbound(method=Method.PUT, url=f"https://api.news.test/{VALUE}")
    result = checks.build_result(request, KEYS, answer(f"{VALUE} and {OTHER}".encode(), 201), "n0")
    assert (result.tool, result.method, result.url) == ("api_call", "PUT", f"https://api.news.test/{MARK}")
    assert result.content == frame(f"{MARK} and {OTHER_MARK}", status=201)
    assert (result.response_status, result.response_size_bytes) == (201, len(VALUE) + len(OTHER) + 5)
    assert (result.blocked, result.block_reason) == (False, None)


@pytest.mark.parametrize(
    ("ok", "status", "line"),
    [
        (None, 204, ""),
        (None, 304, ""),
        (None, 404, "Error: HTTP 404 Not Found -- the upstream answered with an error.\n"),
        (None, 500, "Error: HTTP 500 Internal Server Error -- the upstream answered with an error.\n"),
        (None, 999, "Error: HTTP 999 -- the upstream answered with an error.\n"),
        ((200,), 200, ""),
        ((200, 404), 404, ""),
        ((200,), 404, "Error: HTTP 404 Not Found -- the upstream answered with an error.\n"),
        ((200,), 302, "Error: HTTP 302 Found -- the upstream redirects, and no redirect is followed.\n"),
        ((), 200, "Error: HTTP 200 OK -- the declaration of this tool does not count this status as a success.\n"),
    ],
)
def test_an_error_is_told_in_words_before_the_frame(ok: tuple[int, ...] | None, status: int, line: str) -> None:
    result = checks.build_result(outbound(ok=ok), KEYS, answer(status=status), "n1")
    assert result.content == line + frame("fine", "n1", status=status)
    assert result.ok != bool(line)


def test_a_refusal_tells_the_call_and_repeats_no_key() -> None:
    reason = refusal.refuse_host(f"{VALUE}.test", ("a.test",))
    result = checks.build_refusal(outbound(url=f"https://{VALUE}.test/"), KEYS, reason)
    assert (result.tool, result.method, result.url) == ("api_call", "POST", f"https://{MARK}.test/")
    assert (result.blocked, result.block_reason) == (True, "url_blocked")
    assert MARK in result.content
    assert VALUE not in result.content


def test_texts_documents_and_turns_are_redacted() -> None:
    assert checks.redact_text([KEY, SECOND], f"a {OTHER} b") == f"a {OTHER_MARK} b"
    assert checks.redact_document([KEY], b"\xef\xbb\xbfsee \xff " + VALUE.encode()) == f"see \ufffd {MARK}".encode()
    block = {"type": "text", "text": f"see {VALUE}"}
    assert checks.scan_output([KEY], [block]) == [{"type": "text", "text": f"see {MARK}"}]


def test_a_text_of_the_system_is_redacted_and_framed() -> None:
    assert checks.frame_text([KEY], f"see\u200b {VALUE} </tool_response>", "n2").content == frame(
        f"see {MARK} </[frame]>", "n2"
    )


def test_a_request_is_prepared_with_its_redacted_url_and_the_pieces_in_it() -> None:
    piece = VALUE[8:19]
    request = outbound(url="https://api.news.test/v1?a=b", body={"a": piece}, headers={"Accept": "text/csv"})
    prepared, url, pieces = checks.prepare_request(request, KEYS, policy())
    assert (prepared.method, str(prepared.url), url) == (
        Method.POST,
        "https://api.news.test/v1?a=b",
        "https://api.news.test/v1?a=b",
    )
    assert dict(prepared.headers)["authorization"] == f"Bearer {VALUE}"
    assert dict(prepared.headers)["accept"] == "text/csv"
    assert {part.name for part in pieces.ranges} == {"NEWS_KEY"}


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"credential": None}, "missing_credential"),
        ({"credential": "NO_KEY"}, "credential_not_found"),
        ({"credential": "fetched:1"}, "credential_not_found"),
        ({"url": "http://api.news.test/"}, "url_blocked"),
        ({"url": "https://sub.wild.test/"}, "credential_host_mismatch"),
        ({"body": {"a": OTHER}}, "credential_leak"),
        ({"headers": {"X-Tenant": "a"}}, "header_forbidden"),
        ({"fixed_headers": {"Host": "a"}}, "header_forbidden"),
        ({"query_params": {"a": {}}}, "invalid_arguments"),
    ],
)
def test_the_first_check_that_fails_is_told(fields: dict[str, object], reason: str) -> None:
    keys = {**KEYS, "fetched:1": credential(VALUES["short"], "fetched:1")}
    with pytest.raises(CallRefusedError) as refused:
        checks.prepare_request(outbound(**fields), keys, policy())
    assert refused.value.refusal.reason == reason


def placeholder(name: str) -> Template:
    return Template(("key ", SecretPlaceholder(name)))


def test_a_placeholder_is_filled_with_its_credential_where_the_url_is_that_of_its_service() -> None:
    request = outbound(tool="mine", credential=None, fixed_headers={"X-Mine": placeholder("OTHER_KEY")})
    prepared, url, pieces = checks.prepare_request(request, KEYS, policy())
    assert dict(prepared.headers)["x-mine"] == f"key {OTHER}"
    assert "authorization" not in dict(prepared.headers)
    assert (url, pieces.ranges) == (request.url, {})


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"credential": "NO_KEY"}, refusal.refuse_unknown_credential("NO_KEY")),
        ({"body": {"a": placeholder("NO_KEY")}}, refusal.refuse_unknown_credential("NO_KEY")),
        ({"url": "https://sub.wild.test/"}, refusal.refuse_credential_for_host("NEWS_KEY", "sub.wild.test")),
        (
            {"tool": "mine", "url": "https://sub.wild.test/", "query_params": {"a": placeholder("OTHER_KEY")}},
            refusal.refuse_credential_for_host("OTHER_KEY", "sub.wild.test"),
        ),
    ],
)
def test_a_credential_that_is_not_there_or_not_for_the_host_is_told(fields: dict[str, object], expected: Refusal) -> None:
    with pytest.raises(CallRefusedError) as refused:
        checks.prepare_request(outbound(**fields), KEYS, policy())
    assert refused.value.refusal == expected


def test_a_request_that_cannot_be_scanned_is_told_from_one_with_a_key() -> None:
    with pytest.raises(CallRefusedError) as refused:
        checks.prepare_request(outbound(body=["a"] * 70_000), KEYS, policy())
    assert refused.value.refusal == refusal.refuse_wrong_argument(
        "api_call", "arguments", "plain enough to be checked for credentials"
    )
    with pytest.raises(CallRefusedError) as refused:
        checks.prepare_request(outbound(body=[OTHER]), KEYS, policy())
    assert refused.value.refusal == refusal.refuse_leak("OTHER_KEY")


def test_another_credential_is_looked_for_after_the_first() -> None:
    assert checks.redact_text([KEY], f"{VALUE} {OTHER}") == f"{MARK} {OTHER}"
    assert checks.redact_text([SECOND], f"{VALUE} {OTHER}") == f"{VALUE} {OTHER_MARK}"
    assert checks.redact_text([credential(VALUE, "RENAMED")], VALUE) == "[redacted:RENAMED]"


SCANNER = SecretScanner([KEY])
SPLIT = SecretScanner([credential(VALUES["short"])])
HEAD, TAIL = VALUES["short"][:8], VALUES["short"][8:]


@pytest.mark.parametrize(
    ("characters", "truncated"), [(RESULT_CHARACTERS_MAX, False), (RESULT_CHARACTERS_MAX + 1, True), (90_000, True)]
)
def test_a_text_of_the_system_is_cut_as_an_answer_is(characters: int, *, truncated: bool) -> None:
    body = "~" * min(characters, RESULT_CHARACTERS_MAX) + (TRUNCATED if truncated else "")
    expected = frame(body, truncated=str(truncated).lower())
    assert sanitize.frame_text("~" * characters, SCANNER, nonce="n0").content == expected
    assert sanitize.render_response(answer(b"~" * characters), SCANNER, nonce="n0").content == expected.replace(
        f'"{str(truncated).lower()}"', f'"{str(truncated).lower()}" status="200"', 1
    )


def test_an_answer_that_was_cut_before_is_told_to_be() -> None:
    assert sanitize.render_response(answer(cut=True), SCANNER, nonce="n0").content == frame(
        f"fine{TRUNCATED}", truncated="true", status=200
    )


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        (f'{{"a": "{HEAD}", "b": "{TAIL}"}}', f'{{"redacted": "{MARK}"}}'),
        (f' ["{HEAD}", "{TAIL}"]', f'["{MARK}"]'),
        (f'"{HEAD}{TAIL}"', f'"{HEAD}{TAIL}"'),
        (f'{{"é": "{HEAD}{TAIL}"}}', f'{{"é": "{MARK}"}}'),
        ('{"a" : 1}', '{"a" : 1}'),
        ("[" * 100_000, "[" * 100_000),
        ("{not json", "{not json"),
    ],
)
def test_json_is_redacted_as_its_values_and_any_other_text_is_left(text: str, clean: str) -> None:
    assert sanitize.redact_json_text(text, SPLIT) == clean
