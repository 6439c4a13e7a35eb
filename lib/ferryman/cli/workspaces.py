"""`ferryman workspace`: closed parts of what an owner has."""

from __future__ import annotations

from typing import IO, Any, TextIO

import click

from ferryman.cli import exits
from ferryman.cli.archives import export_workspace
from ferryman.cli.commands import ApiSession, api_command, open_session
from ferryman.cli.fields import FILE, add_options, read_tool_fields
from ferryman.cli.imports import import_workspace
from ferryman.cli.jobs import deletes_by_job, follow_deletion
from ferryman.client import PAGE_MAX, ApiNotFoundError
from ferryman.domain.counts import say_count

COLUMNS = ("workspace_id", "name", "state", "is_default", "max_credits_month", "retention_days")
CLEARED = ("max_credits_month", "conversation_credits_max", "alert_url", "retention_days")
"""The options whose value none takes away what was set."""

WILL_GO = (
    "its tasks with their credentials, tools and schedules",
    "its executions with their steps, calls, events and receipts, also those under way",
    "its agents with their MCP servers, members, invitations, API keys and sessions",
    "its audit entries, alerts and what its users had stored",
)


@click.group(no_args_is_help=True)
def workspace() -> None:
    """Create, list, show, update, archive, restore, delete, export and import workspaces.

    \b
    Nothing in a workspace is seen, counted or used from another. Commands act in
    the workspace of your key; with the owner's own key in the default one, or in:
      FERRYMAN_WORKSPACE_ID=ws_…       that of every command
      ferryman task list --workspace ws_…
    """


workspace.add_command(export_workspace)
workspace.add_command(import_workspace)


_fields = add_options(
    click.option("--file", type=FILE, help="A YAML or JSON file with the settings, - for stdin; options win over it."),
    click.option("--name", help="What people call it."),
    click.option("--tool", "allowed_tools", multiple=True, help="A tool that may be called in it; repeat for more."),
    click.option("--all-tools", is_flag=True, help="Every tool may be called in it."),
    click.option("--max-credits-month", help="Credits it may use in a month (UTC); none: only the plan's limit."),
    click.option("--conversation-credits-max", help="Credits of each conversation in a month; none: no limit here."),
    click.option("--alert-url", help="An https URL that its alerts are sent to; none: nowhere."),
    click.option("--retention-days", help="Days that executions are kept after their end; none: as the deployment."),
)


@workspace.command()
@_fields
@api_command
async def create(session: ApiSession, /, **options: Any) -> None:
    """Create a workspace, with the owner's own key alone."""
    created = await session.client.create_workspace(_read(**options))
    session.screen.print_result(created, created["workspace_id"])


@workspace.command("list")
@api_command
async def list_(session: ApiSession) -> None:
    """List the workspaces that you can act in, the default one first."""
    workspaces = [item async for item in session.client.iterate_workspaces(limit=PAGE_MAX)]
    workspaces.sort(key=lambda item: (not item["is_default"], item["created_at"], item["workspace_id"]))
    session.screen.print_list(workspaces, *COLUMNS)


@workspace.command()
@click.argument("workspace_id", metavar="WORKSPACE")
@api_command
async def show(session: ApiSession, workspace_id: str) -> None:
    """Show WORKSPACE."""
    _show(session, await session.client.get_workspace(workspace_id))


@workspace.command()
@click.argument("workspace_id", metavar="WORKSPACE")
@_fields
@api_command
async def update(session: ApiSession, /, workspace_id: str, **options: Any) -> None:
    """Change some settings of WORKSPACE; what is not named stays as it is."""
    _show(session, await session.client.change_workspace(workspace_id, _read(**options)))


@workspace.command()
@click.argument("workspace_id", metavar="WORKSPACE")
@api_command
async def archive(session: ApiSession, workspace_id: str) -> None:
    """Put WORKSPACE aside: it can be read, and nothing in it is started or changed until it is restored."""
    _show(session, await session.client.archive_workspace(workspace_id))


@workspace.command()
@click.argument("workspace_id", metavar="WORKSPACE")
@api_command
async def restore(session: ApiSession, workspace_id: str) -> None:
    """Make an archived WORKSPACE active again."""
    _show(session, await session.client.restore_workspace(workspace_id))


@workspace.command()
@click.argument("workspace_id", metavar="WORKSPACE")
@click.option("--yes", is_flag=True, help="Delete it without asking for its name.")
@deletes_by_job
@api_command
async def delete(session: ApiSession, /, workspace_id: str, yes: bool, no_wait: bool, receipt: TextIO | None) -> int:
    """Delete WORKSPACE with everything in it, for good. What was paid stays in the ledger, without anything personal.

    It is not found any more from then on; a job deletes what is in it, and signs a receipt of that.
    """
    if not yes and not await _is_confirmed(session, workspace_id):
        session.screen.print_error("that is not its name; nothing was deleted")
        return exits.USAGE
    job = await session.client.delete_workspace(workspace_id)
    await follow_deletion(session, job, no_wait=no_wait, receipt=receipt)
    return exits.DONE


async def _is_confirmed(session: ApiSession, workspace_id: str) -> bool:
    """Show what will be deleted, and return whether its name is typed. What is not there is not asked about: its deletion may
    be under way, which the service then answers."""
    try:
        stored = await session.client.get_workspace(workspace_id)
    except ApiNotFoundError:
        return True
    async with open_session(session.screen, workspace=stored["workspace_id"]) as inside:
        tasks = len([task async for task in inside.client.iterate_tasks(limit=PAGE_MAX)])
        executions = await inside.client.list_executions(limit=PAGE_MAX)
    count = f"{len(executions)} or more executions" if executions.next else say_count(len(executions), "executions")
    click.echo(f"This deletes {stored['workspace_id']} for good, with {say_count(tasks, 'tasks')} and {count}:", err=True)
    for item in WILL_GO:
        click.echo(f"  {item}", err=True)
    typed: str = click.prompt("Type its name to delete it", default="", show_default=False, err=True)
    return bool(typed == stored["name"])


def _show(session: ApiSession, stored: Any) -> None:
    session.screen.print_json(stored)
    session.screen.print_fields(stored)


def _read(file: IO[str] | None, **options: Any) -> dict[str, Any]:
    values = read_tool_fields(file, options, cleared=CLEARED)
    if isinstance(days := options["retention_days"], str) and days != "none":
        if not days.isdecimal():
            raise click.BadParameter("must be a whole number of days, or none", param_hint="--retention-days")
        values["retention_days"] = int(days)
    return values
