"""Seeds: what a fuzzer begins with, from the tables of the tests."""

from __future__ import annotations

import gzip
import json

from tests.archives.forge import FORGED, LINES, WHOLE
from tests.egress.frames import FRAMES, TOKENS, TURNS
from tests.egress.malformed_urls import GRAMMAR
from tests.egress.plants import NOTATIONS, VALUES
from tests.egress.urls import ALLOWED

OK = b"HTTP/1.1 200 OK\r\n"
ANSWERS = [
    OK + b"content-length: 2\r\n\r\nab",
    OK + b"transfer-encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n",
    OK + b"content-encoding: gzip\r\nconnection: close\r\n\r\n" + gzip.compress(b"plain" * 99, mtime=0),
    b"HTTP/1.1 103 Early Hints\r\n\r\n" + OK + b"content-length: 2\r\n\r\nab",
    b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\nwild",
    b"HTTP/1.1 204 No Content\r\n\r\n",
    b"HTTP/1.0 200 OK\r\ncontent-type: text/plain; charset=utf-7\r\n\r\n+ADw-",
]
ARGUMENTS = [
    {"url": "https://api.news.test/a?b=c#d", "headers": {"x-a": "b"}, "query_params": {"a": [1, None, "x"]}},
    {"url": "https://api.news.test/hook", "body": {"a": [1.5, None, {"b": "c"}]}},
    {"url": "https://evil.test/", "credential": "HEX", "method": "DELETE"},
]


def _texts(*tables: dict[str, list[str]]) -> list[bytes]:
    return [
        text.encode("utf-8", "surrogatepass")[:4_000] for table in tables for texts in table.values() for text in texts[:20]
    ]


EXECUTION = [
    b'{"kind":"execution","origin":null,"place":{"agent":"a","execution":"e","task":"t"},"value":{}}',
    b'{"kind":"step","value":{"number":1}}\n{"execution":"e","kind":"end"}',
    b'{"kind":"receipt","value":{"kind":"opened"}}',
]

PEOPLE = [
    b'{"approves":false,"created_at":"2026-01-01T00:00:00Z","max_credits_month":null,"name":"Bea","person":"p",'
    b'"rights":["read"],"role":"viewer"}',
    b'{"content":{"a":[1]},"path":"user_memory/taste","person":"","user":"u"}',
]

SEEDS: dict[str, list[bytes]] = {
    "url": _texts(GRAMMAR, ALLOWED),
    "scanner": [write(VALUES["prefixed"]).encode("utf-8", "surrogatepass") for write in NOTATIONS.values()],
    "framer": [b"text/plain; charset=utf-8\n" + item for item in _texts(FRAMES, TURNS, TOKENS)],
    "reader": [bytes([step]) + answer for answer in ANSWERS for step in (0, 255)],
    "archive": [WHOLE, *EXECUTION, *PEOPLE, *(forged[:4_000] for forged, _ in (*FORGED.values(), *LINES.values()))],
    "gate": [json.dumps(arguments).encode() + b"\r\n--answer--\r\n" + entry for arguments in ARGUMENTS for entry in ANSWERS],
}
