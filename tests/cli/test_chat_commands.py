"""The commands of `ferryman chat` that begin with a slash, on an API on doubles."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from ferryman.cli.chat_commands import ChatSession, run_command
from ferryman.cli.commands import ApiSession
from ferryman.cli.screen import Screen
from ferryman.client import AsyncClient
from ferryman.inmemory.clock import ManualClock


@pytest.fixture
async def talk(service: dict[str, str], clock: ManualClock) -> AsyncIterator[ChatSession]:
    clock.turn(60)  # what is typed comes a minute after the last, and so within every rate
    async with AsyncClient(service["FERRYMAN_URL"], service["FERRYMAN_KEY"], workspace="") as client:
        session = ApiSession(client=client, screen=Screen())
        options = {"agent": None, "task": None, "model": None, "enable_tools": True, "files": []}
        yield ChatSession(session, conversation="conv_ann", **options)


async def test_the_model_and_the_tools_of_the_next_answers_are_chosen(talk: ChatSession) -> None:
    assert not await run_command(talk, "/model claude-haiku-4-5")
    assert not await run_command(talk, "/tools off")
    assert (talk.model, talk.enable_tools) == ("claude-haiku-4-5", False)
    await run_command(talk, "/model")
    await run_command(talk, "/tools on")
    assert (talk.model, talk.enable_tools) == (None, True)


async def test_what_is_typed_after_tools_is_on_or_off(talk: ChatSession, capsys: pytest.CaptureFixture[str]) -> None:
    await run_command(talk, "/tools some")
    assert ("give /tools on or /tools off" in capsys.readouterr().err, talk.enable_tools) == (True, True)


async def test_the_cost_is_that_of_the_answers_of_the_branch(talk: ChatSession, capsys: pytest.CaptureFixture[str]) -> None:
    await run_command(talk, "/cost")
    assert capsys.readouterr().out == "0 credits for 1 answer of this branch\n"


async def test_a_conversation_is_renamed(talk: ChatSession) -> None:
    before = (await talk.session.client.get_conversation("conv_ann"))["title"]
    await run_command(talk, "/title Ferries in winter")
    assert (await talk.session.client.get_conversation("conv_ann"))["title"] == "Ferries in winter"
    await run_command(talk, f"/title {before}")


async def test_a_title_that_is_refused_is_an_error_and_the_conversation_goes_on(
    talk: ChatSession, capsys: pytest.CaptureFixture[str]
) -> None:
    assert not await run_command(talk, f"/title {'x' * 101}")
    assert "title: String should have at most 100 characters" in capsys.readouterr().err


async def test_a_conversation_is_written_to_a_file(talk: ChatSession, tmp_path: Path) -> None:
    await run_command(talk, f"/export {tmp_path / 'talk.md'}")
    assert (tmp_path / "talk.md").read_text().startswith("# Ferries\n")


async def test_a_file_that_cannot_be_written_is_an_error(
    talk: ChatSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await run_command(talk, f"/export {tmp_path}")
    assert "cannot be written: Is a directory" in capsys.readouterr().err


async def test_what_is_not_known_is_answered_with_what_is(talk: ChatSession, capsys: pytest.CaptureFixture[str]) -> None:
    assert not await run_command(talk, "/nonsense")
    out = capsys.readouterr().out
    assert out.startswith("/nonsense is not known here.\n")
    assert "/retry" in out


async def test_quit_ends_the_conversation(talk: ChatSession) -> None:
    assert await run_command(talk, "/quit")


async def test_nothing_is_stopped_where_nothing_is_waited_for(talk: ChatSession, capsys: pytest.CaptureFixture[str]) -> None:
    await run_command(talk, "/stop")
    assert capsys.readouterr().out == "nothing is answered\n"


async def test_what_another_window_waits_for_is_stopped(talk: ChatSession, capsys: pytest.CaptureFixture[str]) -> None:
    client = talk.session.client
    talk.conversation = (await client.create_conversation())["conversation_id"]
    answer = await client.create_message(talk.conversation, "When does the ferry leave?", model="scripted/hello")
    assert answer["assistantMessage"]["metadata"]["state"] == "pending"
    await run_command(talk, "/stop")
    assert capsys.readouterr().out == "stopped: 1 answer\n"
    messages = [message async for message in client.iterate_messages(talk.conversation)]
    assert messages[-1]["metadata"]["state"] == "stopped"


async def test_where_nothing_was_said_there_is_no_other_answer(talk: ChatSession, capsys: pytest.CaptureFixture[str]) -> None:
    talk.conversation = (await talk.session.client.create_conversation())["conversation_id"]
    await run_command(talk, "/retry")
    assert capsys.readouterr().out == "Nothing was said yet.\n"
