"""The target of an import: the workspace that an archive becomes, and the ids that its things get there."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ferryman.domain.workspaces.imports import ArchiveImport, derive_agent, derive_id


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveTarget:
    """Who imports into which workspace, since when (UTC), and how far it is. `retention_days` are those of the workspace."""

    owner: str
    workspace: str
    retention_days: int | None
    began_at: datetime
    run: ArchiveImport

    def derive(self, prefix: str, name: str) -> str:
        """Return the id here of what has the id `name` in the archive."""
        return derive_id(self.workspace, prefix, name)

    def derive_agent(self, name: str) -> str:
        """Return the id here of an agent of the archive: its default agent becomes the default one."""
        return derive_agent(self.workspace, self.run, name)
