"""A call in brief: without its arguments and the content of its result, which are nearly all of its size."""

from __future__ import annotations

from ferryman.domain.calls.call import Ticket
from ferryman.domain.copies import replace


def to_brief(ticket: Ticket) -> Ticket:
    """Return `ticket` without its arguments, what goes on of it, and the content and the parts of its result."""
    result = None if ticket.result is None else replace(ticket.result, content="", parts=())
    return replace(ticket, arguments=b"", display_arguments={}, continuation=b"", result=result)
