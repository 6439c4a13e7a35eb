"""Verify: finds out whether a chain of Ferryman's receipts is whole and genuine, and whether a record is the signed one.

    python verify_receipts.py FILE [--public-key VERSION:HEX | KEYFILE] [--record RECORD.json]

Needs nothing of Ferryman. Verifies each entry's SHA-256 over its canonical JSON, the hash of the entry before it and the
signature (Ed25519), that the entries tell of one execution from `opened` to `closed`, and that they cover a record as it is.
Exit codes: 0 whole and genuine; 1 not; 2 cannot be read; 3 genuine as far as it goes: without a last entry (it still runs, or
entries were taken off the end), or with parts of a record that no entry covers, which are printed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

WHOLE, WRONG, UNREADABLE, OPEN, BYTES_MAX = 0, 1, 2, 3, 2**27
SHA, MOST, PLANNED = r"([0-9a-f]{64})?", r"([0-9]{1,3})?", ("flow", "arguments")
FORMAT, RECORD, DOMAIN, GENESIS = "ferryman-receipts/2", "ferryman.record/2", b"ferryman/receipt/2\n", "0" * 64
HEX, NAME, VERSION, COUNT = r"[0-9a-f]{64}", r"[A-Za-z0-9_-]{1,64}", r"[1-9][0-9]{0,14}", r"(0|[1-9][0-9]{0,14})"
CREDITS, LATER = r"(0|[1-9][0-9]{0,11})(\.[0-9]{0,14}[1-9])?", rf"({NAME})?"  # LATER, SHA, MOST: or absent
PART = rf"execution|opening|policy|(steps|events)/{COUNT}|calls/{COUNT}(/arguments|/flow)?|ledger/{NAME}\.[a-z0-9-]{{1,32}}"
COMMON: dict[str, Any] = {"execution": NAME, "number": int, "kind": "[a-z]+", "previous": HEX, "key": int, "hash": HEX}
COMMON |= {"at": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", "signature": r"[0-9a-f]{128}", "covers": {PART: HEX}}
CALL: dict[str, Any] = {"turn": int, "seq": int, "parent": None, "tool": rf"{NAME}|\?"}
SEND = {"approval": LATER, "digest": SHA, "approved_by": LATER, "approved_as": LATER, "approved_for": MOST, "declassified": SHA}
KINDS: dict[str, dict[str, Any]] = {
    "opened": {**COMMON, "workspace": LATER, "agent": LATER, "person": LATER, "conversation": LATER},
    "replied": {**COMMON, "turn": int},
    "planned": {**COMMON, **CALL},
    "settled": {**COMMON, **CALL, "outcome": "answered|failed|in_doubt|refused:[a-z_]+", "credits": CREDITS, **SEND},
    "closed": {**COMMON, "status": "[a-z]+", "credits": CREDITS, "count": int, "cancelled_by": LATER},
}
"""The members of an entry by its kind: whole numbers (None: or null), texts by form, objects by names and values."""
MEMBERS = {"format": str, "execution": str, "entries": list, "keys": dict, "next": type(None)}
PARTS = {"execution": "", "opening": "", "policy": "", "steps": "number", "calls": "seq", "events": "number", "ledger": "id"}
"""The members of a record beside its format; of a list, which member of its items names them."""
UNPINNED = "Verified with the file's own public keys: who made up both is not found out. Give --public-key to be sure."


class VerificationError(Exception):
    """The chain is not genuine, or the record is none; the text names what is wrong first."""


def need(true: bool, otherwise: str, error: type[Exception] = VerificationError) -> None:
    """Raise `error` unless `true`."""
    if not true:
        raise error(otherwise)


def digest(value: Any, domain: bytes = b"") -> str:
    """Return the SHA-256, in hex, of the canonical JSON of what `read` answered: names sorted, no spaces, ASCII."""
    return hashlib.sha256(domain + json.dumps(value, sort_keys=True, separators=(",", ":")).encode("ascii")).hexdigest()


def fits(form: Any, value: Any) -> bool:
    """Return whether `value` is of a form as KINDS has them."""
    if isinstance(form, dict):
        ((names, values),) = form.items()
        return isinstance(value, dict) and all(fits(names, name) and fits(values, value[name]) for name in value)
    if form in (int, None):
        return (value is None and form is None) or (type(value) is int and 0 <= value < 10**15)
    return isinstance(value, str) and value.isascii() and re.fullmatch(form, value) is not None


def genuine(document: Any, pinned: Mapping[str, str] | None, at: int = 0, before: str = GENESIS) -> Iterator[tuple[str, Any]]:
    """Yield each entry that is of its form, chained and signed, with its place in words; raise `VerificationError`."""
    members = {name: type(value) for name, value in {"next": None, **document}.items()} if isinstance(document, dict) else {}
    need(members == MEMBERS and document["format"] == FORMAT, f"it is no document of the format {FORMAT}, as it must be")
    keys = pinned or document["keys"]
    need(fits({VERSION: HEX}, keys), "a public key of the document is not one")
    for place, entry in enumerate(document["entries"], at):
        kind = entry.get("kind") if isinstance(entry, dict) else None
        need(isinstance(kind, str) and kind in KINDS, f"entry {place} is of no kind that there is")
        where, form = f"entry {place} ({kind})", KINDS[str(kind)]
        for name, due in {**dict.fromkeys({**form, **entry}, 0), **form}.items():
            need(due != 0 and fits(due, entry.get(name, due and "")), f"{where}: {name} is missing, too much or malformed")
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
            raise VerificationError(f"{where} does not bear a signature of version {version} of the key") from None
        yield where, entry


def verify(document: Any, pinned: Mapping[str, str] | None = None) -> tuple[int, str]:
    """Return the exit code and a sentence for receipts, or raise `VerificationError`. `pinned` keys replace the document's."""
    turns, calls, following, spent, end = 0, 0, 0, Decimal(0), ""
    open_calls, sub_calls, sends = dict[int, tuple[Any, ...]](), Counter[int | None](), Counter[str]()
    for where, entry in genuine(document, pinned):
        kind, number, call = entry["kind"], entry["number"], tuple[Any, ...](entry.get(name) for name in CALL)
        placed = not end and ((kind == "opened") == (number == 0) or (kind == "closed" and number == 0))
        need(placed, f"{where} stands where it cannot: opened comes first, closed last, each once")
        if kind == "replied":
            need(entry["turn"] == (turns := turns + 1), f"{where} tells of turn {entry['turn']} where turn {turns} is next")
        elif kind == "planned":
            placed = call[0] == turns and call[1] >= following and (call[2] is None or call[2] in open_calls)
            need(placed, f"{where} does not plan call {following} of turn {turns} or a later one, or for no open call")
            calls, following, open_calls[call[1]], sub_calls[call[2]] = calls + 1, call[1] + 1, call, sub_calls[call[2]] + 1
        elif kind == "settled":
            is_open = open_calls.pop(call[1], None) == call and not sub_calls[call[1]]
            need(is_open, f"{where} settles a call that was not planned so, was settled before, or has an open sub-call")
            sub_calls[call[2]], spent = sub_calls[call[2]] - 1, spent + Decimal(entry["credits"])
            sends[of := entry.get("approval", "")] += "approved_for" in entry
            need(sends[of] <= int(entry.get("approved_for") or number), f"{where} is one send more than were approved")
        elif kind == "closed":
            adds_up = entry["count"] == number + 1 and Decimal(entry["credits"]) >= spent
            need(adds_up, f"{where} does not add up: {entry['count']} entries, {entry['credits']} credits")
            end = f"{entry['status']}, {entry['credits']} credits"
    entries, settled = f"{len(document['entries'])} entries of {document['execution']}", calls - len(open_calls)
    summary = f"{entries}, {calls} calls planned, {settled} settled"
    if end:
        return WHOLE, f"WHOLE AND GENUINE: {summary}, {end}."
    state = "GENUINE SO FAR" if document["entries"] else "NOTHING IS SIGNED"
    return OPEN, f"{state}: {summary}; there is no last entry: it still runs, or entries were taken off the end."


