"""Re-sealing (key rotation): the internal route of the key holder that does it, called as an account that may."""

from __future__ import annotations

from collections.abc import Sequence

from ferryman.gcp.functions import FunctionClient

RESEALING_FUNCTION = "api_call"
"""The key holder that seals credentials again, to another version of the key."""


class RemoteResealer:
    """`rotate.Resealer`: POST to the key holder's route."""

    def __init__(self, functions: FunctionClient) -> None:
        self._functions = functions

    async def reseal(self, task: str, *, version: int) -> Sequence[str]:
        """Return the names of the credentials that do not open. Raise `UnavailableError`."""
        answer = await self._functions.post(RESEALING_FUNCTION, "/reseal", {"task": task, "version": version})
        return [str(name) for name in answer.json()["unreadable"]]
