"""Somebody who types `ferryman chat` in a terminal of its own: keys, Ctrl-C, Ctrl-D, commands, and Markdown that is drawn."""

from __future__ import annotations

import asyncio
import fcntl
import os
import pty
import select
import subprocess
import termios
import time
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from ferryman.client import Client
from ferryman.stack.admin import Admin
from tests.journeys.conftest import ENDS_S, FERRYMAN, NewKey

PROMPT = "you> "
ARROW_UP, CTRL_C, CTRL_D, ENTER = "\x1b[A", "\x03", "\x04", "\r"
BOLD, PLAIN = "\x1b[1m", "\x1b[0m"
SLOW = {"text": "word " * 2_000, "stream": {"delay_ms": 30}}
"""A minute of writing: a test that waits for its end fails."""


class ChatTerminal:
    """`ferryman chat` under a terminal: what is typed reaches it as keys, Ctrl-C as the signal of its terminal."""

    def __init__(self, variables: Mapping[str, str], *words: str) -> None:
        self._screen, child_side = pty.openpty()
        others = {name: value for name, value in os.environ.items() if not name.startswith("FERRYMAN_")}
        self._child = subprocess.Popen(
            [FERRYMAN, "chat", *(words or ("--model", "scripted/chat"))],
            env={**others, "TERM": "xterm-256color", "COLUMNS": "100", **variables},
            stdin=child_side,
            stdout=child_side,
            stderr=child_side,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # its own terminal: Ctrl-C goes to it alone
        )
        os.close(child_side)
        self._printed = ""

    def type(self, keys: str) -> None:
        """Type keys."""
        os.write(self._screen, keys.encode())

    def wait_for(self, text: str) -> str:
        """Return all that is printed from the last text that was waited for up to this one."""
        until = time.monotonic() + ENDS_S
        while text not in self._printed:
            readable, _, _ = select.select([self._screen], [], [], max(0.0, until - time.monotonic()))
            assert readable, f"{text!r} did not come:\n{self._printed}"
            self._printed += os.read(self._screen, 65_536).decode("utf-8", "replace")
        before, _, self._printed = self._printed.partition(text)
        return before

    def wait_for_end(self) -> int:
        """Return the exit code."""
        return self._child.wait(ENDS_S)

    def close(self) -> None:
        """End it, wherever it is."""
        self._child.kill()
        self._child.wait()
        os.close(self._screen)


@pytest.fixture
async def variables(stack: Mapping[str, Any], admin: Admin, new_key: NewKey) -> Mapping[str, str]:
    await admin.set_script("endless", {"steps": [SLOW], "each_question": True})
    return {"FERRYMAN_URL": stack["url"], "FERRYMAN_KEY": await new_key("pro")}


@pytest.fixture
def terminal(variables: Mapping[str, str]) -> Iterator[ChatTerminal]:
    opened = ChatTerminal(variables)
    yield opened
    opened.close()


def test_a_conversation_is_typed_drawn_stopped_and_left(terminal: ChatTerminal, variables: Mapping[str, str]) -> None:
    terminal.wait_for(PROMPT)
    terminal.type(f"What is it?{ENTER}")
    drawn = terminal.wait_for(PROMPT)
    assert f"The answer is {BOLD}42{PLAIN}." in drawn
    assert "→ calculator" in drawn
    terminal.type(f"/model scripted/endless{ENTER}")
    terminal.wait_for(PROMPT)
    terminal.type(ARROW_UP * 2)
    terminal.wait_for("What is it?")
    terminal.type(ENTER)
    terminal.wait_for("word word")
    terminal.type(CTRL_C)
    terminal.wait_for("stopped: what was written until then is kept")
    terminal.wait_for(PROMPT)
    terminal.type(f"/stop{ENTER}")
    terminal.wait_for("nothing is answered")
    terminal.wait_for(PROMPT)
    terminal.type(f"/model scripted/chat{ENTER}")
    terminal.wait_for(PROMPT)
    terminal.type(f"/retry{ENTER}")
    assert f"The answer is {BOLD}42{PLAIN}." in terminal.wait_for(PROMPT)
    terminal.type(f"/cost{ENTER}")
    terminal.wait_for("credits for 2 answers of this branch")
    terminal.wait_for(PROMPT)
    terminal.type(CTRL_D)
    conversation = terminal.wait_for("goes on with it").rpartition("--conversation ")[2].split()[0]
    assert terminal.wait_for_end() == 0
    with Client(variables["FERRYMAN_URL"], variables["FERRYMAN_KEY"]) as client:
        messages = list(client.iterate_messages(conversation))
    questions = [message["content"] for message in messages if message["role"] == "user"]
    states = [message["metadata"]["state"] for message in messages if message["role"] == "assistant"]
    assert (questions, states) == (["What is it?"] * 2, ["complete", "stopped", "complete"])
    assert messages[3]["content"].startswith("word word")
    assert [message["parent"] for message in messages[3:]] == [3, 3]


async def test_a_call_that_waits_is_decided_about_where_one_talks(variables: Mapping[str, str], admin: Admin) -> None:
    await admin.serve_routes("api.coingecko.com", [{"method": "POST", "path": "/chat_alerts", "json": {"alert": 1}}])
    post = {"name": "http_post", "input": {"url": "https://api.coingecko.com/chat_alerts", "body": {"above": 1}}}
    steps = [{"text": "I ask.", "tool_calls": [post]}, {"text": "It is asked for."}]
    await admin.set_script("chat_alert", {"steps": steps, "each_question": True})
    with Client(variables["FERRYMAN_URL"], variables["FERRYMAN_KEY"]) as client:
        about = {"name": "alert", "task_prompt": "Ask.", "model": "scripted/chat_alert", "integrations": ["coingecko"]}
        rules = [{"mode": "always", "tools": ["http_post"]}]
        task = client.create_task({**about, "tools": ["http_post"], "approvals": rules})["task_id"]
    terminal = ChatTerminal(variables, "--task", task)
    try:
        await asyncio.to_thread(_decide_while_talking, terminal)
    finally:
        terminal.close()
    sent = [request for request in await admin.list_requests("api.coingecko.com") if request["path"] == "/chat_alerts"]
    assert len(sent) == 2


def _decide_while_talking(terminal: ChatTerminal) -> None:
    terminal.wait_for(PROMPT)
    terminal.type(f"Please.{ENTER}")
    assert "https://api.coingecko.com/chat_alerts" in terminal.wait_for("approve? y, n")
    terminal.type(f"y{ENTER}")
    assert "It is asked for." in terminal.wait_for(PROMPT)
    terminal.type(f"Again.{ENTER}")
    terminal.wait_for("approve? y, n")
    terminal.type(ENTER)  # it waits, and the conversation goes on
    terminal.wait_for(PROMPT)
    terminal.type(f"/approvals{ENTER}")
    terminal.wait_for("approve? y, n")
    terminal.type(f"y{ENTER}")
    assert "It is asked for." in terminal.wait_for(PROMPT)
