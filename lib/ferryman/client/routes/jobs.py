"""Jobs: long work, such as a deletion, with its progress. One outlives what it deletes, so that none is asked for in there."""

from __future__ import annotations

from ferryman.client import answers
from ferryman.client.request import OUTSIDE, AnswerPage, ApiRequest, Json, build_path, get, read_as, read_page


def list_jobs(*, limit: int | None = None, cursor: str | None = None) -> ApiRequest[AnswerPage[answers.JobJson]]:
    """Return a page of the jobs, newest first: of the key's workspace, or of all with the owner's own key."""
    return get(build_path("jobs"), read_page("jobs"), headers=OUTSIDE, limit=limit, cursor=cursor)


def get_job(job: str) -> ApiRequest[answers.JobJson]:
    """Return one job, with its progress."""
    return get(build_path("jobs", job), read_as(answers.JobJson), headers=OUTSIDE)


def get_deletion_receipt(job: str) -> ApiRequest[Json]:
    """Return the signed receipt of a deletion with the public keys, as one document that can be verified."""
    return get(build_path("jobs", job, "receipt"), read_as(Json), headers=OUTSIDE)
