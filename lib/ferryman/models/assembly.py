"""A reply, assembled from the events of its stream: every block as the provider sent it, of whatever type.

The Messages API wants the blocks of a turn back unchanged and in their order, so nothing here knows a list of types: a block
is the object that its first event holds, with what its deltas add.
"""

from __future__ import annotations

import json
from typing import Any

from ferryman.domain.executions.message import Reply, ReplyDelta
from ferryman.domain.executions.usage import Usage
from ferryman.models.events import UnreadableReplyError
from ferryman.models.storable import make_storable

REPLY_BYTES_MAX = 900_000
"""The blocks of a reply as JSON: one document of the journal holds them, and may have 1 MiB."""

BLOCKS_MAX = 1_000
TOKENS_MAX = 2**40

STOP_REASONS = frozenset(
    (
        "end_turn",
        "max_tokens",
        "stop_sequence",
        "tool_use",
        "pause_turn",
        "compaction",
        "refusal",
        "model_context_window_exceeded",
    )
)
UNKNOWN = "unknown"
"""Replaces a stop reason that is none of `STOP_REASONS`: it is a stranger's text, and is stored and logged unscanned."""

UNREADABLE = "the model's reply could not be read"

_APPENDED = {"text_delta": "text", "thinking_delta": "thinking"}
_TEXTS = {
    "text": ("text",),
    "thinking": ("thinking",),
    "tool_use": ("id", "name"),
}
"""The fields of a block by its type that this program reads, and that are texts."""

_USAGE = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cache_read_input_tokens": "cache_read_tokens",
    "cache_creation_input_tokens": "cache_write_tokens",
}


class ProviderBrokeOffError(Exception):
    """The provider ended its answer with an error."""


class BlockAssembly:
    """One block of a reply under way."""

    def __init__(self, start: dict[str, Any]) -> None:
        self._fields = start
        self._texts: dict[str, list[str]] = {}
        self._arguments: list[str] = []
        self._citations: list[Any] = []

    def tell(self, index: int, delta: dict[str, Any] | None = None) -> ReplyDelta | None:
        """Return what a delta that was added, or the beginning of the block, shows of a text or of a call; None for others."""
        kind = self._fields["type"]
        names: tuple[Any, ...]
        if kind == "text":
            text, names = (self._fields if delta is None else delta).get("text"), ("", "")
        elif kind == "tool_use":
            text, names = "" if delta is None else delta.get("partial_json"), (self._fields.get("id"), self._fields.get("name"))
        else:
            return None
        # what is no text is found when the block is built
        is_readable = all(isinstance(item, str) for item in (text, *names)) and (text or delta is None)
        return ReplyDelta(index, str(text), *map(str, names)) if is_readable else None

    def add(self, delta: dict[str, Any], size: int) -> int:
        """Add one delta, whose event takes `size` bytes; return how much it adds, in characters.

        A delta of an unknown type sets its own members, as that of a compaction does.
        """
        kind = delta.get("type")
        if kind == "input_json_delta":
            return _append(self._arguments, _read(delta, "partial_json", str))
        if isinstance(kind, str) and kind in _APPENDED:
            field = _APPENDED[kind]
            return _append(self._texts.setdefault(field, []), _read(delta, field, str))
        if kind == "citations_delta":
            self._citations.append(_read(delta, "citation", dict))
        else:
            self._fields.update((name, value) for name, value in delta.items() if name != "type")
        return size

    def build(self, *, is_cut: bool) -> dict[str, Any]:
        """Return the block. The arguments of a call that `is_cut` may break off: then they are one text."""
        block = self._fields
        for field, parts in self._texts.items():
            block[field] = "".join((block.get(field) or "", *parts))
        if self._citations:
            block["citations"] = [*(block.get("citations") or ()), *self._citations]
        arguments = "".join(self._arguments)
        if arguments:
            block["input"] = _parse_arguments(arguments, is_cut=is_cut)
        if "input" in block and not isinstance(block["input"], dict):
            # an argument list that is not an object is the model's mistake; the tool's schema says so
            block["input"] = {"": block["input"]}
        for field in _TEXTS.get(block["type"], ()):
            _read(block, field, str)
        storable: dict[str, Any] = make_storable(block)
        return storable


