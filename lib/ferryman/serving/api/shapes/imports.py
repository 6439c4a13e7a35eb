"""An import: an archive to be imported, one file of it, and how far it is."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StrictInt, StrictStr

from ferryman.domain.archives.files import KINDS
from ferryman.domain.archives.lines import FILE_BYTES_MAX
from ferryman.domain.archives.manifest import COUNT_MAX, FORMAT
from ferryman.domain.workspaces.imports import IMPORTED_FILES_MAX
from ferryman.domain.workspaces.workspace import NAME_CHARACTERS_MAX, WorkspaceState
from ferryman.serving.api.shapes.shape import RequestShape, ResponseShape

Sha256 = Annotated[StrictStr, Field(pattern="^[0-9a-f]{64}$", description="A SHA-256 in hex")]
Keys = Annotated[
    dict[Annotated[str, Field(pattern="^[1-9][0-9]{0,14}$")], Annotated[StrictStr, Field(pattern="^[0-9a-f]{64}$")]],
    Field(max_length=100, description="The public keys of its receipts in hex, by version"),
]
Counts = Annotated[
    dict[Annotated[str, Field(max_length=40)], Annotated[StrictInt, Field(ge=0, le=COUNT_MAX)]],
    Field(max_length=len(KINDS), description="Things by kind, as the manifest tells"),
]


class NewImport(RequestShape):
    """What the manifest of an archive tells of it."""

    format: Literal["ferryman-workspace/1"]
    workspace: Annotated[StrictStr, Field(pattern="^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$", description="The one that was exported")]
    name: Annotated[StrictStr, Field(min_length=1, max_length=NAME_CHARACTERS_MAX)]
    digest: Annotated[Sha256, Field(description="Of names and digests of the files, each chained to those before it")]
    files: Annotated[StrictInt, Field(ge=1, le=IMPORTED_FILES_MAX, description="How many files it has, without its manifest")]
    file_bytes: Annotated[StrictInt, Field(ge=0, le=COUNT_MAX, description="Of the workspace's files together")]
    counts: Counts
    keys: Keys


class ImportFile(RequestShape):
    """One file of an archive, as it is in it."""

    name: Annotated[StrictStr, Field(max_length=40)]
    sha256: Sha256
    content: Annotated[StrictStr, Field(max_length=FILE_BYTES_MAX, description="Its lines")]


class CredentialToEnter(ResponseShape):
    """A credential of an imported task, whose value is entered again."""

    task_id: str
    task: str = Field(description="The name of the task")
    name: str
    service: str
    auth_type: str
    hosts: tuple[str, ...]


class RuleToDecide(ResponseShape):
    """A rule by which nobody would be asked, of the archive's workspace or of an agent or a task in it. It is imported with the
    mode `when_untrusted` in the place of `never`, which a person here may write again."""

    kind: str = Field(description="workspace, agent or task")
    id: str
    name: str
    number: int = Field(description="The number of the rule among those of it, from 0")


class ArchiveImportResponse(ResponseShape):
    """How far an import is. The workspace can be read, and is active once the last file is stored."""

    workspace_id: str
    state: WorkspaceState
    source: str = Field(description="The workspace that was exported")
    digest: str
    files: int
    following: int = Field(description="The number of the next file, from 0; as many as `files`: the import is finished")
    counts: dict[str, int] = Field(description="Things by kind so far")
    credentials: tuple[CredentialToEnter, ...] = Field(
        default=(), description="In the answer to a file of tasks, what has to be entered again"
    )
    rules: tuple[RuleToDecide, ...] = Field(
        default=(), description="In the answer to a file of definitions, the rules in it that were `never`"
    )


assert FORMAT == "ferryman-workspace/1", "the shape names the format that is read"
