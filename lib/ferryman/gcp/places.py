"""Places: the path of each document."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from google.cloud.firestore import AsyncClient, AsyncDocumentReference

FORMER = ".former"
"""How the name of a document with former values of a credential ends."""
TASKS, MCP_SERVERS = "tasks", "mcp_servers"
"""The collections of what has credentials of its own: tasks, and the MCP servers of agents."""
USERS = "concierge"
"""The collection of users, below each of whom are the collections of what is kept for them."""


@dataclass(frozen=True, slots=True)
class Places:
    """The documents of the database that `client` reads and writes."""

    client: AsyncClient

    def locate_owner(self, owner: str) -> AsyncDocumentReference:
        return self.client.document("owners", owner)

    def locate_key(self, digest: str) -> AsyncDocumentReference:
        return self.client.document("api_keys", digest)

    def locate_person(self, person: str) -> AsyncDocumentReference:
        return self.client.document("people", person)

    def locate_membership(self, workspace: str, person: str) -> AsyncDocumentReference:
        # no id has a full stop
        return self.client.document("memberships", f"{workspace}.{person}")

    def locate_invitation(self, digest: str) -> AsyncDocumentReference:
        return self.client.document("invitations", digest)

    def locate_console_session(self, session: str) -> AsyncDocumentReference:
        return self.client.document("console_sessions", session)

    def locate_sign_in_link(self, digest: str) -> AsyncDocumentReference:
        return self.client.document("sign_in_links", digest)

    def locate_audit_entry(self, entry: str) -> AsyncDocumentReference:
        return self.client.document("audit", entry)

    def locate_workspace(self, workspace: str) -> AsyncDocumentReference:
        return self.client.document("workspaces", workspace)

    def locate_job(self, job: str) -> AsyncDocumentReference:
        return self.client.document("jobs", job)

    def locate_task(self, task: str) -> AsyncDocumentReference:
        return self.client.document("tasks", task)

    def locate_agent(self, agent: str) -> AsyncDocumentReference:
        return self.client.document("agents", agent)

    def locate_holder(self, holders: str, holder: str) -> AsyncDocumentReference:
        return self.client.document(holders, holder)

    def locate_server(self, server: str) -> AsyncDocumentReference:
        return self.locate_holder(MCP_SERVERS, server)

    def locate_credential(self, task: str, name: str, holders: str = TASKS) -> AsyncDocumentReference:
        return self.client.document(holders, task, "credentials", name)

    def locate_former(self, task: str, name: str, holders: str = TASKS) -> AsyncDocumentReference:
        # beside the credentials, so that one query brings both; no credential's name has a full stop
        return self.locate_credential(task, name + FORMER, holders)

    def locate_connection(self, task: str, digest: str, holders: str = TASKS) -> AsyncDocumentReference:
        return self.client.document(holders, task, "connections", digest)

    def locate_cluster(self, task: str, name: str) -> AsyncDocumentReference:
        # a cluster's name is any text
        digest = hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()[:32]
        return self.client.document("tasks", task, "clusters", digest)

    def locate_conversation(self, conversation: str) -> AsyncDocumentReference:
        return self.client.document("conversations", conversation)

    def locate_message(self, conversation: str, number: int) -> AsyncDocumentReference:
        return self.client.document("conversations", conversation, "messages", f"{number:05d}")

    def locate_execution(self, execution: str) -> AsyncDocumentReference:
        return self.client.document("executions", execution)

    def locate_balance(self, balance: str) -> AsyncDocumentReference:
        return self.client.document("purses", balance)

    def locate_conversation_balance(self, balance: str) -> AsyncDocumentReference:
        return self.client.document("conversation_balances", balance)

    def locate_file_quota(self, workspace: str) -> AsyncDocumentReference:
        return self.client.document("file_quotas", workspace)

    def locate_alert(self, alert: str) -> AsyncDocumentReference:
        return self.client.document("alerts", alert)

    def locate_approval(self, approval: str) -> AsyncDocumentReference:
        return self.client.document("approvals", approval)

    def locate_standing_approval(self, standing: str) -> AsyncDocumentReference:
        return self.client.document("standing_approvals", standing)

    def locate_occupancy(self, owner: str) -> AsyncDocumentReference:
        return self.client.document("occupancy", owner)

    def locate_streams(self, owner: str) -> AsyncDocumentReference:
        return self.client.document("streams", owner)

    def locate_entry(self, entry: str) -> AsyncDocumentReference:
        return self.client.document("ledger", entry)

    def locate_usage_event(self, event: str) -> AsyncDocumentReference:
        return self.client.document("usage_events", event)

    def locate_usage_week(self, week: str) -> AsyncDocumentReference:
        return self.client.document("usage", week)

    def locate_halt(self, owner: str | None) -> AsyncDocumentReference:
        return self.client.document("halts", "operator" if owner is None else f"owner:{owner}")

    def locate_step(self, execution: str, number: int) -> AsyncDocumentReference:
        return self.client.document("executions", execution, "steps", f"{number:05d}")

    def locate_call(self, execution: str, seq: int) -> AsyncDocumentReference:
        return self.client.document("executions", execution, "calls", f"{seq:05d}")

    def locate_overflow(self, execution: str, seq: int) -> AsyncDocumentReference:
        # beside the steps, and not beside the calls, whose documents are sent to everyone who watches
        return self.client.document("executions", execution, "steps", f"overflow-{seq:05d}")

    def locate_receipts(self, execution: str, first: int) -> AsyncDocumentReference:
        # beside the steps, whose documents hold most receipts: one query brings all
        return self.client.document("executions", execution, "steps", f"receipts-{first:06d}")

    def locate_imported_entries(self, execution: str) -> AsyncDocumentReference:
        # beside the steps likewise, and no step's number
        return self.client.document("executions", execution, "steps", "imported-entries")

    def locate_live(self, execution: str) -> AsyncDocumentReference:
        # beside the steps likewise: it is deleted, and expires, with them
        return self.client.document("executions", execution, "steps", "live")

    def locate_keyed(self, request: str) -> AsyncDocumentReference:
        return self.client.document("keyed_requests", request)

    def locate_nonce(self, nonce: str) -> AsyncDocumentReference:
        return self.client.document("nonces", nonce)

    def locate_user(self, user: str) -> AsyncDocumentReference:
        return self.client.document(USERS, user)

    def locate_user_document(self, user: str, path: str) -> AsyncDocumentReference:
        # the path is COLLECTION/NAME, as `user_changes` checks it
        return self.client.document(USERS, user, *path.split("/"))

    def locate_adoption(self) -> AsyncDocumentReference:
        return self.client.document("adoptions", "workspaces")

    def locate_token(self, key: str) -> AsyncDocumentReference:
        return self.client.document("tokens", key)
