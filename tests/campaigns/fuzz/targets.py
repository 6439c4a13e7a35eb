"""Targets: what a fuzzer drives with hostile bytes. Each raises for what must never happen, and for nothing else."""

from __future__ import annotations

import asyncio
import gzip
import html
import io
import itertools
import json
import re
import ssl
import tarfile
import unicodedata
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import cache
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

import httpx

from ferryman.archives.reading import iterate_files, read_archive
from ferryman.domain.archives.files import KINDS, measure_file
from ferryman.domain.archives.lines import ArchiveError, read_lines
from ferryman.domain.archives.manifest import MANIFEST, Manifest
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.executions.policy import ExecutionPolicy
from ferryman.domain.http.request import InboundResponse, Method, OutboundRequest, PreparedRequest
from ferryman.domain.http.url import InvalidUrlError, parse_url
from ferryman.egress.gate import EgressGate
from ferryman.egress.leaks import SecretScanner, redact_json, redact_text
from ferryman.egress.sanitize import render_response
from ferryman.egress.send import Sending, send
from ferryman.inmemory.log import RecordingLog
from ferryman.ports.gate import CallPolicy
from ferryman.serving.archived import Placed, iterate_executions
from ferryman.serving.archived_files import FileCheck
from ferryman.serving.archived_people import SHAPES, read_people_line
from ferryman.tools.http import PARSERS
from tests.campaigns.fuzz.mcp_answer import mcp_answer
from tests.campaigns.fuzz.mcp_message import mcp
from tests.campaigns.fuzz.wire import Plug, Wire
from tests.egress.plants import VALUES, credential, policy
from tests.plain_gate import TableNames

HOST = "api.news.test"
KEYS = {name: credential(value, name) for name, value in (("PREFIXED", VALUES["prefixed"]), ("HEX", VALUES["hex"]))}
SCANNER = SecretScanner(KEYS.values())
TOKEN = re.compile(r"tool[\W_]{0,3}response")
POLICY: ExecutionPolicy = policy(webhook=True, webhook_urls=(f"https://{HOST}/hook",))
BODY_MAX = 20_000
EXECUTIONS = "executions-000001.jsonl"


@cache
def _tls() -> ssl.SSLContext:
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


@cache
def _loop() -> asyncio.AbstractEventLoop:
    return asyncio.new_event_loop()


def _run(coroutine: Coroutine[Any, Any, Any]) -> Any:
    return _loop().run_until_complete(coroutine)


def url(data: bytes) -> None:
    """Parse a URL: it is refused without being repeated, or every parser reads it alike and it is sent unchanged."""
    raw = data.decode("utf-8", "surrogateescape")
    parsed, message = None, ""
    try:
        parsed = parse_url(raw)
    except InvalidUrlError as error:
        message = str(error)
    if parsed is None:
        assert message.isascii()
        assert len(raw) < 12 or raw not in message
        return
    assert parse_url(str(parsed)) == parsed
    assert urlsplit(raw).hostname == parsed.host
    assert httpx.URL(str(parsed)).raw_host == parsed.host.encode()
    # only a slash may have been added
    assert raw.partition("#")[0].endswith((parsed.target, parsed.target[1:]))


def scanner(data: bytes) -> None:
    """Scan any text and any JSON: a key beside it is found and removed."""
    text = data.decode("utf-8", "surrogateescape")
    SCANNER.find(text)
    redact_json(_json(data), SCANNER)
    beside = f"{text} {VALUES['prefixed']} {text}"
    assert SCANNER.find(beside) is not None
    assert VALUES["prefixed"] not in redact_text(beside, SCANNER)


def framer(data: bytes) -> None:
    """Frame a body of any charset: there is one frame, at the start and the end, whatever is between."""
    kind, _, body = data.partition(b"\n")
    inbound = InboundResponse(status=200, headers=(("Content-Type", kind.decode("latin-1")),), body=body, size_bytes=len(body))
    seen = render_response(inbound, SCANNER, nonce="0123456789abcdef").content
    plain = html.unescape(html.unescape(unicodedata.normalize("NFKC", seen))).casefold()
    assert len(TOKEN.findall(plain)) == 2
    assert seen.startswith('<tool_response id="0123456789abcdef" truncated="')
    assert seen.endswith("</tool_response>")
    assert all(item in "\n\t" or unicodedata.category(item) not in ("Cc", "Cf", "Cs") for item in seen)


