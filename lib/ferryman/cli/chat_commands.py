"""A conversation under way: what is said in it, and the commands that are typed with a slash."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from decimal import Decimal
from typing import Any

from ferryman.cli.chat_approvals import ChatApprovals, ReadAnswer
from ferryman.cli.chat_markdown import write_markdown
from ferryman.cli.chat_screen import AnswerScreen
from ferryman.cli.commands import ApiSession
from ferryman.cli.live import format_credits
from ferryman.client import AnswerEvent, ApiRefusedError, ApiUnreachableError
from ferryman.domain.counts import say_count

HELP = """\
/retry          another answer to the last message
/stop           stop what is still being answered, also from another window
/model [NAME]   the model of the answers from now on; without a name, the agent's own
/tools on|off   whether answers have tools
/approvals      decide about what waits for a person in this conversation, and go on
/cost           what the answers of this conversation have cost
/title TEXT     rename the conversation
/export FILE    write it to a file as Markdown
/quit           end; the conversation stays"""


class ChatSession:
    """One conversation, and how its next answer is made. `read` asks the person, where there is one."""

    def __init__(
        self,
        session: ApiSession,
        *,
        agent: str | None,
        conversation: str | None,
        task: str | None,
        model: str | None,
        enable_tools: bool,
        files: list[str],
        read: ReadAnswer | None = None,
    ) -> None:
        self.conversation = conversation or ""
        self.model = model
        self.enable_tools = enable_tools
        self.session = session
        self._agent, self._task = agent, task
        self._files = files
        self.approvals = ChatApprovals(session, read)
        self._asks = read is not None

    async def open(self) -> None:
        """Begin the conversation, or find the one that is named. Raise `ApiRefusedError`."""
        if self.conversation:
            await self.session.client.get_conversation(self.conversation)
            return
        begun = await self.session.client.create_conversation(self._agent, task=self._task)
        self.conversation = begun["conversation_id"]

    async def say(self, text: str) -> Mapping[str, Any] | None:
        """Say something, and print the answer as it comes. Return the last event, None where there is none.

        Raise `ApiRefusedError` or `ApiUnreachableError`.
        """
        options: dict[str, Any] = {"attachments": self._files} if self._files else {}
        self._files = []
        client = self.session.client
        return await self._print(client.stream_message(self.conversation, text, **options, **self._describe()))

    async def attempt(self, work: Awaitable[object]) -> None:
        """Do something; what the service refuses is printed, and the conversation goes on."""
        try:
            await work
        except ApiRefusedError as refused:
            self.session.screen.print_error(refused.detail, errors=refused.errors)
        except ApiUnreachableError as error:
            self.session.screen.print_error(str(error))

    async def retry(self) -> None:
        """Ask for another answer to the last message."""
        head = (await self.session.client.get_conversation(self.conversation))["head"]
        if not head:
            self.session.screen.print_line("Nothing was said yet.", "dim")
            return
        await self._print(self.session.client.stream_other_answer(self.conversation, head, **self._describe()))

    async def stop(self) -> None:
        """Stop what is waited for."""
        await self.session.client.cancel_answers(self.conversation)

    async def decide(self) -> None:
        """Ask about all that waits in the conversation, and print how the answer goes on."""
        waiting = await self.approvals.list_waiting(self.conversation)
        if not waiting:
            self.session.screen.print_line("Nothing waits for a person here.", "dim")
            return
        decided = [await self.approvals.ask(item["approval_id"]) for item in waiting]
        if all(decided):
            await self._print(self.session.client.stream_answer(self.conversation))

    async def list_branch(self) -> list[Mapping[str, Any]]:
        """Return the messages of the shown branch, the oldest first."""
        head = (await self.session.client.get_conversation(self.conversation))["head"]
        if not head:
            return []
        newest = [item async for item in self.session.client.iterate_messages(self.conversation, branch=head)]
        return list(reversed(newest))

    async def export(self, path: str | None = None) -> None:
        """Write the conversation as Markdown to a file, or to the screen."""
        known = await self.session.client.get_conversation(self.conversation)
        text = write_markdown(known["title"], await self.list_branch())
        if path is None:
            self.session.screen.print_line(text.rstrip())
            return
        try:
            await asyncio.to_thread(_write, path, text)
        except OSError as error:
            self.session.screen.print_error(f"{path} cannot be written: {error.strerror}")
            return
        self.session.screen.print_line(f"written to {path}", "dim")

    def _describe(self) -> dict[str, Any]:
        return {"model": self.model, "enable_tools": self.enable_tools}

    async def _print(self, events: AsyncIterator[AnswerEvent]) -> Mapping[str, Any] | None:
        """Print the events. Ctrl-C stops the answer, whose end is still waited for."""
        reading = asyncio.ensure_future(self._read(events))
        loop = asyncio.get_running_loop()
        stopping: list[asyncio.Task[None]] = []

        def stop() -> None:
            stopping.append(asyncio.ensure_future(self.stop()))

        with suppress(NotImplementedError):  # Windows: there Ctrl-C ends the command
            loop.add_signal_handler(2, stop)
        try:
            return await reading
        finally:
            with suppress(NotImplementedError):  # as above
                loop.remove_signal_handler(2)
            await asyncio.gather(*stopping, return_exceptions=True)

    async def _read(self, events: AsyncIterator[AnswerEvent]) -> Mapping[str, Any] | None:
        with AnswerScreen(self.session.screen) as screen:
            async for event in events:
                screen.print_event(event)
                if event.kind == "approval_required" and self._asks and not await self.approvals.ask(event.body["approvalId"]):
                    return None  # it goes on once it is decided, which may take days
        return screen.end


async def run_command(talk: ChatSession, line: str) -> bool:
    """Do what a line with a slash says; return whether the conversation ends."""
    name, _, rest = line[1:].partition(" ")
    if name in ("quit", "exit"):
        return True
    command = COMMANDS.get(name)
    if command is None:
        talk.session.screen.print_line(f"/{name} is not known here.\n{HELP}", "yellow")
        return False
    await talk.attempt(command(talk, rest.strip()))
    return False


async def _help(talk: ChatSession, _: str) -> None:
    talk.session.screen.print_line(HELP)


async def _retry(talk: ChatSession, _: str) -> None:
    await talk.retry()


async def _stop(talk: ChatSession, _: str) -> None:
    waiting = len((await talk.session.client.get_conversation(talk.conversation))["pending"])
    await talk.stop()
    talk.session.screen.print_line(f"stopped: {say_count(waiting, 'answers')}" if waiting else "nothing is answered", "dim")


async def _choose_model(talk: ChatSession, name: str) -> None:
    talk.model = name or None
    talk.session.screen.print_line(f"answers are made with {name or 'the model of the agent'}", "dim")


async def _switch_tools(talk: ChatSession, word: str) -> None:
    if word not in ("on", "off"):
        talk.session.screen.print_error("give /tools on or /tools off")
        return
    talk.enable_tools = word == "on"
    talk.session.screen.print_line(f"answers have {'the tools of the agent' if talk.enable_tools else 'no tools'}", "dim")


async def _decide(talk: ChatSession, _: str) -> None:
    await talk.decide()


async def _print_cost(talk: ChatSession, _: str) -> None:
    answers = [message["metadata"] for message in await talk.list_branch() if message["metadata"]]
    spent = sum((Decimal(metadata["credits_used"]) for metadata in answers), Decimal(0))
    talk.session.screen.print_line(f"{format_credits(spent)} credits for {say_count(len(answers), 'answers')} of this branch")


async def _rename(talk: ChatSession, title: str) -> None:
    renamed = await talk.session.client.rename_conversation(talk.conversation, title)
    talk.session.screen.print_line(renamed["title"], "bold")


async def _export(talk: ChatSession, path: str) -> None:
    await talk.export(path or None)


COMMANDS: Mapping[str, Callable[[ChatSession, str], Awaitable[None]]] = {
    "help": _help,
    "retry": _retry,
    "stop": _stop,
    "model": _choose_model,
    "tools": _switch_tools,
    "approvals": _decide,
    "cost": _print_cost,
    "title": _rename,
    "export": _export,
}


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
