"""`ferryman approvals`: the calls that wait for a person, exactly what each would send, and deciding about them."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from typing import IO, Any

import click

from ferryman.catalog.effects import describe_effect
from ferryman.cli import exits
from ferryman.cli.answering import ask_answers, describe_step
from ferryman.cli.approval_screen import describe_decision, print_approval, read_form
from ferryman.cli.commands import ApiSession, api_command, prints_lines
from ferryman.cli.fields import FILE
from ferryman.cli.files import read_object
from ferryman.cli.standing import standing
from ferryman.client import PAGE_MAX
from ferryman.domain.approvals.approval import SENDS_MAX, ApprovalState
from ferryman.domain.approvals.visible import show_text

COLUMNS = ("approval", "state", "tool", "execution", "call", "created", "until", "decided")
EVERY_S = 2.0
DIGEST = click.option("--digest", metavar="HEX", help="Decide about this digest alone; without a terminal it is required.")
YES = click.option("--yes", is_flag=True, help="Do not ask again; it needs --digest.")


@click.group(no_args_is_help=True)
def approvals() -> None:
    """Decide about calls that wait for a person.

    \b
      ferryman approvals list                   what waits
      ferryman approvals show ID                exactly what would be sent
      ferryman approvals approve ID             shows it, and asks before it approves
      ferryman approvals deny ID --reason "too much"
      ferryman approvals answer ID              answers what an MCP server asks, field by field

    What is approved is the digest that is shown: where one byte of the call is another, it is not sent, and asked about again.
    """


approvals.add_command(standing)


@approvals.command("list")
@click.option("--state", type=click.Choice([state.value for state in ApprovalState]), help="Only those in it; else what waits.")
@click.option("--all", "shows_all", is_flag=True, help="Also those that were decided, and are over.")
@click.option("--execution", metavar="ID", help="Only those of this execution.")
@api_command
async def list_(session: ApiSession, state: str | None, shows_all: bool, execution: str | None) -> None:
    """List the calls that wait for a person, the newest first."""
    chosen = state or (None if shows_all else ApprovalState.PENDING.value)
    listed = [item async for item in session.client.iterate_approvals(state=chosen, execution=execution, limit=PAGE_MAX)]
    session.screen.print_json(listed)
    session.screen.print_table([build_row(item) for item in listed], *COLUMNS, empty="Nothing waits for a person.")


@approvals.command()
@click.argument("approval")
@api_command
async def show(session: ApiSession, approval: str) -> None:
    """Show exactly what APPROVAL would send, and what is otherwise than the last time."""
    record = await session.client.get_approval(approval)
    session.screen.print_json(record)
    print_approval(session.screen, record)
    if record["state"] == ApprovalState.PENDING.value and not record["expired"]:
        step = f"{describe_step(record)}, or ferryman approvals deny {record['approval_id']}"
        session.screen.print_line(f"Decide: {step}", "yellow")


@approvals.command()
@click.argument("approval")
@click.option(
    "--sends", type=click.IntRange(1, SENDS_MAX), default=1, show_default=True, help="For how many sends of the same."
)
@click.option(
    "--declassify",
    default="",
    metavar="VALUE",
    help="A value that is shown as untrusted; exactly this one counts as yours in later turns of the execution.",
)
@DIGEST
@YES
@api_command
async def approve(session: ApiSession, /, approval: str, **options: Any) -> int:
    """Show what APPROVAL would send, ask, and approve the digest that was shown."""
    return await _decide(session, approval, "approve", **options)


@approvals.command()
@click.argument("approval")
@click.option("--reason", default="", help="Why; the model reads it.")
@DIGEST
@YES
@api_command
async def deny(session: ApiSession, approval: str, reason: str, digest: str | None, yes: bool) -> int:
    """Deny APPROVAL: nothing is sent, and the model reads the reason."""
    return await _decide(session, approval, "deny", digest=digest, yes=yes, reason=reason)


@approvals.command()
@click.argument("approval")
@click.option(
    "--arguments", type=FILE, metavar="FILE", required=True, help="All arguments of the new call, as JSON; `-`: stdin."
)
@click.option("--reason", default="", help="Why; the model reads it.")
@DIGEST
@YES
@api_command
async def edit(session: ApiSession, /, approval: str, arguments: IO[str], **options: Any) -> int:
    """Have another call made in the place of APPROVAL: it is a new request, which is asked about itself."""
    return await _decide(session, approval, "edit", arguments=read_object(arguments, "--arguments"), **options)


@approvals.command()
@click.argument("approval")
@click.option("--arguments", type=FILE, metavar="FILE", help="The answer to each question by its key, as JSON; `-`: stdin.")
@DIGEST
@YES
@api_command
async def answer(session: ApiSession, /, approval: str, arguments: IO[str] | None, **options: Any) -> int:
    """Answer what an MCP server asks in APPROVAL before it goes on with a call; `deny` declines it.

    In a terminal each field is asked for. Nothing that looks like a key or a token is sent.
    """
    if arguments is not None:
        answers = read_object(arguments, "--arguments")
    elif session.screen.as_json or not is_terminal():
        raise click.UsageError("give the answers: --arguments FILE, or in a terminal")
    else:
        record = await session.client.get_approval(approval)
        print_approval(session.screen, record)
        answers = ask_answers(record, read_line)
    return await _decide(session, approval, "answer", arguments=answers, **options)


def read_line(prompt: str) -> str:
    """Return what is typed after `prompt`."""
    return str(click.prompt(prompt, default="", show_default=False, prompt_suffix="", err=True))


@approvals.command()
@click.option("--execution", metavar="ID", help="Only those of this execution.")
@click.option("--once", is_flag=True, help="End when something waits.")
@api_command
@prints_lines
async def watch(session: ApiSession, execution: str | None, once: bool) -> int:
    """Print each call as it begins to wait, and what was decided, until Ctrl-C."""
    states: dict[str, str] = {}
    try:
        while True:
            listed = [item async for item in session.client.iterate_approvals(execution=execution, limit=PAGE_MAX)]
            for item in reversed(listed):
                is_known, state = item["approval_id"] in states, item["state"]
                if states.get(item["approval_id"]) != state and (is_known or state == ApprovalState.PENDING):
                    _print_news(session, item)
                states[item["approval_id"]] = state
            if once and ApprovalState.PENDING in states.values():
                return exits.DONE
            await asyncio.sleep(EVERY_S)
    except asyncio.CancelledError:
        return exits.INTERRUPTED


def is_terminal() -> bool:
    """Tell whether a person can be asked."""
    return sys.stdin.isatty()


def build_row(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return an approval on one line."""
    return {
        "approval": item["approval_id"],
        "state": "expired" if item["expired"] else item["state"],
        "tool": item["tool"],
        "execution": item["execution_id"],
        "call": item["seq"] + 1,
        "created": str(item["created_at"])[:16].replace("T", " "),
        "until": str(item["expires_at"])[:10],
        "decided": describe_decision(item),
    }


