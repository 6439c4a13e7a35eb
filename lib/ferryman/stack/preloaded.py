"""Preloaded: the modules that the local cloud's template imports once for all functions of the stack.

None of them starts a thread: what a thread holds when a process forks stays held in the other.
"""

_BOTH = (
    *("google.auth.jwt", "google.cloud.firestore", "google.cloud.secretmanager_v1", "google.cloud.tasks_v2"),
    *("pydantic", "httpx", "ferryman.gcp.executions", "ferryman.gcp.tasks"),
)
"""Imported before the template has a branch."""

SHARED = (
    "ferryman.serving.trigger",
    "ferryman.serving.http_tool",
    "ferryman.serving.mcp_tool",
    "ferryman.serving.local_tools",
    "ferryman.serving.concierge",
    "ferryman.serving.search",
    "ferryman.serving.web",
    "ferryman.serving.files",
    "ferryman.serving.platform",
    "ferryman.serving.platform_call",
    "ferryman.serving.api.tasks",
    "ferryman.serving.api.custom",
    "ferryman.serving.api.account",
    "ferryman.serving.api.page",
    "ferryman.serving.api.tables",
    "ferryman.serving.api.executions",
    "ferryman.composition.api",
    "ferryman.composition.trigger",
    "ferryman.composition.http_tool",
    "ferryman.composition.mcp_tool",
    "ferryman.composition.local_tools",
    "ferryman.composition.concierge",
    "ferryman.composition.search",
    "ferryman.composition.web",
    "ferryman.composition.files",
    "ferryman.composition.platform",
    "ferryman.composition.platform_call",
    "ferryman.declared.arguments",
    *_BOTH,
)
ORCHESTRATOR = (
    "anthropic",
    "stamina",
    "ferryman.serving.orchestrator",
    "ferryman.composition.orchestrator",
    "ferryman.loop.run",
    *_BOTH,
)
"""In a branch of the template: the model's SDK takes as long to import as what the others need besides; both go on at once."""

PRELOADED = (*SHARED, *(f"orchestrator={name}" for name in ORCHESTRATOR))
