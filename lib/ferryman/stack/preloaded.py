"""Preloaded: the modules that the local cloud's template imports once for all functions of the stack.

None of them starts a thread: what a thread holds when a process forks stays held in the other.
"""

PRELOADED = (
    "ferryman.serving.orchestrator",
    "ferryman.serving.trigger",
    "ferryman.serving.http_tool",
    "ferryman.serving.api.tasks",
    "ferryman.serving.api.custom",
    "ferryman.serving.api.account",
    "ferryman.serving.api.page",
    "ferryman.serving.api.tables",
    "ferryman.serving.api.executions",
    "ferryman.composition.api",
    "ferryman.composition.trigger",
    "ferryman.composition.http_tool",
    "ferryman.composition.orchestrator",
    "ferryman.loop.run",
    "ferryman.declared.arguments",
    "google.auth.jwt",
    "google.cloud.firestore",
    "google.cloud.secretmanager_v1",
    "google.cloud.tasks_v2",
)
