"""`ferryman credential`: a task's credentials; a value is read from a prompt or from stdin and never shown again."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import click

from ferryman.cli import consent
from ferryman.cli.commands import ApiSession, api_command, prints_lines
from ferryman.cli.connecting import ConsentPlace, UnconnectedError, consent_options, obtain_consent, read_client_secret
from ferryman.domain.credentials.redirect_uris import choose_pasted_uri

COLUMNS = (
    *("name", "service", "status", "auth_type", "auth_header_name", "auth_param_name", "allowed_domains"),
    *("scopes", "token_expires_at", "version", "updated_at"),
)
VALUE_CHARACTERS_MAX = 65_536
"""What is read of stdin at most; the service has its own, smaller limit."""


@click.group(no_args_is_help=True)
def credential() -> None:
    """Store, connect, list and delete a task's credentials. Values go in and never come out."""


@credential.command("set")
@click.argument("task")
@click.argument("name")
@click.option("--service", required=True, help="The integration it is for; it decides where the value may be sent.")
@click.option(
    "--auth-type", type=click.Choice(["bearer", "header", "query_param", "basic"]), help="Default: as the service wants it."
)
@click.option("--auth-header-name", metavar="NAME", help="The header's name, for auth type header.")
@click.option("--auth-param-name", metavar="NAME", help="The parameter's name, for auth type query_param.")
@click.option("--user", metavar="NAME", help="The user name of auth type basic; the value is its password then.")
@api_command
async def set_(session: ApiSession, /, task: str, name: str, service: str, user: str | None, **injection: str | None) -> None:
    """Store the credential NAME of TASK, or replace its value.

    The value is asked for without showing it, or read from stdin. For auth type basic it is USER:PASSWORD, or with --user
    the password:

    \b
        ferryman credential set TASK LUNARCRUSH_API_KEY --service lunarcrush < key.txt
        ferryman credential set TASK TWILIO --service twilio --user ACCOUNT_SID < token.txt
    """
    options = {field: value for field, value in injection.items() if value is not None}
    if user is None:
        value = _read_value()
    elif ":" in user or options.setdefault("auth_type", "basic") != "basic":
        raise click.UsageError("--user is for auth type basic, and has no colon")
    else:
        value = f"{user}:{_read_value('Password')}"
    stored = await session.client.set_credential(task, name, {"value": value, "service": service, **options})
    _print_stored(session, stored, "sealed")


@credential.command("list")
@click.argument("task")
@api_command
async def list_(session: ApiSession, task: str) -> None:
    """List the credentials of TASK, without their values."""
    stored = [credential async for credential in session.client.iterate_credentials(task)]
    session.screen.print_list(stored, *COLUMNS, empty="The task has no credentials.")


@credential.command()
@click.argument("task")
@click.argument("name")
@api_command
async def delete(session: ApiSession, task: str, name: str) -> None:
    """Delete the credential NAME of TASK."""
    await session.client.delete_credential(task, name)
    session.screen.print_result({"name": name, "deleted": True}, f"{name} is deleted.")


@credential.command()
@click.argument("service")
@click.option("--task", required=True, metavar="ID", help="The task that is to have it.")
@click.option("--name", metavar="NAME", help="The credential's name. Default: as the service's entry has it.")
@click.option("--scope", "scopes", multiple=True, help="What to ask for, once or more. Default: as the service's entry has it.")
@click.option("--client-id", metavar="ID", help="Your own OAuth client. Default: the deployment's.")
@click.option("--client-secret", "with_secret", is_flag=True, help="Your client has a secret: asked for, or read from stdin.")
@consent_options
@api_command
@prints_lines
async def connect(session: ApiSession, /, service: str, task: str, port: int, within: int, **options: Any) -> int | None:
    """Connect SERVICE by its owner's consent: print where to consent, wait for the answer, store the credential.

    \b
        ferryman credential connect dropbox --task ID --client-id APP_KEY
    """
    chosen = {name: options[name] for name in ("name", "client_id", "scopes")}
    body = {"service": service, **{name: value for name, value in chosen.items() if value not in (None, ())}}
    if options["with_secret"]:
        body["client_secret"] = read_client_secret()
    registered = await _registered_uris(session, service)
    waited_port, path = consent.choose_callback(service, registered, port)
    place = ConsentPlace(
        port=waited_port,
        path=path,
        pasted_uri=choose_pasted_uri(service, registered, port),
        is_pasted=options["is_pasted"],
        is_opened=options["is_opened"],
        within=within,
    )
    try:
        begun, response = await obtain_consent(
            session, lambda uri: session.client.begin_connection(task, {**body, "redirect_uri": uri}), place
        )
    except UnconnectedError as unconnected:
        session.screen.print_error(str(unconnected))
        return unconnected.code
    stored = await session.client.finish_connection(task, begun["state"], response.code, response.iss)
    _print_stored(session, stored, "connected")
    return None


def _print_stored(session: ApiSession, stored: Mapping[str, Any], state: str) -> None:
    hosts = ", ".join(stored["allowed_domains"])
    text = f"{stored['name']} is {state} (version {stored['version']}); it can be sent to {hosts} and nowhere else."
    session.screen.print_result(stored, text)


async def _registered_uris(session: ApiSession, service: str) -> list[str]:
    """Return the redirect URIs that are registered with the service, as its entry in the catalog has them."""
    entries = [entry["oauth"] async for entry in session.client.iterate_integrations() if entry["id"] == service]
    return [uri for oauth in entries if oauth is not None for uri in oauth["redirect_uris"]]


def _read_value(what: str = "Value") -> str:
    if sys.stdin.isatty():
        value: str = click.prompt(what, hide_input=True, err=True)
        return value
    # one line break at the end is the shell's, not the key's
    return sys.stdin.read(VALUE_CHARACTERS_MAX).removesuffix("\n").removesuffix("\r")