def reader(data: bytes) -> None:
    """Read a response: any bytes, in any parts, are a bounded answer or a refusal."""
    step = data[0] * 16 + 1 if data else 1
    wire = Wire(data[start : start + step] for start in range(1, len(data), step))
    prepared = PreparedRequest(method=Method.GET, url=parse_url(f"https://{HOST}/"), headers=(("accept", "*/*"),))
    inbound, reason = None, ""
    try:
        alone = Sending(prepared=prepared, body_max=BODY_MAX, within_s=5, owner="o")
        inbound = _run(send(alone, (ip_address("8.8.8.8"),), dialer=Plug(wire), tls=_tls()))
    except CallRefusedError as refused:
        reason = refused.refusal.reason
    if inbound is None:
        assert reason in ("request_failed", "timed_out")
    else:
        assert len(inbound.body) <= BODY_MAX
        render_response(inbound, SCANNER, nonce="n")
    assert bytes(wire.written) == b"GET / HTTP/1.1\r\nhost: api.news.test\r\naccept: */*\r\nconnection: close\r\n\r\n"


def gate(data: bytes) -> None:
    """Send through the whole gate: any arguments of any tool, and any answer, are a result with no fault of ours and no key."""
    arguments, _, answer = data.partition(b"\r\n--answer--\r\n")
    tool = list(PARSERS)[len(data) % len(PARSERS)]
    parsed = _json(arguments)
    fields = parsed if isinstance(parsed, dict) else {"url": arguments.decode("utf-8", "surrogateescape")}
    fields = {"url": f"https://{HOST}/", "method": "POST", "credential": "PREFIXED", "body": {}, **fields}
    try:
        outbound: OutboundRequest = PARSERS[tool](
            {name: value for name, value in fields.items() if tool == "api_call" or name in ("url", "body")}
        )
    except CallRefusedError:
        return
    log = RecordingLog()
    deps = EgressGate(names=TableNames({HOST: ["8.8.8.8"]}), dial=Plug(Wire([answer])), tls=_tls(), tracer=log, within_s=5)
    result = _run(deps.send(outbound, CallPolicy(execution=POLICY, credentials=KEYS)))
    assert log.lines[-1][1]["fault"] is None
    assert result.content.startswith(("Error: ", "<tool_response "))
    for key in KEYS.values():
        assert key.secret.reveal() not in result.content + repr(log.lines)


def archive(data: bytes) -> None:
    """Read an archive, as it is, and as one that was compressed and packed as it must be: a refusal names an entry."""
    lines = b"".join(line + b"\n" for line in data.split(b"\n"))
    for forged in (data, gzip.compress(data, mtime=0), _pack(lines)):
        refusal: ArchiveError | None = None
        try:
            read_archive(io.BytesIO(forged))
            for entry, content in iterate_files(io.BytesIO(forged)):
                if entry == EXECUTIONS:
                    _read_people(list(read_lines(entry, content)))
                    _read_files(list(read_lines(entry, content)))
                    list(iterate_executions(read_lines(entry, content)))
        except ArchiveError as refused:
            refusal = refused
        assert refusal is None or (refusal.entry and len(str(refusal)) < 1_000)


def _read_people(lines: list[Placed]) -> None:
    """Read lines as those of each kind about people: each is read or refused."""
    for (place, line), kind in itertools.product(lines[:3], SHAPES):
        with suppress(ArchiveError):
            read_people_line(place, kind, line)


def _read_files(lines: list[Placed]) -> None:
    """Read lines as those of a workspace's files, also after one that begins a file: each is read or refused."""
    begun = {"kind": "file", "key": "a", "content_type": "a/b", "size_bytes": 3, "updated_at": "2026-11-23T09:00:00Z"}
    for (place, line), before in itertools.product(lines[:3], ([], [(place, begun) for place, _ in lines[:1]])):
        check = FileCheck(lambda _: None)
        with suppress(ArchiveError):
            for placed in (*before, (place, line)):
                check.read(*placed)


def _pack(lines: bytes) -> bytes:
    """Return an archive whose digests are right, of a workspace and these lines of executions."""
    contents = {"workspace-000001.jsonl": b'{"id":"ws_1"}\n', EXECUTIONS: lines}
    manifest = Manifest(
        workspace="ws_1",
        name="w",
        exported_at="2026-11-23T09:00:00Z",
        counts={**dict.fromkeys(KINDS, 0), "workspace": 1},
        left_out=0,
        file_bytes=0,
        files_left_out=0,
        keys={},
        files=tuple(measure_file(name, content) for name, content in contents.items()),
    )
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, content in {**contents, MANIFEST: json.dumps(manifest.to_json()).encode()}.items():
            header = tarfile.TarInfo(name)
            header.size = len(content)
            tar.addfile(header, io.BytesIO(content))
    return gzip.compress(packed.getvalue(), mtime=0)


def _json(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return data.decode("utf-8", "surrogateescape")


ENTRIES: tuple[Callable[[bytes], None], ...] = (url, scanner, framer, reader, gate, archive, mcp, mcp_answer)
TARGETS = {entry.__name__: entry for entry in ENTRIES}
