"""What comes back: a credential that an upstream echoes is taken out before anybody reads it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferryman.domain.http.request import InboundResponse
from ferryman.egress.leaks import SecretScanner, redact_json, redact_text
from ferryman.egress.sanitize import render_response
from tests.canaries.canary import create_key
from tests.egress.plants import NOTATIONS, VALUES, credential

SCANNERS = {
    kind: SecretScanner([credential(create_key("other", 40), "OTHER"), credential(value)]) for kind, value in VALUES.items()
}
MARK = "[redacted:NEWS_KEY]"


def answer(body: str) -> InboundResponse:
    return InboundResponse(status=200, headers=(("content-type", "text/plain"),), body=body.encode(), size_bytes=len(body))


def test_an_echo_in_any_notation_is_redacted() -> None:
    missed = []
    for notation, write in NOTATIONS.items():
        for kind, value in VALUES.items():
            seen = render_response(answer(f'{{"you sent": "{write(value)}", "ok": true}}'), SCANNERS[kind], nonce="0").content
            if MARK not in seen or value in seen or SCANNERS[kind].find(seen):
                missed.append((notation, kind))
    total = len(NOTATIONS) * len(VALUES)
    print(f"leaks, echoed: {total - len(missed)} passed of {total}")
    assert not missed


def test_text_beside_an_echo_stays() -> None:
    value = VALUES["prefixed"]
    for written in (value, NOTATIONS["base64"](value), NOTATIONS["percent"](value)):
        assert redact_text(f"before {written} after", SCANNERS["prefixed"]) == f"before {MARK} after"
    assert redact_text(f"a/b?key={value}&c=d", SCANNERS["prefixed"]) == f"a/b?key={MARK}&c=d"


def test_a_key_put_together_by_stripping_is_redacted() -> None:
    value = VALUES["short"]
    assert value not in render_response(answer(value[:8] + "\x00​" + value[8:]), SCANNERS["short"], nonce="0").content


@pytest.mark.parametrize("offset", range(49_960, 50_010, 7))
def test_a_key_on_the_cut_does_not_show_its_head(offset: int) -> None:
    value = VALUES["prefixed"]
    seen = render_response(answer("." * offset + value + "." * 1_000), SCANNERS["prefixed"], nonce="0").content
    assert value[8:20] not in seen


def test_a_key_far_behind_the_cut_is_not_shown_and_does_not_hurt() -> None:
    seen = render_response(answer("x " * 100_000 + VALUES["prefixed"]), SCANNERS["prefixed"], nonce="0").content
    assert 'truncated="true"' in seen


def test_several_credentials_are_each_named() -> None:
    scanner = SecretScanner([credential(VALUES["github"], "A"), credential(VALUES["slack"], "B")])
    assert redact_text(f"{VALUES['slack']} {VALUES['github']}", scanner) == "[redacted:B] [redacted:A]"


def test_a_json_value_keeps_its_shape() -> None:
    value = VALUES["prefixed"]
    value_ = {"url": f"https://a.test/{value}", "n": 1, "list": [True, None, NOTATIONS["hexadecimal"](value)], "plain": "text"}
    clean = redact_json(value_, SCANNERS["prefixed"])
    assert clean == {"url": f"https://a.test/{MARK}", "n": 1, "list": [True, None, MARK], "plain": "text"}


def test_a_json_value_without_a_credential_is_the_same() -> None:
    value_ = {"a": ["b", 1, {"c": None}]}
    assert redact_json(value_, SCANNERS["prefixed"]) is value_


def test_a_key_split_over_a_json_value_does_not_stay() -> None:
    value = VALUES["short"]
    assert value[:8] not in json.dumps(redact_json({"a": value[:8], "b": value[8:]}, SCANNERS["short"]))


def test_a_json_value_that_a_key_is_split_over_remains_an_object_or_a_list() -> None:
    head, tail = VALUES["short"][:8], VALUES["short"][8:]
    assert redact_json({"a": head, "b": [tail]}, SCANNERS["short"]) == {"redacted": MARK}
    assert redact_json([head, {"b": tail}], SCANNERS["short"]) == [MARK]


@given(before=st.text(max_size=30), after=st.text(max_size=30), notation=st.sampled_from(sorted(NOTATIONS)))
@settings(max_examples=150, deadline=None)
def test_redacted_text_is_clean_whatever_surrounds_the_key(before: str, after: str, notation: str) -> None:
    clean = redact_text(before + NOTATIONS[notation](VALUES["prefixed"]) + after, SCANNERS["prefixed"])
    assert SCANNERS["prefixed"].find(clean) is None


@given(st.text())
@settings(max_examples=150, deadline=None)
def test_text_without_a_key_stays_as_it_is(harmless: str) -> None:
    assert redact_text(harmless, SCANNERS["prefixed"]) == harmless