def compare(document: Mapping[str, Any], record: Any) -> tuple[list[str], list[str]]:
    """Return what of `record` is not as the verified `document` covers it, and the parts that it does not cover yet."""
    known = isinstance(record, dict) and record.get("format") == RECORD and record.keys() == {"format", *PARTS}
    need(known, f"the record is no document of the format {RECORD}, with the members that it must have")
    signed = {part: covered for entry in document["entries"] for part, covered in entry["covers"].items()}
    kinds, wrong, bare = [entry["kind"] for entry in document["entries"]], [], []
    for name, named_by in PARTS.items():
        need(isinstance(items := record[name] if named_by else [record[name]], list), f"{name} of the record is no list")
        parts = [(f"{name}/{item[named_by]}" if named_by else name, digest(item)) for item in items]
        parts += [(f"calls/{x['seq']}/{of}", digest(x[of])) for of in PLANNED for x in items if name == "calls" and of in x]
        bare += [part for part, _ in parts if part not in signed]
        parts = [pair for pair in parts if pair[0] in signed]
        due = [(part, covered) for part, covered in signed.items() if part.split("/")[0] == name]
        if name != "ledger":  # whose parts are in the order of the entries
            due.sort(key=lambda pair: (len(pair[0]), pair[0]))
        wrong += sorted({part for part, _ in {*due} ^ {*parts}}) or [f"the order of {name}"] if due != parts else []
    return ([*wrong, *bare], []) if "closed" in kinds and kinds.count("planned") == kinds.count("settled") else (wrong, bare)


