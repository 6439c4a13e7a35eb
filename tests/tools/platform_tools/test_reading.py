"""What the platform's tools tell of a person, a workspace, its conversations and its past messages."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from ferryman.domain.conversations.conversation import Conversation
from ferryman.domain.conversations.message import Message, Speaker
from ferryman.domain.workspaces.member import Role
from ferryman.domain.workspaces.names import derive_default_agent
from ferryman.domain.workspaces.person import Person
from ferryman.ports.local_functions import derive_user_id
from tests.tools.platform_tools.rig import CALLER, Rig, read_content, read_failure


@pytest.fixture
async def rig(monkeypatch: pytest.MonkeyPatch) -> Rig:
    monkeypatch.setenv("FERRYMAN_CALLERS", f'["{CALLER}"]')
    rig = await Rig().fill()
    say(rig, "conv_1", "The night ferry to Harwich sails at 21:40.", "Booked as 4711.")
    say(rig, "conv_2", "Which ferry has cabins?", "All of them. " * 40 + "The ferry to Harwich has large cabins.")
    say(rig, "conv_3", "The ferry of another workspace.", workspace="ws_b")
    return rig


def say(rig: Rig, name: str, *texts: str, workspace: str = "ws_a") -> None:
    """Store a conversation of these messages."""
    now = rig.clock.now()
    rig.memory.conversations[name] = Conversation(
        id=name,
        owner="ann",
        workspace=workspace,
        agent=derive_default_agent(workspace),
        task=f"task_{workspace}",
        title=name.upper(),
        last=len(texts),
        created_at=now + timedelta(seconds=len(rig.memory.conversations)),
        updated_at=now,
    )
    rig.memory.messages[name] = {
        number: Message(
            conversation=name,
            number=number,
            parent=number - 1,
            role=Speaker.USER if number % 2 else Speaker.ASSISTANT,
            at=now + timedelta(seconds=number),
            content=text,
        )
        for number, text in enumerate(texts, 1)
    }


async def search(rig: Rig, query: str, **arguments: object) -> list[tuple[str, int]]:
    answer = read_content(await rig.call("orchestrator__search_past_messages", {"query": query, **arguments}))
    return [(row["conversation_id"], row["message"]) for row in answer["results"]]


async def test_messages_are_searched_by_the_stems_of_their_words_the_best_first(rig: Rig) -> None:
    assert await search(rig, "when do ferries sail to Harwich") == [("conv_1", 1), ("conv_2", 2), ("conv_2", 1)]


async def test_a_number_is_searched_for_too(rig: Rig) -> None:
    assert await search(rig, "4711") == [("conv_1", 2)]


async def test_the_search_is_held_to_one_conversation_and_to_a_number_of_results(rig: Rig) -> None:
    assert await search(rig, "ferry Harwich", in_conversation="conv_2") == [("conv_2", 2), ("conv_2", 1)]
    assert await search(rig, "ferry Harwich", limit=1) == [("conv_1", 1)]


async def test_a_result_shows_the_text_around_the_first_word(rig: Rig) -> None:
    answer = await rig.call("orchestrator__search_past_messages", {"query": "large cabins", "in_conversation": "conv_2"})
    first = read_content(answer)["results"][0]
    assert (first["role"], first["conversation_title"], first["text"][:2]) == ("assistant", "CONV_2", "… ")
    assert first["text"].endswith("The ferry to Harwich has large cabins.")


async def test_a_conversation_that_is_being_deleted_is_not_found(rig: Rig) -> None:
    rig.memory.conversations["conv_1"] = replace(rig.memory.conversations["conv_1"], is_deleting=True)
    assert await search(rig, "4711") == []


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"query": ""}, "Error: query: must have 1 to 1,000 characters"),
        ({"query": "x" * 1_001}, "Error: query: must have 1 to 1,000 characters"),
        ({"query": "the of and"}, "Error: query: has no word to search for"),
        ({"query": "ferry", "in_conversation": "conv_3"}, "Error: in_conversation: there is no such conversation"),
        ({"query": "ferry", "in_conversation": "a/b"}, "Error: in_conversation: there is no such conversation"),
    ],
)
async def test_what_cannot_be_searched_is_explained(rig: Rig, arguments: dict[str, str], expected: str) -> None:
    assert read_failure(await rig.call("orchestrator__search_past_messages", arguments)) == expected


async def test_the_conversations_of_the_workspace_are_listed_the_newest_first(rig: Rig) -> None:
    listed = read_content(await rig.call("orchestrator__list_conversations", {"limit": 1}))
    assert ([row["id"] for row in listed["conversations"]], listed["has_more"]) == (["conv_2"], True)
    every = read_content(await rig.call("orchestrator__list_conversations"))
    assert ([row["id"] for row in every["conversations"]], every["has_more"]) == (["conv_2", "conv_1"], False)


async def test_the_workspace_is_told_with_its_agents_or_without(rig: Rig) -> None:
    info = read_content(await rig.call("orchestrator__get_workspace_info"))
    assert (info["id"], info["name"], [agent["is_asking"] for agent in info["agents"]]) == ("ws_a", "ws_a", [True])
    assert "agents" not in read_content(await rig.call("orchestrator__get_workspace_info", {"include_agents": False}))


async def test_a_person_is_told_with_name_role_and_preferences_and_nobody_else(rig: Rig) -> None:
    await rig.join("eve", Role.OPERATOR)
    rig.memory.people["eve"] = Person(id="eve", owner="ann", name="Eve", created_at=rig.clock.now())
    user = derive_user_id("eve", owner="ann", workspace="ws_a")
    rig.memory.user_documents[user, "user_memory/dietary"] = ({"preferences": ["vegan"]}, "1")
    await rig.run("exec_eve", "ws_a", person="eve")
    profile = read_content(await rig.call("orchestrator__get_user_profile", user="eve", execution="exec_eve"))
    assert (profile["name"], profile["role"], profile["is_owner"]) == ("Eve", "operator", False)
    assert profile["preferences"] == {"taste": [], "dietary": ["vegan"], "lifestyle": []}
    owner = read_content(await rig.call("orchestrator__get_user_profile"))
    assert (owner["id"], owner["is_owner"], owner["preferences"]["dietary"]) == ("ann", True, [])
