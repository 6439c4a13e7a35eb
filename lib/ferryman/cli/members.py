"""`ferryman member` and `history`: who is in a workspace, as what, and who changed what."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from ferryman.cli import exits
from ferryman.cli.commands import ApiSession, api_command, joining_command
from ferryman.cli.fields import read_fields
from ferryman.client import PAGE_MAX
from ferryman.client.request import generate_secret
from ferryman.domain.workspaces.member import Role
from ferryman.stack.private import write_file

COLUMNS = ("person_id", "name", "role", "approves", "max_credits_month", "created_at")
INVITED = ("invitation_id", "name", "role", "approves", "invited_by", "expires_at")
ENTRIES = ("created_at", "person_id", "action", "targets", "done")
TOKEN_CHARACTERS_MAX = 1_000
ROLES = click.Choice([role.value for role in Role])
APPROVES = click.option(
    "--approves/--no-approves",
    default=None,
    help="Whether they may decide about calls that wait for a person.",
)
LOST = "the answer was lost on its way, and {what} is shown once: {undo}, and ask for another"


@click.group(no_args_is_help=True)
def member() -> None:
    """Invite people into a workspace, join one, list, update and remove members.

    \b
    A viewer sees everything, an operator also starts and cancels executions, an admin also changes tasks, credentials,
    tools, agents and members. Nobody sees the value of a credential.
    """


@member.command()
@click.argument("name")
@click.option("--role", type=ROLES, required=True, help="What they may do.")
@APPROVES
@api_command
async def invite(session: ApiSession, name: str, role: str, approves: bool | None) -> int:
    """Invite NAME, and print the token of the invitation, once: give it to them alone. It is good for a week.

    \b
        ferryman member invite Bea --role operator
    """
    invitation = await session.client.create_invitation(name, role, approves=bool(approves))
    if invitation["token"] is None:
        undo = f"ferryman member withdraw {invitation['invitation_id']}"
        session.screen.print_error(LOST.format(what="the token", undo=undo))
        return exits.FAILED
    session.screen.print_result(invitation, invitation["token"])
    return exits.DONE


@member.command()
@click.option(
    "--secret-file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Keep the secret of this attempt here: where the key was lost, the same command prints it again.",
)
@joining_command
async def join(session: ApiSession, secret_file: Path | None) -> None:
    """Take an invitation, and print your API key, once. The token is asked for without showing it, or read from stdin.

    \b
        export FERRYMAN_URL=https://…
        export FERRYMAN_KEY=$(ferryman member join < token.txt)

    With the key that you have for one workspace in FERRYMAN_KEY, you become a member of another one of the same owner.
    """
    token = _read_token()
    secret = None if secret_file is None else _keep_secret(secret_file)
    joined = await session.client.join_workspace(token, secret=secret)
    session.screen.print_result(joined, joined["key"])


@member.command("list")
@click.option("--invited", is_flag=True, help="Who is invited and has not joined yet.")
@api_command
async def list_(session: ApiSession, invited: bool) -> None:
    """List the members of the workspace."""
    if invited:
        session.screen.print_list([item async for item in session.client.iterate_invitations(limit=PAGE_MAX)], *INVITED)
    else:
        session.screen.print_list([item async for item in session.client.iterate_members(limit=PAGE_MAX)], *COLUMNS)


@member.command()
@click.argument("person")
@click.option("--role", type=ROLES, help="What they may do.")
@APPROVES
@click.option("--max-credits-month", help="Credits that they may use in a month (UTC); none: no limit of their own.")
@api_command
async def update(session: ApiSession, /, person: str, **options: Any) -> None:
    """Change what PERSON may do; it acts on their next request. What is not named stays as it is."""
    changed = await session.client.change_member(person, read_fields(None, options, cleared=("max_credits_month",)))
    session.screen.print_json(changed)
    session.screen.print_fields(changed)


@member.command()
@click.argument("person")
@click.option("--take-over", is_flag=True, help="Answer for the executions that they have under way. Otherwise these end.")
@api_command
async def remove(session: ApiSession, person: str, take_over: bool) -> None:
    """Remove PERSON from the workspace, or leave it yourself: their API keys and invitations are good for nothing at once.

    Tasks and schedules of theirs stay with the workspace.
    """
    job = await session.client.delete_member(person, executions="take_over" if take_over else "end")
    session.screen.print_result({"removed": person, "job_id": job["job_id"]}, f"{person} is no member any longer.")


@member.command()
@click.argument("invitation")
@api_command
async def withdraw(session: ApiSession, invitation: str) -> None:
    """Withdraw INVITATION, which nobody has taken yet."""
    await session.client.delete_invitation(invitation)
    session.screen.print_result({"withdrawn": invitation}, f"{invitation} lets nobody in any longer.")


@click.command()
@click.option("--limit", default=PAGE_MAX, show_default=True, type=click.IntRange(1, PAGE_MAX), help="How many at most.")
@api_command
async def history(session: ApiSession, limit: int) -> None:
    """Show who changed what in the workspace, the newest first; without a person, the owner did."""
    entries = await session.client.list_audit_entries(limit=limit)
    session.screen.print_json(entries)
    rows = [{**entry, "targets": " ".join(entry["targets"])} for entry in entries]
    session.screen.print_table(rows, *ENTRIES, empty="Nothing was changed.")


def _keep_secret(path: Path) -> str:
    """Return the secret in the file, which is made with a new one where there is none."""
    try:
        if not path.exists():
            write_file(path, generate_secret())
        return path.read_text(encoding="ascii").strip()
    except (OSError, ValueError) as error:
        raise click.BadParameter(f"cannot keep a secret there ({type(error).__name__})", param_hint="--secret-file") from None


def _read_token() -> str:
    if sys.stdin.isatty():
        token: str = click.prompt("Token", hide_input=True, err=True)
        return token
    return sys.stdin.read(TOKEN_CHARACTERS_MAX).strip()
