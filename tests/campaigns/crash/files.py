"""Files: what must be true of a workspace's bucket and of its quota when an execution is over, whatever was done to it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ferryman.domain.calls.call import Ticket
from ferryman.domain.calls.part import PartKind
from ferryman.domain.files.kept import FOLDER, name_kept
from ferryman.domain.files.quota import FileQuota
from tests.campaigns.crash.scenarios import LONG_PAGE

if TYPE_CHECKING:
    from tests.campaigns.crash.invariants import Record

LINES = 900
WRITE, EDIT = "file_write", "file_edit"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFiles:
    """What a run left of files: `contents` by key, and how many times the bucket `stored` anything.

    `quota` is that of the moment when the execution was over, `later` that after another write of the workspace, a day later.
    """

    contents: Mapping[str, bytes]
    stored: int
    quota: FileQuota
    later: FileQuota


def build_page(fetch: int) -> str:
    """Return the long page as fetch number `fetch` reads it: it is another one each time, of the same length."""
    return "".join(f"{fetch:03}.{line:04}: The night ferry leaves at ten.\n" for line in range(LINES))


def has_written(ticket: Ticket) -> bool:
    """Tell whether a call says that it has written a file."""
    return ticket.tool in (WRITE, EDIT) and ticket.result is not None and ticket.result.ok


def replay(tickets: Iterable[Ticket]) -> Mapping[str, str]:
    """Return the texts of the files, by key, that calls leave which say that they have written."""
    texts = dict[str, str]()
    for ticket in filter(has_written, tickets):
        key, arguments = str(ticket.display_arguments["key"]), ticket.display_arguments
        texts[key] = (
            str(arguments["content"])
            if ticket.tool == WRITE
            else texts.get(key, "").replace(str(arguments["old_text"]), str(arguments["new_text"]))
        )
    return texts


def find_misfiled(record: Record, whole: Record | None) -> list[str]:
    """Return every rule of files that `record` breaks: what is stored is what the calls say, once, and counted to the byte.

    A long result whose writing was killed may stay beside the one that the record names; it is counted a day later.
    """
    expected, filed = record.scenario.files, record.files
    if expected is None or filed is None:
        return [] if expected is None else ["lost: nobody has looked into the bucket"]
    results = {key: content for key, content in filed.contents.items() if key.startswith(f"{FOLDER}/")}
    texts = {key: content.decode() for key, content in filed.contents.items() if key not in results}
    # a call that failed, and says so, has written nothing
    written = replay(record.tickets) if whole is not None else expected
    findings = [] if texts == written else [f"lost: the files are {texts} where the calls leave {written}"]
    long = [ticket for ticket in record.tickets if str(ticket.display_arguments.get("url")).endswith(LONG_PAGE)]
    findings += [item for ticket in long for item in _find_unkept(ticket, results, is_whole=whole is None)]
    attempts = {
        name_kept(record.execution.id, record.execution.created_at, ticket.seq, attempt)
        for ticket in long
        for attempt in range(1, ticket.attempt + 1)
    }
    findings += [f"doubled: {key} is no attempt's" for key in results if key not in {key for key, _ in attempts}]
    return [*findings, *_find_uncounted(record, filed, len(results), {write for _, write in attempts})]


def _find_unkept(ticket: Ticket, results: Mapping[str, bytes], *, is_whole: bool) -> list[str]:
    """Check that the result of a long page is kept as it was settled, or says that it is not, which only a death excuses."""
    result, where = ticket.result, f"call {ticket.seq}"
    if result is None:
        return []  # which is found elsewhere
    named = [part for part in result.parts if part.kind is PartKind.FILE]
    if not named:
        tells_why = " is not kept: " in result.content.splitlines()[-1]
        return [] if tells_why and not is_whole else [f"lost: {where} does not say where the rest of its result is"]
    content = results.get(named[0].file or "", b"")
    begin, end = result.parts[0].start, result.parts[0].end
    findings = []
    if hashlib.sha256(content).hexdigest() != named[0].sha256:
        findings.append(f"lost: {where} names {named[0].file}, which holds something else")
    if not content.decode().startswith(result.content[begin:end]) or end == begin:
        findings.append(f"lost: {where} shows another text than {named[0].file} holds")
    offset = int(str(ticket.display_arguments.get("offset", 0)))
    fetch = re.search(r"([0-9]{3})\.[0-9]{4}: ", content[:80].decode())
    if content.decode() != build_page(int(fetch[1]) if fetch else 0)[offset:]:
        findings.append(f"lost: {named[0].file} is no page as it was fetched")
    return findings


def _find_uncounted(record: Record, filed: StoredFiles, results: int, attempts: Collection[str]) -> list[str]:
    """Check that each call has stored once, and that the quota is the bucket's sum; attempts that were killed may be reserved
    for a day."""
    writes = sum(map(has_written, record.tickets))
    total, quota = sum(map(len, filed.contents.values())), filed.quota
    findings = []
    if filed.stored != writes + results:
        findings.append(f"doubled: the bucket has stored {filed.stored} times, for {writes} writes and {results} kept results")
    if not quota.used_bytes <= total <= quota.used_bytes + quota.reserved_bytes:
        findings.append(f"quota: {quota.used_bytes} bytes are counted and {quota.reserved_bytes} reserved of {total}")
    findings += [f"quota: {name} is still reserved" for name in quota.reservations if name not in attempts]
    if filed.later != FileQuota(id=record.execution.workspace, used_bytes=total):
        findings.append(f"quota: a day later it is {filed.later} where {total} bytes are stored")
    return findings
