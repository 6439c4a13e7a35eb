"""`ferryman chat`: a conversation with an agent, in the terminal or through a pipe."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from typing import Any

import click

from ferryman.cli import exits
from ferryman.cli.chat_commands import ChatSession, run_command
from ferryman.cli.chat_line import read_answer, read_line
from ferryman.cli.commands import ApiSession, api_command, prints_lines

PIPE = "-"
GREETING = "Say something, or type /help. Ctrl-C stops an answer, Ctrl-D ends the conversation."
STATES = {"complete": exits.DONE, "stopped": exits.KILLED}


@click.command()
@click.argument("agent", required=False)
@click.option("--conversation", metavar="ID", help="Go on with this conversation.")
@click.option("--task", metavar="ID", help="Begin one with this task: with its tools and credentials.")
@click.option("--model", metavar="NAME", help="The model of the answers; the task's or the agent's otherwise.")
@click.option("--no-tools", is_flag=True, help="Have the answers made without tools.")
@click.option("--file", "files", multiple=True, metavar="KEY", help="Attach a file of the workspace to the first message.")
@click.option("--list", "lists", is_flag=True, help="List the conversations, with AGENT or with any, and say nothing.")
@click.option("--export", is_flag=True, help="Print the conversation as Markdown, and say nothing.")
@api_command
@prints_lines
async def chat(
    session: ApiSession, /, agent: str | None, lists: bool, export: bool, files: tuple[str, ...], **options: Any
) -> int | None:
    """Start to talk with AGENT, the default one without a name; `-` reads one message from the standard input.

    \b
      ferryman chat                             type, and read the answers as they are written
      echo "When is the ferry?" | ferryman chat -
      ferryman chat --conversation ID --export > talk.md

    What is piped in is one message, and its answer is printed as it comes. With --json, each event is a line.
    """
    if lists:
        return await _list(session, agent)
    piped = agent == PIPE or not sys.stdin.isatty()
    read = None if piped or export or session.screen.as_json else read_answer
    named = None if agent == PIPE else agent
    talk = ChatSession(session, agent=named, files=list(files), read=read, **_name_options(options))
    if export:
        await talk.open()
        await talk.export()
        return exits.DONE
    if not piped:
        return await _talk(session, talk)
    text = (await asyncio.to_thread(sys.stdin.read)).strip()
    if not text:
        raise click.UsageError("there is nothing to say: the standard input is empty")
    await talk.open()
    return _choose_exit(await talk.say(text))


async def _list(session: ApiSession, agent: str | None) -> int:
    listed = [conversation async for conversation in session.client.iterate_conversations(agent=agent)]
    for conversation in listed:
        session.screen.print_json(conversation)
    rows = [{**item, "begun": str(item["created_at"])[:16].replace("T", " ")} for item in listed]
    session.screen.print_table(rows, "conversation_id", "begun", "title", empty="There are no conversations yet.")
    return exits.DONE


def _name_options(options: Mapping[str, Any]) -> dict[str, Any]:
    rest = {name: value for name, value in options.items() if name != "no_tools"}
    return {**rest, "enable_tools": not options["no_tools"]}


def _choose_exit(end: Mapping[str, Any] | None) -> int:
    if end is None:
        return exits.FAILED
    return STATES.get(str(end.get("state")), exits.NOT_COMPLETED)


async def _talk(session: ApiSession, talk: ChatSession) -> int:
    await talk.open()
    session.screen.print_line(GREETING, "dim")
    while True:
        line = read_line()  # nothing else is under way
        if line is None:
            session.screen.print_line(f"ferryman chat --conversation {talk.conversation}  goes on with it", "dim")
            return exits.DONE
        if line.startswith("/"):
            if await run_command(talk, line):
                return exits.DONE
        elif line:
            await talk.attempt(talk.say(line))
