"""Labelling of results: by the tool's entry in the catalog and by what the call was asked with; by nothing in the result."""

from __future__ import annotations

from ferryman.domain.calls.call import Ticket, ToolCallResult, list_parts
from ferryman.domain.calls.refusal import CANCELLED, PERSON_REASONS, RATE_LIMITED, UNKNOWN_TOOL
from ferryman.domain.copies import replace
from ferryman.domain.http.network import NetworkPolicy
from ferryman.domain.labels.label import BOTTOM, FlowLabel, Source, join
from ferryman.domain.labels.tools import label_reading
from ferryman.domain.tools.tool import ToolPolicy


def label_result(
    result: ToolCallResult, policy: ToolPolicy, *, seq: int, arguments: FlowLabel, read: FlowLabel | None = None
) -> ToolCallResult:
    """Return `result` with the label on each of its parts, whatever label they had.

    `policy` is its tool's, `seq` the call's number, and `arguments` their label; `read` is that of what it has read, None where
    that follows from the policy. A blocked call has read nothing, but that the
    refusal of a declared tool tells of its definition, which a stranger may have written.
    The source is this call alone: its arguments come from the calls before it, each of which names its own.
    """
    read = label_reading(policy) if read is None else read
    label = arguments if result.blocked and not _tells_definition(result, policy) else join((arguments, read))
    url = None if result.url is None else result.url.partition("?")[0].partition("#")[0]
    source = Source(tool=result.tool, call=seq, url=url, credential=result.credential_used)
    label = FlowLabel(integrity=label.integrity, confidentiality=label.confidentiality, sources=(source,))
    return replace(result, parts=tuple([replace(part, label=label) for part in list_parts(result)]))


def _tells_definition(result: ToolCallResult, policy: ToolPolicy) -> bool:
    """Tell whether a refusal may name hosts and arguments of a declared tool, of one that was imported since, or of an MCP
    server's."""
    is_ours = result.block_reason in (*PERSON_REASONS, RATE_LIMITED, CANCELLED, UNKNOWN_TOOL)
    return policy.network in (NetworkPolicy.DECLARED_HOST, NetworkPolicy.MCP_SERVER) and not is_ours


def label_ticket(ticket: Ticket) -> FlowLabel:
    """Return the label of what follows from the result of a call."""
    return join(part.label for part in ticket.result.parts) if ticket.result is not None else BOTTOM
