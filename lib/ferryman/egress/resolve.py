"""Resolve: names to addresses through the system's resolver, in threads of their own that nothing else waits for."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import Callable, Sequence
from ipaddress import ip_address

from ferryman.domain.address import Address

LOOKUPS_MAX = 64
"""Lookups under way in one process; one more is refused at once. Slow ones are abandoned by their callers, not ended."""

Lookup = Callable[[str], Sequence[Address]]


class Resolver:
    """`ports.Names` on getaddrinfo. A lookup cannot be cancelled, so each has a thread that holds nobody else up."""

    def __init__(self, lookup: Lookup | None = None, *, most: int = LOOKUPS_MAX) -> None:
        self._lookup = lookup or system
        self._free = threading.BoundedSemaphore(most)

    async def resolve(self, host: str) -> Sequence[Address]:
        """Every address of `host`; OSError when there is none, or when too many lookups are already under way."""
        if not self._free.acquire(blocking=False):
            raise OSError("too many lookups are under way")
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Sequence[Address]] = loop.create_future()

        def settle(addresses: Sequence[Address] | None, error: OSError | None) -> None:
            if not answer.done():
                answer.set_exception(error) if error else answer.set_result(addresses or ())

        def run() -> None:
            addresses: Sequence[Address] | None = None
            failure: OSError | None = None
            try:
                addresses = self._lookup(host)
            except Exception as error:  # noqa: BLE001 - whatever the system's resolver raises, the name has no address
                failure = error if isinstance(error, OSError) else OSError("the name could not be looked up")
            finally:
                self._free.release()
            # The caller's loop may have ended meanwhile: then nobody waits for the answer.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(settle, addresses, failure)

        try:
            threading.Thread(target=run, name="lookup", daemon=True).start()
        except RuntimeError as error:
            self._free.release()
            raise OSError("no thread for a lookup") from error
        return await answer


def system(host: str) -> Sequence[Address]:
    """The system resolver's addresses of `host`, each once, in its order."""
    # The final dot keeps the resolver from trying the machine's search domains, internal ones among them.
    found = socket.getaddrinfo(f"{host}.", 443, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    return tuple(dict.fromkeys(ip_address(str(each[4][0])) for each in found))
