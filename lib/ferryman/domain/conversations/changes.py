"""How a turn under way has changed, as JSON: what one process sends to another of it, batch by batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ferryman.domain.conversations.live import LiveBlock, LiveTurn
from ferryman.domain.conversations.window import count_shared


def write_change(before: LiveTurn | None, after: LiveTurn) -> dict[str, Any]:
    """Return what `after` has behind what both begin with: `blocks` replace all from `block` on, the first from `offset` on."""
    earlier: Sequence[LiveBlock] = before.blocks if before is not None and before.event == after.event else ()
    pairs = zip(earlier, after.blocks, strict=False)
    block = next((index for index, (old, new) in enumerate(pairs) if old != new), min(len(earlier), len(after.blocks)))
    offset = 0
    if block < min(len(earlier), len(after.blocks)):
        offset = count_shared(earlier[block].text, after.blocks[block].text)
    texts = [item.text for item in after.blocks[block:]]
    if texts:
        texts[0] = texts[0][offset:]
    blocks = [[*_name(item), text] for item, text in zip(after.blocks[block:], texts, strict=True)]
    return {"event": after.event, "block": block, "offset": offset, "blocks": blocks}


def apply_change(before: LiveTurn | None, change: Mapping[str, Any]) -> LiveTurn:
    """Return the turn that `write_change` was given after `before`. Raise ValueError where `change` is not of it."""
    try:
        event, block, offset, written = (change[name] for name in ("event", "block", "offset", "blocks"))
        blocks = [LiveBlock(str(text), str(call), str(name)) for call, name, text in written]
        earlier = before.blocks if before is not None and before.event == event else ()
        if not 0 <= block <= len(earlier):
            raise ValueError("it begins behind the end")
        if offset:
            blocks[0] = LiveBlock(earlier[block].text[:offset] + blocks[0].text, blocks[0].call, blocks[0].name)
        return LiveTurn(event=int(event), blocks=(*earlier[:block], *blocks))
    except (KeyError, IndexError, TypeError, ValueError):
        raise ValueError("this is no change of the turn under way") from None


def _name(block: LiveBlock) -> tuple[str, str]:
    return block.call, block.name
