"""What goes out: no credential of the task leaves, wherever and however it is written."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferryman.domain.http.request import OutboundRequest
from ferryman.egress.leaks import SecretScanner
from tests.canaries.canary import create_key
from tests.egress.plants import DICE, EXTRAS, HOST, NOTATIONS, OUTER, VALUES, credential, outbound

SCANNERS = {
    kind: SecretScanner([credential(create_key("other", 40), "OTHER"), credential(value)]) for kind, value in VALUES.items()
}


def places(written: str) -> dict[str, OutboundRequest]:
    escaped = quote(written, safe="")
    return {
        "body": outbound(body={"note": f"see {written} there"}),
        "nested body": outbound(body={"a": [{"b": [1, None, written]}]}),
        "body key": outbound(body={written: 1}),
        "path": outbound(url=f"https://{HOST}/v1/{escaped}/x"),
        "query": outbound(url=f"https://{HOST}/v1?q={escaped}"),
        "fragment": outbound(url=f"https://{HOST}/v1#{escaped}"),
        "query_params": outbound(query_params={"q": ["a", written]}),
        "query_params name": outbound(query_params={written: "a"}),
        "header value": outbound(headers={"x-note": written}),
        "header name": outbound(headers={written: "a"}),
        "credential argument": outbound(credential=written),
        "tool": outbound(tool=written),
        "method": outbound(method=written),
    }


def is_found(kind: str, request: OutboundRequest) -> bool:
    finding = SCANNERS[kind].find_in_request(request)
    return finding is not None and finding.name == "NEWS_KEY"


def test_every_notation_is_found_in_every_place() -> None:
    missed = [
        (notation, kind, place)
        for notation, write in NOTATIONS.items()
        for kind, value in VALUES.items()
        for place, request in places(write(value)).items()
        if not is_found(kind, request)
    ]
    total = len(NOTATIONS) * len(VALUES) * len(places(""))
    print(f"leaks, one notation: {total - len(missed)} passed of {total}")
    assert not missed


def test_every_notation_is_found_inside_every_other() -> None:
    missed = [
        (outer, notation, kind)
        for outer in OUTER
        for notation, write in NOTATIONS.items()
        for kind, value in VALUES.items()
        if not is_found(kind, outbound(body={"note": f"see {NOTATIONS[outer](write(value))} there"}))
    ]
    total = len(OUTER) * len(NOTATIONS) * len(VALUES)
    print(f"leaks, two notations: {total - len(missed)} passed of {total}")
    assert not missed


def test_most_of_what_is_not_promised_is_found_too() -> None:
    missed = [
        (notation, kind)
        for notation, write in EXTRAS.items()
        for kind, value in VALUES.items()
        if not is_found(kind, outbound(body={"note": f"see {write(value)} there"}))
    ]
    total = len(EXTRAS) * len(VALUES)
    print(f"leaks, extras: {total - len(missed)} passed of {total}")
    assert len(missed) * 10 <= total


@pytest.mark.parametrize("by", range(1, 26))
def test_a_key_with_its_alphabet_shifted_is_found(by: int) -> None:
    shifted = "".join(
        chr((ord(value.lower()) - 97 + by) % 26 + 97) if value.isalpha() else value for value in VALUES["prefixed"]
    )
    assert is_found("prefixed", outbound(body={"note": f"see {shifted} there"}))


@pytest.mark.parametrize("even", ["abcdefghijklmnopqrstuvwxyz", "acegikmoqsuwyacegikmo"])
def test_a_key_whose_letters_go_on_evenly_is_not_found_in_what_does_so_too(even: str) -> None:
    scanner = SecretScanner([credential(even)])
    assert scanner.find_in_request(outbound(body={"note": "x" * 900 + " hijklmnop bdfhjlnprtvxz"})) is None


def test_a_dozen_characters_from_the_middle_of_a_key_in_base64_are_no_leak() -> None:
    value = VALUES["prefixed"]
    written = NOTATIONS["base64"](value)
    middle = len(written) // 2
    assert not is_found("prefixed", outbound(body={"note": f"see {written[middle - 8 : middle + 8]} there"}))


@pytest.mark.parametrize("depth", [3, 5, 8])
def test_base64_in_base64_is_found_however_deep(depth: int) -> None:
    written = VALUES["prefixed"]
    for _ in range(depth):
        written = NOTATIONS["base64"](written)
    assert is_found("prefixed", outbound(body={"note": written}))


@pytest.mark.parametrize("kind", VALUES)
def test_a_key_split_over_fields_is_found(kind: str) -> None:
    value = VALUES[kind]
    middle = len(value) // 2
    head, tail = value[:middle], value[middle:]
    encoded = NOTATIONS["base64"]
    requests = {
        "two values": outbound(body={"a": head, "b": tail}),
        "two keys": outbound(body={head: 1, tail: 2}),
        "a list": outbound(body={"a": list(value)}),
        "numbers between": outbound(body={"parts": [{"i": 1, "p": head}, {"i": 2, "p": tail}]}),
        "two parameters": outbound(query_params={"a": head, "b": tail}),
        "two headers": outbound(headers={"x-a": head, "x-b": tail}),
        "two segments": outbound(url=f"https://{HOST}/{quote(head, safe='')}/{quote(tail, safe='')}"),
        "header and body": outbound(headers={"x-a": head}, body={"a": tail}),
        "each in base64": outbound(body={"a": encoded(head), "b": encoded(tail)}),
        "each in hexadecimal": outbound(body={"a": head.encode().hex(), "b": tail.encode().hex()}),
        "backwards": outbound(body={"a": tail, "b": head}),
        "character codes": outbound(body={"codes": list(value.encode())}),
    }
    assert [place for place, request in requests.items() if not is_found(kind, request)] == []


def test_a_key_in_the_labels_of_the_host_is_found() -> None:
    value = VALUES["hex"]
    assert is_found("hex", outbound(url=f"https://{value}.{HOST}/"))
    assert is_found("hex", outbound(url=f"https://{value[:16]}.{value[16:]}.{HOST}/"))


@given(start=st.integers(0, 16))
def test_sixteen_characters_of_the_secret_part_are_a_leak(start: int) -> None:
    assert is_found("prefixed", outbound(body={"a": f"x {VALUES['prefixed'][8 + start : 24 + start]} y"}))


@given(start=st.integers(0, 24))
def test_eight_characters_of_it_are_not(start: int) -> None:
    assert not is_found("prefixed", outbound(body={"a": VALUES["prefixed"][8 + start : 16 + start]}))


@pytest.mark.parametrize(
    "harmless",
    [
        {"key": "sk-live-"},
        {"token": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0."},
        {"user": "admin", "name": "NEWS_KEY"},
        {"id": "8f14e45f"},
        {"text": "xoxb- tokens start like this, and ghp_ ones like that"},
    ],
)
def test_public_prefixes_and_names_are_no_leak(harmless: dict[str, str]) -> None:
    for scanner in SCANNERS.values():
        assert scanner.find_in_request(outbound(body=harmless)) is None


def test_a_short_value_is_found_exactly_as_it_is() -> None:
    scanner = SecretScanner([credential("hunter2")])
    assert scanner.find_in_request(outbound(body={"a": "my hunter2!"}))
    assert scanner.find_in_request(outbound(body={"a": NOTATIONS["base64"]("my hunter2 password")}))
    assert scanner.find_in_request(outbound(body={"a": "Hunter 2"})) is None


def test_without_credentials_nothing_is_found() -> None:
    assert SecretScanner([]).find_in_request(outbound()) is None


def test_a_scanner_does_not_show_its_patterns() -> None:
    assert VALUES["prefixed"] not in repr(SCANNERS["prefixed"])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(body=st.dictionaries(st.text(), JSON, max_size=4), url=st.text(), headers=st.dictionaries(st.text(), JSON, max_size=3))
@settings(max_examples=200, deadline=None)
def test_nothing_a_model_writes_makes_the_scanner_raise(body: dict[str, object], url: str, headers: dict[str, object]) -> None:
    SCANNERS["prefixed"].find_in_request(outbound(body=body, url=url, headers=headers))


HOSTILE = {
    "percents": "%25" * 16_000 + "41",
    "ampersands": "&amp;" * 10_000 + "#65;",
    "backslashes": "\\" * 50_000 + "u0041",
    "one letter": "A" * 50_000,
    "hexadecimal pairs": "ab " * 16_000,
    "numbers": "12, " * 12_500,
    "equals": "=\n" * 25_000,
    "ligatures": "ﷺ" * 16_000,
    "brackets": "[" * 50_000,
    "base64 lines": ("QUJD" * 19 + "\n") * 600,
    "zlib heads": NOTATIONS["base64"]("x\x9c" * 18_000),
    "brackets in JSON": json.dumps(["\\" * 1_000] * 40),
    "noise": "".join(chr(DICE.randrange(32, 0x3000)) for _ in range(50_000)),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_text_made_to_exhaust_the_scanner_is_looked_through_or_refused(kind: str) -> None:
    finding = SCANNERS["prefixed"].find(HOSTILE[kind])
    assert finding is None or finding.name is None