def _print_news(session: ApiSession, item: Mapping[str, Any]) -> None:
    session.screen.print_json(item)
    name = item["approval_id"]
    if item["state"] == ApprovalState.PENDING:
        session.screen.print_line(f"{name}  waits: {describe_effect(item['tool'])} ferryman approvals show {name}", "yellow")
    else:
        session.screen.print_line(f"{name}  {describe_decision(item) or item['state']}", "dim")


async def _decide(session: ApiSession, approval: str, verdict: str, *, digest: str | None, yes: bool, **options: Any) -> int:
    """Show the approval, ask, and decide about the digest that was shown. Raise `ApiRefusedError`."""
    screen = session.screen
    if digest is None and (yes or not is_terminal() or screen.as_json):
        raise click.UsageError("name what you decide about: --digest HEX, as `ferryman approvals show` prints it")
    record = await session.client.get_approval(approval)
    current = record["digest"]
    read_form(record)  # it is of the form that is shown
    if digest is not None and digest != current:
        screen.print_error(f"the digest is {current} by now: look at {approval} again; nothing was decided")
        return exits.REFUSED
    if not (yes or screen.as_json or (digest is not None and not is_terminal())):
        print_approval(screen, record)
        declassified = f" and declassify {show_text(value)}" if (value := options.get("declassify")) else ""
        if not click.confirm(f"{verdict.capitalize()} {approval} with the digest {current}{declassified}?", err=True):
            screen.print_line("nothing was decided", "dim")
            return exits.DONE
    decided = await session.client.decide_approval(approval, verdict, digest=current, **options)
    screen.print_result(decided, f"{approval}  {describe_decision(decided)}")
    return exits.DONE
