"""Idempotency-Key: a request that is sent again under its key has its effect once (draft-ietf-httpapi-idempotency-key-header).

What a key stands for is one document. It is claimed before anything is done, and told the answer in the same transaction that
has the effect: an instance that dies leaves both or neither, and of two attempts at once one has the effect.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

KEPT = timedelta(hours=24)
"""How long a key stands for its request, from its first attempt on."""

ATTEMPT = timedelta(seconds=60)
"""How long an attempt is taken to be under way. One that takes longer may be joined by another; only one has an effect."""

KEY_CHARACTERS_MAX = 255
ANSWER_BYTES_MAX = 800_000
"""As it is stored: a document holds 1 MiB."""

MALFORMED = f"must be a string in double quotes, of 1 to {KEY_CHARACTERS_MAX} printable ASCII characters, and be given once"

_STRING = re.compile(r'"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\]){1,255})"', re.ASCII)
"""A string as a structured field has it (RFC 9651)."""


class MalformedKeyError(ValueError):
    """The header is not one string."""


class KeyReusedError(Exception):
    """The key stands for another request."""


class InProgressError(Exception):
    """An attempt at the same request is under way; nobody knows yet what comes of it."""


class AnsweredError(Exception):
    """The request was answered already, so that nothing was done now; `request` has the answer."""

    def __init__(self, request: KeyedRequest) -> None:
        super().__init__("the request was answered already")
        self.request = request


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyedRequest:
    """What a key of an owner stands for.

    `id` is the digest of owner and key. `fingerprint` tells the request from any other; `seed` is what the names of things it
    makes in several steps derive from. `until` is how long an attempt is under way, None where none is; `answer` is sealed.
    """

    id: str
    owner: str
    fingerprint: str
    seed: str = field(repr=False)
    claimed_at: datetime
    attempt: int = 1
    until: datetime | None
    answer: bytes | None = field(default=None, repr=False)

    @property
    def expires_at(self) -> datetime:
        """From when on the key stands for nothing."""
        return self.claimed_at + KEPT

    def name(self, prefix: str) -> str:
        """Return a name for something of this kind that the request makes: the same in every attempt."""
        return f"{prefix}_{hashlib.sha256(f'{self.seed}/{prefix}'.encode()).hexdigest()[:30]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """The answer of a request, to be stored together with what it does."""

    request: KeyedRequest
    answer: bytes = field(repr=False)


def parse_key(header: str) -> str:
    """Return the key in the header's value. Raise `MalformedKeyError`."""
    found = _STRING.fullmatch(header.strip(" "))
    if found is None:
        raise MalformedKeyError(MALFORMED)
    return re.sub(r"\\(.)", r"\1", found[1])


def derive_id(owner: str, key: str) -> str:
    """Return the id of what `key` stands for, which no other owner's key has."""
    return hashlib.sha256(f"{owner}\0{key}".encode()).hexdigest()


def claim_key(found: KeyedRequest | None, asked: KeyedRequest, *, now: datetime) -> KeyedRequest:
    """Return the request as it is to be stored, where `found` is: `asked`, a further attempt at it, or one that has an answer.

    Raise `KeyReusedError` and `InProgressError`.
    """
    if found is None or found.expires_at <= now:
        return asked
    if found.fingerprint != asked.fingerprint:
        raise KeyReusedError
    if found.answer is not None:
        return found
    if found.until is not None and found.until > now:
        raise InProgressError
    return replace(found, attempt=found.attempt + 1, until=now + ATTEMPT)


def complete_request(found: KeyedRequest | None, completion: Completion) -> KeyedRequest:
    """Return `found` with the answer. Raise `AnsweredError` where it has that of another attempt.

    An attempt that took longer than it was thought to may still complete the request, as long as no other one has.
    """
    if found is None:
        found = completion.request  # it took a day, and the document is gone
    if found.seed != completion.request.seed:
        raise InProgressError  # and the key stands for another request since
    if found.answer not in (None, completion.answer):
        raise AnsweredError(found)
    return replace(found, until=None, answer=completion.answer)


def release_attempt(found: KeyedRequest | None, held: KeyedRequest) -> KeyedRequest | None:
    """Return `found` without the attempt that is `held`, so that the next one need not wait; None where nothing changes."""
    if found is None or found.answer is not None or (found.seed, found.attempt) != (held.seed, held.attempt):
        return None
    return replace(found, until=None)
