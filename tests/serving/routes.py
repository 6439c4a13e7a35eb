"""Every route of the API with a way to ask it, so that what holds for all of them is tested on all of them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from ferryman.inmemory.clock import START
from tests.authority import sign_token
from tests.canaries import canary
from tests.remote_servers import DIGEST

from .conftest import TASK
from .values import EMPTY, IMPORTED, TOKEN, build_approval

PEOPLE = ("person", "invitation", "key", "identity", "session")
VALUE = canary.create_key("serving, every route", 20, before="gh-")
CONNECTION = {"service": "calendar", "redirect_uri": "http://127.0.0.1:9/callback"}
SERVER_CONNECTION = {"redirect_uri": "http://127.0.0.1:9/callback/mcp"}
CREDENTIAL = {"value": VALUE, "service": "github"}
TOOL = {"kind": "http", "name": "look_up", "url": "https://api.github.com/users/{user}"}
SPEC = {
    "openapi": "3.1.0",
    "info": {"title": "Zen", "version": "1"},
    "servers": [{"url": "https://api.github.com"}],
    "paths": {"/zen": {"get": {"operationId": "zen", "responses": {}}}},
}
SERVER = {"name": "books", "url": "https://books.example.com/mcp", "headers": {"X-Api-Key": VALUE}}
DECISION = {"verdict": "deny", "digest": build_approval("ann").digest, "reason": "Not today."}
STANDING = {"tool": "http_post", "hosts": ["api.github.com"], "uses": 5, "expires_in_days": 7}

IMPORT = {
    "format": "ferryman-workspace/1",
    "workspace": "ws_there",
    "name": "Kitchen",
    "digest": "1" * 64,
    "files": 2,
    "file_bytes": 0,
    "counts": {"workspace": 1},
    "keys": {},
}
IMPORT_FILE = {"name": IMPORTED.name, "sha256": IMPORTED.last, "content": EMPTY}

LASTING = sign_token(exp=int((START + timedelta(days=30)).timestamp()))
"""An access token that outlives every test's clock."""


@dataclass(frozen=True, slots=True)
class Ask:
    """A request of one route; `path` is a template of the OpenAPI document, `status` what its owner gets."""

    method: str
    path: str
    status: int
    body: dict[str, Any] | None = None
    query: str = ""

    def url(self, task: str, execution: str) -> str:
        name = "Zen" if "/cluster/" in self.path else "GITHUB_TOKEN"
        names = {"task_id": task, "execution_id": execution, "workspace_id": "ws_ann", "job_id": "job_ann"}
        names |= {
            "key": "notes.md",
            "person_id": "person_ann",
            "invitation_id": "inv_ann",
            "key_id": "key_ann",
            "session_id": "sess_ann",
            "identity_id": "identity_ann",
            "agent_id": "agent_ann",
            "server_id": "mcp_ann",
            "conversation_id": "conv_ann",
            "message_number": "2",
            "seq": "0",
            "approval_id": "appr_ann",
            "standing_approval_id": "stand_ann",
        }
        return self.path.format(**names, name=name, integration_id="github") + self.query

    @property
    def owned(self) -> bool:
        """Whether the route names something that belongs to somebody."""
        kinds = ("task", "execution", "workspace", "agent", "conversation", "job", "approval", "standing_approval", *PEOPLE)
        return any(f"{{{kind}_id}}" in self.path for kind in kinds)

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


