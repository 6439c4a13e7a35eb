"""The port of the tool registry, by which the loop offers tools to the model and executes its calls."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Protocol

from ferryman.domain.calls.call import Ticket
from ferryman.domain.calls.route import CallRoute
from ferryman.domain.calls.sub_calls import SubCalls
from ferryman.domain.executions.execution import Execution
from ferryman.domain.executions.postponement import Postponement
from ferryman.domain.tools.tool import Tool


class Registry(Protocol):
    """The tools as the loop uses them."""

    def get_definitions(self, enabled: Collection[str], *, services: Collection[str] = ()) -> list[dict[str, Any]]:
        """Return the definitions that the model is shown."""
        ...

    def has_tool(self, name: str) -> bool:
        """Tell whether a built-in tool is offered here."""
        ...

    def find_route(self, name: str, arguments: Mapping[str, Any], enabled: Collection[str]) -> CallRoute | None:
        """Return which tool executes a call of the tool `name`; None where that one does itself."""
        ...

    async def execute(
        self, ticket: Ticket, *, execution: Execution, admit: Callable[[Tool], None]
    ) -> Ticket | Postponement | SubCalls:
        """Return the ticket with its result: settled by its tool, or not settled where the call was refused before.

        Or return when to execute it again, or after which other calls. `admit` raises `CallRefusedError` for a call that a
        limit refuses. Raise `StaleError` or `UnavailableError`.
        """
        ...
