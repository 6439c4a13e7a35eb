"""The tool `save_preference`: kept once, for the user, with what was kept before."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from ferryman.composition.concierge import TOOLS
from ferryman.domain.calls.call import ToolCall
from ferryman.domain.owners.user_changes import UserChanges
from ferryman.inmemory.memory import Memory
from ferryman.inmemory.user_documents import MemoryUserDocuments
from ferryman.tools.concierge.save_preference import PREFERENCES_MAX
from ferryman.tools.concierge.unit_of_work import UnitOfWork
from ferryman.tools.local_function.execute import answer

USER = UUID(int=1)
assert "save_preference" in TOOLS


async def save(memory: Memory, **arguments: Any) -> tuple[str, UserChanges]:
    """Return what the executor says, and what of the user's documents would change."""
    db = UnitOfWork(MemoryUserDocuments(memory), str(USER))
    answered = await answer(ToolCall(id="c", name="save_preference", arguments=arguments), USER, db)
    return answered.content, db.close(failed=answered.code is not None)


def build_memory(*preferences: str) -> Memory:
    memory = Memory()
    memory.user_documents[str(USER), "user_memory/taste"] = ({"preferences": list(preferences)}, "v1")
    return memory


async def test_the_tool_answers() -> None:
    content, changes = await save(build_memory("rye bread"), kind="taste", preference="  green\n tea ")
    assert content == "Saved. Preferences of this kind: 2."
    assert changes == UserChanges(
        {"user_memory/taste": "v1"}, {"user_memory/taste": {"preferences": ["rye bread", "green tea"]}}
    )


async def test_the_tool_says_what_is_wrong() -> None:
    assert await save(Memory(), kind="music", preference="jazz") == (
        "Error: 'kind' for save_preference must be one of taste, dietary, lifestyle",
        UserChanges(),
    )
    assert await save(Memory(), kind="taste", preference=" ") == ("Error: preference: a text is needed", UserChanges())


async def test_the_first_preference_is_kept_and_a_preference_is_kept_once() -> None:
    assert (await save(Memory(), kind="taste", preference="tea"))[0] == "Saved. Preferences of this kind: 1."
    assert (await save(build_memory("tea", "rye"), kind="taste", preference="tea"))[0] == "Saved. Preferences of this kind: 2."


async def test_the_latest_preferences_are_kept() -> None:
    known = [f"p{number}" for number in range(PREFERENCES_MAX)]
    _, changes = await save(build_memory(*known), kind="taste", preference="new")
    document = changes.writes["user_memory/taste"]
    assert document is not None
    assert document["preferences"] == [*known[1:], "new"]


@pytest.mark.parametrize("arguments", [{}, {"kind": "taste"}, {"preference": "tea"}])
async def test_missing_arguments_change_nothing(arguments: dict[str, Any]) -> None:
    content, changes = await save(Memory(), **arguments)
    assert content.endswith(" field required for save_preference")
    assert changes == UserChanges()


async def test_a_user_that_the_model_names_is_not_believed() -> None:
    content, changes = await save(build_memory("tea"), kind="taste", preference="rye", user_id="another", db="another")
    assert content == "Saved. Preferences of this kind: 2."
    assert list(changes.writes) == ["user_memory/taste"]


async def test_fewer_are_kept_where_they_do_not_fit_into_one_document() -> None:
    known = [f"{number:02d}{'茶' * 998}" for number in range(10)]
    content, changes = await save(build_memory(*known), kind="taste", preference="新" * 1_000)
    document = changes.writes["user_memory/taste"]
    assert document is not None
    assert (content, document["preferences"][-2:]) == ("Saved. Preferences of this kind: 10.", [known[-1], "新" * 1_000])
