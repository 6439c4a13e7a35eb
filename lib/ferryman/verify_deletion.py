"""Verify: finds out whether a receipt of a deletion is genuine.

    python verify_deletion.py FILE [--public-key VERSION:HEX | KEYFILE]

Needs nothing of Ferryman. Verifies the receipt's form, its SHA-256 over its canonical JSON and its signature (Ed25519).
Exit codes: 0 genuine; 1 not; 2 cannot be read.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

GENUINE, WRONG, UNREADABLE, BYTES_MAX = 0, 1, 2, 2**20
FORMAT, DOMAIN = "ferryman-deletion/1", b"ferryman/deletion/1\n"
HEX, NAME = r"[0-9a-f]{64}", r"[A-Za-z0-9_-]{1,64}"
MOMENT = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z"
FORM: dict[str, Any] = {
    **{"job": NAME, "kind": "delete_[a-z]{1,32}", "workspace": NAME, "subject": NAME, "person": rf"({NAME})?"},
    **{"counts": dict, "requested_at": MOMENT, "completed_at": MOMENT, "key": int, "hash": HEX, "signature": r"[0-9a-f]{128}"},
}
"""The members of a receipt: texts by form, whole numbers, and counts by kind."""
UNPINNED = "Verified with the file's own public keys: who made up both is not found out. Give --public-key to be sure."


def fits(form: Any, value: Any) -> bool:
    """Return whether `value` is of a form as FORM has them."""
    if form is dict:
        counts = value.items() if isinstance(value, dict) else [("", None)]
        return all(re.fullmatch("[a-z_]{1,64}", name) and fits(int, count) for name, count in counts)
    if form is int:
        return type(value) is int and 0 <= value < 10**15
    return isinstance(value, str) and value.isascii() and re.fullmatch(form, value) is not None


def find_fault(document: Any, pinned: Mapping[str, str] | None = None) -> str | None:
    """Return why the receipt in `document` is not genuine, or None; `pinned` are public keys to trust instead of its own."""
    if not isinstance(document, dict) or set(document) != {"format", "receipt", "keys"} or document["format"] != FORMAT:
        return f"it is no document of the format {FORMAT}"
    receipt, keys = document["receipt"], pinned or document["keys"]
    if not isinstance(receipt, dict) or set(receipt) != set(FORM):
        return "the receipt has other members than it must have"
    for name, form in FORM.items():
        if not fits(form, receipt[name]):
            return f"{name} is not of its form"
    content = {name: value for name, value in receipt.items() if name not in ("hash", "signature")}
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":")).encode("ascii")
    digest = hashlib.sha256(DOMAIN + canonical)
    if digest.hexdigest() != receipt["hash"]:
        return "the receipt was changed: its hash is not that of its content"
    key = keys.get(str(receipt["key"])) if isinstance(keys, dict) else None
    if not fits(HEX, key):
        return f"there is no public key of version {receipt['key']}"
    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(str(key))).verify(bytes.fromhex(receipt["signature"]), digest.digest())
    except InvalidSignature:
        return f"the signature is not by version {receipt['key']} of the key"
    return None


def read_keys(values: list[str]) -> dict[str, str]:
    """Return the public keys that options name, VERSION:HEX each or a file of such lines. Raise ValueError or OSError."""
    lines = [line for value in values for line in ([value] if ":" in value else Path(value).read_text().split())]
    keys = dict(line.split(":", 1) for line in lines)
    if not all(re.fullmatch("[1-9][0-9]{0,14}", version) and fits(HEX, key) for version, key in keys.items()):
        raise ValueError("a public key is VERSION:HEX")
    return keys


def is_deletion(file: str) -> bool:
    """Return whether a file says that it is a receipt of a deletion."""
    try:
        if Path(file).stat().st_size > BYTES_MAX:
            return False
        document = json.loads(Path(file).read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(document, dict) and document.get("format") == FORMAT


def _say_count(count: int, plural: str) -> str:
    """Return "2 tasks", or "1 task"."""
    return f"{count} {re.sub('s$', '', re.sub('ies$', 'y', plural)) if count == 1 else plural}"


def main(arguments: list[str] | None = None) -> int:
    """Verify the file that the command line names, print what was found, and return the exit code."""
    parser = argparse.ArgumentParser(prog="verify_deletion.py", description="Verify a receipt of a deletion.")
    parser.add_argument("file")
    parser.add_argument("--public-key", action="append", default=[], help="VERSION:HEX, or a file of such lines")
    options = parser.parse_args(arguments)
    try:
        if Path(options.file).stat().st_size > BYTES_MAX:
            raise ValueError(f"it is larger than {BYTES_MAX} bytes")
        document, pinned = json.loads(Path(options.file).read_bytes()), read_keys(options.public_key)
    except (OSError, ValueError, RecursionError) as error:
        sys.stdout.write(f"cannot be read: {error}" + "\n")
        return UNREADABLE
    fault = find_fault(document, pinned or None)
    if fault is not None:
        sys.stdout.write(f"NOT GENUINE: {fault}" + "\n")
        return WRONG
    receipt = document["receipt"]
    counts = ", ".join(_say_count(count, name) for name, count in sorted(receipt["counts"].items()))
    sys.stdout.write(f"Genuine: {receipt['subject']} was deleted by {receipt['completed_at']}: {counts}." + "\n")
    if not pinned:
        sys.stdout.write(UNPINNED + "\n")
    return GENUINE


if __name__ == "__main__":
    sys.exit(main())
