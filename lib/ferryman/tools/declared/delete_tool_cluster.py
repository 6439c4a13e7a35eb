"""delete_tool_cluster: a cluster is deleted with all its tools (S3-20)."""

from __future__ import annotations

from ferryman.tools.declared.calling import CustomToolDependencies
from ferryman.tools.prepared_call import CallContext, PreparedCall


async def prepare(custom: CustomToolDependencies, context: CallContext) -> PreparedCall:
    """Return the prepared call."""
    return custom.manager.prepare_delete(context)
