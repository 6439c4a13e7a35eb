"""Receipts: what an execution did, entry by entry, each bound to the one before it and signed; digests, never contents.

An entry is `opened`, `replied` (one for a turn), `planned` or `settled` (one of each for a call) or `closed`, the last one,
which tells how many there are. `covers` of an entry names parts of the record, each with the digest of what the record shows
there: `execution`, `opening`, `policy`, `steps/NUMBER`, `calls/SEQ`, `events/NUMBER`, `ledger/ID`. Together they are all of it.

Its hash is the SHA-256 of DOMAIN and the entry's canonical JSON without `hash` and `signature`; `previous` is the hash of the
entry before it, and GENESIS in the first; the signature is Ed25519 over the hash's 32 bytes.

Canonical JSON: members sorted by the code points of their names, no space between tokens, every character outside ASCII as
\\uXXXX (lower-case hex, UTF-16). Integers are written in full. Another number is the shortest text that reads back as the same
double, as Python writes it, always with a fraction or an exponent: 1, 1.0 and true are three values. One that is not finite
has no form. A digest is the SHA-256 of a value's canonical JSON.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from ferryman.domain.calls.call import ToolCallResult, is_outcome_unknown

DOMAIN = b"ferryman/receipt/2\n"
GENESIS = "0" * 64


class ReceiptKind(StrEnum):
    """What an entry tells of."""

    OPENED = "opened"
    REPLIED = "replied"
    PLANNED = "planned"
    SETTLED = "settled"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class Fact:
    """What an entry says: its kind, the members that belong to it (texts and whole numbers), and what it covers.

    `covers` are parts of the record by name, each as the JSON value that the record shows.
    """

    kind: ReceiptKind
    members: Mapping[str, Any]
    covers: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """Where a chain ends: how many entries it has, and the hash of the last."""

    count: int = 0
    hash: str = GENESIS


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """One entry. `at` is UTC to the microsecond, `key` the version of the signing key; hashes and signature are hex."""

    execution: str
    number: int
    kind: ReceiptKind
    at: str
    members: Mapping[str, Any]
    previous: str
    key: int
    hash: str = ""
    signature: str = ""

    def shown(self) -> dict[str, Any]:
        """The entry as one JSON object, as it is handed out and verified."""
        return {**self._signed(), "hash": self.hash, "signature": self.signature}

    def digest(self) -> bytes:
        """The entry's hash, worked out."""
        return hashlib.sha256(DOMAIN + canonicalize(self._signed())).digest()

    def _signed(self) -> dict[str, Any]:
        where = {"execution": self.execution, "number": self.number, "kind": self.kind.value, "at": self.at}
        return {**where, **self.members, "previous": self.previous, "key": self.key}


def append_receipts(
    head: Head, facts: Iterable[Fact], *, execution: str, at: datetime, key: int, sign: Callable[[bytes], bytes]
) -> tuple[tuple[Receipt, ...], Head]:
    """The entries for `facts`, chained on to `head` and signed, and the head they lead to."""
    made: list[Receipt] = []
    for fact in facts:
        draft = Receipt(
            execution=execution,
            number=head.count,
            kind=fact.kind,
            at=at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            members={**fact.members, "covers": {name: digest_value(shown) for name, shown in fact.covers.items()}},
            previous=head.hash,
            key=key,
        )
        found = draft.digest()
        made.append(replace(draft, hash=found.hex(), signature=sign(found).hex()))
        head = Head(count=head.count + 1, hash=found.hex())
    return tuple(made), head


def classify_outcome(result: ToolCallResult) -> str:
    """What came of a call, in a word: answered, refused:REASON, failed, or in_doubt."""
    if result.blocked:
        return f"refused:{result.block_reason}"
    if result.response_status is not None:
        return "answered"
    return "in_doubt" if is_outcome_unknown(result) else "failed"


def digest_value(value: Any) -> str:
    """The SHA-256 of the canonical JSON of `value`, in hex."""
    return hashlib.sha256(canonicalize(value)).hexdigest()


def canonicalize(value: Any) -> bytes:
    """Return `value` as canonical JSON. Raises ValueError for a number that is not finite."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode("ascii")
