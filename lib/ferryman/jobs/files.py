"""Deleting the files of a workspace: a page of them is noted and counted first, and deleted from the bucket then.

Nobody writes any more: the workspace is found by nobody, and no bytes are reserved for it. A job that dies in between finds the
page noted, deletes what is left of it, and counts none of it again.
"""

from __future__ import annotations

import hashlib

from ferryman.domain.jobs.job import Job
from ferryman.jobs.dependencies import JobDependencies
from ferryman.ports.files import Files

FILES_PER_COMMIT = 50
"""Their keys, of at most 512 bytes each, are in the job's document until they are gone."""


async def delete_files(deps: JobDependencies, files: Files, job: Job) -> tuple[Job, bool]:
    """Delete the files that are noted, and note the next ones; return the job, and whether there are more.

    Raise `StaleError` or `UnavailableError`.
    """
    for key in job.files:
        await _delete(files, job, key)
    keys, cursor = list[str](), None
    while not keys:
        page = await files.list(job.subject, "", cursor=cursor, most=FILES_PER_COMMIT)
        for key in page.deleted:  # what a deletion has left whose process died: no file, and not counted
            await _delete(files, job, key)
        keys, cursor = [entry.key for entry in page.entries], page.cursor
        if cursor is None:
            break
    if not keys and not job.files:
        return job, False
    return await deps.work.note_files(job, keys, now=deps.clock.now(), lease=deps.lease), bool(keys)


async def _delete(files: Files, job: Job, key: str) -> None:
    write = f"{job.id}.{hashlib.sha256(key.encode()).hexdigest()[:16]}"
    done = await files.delete(job.subject, key, write=write)
    if done is not None:
        await files.purge(job.subject, key, version=done.version)
