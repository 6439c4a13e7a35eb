"""Registration: the rules for credentials and webhooks, by class; every problem says what to change."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from ferryman.domain.credentials.credential import AuthType, find_injection_problems, find_name_problems
from ferryman.domain.credentials.value import find_value_problems
from ferryman.domain.owners.plan import PRO
from ferryman.domain.problem import Problem
from ferryman.domain.tasks.task import find_task_problems as task_problems
from tests.domain.test_task import KNOWN, TASK
from tests.egress.malformed_urls import GRAMMAR
from tests.egress.urls import ALLOWED
from tests.figures import Tally

STRONG = "abcdefgh12345678"
VALUES: dict[str, tuple[str, list[str]]] = {
    # class: what the message says, values
    "too short": ("at least 16 characters", ["a", "secret", "hunter2", "abcdefgh1234567", "sk-12345", "0123456789abcde"]),
    "too few letters and digits": ("at least 12 letters and digits", ["abcdefgh123-----", "a1!b2@c3#d4$e5%.", "----------------x", "(abcdefghijk)****"]),
    "too few different characters": ("at least 8 different characters", ["a" * 16, "ab" * 8, "1234567" * 3, "aaaaaaaa1111111122", "0" * 4_096, "abcabcabcabcabcd"]),
    "too long": ("at most 4096 characters", [STRONG + "a" * 4_081, STRONG * 1_000]),
    "characters": (
        "visible ASCII",
        ["", f"{STRONG}\n", f"{STRONG}\r\n", f" {STRONG}", f"{STRONG} ", "abcdefgh 12345678", f"{STRONG}\t", f"{STRONG}\x00", f"{STRONG}é", f"{STRONG}\u200b", f"\ufeff{STRONG}", f"{STRONG}\x7f", "пароль1234567890", f"{STRONG}\ud800", f"Bearer {STRONG}"],
    ),
}  # fmt: skip
NAMES = [
    "",
    "key",
    "Key",
    "_A",
    "1A",
    "A-B",
    "A B",
    "A.B",
    "A/../B",
    "A" * 65,
    "A\n",
    "Ä",
    "A\x00",
    "А",
    "$A",
    "A;B",
    "../../x",
    "A%20",
]
HEADERS = [
    *("Host", "HOST", "Content-Length", "content_length", "Transfer-Encoding", "Connection", "Cookie", "Set-Cookie", "TE", "Trailer", "Upgrade"),
    *("Expect", "Via", "Forwarded", "X-Forwarded-For", "X_Forwarded_Host", "Proxy-Authorization", "Sec-Fetch-Mode", "Metadata-Flavor"),
    *("X-Goog-User-Project", "X-Serverless-Authorization", "X-CloudTasks-QueueName", "Content-Type", "Content-Encoding", "Accept", "Accept-Encoding"),
    *("User-Agent", "Referer", "Origin", "Range", "Date", "If-None-Match", "X-HTTP-Method-Override", "X-Original-URL", "X-Rewrite-URL", "X-Real-IP"),
    *("Bad Header", "Bad\nHeader", "Bad:Header", "", "a" * 65, "é", ":path", "X-\x00", "Prefer", "Max-Forwards"),
]  # fmt: skip
PARAMS = ["", "a b", "a=b", "a&b", "1a", "_a", "é", "a" * 65, "a\n", "a#", "a?", "a/b", "%61", "a[]", "a;b"]


def tells(problems: list[Problem], field: str, text: str = "") -> bool:
    """Tell whether there is one problem, of this field, that says what to change."""
    return [problem.field for problem in problems] == [field] and text in problems[0].message and len(problems[0].message) > 15


@pytest.mark.parametrize("klass", VALUES)
def test_a_value_that_could_not_be_told_from_chance_is_refused(klass: str, tally: Tally) -> None:
    rule, values = VALUES[klass]
    for value in values:
        problems = find_value_problems(value)
        passed = tells(problems, "value", rule) and (len(value) < 6 or value.strip() not in problems[0].message)
        tally("registration", f"values, {klass}", passed)
        assert passed, (value[:30], problems)


def test_a_value_of_a_real_service_is_accepted(tally: Tally) -> None:
    dice = random.Random(3)
    for alphabet, length, prefix in (
        *(("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", 16, ""), ("0123456789abcdef", 32, ""), ("0123456789abcdef-", 36, "")),
        *(
            ("abcdefghijklmnopqrstuvwxyzABCDEFGHIJ0123456789", 36, "ghp_"),
            ("abcdefghijklmnop0123456789", 24, "xoxb-123456789012-"),
            ("abcdefXYZ0123456789_-", 40, "sk-ant-"),
        ),
    ):
        for _ in range(50):
            value = prefix + "".join(dice.choice(alphabet) for _ in range(length))
            tally("registration", "values of services", find_value_problems(value) == [])
            assert find_value_problems(value) == []


@pytest.mark.parametrize("name", NAMES)
def test_a_name_that_could_be_taken_for_something_else_is_refused(name: str, tally: Tally) -> None:
    tally("registration", "names", tells(find_name_problems(name), "name"))
    assert tells(find_name_problems(name), "name")


@pytest.mark.parametrize("header", HEADERS)
def test_a_header_that_frames_or_routes_is_no_place_for_a_credential(header: str, tally: Tally) -> None:
    problems = find_injection_problems(AuthType.HEADER, header, None)
    tally("registration", "headers", tells(problems, "auth_header_name"))
    assert tells(problems, "auth_header_name")


@pytest.mark.parametrize(
    "header", ["X-Api-Key", "X-CMC_PRO_API_KEY", "Authorization", "apikey", "PRIVATE-TOKEN", "X-RapidAPI-Key", "Api-Token"]
)
def test_a_service_s_own_header_is_one(header: str, tally: Tally) -> None:
    tally("registration", "headers of services", find_injection_problems(AuthType.HEADER, header, None) == [])
    assert find_injection_problems(AuthType.HEADER, header, None) == []


@pytest.mark.parametrize("param", PARAMS)
def test_a_parameter_that_would_need_escaping_is_refused(param: str, tally: Tally) -> None:
    problems = find_injection_problems(AuthType.QUERY_PARAM, None, param)
    tally("registration", "parameters", tells(problems, "auth_param_name"))
    assert tells(problems, "auth_param_name")


@pytest.mark.parametrize("klass", GRAMMAR)
def test_a_webhook_outside_the_grammar_is_refused(klass: str, tally: Tally) -> None:
    for url in GRAMMAR[klass]:
        problems = task_problems(replace(TASK, webhook_urls=(url,)), plan=PRO, **KNOWN)
        tally("registration", "webhooks", tells(problems, "webhook_urls.0"))
        assert tells(problems, "webhook_urls.0"), url


def test_a_webhook_of_the_grammar_is_accepted(tally: Tally) -> None:
    for url in (url for urls in ALLOWED.values() for url in urls):
        accepted = task_problems(replace(TASK, webhook_urls=(url,)), plan=PRO, **KNOWN) == []
        tally("registration", "webhooks allowed", accepted)
        assert accepted, url
