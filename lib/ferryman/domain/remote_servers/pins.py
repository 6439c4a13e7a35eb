"""Rug pull protection: what a listing of an MCP server does to the pins of its tools, and what a person's decision does."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from ferryman.domain.problem import InvalidInputError, Problem
from ferryman.domain.remote_servers.names import build_tool_name
from ferryman.domain.remote_servers.pin import PinState, ToolPin


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedDescriptor:
    """A tool as a server lists it now: its name there, the digest of its descriptor, and why it is refused, if it is.

    One whose descriptor could not even be read is refused, and has no digest.
    """

    tool: str
    digest: str | None
    refusal: str | None = None


def compare_pins(server: str, pins: Iterable[ToolPin], listing: Sequence[ListedDescriptor]) -> tuple[ToolPin, ...]:
    """Return the pins of the tools of the server of this name, once it lists `listing`: sorted by name.

    What is listed as it was accepted stays as it was, and is accepted again where it had changed or was gone: a person has
    accepted these very bytes, and no others since. Everything else waits for a person. The order of the listing changes
    nothing.
    """
    before = {pin.tool: pin for pin in pins}
    listed = {tool.tool: tool for tool in listing}
    after = [_compare_tool(server, before.get(name), tool) for name, tool in listed.items()]
    after += [
        replace(pin, state=PinState.MISSING, pending=None, reason=None) for pin in before.values() if pin.tool not in listed
    ]
    # one that nobody has accepted, and that is not listed, is nothing to anybody
    return tuple(sorted((pin for pin in after if _is_kept(pin)), key=lambda pin: pin.tool))


def _is_kept(pin: ToolPin) -> bool:
    return pin.state is not PinState.MISSING or pin.digest is not None


def _compare_tool(server: str, before: ToolPin | None, listed: ListedDescriptor) -> ToolPin:
    pin = before or ToolPin(tool=listed.tool, name=build_tool_name(server, listed.tool), state=PinState.NEW)
    if listed.refusal is not None:
        return replace(pin, state=PinState.REFUSED, pending=listed.digest, reason=listed.refusal)
    if pin.digest is None:
        return replace(pin, state=PinState.NEW, pending=listed.digest, reason=None)
    if pin.digest != listed.digest:
        return replace(pin, state=PinState.CHANGED, pending=listed.digest, reason=None)
    state = PinState.DISABLED if pin.disabled else PinState.ACCEPTED
    return replace(pin, state=state, pending=None, reason=None)


def accept_pins(pins: Sequence[ToolPin], digests: Mapping[str, str], *, now: datetime) -> tuple[ToolPin, ...]:
    """Return `pins` with the tools accepted that `digests` names, by the server's names of them.

    A person accepts the descriptor that was read: raise `InvalidInputError` where the server's last listing has another one, or
    where there is no such tool, or it is refused or gone. Nothing is accepted then.
    """
    by_tool, problems = {pin.tool: pin for pin in pins}, []
    for tool, digest in digests.items():
        pin = by_tool.get(tool)
        if pin is None or pin.state is PinState.MISSING:
            problems.append(Problem(f"digests.{tool}", "is no tool that the server lists: refresh the server, and look again"))
        elif pin.state is PinState.REFUSED:
            problems.append(Problem(f"digests.{tool}", f"is refused, and cannot be accepted: {pin.reason}"))
        elif pin.listed_digest != digest:
            message = "is not the digest of the descriptor that the server lists: look at the tool again before you accept it"
            problems.append(Problem(f"digests.{tool}", message))
    if problems:
        raise InvalidInputError(problems)
    return tuple(_accept(pin, digests[pin.tool], now) if pin.tool in digests else pin for pin in pins)


def _accept(pin: ToolPin, digest: str, now: datetime) -> ToolPin:
    return replace(pin, state=PinState.ACCEPTED, digest=digest, pending=None, reason=None, disabled=False, accepted_at=now)


def disable_pins(pins: Sequence[ToolPin], tools: Collection[str]) -> tuple[ToolPin, ...]:
    """Return `pins` with those of `tools`, by the server's names of them, disabled that somebody has accepted.

    Raise `InvalidInputError` for one that nobody has.
    """
    accepted = {pin.tool for pin in pins if pin.digest is not None}
    problems = [Problem(f"disable.{tool}", "is no tool that was accepted") for tool in tools if tool not in accepted]
    if problems:
        raise InvalidInputError(problems)
    return tuple(_disable(pin) if pin.tool in tools else pin for pin in pins)


def _disable(pin: ToolPin) -> ToolPin:
    return replace(pin, disabled=True, state=PinState.DISABLED if pin.state is PinState.ACCEPTED else pin.state)


def forget_acceptance(pins: Iterable[ToolPin]) -> tuple[ToolPin, ...]:
    """Return `pins` as of a server that nobody has accepted anything of: the server has moved, or was imported."""
    current = (pin for pin in pins if pin.state is not PinState.MISSING)
    return tuple(
        replace(pin, digest=None, accepted_at=None)
        if pin.state is PinState.REFUSED
        else replace(pin, state=PinState.NEW, digest=None, pending=pin.listed_digest, accepted_at=None)
        for pin in current
    )
