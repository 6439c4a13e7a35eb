"""Verify: finds out whether a chain of Ferryman's receipts is whole and genuine. This file needs nothing of Ferryman.

    python verify_receipts.py FILE [--public-key VERSION:HEX | KEYFILE] [--record RECORD.json]

Verified are each entry's SHA-256 over its canonical JSON, the hash of the entry before it, its Ed25519 signature, and that the
entries tell of one execution from `opened` to `closed`. Exit codes: 0 whole and genuine; 1 not; 2 cannot be read; 3 genuine as
far as it goes, but without a last entry: the execution runs, or entries were taken off the end.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

WHOLE, WRONG, UNREADABLE, OPEN = 0, 1, 2, 3
FORMAT, DOMAIN, GENESIS = "ferryman-receipts/1", b"ferryman/receipt/1\n", "0" * 64
HEX, CREDITS, NAME, VERSION = r"[0-9a-f]{64}", r"[0-9]+(\.[0-9]+)?", r"[A-Za-z0-9_-]{1,64}", r"[1-9][0-9]{0,14}"
COMMON: dict[str, Any] = {"execution": NAME, "number": int, "kind": "[a-z]+", "previous": HEX, "key": int, "hash": HEX}
COMMON |= {"at": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", "signature": r"[0-9a-f]{128}"}
CALL: dict[str, Any] = {"turn": int, "seq": int, "tool": rf"{NAME}|\?"}
KINDS: dict[str, dict[str, Any]] = {
    "opened": {"opening": HEX},
    "planned": {**CALL, "arguments": HEX},
    "settled": {**CALL, "result": HEX, "outcome": "answered|failed|in_doubt|refused:[a-z_]+", "credits": CREDITS},
    "closed": {"status": "[a-z]+", "output": f"{HEX}|null", "credits": CREDITS, "count": int},
}
"""The members of an entry by its kind, beside COMMON: whole numbers, and texts by their form."""
MEMBERS = {"format": str, "execution": str, "entries": list, "keys": dict}
PINNED = "Verified with the public keys you gave."
UNPINNED = "Verified with the file's own public keys: whoever made up both is not found out. Give --public-key to be sure."


class Wrong(Exception):  # noqa: N818 - reads as the fact it states
    """The chain is not genuine; the text names the first entry that is wrong."""


def need(true: bool, otherwise: str) -> None:
    """Raise `Wrong` unless `true`."""
    if not true:
        raise Wrong(otherwise)


def digest(value: Any, domain: bytes = b"") -> str:
    """The SHA-256, in hex, of the canonical JSON of what `read` answered: names sorted, no spaces, ASCII."""
    return hashlib.sha256(domain + json.dumps(value, sort_keys=True, separators=(",", ":")).encode("ascii")).hexdigest()


def verify(document: Any, pinned: Mapping[str, str] | None = None) -> tuple[int, str]:
    """The exit code and a sentence for a document of receipts; raises `Wrong`.

    `pinned` public keys (version to hex) replace those of the document.
    """
    need(isinstance(document, dict) and document.get("format") == FORMAT, f"it is not a document of the format {FORMAT}")
    kinds = {name: type(value) for name, value in document.items()}
    need(kinds == MEMBERS, "the document has not the members that it must have")
    keys = pinned or document["keys"]
    need(all(_fits(VERSION, each) and _fits(HEX, keys[each]) for each in keys), "a public key of the document is not one")
    before, story = GENESIS, Story()
    for place, entry in enumerate(document["entries"]):
        kind = entry.get("kind") if isinstance(entry, dict) else None
        need(isinstance(kind, str) and kind in KINDS, f"entry {place} is of no kind that there is")
        where, form = f"entry {place} ({kind})", {**COMMON, **KINDS[str(kind)]}
        need(set(entry) == set(form), f"{where} has members it should not have, or lacks some")
        for name in form:
            need(_fits(form[name], entry[name]), f"{where}: {name} is not of its form")
        need(entry["execution"] == document["execution"], f"{where} belongs to another execution")
        need(entry["number"] == place, f"{where} is numbered {entry['number']}: one was taken out, put in or moved")
        need(entry["previous"] == before, f"{where} does not follow from the entry before it")
        content = {name: value for name, value in entry.items() if name not in ("hash", "signature")}
        need(entry["hash"] == digest(content, DOMAIN), f"{where} was changed: its hash is not that of its content")
        version, before = str(entry["key"]), entry["hash"]
        need(version in keys, f"{where} is signed with version {version} of the key, which is not among the public keys")
        try:
            key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(keys[version]))
            key.verify(bytes.fromhex(entry["signature"]), bytes.fromhex(before))
        except InvalidSignature:
            raise Wrong(f"{where} does not bear a signature of version {version} of the key") from None
        story.goes_on(where, entry)
    calls = f"{len(story.planned)} calls planned, {len(story.settled)} settled"
    told = f"{len(document['entries'])} entries of {document['execution']}, {calls}"
    if story.closed is None:
        return OPEN, f"GENUINE SO FAR: {told}; there is no last entry: it still runs, or entries were taken off the end."
    return WHOLE, f"WHOLE AND GENUINE: {told}, {story.closed['status']}, {story.closed['credits']} credits."


def _fits(form: Any, value: Any) -> bool:
    if form is int:
        return type(value) is int and value >= 0
    text = "null" if value is None else value
    return isinstance(text, str) and text.isascii() and re.fullmatch(form, text) is not None


class Story:
    """What the entries tell so far: calls are planned in their order, settled once each, and the last entry closes."""

    def __init__(self) -> None:
        self.planned: list[tuple[int, str]] = []
        self.settled: set[int] = set()
        self.spent = Decimal(0)
        self.closed: Mapping[str, Any] | None = None

    def goes_on(self, where: str, entry: Mapping[str, Any]) -> None:
        kind, number, seq = entry["kind"], entry["number"], entry.get("seq", 0)
        placed = not self.closed and ((kind == "opened") == (number == 0) or (kind == "closed" and number == 0))
        need(placed, f"{where} stands where it cannot: opened comes first, closed last, each once")
        if kind == "planned":
            need(seq == len(self.planned), f"{where} plans call {seq} where call {len(self.planned)} is next")
            self.planned.append((entry["turn"], entry["tool"]))
        elif kind == "settled":
            known = seq not in self.settled and self.planned[seq : seq + 1] == [(entry["turn"], entry["tool"])]
            need(known, f"{where} settles call {seq}, which was not planned so, or was settled before")
            self.settled.add(seq)
            self.spent += Decimal(entry["credits"])
        elif kind == "closed":
            adds_up = entry["count"] == number + 1 and Decimal(entry["credits"]) >= self.spent
            need(adds_up, f"{where} does not add up: {entry['count']} entries, {entry['credits']} credits")
            self.closed = entry


def misfits(document: Mapping[str, Any], record: Any) -> Iterator[str]:
    """Where a public record (an execution, or its calls, as the API shows them) is not what the entries tell."""
    calls = record.get("calls") if isinstance(record, dict) else record
    known, told = {call["seq"]: call for call in calls or ()}, set()
    for entry in document["entries"]:
        where, seq = f"entry {entry['number']} ({entry['kind']})", entry.get("seq")
        part = {"planned": "arguments", "settled": "result"}.get(entry["kind"])
        if calls is not None and part:
            told.add(seq)
            call = known.get(seq, {"tool": None, part: None})
            if entry["tool"] not in ("?", call["tool"]) or call[part] is None or digest(call[part]) != entry[part]:
                yield f"{where}: the {part} of call {seq} in the record are others"
        elif calls is None and entry["kind"] == "closed":
            output = None if record["output"] is None else digest(record["output"])
            found = (record["execution_id"], record["status"], output, record["credits_used"])
            if found != (entry["execution"], entry["status"], entry["output"], entry["credits"]):
                yield f"{where}: execution, status, output or credits in the record are others"
    yield from (f"call {seq} of the record has no receipt" for seq in sorted(set(known) - told))


def read(path: str, *, fractions: bool = True) -> Any:
    """The JSON in a file; a whole double below 2**53 is an integer, one that is not finite None, and no member stands twice."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) != len(pairs):
            raise ValueError("a member stands twice in it")
        return dict(pairs)

    def number(text: str) -> float | int | None:
        if not fractions:
            raise ValueError("it holds a number that is no integer")
        value = float(text)
        whole = value.is_integer() and abs(value) < 2**53
        return int(value) if whole else value if math.isfinite(value) else None

    return json.loads(Path(path).read_bytes(), object_pairs_hook=once, parse_float=number, parse_constant=number)


