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

from tests.canaries.canary import Canary

FRAGMENT = 16
"""So many letters and digits of a secret in a row are a find."""

BLOCK = FRAGMENT // 2
_LETTERS_AND_DIGITS = bytes(range(48, 58)) + bytes(range(65, 91)) + bytes(range(97, 123))
_DROPPED = bytes(number for number in range(256) if number not in _LETTERS_AND_DIGITS)
_LOWER = bytes.maketrans(bytes(range(65, 91)), bytes(range(97, 123)))


@dataclass(frozen=True, slots=True)
class Place:
    """A place to search: a file, or bytes."""

    name: str
    content: bytes | Path

    def read(self) -> bytes:
        return self.content.read_bytes() if isinstance(self.content, Path) else self.content


@dataclass(frozen=True, slots=True)
class Finding:
    """Where a canary was found and how it is spelled there: never its value."""

    canary: str
    place: str
    offset: int
    form: str

    def __str__(self) -> str:
        return f"{self.canary} stands in {self.place} at byte {self.offset}, {self.form}"


@dataclass(frozen=True, slots=True)
class Pattern:
    """One spelling, as its letters and digits in lower case. Of `whole` a part of 16 around `probe` is enough."""

    canary: str
    form: str
    probe: bytes
    whole: bytes


def reduce_to_letters(content: bytes) -> bytes:
    """Return the letters and digits of `content` in lower case: what separators, escapes and wrapping leave alone."""
    return content.translate(_LOWER, _DROPPED)


def build_patterns(canaries: Iterable[Canary]) -> list[Pattern]:
    """Return every spelling to look for."""
    return [pattern for item in canaries for pattern in _generate_patterns(item)]


def search(places: Iterable[Place], patterns: Iterable[Pattern]) -> list[Finding]:
    """Return the findings of any of `patterns`: one for each credential in each place."""
    findings = []
    automaton = _automaton(patterns)
    for place in places:
        content = place.read()
        bones = reduce_to_letters(content)
        reported = set()
        for pattern in _near(automaton, bones):
            if pattern.canary in reported or (at := _at(bones, pattern)) is None:
                continue
            reported.add(pattern.canary)
            findings.append(Finding(pattern.canary, place.name, _offset(content, at), pattern.form))
    return findings


def _automaton(patterns: Iterable[Pattern]) -> ahocorasick.Automaton:
    """Return all probes in one: some thousand spellings are looked for in one reading of a text."""
    probes: dict[str, list[Pattern]] = {}
    for pattern in patterns:
        probes.setdefault(pattern.probe.decode("ascii"), []).append(pattern)
    automaton = ahocorasick.Automaton()
    for probe, patterns_of in probes.items():
        automaton.add_word(probe, patterns_of)
    automaton.make_automaton()
    return automaton


def _near(automaton: ahocorasick.Automaton, bones: bytes) -> Iterator[Pattern]:
    """Yield the patterns with a probe in `bones`."""
    if not len(automaton):
        return
    met = {id(those): those for _, those in automaton.iter(bones.decode("ascii"))}
    for those in met.values():
        yield from those


def _at(bones: bytes, pattern: Pattern) -> int | None:
    at = bones.find(pattern.probe)
    while at >= 0:
        start, length = _grown(bones, at, pattern)
        if length >= min(FRAGMENT, len(pattern.whole)):
            return start
        at = bones.find(pattern.probe, at + 1)
    return None


def _grown(bones: bytes, at: int, pattern: Pattern) -> tuple[int, int]:
    """Return how far the text around a probe goes on as the whole does."""
    inside = pattern.whole.find(pattern.probe)
    before = after = 0
    end = inside + len(pattern.probe)
    while before < min(inside, at) and bones[at - before - 1] == pattern.whole[inside - before - 1]:
        before += 1
    while (
        end + after < len(pattern.whole)
        and bones[at + len(pattern.probe) + after : at + len(pattern.probe) + after + 1]
        == (pattern.whole[end + after : end + after + 1])
    ):
        after += 1
    return at - before, before + len(pattern.probe) + after


def _offset(content: bytes, letters: int) -> int:
    """Return the place in `content` of the letter that has `letters` others before it."""
    for offset, byte in enumerate(content):
        if byte in _LETTERS_AND_DIGITS:
            if letters == 0:
                return offset
            letters -= 1
    return len(content)


def _generate_patterns(canary: Canary) -> Iterator[Pattern]:
    secret = reduce_to_letters(canary.secret.encode())
    for turned, form in ((secret, "in part"), (secret[::-1], "reversed, in part")):
        # any sixteen in a row hold one of these blocks as a whole
        for start in range(0, len(turned) - BLOCK + 1, BLOCK):
            yield Pattern(canary.name, form, turned[start : start + BLOCK], turned)
    for form, text in _spellings(canary):
        bones = reduce_to_letters(text)
        if len(bones) >= FRAGMENT:
            yield Pattern(canary.name, form, bones, bones)


def _spellings(canary: Canary) -> Iterator[tuple[str, bytes]]:
    value, raw = canary.value, canary.value.encode()
    # what is between letters is dropped, so hexadecimal is percent-encoding too, and UTF-16 is plain
    yield "plain", raw
    yield "reversed", raw[::-1]
    yield "percent-encoded where it must be", quote(value, safe="").encode()
    yield "as HTML", html.escape(value).encode()
    yield "as JSON", json.dumps(value).encode()
    for form, secret in (("", canary.secret), (" of the reversed", canary.secret[::-1])):
        yield f"hexadecimal{form}", secret.encode().hex().encode()
        yield f"base32{form}", base64.b32encode(secret.encode()).rstrip(b"=")[:-1]
        for encoding in ("utf-8", "utf-16-le"):
            for start in range(3):
                padded = base64.b64encode(b"\0" * start + secret.encode(encoding))
                # the characters that depend on their neighbours are left out
                yield f"base64{form}, {encoding}", padded[(0, 2, 3)[start] : len(padded.rstrip(b"=")) - 1]
    yield "hexadecimal, reversed", canary.secret.encode().hex().encode()[::-1]
    yield "with \\x", "".join(f"x{item:02x}" for item in canary.secret.encode()).encode()
    yield "with \\u", "".join(f"u{entry:04x}" for entry in canary.secret.encode()).encode()
    yield "as entities", "".join(f"&#{element};" for element in canary.secret.encode()).encode()
    yield "base64 of hexadecimal", base64.b64encode(canary.secret.encode().hex().encode())[:-4]