def _custom(task: str) -> tuple[Ask, ...]:
    return (
        Ask("POST", f"{task}/tools", 201, TOOL),
        Ask("POST", f"{task}/tools/import-openapi", 200, {"spec": SPEC}),
        Ask("GET", f"{task}/tools", 200),
        Ask("GET", f"{task}/chat/tools", 200),
        Ask("DELETE", f"{task}/tools", 200, query="?id=look_up"),
        Ask("DELETE", f"{task}/tools/cluster/{{name}}", 200),
    )


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
    *_custom("/v1/tasks/{task_id}"),
    *_custom("/api/agents/{task_id}"),
    Ask("POST", "/v1/tasks/{task_id}/executions", 202, {"input": "Paris"}),
    Ask("POST", "/v1/tasks/{task_id}/calls", 202, {"tool": "http_get", "arguments": {"url": "https://api.github.com/zen"}}),
    Ask("GET", "/v1/tasks/{task_id}/executions", 200),
    Ask("GET", "/v1/executions", 200),
    Ask("GET", "/v1/executions/{execution_id}", 200),
    Ask("GET", "/v1/executions/{execution_id}/calls", 200),
    Ask("GET", "/v1/executions/{execution_id}/calls/{seq}", 200),
    Ask("GET", "/v1/executions/{execution_id}/turns", 200),
    Ask("GET", "/v1/executions/{execution_id}/receipts", 200),
    Ask("GET", "/v1/executions/{execution_id}/record", 200),
    Ask("POST", "/v1/executions/{execution_id}/cancel", 200),
    Ask("GET", "/v1/executions/{execution_id}/events", 200),
    Ask("GET", "/v1/approvals", 200),
    Ask("GET", "/v1/approvals/{approval_id}", 200),
    Ask("POST", "/v1/approvals/{approval_id}/decision", 200, DECISION),
    Ask("POST", "/v1/standing-approvals", 201, STANDING),
    Ask("GET", "/v1/standing-approvals", 200),
    Ask("DELETE", "/v1/standing-approvals/{standing_approval_id}", 204),
    Ask("POST", "/v1/conversations", 201, {"agent_id": "agent_ann", "title": "Ferries"}),
    Ask("GET", "/v1/conversations", 200),
    Ask("GET", "/v1/conversations/{conversation_id}", 200),
    Ask("PATCH", "/v1/conversations/{conversation_id}", 200, {"title": "Other"}),
    Ask("GET", "/v1/conversations/{conversation_id}/messages", 200),
    Ask("GET", "/v1/conversations/{conversation_id}/events", 204, query="?answer=2"),
    Ask("POST", "/v1/conversations/{conversation_id}/messages", 202, {"content": "And?", "model": "scripted/hello"}),
    Ask("POST", "/v1/conversations/{conversation_id}/messages/{message_number}/regenerate", 202, {"model": "scripted/hello"}),
    Ask("POST", "/v1/conversations/{conversation_id}/stop", 200),
    Ask("POST", "/api/agents/{agent_id}/chat", 202, {"content": "Hello?", "model": "scripted/hello"}),
    Ask("POST", "/v1/workspaces", 201, {"name": "Kitchen"}),
    Ask("GET", "/v1/workspaces", 200),
    Ask("GET", "/v1/workspaces/{workspace_id}", 200),
    Ask("PATCH", "/v1/workspaces/{workspace_id}", 200, {"name": "Other"}),
    Ask("POST", "/v1/workspaces/{workspace_id}/archive", 200),
    Ask("POST", "/v1/workspaces/{workspace_id}/restore", 200),
    Ask("POST", "/v1/agents", 201, {"template": "wally"}),
    Ask("GET", "/v1/agents", 200),
    Ask("GET", "/v1/agents/{agent_id}", 200),
    Ask("PATCH", "/v1/agents/{agent_id}", 200, {"name": "Other"}),
    Ask("GET", "/v1/agents/{agent_id}/policy", 200),
    Ask("POST", "/v1/agents/{agent_id}/mcp", 201, SERVER),
    Ask("GET", "/v1/agents/{agent_id}/mcp", 200),
    Ask("GET", "/v1/agents/{agent_id}/mcp/{server_id}", 200),
    Ask("PATCH", "/v1/agents/{agent_id}/mcp/{server_id}", 200, {"enabled": True}),
    Ask("GET", "/v1/agents/{agent_id}/mcp/{server_id}/tools", 200),
    Ask("POST", "/v1/agents/{agent_id}/mcp/{server_id}/accept", 200, {"digests": {"search": DIGEST}}),
    Ask("POST", "/v1/agents/{agent_id}/mcp/{server_id}/refresh", 200),
    Ask("POST", "/v1/agents/{agent_id}/mcp/{server_id}/connect", 200, SERVER_CONNECTION),
    Ask("POST", "/v1/agents/{agent_id}/mcp/{server_id}/connect/finish", 200, {"state": "s" * 43, "code": "c"}),
    Ask("DELETE", "/v1/agents/{agent_id}/mcp/{server_id}", 204),
    Ask("POST", "/v1/agents/{agent_id}/archive", 200),
    Ask("POST", "/v1/agents/{agent_id}/restore", 200),
    Ask("GET", "/v1/jobs", 200),
    Ask("GET", "/v1/jobs/{job_id}", 200),
    Ask("GET", "/v1/jobs/{job_id}/receipt", 200),
    Ask("GET", "/v1/workspaces/{workspace_id}/export", 200),
    Ask("GET", "/v1/files", 200),
    Ask("GET", "/v1/file-links", 200, query="?key=notes.md"),
    Ask("POST", "/v1/file-links/{key}", 200, {"expires_in_s": 60}),
    Ask("GET", "/v1/files/{key}", 200),
    Ask("PUT", "/v1/files/{key}", 200, {"any": "content"}),
    Ask("DELETE", "/v1/files/{key}", 204),
    Ask("POST", "/v1/imports", 201, IMPORT),
    Ask("GET", "/v1/imports/{workspace_id}", 200),
    Ask("PUT", "/v1/imports/{workspace_id}/files", 200, IMPORT_FILE, query="?number=1"),
    Ask("GET", "/v1/members", 200),
    Ask("GET", "/v1/members/{person_id}", 200),
    Ask("PATCH", "/v1/members/{person_id}", 200, {"role": "admin"}),
    Ask("POST", "/v1/invitations", 201, {"name": "Bea", "role": "operator"}),
    Ask("GET", "/v1/invitations", 200),
    Ask("POST", "/v1/join", 201, {"token": TOKEN}),
    Ask("POST", "/v1/keys", 201, {"name": "laptop"}),
    Ask("GET", "/v1/keys", 200),
    Ask("POST", "/v1/sign-in-links", 201),
    Ask("GET", "/v1/sessions", 200),
    Ask("DELETE", "/v1/sessions/{session_id}", 204),
    Ask("POST", "/v1/identities", 201, {"access_token": LASTING}),
    Ask("GET", "/v1/identities", 200),
    Ask("DELETE", "/v1/identities/{identity_id}", 204),
    Ask("GET", "/v1/audit-entries", 200),
    Ask("DELETE", "/v1/invitations/{invitation_id}", 204),
    Ask("DELETE", "/v1/keys/{key_id}", 204),
    Ask("DELETE", "/v1/members/{person_id}", 202),
    Ask("GET", "/v1/integrations", 200),
    Ask("GET", "/v1/integrations/{integration_id}", 200),
    Ask("GET", "/v1/tools", 200),
    Ask("GET", "/v1/agent-templates", 200),
    Ask("GET", "/v1/plans", 200),
    Ask("GET", "/v1/models", 200),
    Ask("GET", "/v1/receipt-keys", 200),
    Ask("GET", "/v1/decision-keys", 200),
    Ask("GET", "/v1/me", 200),
    Ask("GET", "/v1/ledger", 200),
    Ask("GET", "/v1/budget", 200),
    Ask("GET", "/v1/usage", 200),
    Ask("GET", "/v1/alerts", 200),
    Ask("PUT", "/v1/halt", 200),
    Ask("DELETE", "/v1/halt", 200),
    Ask("GET", "/healthz", 200),
    Ask("GET", "/", 200),
    Ask("DELETE", "/v1/conversations/{conversation_id}", 202),
    Ask("DELETE", "/v1/agents/{agent_id}", 202, query="?tasks=delete"),
    Ask("DELETE", "/v1/workspaces/{workspace_id}", 202),
    Ask("DELETE", "/v1/tasks/{task_id}/credentials/{name}", 204),
    Ask("DELETE", "/v1/tasks/{task_id}", 204),
)
