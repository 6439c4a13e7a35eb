"""Local MCP servers in embedded use: nothing is called before it was accepted, nothing of ours is inherited, nothing stays."""

from __future__ import annotations

import asyncio
import os
import re
from pathlib import Path

import pytest

from ferryman.composition.embedded_servers import EmbeddedServers
from ferryman.domain.remote_servers.pin import PinState
from ferryman.tools.stdio import server as running
from ferryman.tools.stdio.process import ERRORS_BYTES_MAX
from tests.tools.stdio.conftest import ENVIRONMENT, KEY, Open, describe


def is_running(pid: int) -> bool:
    state = Path(f"/proc/{pid}/stat")
    return state.exists() and state.read_text().rpartition(")")[2].split()[0] != "Z"


async def await_errors(servers: EmbeddedServers, text: str) -> str:
    """Return what the process has written to standard error, once `text` is in it."""
    async with asyncio.timeout(10):
        while text not in (errors := await servers.read_errors("peer")):  # noqa: ASYNC110 - another process writes it
            await asyncio.sleep(0)
    return errors


@pytest.mark.parametrize("kind", ["modern", "legacy"])
async def test_an_accepted_tool_is_called_in_either_revision(open_accepted: Open, kind: str) -> None:
    async with open_accepted(kind) as servers:
        result = await servers.call("peer__echo", {"text": "hello"})
        revision = servers.servers["peer"].client.revision
    assert (result.ok, ">hello<" in result.content, revision) == (
        True,
        True,
        {"modern": "2026-07-28", "legacy": "2025-11-25"}[kind],
    )


async def test_a_server_that_does_not_know_the_question_is_of_the_older_revision(
    open_accepted: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ferryman.tools.stdio.transport.PROBE_S", 0.3)
    async with open_accepted("silent") as servers:
        assert servers.servers["peer"].client.revision == "2025-11-25"


async def test_nothing_is_called_before_it_was_accepted() -> None:
    async with EmbeddedServers.open([describe()], env=ENVIRONMENT) as servers:
        result = await servers.call("peer__echo", {"text": "hello"})
        waiting = {tool.name: tool.state for tool in await servers.list_waiting()}
    assert (result.ok, waiting) == (False, dict.fromkeys(("peer__echo", "peer__show_environment"), PinState.NEW))


async def test_a_digest_that_is_not_the_listed_one_accepts_nothing() -> None:
    accepted = describe(accept={"echo": "0" * 64})
    async with EmbeddedServers.open([accepted], env=ENVIRONMENT) as servers:
        (changed,) = [tool for tool in await servers.list_waiting() if tool.tool == "echo"]
        result = await servers.call("peer__echo", {"text": "hello"})
    assert (changed.state, result.ok) == (PinState.CHANGED, False)


async def test_a_change_is_noticed_before_a_call(open_accepted: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_accepted("changes") as servers:
        monkeypatch.setattr(running, "VERIFIED_S", -1.0)
        result = await servers.call("peer__echo", {"text": "hello"})
    assert (result.ok, "changed" in result.content) == (False, True)


async def test_the_process_has_the_named_variables_and_no_others(open_accepted: Open) -> None:
    async with open_accepted() as servers:
        content = (await servers.call("peer__show_environment", {})).content
    names = set(re.findall(r'"(\w+)": ', content)) - {"LC_CTYPE"}  # the interpreter's own, which it sets itself
    assert names == {"PEER_KEY", "PEER_LANGUAGE"}


async def test_a_secret_variable_is_redacted_and_a_public_one_is_not(open_accepted: Open) -> None:
    async with open_accepted() as servers:
        content = (await servers.call("peer__show_environment", {})).content
    assert (KEY in content, "[redacted:PEER_KEY]" in content, '"en"' in content) == (False, True, True)


@pytest.mark.parametrize("spelling", [KEY, KEY[::-1], KEY.encode().hex()])
async def test_a_secret_variable_in_arguments_is_not_sent(open_accepted: Open, spelling: str) -> None:
    async with open_accepted() as servers:
        result = await servers.call("peer__echo", {"text": spelling})
    assert result.code == "credential_leak"


async def test_arguments_have_to_fit_the_schema(open_accepted: Open) -> None:
    async with open_accepted() as servers:
        assert (await servers.call("peer__echo", {"other": 1})).code == "invalid_arguments"


@pytest.mark.parametrize("name", ["echo", "other__echo", "peer__other", "peer__", "__echo"])
async def test_a_tool_that_is_not_there_is_unknown(open_accepted: Open, name: str) -> None:
    async with open_accepted() as servers:
        assert (await servers.call(name, {})).code == "unknown_tool"


async def test_an_error_of_the_tool_is_a_result_that_is_not_ok(open_accepted: Open) -> None:
    async with open_accepted() as servers:
        result = await servers.call("peer__echo", {"text": "fail"})
    assert (result.ok, result.code, ">fail<" in result.content) == (False, "tool_failed", True)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("dies", "the process of the MCP server has ended"),
        ("long", "a line of more than 4,000,000 bytes"),
        ("garbage", "an invalid message"),
    ],
)
async def test_what_is_no_answer_is_a_failure(open_accepted: Open, kind: str, message: str) -> None:
    async with open_accepted(kind) as servers:
        result = await servers.call("peer__echo", {"text": "hello"})
    assert (result.ok, message in result.content) == (False, True)


