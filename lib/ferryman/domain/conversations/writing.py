"""The text of a turn while the model writes it: what was shown of each block, and what is still to be decided."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ferryman.domain.conversations.live import LiveBlock
from ferryman.domain.conversations.window import WindowPart
from ferryman.domain.executions.message import Block, ReplyDelta
from ferryman.domain.json_tree import replace_halves

HALVES = ("\ud800", "\udbff")
"""The first halves of characters that JSON writes in two (RFC 8259, section 7): a delta may end between them."""


class WrittenBlock:
    """One block under way. Of a call that is scanned, `head` comes before its arguments: the model wrote its names, too."""

    def __init__(self, delta: ReplyDelta, *, is_scanned: bool) -> None:
        self._call, self._name = replace_halves(delta.call), replace_halves(delta.name)
        self.head = f"{self._call} {self._name} " if self._call and is_scanned else ""
        self._visible: list[str] = []
        self._undecided: list[str] = [self.head]
        self._half = ""

    @property
    def undecided(self) -> str:
        """What is not shown yet."""
        return "".join(self._undecided)

    @property
    def is_shown(self) -> bool:
        """Whether anything of it may be shown: of a call, its names."""
        return not self.head

    def add(self, text: str) -> None:
        """Add what follows. Half of a character waits for its other half, and one without it is replaced: no store has it."""
        text, self._half = self._half + text, ""
        if text[-1:] >= HALVES[0] and text[-1:] <= HALVES[1]:
            text, self._half = text[:-1], text[-1]
        self._undecided.append(replace_halves(text))

    def decide(self, part: WindowPart) -> None:
        """Show the decided beginning of what was undecided. Names that hold a credential are never shown, nor what follows."""
        if not part.text.startswith(self.head):
            return
        rest = self.undecided[part.decided :]
        self._visible.append(part.text.removeprefix(self.head))
        self.head, self._undecided = "", [rest]

    @property
    def text(self) -> str:
        """All of a text that was written, whether it is shown or not; of a call, nothing."""
        return "" if self._call else "".join((*self._visible, *self._undecided))

    def read(self) -> LiveBlock:
        """Return it as it is shown."""
        self._visible = ["".join(self._visible)]
        return LiveBlock(self._visible[0], self._call, self._name)


class WrittenTurn:
    """The blocks of a turn under way, by the model's own numbers of them."""

    def __init__(self, *, is_scanned: bool) -> None:
        self._is_scanned = is_scanned
        self._blocks: dict[int, WrittenBlock] = {}

    def add(self, delta: ReplyDelta) -> None:
        """Add what the model has just written."""
        block = self._blocks.get(delta.index)
        if block is None:
            block = self._blocks[delta.index] = WrittenBlock(delta, is_scanned=self._is_scanned)
        block.add(delta.text)

    def list_undecided(self) -> list[str]:
        """Return what is not shown yet of each block, in their order."""
        return [block.undecided for block in self._blocks.values()]

    def decide(self, parts: Sequence[WindowPart]) -> None:
        """Show the decided beginning of each of the first blocks: those that there were when the scan began."""
        for block, part in zip(self._blocks.values(), parts, strict=False):
            block.decide(part)

    def decide_all(self) -> None:
        """Show everything."""
        self.decide([WindowPart(text, len(text)) for text in self.list_undecided()])

    def list_texts(self) -> list[str]:
        """Return the texts that were written, as far as they came: some of it is scanned, and some is not."""
        return [block.text for block in self._blocks.values() if block.text]

    def read(self) -> tuple[LiveBlock, ...]:
        """Return what is shown: no block behind one of which nothing may be shown yet."""
        blocks: list[LiveBlock] = []
        for block in self._blocks.values():
            if not block.is_shown:
                break
            blocks.append(block.read())
        return tuple(blocks)


def render_blocks(content: Sequence[Block]) -> tuple[LiveBlock, ...]:
    """Return the texts and calls of a turn's content as blocks that the model has written to their end."""
    return tuple(
        LiveBlock(str(block["text"]))
        if block["type"] == "text"
        else LiveBlock(json.dumps(block["input"], ensure_ascii=False), str(block["id"]), str(block["name"]))
        for block in content
        if block["type"] in ("text", "tool_use")
    )
