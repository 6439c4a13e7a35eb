"""Receipts: an execution's chain of entries, and the public keys that verify them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from ferryman.domain.receipt import Receipt
from ferryman.serving.api.shapes.shape import Answered

Digest = Annotated[str, Field(description="A SHA-256 in hex", pattern="^[0-9a-f]{64}$")]
PublicKeys = dict[str, Annotated[str, Field(description="An Ed25519 public key in hex, by its version")]]


class Entry(Answered):
    """What every entry has: its place in the chain, and its signature over its hash."""

    execution: str
    number: int
    at: str
    previous: Digest
    key: int
    hash: Digest
    signature: str


class Opened(Entry):
    """The execution began."""

    kind: Literal["opened"]
    opening: Digest


class Planned(Entry):
    """The model asked for a call; `tool` is `?` where the task has no such tool."""

    kind: Literal["planned"]
    turn: int
    seq: int
    tool: str
    arguments: Digest


class Settled(Entry):
    """A call was answered, refused:REASON, failed, or is in_doubt; `credits` is its fee."""

    kind: Literal["settled"]
    turn: int
    seq: int
    tool: str
    result: Digest
    outcome: str
    credits: str


class Closed(Entry):
    """The execution ended: the last entry, of `count`."""

    kind: Literal["closed"]
    status: str
    output: Digest | None
    credits: str
    count: int


AnyEntry = Annotated[Opened | Planned | Settled | Closed, Field(discriminator="kind")]
_ENTRY: TypeAdapter[Opened | Planned | Settled | Closed] = TypeAdapter(AnyEntry)


class ReceiptChain(Answered):
    """What `verify_receipts.py` reads."""

    format: Literal["ferryman-receipts/1"] = "ferryman-receipts/1"
    execution: str
    entries: tuple[AnyEntry, ...]
    keys: PublicKeys


class ReceiptKeys(Answered):
    """The public keys that receipts are verified with, by version."""

    keys: PublicKeys


def chain(execution: str, entries: Iterable[Receipt], keys: Mapping[int, bytes]) -> ReceiptChain:
    """The chain of an execution as it is answered."""
    told: tuple[Any, ...] = tuple(_ENTRY.validate_python(each.shown()) for each in entries)
    return ReceiptChain(execution=execution, entries=told, keys=public(keys))


def public(keys: Mapping[int, bytes]) -> dict[str, str]:
    """Public keys as they are answered."""
    return {str(version): key.hex() for version, key in sorted(keys.items())}