async def test_an_answer_to_another_request_is_passed_over(open_accepted: Open) -> None:
    async with open_accepted("stale") as servers:
        assert ">hello<" in (await servers.call("peer__echo", {"text": "hello"})).content


async def test_a_call_that_is_cancelled_is_cancelled_at_the_server(open_accepted: Open) -> None:
    async with open_accepted("hangs") as servers:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await servers.call("peer__echo", {"text": "hello"})
        assert "cancelled" in await await_errors(servers, "cancelled")


async def test_standard_error_is_redacted_and_without_hidden_characters(open_accepted: Open) -> None:
    async with open_accepted() as servers:
        errors = await await_errors(servers, "started")
    assert (KEY in errors, "\u202e" in errors, "[redacted:PEER_KEY]" in errors) == (False, False, True)


async def test_of_standard_error_the_end_is_remembered(open_accepted: Open) -> None:
    async with open_accepted() as servers:
        assert len(servers.servers["peer"].process.errors_end) <= ERRORS_BYTES_MAX


@pytest.mark.parametrize("kind", ["modern", "stays"])
async def test_the_process_ends_with_the_block(open_accepted: Open, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ferryman.tools.stdio.process.ENDS_S", 0.2)
    async with open_accepted(kind) as servers:
        pid = servers.servers["peer"].process.pid
        assert is_running(pid)
    assert not is_running(pid)


async def test_what_the_process_has_started_ends_too(open_accepted: Open) -> None:
    async with open_accepted("leaves") as servers:
        errors = await await_errors(servers, "child")
        child = int(re.search(r"child (\d+)", errors)[1])  # type: ignore[index]  # it is there
        assert is_running(child)
    async with asyncio.timeout(5):
        while is_running(child):  # noqa: ASYNC110 - another process ends
            await asyncio.sleep(0)


async def test_a_program_that_is_not_there_starts_nothing() -> None:
    with pytest.raises(OSError, match="No such file"):
        async with EmbeddedServers.open([describe(command=["/nowhere/program"])], env=ENVIRONMENT):
            pass


async def test_no_server_stays_where_another_cannot_be_started() -> None:
    before = {entry.name for entry in os.scandir("/proc") if entry.name.isdigit()}
    second = describe(name="second", command=["/nowhere/program"])
    with pytest.raises(OSError, match="No such file"):
        async with EmbeddedServers.open([describe("stays"), second], env=ENVIRONMENT):
            pass
    new = [pid for entry in os.scandir("/proc") if (pid := entry.name).isdigit() and pid not in before]
    assert not any("peer.py" in _read_command(pid) and _read_parent(pid) == os.getpid() for pid in new)


def _read_command(pid: str) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


def _read_parent(pid: str) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0
