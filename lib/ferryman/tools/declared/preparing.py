"""Preparing the calls of custom tools: declared ones, and the built-in ones that manage and call these (S3-18 … S3-20)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ferryman.catalog.tools import TOOLS
from ferryman.tools.arguments import check_arguments, rendering_errors, run_argument_worker
from ferryman.tools.declared.calling import CustomToolDependencies, prepare_stored
from ferryman.tools.declared.confirming import prepare_confirmed
from ferryman.tools.own_files import load_own_files
from ferryman.tools.prepared_call import CallContext, CallPreparer, PreparedCall

_BUILT_IN: Mapping[str, Any] = load_own_files("ferryman.tools.declared")


def make_custom_preparer(custom: CustomToolDependencies) -> CallPreparer:
    """Return the preparer of the custom tools."""

    async def prepare(context: CallContext) -> PreparedCall:
        tool, arguments = context.claimed_call.ticket.tool, context.arguments
        if tool not in _BUILT_IN:
            return await prepare_stored(custom, context, tool, arguments, known=True)
        with rendering_errors():
            await run_argument_worker(context.claimed_call.policy.owner, tool, check_arguments, TOOLS[tool], arguments)
        if not TOOLS[tool].calls_others:  # it changes the tools of the task
            return await prepare_confirmed(custom, context, _BUILT_IN[tool].prepare)
        prepared_call: PreparedCall = await _BUILT_IN[tool].prepare(custom, context)
        return prepared_call

    return prepare
