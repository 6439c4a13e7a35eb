"""Confirming what manages the tools of a task: one question for the whole of a call, whatever documents it fetches."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

from ferryman.catalog.tools import find_tool
from ferryman.domain.approvals.form import EffectForm
from ferryman.domain.calls.call import ToolCallResult
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.http.request import Method
from ferryman.domain.http.url import InvalidUrlError, parse_url
from ferryman.tools.declared.calling import CustomToolDependencies
from ferryman.tools.prepared_call import CallContext, PreparedCall

Prepare = Callable[[CustomToolDependencies, CallContext], Awaitable[PreparedCall]]


async def prepare_confirmed(custom: CustomToolDependencies, context: CallContext, prepare: Prepare) -> PreparedCall:
    """Return the call that `prepare` prepares, which is confirmed before anything of it is done."""
    confirm, tool = context.confirm, context.claimed_call.ticket.tool
    prepared_call = await prepare(custom, replace(context, confirm=None))
    decided_by = find_tool(tool).policy.decided_by or ()
    target = str(next((context.arguments[name] for name in decided_by if name in context.arguments), ""))
    host = _find_host(target)
    method = None if host is None else Method.GET.value
    if confirm is None or not confirm.needs_form(host=host, method=method):
        return prepared_call
    person, form = confirm, EffectForm(arguments=context.arguments, target=target)

    async def go(within_s: float) -> ToolCallResult:
        try:
            await person.confirm(form, host=host, method=method)
        except CallRefusedError as refused:
            owner, credentials = context.claimed_call.policy.owner, context.credentials.values()
            message = await custom.declared.tokens.redact(owner, credentials, refused.refusal.message)
            reason = replace(refused.refusal, message=message)
            return ToolCallResult.from_refusal(tool, reason, method=prepared_call.method)
        return await prepared_call.go(within_s)

    return replace(prepared_call, go=go)


def _find_host(target: str) -> str | None:
    try:
        return parse_url(target).host
    except InvalidUrlError:
        return None
