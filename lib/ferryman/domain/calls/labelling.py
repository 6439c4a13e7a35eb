"""Labelling of results: by the tool's entry in the catalog and by what the call was asked with; by nothing in the result."""

from __future__ import annotations

from dataclasses import replace

from ferryman.domain.calls.call import Ticket, ToolCallResult, describe_parts
from ferryman.domain.labels.label import BOTTOM, FlowLabel, Source, join
from ferryman.domain.labels.tools import label_reading
from ferryman.domain.tools.tool import ToolPolicy


def label_result(result: ToolCallResult, policy: ToolPolicy, *, seq: int, arguments: FlowLabel) -> ToolCallResult:
    """Return `result` with the label on each of its parts, whatever label they had.

    `policy` is its tool's, `seq` the call's number, and `arguments` their label. A blocked call has read nothing.
    The source is this call alone: its arguments come from the calls before it, each of which names its own.
    """
    described = describe_parts(result)
    label = arguments if result.blocked else join((arguments, label_reading(policy)))
    url = None if result.url is None else result.url.partition("?")[0].partition("#")[0]
    source = Source(tool=result.tool, call=seq, url=url, credential=result.credential_used)
    label = replace(label, sources=(source,), more=False)
    return replace(described, parts=tuple(replace(part, label=label) for part in described.parts))


def label_ticket(ticket: Ticket) -> FlowLabel:
    """Return the label of what follows from the result of a call."""
    return join(part.label for part in ticket.result.parts) if ticket.result is not None else BOTTOM
