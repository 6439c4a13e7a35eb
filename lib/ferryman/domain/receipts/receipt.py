"""Receipts: a hash chain of signed entries about an execution. They hold digests, never contents.

An entry is `opened`, `replied` (one for a turn), `planned` or `settled` (one of each for a call) or `closed`, the last one,
which tells how many there are. `covers` of an entry names parts of the record, each with the digest of its JSON: `execution`,
`opening`, `policy`, `steps/NUMBER`, `calls/SEQ`, `events/NUMBER`, `ledger/ID`. Together they are all of it.

Its hash is the SHA-256 of DOMAIN and the entry's canonical JSON without `hash` and `signature`; `previous` is the hash of the
entry before it, and GENESIS in the first; the signature is Ed25519 over the hash's 32 bytes.

Canonical JSON: members sorted by the code points of their names, no space between tokens, every character outside ASCII as
\\uXXXX (lower-case hex, UTF-16). Integers are written in full. Another number is the shortest text that reads back as the same
double, as Python writes it, always with a fraction or an exponent: 1, 1.0 and true are three values. One that is not finite has
no form. A digest is the SHA-256 of a value's canonical JSON.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from ferryman.domain.calls.call import ToolCallResult
from ferryman.domain.copies import replace

DOMAIN = b"ferryman/receipt/2\n"
GENESIS = "0" * 64
_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)


class ReceiptKind(StrEnum):
    """The event that an entry is about."""

    OPENED = "opened"
    REPLIED = "replied"
    PLANNED = "planned"
    SETTLED = "settled"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class Fact:
    """The content of an entry: its kind, its members (texts and whole numbers), and the parts of the record that it covers.

    `covers` are those parts by name, each as its JSON value in the record.
    """

    kind: ReceiptKind
    members: Mapping[str, Any]
    covers: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The end of a chain: the number of its entries, and the hash of the last."""

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

    def to_json(self) -> dict[str, Any]:
        """Return the entry as one JSON object, in the form that verifiers read."""
        return {**self._to_unsigned_json(), "hash": self.hash, "signature": self.signature}

    def digest(self) -> bytes:
        """Compute the entry's hash."""
        return hashlib.sha256(DOMAIN + canonicalize(self._to_unsigned_json())).digest()

    def _to_unsigned_json(self) -> dict[str, Any]:
        where = {"execution": self.execution, "number": self.number, "kind": self.kind.value, "at": self.at}
        return {**where, **self.members, "previous": self.previous, "key": self.key}


def append_receipts(
    head: Head, facts: Iterable[Fact], *, execution: str, at: datetime, key: int, sign: Callable[[bytes], bytes]
) -> tuple[tuple[Receipt, ...], Head]:
    """Return the signed entries of `facts`, chained to `head`, and the new head."""
    receipts: list[Receipt] = []
    moment = format_moment(at)
    for fact in facts:
        members = {**fact.members, "covers": {name: digest_value(part) for name, part in fact.covers.items()}}
        draft = Receipt(
            execution=execution, number=head.count, kind=fact.kind, at=moment, members=members, previous=head.hash, key=key
        )
        digest = draft.digest()
        receipts.append(replace(draft, hash=digest.hex(), signature=sign(digest).hex()))
        head = Head(count=head.count + 1, hash=digest.hex())
    return tuple(receipts), head


def classify_outcome(result: ToolCallResult, *, in_doubt: bool) -> str:
    """Return the outcome of a call: answered, refused:REASON, failed, or `in_doubt`."""
    if result.blocked:
        return f"refused:{result.block_reason}"
    if result.ok or result.response_status is not None:
        return "answered"
    return "in_doubt" if in_doubt else "failed"


def format_moment(moment: datetime) -> str:
    """Return `moment` as receipts write it: UTC, to the microsecond."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def digest_value(value: Any) -> str:
    """Return the SHA-256 of the canonical JSON of `value`, in hex."""
    return hashlib.sha256(canonicalize(value)).hexdigest()


def canonicalize(value: Any) -> bytes:
    """Return `value` as canonical JSON. Raise ValueError for a number that is not finite."""
    return _CANONICAL.encode(value).encode("ascii")
