"""`ferryman schedules`: what runs by itself, and when."""

from __future__ import annotations

import click

from ferryman.cli.asking import Asking, asking
from ferryman.domain.schedule import FIELDS, Kind


@click.command()
@asking
async def schedules(asked: Asking) -> None:
    """List the tasks that run by themselves, the next one first; times are UTC. What is paused or over comes last.

    A task is paused when three of its scheduled executions in a row failed; `ferryman task update TASK --enabled` has it go on.
    """
    found = [task for task in await asked.client.tasks() if task["schedule"] is not None]
    found.sort(key=lambda task: (task["next_fire_at"] is None, task["next_fire_at"] or "", task["task_id"]))
    rows = [{**task, **_told(task["schedule"])} for task in found]
    asked.screen.record(found)
    columns = ("task_id", "next_fire_at", "type", "when", "name", "enabled", "paused")
    asked.screen.table(rows, *columns, empty="No task has a schedule; ferryman task create --schedule makes one that has.")


def _told(schedule: dict[str, object]) -> dict[str, object]:
    kind = Kind(str(schedule["type"]))
    return {"type": kind.value, "when": schedule[FIELDS[kind]]}
