"""Access control: the token of one local cloud, which its ports require, and the environment that a function may be given.

Loopback is shared by all users of a machine and by the pages in their browsers, so that an address alone opens nothing.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from emulator.files import replace

TOKEN = "LOCAL_CLOUD_TOKEN"  # noqa: S105 - the variable's name
TOKEN_FILE = "LOCAL_CLOUD_TOKEN_FILE"  # noqa: S105 - as above
BYTES = 32


@dataclass(frozen=True, slots=True)
class PortToken:
    """A secret that opens ports. From the cloud's token those of its functions can be derived, and not the reverse."""

    value: str = field(repr=False)

    def derive(self, purpose: str) -> PortToken:
        """Return the token for one purpose, in hexadecimal."""
        return PortToken(hmac.new(self.value.encode(), purpose.encode(), hashlib.sha256).hexdigest())

    def matches(self, candidate: str) -> bool:
        """Compare in constant time."""
        return hmac.compare_digest(self.value.encode(), candidate.encode("utf-8", "surrogateescape"))

    def is_borne(self, authorization: str) -> bool:
        """Return whether the value of an Authorization header is this token."""
        scheme, _, candidate = authorization.partition(" ")
        return scheme.lower() == "bearer" and self.matches(candidate)


@contextmanager
def new_token(folder: Path) -> Iterator[tuple[PortToken, Path]]:
    """Keep a new token in the file `token` of a private folder while inside; yields both."""
    token, path = PortToken(secrets.token_urlsafe(BYTES)), folder.resolve() / "token"
    replace(path, token.value + "\n")
    try:
        yield token, path
    finally:
        path.unlink(missing_ok=True)


def find_token(env: Mapping[str, str] = os.environ) -> str | None:
    """Return the token that an environment gives, or names a file of, or None. Raise OSError for a file that is not there."""
    if file := env.get(TOKEN_FILE):
        return Path(file).read_text().strip()
    return env.get(TOKEN)


def is_allowed(name: str, allowed: Iterable[str]) -> bool:
    """Return whether a variable is one of those that are allowed: names, or beginnings that end with `*`."""
    return any(name == item or (item.endswith("*") and name.startswith(item[:-1])) for item in allowed)
