"""Listing: pages of names in their order, with what shares a beginning up to a delimiter told once."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass

from emulator.objects.errors import StorageError, invalid
from emulator.objects.store import ObjectStore
from emulator.objects.values import StoredObject

PAGE = 1_000
LAST = 0x10FFFF
SURROGATES = range(0xD800, 0xE000)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListRequest:
    """What is listed: names that begin with `prefix`, from `start` on and before `end`, at most `most` names and prefixes."""

    bucket: str
    prefix: str = ""
    delimiter: str = ""
    start: str = ""
    end: str | None = None
    most: int = PAGE


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedNames:
    """A page; the next one starts at `next_start`, None where there is none."""

    objects: tuple[StoredObject, ...]
    prefixes: tuple[str, ...]
    next_start: str | None


def list_objects(store: ObjectStore, asked_for: ListRequest) -> ListedNames:
    """Return a page. Of names that share a prefix only the first is read."""
    objects: list[StoredObject] = []
    prefixes: list[str] = []
    start: str | None = max(asked_for.start, asked_for.prefix, key=str.encode)
    while start is not None:
        for stored in store.iterate(asked_for.bucket, start):
            name = stored.name
            if not name.startswith(asked_for.prefix) or (asked_for.end is not None and name.encode() >= asked_for.end.encode()):
                return ListedNames(objects=tuple(objects), prefixes=tuple(prefixes), next_start=None)
            if len(objects) + len(prefixes) == asked_for.most:
                return ListedNames(objects=tuple(objects), prefixes=tuple(prefixes), next_start=name)
            rest = name[len(asked_for.prefix) :]
            if asked_for.delimiter and asked_for.delimiter in rest:
                prefix = asked_for.prefix + rest[: rest.index(asked_for.delimiter) + len(asked_for.delimiter)]
                prefixes.append(prefix)
                start = successor(prefix)
                break
            objects.append(stored)
        else:
            start = None
    return ListedNames(objects=tuple(objects), prefixes=tuple(prefixes), next_start=None)


def successor(prefix: str) -> str | None:
    """Return the first name after all that begin with `prefix`, None where there is none; bytes and code points sort alike."""
    while prefix:
        code = ord(prefix[-1]) + 1
        if code <= LAST:
            return prefix[:-1] + chr(SURROGATES.stop if code in SURROGATES else code)
        prefix = prefix[:-1]
    return None


def write_token(start: str) -> str:
    """Return the token of the page that starts at a name."""
    return base64.urlsafe_b64encode(start.encode()).decode()


def read_token(token: str) -> str:
    """Return the name that a token is of; raise StorageError."""
    try:
        return base64.b64decode(token.encode(), altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError) as error:
        raise invalid("Invalid argument: the page token is none.") from error


def read_most(name: str, text: str) -> int:
    """Return how many entries a page is to have, at most `PAGE`; raise StorageError."""
    if not text.isdecimal() or len(text) > 9:
        raise StorageError(400, "invalid", "InvalidArgument", f"Invalid value for {name}: it is a number.")
    return min(int(text), PAGE)
