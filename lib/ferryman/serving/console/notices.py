"""A sentence on what the last form did. An address names its key alone: no address puts a text of its own on a page."""

from __future__ import annotations

NOTICES = {
    "approved": "Approved. The call is sent as it was shown.",
    "denied": "Denied. Nothing is sent.",
    "accepted": "Accepted: models are offered these tools from the next execution on.",
    "added": "Added. Its tools wait until you accept them.",
    "answered": "Your answers were sent to the server.",
    "cancelled": "Cancelled: no further call is sent. A call under way that changes something is waited for.",
    "archived": "Archived: none of its tasks is started until it is restored.",
    "connected": "Connected.",
    "created": "Created.",
    "created-first": "Created. Start it to watch it run.",
    "declared": "Declared. A tool of this name that was declared before is replaced.",
    "deleted": "Deleted.",
    "deleting": "The deletion has begun, with everything in it.",
    "halted": "Everything is stopped, and nothing starts until you let it.",
    "imported": "Imported. A cluster of this name that was there before is replaced.",
    "refreshed": "The server was asked again for its tools.",
    "released": "Executions can start again.",
    "removed": "Removed, with its credentials.",
    "restored": "Restored: it is active again.",
    "revoked": "Revoked.",
    "saved": "Saved.",
    "signed-out": "You are signed out.",
    "started": "Started.",
    "stopped": "Stopped: what was written before is kept.",
    "uploaded": "Uploaded.",
    "workspace": "You are in another workspace now.",
}
