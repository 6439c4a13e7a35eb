"""`ferryman task` and `ferryman schedules`: tasks, and when they run by themselves."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import click

from ferryman.cli import exits, task_template
from ferryman.cli.commands import ApiSession, api_command, screen_command
from ferryman.cli.fields import FILE, add_options, read_fields
from ferryman.cli.screen import Screen
from ferryman.client import PAGE_MAX
from ferryman.domain.tasks.schedule import FIELDS, ScheduleType
from ferryman.domain.tasks.task import NAME_CHARACTERS_MAX, ToolLoading

LOADING = click.Choice([loading.value for loading in ToolLoading])
CLEARED = ("agent_id", "model")
"""The options whose value none is that of a task which does not name one."""


@click.group(no_args_is_help=True)
def task() -> None:
    """Create, list, show, update and delete tasks.

    \b
    A task as a file, in YAML or JSON:
      ferryman task init                      writes task.yaml, with every field explained
      ferryman task create --file task.yaml
    """


_fields = add_options(
    click.option("--file", type=FILE, help="A YAML or JSON file with the task's fields, - for stdin; options win over it."),
    click.option("--name", help="What you call it."),
    click.option("--description", help="What it is for."),
    click.option("--agent", "agent_id", help="The agent that runs it, of `ferryman agent list`; none: the default one."),
    click.option(
        "--model",
        help="The model, one of `ferryman models`; scripted/NAME plays a script of a local stack; none: its agent's.",
    ),
    click.option("--prompt", "task_prompt", help="What is to be done; may use {{date}} and {{task_name}}."),
    click.option("--system-prompt", help="How it is to be done."),
    click.option("--tool", "tools", multiple=True, help="A tool it may use; repeat for more."),
    click.option("--ask", metavar="TOOL", multiple=True, help="A tool whose every call waits for a person; repeat for more."),
    click.option("--tool-loading", type=LOADING, help="Which of its tools the model is shown."),
    click.option("--integration", "integrations", multiple=True, help="A service it may reach; repeat for more."),
    click.option("--webhook-url", "webhook_urls", multiple=True, help="A URL it may post to, at most three."),
    click.option("--webhook-match", type=click.Choice(["host", "url"]), help="What of a webhook URL must match."),
    click.option("--max-iterations", type=int, help="Turns an execution may take."),
    click.option("--max-credits", help="Credits an execution may spend."),
    click.option("--max-tokens", type=int, help="Tokens of one reply."),
    click.option("--temperature", type=float, help="0 to 1."),
    click.option("--schedule", "cron", metavar="CRON", help='When it runs by itself, in UTC: "*/15 * * * *".'),
    click.option("--once", metavar="MOMENT", help="It runs by itself at a moment: 2027-01-31T09:00:00Z."),
    click.option("--delay", type=int, metavar="SECONDS", help="It runs by itself so many seconds from now."),
    click.option("--enabled/--disabled", default=None, help="Whether it can be run."),
)


@task.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path), default="task.yaml")
@click.option("--name", default="hello", show_default=True, help="What the task is called.")
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@screen_command
async def init(screen: Screen, file: Path, name: str, force: bool) -> int:
    """Write FILE (task.yaml; - prints it): a task in YAML with every field explained, which can be created as it is."""
    if len(name) > NAME_CHARACTERS_MAX or not name.isprintable():
        raise click.BadParameter(f"must be at most {NAME_CHARACTERS_MAX} characters, on one line", param_hint="--name")
    text = task_template.write_template("task.yaml" if str(file) == "-" else str(file), name)
    if str(file) == "-":
        click.echo(text, nl=False)
        return exits.DONE
    try:
        with file.open("w" if force else "x", encoding="utf-8") as output:
            output.write(text)
    except FileExistsError:
        screen.print_error(f"{file} is there already; --force replaces it")
        return exits.FAILED
    except OSError as error:
        screen.print_error(f"{file} cannot be written ({error.strerror})")
        return exits.FAILED
    screen.print_result({"file": str(file)}, f"{file} is written. Next: ferryman task create --file {file}")
    return exits.DONE


@task.command()
@_fields
@api_command
async def create(session: ApiSession, /, file: IO[str] | None, **options: Any) -> None:
    """Create a task from a file, from options, or from both."""
    created = await session.client.create_task(_read(file, options))
    session.screen.print_result(created, created["task_id"])


@task.command("list")
@click.option("--enabled/--disabled", default=None, help="Only those that can be run, or only those that cannot.")
@click.option("--name", help="Only those of this name.")
@click.option("--agent", help="Only those of this agent.")
@api_command
async def list_(session: ApiSession, /, **filters: Any) -> None:
    """List your tasks, oldest first, without their prompts."""
    columns, empty = (
        ("task_id", "name", "agent_id", "model", "enabled", "next_fire_at"),
        "You have no tasks yet; ferryman task create makes one.",
    )
    tasks = [task async for task in session.client.iterate_tasks(limit=PAGE_MAX, **filters)]
    session.screen.print_list(tasks, *columns, empty=empty)


@task.command()
@click.argument("task")
@api_command
async def show(session: ApiSession, task: str) -> None:
    """Show TASK."""
    stored = await session.client.get_task(task)
    session.screen.print_json(stored)
    session.screen.print_fields(stored)


@task.command()
@click.argument("task")
@_fields
@click.option("--no-schedule", is_flag=True, help="It runs only when it is started.")
@api_command
async def update(session: ApiSession, /, task: str, file: IO[str] | None, no_schedule: bool, **options: Any) -> None:
    """Change some fields of TASK; what is not named stays as it is. One that is paused goes on with --enabled."""
    changed = await session.client.change_task(task, {**_read(file, options), **({"schedule": None} if no_schedule else {})})
    session.screen.print_json(changed)
    session.screen.print_fields(changed)


@task.command()
@click.argument("task")
@api_command
async def delete(session: ApiSession, task: str) -> None:
    """Delete TASK and its credentials."""
    await session.client.delete_task(task)
    session.screen.print_result({"task_id": task, "deleted": True}, f"{task} and its credentials are deleted.")


def _read(file: IO[str] | None, options_by_name: dict[str, Any]) -> dict[str, Any]:
    schedule = _schedule(options_by_name.pop("cron"), options_by_name.pop("once"), options_by_name.pop("delay"))
    tools = options_by_name.pop("ask")
    approvals = ({"mode": "always", "tools": list(tools)},) if tools else ()
    return read_fields(file, {**options_by_name, "schedule": schedule, "approvals": approvals}, cleared=CLEARED)


def _schedule(cron: str | None, once: str | None, delay: int | None) -> dict[str, Any] | None:
    schedules = [
        {"type": kind, name: value}
        for kind, name, value in (("cron", "cron", cron), ("once", "at", once), ("delayed", "after_s", delay))
        if value is not None
    ]
    if len(schedules) > 1:
        raise click.UsageError("only one of --schedule, --once and --delay can be given")
    return schedules[0] if schedules else None


@click.command()
@api_command
async def schedules(session: ApiSession) -> None:
    """List the tasks that run by themselves, the next one first; times are UTC. What is paused or over comes last.

    A task is paused when three of its scheduled executions in a row failed; `ferryman task update TASK --enabled` has it go on.
    """
    tasks = [task async for task in session.client.iterate_tasks(limit=PAGE_MAX) if task["schedule"] is not None]
    tasks.sort(key=lambda task: (task["next_fire_at"] is None, task["next_fire_at"] or "", task["task_id"]))
    rows = [{**task, **_describe(task["schedule"])} for task in tasks]
    session.screen.print_json(tasks)
    columns = ("task_id", "next_fire_at", "type", "when", "name", "enabled", "paused")
    session.screen.print_table(
        rows, *columns, empty="No task has a schedule; ferryman task create --schedule makes one that has."
    )


def _describe(schedule: Mapping[str, object] | None) -> dict[str, object]:
    assert schedule is not None, "only tasks that have one are listed"
    kind = ScheduleType(str(schedule["type"]))
    return {"type": kind.value, "when": schedule[FIELDS[kind]]}
