"""`ferryman agent` and `ferryman policy`: the agents of a workspace, and which level takes which tool away from one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any, TextIO

import click

from ferryman.cli.commands import ApiSession, api_command
from ferryman.cli.fields import FILE, add_options, read_tool_fields
from ferryman.cli.jobs import deletes_by_job, follow_deletion
from ferryman.client import PAGE_MAX
from ferryman.domain.tools.correction import ArgumentRole
from ferryman.domain.workspaces.agent import Titles
from ferryman.domain.workspaces.effective_policy import PolicyLevel

LEVELS = tuple(level.value for level in PolicyLevel)
YES, NO, NOT_JUDGED = "yes", "no", "-"
DECIDES, CORRECTED = ArgumentRole.DECIDES.value, " (corrected)"
CLEARED = ("model", "max_credits_month", "conversation_credits_max")
"""The options whose value none takes away what was set."""


@click.group(no_args_is_help=True)
def agent() -> None:
    """Create, list, show, update, archive, restore and delete agents.

    An agent is a name with a prompt, a model and the tools that it may call; a task belongs to one. A file has its fields in
    YAML or JSON, tool_settings too:

    \b
      allowed_tools: [http_get, api_call]
      tool_settings:
        http_get: {calls_max: 5, timeout_s: 10, arguments: {headers: {Accept: text/plain}}}
        webhook: {flow: {roles: {body: free}}}
    """


_fields = add_options(
    click.option("--file", type=FILE, help="A YAML or JSON file with its fields, - for stdin; options win over it."),
    click.option("--name", help="What you call it."),
    click.option("--description", help="What it is for."),
    click.option("--system-prompt", help="What every execution of its tasks is told before the task's own prompt."),
    click.option("--model", help="The model of its tasks that name none, one of `ferryman models`; none: each names one."),
    click.option("--tool", "allowed_tools", multiple=True, help="A tool it may call, and no others; repeat for more."),
    click.option("--all-tools", is_flag=True, help="It may call every tool that the task enables."),
    click.option("--max-credits-month", help="Credits its executions may use in a month (UTC); none: no limit."),
    click.option("--tools-enabled/--no-tools-enabled", default=None, help="Whether conversations with it have tools."),
    click.option("--enabled-tool", "enabled_tools", multiple=True, help="A tool of its conversations, and no others; repeat."),
    click.option(
        "--titles",
        type=click.Choice([titles.value for titles in Titles]),
        help="Where conversations have their titles from: their first message, or the model, for some credits each.",
    ),
    click.option("--conversation-credits-max", help="Credits of each conversation in a month; none: as the workspace."),
)


@agent.command()
@click.option("--template", help="What it begins with: manager, wally or eve; see `ferryman agent templates`.")
@_fields
@api_command
async def create(session: ApiSession, /, file: IO[str] | None, **options: Any) -> None:
    """Create an agent from a template, a file, options, or all of them."""
    created = await session.client.create_agent(read_tool_fields(file, options, cleared=CLEARED))
    session.screen.print_result(created, created["agent_id"])


@agent.command()
@api_command
async def templates(session: ApiSession) -> None:
    """List the templates: what each agent is for, the tools that it may call, and how many of these are implemented."""
    listed = [template async for template in session.client.iterate_agent_templates()]
    session.screen.print_json(listed)
    implemented = {tool["name"] async for tool in session.client.iterate_tools() if tool["implemented"]}
    rows = []
    for template in listed:
        count = sum(name in implemented for name in template["allowed_tools"])
        rows.append({**template, "tools": f"{len(template['allowed_tools'])}, {count} implemented"})
    session.screen.print_table(rows, "id", "name", "role", "tools", "description", "waits_for", empty="There are none.")


@agent.command("list")
@api_command
async def list_(session: ApiSession) -> None:
    """List the agents of the workspace."""
    agents = [stored async for stored in session.client.iterate_agents(limit=PAGE_MAX)]
    session.screen.print_json(agents)
    rows = [{**stored, "tools": len(stored["allowed_tools"]) or "all"} for stored in agents]
    columns = ("agent_id", "name", "model", "tools", "max_credits_month", "template", "is_default", "archived")
    session.screen.print_table(rows, *columns, empty="There are none.")


@agent.command()
@click.argument("agent")
@api_command
async def show(session: ApiSession, agent: str) -> None:
    """Show AGENT."""
    _print(session, await session.client.get_agent(agent))


@agent.command()
@click.argument("agent")
@_fields
@api_command
async def update(session: ApiSession, /, agent: str, file: IO[str] | None, **options: Any) -> None:
    """Change some fields of AGENT; what is not named stays as it is. Executions that have begun keep what they began with."""
    _print(session, await session.client.change_agent(agent, read_tool_fields(file, options, cleared=CLEARED)))


@agent.command()
@click.argument("agent")
@api_command
async def archive(session: ApiSession, agent: str) -> None:
    """Put AGENT aside: none of its tasks is started until it is restored."""
    await session.client.archive_agent(agent)
    session.screen.print_result({"agent_id": agent, "archived": True}, f"{agent} is archived.")


@agent.command()
@click.argument("agent")
@api_command
async def restore(session: ApiSession, agent: str) -> None:
    """Make AGENT active again, which is archived."""
    await session.client.restore_agent(agent)
    session.screen.print_result({"agent_id": agent, "archived": False}, f"{agent} is active.")


@agent.command()
@click.argument("agent")
@click.option("--with-tasks", is_flag=True, help="Delete its tasks, too; without it, an agent that has tasks stays.")
@deletes_by_job
@api_command
async def delete(session: ApiSession, /, agent: str, with_tasks: bool, no_wait: bool, receipt: TextIO | None) -> None:
    """Delete AGENT with its executions, for good; one that has tasks stays unless --with-tasks says that they go, too.

    It is not found any more from then on; a job deletes what belongs to it, and signs a receipt of that.
    """
    job = await session.client.delete_agent(agent, tasks="delete" if with_tasks else "refuse")
    await follow_deletion(session, job, no_wait=no_wait, receipt=receipt)


@click.command()
@click.argument("agent")
@click.option("--task", help="What the executions of this task of the agent may call; without it, what any task could.")
@api_command
async def policy(session: ApiSession, agent: str, task: str | None) -> None:
    """Show which tools AGENT may call, and which level takes the others away: task, agent, workspace, plan or catalog.

    A tool may be called where all of them allow it. Names with and without the prefix orchestrator__ are the same.

    The column asks says whether its calls wait for a person: always, when_untrusted, never, or depends, which is on their host,
    method or amount. With when_untrusted a call waits where text of others may have decided one of the arguments in the column
    decides; none for a tool that only reads. Correct them by tool_settings: {TOOL: {flow: {roles: {ARGUMENT: content}}}}.
    """
    rows = [row async for row in session.client.iterate_policy(agent, task=task, limit=PAGE_MAX)]
    session.screen.print_json(rows)
    table = [_build_row(row, judges_task=task is not None) for row in rows]
    session.screen.print_table(table, "tool", *LEVELS, "result", "asks", "decides", "why", empty="There are no tools.")


def _build_row(row: Mapping[str, Any], *, judges_task: bool) -> dict[str, Any]:
    """Return a row of the table: whether each level allows the tool, whether it may be called, and why not."""
    levels = {level: NO if level in row["taken_by"] else YES for level in LEVELS}
    if not judges_task:
        levels[PolicyLevel.TASK.value] = NOT_JUDGED
    result, why = ("allowed", "") if row["allowed"] else ("refused", row["reason"])
    decides = _list_deciding(row["flow"])
    return {"tool": row["tool"], **levels, "result": result, "asks": row["asks"], "decides": decides, "why": why}


def _list_deciding(flow: Mapping[str, Any] | None) -> str:
    """Return the arguments that decide where an effect goes, with a mark where the owner has corrected them."""
    if flow is None:
        return NOT_JUDGED
    has_effect = flow["changes"] or flow["sends"]
    names = [name for name, role in flow["roles"].items() if role == DECIDES and has_effect]
    return (",".join(names) or NOT_JUDGED) + (CORRECTED if flow["corrected"] else "")


def _print(session: ApiSession, stored: Mapping[str, Any]) -> None:
    session.screen.print_json(stored)
    session.screen.print_fields(stored)
