"""Name resolution (DNS) by the system's resolver, in threads that nothing else waits for, bounded per owner."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import Callable, Sequence
from ipaddress import ip_address

from ferryman.domain.http.address import Address
from ferryman.limiter import OwnerLimiter

LOOKUPS_MAX = 64
"""Lookups under way in one process; one more is refused at once. Slow ones are abandoned by their callers, not ended."""

LOOKUPS_PER_OWNER = 8
"""Lookups under way for one owner in one process, the abandoned ones among them; one more waits for one of the same owner's."""

Lookup = Callable[[str], Sequence[Address]]


class Resolver:
    """`ports.Names` on getaddrinfo. A lookup cannot be cancelled, so each has a thread of its own."""

    def __init__(self, lookup: Lookup | None = None, *, maximum: int = LOOKUPS_MAX, per_owner: int = LOOKUPS_PER_OWNER) -> None:
        self._lookup = lookup or look_up_addresses
        self._free = threading.BoundedSemaphore(maximum)
        self._turns = OwnerLimiter(per_owner)

    async def resolve(self, host: str, *, owner: str) -> Sequence[Address]:
        """Return every address of `host`. Raise OSError when there is none, or when too many lookups are under way.

        Waits while `owner` has as many lookups under way as one owner may have; a caller bounds that by its own timeout.
        """
        await self._turns.take(owner)
        if not self._free.acquire(blocking=False):
            self._turns.give(owner)
            raise OSError("too many lookups are under way")
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Sequence[Address]] = loop.create_future()

        def settle(addresses: Sequence[Address] | None, error: OSError | None) -> None:
            self._turns.give(owner)
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
            self._turns.give(owner)
            raise OSError("no thread for a lookup") from error
        return await answer


def look_up_addresses(host: str) -> Sequence[Address]:
    """Return the system resolver's addresses of `host`, each once, in its order."""
    # The final dot keeps the resolver from trying the machine's search domains, internal ones among them.
    entries = socket.getaddrinfo(f"{host}.", 443, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    return tuple(dict.fromkeys(ip_address(str(entry[4][0])) for entry in entries))
