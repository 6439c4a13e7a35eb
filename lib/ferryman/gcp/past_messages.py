"""The search of past messages in Firestore: a query over the words on the documents of the messages themselves."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ferryman.domain.conversations.past import CANDIDATES_MAX, MessageHit
from ferryman.gcp.conversations import MESSAGES
from ferryman.gcp.store import FirestoreStore, filter_by
from ferryman.selection.messages import COUNTS, TOTAL, WORDS, WORKSPACE, read_hit


class FirestorePastMessages(FirestoreStore):
    """`ports.PastMessages`."""

    async def find(
        self, words: Collection[str], *, workspace: str, conversation: str | None = None, most: int = CANDIDATES_MAX
    ) -> Sequence[MessageHit]:
        from google.cloud.firestore import Query

        if not words:
            return ()
        query = filter_by(self._client.collection_group(MESSAGES), (WORKSPACE, "==", workspace))
        if conversation is not None:
            query = filter_by(query, ("conversation", "==", conversation))
        query = filter_by(query, (WORDS, "array_contains_any", list(words)))
        newest = query.order_by("at", direction=Query.DESCENDING).limit(most)
        hits = []
        async for snapshot in newest.select(["conversation", "number", "at", WORDS, COUNTS, TOTAL]).stream():
            fields = snapshot.to_dict() or {}
            # anyone who may write documents may have a collection of this name: what is elsewhere is no message
            if snapshot.reference.path == f"conversations/{fields.get('conversation')}/{MESSAGES}/{snapshot.id}":
                hits.append(read_hit(fields["conversation"], fields["number"], fields["at"], fields))
        return hits
