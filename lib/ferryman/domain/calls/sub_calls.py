"""Sub-calls: calls that another call asks for before it is answered, as a batch or a script does.

Each is a ticket with that call as its `parent`, of the same turn, and with a later number. It is admitted, executed, charged
and recorded as every other call; only the model does not read its result, but that of the call it asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from ferryman.domain.calls.call import Ticket, ToolCall


@dataclass(frozen=True, slots=True)
class SubCalls:
    """What a call asks for before it can be answered: at least one call. It is executed again once all have settled.

    `labelled` are the same calls with the labels of the values that they were handed (`domain.flow.values.FlowValue`), where
    any was; `hidden` tells that the model does not read their results.
    """

    calls: tuple[ToolCall, ...]
    labelled: tuple[ToolCall, ...] = field(default=(), kw_only=True, repr=False)
    hidden: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        """Hold that there is a call: one that asks for none has to be answered."""
        assert self.calls, "a call that asks for none is answered"


def walk_calls(tickets: Iterable[Ticket]) -> Iterator[tuple[Ticket, bool]]:
    """Yield the calls of one turn as they happen, each twice: with False where it begins, with True where it ends.

    Its sub-calls are between. Calls with the same parent are in the order of their numbers. A ticket whose parent is none of
    `tickets`, or is not an earlier call, is left out.
    """
    children = _group_by_parent(tickets)
    rest = [(ticket, False) for ticket in reversed(children.get(None, []))]
    while rest:  # no recursion: how deep it goes is up to what asks
        ticket, ends = rest.pop()
        yield ticket, ends
        if not ends:
            rest.append((ticket, True))
            rest += [(child, False) for child in reversed(children.get(ticket.seq, [])) if child.seq > ticket.seq]


def order_calls(tickets: Iterable[Ticket]) -> list[Ticket]:
    """Return the calls of one turn in the order in which they settle: sub-calls before the call that asked for them."""
    return [ticket for ticket, ends in walk_calls(tickets) if ends]


def _group_by_parent(tickets: Iterable[Ticket]) -> Mapping[int | None, list[Ticket]]:
    children: dict[int | None, list[Ticket]] = {}
    for ticket in sorted(tickets, key=lambda ticket: ticket.seq):
        children.setdefault(ticket.parent, []).append(ticket)
    return children
