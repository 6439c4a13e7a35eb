"""Limits of an agent: what must be true of its calls when an execution is over, whatever was done to it on the way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ferryman.catalog.tools import list_names
from ferryman.domain.calls import refusal
from ferryman.domain.calls.call import Ticket

if TYPE_CHECKING:
    from tests.campaigns.crash.invariants import Record

USED_UP = refusal.refuse_call_beyond("", 0).reason


def find_beyond(record: Record) -> list[str]:
    """Return the calls beyond `calls_max` of the agent's settings that were made, and those within it that were refused.

    A call is of its tool, and of the one under whose name it was routed. It counts once, however often it was delivered, and
    also where its outcome is unknown.
    """
    limits = {name: settings.calls_max for name, settings in record.scenario.tool_settings.items()}
    counted: Counter[str] = Counter()
    findings = []
    for ticket in sorted(record.tickets, key=lambda ticket: ticket.seq):
        names = [name for name in list_names(ticket) if limits.get(name) is not None]
        within = all(counted[name] < (limits[name] or 0) for name in names)
        is_refused = ticket.result is not None and ticket.result.code == USED_UP
        if is_refused and within:
            findings.append(f"counted: call {ticket.seq} ({ticket.tool}) was refused, after {dict(counted)} of {limits}")
        if not within and not is_refused:
            findings.append(f"beyond: call {ticket.seq} ({ticket.tool}) was made, after {dict(counted)} of {limits}")
        if ticket.result is not None and not ticket.result.blocked:
            counted.update(names)
    return findings + [f"beyond: {item}" for item in _find_sent(record, limits)]


def _find_sent(record: Record, limits: dict[str, int | None]) -> Sequence[str]:
    """Return the tools of which the upstreams saw more calls than the limit; a call that was repeated is one."""
    sent = {effect.path for effect in record.effects}
    numbers: Counter[str] = Counter()
    for ticket in record.tickets:
        if _get_path(ticket) in sent:
            numbers.update(ticket.names)
    return [
        f"{numbers[name]} calls of {name} were sent of {most}" for name, most in limits.items() if numbers[name] > (most or 0)
    ]


def _get_path(ticket: Ticket) -> str:
    return "/" + str(ticket.display_arguments.get("url", "")).rpartition("/")[2]
