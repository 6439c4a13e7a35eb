"""Idempotency-Key: a request that is sent again under its key has its effect once (draft-ietf-httpapi-idempotency-key-header).

The request of a key is one document. It is claimed before anything is done, and gets the answer in the same transaction that
has the effect: an instance that dies leaves both or neither, and of two concurrent attempts one has the effect.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

KEY_LIFETIME = timedelta(hours=24)  # how long a key belongs to its request, from the first attempt on
ATTEMPT = timedelta(seconds=60)
"""How long an attempt counts as under way. After that another may start; only one has an effect."""

KEY_CHARACTERS_MAX = 255
ANSWER_BYTES_MAX = 800_000
"""The stored bytes of an answer: a document holds 1 MiB."""

MALFORMED = f"must be a string in double quotes, of 1 to {KEY_CHARACTERS_MAX} printable ASCII characters, and be given once"

_STRING = re.compile(r'"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\]){1,255})"', re.ASCII)
"""A string of a structured field (RFC 9651)."""


class MalformedKeyError(ValueError):
    """The header is not one string."""


class KeyReusedError(Exception):
    """The key belongs to another request."""


class InProgressError(Exception):
    """An attempt of the same request is under way; its outcome is not known yet."""


class AnsweredError(Exception):
    """The request was answered already, so that nothing was done now; `request` has the answer."""

    def __init__(self, request: KeyedRequest) -> None:
        super().__init__("the request was answered already")
        self.request = request


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyedRequest:
    """The request of an owner's key.

    `id` is the digest of who asks where under which key. `fingerprint` tells the request from any other; the ids of all that it
    creates derive from `seed`. `until` is when the current attempt ends, None where none is under way; `answer` is sealed.
    """

    id: str
    owner: str
    workspace: str = ""
    fingerprint: str
    seed: str = field(repr=False)
    claimed_at: datetime
    attempt: int = 1
    until: datetime | None
    answer: bytes | None = field(default=None, repr=False)

    @property
    def expires_at(self) -> datetime:
        """When the key becomes free again."""
        return self.claimed_at + KEY_LIFETIME

    def name(self, prefix: str) -> str:
        """Return an id with this prefix for a thing that the request creates: the same in every attempt."""
        return f"{prefix}_{hashlib.sha256(f'{self.seed}/{prefix}'.encode()).hexdigest()[:30]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """The answer of a request, to be stored together with its effect."""

    request: KeyedRequest
    answer: bytes = field(repr=False)


def parse_key(header: str) -> str:
    """Return the key in the header's value. Raise `MalformedKeyError`."""
    match = _STRING.fullmatch(header.strip(" "))
    if match is None:
        raise MalformedKeyError(MALFORMED)
    return re.sub(r"\\(.)", r"\1", match[1])


def derive_id(owner: str, key: str, *, workspace: str = "", person: str = "") -> str:
    """Return the id of the request of `key`: no other owner, workspace or person has it, whatever their key.

    The default workspace is "" here, and so is who asks with the owner's own key: such a request has the id that it had before
    there were workspaces, so that a retry finds the answer of an attempt before then.
    """
    place = f"\0{workspace}\0{person}" if workspace or person else ""
    return hashlib.sha256(f"{owner}\0{key}{place}".encode()).hexdigest()


def claim_key(stored: KeyedRequest | None, request: KeyedRequest, *, now: datetime) -> KeyedRequest:
    """Return what to store in place of `stored`: `request`, another attempt of it, or the stored one that has an answer.

    Raise `KeyReusedError` and `InProgressError`.
    """
    if stored is None or stored.expires_at <= now:
        return request
    if stored.fingerprint != request.fingerprint:
        raise KeyReusedError
    if stored.answer is not None:
        return stored
    if stored.until is not None and stored.until > now:
        raise InProgressError
    return replace(stored, attempt=stored.attempt + 1, until=now + ATTEMPT)


def complete_request(stored: KeyedRequest | None, completion: Completion) -> KeyedRequest:
    """Return `stored` with the answer. Raise `AnsweredError` where it has the answer of another attempt.

    An attempt that took longer than `ATTEMPT` may still complete the request, as long as no other one has.
    """
    if stored is None:
        stored = completion.request  # it took a day, and the document was deleted
    if stored.seed != completion.request.seed:
        raise InProgressError  # the key belongs to another request since
    if stored.answer not in (None, completion.answer):
        raise AnsweredError(stored)
    return replace(stored, until=None, answer=completion.answer)


def release_attempt(stored: KeyedRequest | None, attempt: KeyedRequest) -> KeyedRequest | None:
    """Return `stored` without this attempt, so that the next one need not wait; None where nothing changes."""
    if stored is None or stored.answer is not None or (stored.seed, stored.attempt) != (attempt.seed, attempt.attempt):
        return None
    return replace(stored, until=None)
