"""Receipts: what an execution did, entry by entry, each bound to the one before it and signed; digests, never contents.

An entry is `opened`, `planned` or `settled` (one of each for a call) or `closed`, the last one, which tells how many there are.
Its hash is the SHA-256 of DOMAIN and the entry's canonical JSON without `hash` and `signature`; `previous` is the hash of the
entry before it, and GENESIS in the first; the signature is Ed25519 over the hash's 32 bytes.

Canonical JSON: members sorted by the code points of their names, no space between tokens, every character outside ASCII as
\\uXXXX (lower-case hex, UTF-16). Integers stand in full. Another number is the shortest text that reads back as the same
double, as Python writes it, but one without a fraction and below 2**53 in size stands as an integer, and one that is not
finite as null: so a number reads the same wherever it went as JSON. A digest is the SHA-256 of a value's canonical JSON.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any

from ferryman.domain.call import ToolCallResult, unknown

DOMAIN = b"ferryman/receipt/1\n"
GENESIS = "0" * 64
WHOLE_MAX = 2**53


class Kind(StrEnum):
    """What an entry tells of."""

    OPENED = "opened"
    PLANNED = "planned"
    SETTLED = "settled"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class Fact:
    """What an entry says: its kind, and the members that belong to it. Texts, whole numbers and digests."""

    kind: Kind
    members: Mapping[str, Any]


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
    kind: Kind
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
        return hashlib.sha256(DOMAIN + canonical(self._signed())).digest()

    def _signed(self) -> dict[str, Any]:
        where = {"execution": self.execution, "number": self.number, "kind": self.kind.value, "at": self.at}
        return {**where, **self.members, "previous": self.previous, "key": self.key}


def entered(
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
            members=fact.members,
            previous=head.hash,
            key=key,
        )
        found = draft.digest()
        made.append(replace(draft, hash=found.hex(), signature=sign(found).hex()))
        head = Head(count=head.count + 1, hash=found.hex())
    return tuple(made), head


def outcome(result: ToolCallResult) -> str:
    """What came of a call, in a word: answered, refused:REASON, failed, or in_doubt."""
    if result.blocked:
        return f"refused:{result.block_reason}"
    if result.response_status is not None:
        return "answered"
    return "in_doubt" if unknown(result) else "failed"


def plain(amount: Decimal) -> str:
    """Credits as an entry writes them: a plain decimal without trailing zeros."""
    return f"{amount.normalize():f}"


def result_digest(result: ToolCallResult) -> str:
    """The digest of a result: of its ten fields, as the API shows them."""
    return digest(asdict(result))


def digest(value: Any) -> str:
    """The SHA-256 of the canonical JSON of `value`, in hex."""
    return hashlib.sha256(canonical(value)).hexdigest()


def canonical(value: Any) -> bytes:
    """`value` as canonical JSON."""
    return json.dumps(_even(value), sort_keys=True, separators=(",", ":")).encode("ascii")


def _even(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _even(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_even(inner) for inner in value]
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        return int(value) if value.is_integer() and abs(value) < WHOLE_MAX else value
    return value
