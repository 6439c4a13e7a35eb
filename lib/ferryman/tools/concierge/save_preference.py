"""The tool `save_preference`: what a user likes, eats or does, kept in the user's memory (S2-12)."""

from __future__ import annotations

from typing import Any

from ferryman.domain.owners.user_changes import UserChangesError
from ferryman.tools.concierge.unit_of_work import UnitOfWork
from ferryman.tools.local_function.execute import LocalFunctionError
from ferryman.tools.local_function.registry import register

PREFERENCES_MAX = 50
"""How many preferences of a kind are kept: the latest, and fewer where they do not fit into one document."""


async def save_preference(*, kind: str, preference: str, db: UnitOfWork, **_: Any) -> str:
    """Keep a preference, once. Raise `LocalFunctionError`, which says what is wrong.

    What is kept may be a host's words, which a model was made to save: no result repeats it outside of a frame.
    """
    text = " ".join(preference.split())
    if not text:
        raise LocalFunctionError("preference: a text is needed", code="invalid_arguments")
    path = f"user_memory/{kind}"
    known = (await db.get(path) or {}).get("preferences", [])
    preferences = [*(other for other in known if other != text), text][-PREFERENCES_MAX:]
    _add_latest(db, path, preferences)
    return f"Saved. Preferences of this kind: {len(preferences)}."


def _add_latest(db: UnitOfWork, path: str, preferences: list[str]) -> None:
    """Write the latest of `preferences` that fit into one document, and delete the others from the list."""
    while True:
        try:
            return db.add(path, {"preferences": preferences})
        except UserChangesError:
            if len(preferences) == 1:
                raise
            del preferences[0]


register("save_preference", save_preference)
