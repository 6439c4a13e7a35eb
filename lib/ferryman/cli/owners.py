"""`ferryman owner`: the owners of a deployment; a second one on the local stack, to see that neither sees the other's."""

from __future__ import annotations

import click

from ferryman.cli import service
from ferryman.cli.commands import ApiSession, local_api_command
from ferryman.cli.operator_commands import operator_command
from ferryman.cli.screen import Screen
from ferryman.composition.operator import Operator
from ferryman.domain.problem import build_input_error
from ferryman.serving import keys
from ferryman.stack import owners, provision

COLUMNS = ("owner", "plan", "month", "credits_used", "credits_reserved", "created_at")


@click.group(no_args_is_help=True)
def owner() -> None:
    """Add and list the owners of the local stack, whose data folder is FERRYMAN_DATA or the nearest .ferryman; change a key."""


@owner.command()
@click.argument("name")
@click.option("--plan", required=True, metavar="PLAN", help="guru, pro, or another of `ferryman plans`.")
@local_api_command
async def add(session: ApiSession, name: str, plan: str) -> None:
    """Add the owner NAME and print their API key, once: it is stored nowhere.

    \b
        export FERRYMAN_URL=http://127.0.0.1:PORT            (as `ferryman up` printed it)
        export FERRYMAN_KEY=$(ferryman owner add ann --plan guru)
    """
    known, key = [plan_row["name"] async for plan_row in session.client.iterate_plans()], keys.generate_key()
    async with owners.open_owners(service.read_note()["env"]) as stored:
        await owners.add_owner(stored.owners, name, plan=plan, plans=known, digest=keys.digest_key(key))
    session.screen.print_result({"owner": name, "plan": plan, "key": key, "url": session.client.url}, key)


@owner.command()
@click.argument("name")
@operator_command
async def rekey(deps: Operator, screen: Screen, name: str) -> None:
    """Print a new API key of the owner NAME, once, and let nobody in with an earlier one of the owner any more.

    What runs goes on; an event stream that was opened with an earlier one ends within a second. The keys of people in the
    owner's workspaces stay: `ferryman member remove` and `ferryman key revoke` end those. The local stack's own owner keeps
    the key that is in its data folder.
    """
    key = keys.generate_key()
    if name == provision.OWNER:
        raise build_input_error("name", "has its key in the stack's data folder")
    try:
        await deps.rekey(name, keys.digest_key(key))
    except KeyError:
        raise build_input_error("name", "is nobody's") from None
    screen.print_result({"owner": name, "key": key}, key)


@owner.command("list")
@local_api_command
async def list_(session: ApiSession) -> None:
    """List the owners, oldest first."""
    await session.client.get_me()  # says at once that nobody answers, which Google's clients take minutes to
    async with owners.open_owners(service.read_note()["env"]) as stored:
        rows = [
            {
                "owner": stored_owner.id,
                "plan": stored_owner.plan,
                "month": balance.month,
                **{name: str(getattr(balance, name)) for name in ("credits_used", "credits_reserved")},
                "created_at": stored_owner.created_at.isoformat(timespec="seconds"),
            }
            for stored_owner, balance in await stored.list_owners()
        ]
    session.screen.print_list(rows, *COLUMNS)
