"""Exposures: where a canary key is, in any spelling, in what was received, sent to the model, stored and logged."""

from __future__ import annotations

import base64
import html
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import unquote

from ahocorasick_rs import BytesAhoCorasick

from tests.campaigns.hostile.added import locate
from tests.campaigns.hostile.evidence import API_ANSWERS, BUCKET, STORAGE, Evidence
from tests.campaigns.hostile.filed import FILES
from tests.campaigns.hostile.scenario import BEARER, FRESH, HEADER, HOOK, KEYS, OWN_HEADER, PARAM, PUBLIC
from tests.campaigns.hostile.scenario_run import ScenarioRun
from tests.campaigns.hostile.spelling import WAYS, fill, reduce_to_letters
from tests.campaigns.hostile.upstream import ReceivedRequest

FRAGMENT = 16
PATTERN_MIN = 14
PARTIAL = (
    *("head", "tail", "middle", "first", "second", "third", "most", "start", "end", "eight", "sixteen", "gzip64", "base64in"),
    *("parts", "bz2", "xz", "broken64"),
)
"""Spellings of a part of the key, or of it among other things: what a scenario writes with them is looked for by itself."""

OF_SERVER = "the key of an MCP server"
OF_ALERTS = {"canary": "the key in an alert's address", "alert_secret": "the secret of alerts"}

OWN_HOST = {"key": BEARER, "bkey": BEARER, "hkey": HEADER, "pkey": PARAM, "skey": PUBLIC}

ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})|\\n")
_TAGS = {0xE0000 + code: code for code in range(1, 0x80)}
"""Unicode's tag characters, which nobody sees, and the characters that they stand for."""

_RUN = re.compile(rb"[A-Za-z0-9+/_-]{24,}")


def find_exposures(
    evidence: Evidence,
    everyone: Sequence[ScenarioRun],
    seen_by: Mapping[str, list[ReceivedRequest]],
    credited: Mapping[str, str],
) -> Iterable[tuple[str, str]]:
    """Yield scenarios whose keys are where they should not be, each with a sentence; `credited` maps tokens to scenarios."""
    whose: dict[bytes, tuple[str, str]] = {}
    for entry in everyone:
        for word in entry.scenario.keys:
            name, service = KEYS[word]
            if service in entry.scenario.services:
                whose |= dict.fromkeys(build_patterns(entry.words[word]), (credited[entry.token], name))
        for word, name in FRESH.items():
            whose |= dict.fromkeys(build_patterns(entry.words[word]), (credited[entry.token], name))
        if entry.scenario.servers:
            whose |= dict.fromkeys(build_patterns(entry.words["mkey"]), (credited[entry.token], OF_SERVER))
        for word in ("canary", "alert_secret"):
            if word in entry.words:
                value = entry.words[word].removeprefix("whsec_")
                whose |= dict.fromkeys(build_patterns(value), (credited[entry.token], OF_ALERTS[word]))
        whose |= {
            bare: (credited[entry.token], "loot")
            for text in entry.loot
            if len(bare := reduce_to_letters(text.encode())) >= PATTERN_MIN
        }
    patterns = list(whose)
    automaton = BytesAhoCorasick(patterns)
    by_token = {item.token: item for item in everyone}
    sights = [
        (f"a request to {seen.host}", view)
        for token, all_seen in seen_by.items()
        for seen in all_seen
        for view in views(_without_own(seen, by_token.get(token)))
    ]
    uploading = {credited[entry.token] for entry in everyone if _is_uploaded(entry)}
    pasting = {credited[entry.token] for entry in everyone if "{key" in str(entry.scenario.chat)}
    sights += [
        (place, view) for place, things in evidence.places.items() for thing in things for view in (thing, *_cheap(thing))
    ]
    reported = set()
    for place, view in sights:
        for index, _, _ in automaton.find_matches_as_indexes(reduce_to_letters(view), overlapping=True):
            scenario, name = whose[patterns[index]]
            if name == OF_ALERTS["canary"] and b"alert_url" in view and place == STORAGE:
                continue  # the workspace itself, whose owner set it
            if place == BUCKET and scenario in uploading:
                continue  # a person has stored it, in a file of the same workspace
            if place in (STORAGE, API_ANSWERS) and scenario in pasting:
                continue  # it is in a person's own message
            if (scenario, name, place) not in reported:
                reported.add((scenario, name, place))
                yield scenario, f"{name} is in {place}"


