"""The port of requests for runs, which applications write into the place of an execution's document."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Protocol

from ferryman.domain.executions.execution import Execution


class Requests(Protocol):
    """The documents that applications wrote to ask for runs. Each is answered once: admitted or refused."""

    async def find_request(self, execution: str) -> Mapping[str, Any] | None:
        """Return the request's fields in the document `execution`, of any type each, or None where none waits for an answer.

        Where another delivery admitted it meanwhile, those of its execution.
        """

    async def admit(self, execution: Execution, *, most: int) -> None:
        """Put the new `execution` in the place of its request, of which nothing else is kept, and into its owner's queue.

        Where it was put there before, change nothing. Raise KeyError where the document is gone, and as `start` does;
        raise `InvalidInputError` where an earlier run had this id.
        """

    async def refuse(self, execution: str, error: str, accepted: Mapping[str, Any], *, now: datetime) -> bool:
        """Put what was `accepted` of a request in its place, with the `error` that its writer is to read (`place_refused`).

        Return False, and change nothing, where an execution was admitted there meanwhile.
        """
