"""The execution of an archive whose lines are read: what was read of it, and how large it is up to here."""

from __future__ import annotations

from dataclasses import dataclass, field

from ferryman.domain.archives.content import ExecutionParts
from ferryman.domain.archives.lines import ArchiveError
from ferryman.domain.calls.call import Ticket
from ferryman.domain.copies import replace
from ferryman.domain.credits.ledger import LedgerEntry
from ferryman.domain.executions.execution import Execution, ExecutionSetup, Step
from ferryman.domain.executions.policy import ExecutionPolicy
from ferryman.domain.receipts.receipt import Receipt
from ferryman.domain.workspaces.imports import EXECUTION_BYTES_MAX, EXECUTION_LINES_MAX, OpenRun
from ferryman.ports.archives import ImportedHistory
from ferryman.serving.importing.target import ArchiveTarget


@dataclass(slots=True)
class OpenExecution:
    """The execution whose lines are read: its id in the archive, the kind of its last line, and what was read of it.

    It has so many `lines` up to here, those in earlier files among them, of `size` bytes together in UTF-8.
    """

    name: str
    kind: str
    lines: int = 0
    size: int = 0
    execution: Execution | None = None
    policy: ExecutionPolicy | None = None
    opening: ExecutionSetup | None = None
    steps: list[Step] = field(default_factory=list)
    tickets: list[Ticket] = field(default_factory=list)
    entries: list[LedgerEntry] = field(default_factory=list)
    receipts: list[Receipt] = field(default_factory=list)

    def count_line(self, place: str, size: int) -> None:
        """Count a line of `size` bytes. Raise `ArchiveError` above what is read as a whole."""
        self.lines, self.size = self.lines + 1, self.size + size
        for count, most, of in ((self.lines, EXECUTION_LINES_MAX, "lines"), (self.size, EXECUTION_BYTES_MAX, "bytes in UTF-8")):
            if count > most:
                message = f"execution {self.name}: has {count} {of} up to here, and at most {most} may be imported"
                raise ArchiveError(place, message)

    def to_run(self) -> OpenRun:
        """Return it as what goes on in the next file."""
        return OpenRun(execution=self.name, kind=self.kind, lines=self.lines, size=self.size)

    def to_piece(self, target: ArchiveTarget) -> ImportedHistory:
        """Return what was read of it as it is stored."""
        name = target.derive("exec", self.name)
        if self.execution is None:
            return ImportedHistory(name=name, policy=self.policy, parts=self._to_parts())
        return ImportedHistory(name=name, execution=replace(self.execution, policy=self.policy), parts=self._to_parts())

    def _to_parts(self) -> ExecutionParts:
        return ExecutionParts(
            opening=self.opening,
            steps=tuple(self.steps),
            tickets=tuple(self.tickets),
            entries=tuple(self.entries),
            receipts=tuple(self.receipts),
        )
