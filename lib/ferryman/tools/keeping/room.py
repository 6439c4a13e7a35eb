"""Room for a write: its bytes reserved in the quota of the workspace, where need be after abandoned writes."""

from __future__ import annotations

from dataclasses import dataclass

from ferryman.domain.executions.execution import Execution
from ferryman.domain.files.quota import FileQuota, QuotaExceededError, TooManyWritesError, list_abandoned
from ferryman.domain.files.writes import FileWrite
from ferryman.ports.clock import Clock
from ferryman.ports.file_quotas import FileQuotas
from ferryman.ports.files import Files

ABANDONED_AT_ONCE = 3
"""How many writes of ended executions one call looks after."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRoom:
    """Reserves bytes for writes of calls, within the plan that the execution began with."""

    files: Files
    quotas: FileQuotas
    clock: Clock

    async def reserve(
        self, execution: Execution, write: str, size_bytes: int, key: str, *, answered: int | None = None
    ) -> FileQuota:
        """Reserve up to `size_bytes` for the `write` of the file `key`, once; for the result of a call that has `answered`, by
        its number, only as long as that is not settled.

        Raise `QuotaExceededError`, `TooManyWritesError`, `WorkspaceGoneError`, `StaleError` or `UnavailableError`.
        """
        assert execution.policy is not None, "an opened execution has a policy"
        context, limit_bytes, now = execution.context, execution.policy.plan.file_bytes, self.clock.now()

        async def reserve() -> FileQuota:
            return await self.quotas.reserve(
                context.workspace,
                write,
                owner=context.owner,
                size_bytes=size_bytes,
                limit_bytes=limit_bytes,
                now=now,
                key=key,
                answered=None if answered is None else (execution.id, answered),
            )

        try:
            quota = await reserve()
        except (QuotaExceededError, TooManyWritesError):
            if not await self._close_abandoned(context.workspace, await self.quotas.get(context.workspace)):
                raise
            return await reserve()
        if list_abandoned(quota, now):
            await self._close_abandoned(context.workspace, quota)
        return quota

    async def _close_abandoned(self, workspace: str, quota: FileQuota) -> int:
        """Close some writes of executions that were ended while the outcome was unknown; return how many."""
        abandoned = list_abandoned(quota, self.clock.now())[:ABANDONED_AT_ONCE]
        for write, reservation in abandoned:
            done: FileWrite | None = None
            if reservation.key:
                done = await self.files.find(workspace, reservation.key, write=write)
            await self.quotas.close(workspace, write, () if done is None else done.writes)
            if done is not None and done.version:  # where it was a deletion, what is left of the file goes
                await self.files.purge(workspace, reservation.key, version=done.version)
        return len(abandoned)
