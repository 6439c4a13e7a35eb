"""`ferryman credential`: a task's credentials; a value is read from a prompt or from stdin and never shown again."""

from __future__ import annotations

import sys

import click

from ferryman.cli.asking import Asking, asking

COLUMNS = ("name", "service", "auth_type", "auth_header_name", "auth_param_name", "allowed_domains", "version", "updated_at")
VALUE_CHARACTERS_MAX = 65_536
"""What is read of stdin at most; the service has its own, smaller limit."""


@click.group(no_args_is_help=True)
def credential() -> None:
    """Store, list and delete a task's credentials. Values go in and never come out."""


@credential.command("set")
@click.argument("task")
@click.argument("name")
@click.option("--service", required=True, help="The integration it is for; it decides where the value may be sent.")
@click.option("--auth-type", type=click.Choice(["bearer", "header", "query_param"]), help="Default: as the service wants it.")
@click.option("--auth-header-name", metavar="NAME", help="The header's name, for auth type header.")
@click.option("--auth-param-name", metavar="NAME", help="The parameter's name, for auth type query_param.")
@asking
async def set_(
    asked: Asking,
    task: str,
    name: str,
    service: str,
    auth_type: str | None,
    auth_header_name: str | None,
    auth_param_name: str | None,
) -> None:
    """Store the credential NAME of TASK, or replace its value.

    The value is asked for without showing it, or read from stdin:

    \b
        ferryman credential set TASK LUNARCRUSH_API_KEY --service lunarcrush < key.txt
    """
    injection = {"auth_type": auth_type, "auth_header_name": auth_header_name, "auth_param_name": auth_param_name}
    given = {field: value for field, value in injection.items() if value is not None}
    stored = await asked.client.set_credential(task, name, {"value": _value(), "service": service, **given})
    asked.screen.record(stored)
    hosts = ", ".join(stored["allowed_domains"])
    asked.screen.say(f"{stored['name']} is sealed (version {stored['version']}); it can be sent to {hosts} and nowhere else.")


@credential.command("list")
@click.argument("task")
@asking
async def list_(asked: Asking, task: str) -> None:
    """List the credentials of TASK, without their values."""
    found = await asked.client.credentials(task)
    asked.screen.record(found)
    asked.screen.table(found, *COLUMNS, empty="The task has no credentials.")


@credential.command()
@click.argument("task")
@click.argument("name")
@asking
async def delete(asked: Asking, task: str, name: str) -> None:
    """Delete the credential NAME of TASK."""
    await asked.client.delete_credential(task, name)
    asked.screen.record({"name": name, "deleted": True})
    asked.screen.say(f"{name} is deleted.")


def _value() -> str:
    if sys.stdin.isatty():
        value: str = click.prompt("Value", hide_input=True, err=True)
        return value
    # one line break at the end is the shell's, not the key's
    return sys.stdin.read(VALUE_CHARACTERS_MAX).removesuffix("\n").removesuffix("\r")
