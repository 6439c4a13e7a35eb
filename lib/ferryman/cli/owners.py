"""`ferryman owner`: who uses a house; a second owner on the local stack, to see that neither sees what is the other's."""

from __future__ import annotations

import click

from ferryman.cli import exits, service
from ferryman.cli.asking import Asking, asking_here
from ferryman.cli.operating import operating
from ferryman.cli.screen import Screen
from ferryman.domain.problem import Invalid
from ferryman.serving import keys
from ferryman.wiring.local import leftovers, owners, provision
from ferryman.wiring.operator import Operator

COLUMNS = ("owner", "plan", "month", "credits_used", "credits_reserved", "created_at")


@click.group(no_args_is_help=True)
def owner() -> None:
    """Add and list the owners of the local stack, whose data folder is FERRYMAN_DATA or the nearest .ferryman; change a key."""


@owner.command()
@click.argument("name")
@click.option("--plan", required=True, metavar="PLAN", help="guru, pro, or another of `ferryman plans`.")
@asking_here
async def add(asked: Asking, name: str, plan: str) -> int:
    """Add the owner NAME and print their API key, once: it is stored nowhere.

    \b
        export FERRYMAN_URL=http://127.0.0.1:PORT            (as `ferryman up` printed it)
        export FERRYMAN_KEY=$(ferryman owner add ann --plan guru)
    """
    known, key = [each["name"] for each in await asked.client.plans()], keys.new_key()
    try:
        async with owners.opened(env_here()) as stored:
            await owners.add(stored.owners, name, plan=plan, plans=known, digest=keys.digest(key))
    except Invalid as refused:
        asked.screen.wrong("nothing was added", errors=[(each.field, each.message) for each in refused.problems])
        return exits.REFUSED
    asked.screen.record({"owner": name, "plan": plan, "key": key, "url": asked.client.url})
    asked.screen.say(key)
    return exits.DONE


@owner.command()
@click.argument("name")
@operating
async def rekey(house: Operator, screen: Screen, name: str) -> int:
    """Print a new API key of the owner NAME, once, and let nobody in with an earlier one any more.

    What runs goes on; an event stream that is open stays open until it ends. The local stack's own owner keeps the key that
    stands in its data folder.
    """
    key = keys.new_key()
    if name == provision.OWNER:
        screen.wrong("nothing was changed", errors=[("name", "has its key in the stack's data folder")])
        return exits.REFUSED
    try:
        await house.rekey(name, keys.digest(key))
    except KeyError:
        screen.wrong("nothing was changed", errors=[("name", "is nobody's")])
        return exits.REFUSED
    screen.record({"owner": name, "key": key})
    screen.say(key)
    return exits.DONE


@owner.command("list")
@asking_here
async def list_(asked: Asking) -> None:
    """List the owners, oldest first."""
    await asked.client.me()  # says at once that nobody answers, which Google's clients take minutes to
    async with owners.opened(env_here()) as stored:
        found = [
            {
                "owner": each.id,
                "plan": each.plan,
                "month": purse.month,
                "credits_used": str(purse.credits_used),
                "credits_reserved": str(purse.credits_reserved),
                "created_at": each.created_at.isoformat(timespec="seconds"),
            }
            for each, purse in await stored.listed()
        ]
    asked.screen.record(found)
    asked.screen.table(found, *COLUMNS, empty="There are none.")


def env_here() -> dict[str, str]:
    """The variables by which Google's clients find the local stack's cloud. Raises `Unknown` when none runs."""
    note = leftovers.note(service.folder())
    if note is None:
        raise service.Unknown(f"no stack runs on {service.folder()} any more")
    env: dict[str, str] = note["env"]
    return env
