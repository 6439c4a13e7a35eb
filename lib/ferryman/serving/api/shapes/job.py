"""A job as it is answered, with its progress, and the receipt of what it has deleted."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from pydantic import Field

from ferryman.domain.jobs.deletion_receipt import FORMAT
from ferryman.domain.jobs.job import JobKind, JobStatus
from ferryman.serving.api.shapes.shape import ListPage, ResponseShape

COUNTS = "Documents by kind"


class DeletionReceiptResponse(ResponseShape):
    """What was deleted, signed. It holds ids and counts, and nothing personal."""

    job: str
    kind: str
    workspace: str
    subject: str
    person: str = Field(description="Who asked for it; empty: the owner's own key did")
    counts: Mapping[str, int] = Field(description=COUNTS)
    requested_at: str
    completed_at: str
    key: int = Field(description="The version of the key of receipts")
    hash: str = Field(description="SHA-256 of the receipt's canonical JSON, in hex")
    signature: str = Field(description="Ed25519 over the hash, in hex")


class JobResponse(ResponseShape):
    """A job. `counts` grows while it runs; `receipt` is there once a deletion is done."""

    job_id: str = Field(validation_alias="id")
    kind: JobKind
    workspace_id: str = Field(validation_alias="workspace")
    subject: str = Field(description="The id of the workspace, agent or person that it is about")
    person: str = Field(description="Who asked for it; empty: the owner's own key did")
    status: JobStatus
    stage: str = Field(description="What is being deleted; empty before the first and after the last")
    counts: Mapping[str, int] = Field(description=COUNTS)
    created_at: datetime
    completed_at: datetime | None
    receipt: DeletionReceiptResponse | None


class JobList(ListPage):
    """A page of jobs, newest first."""

    jobs: tuple[JobResponse, ...]


class DeletionDocument(ResponseShape):
    """A receipt of a deletion with the public keys by version, as `ferryman verify` reads it."""

    format: str = FORMAT
    receipt: DeletionReceiptResponse
    keys: Mapping[str, str]
