"""The tool `orchestrator__get_user_profile`: who asks, and what is kept of what they like (S4-69)."""

from __future__ import annotations

import json
from typing import Any

from ferryman.domain.workspaces.member import Right
from ferryman.ports.local_functions import build_user_id
from ferryman.tools.platform.call import PlatformCall, register_tool

PREFERENCES = ("taste", "dietary", "lifestyle")
"""The kinds of preferences, as the tool `save_preference` keeps them."""


async def get_user_profile(*, include_preferences: bool, db: PlatformCall, **_: Any) -> str:
    """Return the profile as JSON: of a person, or of the owner where no person asked. Raise `LocalFunctionError`."""
    db.check_right(Right.READ)
    person = db.execution.person
    profile: dict[str, Any] = {"id": person or db.owner, "is_owner": not person}
    if person:
        known = await db.deps.members.find_person(person, owner=db.owner)
        profile |= {"name": known.name if known else None}
        profile |= {"role": str(db.membership.role), "approves": db.membership.approves} if db.membership else {}
    else:
        profile["plan"] = (await db.find_plan()).name
    if include_preferences:
        user = build_user_id(db.execution.context)
        documents = {kind: await db.deps.user_documents.get(user, f"user_memory/{kind}") for kind in PREFERENCES}
        profile["preferences"] = {kind: (content or {}).get("preferences", []) for kind, (content, _) in documents.items()}
    return json.dumps(profile, ensure_ascii=False)


register_tool("orchestrator__get_user_profile", get_user_profile)