def read(path: str, *, fractions: bool = True) -> Any:
    """Return the JSON in a file. Raise ValueError for what two readers may take for two values."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        need(len(dict(pairs)) == len(pairs), "a member stands twice in it", ValueError)
        return dict(pairs)

    def number(text: str) -> float | int:
        whole = text.lstrip("-").isdigit()
        shortest = fractions and len(text) < 32 and Decimal(text) == Decimal(repr(float(text))) and "n" not in text
        need(text != "-0" and (whole or shortest), "it holds a number that is not in its shortest form", ValueError)
        return int(text) if whole else float(text)

    with Path(path).open("rb") as file:
        data = file.read(BYTES_MAX + 1)
    need(len(data) <= BYTES_MAX, f"it is longer than {BYTES_MAX} bytes", ValueError)
    return json.loads(data.decode(), object_pairs_hook=once, parse_int=number, parse_float=number, parse_constant=number)


def main(arguments: Sequence[str] | None = None) -> int:
    """Verify as the command line says; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="the receipts, as `ferryman receipts` writes them")
    parser.add_argument("--public-key", action="append", default=[], help="VERSION:HEX or a file of such; wins over FILE's")
    parser.add_argument("--record", action="append", default=[], help="what `ferryman show EXECUTION --audit --json` prints")
    options = parser.parse_args(arguments)
    try:
        pins = [pin for key in options.public_key for pin in ([key] if ":" in key else Path(key).read_text().split() or [""])]
        need(all(re.fullmatch(f"{VERSION}:{HEX}", pin) for pin in pins), "a public key is not VERSION:HEX", ValueError)
        pinned, document = dict(pin.split(":") for pin in pins), read(options.file, fractions=False)
        code, sentence = verify(document, pinned)
        lines = [sentence, "Verified with the public keys you gave." if pinned else UNPINNED]
        for wrong, bare in [compare(document, read(path)) for path in options.record]:
            code = WRONG if wrong or code == WRONG else OPEN if bare else code
            lines += [f"DOES NOT FIT: {part}" for part in wrong] + [f"NOT COVERED: {part}" for part in bare]
            lines += [] if wrong else [f"The record fits the receipts{' as far as it is covered' if bare else ''}."]
    except VerificationError as fault:
        code, lines = WRONG, [f"NOT GENUINE: {fault}."]
    except (OSError, ValueError, ArithmeticError, RecursionError, KeyError, TypeError, AttributeError) as error:
        code, lines = UNREADABLE, [f"CANNOT BE READ: {type(error).__name__}: {error}"]
    sys.stdout.write("".join(line.encode("unicode_escape").decode() + "\n" for line in lines))  # nothing moves the cursor
    return code


if __name__ == "__main__":
    sys.exit(main())
