"""The history of an execution: its messages, each encoded once, with the size and the digest of the prompt that they make.

The encoding is canonical (`message.canonicalize_prompt`), and messages are only ever appended: what a prompt begins with stays
the same bytes from turn to turn, which is what a provider's cache of prompts goes by.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from ferryman.domain.executions.message import Message

_SEPARATOR = b", "
_END = b"]]"
_ENCODER = json.JSONEncoder(sort_keys=True)


class MessageHistory:
    """The messages so far, after a system prompt that does not change and tools that are only added to."""

    def __init__(self, system: str, tools: Sequence[Mapping[str, Any]]) -> None:
        self._system = system
        self._tools = list(tools)
        self._messages: list[Message] = []
        self._encoded: list[bytes] = []
        beginning = self._encode_beginning()
        self._hash = hashlib.sha256(beginning)
        self._sizes = [len(beginning)]

    @property
    def tools(self) -> tuple[Mapping[str, Any], ...]:
        """The definitions of the tools, in order."""
        return tuple(self._tools)

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages, in order."""
        return tuple(self._messages)

    def append(self, message: Message) -> None:
        """Add `message`, which must not change any more."""
        encoded = _encode(message)
        chunk = _SEPARATOR + encoded if self._messages else encoded
        self._hash.update(chunk)
        self._sizes.append(self._sizes[-1] + len(chunk))
        self._messages.append(message)
        self._encoded.append(encoded)

    def add_tools(self, tools: Sequence[Mapping[str, Any]]) -> None:
        """Add `tools` behind those that there are, as found by the last message: they count as a part of it."""
        if not tools:
            return
        before = len(self._encode_beginning())
        self._tools += tools
        beginning = self._encode_beginning()
        self._hash = hashlib.sha256(beginning + _SEPARATOR.join(self._encoded))
        self._sizes[-1] += len(beginning) - before

    def measure(self, *, without: int = 0) -> int:
        """Return the bytes of the canonical prompt, without its last so many messages."""
        return self._sizes[-1 - without] + len(_END)

    def digest(self) -> str:
        """Return the SHA-256 of the canonical prompt, in hex."""
        whole = self._hash.copy()
        whole.update(_END)
        return whole.hexdigest()

    @property
    def encoded(self) -> tuple[bytes, ...]:
        """The messages in order, each as JSON."""
        return tuple(self._encoded)

    def _encode_beginning(self) -> bytes:
        return b"[" + _encode(self._system) + _SEPARATOR + _encode(self._tools) + _SEPARATOR + b"["


def _encode(value: Any) -> bytes:
    return _ENCODER.encode(value).encode()