def _pinned(given: Sequence[str]) -> dict[str, str]:
    lines = [line for each in given for line in ([each] if ":" in each else Path(each).read_text().split())]
    if not all(re.fullmatch(f"{VERSION}:{HEX}", line) for line in lines):
        raise ValueError("a public key must read VERSION:HEX, or be a file of such lines")
    return dict(line.split(":") for line in lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Verify as the command line says; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="the receipts, as `ferryman receipts` writes them")
    parser.add_argument("--public-key", action="append", default=[], help="VERSION:HEX or a file of such; wins over FILE's")
    parser.add_argument("--record", action="append", default=[], help="an execution or its calls, as the API shows them")
    asked = parser.parse_args(arguments)
    try:
        pinned, document = _pinned(asked.public_key), read(asked.file, fractions=False)
        code, told = verify(document, pinned)
        lines = [told, PINNED if pinned else UNPINNED]
        wrong = [f"DOES NOT FIT: {each}." for path in asked.record for each in misfits(document, read(path))]
        if asked.record:
            code, lines = WRONG if wrong else code, [*lines, *(wrong or ["The record fits the receipts."])]
    except Wrong as wrong_entry:
        code, lines = WRONG, [f"NOT GENUINE: {wrong_entry}.", PINNED if pinned else UNPINNED]
    except (OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError) as error:
        code, lines = UNREADABLE, [f"CANNOT BE READ: {type(error).__name__}: {error}"]
    sys.stdout.write("\n".join(lines) + "\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