def _is_uploaded(run: ScenarioRun) -> bool:
    return any(act.path.startswith(FILES) and "{key" in str(act.body) for act in run.scenario.before)


def _cheap(thing: bytes) -> Iterable[bytes]:
    if b"%" in thing or b"\\" in thing or b"&" in thing or not thing.isascii():
        yield _undo(thing)


def _without_own(seen: ReceivedRequest, run: ScenarioRun | None) -> bytes:
    """Return a connection's bytes and name without the one place where its own service's credential belongs."""
    raw = seen.bytes
    if run is not None and seen.host in OWN_HEADER and not seen.stranger:
        name, word, before = OWN_HEADER[seen.host]
        for key in (word, *(FRESH if seen.host == BEARER else ())):
            line = f"\r\n{name}: {before}{run.words[key]}\r\n".encode()
            raw = re.sub(re.escape(line), b"\r\n", raw, count=1, flags=re.IGNORECASE)
        if run.scenario.keys and seen.host == OWN_HOST[run.scenario.keys[0]]:
            for place in run.scenario.places:
                raw = raw.replace(fill(place, run.words).encode(), b"", 1)
    if run is not None and (seen.host, seen.target) in locate(run.scenario, run.words) and not seen.stranger:
        line = f"\r\nauthorization: Bearer {run.words['mkey']}\r\n".encode()
        raw = re.sub(re.escape(line), b"\r\n", raw, count=1, flags=re.IGNORECASE)
    if run is not None and seen.host == HOOK:
        raw = raw.replace(run.words["canary"].encode(), b"", 1)
    if run is not None and seen.host == PARAM and not seen.stranger:
        raw = re.sub(rb"([?&])apikey=" + run.words["pkey"].encode() + rb"(?=[& ])", rb"\1", raw, count=1)
    return seen.host.encode() + b"\n" + raw


def build_patterns(value: str) -> set[bytes]:
    """Build the skeletons of `value` in every notation a scenario may use and wherever it may begin in an encoded stream."""
    patterns = {reduce_to_letters(way(value).encode()) for name, way in WAYS.items() if name not in PARTIAL}
    patterns |= {value[at : at + FRAGMENT].lower().encode() for at in range(len(value) - FRAGMENT + 1)}
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
            patterns |= {reduce_to_letters(core), reduce_to_letters(core.replace(b"+", b"-").replace(b"/", b"_"))}
    return {item for item in patterns if len(item) >= PATTERN_MIN}


def views(raw: bytes) -> Iterable[bytes]:
    """Yield `raw` as it is, and with percent, entity, escape and compatibility notations undone, and base64 runs opened."""
    yield raw
    yield _undo(raw)
    for run in _RUN.findall(raw):
        for offset in range(4):
            part = run[offset:].replace(b"-", b"+").replace(b"_", b"/")
            yield base64.b64decode(part[: len(part) // 4 * 4])


def _undo(raw: bytes) -> bytes:
    """Return `raw` with percent, entity, escape and compatibility notations undone, and tag characters shown."""
    undone = raw.decode("utf-8", "replace")
    for _ in range(2):
        undone = html.unescape(unquote(ESCAPE.sub(character, undone)))
    return unicodedata.normalize("NFKC", undone.translate(_TAGS)).encode("utf-8", "replace")


def character(match: re.Match[str]) -> str:
    code = match[1] or match[2]
    return chr(int(code, 16)) if code else "\n"
