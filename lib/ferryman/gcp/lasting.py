"""What is stored below an execution outlasts its waits for people: it expires, as ever, with the execution's own document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ferryman.domain.executions.execution import Execution
from ferryman.gcp.places import Places
from ferryman.gcp.retention import EXPIRE_AT
from ferryman.gcp.store import Reference, filter_by

AT_ONCE = 400
"""How many documents one commit changes."""

LIVE = "live"
"""The name of the turn under way, which may be deleted at any moment."""


async def set_expiry_below(client: Any, execution: Execution, expiry: Mapping[str, Any]) -> None:
    """Have all documents below an execution, its approvals and the question that it answers expire as `expiry` says, and its
    conversation not before; where it is empty, change nothing."""
    if not expiry:
        return
    places = Places(client)
    execution_at = places.locate_execution(execution.id)
    approvals = filter_by(client.collection("approvals"), ("execution", "==", execution.id))
    references: list[Reference] = []
    for query in (execution_at.collection("calls"), execution_at.collection("steps"), approvals):
        references += [snapshot.reference async for snapshot in query.select([]).stream() if snapshot.id != LIVE]
    if execution.answer:
        conversation_at = places.locate_conversation(execution.conversation)
        question_at = places.locate_message(execution.conversation, execution.question)
        conversation, question = [await at.get(field_paths=[EXPIRE_AT]) for at in (conversation_at, question_at)]
        references += [question_at] if question.exists else []
        is_later = conversation.exists and (conversation.to_dict() or {}).get(EXPIRE_AT, expiry[EXPIRE_AT]) >= expiry[EXPIRE_AT]
        references += [conversation_at] if conversation.exists and not is_later else []
    for first in range(0, len(references), AT_ONCE):
        batch = client.batch()
        for reference in references[first : first + AT_ONCE]:
            batch.update(reference, dict(expiry))
        await batch.commit()
