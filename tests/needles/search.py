"""The search: written for the tests alone, of nothing that the product scans with (its automaton is another's too)."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import ahocorasick

from tests.planted import Planted

FRAGMENT = 16
"""So many letters and digits of a secret in a row are a find."""

BLOCK = FRAGMENT // 2
_KEPT = bytes(range(48, 58)) + bytes(range(65, 91)) + bytes(range(97, 123))
_DROPPED = bytes(each for each in range(256) if each not in _KEPT)
_LOWER = bytes.maketrans(bytes(range(65, 91)), bytes(range(97, 123)))


@dataclass(frozen=True, slots=True)
class Place:
    """Something to look through: a file, or bytes at hand."""

    name: str
    content: bytes | Path

    def read(self) -> bytes:
        return self.content.read_bytes() if isinstance(self.content, Path) else self.content


@dataclass(frozen=True, slots=True)
class Finding:
    """Where a planted credential stands and how it is written there: never what it is."""

    planted: str
    place: str
    offset: int
    form: str

    def __str__(self) -> str:
        return f"{self.planted} stands in {self.place} at byte {self.offset}, {self.form}"


@dataclass(frozen=True, slots=True)
class Needle:
    """One spelling, as its letters and digits in lower case. Of `whole` a part of 16 around `probe` is enough."""

    planted: str
    form: str
    probe: bytes
    whole: bytes


def skeleton(content: bytes) -> bytes:
    """The letters and digits of `content` in lower case: what separators, escapes and wrapping leave alone."""
    return content.translate(_LOWER, _DROPPED)


def needles(planted: Iterable[Planted]) -> list[Needle]:
    """Every spelling to look for."""
    return [needle for each in planted for needle in _of(each)]


def search(places: Iterable[Place], wanted: Iterable[Needle]) -> list[Finding]:
    """Where any of `wanted` stands: once for each credential in each place."""
    found = []
    automaton = _automaton(wanted)
    for place in places:
        content = place.read()
        bones = skeleton(content)
        told = set()
        for needle in _near(automaton, bones):
            if needle.planted in told or (at := _at(bones, needle)) is None:
                continue
            told.add(needle.planted)
            found.append(Finding(needle.planted, place.name, _offset(content, at), needle.form))
    return found


def _automaton(wanted: Iterable[Needle]) -> ahocorasick.Automaton:
    """All probes in one: some thousand spellings are looked for in one reading of a text."""
    probes: dict[str, list[Needle]] = {}
    for needle in wanted:
        probes.setdefault(needle.probe.decode("ascii"), []).append(needle)
    made = ahocorasick.Automaton()
    for probe, needles_of in probes.items():
        made.add_word(probe, needles_of)
    made.make_automaton()
    return made


def _near(automaton: ahocorasick.Automaton, bones: bytes) -> Iterator[Needle]:
    """Those of whom a probe stands in `bones`."""
    if not len(automaton):
        return
    met = {id(those): those for _, those in automaton.iter(bones.decode("ascii"))}
    for those in met.values():
        yield from those


def _at(bones: bytes, needle: Needle) -> int | None:
    at = bones.find(needle.probe)
    while at >= 0:
        start, length = _grown(bones, at, needle)
        if length >= min(FRAGMENT, len(needle.whole)):
            return start
        at = bones.find(needle.probe, at + 1)
    return None


def _grown(bones: bytes, at: int, needle: Needle) -> tuple[int, int]:
    """How far the text around a probe goes on as the whole does."""
    inside = needle.whole.find(needle.probe)
    before = after = 0
    end = inside + len(needle.probe)
    while before < min(inside, at) and bones[at - before - 1] == needle.whole[inside - before - 1]:
        before += 1
    while (
        end + after < len(needle.whole)
        and bones[at + len(needle.probe) + after : at + len(needle.probe) + after + 1]
        == (needle.whole[end + after : end + after + 1])
    ):
        after += 1
    return at - before, before + len(needle.probe) + after


def _offset(content: bytes, letters: int) -> int:
    """Where in `content` the letter stands before which there are `letters` others."""
    for offset, byte in enumerate(content):
        if byte in _KEPT:
            if letters == 0:
                return offset
            letters -= 1
    return len(content)


def _of(planted: Planted) -> Iterator[Needle]:
    secret = skeleton(planted.secret.encode())
    for turned, form in ((secret, "in part"), (secret[::-1], "reversed, in part")):
        # any sixteen in a row hold one of these blocks as a whole
        for start in range(0, len(turned) - BLOCK + 1, BLOCK):
            yield Needle(planted.name, form, turned[start : start + BLOCK], turned)
    for form, text in _spellings(planted):
        bones = skeleton(text)
        if len(bones) >= FRAGMENT:
            yield Needle(planted.name, form, bones, bones)


def _spellings(planted: Planted) -> Iterator[tuple[str, bytes]]:
    value, raw = planted.value, planted.value.encode()
    # what stands between letters goes, so hexadecimal is percent-encoding too, and UTF-16 is plain
    yield "plain", raw
    yield "reversed", raw[::-1]
    yield "percent-encoded where it must be", quote(value, safe="").encode()
    yield "as HTML", html.escape(value).encode()
    yield "as JSON", json.dumps(value).encode()
    for form, secret in (("", planted.secret), (" of the reversed", planted.secret[::-1])):
        yield f"hexadecimal{form}", secret.encode().hex().encode()
        yield f"base32{form}", base64.b32encode(secret.encode()).rstrip(b"=")[:-1]
        for encoding in ("utf-8", "utf-16-le"):
            for start in range(3):
                padded = base64.b64encode(b"\0" * start + secret.encode(encoding))
                # the characters that depend on what stands before and after are left out
                yield f"base64{form}, {encoding}", padded[(0, 2, 3)[start] : len(padded.rstrip(b"=")) - 1]
    yield "hexadecimal, reversed", planted.secret.encode().hex().encode()[::-1]
    yield "with \\x", "".join(f"x{each:02x}" for each in planted.secret.encode()).encode()
    yield "with \\u", "".join(f"u{each:04x}" for each in planted.secret.encode()).encode()
    yield "as entities", "".join(f"&#{each};" for each in planted.secret.encode()).encode()
    yield "base64 of hexadecimal", base64.b64encode(planted.secret.encode().hex().encode())[:-4]