class ReplyAssembly:
    """One reply under way: `add` its events in order, then `build` it. Both raise `UnreadableReplyError`."""

    def __init__(self) -> None:
        self._blocks: list[BlockAssembly] = []
        self._ended: set[int] = set()
        self._usage: dict[str, int] = {}
        self._stop_reason: str | None = None
        self.size = 0
        """How much the blocks hold so far, in characters."""

    def add(self, data: bytes) -> ReplyDelta | None:
        """Add the event that `data` is the JSON of, and return what it shows. Raise `ProviderBrokeOffError` for an error."""
        try:
            event = json.loads(data.decode())
        except (ValueError, RecursionError):
            raise UnreadableReplyError(UNREADABLE) from None
        if not isinstance(event, dict):
            raise UnreadableReplyError(UNREADABLE)
        kind = event.get("type")
        if kind == "content_block_delta":
            block = self._get_block(event)
            self._count(block.add(_read(event, "delta", dict), len(data)))
            return block.tell(event["index"], event["delta"])
        if kind == "content_block_start":
            self._start_block(event, len(data))
            return self._blocks[-1].tell(event["index"])
        if kind == "content_block_stop":
            self._get_block(event)
            self._ended.add(event["index"])
        elif kind == "message_start":
            self._update(_read(event, "message", dict), event["message"])
        elif kind == "message_delta":
            self._update(_read(event, "delta", dict), event)
        elif kind == "error":
            raise ProviderBrokeOffError
        return None

    @property
    def usage(self) -> Usage:
        """The tokens that the provider has counted so far."""
        return Usage(**{field: self._usage.get(name, 0) for name, field in _USAGE.items()})

    @property
    def is_whole(self) -> bool:
        """Whether the provider has said why the reply stopped, and ended every block."""
        return self._stop_reason is not None and len(self._ended) == len(self._blocks)

    def build(self) -> Reply:
        """Return the reply, with no empty text among its blocks: the API accepts none back."""
        assert self._stop_reason is not None, "only a whole reply is built"
        is_cut = self._stop_reason not in ("tool_use", "end_turn", "pause_turn")
        blocks = [block.build(is_cut=is_cut) for block in self._blocks]
        content = tuple(block for block in blocks if block["type"] != "text" or block["text"])
        if len(json.dumps(content, ensure_ascii=False).encode()) > REPLY_BYTES_MAX:
            raise _build_size_error()
        return Reply(content=content, stop_reason=self._stop_reason, usage=self.usage)

    def _start_block(self, event: dict[str, Any], size: int) -> None:
        if event.get("index") != len(self._blocks) or len(self._blocks) == BLOCKS_MAX:
            raise UnreadableReplyError(UNREADABLE)
        start = _read(event, "content_block", dict)
        _read(start, "type", str)
        self._count(size)
        self._blocks.append(BlockAssembly(start))

    def _get_block(self, event: dict[str, Any]) -> BlockAssembly:
        index: int = _read(event, "index", int)
        if not 0 <= index < len(self._blocks) or index in self._ended:
            raise UnreadableReplyError(UNREADABLE)
        return self._blocks[index]

    def _update(self, message: dict[str, Any], counted: dict[str, Any]) -> None:
        """Take over why a message stopped, and its tokens: these are totals, and those that are missing stay as they were."""
        reason = message.get("stop_reason")
        if reason is not None:
            self._stop_reason = reason if isinstance(reason, str) and reason in STOP_REASONS else UNKNOWN
        usage = counted.get("usage") or {}
        for name in _USAGE:
            if usage.get(name) is not None:
                tokens = _read(usage, name, int)
                if not 0 <= tokens <= TOKENS_MAX:
                    raise UnreadableReplyError("the model's provider counted tokens that cannot be")
                self._usage[name] = tokens

    def _count(self, size: int) -> None:
        self.size += size
        if self.size > REPLY_BYTES_MAX:
            raise _build_size_error()


def _append(parts: list[str], text: str) -> int:
    parts.append(text)
    return len(text)


def _parse_arguments(text: str, *, is_cut: bool) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        if is_cut:
            return text
        raise UnreadableReplyError(UNREADABLE) from None


def _read(source: Any, name: str, kind: type) -> Any:
    """Return the member `name` of an event. Raise `UnreadableReplyError` unless it is there, and of that type."""
    value = source.get(name) if isinstance(source, dict) else None
    if type(value) is not kind:
        raise UnreadableReplyError(UNREADABLE)
    return value


def _build_size_error() -> UnreadableReplyError:
    return UnreadableReplyError(f"the model's reply takes more than {REPLY_BYTES_MAX} bytes")
