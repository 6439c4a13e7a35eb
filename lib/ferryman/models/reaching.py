"""Whether a provider was reached: of an error before there was a connection, nothing was sent and nothing can be billed."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator

_TRANSPORTS = ("httpx2", "httpx")
_BEFORE_CONNECTING = frozenset(("ConnectError", "ConnectTimeout", "PoolTimeout", "UnsupportedProtocol"))
"""The errors that the SDK's transport raises before it has written a byte of a request: DNS, TCP and TLS.

All others may come after the first byte: a read that times out, a connection that is reset.
"""

_IDENTITY = "google.auth"
_CHAIN_MAX = 10

_REASONS: tuple[tuple[type[BaseException], str], ...] = (
    (socket.gaierror, "its name could not be resolved"),
    (ssl.SSLCertVerificationError, "its certificate is not trusted"),
    (ssl.SSLError, "the TLS handshake failed"),
    (ConnectionRefusedError, "it refused the connection"),
    (TimeoutError, "it did not answer in time"),
)


def explain_unreached(error: BaseException) -> str | None:
    """Return why the provider was not reached, in our words, or None where a part of the request may have been sent.

    `error` is what the SDK raised: its own error, whose direct cause is the transport's, or that of Google's authentication,
    which comes before the request.
    """
    if type(error).__module__.startswith(_IDENTITY):
        return f"no identity for it could be fetched ({type(error).__name__})"
    cause = error.__cause__
    if cause is None or type(cause).__module__.partition(".")[0] not in _TRANSPORTS:
        return None
    if type(cause).__name__ not in _BEFORE_CONNECTING:
        return None
    if type(cause).__name__ == "UnsupportedProtocol":
        return "its address does not begin with https:// or http://"
    for link in _list_causes(cause):
        for kind, reason in _REASONS:
            if isinstance(link, kind):
                return reason
    return "no connection could be made" if type(cause).__name__ == "ConnectError" else "it did not answer in time"


def _list_causes(error: BaseException) -> Iterator[BaseException]:
    link: BaseException | None = error
    for _ in range(_CHAIN_MAX):
        if link is None:
            return
        yield link
        link = link.__cause__ or link.__context__
