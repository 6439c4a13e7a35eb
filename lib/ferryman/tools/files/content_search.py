"""The tool `content_search`: lines of text files that hold a text, or match a regular expression in linear time."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import Any

import re2  # type: ignore[import-untyped]  # it has no types

from ferryman.domain.files.texts import is_text_type
from ferryman.tools.files.file_call import FileCall, explain, read_text, refuse, write_answer
from ferryman.tools.files.globs import OPTIONS, Glob
from ferryman.tools.files.position import SearchPosition, read_position
from ferryman.tools.files.walking import walk
from ferryman.tools.local_function.execute import LocalFunctionError
from ferryman.tools.local_function.registry import register

QUERY_CHARACTERS_MAX = 500
MATCHES_MAX = 100
LINE_BYTES_MAX = 300
"""How much of a line is shown: the part around its first match."""

WINDOW_BYTES = 1024 * 1024
"""Read at once. A line that is longer than this is searched in pieces."""

OVERLAP_BYTES = 4 * QUERY_CHARACTERS_MAX
"""What two pieces of a line share: all that a text may have that is searched for, so that none lies across them."""

BYTES_MAX = 8 * 1024 * 1024
STEPS_MAX = 400_000_000
"""What one call reads, times the instructions of its expression: about two seconds, where RE2 tries each at every byte."""

FILES_MAX = 100
ENTRIES_MAX = 10_000
"""A call ends once it has read so many bytes, files or entries of the list; `cursor` says how to go on.

The last window may go beyond `BYTES_MAX`."""


@dataclass(slots=True, kw_only=True)
class Search:
    """One call: what is looked for, and what it has read and matched so far."""

    expression: Any
    matches: list[dict[str, Any]] = field(default_factory=list)
    files: int = 0
    bytes_read: int = 0

    @property
    def bytes_max(self) -> int:
        """What the call reads: less for an expression of many instructions, of which `a{1000}` has a thousand."""
        instructions: int = self.expression.programsize
        return max(1, min(BYTES_MAX, STEPS_MAX // max(1, instructions)))

    @property
    def is_full(self) -> bool:
        """Whether the call ends here."""
        return self.files >= FILES_MAX or self.bytes_read >= self.bytes_max or len(self.matches) >= MATCHES_MAX

    def scan(self, key: str, content: bytes, line: int) -> tuple[int, int]:
        """Add the matching lines of a piece of a file; return how many of its bytes and lines are done."""
        done = 0
        for number, text in enumerate(_split(content)):
            if len(self.matches) >= MATCHES_MAX:
                return done, number
            match = self.expression.search(text.rstrip(b"\r\n"))
            if match is not None and not self._has(key, line + number):
                self.matches.append({"key": key, "line": line + number, "text": _show(text, match.start())})
            done += len(text)
        return done, content.count(b"\n")

    def _has(self, key: str, line: int) -> bool:
        """Tell whether an earlier piece of the line has matched."""
        return bool(self.matches) and (self.matches[-1]["key"], self.matches[-1]["line"]) == (key, line)


async def content_search(
    *, query: str, pattern: str, is_regex: bool, ignore_case: bool, cursor: str, db: FileCall, **_: Any
) -> str:
    """Return `matches`, each with `key`, `line` and `text`, how much was searched, and a `cursor` where there is more.

    Raise `LocalFunctionError`.
    """
    search, glob, after = Search(expression=_compile(query, is_regex, ignore_case)), Glob(pattern), None
    start, compared = read_position(cursor), 0
    async for position, entry in walk(db, glob.prefix, start):
        # the file that the last call ended in goes on where it ended
        at = replace(position, offset=start.offset, line=max(1, start.line)) if _is_same(position, start) else position
        if search.is_full or compared == ENTRIES_MAX:
            after = at.format()
            break
        compared += 1
        if glob.matches(entry.key) and (rest := await _search_file(search, db, entry.key, at)) is not None:
            after = rest.format()
            break
    searched = {"files_searched": search.files, "bytes_read": search.bytes_read}
    return write_answer({"matches": search.matches, **searched, "cursor": after})


async def _search_file(search: Search, call: FileCall, key: str, at: SearchPosition) -> SearchPosition | None:
    """Search a file from a position on; return where to go on, None at its end or where it is no text."""
    search.files += 1
    while True:
        try:
            size = min(WINDOW_BYTES, search.bytes_max)
            part = await explain(call.files.read(call.workspace, key, start=at.offset, size=size), key)
        except LocalFunctionError:
            return None  # it was deleted meanwhile
        search.bytes_read += len(part.content)
        if not is_text_type(part.content_type) or not part.content:
            return None
        size = len(part.content)
        whole = size if part.end >= part.size_bytes else part.content.rfind(b"\n") + 1
        done, lines = await asyncio.to_thread(search.scan, key, part.content[: whole or size], at.line)
        if not whole and done == size:  # the line goes on
            done -= min(OVERLAP_BYTES, size // 2)
        at = replace(at, offset=at.offset + done, line=at.line + lines)
        if at.offset >= part.size_bytes:
            return None
        if search.is_full:
            return at


def _compile(query: str, is_regex: bool, ignore_case: bool) -> Any:
    if not 1 <= len(query) <= QUERY_CHARACTERS_MAX:
        raise refuse("query", f"must have 1 to {QUERY_CHARACTERS_MAX} characters")
    read_text("query", query)
    expression = query if is_regex else re2.escape(query)
    try:
        return re2.compile((f"(?i){expression}" if ignore_case else expression).encode(), OPTIONS)
    except re2.error:
        raise refuse("query", "must be a regular expression of RE2, without look-around and references, or no regex") from None


def _is_same(position: SearchPosition, start: SearchPosition) -> bool:
    return (position.page, position.skip) == (start.page, start.skip)


def _split(content: bytes) -> list[bytes]:
    # a lone \r ends no line: line numbers count \n alone
    lines = content.split(b"\n")
    return [*(line + b"\n" for line in lines[:-1]), *filter(None, lines[-1:])]


def _show(line: bytes, at: int) -> str:
    text = line.rstrip(b"\r\n")
    begin = max(0, at - LINE_BYTES_MAX // 3)
    part = text[begin : begin + LINE_BYTES_MAX].decode(errors="replace")
    return f"{'…' if begin else ''}{part}{'…' if begin + LINE_BYTES_MAX < len(text) else ''}"


register("content_search", content_search)
