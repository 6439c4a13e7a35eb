"""An agent whose MCP servers were accepted as they were: which of their tools may be called once they list others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from ferryman.domain.remote_servers.descriptor import digest_descriptor
from ferryman.domain.remote_servers.pin import PinState, ToolPin
from ferryman.domain.remote_servers.pins import ListedDescriptor, accept_pins, compare_pins

NOW = datetime(2026, 1, 1, tzinfo=UTC)
Listing = Iterable[Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedServer:
    """A server by its pins alone."""

    name: str
    pins: tuple[ToolPin, ...] = ()

    def list(self, tools: Listing) -> PinnedServer:
        """Return it once it lists these tools."""
        listed = [ListedDescriptor(tool=tool["name"], digest=digest_descriptor(tool)) for tool in tools]
        return replace(self, pins=compare_pins(self.name, self.pins, listed))

    def accept(self) -> PinnedServer:
        """Return it once a person has accepted all that it lists, as it lists it."""
        waiting = {pin.tool: pin.listed_digest or "" for pin in self.pins if pin.state in (PinState.NEW, PinState.CHANGED)}
        return replace(self, pins=accept_pins(self.pins, waiting, now=NOW))

    def list_callable(self) -> set[str]:
        """Return the names of the tools that a model is offered and that are called, by the server's names of them."""
        return {pin.tool for pin in self.pins if pin.state is PinState.ACCEPTED}
