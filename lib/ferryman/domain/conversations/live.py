"""The turn under way, as it is shown while the model writes it, and the position up to which a watcher has seen it.

No log of deltas is stored. A position names what was seen by its length and digest, so that anyone who has the text (live,
stored once a second, or committed as a turn) can tell whether it goes on from there or has to be shown again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

DIGEST_DIGITS = 12


@dataclass(frozen=True, slots=True)
class LiveBlock:
    """A block that the model is writing: a text, or the arguments of a call as JSON, which may break off.

    `call` and `name` are the id of a call and of its tool; "" for a text. What is here may be shown: it was scanned.
    """

    text: str = field(repr=False)
    call: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveTurn:
    """The turn that is being written: the number that its event will have, and its blocks so far, in order."""

    event: int
    blocks: tuple[LiveBlock, ...] = ()


@dataclass(frozen=True, slots=True)
class LivePosition:
    """A place in a turn: `offset` characters of block `block` were seen, and all of the blocks before; `digest` is theirs."""

    block: int
    offset: int
    digest: str


def locate_end(blocks: Sequence[LiveBlock]) -> LivePosition:
    """Return the position at the end of `blocks`; of none, that before the first."""
    if not blocks:
        return LivePosition(0, 0, digest_seen((), ""))
    return LivePosition(len(blocks) - 1, len(blocks[-1].text), digest_seen(blocks[:-1], blocks[-1].text, blocks[-1]))


def is_continued(blocks: Sequence[LiveBlock], seen: LivePosition) -> bool:
    """Tell whether `blocks` begin with what was seen: then they go on from there, and have to be shown again else."""
    if seen.block >= len(blocks):
        return seen == locate_end(())
    block = blocks[seen.block]
    if seen.offset > len(block.text):
        return False
    seen_of_block = None if seen == locate_end(()) else block
    return seen.digest == digest_seen(blocks[: seen.block], block.text[: seen.offset], seen_of_block)


def is_part(turn: LiveTurn, newest: LiveTurn) -> bool:
    """Tell whether `newest` is the same turn, and has more of it."""
    if turn.event != newest.event or turn == newest:
        return False
    last = len(turn.blocks) - 1
    if last < 0:
        return True
    if last >= len(newest.blocks) or turn.blocks[:last] != newest.blocks[:last]:
        return False
    block, more = turn.blocks[last], newest.blocks[last]
    return (block.call, block.name) == (more.call, more.name) and more.text.startswith(block.text)


def digest_seen(before: Sequence[LiveBlock], text: str, block: LiveBlock | None = None) -> str:
    """Return the digest of what was seen of a turn: whole blocks, and the beginning of one more (SHA-256, shortened)."""
    hashed = hashlib.sha256()
    for whole in before:
        hashed.update(_encode(whole, whole.text))
    if block is not None:
        hashed.update(_encode(block, text))
    return hashed.hexdigest()[:DIGEST_DIGITS]


def _encode(block: LiveBlock, text: str) -> bytes:
    # no field holds a zero character: the store takes none
    return f"{block.call}\0{block.name}\0{text}\0".encode(errors="surrogatepass")
