"""`ferryman schedules`: what runs by itself, and when."""

from __future__ import annotations

import click

from ferryman.cli.commands import ApiSession, api_command
from ferryman.domain.tasks.schedule import FIELDS, ScheduleType


@click.command()
@api_command
async def schedules(session: ApiSession) -> None:
    """List the tasks that run by themselves, the next one first; times are UTC. What is paused or over comes last.

    A task is paused when three of its scheduled executions in a row failed; `ferryman task update TASK --enabled` has it go on.
    """
    tasks = [task for task in await session.client.list_tasks() if task["schedule"] is not None]
    tasks.sort(key=lambda task: (task["next_fire_at"] is None, task["next_fire_at"] or "", task["task_id"]))
    rows = [{**task, **_describe(task["schedule"])} for task in tasks]
    session.screen.print_json(tasks)
    columns = ("task_id", "next_fire_at", "type", "when", "name", "enabled", "paused")
    session.screen.print_table(
        rows, *columns, empty="No task has a schedule; ferryman task create --schedule makes one that has."
    )


def _describe(schedule: dict[str, object]) -> dict[str, object]:
    kind = ScheduleType(str(schedule["type"]))
    return {"type": kind.value, "when": schedule[FIELDS[kind]]}
