"""call_custom_tool: a custom tool is called by its name, one that was imported just now included (S3-19)."""

from __future__ import annotations

from ferryman.catalog.tools import LISTED, TOOLS
from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.tools.declared.calling import CustomToolDependencies, prepare_stored
from ferryman.tools.prepared_call import CallContext, PreparedCall


async def prepare(custom: CustomToolDependencies, context: CallContext) -> PreparedCall:
    """Return the prepared call of the tool that the arguments name. Raise `CallRefusedError`."""
    name = context.arguments["toolName"]
    if name in TOOLS:
        raise CallRefusedError(refusal.refuse_unknown_tool(name))  # a built-in one is called by itself
    try:
        return await prepare_stored(custom, context, name, context.arguments.get("arguments", {}), known=False)
    except CallRefusedError as refused:
        if name in LISTED and refused.refusal == refusal.refuse_unknown_tool(name):
            raise CallRefusedError(refusal.refuse_unimplemented_tool(name)) from None
        raise
