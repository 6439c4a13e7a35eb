"""A table of names; what is not in it does not resolve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from ipaddress import ip_address

from ferryman.domain.http.address import Address


class TableNames:
    """`ports.NameResolver`: host to addresses, as text."""

    def __init__(self, table: Mapping[str, Sequence[str]]) -> None:
        self._table = {host.lower(): tuple(ip_address(text) for text in texts) for host, texts in table.items()}

    async def resolve(self, host: str, *, owner: str) -> Sequence[Address]:  # noqa: ARG002 - the port's own signature
        addresses = self._table.get(host.lower())
        if addresses is None:
            raise OSError(f"{host} does not resolve")
        return addresses
