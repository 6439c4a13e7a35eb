"""Sightings: where a planted key stands, in any spelling, in what was received, told, kept and logged."""

from __future__ import annotations

import base64
import html
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import unquote

from ahocorasick_rs import BytesAhoCorasick

from tests.hostile.evidence import Evidence
from tests.hostile.perform import Performed
from tests.hostile.play import BEARER, FRESH, HEADER, KEYS, OWN_HEADER, PARAM
from tests.hostile.spelling import WAYS, filled
from tests.hostile.upstream import Seen

FRAGMENT = 16
NEEDLE_MIN = 14
PARTIAL = ("head", "tail", "middle", "first", "second", "third", "gzip64", "base64in")
"""Spellings of a part of the key, or of it among other things: what a play writes with them is looked for by itself."""

OWN_HOST = {"key": BEARER, "hkey": HEADER, "pkey": PARAM}

_DROPPED = bytes(code for code in range(256) if not (code < 128 and chr(code).isalnum()))
ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})|\\n")
_RUN = re.compile(rb"[A-Za-z0-9+/_-]{24,}")


def leaks(
    evidence: Evidence, everyone: Sequence[Performed], seen_by: Mapping[str, list[Seen]], credited: Mapping[str, str]
) -> Iterable[tuple[str, str]]:
    """The plays whose keys stand where they should not, each with a sentence; `credited` names the play of a token."""
    whose: dict[bytes, tuple[str, str]] = {}
    for each in everyone:
        for word in each.play.keys:
            name, service = KEYS[word]
            if service in each.play.services:
                whose |= dict.fromkeys(needles(each.words[word]), (credited[each.token], name))
        for word, name in FRESH.items():
            whose |= dict.fromkeys(needles(each.words[word]), (credited[each.token], name))
        whose |= {
            bare: (credited[each.token], "loot") for text in each.loot if len(bare := skeleton(text.encode())) >= NEEDLE_MIN
        }
    wanted = list(whose)
    automaton = BytesAhoCorasick(wanted)
    by_token = {each.token: each for each in everyone}
    sights = [
        (f"a request to {seen.host}", view)
        for token, all_seen in seen_by.items()
        for seen in all_seen
        for view in views(_without_own(seen, by_token.get(token)))
    ]
    sights += [
        (place, view) for place, things in evidence.places.items() for thing in things for view in (thing, *_cheap(thing))
    ]
    told = set()
    for place, view in sights:
        for index, _, _ in automaton.find_matches_as_indexes(skeleton(view), overlapping=True):
            play, name = whose[wanted[index]]
            if (play, name, place) not in told:
                told.add((play, name, place))
                yield play, f"{name} stands in {place}"


def _cheap(thing: bytes) -> Iterable[bytes]:
    if b"%" in thing or b"\\" in thing or b"&" in thing or not thing.isascii():
        yield from list(views(thing))[1:2]


def _without_own(seen: Seen, performed: Performed | None) -> bytes:
    """A connection's bytes and name without the one place where its own service's credential belongs."""
    raw = seen.bytes
    if performed is not None and seen.host in OWN_HEADER and not seen.stranger:
        name, word, before = OWN_HEADER[seen.host]
        for key in (word, *(FRESH if seen.host == BEARER else ())):
            line = f"\r\n{name}: {before}{performed.words[key]}\r\n".encode()
            raw = re.sub(re.escape(line), b"\r\n", raw, count=1, flags=re.IGNORECASE)
        if performed.play.keys and seen.host == OWN_HOST[performed.play.keys[0]]:
            for place in performed.play.places:
                raw = raw.replace(filled(place, performed.words).encode(), b"", 1)
    if performed is not None and seen.host == PARAM and not seen.stranger:
        raw = re.sub(rb"([?&])apikey=" + performed.words["pkey"].encode() + rb"(?=[& ])", rb"\1", raw, count=1)
    return seen.host.encode() + b"\n" + raw


def skeleton(raw: bytes) -> bytes:
    """Letters and digits alone, in lower case: separators, case and escapes' own signs do not hide anything from it."""
    return raw.translate(None, _DROPPED).lower()


def needles(value: str) -> set[bytes]:
    """The skeletons of `value` in every notation a play may use and wherever it may begin in an encoded stream."""
    found = {skeleton(way(value).encode()) for name, way in WAYS.items() if name not in PARTIAL}
    found |= {value[at : at + FRAGMENT].lower().encode() for at in range(len(value) - FRAGMENT + 1)}
    for raw in (
        value.encode(),
        value[::-1].encode(),
        value.encode().hex().encode(),
        base64.b64encode(value.encode()),
        value.encode("utf-16-le"),
    ):
        for offset in range(3):
            encoded = base64.b64encode(b"\0" * offset + raw)
            core = encoded[-(-offset * 4 // 3) : (offset + len(raw)) * 4 // 3]
            found |= {skeleton(core), skeleton(core.replace(b"+", b"-").replace(b"/", b"_"))}
    return {each for each in found if len(each) >= NEEDLE_MIN}


def views(raw: bytes) -> Iterable[bytes]:
    """`raw` as it is, and with percent, entity, escape and compatibility notations undone, and base64 runs opened."""
    yield raw
    text = raw.decode("utf-8", "replace")
    undone = text
    for _ in range(2):
        undone = html.unescape(unquote(ESCAPE.sub(character, undone)))
    hidden = "".join(chr(ord(each) - 0xE0000) if 0xE0000 < ord(each) < 0xE0080 else each for each in undone)
    yield unicodedata.normalize("NFKC", hidden).encode("utf-8", "replace")
    for run in _RUN.findall(raw):
        for offset in range(4):
            part = run[offset:].replace(b"-", b"+").replace(b"_", b"/")
            yield base64.b64decode(part[: len(part) // 4 * 4])


def character(found: re.Match[str]) -> str:
    code = found[1] or found[2]
    return chr(int(code, 16)) if code else "\n"
