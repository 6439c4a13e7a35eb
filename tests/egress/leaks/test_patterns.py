"""Secret patterns: which parts of a value are secret, and in which forms they are searched for."""

from __future__ import annotations

import base64
import codecs
from collections.abc import Callable

import pytest

from ferryman.egress.leaks.fragments import (
    compute_counted_length,
    compute_counted_uncommon,
    compute_leak_length,
    count_uncommon,
)
from ferryman.egress.leaks.patterns import generate_patterns, list_parts, list_secret_parts
from ferryman.egress.leaks.skeleton import build_difference_list, reduce_to_skeleton
from tests.egress.leaks import notations
from tests.egress.leaks.corpus import KINDS, draw

VALUE = draw(40, 32)


def list_forms(value: str, *, coded: bool) -> list[str]:
    return [pattern.form.decode() for pattern in generate_patterns(value) if pattern.coded is coded]


@pytest.mark.parametrize(
    ("value", "parts"),
    [
        ("user:password", ("user:password", "password")),
        ("password", ("password",)),
        (":password", (":password",)),
        ("https://host/", ("https://host/",)),
        ("a:b/c", ("a:b/c",)),
        ("a:bc/", ("a:bc/", "bc/")),
        ("a:b:c", ("a:b:c", "b:c")),
        ("user:", ("user:", "")),
    ],
)
def test_a_password_is_a_part_of_its_own(value: str, parts: tuple[str, ...]) -> None:
    assert list_parts(value) == parts


@pytest.mark.parametrize(
    ("value", "secrets"),
    [
        ("eyJhbGci.eyJzdWIi.signature", ("signature",)),
        ("Bearer eyJhbGci.eyJzdWIi.signature", ("signature",)),
        ("sk-ant-api03-words", ("words",)),
        ("sk_live_words", ("words",)),
        ("SK-LIVE-words", ("words",)),
        ("bearer ghp_words", ("words",)),
        ("user:sk-words", ("words",)),
        ("user:words", ("words",)),
        ("words", ("words",)),
        ("postgres://user:words@host.test/path?key=more", ("words", "/path?key=more")),
        ("https://host.test/path/words", ("/path/words",)),
        ("https://host.test/a?to=https://words.test/b", ("/a?to=https://words.test/b",)),
    ],
)
def test_what_everyone_knows_of_a_value_is_no_secret(value: str, secrets: tuple[str, ...]) -> None:
    assert list_secret_parts(value) == secrets


ATBASH = {first + place: first + 25 - place for first in (65, 97) for place in range(26)}
FORMS = {
    "plain": lambda value: value,
    "backwards": lambda value: value[::-1],
    "rot13": lambda value: codecs.encode(value, "rot13"),
}
ENCODED = {
    "hexadecimal": lambda value: value.encode().hex(),
    "hexadecimal, backwards": lambda value: value.encode().hex()[::-1],
    "hexadecimal of the reversed": lambda value: value[::-1].encode().hex(),
    "a number": lambda value: str(int.from_bytes(value.encode(), "big")),
    "a number, little end first": lambda value: str(int.from_bytes(value.encode(), "little")),
    "atbash": lambda value: "".join(
        chr(219 - ord(c)) if c.islower() else chr(155 - ord(c)) if c.isupper() else c for c in value
    ),
    "base64": lambda value: base64.b64encode(value.encode()).decode()[:42],
    "base64, backwards": lambda value: base64.b64encode(value.encode()).decode()[:42][::-1],
    "base64, second alignment": lambda value: base64.b64encode(b"x" + value.encode()).decode()[2:],
    "base64, third alignment": lambda value: base64.b64encode(b"xx" + value.encode()).decode()[3:45],
    "base64 of the reversed": lambda value: base64.b64encode(value[::-1].encode()).decode()[:42],
    "base64 of UTF-16": lambda value: base64.b64encode(value.encode("utf-16-le")[:-1]).decode()[:84],
    "base64 in rot13": lambda value: codecs.encode(base64.b64encode(value.encode()).decode()[:42], "rot13"),
    "base32": lambda value: base64.b32encode(value.encode()).decode()[:51],
    "base32, Crockford": lambda value: notations.base32(value.encode(), notations.CROCKFORD)[:51],
    "base32, z": lambda value: notations.base32(value.encode(), notations.Z_BASE32)[:51],
    "base85": lambda value: base64.b85encode(value.encode()).decode(),
    "base85 after one byte": lambda value: base64.b85encode(b"x" + value.encode()).decode()[5:40],
    "base85 after two bytes": lambda value: base64.b85encode(b"xx" + value.encode()).decode()[5:40],
    "base85 after three bytes": lambda value: base64.b85encode(b"xxx" + value.encode()).decode()[5:40],
    "base32 after one byte": lambda value: base64.b32encode(b"x" + value.encode()).decode()[2:52],
    "base45 after one byte": lambda value: notations.base45(value.encode()[1:-1]),
    "ascii85": lambda value: base64.a85encode(value.encode()).decode(),
    "base45": lambda value: notations.base45(value.encode()),
    "base58": lambda value: notations.number(value.encode(), notations._BASE58),
}


