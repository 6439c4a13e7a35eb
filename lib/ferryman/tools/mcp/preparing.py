"""Preparing calls of tools of MCP servers: found by their names, judged by the accepted descriptor, with the server's keys."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ferryman import offload
from ferryman.domain.calls import refusal
from ferryman.domain.calls.call import ToolCallResult
from ferryman.domain.calls.continuation import Continuation
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.credentials.credential import Credential
from ferryman.domain.http.request import Method
from ferryman.domain.remote_servers.descriptor import read_descriptor as parse_descriptor
from ferryman.domain.remote_servers.offered import name_model_text
from ferryman.domain.remote_servers.pin import ToolPin
from ferryman.domain.remote_servers.server import RemoteServer
from ferryman.ports.tickets import ClaimedCall
from ferryman.tools.approving.confirming import CallConfirmation
from ferryman.tools.approving.waiting import WaitingForPersonError
from ferryman.tools.arguments import rendering_errors, run_argument_worker
from ferryman.tools.declared.calling import limit_time
from ferryman.tools.mcp.asking import Questioner
from ferryman.tools.mcp.calling import RemoteCall
from ferryman.tools.mcp.contacting import RemoteCallDependencies, ServerContact, open_contact
from ferryman.tools.mcp.protocol.descriptors import ToolDescriptor, UnusableToolError, read_descriptor
from ferryman.tools.mcp.verifying import find_server
from ferryman.tools.prepared_call import CallContext, CallPreparer, PreparedCall


def make_remote_preparer(deps: RemoteCallDependencies) -> CallPreparer:
    """Return the preparer of the tools of MCP servers."""

    async def prepare(context: CallContext) -> PreparedCall:
        claimed_call = context.claimed_call
        server, pin = await find_server(deps, claimed_call)
        going = await _open_continuation(deps, claimed_call, server, pin)
        descriptor, schema = await _read_accepted(deps, server, pin)
        with rendering_errors():
            owner, name = server.owner, claimed_call.ticket.tool
            await run_argument_worker(owner, name, check_remote_arguments, name, schema, dict(context.arguments))
        opened = await open_contact(deps, server)
        contact = replace(opened, others={f"task {name}": keep_unsent(item) for name, item in context.credentials.items()})
        return await _prepare(deps, context, contact, pin, descriptor, going)

    return prepare


async def _prepare(
    deps: RemoteCallDependencies,
    context: CallContext,
    contact: ServerContact,
    pin: ToolPin,
    descriptor: ToolDescriptor,
    going: Continuation | None,
) -> PreparedCall:
    claimed_call, fingerprint = context.claimed_call, contact.server.fingerprint_of(pin)
    name = claimed_call.ticket.tool
    if context.confirm is not None:
        context.confirm.know_tool(name, context.arguments, fingerprint)
    confirmation = CallConfirmation(
        deps=deps.tools.approving,
        claimed=claimed_call,
        names=(name,),
        arguments=context.arguments,
        fingerprint=fingerprint,
    )
    questioner = Questioner(tools=deps.tools, contact=contact, pin=pin, claimed_call=claimed_call, confirmation=confirmation)
    try:
        answers = None if going is None or not going.questions else await questioner.read_answers(going)
    except WaitingForPersonError as waiting:
        return _wait_again(waiting)
    call = RemoteCall(
        deps=deps,
        context=context,
        contact=contact,
        pin=pin,
        tool=descriptor,
        arguments=context.arguments,
        questioner=questioner,
        continuation=going,
        answers=answers,
    )
    is_resumed = going is not None and bool(going.work)
    prepared_call = PreparedCall(
        go=call.go,
        method=Method.POST.value,
        safe=False,
        repeatable=False,
        sending=None if is_resumed else context.sending,
        long=context.long,
        resumes=is_resumed,
        answered=None if answers is None else answers.answered,
        unanswered="" if answers is None else answers.unanswered,
    )
    return limit_time(prepared_call, claimed_call.policy.settings_of(name))


def _wait_again(waiting: WaitingForPersonError) -> PreparedCall:
    """Return the call as one that nobody has answered for yet: it waits again, and nothing is sent."""

    async def go(_: float) -> ToolCallResult:
        raise waiting

    return PreparedCall(go=go, method=Method.POST.value, safe=False, repeatable=False, resumes=True)


def check_remote_arguments(tool: str, schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> None:
    """Raise `CallRefusedError` for arguments that do not fit the schema that a person has accepted, naming the field alone."""
    from ferryman.declared.arguments import check_depth, check_schema

    check_depth(tool, arguments)
    check_schema(tool, {"properties": {}, "required": [], **schema}, arguments)


def keep_unsent(credential: Credential) -> Credential:
    """Return a credential of the task as one that is scanned for, and is sent to no server."""
    return replace(credential, label=replace(credential.label, hosts=()))


async def _open_continuation(
    deps: RemoteCallDependencies, claimed_call: ClaimedCall, server: RemoteServer, pin: ToolPin
) -> Continuation | None:
    """Return what goes on of the call. Raise `CallRefusedError` for that of another call, server or descriptor."""
    ticket = claimed_call.ticket
    if not ticket.goes_on:
        return None
    execution = claimed_call.call_request.execution
    going = await deps.tools.vault.open_continuation(ticket.continuation, execution=execution, seq=ticket.seq)
    if (going.server, going.fingerprint) != (server.id, server.fingerprint_of(pin)):
        raise CallRefusedError(refusal.refuse_changed_tool(ticket.tool))
    return going


async def _read_accepted(
    deps: RemoteCallDependencies, server: RemoteServer, pin: ToolPin
) -> tuple[ToolDescriptor, Mapping[str, Any]]:
    """Return the descriptor that a person has accepted, and the schema that models read of it."""
    assert pin.digest is not None, "an accepted tool has a digest"
    key, model = (server.id, pin.digest), name_model_text(pin.digest)
    texts = deps.descriptors.get(key)
    if texts is None:
        stored = await deps.servers.descriptors(server.id, [pin.digest, model])
        if len(stored) < 2:
            raise CallRefusedError(refusal.refuse_changed_tool(pin.name))
        texts = stored[pin.digest], stored[model]
        deps.descriptors.put(key, texts)
    try:
        return read_descriptor(parse_descriptor(texts[0])), json.loads(texts[1])[1]
    except UnusableToolError as error:
        raise CallRefusedError(refusal.refuse_disabled_tool(pin.name, str(error))) from None


offload.preload(check_remote_arguments)
