"""Every route of the API with a way to ask it, so that what holds for all of them is tested on all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests import planted

from .conftest import TASK

VALUE = planted.key("serving, every route", 20, before="gh-")
CONNECTION = {"service": "calendar", "redirect_uri": "http://127.0.0.1:9/callback"}
CREDENTIAL = {"value": VALUE, "service": "github"}


@dataclass(frozen=True, slots=True)
class Ask:
    """A request of one route; `path` is a template of the OpenAPI document, `status` what its owner gets."""

    method: str
    path: str
    status: int
    body: dict[str, Any] | None = None

    def url(self, task: str, execution: str) -> str:
        return self.path.format(task_id=task, execution_id=execution, name="GITHUB_TOKEN", integration_id="github")

    @property
    def owned(self) -> bool:
        """Whether the route names something that belongs to somebody."""
        return "{task_id}" in self.path or "{execution_id}" in self.path

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


# in an order in which all of them succeed, on a task that has an execution which has finished
ROUTES = (
    Ask("POST", "/v1/tasks", 201, TASK),
    Ask("GET", "/v1/tasks", 200),
    Ask("GET", "/v1/tasks/{task_id}", 200),
    Ask("PATCH", "/v1/tasks/{task_id}", 200, {"description": "changed"}),
    Ask("PUT", "/v1/tasks/{task_id}/credentials/{name}", 200, CREDENTIAL),
    Ask("GET", "/v1/tasks/{task_id}/credentials", 200),
    Ask("POST", "/v1/tasks/{task_id}/credentials/connect", 200, CONNECTION),
    Ask("POST", "/v1/tasks/{task_id}/credentials/connect/finish", 200, {"state": "s" * 43, "code": "c"}),
    Ask("POST", "/v1/tasks/{task_id}/executions", 202, {"input": "Paris"}),
    Ask("GET", "/v1/tasks/{task_id}/executions", 200),
    Ask("GET", "/v1/executions", 200),
    Ask("GET", "/v1/executions/{execution_id}", 200),
    Ask("GET", "/v1/executions/{execution_id}/calls", 200),
    Ask("GET", "/v1/executions/{execution_id}/receipts", 200),
    Ask("GET", "/v1/executions/{execution_id}/record", 200),
    Ask("POST", "/v1/executions/{execution_id}/cancel", 200),
    Ask("GET", "/v1/executions/{execution_id}/events", 200),
    Ask("GET", "/v1/integrations", 200),
    Ask("GET", "/v1/integrations/{integration_id}", 200),
    Ask("GET", "/v1/tools", 200),
    Ask("GET", "/v1/plans", 200),
    Ask("GET", "/v1/models", 200),
    Ask("GET", "/v1/receipt-keys", 200),
    Ask("GET", "/v1/me", 200),
    Ask("GET", "/v1/ledger", 200),
    Ask("PUT", "/v1/halt", 200),
    Ask("DELETE", "/v1/halt", 200),
    Ask("GET", "/healthz", 200),
    Ask("DELETE", "/v1/tasks/{task_id}/credentials/{name}", 204),
    Ask("DELETE", "/v1/tasks/{task_id}", 204),
)