@pytest.mark.parametrize("name", [*FORMS, *ENCODED])
def test_a_value_is_searched_for_in_each_form(name: str) -> None:
    form = reduce_to_skeleton({**FORMS, **ENCODED}[name](VALUE)).decode()
    assert form in list_forms(VALUE, coded=name in ENCODED)


@pytest.mark.parametrize("write", [str.upper, str.lower])
def test_a_value_in_hexadecimal_is_searched_for_in_base64_of_its_bytes(write: Callable[[str], str]) -> None:
    value = write("00ff" + "1f9a3c7b5d2e4860" * 2)
    form = reduce_to_skeleton(base64.b64encode(bytes.fromhex(value))).decode()
    assert form in list_forms(value, coded=True)
    odd = reduce_to_skeleton(base64.b64encode(bytes.fromhex(value[:-2]))).decode()
    assert odd not in list_forms(value[:-1], coded=True)


@pytest.mark.parametrize("kind", KINDS)
def test_a_whole_value_is_a_leak_and_of_a_secret_part_a_half(kind: str) -> None:
    value, secret = KINDS[kind], list_secret_parts(KINDS[kind])[-1]
    bare, part = reduce_to_skeleton(value), reduce_to_skeleton(secret)
    least = {pattern.form: pattern.least for pattern in reversed(list(generate_patterns(value)))}
    assert least[bare] == (len(bare) if bare != part else least[bare])
    assert compute_leak_length(len(part)) in {pattern.least for pattern in generate_patterns(value) if pattern.form == part}


def test_a_long_value_is_searched_for_as_a_number_too() -> None:
    value = draw(41, 4_000)
    content = value.encode()
    number = int.from_bytes(content, "big")
    digits = next(form for form in list_forms(value, coded=True) if form.isdigit() and len(form) > 4_300)
    assert sum(int(digits[::-1][start : start + 1_000][::-1]) * 10**start for start in range(0, len(digits), 1_000)) == number


@pytest.mark.parametrize("value", ["short", "nine-char", "", "-" * 40])
def test_a_value_of_few_letters_has_no_pattern(value: str) -> None:
    assert list(generate_patterns(value)) == []


@pytest.mark.parametrize(("value", "steps"), [("abcdefghijklmnop", "b" * 15), ("aaaaaaaaaaaaaaaa", "a" * 15)])
def test_a_row_of_letters_is_not_searched_for_by_its_differences(value: str, steps: str) -> None:
    assert steps not in list_forms(value, coded=False)
    assert build_difference_list(reduce_to_skeleton(VALUE)).decode() in list_forms(VALUE, coded=False)


@pytest.mark.parametrize(
    ("length", "least"), [(6, 6), (12, 12), (13, 12), (24, 12), (25, 13), (26, 13), (31, 16), (32, 16), (33, 16), (400, 16)]
)
def test_half_of_a_secret_is_a_leak_within_bounds(length: int, least: int) -> None:
    assert compute_leak_length(length) == least


@pytest.mark.parametrize(
    ("bare", "least"),
    [(b"1234567890" * 2, 10), (b"12345abcdef" * 2, 8), (b"qwertz" * 3, 6), (b"q" * 128, 6), (b"q" * 129, 12), (b"7" * 129, 12)],
)
def test_a_counted_piece_is_longer_in_a_smaller_alphabet(bare: bytes, least: int) -> None:
    assert compute_counted_length(bare) == least


@pytest.mark.parametrize(("bare", "uncommon"), [(b"correcthorsebatterystaple", 3), (VALUE.lower().encode(), 2)])
def test_a_counted_piece_of_a_passphrase_has_to_be_more_unlike_words(bare: bytes, uncommon: int) -> None:
    assert compute_counted_uncommon(bare) == uncommon


@pytest.mark.parametrize(
    ("fragment", "count"),
    [
        (b"", 0),
        (b"q", 0),
        (b"qz", 1),
        (b"th", 0),
        (b"aa", 0),
        (b"ab", 0),
        (b"ba", 0),
        (b"xz", 1),
        (b"xzb", 2),
        (b"acegik", 0),
        (b"zwtq", 1),
    ],
)
def test_pairs_that_are_common_equal_consecutive_or_in_steps_do_not_count(fragment: bytes, count: int) -> None:
    assert count_uncommon(fragment) == count
