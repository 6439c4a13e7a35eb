"""The search of past messages in memory."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ferryman.domain.conversations.past import CANDIDATES_MAX, MessageHit
from ferryman.inmemory.memory import MemoryStore
from ferryman.selection.messages import index_message, read_hit


class MemoryPastMessages(MemoryStore):
    """`ports.PastMessages`."""

    async def find(
        self, words: Collection[str], *, workspace: str, conversation: str | None = None, most: int = CANDIDATES_MAX
    ) -> Sequence[MessageHit]:
        query_words, hits = set(words), []
        for name, messages in self._memory.messages.items():
            stored = self._memory.conversations.get(name)
            if stored is None or stored.workspace != workspace or conversation not in (None, name):
                continue
            for number, message in messages.items():
                fields = index_message(message, workspace=workspace)
                if fields and not query_words.isdisjoint(fields["words"]):
                    hits.append(read_hit(name, number, message.at, fields))
        return sorted(hits, key=lambda hit: hit.at, reverse=True)[:most]
