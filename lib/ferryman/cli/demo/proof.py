"""The proof: the canary key is searched for, in every form it could hide in, wherever anything was stored or sent."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ferryman.cli.demo.story import PRIVATE
from ferryman.client import AsyncClient
from ferryman.domain.json_tree import walk
from ferryman.stack import inventory
from ferryman.stack.local_stack import Stack

INJECTED = "authorization"


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """One place: how many things were searched, how many bytes, and how many of them held the key."""

    place: str
    things: int
    size_bytes: int
    hits: int


def encode_forms(key: str) -> tuple[bytes, ...]:
    """Return the key as it is, reversed, in hex, percent-encoded, and in base64 wherever it may begin in a longer text."""
    raw = key.encode()
    forms = {raw, raw[::-1], raw.hex().encode(), raw.hex().upper().encode(), quote(key, safe="").encode()}
    forms.add("".join(f"%{byte:02X}" for byte in raw).encode())
    for start in range(3):
        padded = base64.b64encode(b"\0" * start + raw)
        # the characters that depend on what is before and after are left out
        core = padded[(0, 2, 3)[start] : len(padded) - 4]
        forms |= {core, core.replace(b"+", b"-").replace(b"/", b"_")}
    return tuple(forms)


def search(place: str, things: Iterable[bytes], forms: Iterable[bytes]) -> SearchResult:
    """Search `things` for any of `forms`."""
    listed, patterns = list(things), tuple(forms)
    hits = sum(any(form in thing for form in patterns) for thing in listed)
    return SearchResult(place=place, things=len(listed), size_bytes=sum(map(len, listed)), hits=hits)


def flatten(value: object) -> bytes:
    """Return every text, number and byte in `value`, names of fields included, a line each."""
    lines = []
    for path, inner in walk(value):
        if path and not isinstance(path[-1], int):
            lines.append(str(path[-1]).encode())
        if not isinstance(inner, Mapping | list | tuple):
            lines.append(inner if isinstance(inner, bytes) else str(inner).encode(errors="surrogatepass"))
    return b"\n".join(lines)


def drop_header(request: Mapping[str, Any], header: str) -> bytes:
    """Return a request as its host saw it, without the value of one header."""
    rest = [[name, "" if name.lower() == header else value] for name, value in request["headers"]]
    return flatten({**request, "headers": rest})


def extract_header(request: Mapping[str, Any], header: str) -> bytes:
    """Return the value of one header of a request."""
    return json.dumps([value for name, value in request["headers"] if name.lower() == header]).encode()


async def collect_answers(client: AsyncClient, execution: str, task: str) -> list[Any]:
    """Return what the API answers about everything there is."""
    return [
        await client.get_me(),
        await client.list_tasks(),
        await client.get_task(task),
        await client.list_credentials(task),
        await client.list_executions(),
        await client.get_execution(execution),
        [call async for call in client.iterate_calls(execution)],
    ]


async def gather_evidence(
    stack: Stack, client: AsyncClient, key: str, events: Sequence[Mapping[str, Any]]
) -> tuple[list[SearchResult], SearchResult]:
    """Search each place that must not hold the key, and the one that must: the header it was injected into."""
    forms = encode_forms(key)
    execution, task = str(events[0]["execution_id"]), str(events[0]["task_id"])
    requests, delivered = await stack.admin.list_requests(), await stack.admin.list_deliveries()
    travelled = [extract_header(request, INJECTED) for request in requests if request["host"] == PRIVATE]
    places: dict[str, Iterable[object]] = {
        "Firestore documents": await inventory.list_documents(stack.clients),
        "Secret Manager versions": await inventory.list_secrets(stack.clients, stack.project),
        "Cloud Tasks payloads": [*delivered, *await inventory.list_tasks(stack.clients, stack.project)],
        "requests to the model": await stack.admin.list_model_requests(),
        "live events": events,
        "answers of the API": await collect_answers(client, execution, task),
        "logs of the functions": _files(stack.data / "logs"),
        "files of the local cloud": _files(stack.data),
        "requests to hosts, but for that header": [drop_header(request, INJECTED) for request in requests],
        f"that header at other hosts than {PRIVATE}": [
            extract_header(request, INJECTED) for request in requests if request["host"] != PRIVATE
        ],
    }
    clean = [search(place, map(flatten, values), forms) for place, values in places.items()]
    return clean, search(f"header {INJECTED} at {PRIVATE}", travelled, [key.encode()])


def _files(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()]
