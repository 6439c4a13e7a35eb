"""Secret patterns: the encoded forms of a credential's value, each as a skeleton to search for."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from ferryman.domain.credentials.value import find_value_problems, get_secret_half
from ferryman.egress.leaks import bases
from ferryman.egress.leaks.fragments import compute_leak_length, compute_leak_uncommon
from ferryman.egress.leaks.skeleton import build_difference_list, reduce_to_skeleton, rotate_letters

PLAIN_MIN = 10  # a value of fewer letters and digits is searched for unchanged, and in no other form
CODED_MIN = 12
STEPS_DISTINCT_MIN = 6
"""A difference list with fewer distinct steps is not searched for: aaaa and abcd are in every text."""

_PUBLIC = re.compile(
    r"(?:bearer |basic |token )?(?:"
    r"sk[-_](?:live|test|prod|proj|ant|or|svcacct|admin)[-_](?:api\d\d-|v1-)?|[spr]k[-_](?:live|test)[-_]|sk-|whsec_|"
    r"xox[a-z](?:-[a-z])?-|xapp-|gh[a-z]_|github_pat_|glpat-|gl[a-z]{2,6}-|npm_|pypi-|hf_|SG\.|key-|AIza|AKIA|ASIA|ya29\.|"
    r"pat|secret_|ntn_|shp[a-z]{2}_|dop_v1_|rk_live_|lin_api_|nvapi-|gsk_|pplx-|r8_|fw_|tvly-|api[-_]?key[-_=]|token[-_=])",
    re.IGNORECASE,
)
_JWT = re.compile(r"(?:bearer )?eyJ[\w-]+\.[\w-]+\.([\w-]+)", re.IGNORECASE | re.ASCII)
_URL = re.compile(r"[a-z][a-z0-9+.-]{0,31}://(?:[^/?#@]*@)?[^/?#]*", re.IGNORECASE | re.ASCII)
_SMALL, _CAPITAL = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_ATBASH = str.maketrans(_SMALL + _CAPITAL, _SMALL[::-1] + _CAPITAL[::-1])
_ROT13 = str.maketrans(_SMALL + _CAPITAL, _SMALL[13:] + _SMALL[:13] + _CAPITAL[13:] + _CAPITAL[:13])
_DIGITS = 10**4_000
_BASE32_KINDS = [bytes.maketrans(bases.BASE32_KINDS[0].encode(), kind.encode()) for kind in bases.BASE32_KINDS[1:]]
_BASE85 = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
_BASE85_ASCII = bytes.maketrans(_BASE85, bytes(range(33, 118)))
_BASE85_Z = bytes.maketrans(_BASE85, b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#")


class SecretPattern(NamedTuple):
    """A form of a value as a skeleton: `least` of its characters in a row in a text are a leak.

    `coded` tells that the characters next to it may be part of its encoding. A fragment of fewer than `WHOLE` characters needs
    `telling` uncommon pairs.
    """

    form: bytes
    least: int
    coded: bool
    telling: int = 0


def generate_patterns(value: str) -> Iterator[SecretPattern]:
    """Yield `value` in every form that is searched for."""
    for whole in list_parts(value):
        plain = reduce_to_skeleton(whole)
        if len(plain) < PLAIN_MIN:
            continue
        yield SecretPattern(plain, len(plain), coded=False)
        yield SecretPattern(plain[::-1], len(plain), coded=False)
        yield from (
            SecretPattern(form, len(form), coded=True)
            for form in map(reduce_to_skeleton, _encode(whole))
            if len(form) >= CODED_MIN
        )
        steps = build_difference_list(plain)
        if len(steps) >= CODED_MIN - 1 and len(set(steps)) >= STEPS_DISTINCT_MIN:
            yield SecretPattern(steps, len(steps), coded=False)
    for secret in list_secret_parts(value):
        yield from _generate_fragments(secret)


def list_parts(value: str) -> tuple[str, ...]:
    """Return the value, and of `user:password` its secret half too."""
    user, colon, password = value.partition(":")
    half = get_secret_half(value)
    is_pair = "/" not in password[:2] or (not password.startswith("//") and not find_value_problems(half))
    return (value, half) if colon and user and is_pair else (value,)


def list_secret_parts(value: str) -> tuple[str, ...]:
    """Return the secret parts of the value: without public prefix, the other half of a pair, or head and payload of a JWT."""
    token = _JWT.fullmatch(value)
    if token:
        return (token[1],)
    if "://" in value:
        password = re.match(r"[^:/]*://[^/?#@:]*:([^/?#@]*)@", value)
        return (*((password[1],) if password else ()), _URL.sub("", value, count=1))
    secret = list_parts(value)[-1]
    public = _PUBLIC.match(secret)
    return (secret[public.end() :],) if public else (secret,)


def _generate_fragments(secret: str) -> Iterator[SecretPattern]:
    bare = reduce_to_skeleton(secret)
    if len(bare) < PLAIN_MIN:
        return
    least, telling = compute_leak_length(len(bare)), compute_leak_uncommon(bare)
    for form in (bare, rotate_letters(bare)):
        yield SecretPattern(form, least, coded=False, telling=telling)
        yield SecretPattern(form[::-1], least, coded=False, telling=telling)


def _encode(value: str) -> Iterator[str | bytes]:
    raw = value.encode()
    hexadecimal = raw.hex()
    yield from (hexadecimal, hexadecimal[::-1], raw[::-1].hex())
    yield from (_write_decimal(int.from_bytes(raw, "big")), _write_decimal(int.from_bytes(raw, "little")))
    yield from (value.translate(_ROT13), value.translate(_ATBASH))
    yield from (bases.write_number(raw, digits) for digits in bases.NUMBERS)
    for content in _iterate_contents(value):
        for core in _iterate_cores(base64.b64encode, 3, 4, content):
            yield core
            yield core[::-1]
    for core in _iterate_cores(base64.b64encode, 3, 4, raw):
        yield core.decode().translate(_ROT13)
    for core in _iterate_cores(base64.b32encode, 5, 8, raw):
        yield core
        yield from (core.translate(kind) for kind in _BASE32_KINDS)
    for offset in range(2):
        yield bases.write_base45(raw[offset:])
    for core in _iterate_cores(base64.b85encode, 4, 5, raw, whole=True):
        yield core
        yield core.translate(_BASE85_ASCII)
        yield core.translate(_BASE85_Z)


def _iterate_contents(value: str) -> Iterator[bytes]:
    """Yield the bytes that may have been encoded in base64."""
    yield value.encode()
    yield value[::-1].encode()
    yield value.encode("utf-16-le")[:-1]  # without the last zero it is in UTF-16 of either order
    if len(value) % 2 == 0 and re.fullmatch(r"[0-9A-Fa-f]+", value):
        yield bytes.fromhex(value)


def _iterate_cores(
    encode: Callable[[bytes], bytes], size: int, width: int, content: bytes, *, whole: bool = False
) -> Iterator[bytes]:
    """Yield the encoded characters that are the same wherever `content` begins in a longer stream.

    Groups of `size` bytes become `width` characters. With `whole`, a character depends on all of its group, so only whole
    groups are the same.
    """
    groups = -(-(len(content) + size - 1) // size)
    filler = b"~" if whole else b"\0"
    shifted = [(filler * offset + content).ljust(groups * size, b"\0") for offset in range(size)]
    encoded = encode(b"".join(shifted))
    for offset in range(size):
        if whole:
            first, last = -(-offset // size) * width, (offset + len(content)) // size * width
        else:
            first, last = -(-offset * width // size), (offset + len(content)) * width // size
        start = offset * groups * width
        yield encoded[start + first : start + last]


def _write_decimal(number: int) -> str:
    # Python writes at most 4,300 digits at once, and a value may have more.
    pieces = []
    while number >= _DIGITS:
        number, rest = divmod(number, _DIGITS)
        pieces.append(f"{rest:04000d}")
    return "".join([str(number), *reversed(pieces)])
