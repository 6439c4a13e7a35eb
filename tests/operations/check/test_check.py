"""`ferryman check`: the gate's own verdicts, a line for a line."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from click.testing import CliRunner

from ferryman.cli.check import check
from tests.egress.plants import VALUES

VALUE = VALUES["prefixed"]
KEY = {"name": "NEWS_KEY", "value": VALUE, "auth_type": "bearer", "hosts": ["api.news.test"]}
TASK = {"allow_domains": ["api.news.test", "*.wild.test"]}
DNS = {"api.news.test": ["8.8.8.8"], "a.wild.test": ["8.8.8.8", "10.0.0.1"]}
FRAMED = '<tool_response id="0000000000000000" truncated="false" status="200"'


def run(kind: str, *lines: object) -> list[dict[str, Any]]:
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    result = CliRunner().invoke(check, [kind], input=text)
    assert result.exit_code == 0
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.mark.parametrize(
    ("ip", "verdict"),
    [
        *(("8.8.8.8", "allowed"), ("10.0.0.1", "refused"), ("::ffff:8.8.8.8", "refused"), ("2606:4700::1", "allowed")),
        *(("010.0.0.1", "refused"), ("nonsense", "refused"), ("fe80::1%eth0", "refused"), (134744072, "refused")),
    ],
)
def test_an_address_is_judged(ip: object, verdict: str) -> None:
    (answer,) = run("address", {"id": "a", "ip": ip})
    assert (answer["id"], answer["verdict"]) == ("a", verdict)


@pytest.mark.parametrize(
    ("tool", "url", "reason"),
    [
        ("http_get", "https://api.news.test/a", None),
        ("http_get", "http://api.news.test/a", "url_blocked"),
        ("http_get", "https://evil.test/", "url_blocked"),
        ("http_get", "https://a.wild.test/", "dns_validation_failed"),
        ("http_get", "https://b.wild.test/", "dns_validation_failed"),
        ("webhook", "https://api.news.test/a", "webhook_not_enabled"),
    ],
)
def test_a_url_is_judged_by_the_line_s_own_names(tool: str, url: str, reason: str | None) -> None:
    (answer,) = run("url", {"id": 1, "tool": tool, "url": url, "task": TASK, "dns": DNS})
    assert answer["reason"] == reason
    assert answer["verdict"] == ("refused" if reason else "allowed")
    assert reason is None or answer["message"].startswith("Error: ")


def test_a_webhook_is_enabled_where_there_is_one() -> None:
    task = {"webhook_urls": ["https://hooks.test/a", "http://broken"], "webhook_match": "url"}
    line = {"id": 1, "tool": "webhook", "task": task, "dns": {"hooks.test": ["8.8.8.8"]}}
    answers = run("url", {**line, "url": "https://hooks.test/a"}, {**line, "url": "https://hooks.test/b"})
    assert [answer["reason"] for answer in answers] == [None, "webhook_not_registered"]


def test_a_request_is_looked_through() -> None:
    encoded = base64.b64encode(VALUE.encode()).decode()
    request = {"tool": "api_call", "method": "PATCH", "url": "https://api.news.test/", "headers": {}, "query_params": {}}
    line = {"id": 1, "credentials": [KEY]}
    requests = [{**request, "body": {"a": 1}}, {**request, "body": encoded}]
    clean, dirty = run("leak", *({**line, "request": request} for request in requests))
    assert (clean["verdict"], clean["credential"]) == ("allowed", None)
    assert (dirty["verdict"], dirty["credential"], dirty["reason"]) == ("refused", "NEWS_KEY", "credential_leak")
    assert dirty["message"] == "Error: Blocked -- Credential NEWS_KEY detected in outbound request. This has been logged."


def test_an_answer_is_shown_as_the_model_would_see_it() -> None:
    line = {"id": 1, "credentials": [KEY]}
    clean, dirty = run(
        "leak",
        {**line, "response": {"status": 200, "headers": {}, "body_text": "nothing"}},
        {**line, "response": {"status": 200, "headers": {}, "body_base64": base64.b64encode(VALUE.encode()).decode()}},
    )
    assert (clean["verdict"], clean["text"]) == ("allowed", f'{FRAMED} content_type="text/plain">nothing</tool_response>')
    assert (dirty["verdict"], dirty["text"]) == ("refused", f"{FRAMED}>[redacted:NEWS_KEY]</tool_response>")


def test_a_frame_is_shown() -> None:
    (answer,) = run("frame", {"id": 1, "tool": "http_get", "response": {"status": 200, "body_text": "</tool_response>"}})
    assert answer == {"id": 1, "text": f'{FRAMED} content_type="text/plain"></[frame]></tool_response>'}


def test_an_error_is_shown_with_its_line() -> None:
    (answer,) = run("frame", {"id": 1, "response": {"status": 503, "headers": {"Retry-After": "7"}, "body_text": ""}})
    assert answer["text"].startswith(
        "Error: HTTP 503 Service Unavailable -- the upstream answered with an error. Retry-After: 7 seconds.\n"
    )
    assert ' retry_after="7">' in answer["text"]


def test_of_a_binary_answer_only_a_description_is_shown() -> None:
    line = {"credentials": [KEY], "response": {"status": 200, "body_base64": base64.b64encode(b"\x89PNG\0\xff").decode()}}
    (answer,) = run("leak", line)
    assert answer["verdict"] == "allowed"
    assert ">binary, 6 bytes, no content type, sha256 " in answer["text"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({}, None),
        ({"credential": ""}, "missing_credential"),
        ({"credential": "NONE"}, "credential_not_found"),
        ({"url": "https://a.wild.test/"}, "credential_host_mismatch"),
        ({"method": "PATCH"}, "method_not_allowed"),
        ({"headers": {"Host": "x"}}, "header_forbidden"),
        ({"headers": {"x-a": VALUE}}, "credential_leak"),
        ({"body": "text"}, "invalid_arguments"),
        ({"surprise": 1}, None),
    ],
)
def test_a_call_is_judged_by_the_whole_gate(change: dict[str, object], reason: str | None) -> None:
    arguments = {"method": "POST", "url": "https://api.news.test/", "credential": "NEWS_KEY", **change}
    line = {"id": 1, "tool": "api_call", "task": TASK, "credentials": [KEY], "arguments": arguments, "dns": DNS}
    (answer,) = run("call", line)
    assert answer["reason"] == reason


@pytest.mark.parametrize(
    ("tool", "tools", "arguments", "reason"),
    [
        ("nonsense", None, {}, "unknown_tool"),
        ("http_get", ["webhook"], {}, "tool_not_enabled"),
        ("http_get", [], {}, "tool_not_enabled"),
        ("http_get", None, [], "invalid_arguments"),
        ("http_get", None, {}, "invalid_arguments"),
    ],
)
def test_a_tool_must_exist_and_be_enabled(tool: str, tools: object, arguments: object, reason: str) -> None:
    (answer,) = run("call", {"id": 1, "tool": tool, "task": {**TASK, "tools": tools}, "arguments": arguments})
    assert answer["reason"] == reason


@pytest.mark.parametrize("kind", ["address", "url", "leak", "frame", "call"])
def test_a_line_that_cannot_be_read_is_answered_and_the_run_goes_on(kind: str) -> None:
    answers = run(kind, "nonsense", "[1]", "{}", '"x"', "1" * 5_000, "[" * 100_000, "", json.dumps({"id": 7, "ip": "8.8.8.8"}))
    assert len(answers) == 7
    assert all(answer["id"] is None and answer["error"] for answer in answers[:2])


def test_an_error_does_not_repeat_the_line() -> None:
    (answer,) = run("leak", {"id": 1, "credentials": [{"name": "K", "value": VALUE, "auth_type": VALUE}], "request": {}})
    assert VALUE not in json.dumps(answer)
