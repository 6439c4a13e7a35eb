"""import_openapi_tools: the operations of a document become tools of the task (S3-18)."""

from __future__ import annotations

from ferryman.tools.declared.calling import CustomToolDependencies
from ferryman.tools.prepared_call import CallContext, PreparedCall


async def prepare(custom: CustomToolDependencies, context: CallContext) -> PreparedCall:
    """Return the prepared call."""
    return custom.manager.prepare_import(context)
