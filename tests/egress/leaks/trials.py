"""Try ways to write a secret down on scanners that know it, count them, and list those that went wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ferryman.egress.leaks import LeakFinding, SecretScanner, redact_text
from tests.egress.leaks.corpus import KINDS
from tests.egress.plants import credential, outbound, text
from tests.figures import Tally

Writers = Mapping[str, Callable[[str], str]]
Fields = dict[str, object]

OTHER = credential(text(40), "OTHER")
SCANNERS = {kind: SecretScanner([OTHER, credential(value)]) for kind, value in KINDS.items()}
ALL = SecretScanner([credential(value, f"KEY_{number}") for number, value in enumerate(KINDS.values())])


def is_found(kind: str, fields: Fields) -> bool:
    finding = SCANNERS[kind].find_in_request(outbound(**fields))
    return finding is not None and finding.name == "NEWS_KEY"


def list_leaks(writers: Writers, place: Callable[[str], Iterable[tuple[str, Fields]]], group: str, tally: Tally) -> list[tuple]:
    """List (writer, kind, place) of the secrets that leave; `place` yields places and requests that hold a written one."""
    missed = []
    for name, write in writers.items():
        for kind, value in KINDS.items():
            for where, fields in place(write(value)):
                passed = is_found(kind, fields)
                tally("leaks out", group, passed)
                missed += [] if passed else [(name, kind, where)]
    return missed


def list_split_leaks(split: Callable[[str], Iterable[tuple[str, Fields]]], tally: Tally) -> list[tuple[str, str]]:
    """List (kind, split) of the secrets that leave when `split` spreads them over a request."""
    missed = []
    for kind, value in KINDS.items():
        for name, fields in split(value):
            passed = is_found(kind, fields)
            tally("leaks out, split", name, passed)
            missed += [] if passed else [(kind, name)]
    return missed


def list_echoes(writers: Writers, group: str, tally: Tally) -> list[tuple[str, str]]:
    """List (writer, kind) of the secrets that an answer may echo to the model."""
    missed = []
    for name, write in writers.items():
        for kind, value in KINDS.items():
            shown_text = redact_text(f'{{"you sent": "{write(value)}", "ok": true}}', SCANNERS[kind])
            passed = "[redacted:NEWS_KEY]" in shown_text and SCANNERS[kind].find(shown_text) is None
            tally("leaks in", group, passed)
            missed += [] if passed else [(name, kind)]
    return missed


def list_false_positives(harmless: Iterable[tuple[str, Fields]], tally: Tally) -> list[tuple[str, LeakFinding]]:
    """List (class, finding) of the requests that hold no secret and are refused."""
    blocked = []
    for klass, fields in harmless:
        finding = ALL.find_in_request(outbound(**fields))
        tally("no leaks", klass, finding is None)
        blocked += [(klass, finding)] if finding else []
    return blocked
