"""`ferryman job`: deletions and other long work of the service, and how far each is."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any, TextIO

import click

from ferryman.cli.commands import ApiSession, api_command
from ferryman.client import PAGE_MAX
from ferryman.domain.counts import list_counts, say_count

POLL_S = 1.0
"""How often the service is asked how far a job is."""


@click.group(no_args_is_help=True)
def job() -> None:
    """List deletions and other long work, and watch how far one is."""


@job.command("list")
@api_command
async def list_(session: ApiSession) -> None:
    """List jobs, newest first: all of yours with the owner's own key, else those of the key's workspace."""
    jobs = [item async for item in session.client.iterate_jobs(limit=PAGE_MAX)]
    session.screen.print_list(jobs, "job_id", "kind", "subject", "status", "created_at", empty="There are no jobs.")


@job.command()
@click.argument("job")
@click.option("--watch", is_flag=True, help="Wait until it is done, and show how far it is meanwhile.")
@click.option("--receipt", type=click.File("w"), help="Write the receipt of a deletion to this file, for `ferryman verify`.")
@api_command
async def show(session: ApiSession, job: str, watch: bool, receipt: TextIO | None) -> None:
    """Show JOB, and the receipt of what it has deleted."""
    stored = await watch_job(session, job) if watch else await session.client.get_job(job)
    session.screen.print_json(stored)
    session.screen.print_fields({name: value for name, value in stored.items() if name != "receipt"})
    await write_receipt(session, stored, receipt)


async def watch_job(session: ApiSession, job: str) -> Mapping[str, Any]:
    """Return a job once it is done, and show what it deletes meanwhile."""
    with session.screen.show_progress(f"job {job}"):
        while True:
            stored = await session.client.get_job(job)
            if stored["status"] == "done":
                return stored
            session.screen.show_work(describe_progress(stored))
            await asyncio.sleep(POLL_S)


def describe_progress(job: Mapping[str, Any]) -> str:
    """Return how far a job is, in a few words."""
    return f"{job['stage'] or job['status']}: {say_count(sum(job['counts'].values()), 'documents')} so far"


def deletes_by_job(work: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command that starts a deletion the options of `follow_deletion`."""
    file = click.option("--receipt", type=click.File("w"), help="Write the signed receipt to this file, for `ferryman verify`.")
    wait = click.option("--no-wait", is_flag=True, help="Do not wait until it is done; `ferryman job show JOB --watch` does.")
    return wait(file(work))


async def follow_deletion(session: ApiSession, started: Mapping[str, Any], *, no_wait: bool, receipt: TextIO | None) -> None:
    """Wait for the job of a deletion, unless `no_wait`, and print what came of it; write its receipt where `receipt` is."""
    name = started["job_id"]
    done = started if no_wait else await watch_job(session, name)
    session.screen.print_json(done)
    if no_wait:
        session.screen.print_line(f"{name} deletes it: ferryman job show {name} --watch")
    await write_receipt(session, done, receipt)


async def write_receipt(session: ApiSession, job: Mapping[str, Any], file: TextIO | None) -> None:
    """Print what a deletion has deleted, and write its receipt with the public keys to `file`, where there is one."""
    if job["receipt"] is None:
        return
    session.screen.print_line(f"deleted: {list_counts(dict(sorted(job['receipt']['counts'].items())))}", "bold")
    session.screen.print_line(f"receipt: signed with version {job['receipt']['key']} of the key, hash {job['receipt']['hash']}")
    if file is not None:
        document = await session.client.get_deletion_receipt(job["job_id"])
        file.write(json.dumps(document, indent=1) + "\n")
        session.screen.print_line(f"{file.name} is written. Next: ferryman verify {file.name}")
