"""Receipts: an execution's chain of entries, and the public keys that verify them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from ferryman.domain.receipts.receipt import Receipt
from ferryman.serving.api.shapes.shape import ListPage, ParentCall, ResponseShape

FORMAT: Literal["ferryman-receipts/2"] = "ferryman-receipts/2"

Digest = Annotated[str, Field(description="A SHA-256 in hex", pattern="^[0-9a-f]{64}$")]
Covers = dict[str, Annotated[str, Field(description="The digest of a part of the record, by its name")]]
PublicKeys = dict[str, Annotated[str, Field(description="An Ed25519 public key in hex, by its version")]]


class ReceiptEntry(ResponseShape):
    """What every entry has: its place in the chain, and its signature over its hash."""

    execution: str
    number: int
    at: str
    previous: Digest
    covers: Covers
    key: int
    hash: Digest
    signature: str


class OpenedEntry(ReceiptEntry):
    """The execution began, in this workspace, by this agent, for the person that is named: nobody where it began by itself.

    Entries from before there were workspaces name none.
    """

    kind: Literal["opened"]
    workspace: str | None = None
    agent: str | None = None
    person: str | None = None
    conversation: str | None = None


class RepliedEntry(ReceiptEntry):
    """The model replied, and its turn was committed."""

    kind: Literal["replied"]
    turn: int


class PlannedEntry(ReceiptEntry):
    """The model asked for a call, or call `parent` did; `tool` is `?` where the task has no such tool."""

    kind: Literal["planned"]
    turn: int
    seq: int
    parent: ParentCall
    tool: str


class SettledEntry(ReceiptEntry):
    """A call was answered, refused:REASON, failed, or is in_doubt; `credits` is its fee.

    Of one that a person was asked about there are `approval` and the `digest` of what was asked or sent; of one that was sent
    also who approved it, for how many sends, `approved_as` where that was beforehand, and the digest of what was declassified.
    """

    kind: Literal["settled"]
    turn: int
    seq: int
    parent: ParentCall
    tool: str
    outcome: str
    credits: str
    approval: str | None = None
    digest: str | None = None
    approved_by: str | None = None
    approved_as: Literal["standing"] | None = None
    approved_for: str | None = None
    declassified: Digest | None = None


class ClosedEntry(ReceiptEntry):
    """The execution ended: the last entry, of `count`. `cancelled_by` is the person who cancelled it, or `owner`."""

    kind: Literal["closed"]
    status: str
    credits: str
    count: int
    cancelled_by: str | None = None


AnyEntry = Annotated[OpenedEntry | RepliedEntry | PlannedEntry | SettledEntry | ClosedEntry, Field(discriminator="kind")]
ENTRY: TypeAdapter[Any] = TypeAdapter(AnyEntry)
"""Reads an entry that was answered."""


class ReceiptChain(ListPage):
    """A page of the chain; one without a further page is the whole chain, as `verify_receipts.py` reads it."""

    format: Literal["ferryman-receipts/2"]
    execution: str
    entries: tuple[AnyEntry, ...]
    keys: PublicKeys


class ReceiptKeysResponse(ResponseShape):
    """The public keys that receipts are verified with, by version."""

    keys: PublicKeys


def to_chain(execution: str, entries: Iterable[Receipt], keys: Mapping[str, str], following: str | None = None) -> ReceiptChain:
    """Return the response for a page of the chain of an execution; `following` is the cursor of the next one, and `keys` are
    public keys in hex by version."""
    documents = [entry.to_json() for entry in entries]
    chain = {"format": FORMAT, "execution": execution, "entries": documents, "keys": dict(keys), "next": following}
    return ReceiptChain.model_validate(chain)


def to_public_keys(keys: Mapping[int, bytes]) -> dict[str, str]:
    """Return public keys in hex, by version."""
    return {str(version): key.hex() for version, key in sorted(keys.items())}
