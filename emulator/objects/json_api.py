"""The JSON API of Cloud Storage: buckets, and objects but for their uploads."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

from starlette.responses import JSONResponse, Response

from emulator.objects.conditions import check_conditions, parse_number, read_conditions, read_range
from emulator.objects.errors import StorageError, missing_object, unsupported
from emulator.objects.exchange import Download, StorageRequest
from emulator.objects.listing import PAGE, ListRequest, list_objects, read_most, read_token, write_token
from emulator.objects.names import check_bucket
from emulator.objects.resources import LOCATION, read_about, show_bucket, show_object
from emulator.objects.values import StoredObject
from emulator.objects.xml import build_object_headers

Handler = Callable[[StorageRequest], Awaitable[Response]]
UNSERVED = ("matchGlob", "softDeleted", "filter")
RESERVED = ("storage", "upload", "download", "v1")
"""Names of buckets that would be paths of this API."""


def find_handler(method: str, path: tuple[str, ...]) -> Handler:
    """Return what answers a request below /storage/v1; raise StorageError."""
    match path:
        case ("b",):
            handlers = {"GET": _list_buckets, "POST": _create_bucket}
        case ("b", _):
            handlers = {"GET": _get_bucket, "DELETE": _delete_bucket}
        case ("b", _, "o"):
            handlers = {"GET": _list_objects}
        case ("b", _, "o", _):
            handlers = {"GET": get_object, "PATCH": _patch_object, "DELETE": _delete_object}
        case _:
            handlers = {}
    if method not in handlers:
        raise unsupported(f"{method} /{'/'.join(path[:3:2])}")
    return handlers[method]


async def _list_buckets(exchange: StorageRequest) -> Response:
    project = exchange.query.get("project", "")
    exchange.caller.check("storage.buckets.list", project)
    items = [show_bucket(bucket, exchange.root) for bucket in exchange.store.buckets(project)]
    return JSONResponse({"kind": "storage#buckets", "items": items})


async def _create_bucket(exchange: StorageRequest) -> Response:
    body = await exchange.read_json()
    name = str(body.get("name", ""))
    exchange.caller.check("storage.buckets.create", name)
    return JSONResponse(show_bucket(create_bucket(exchange, name, body), exchange.root))


def create_bucket(exchange: StorageRequest, name: str, body: Mapping[str, Any]) -> Any:
    """Return the new bucket; raise StorageError."""
    if unserved := [field for field in ("lifecycle", "retentionPolicy", "encryption", "website") if body.get(field)]:
        raise unsupported(f"The field {unserved[0]} of a bucket")
    if (body.get("versioning") or {}).get("enabled"):
        raise unsupported("Object versioning")
    if check_bucket(name) in RESERVED or exchange.store.bucket(name):
        message = "The requested bucket name is not available."
        raise StorageError(409, "conflict", "BucketAlreadyExists", message)
    project = exchange.query.get("project") or exchange.caller.project
    return exchange.store.add_bucket(name, project, str(body.get("location") or LOCATION))


async def _get_bucket(exchange: StorageRequest) -> Response:
    return JSONResponse(show_bucket(exchange.open_bucket("storage.buckets.get", exchange.path[1]), exchange.root))


async def _delete_bucket(exchange: StorageRequest) -> Response:
    delete_bucket(exchange, exchange.path[1])
    return Response(status_code=204)


def delete_bucket(exchange: StorageRequest, name: str) -> None:
    """Delete an empty bucket; raise StorageError."""
    exchange.open_bucket("storage.buckets.delete", name)
    if not exchange.store.is_empty(name):
        raise StorageError(409, "conflict", "BucketNotEmpty", "The bucket you tried to delete is not empty.")
    exchange.store.remove_bucket(name)


async def _list_objects(exchange: StorageRequest) -> Response:
    query, bucket = exchange.query, exchange.path[1]
    exchange.open_bucket("storage.objects.list", bucket)
    if unserved := [name for name in UNSERVED if query.get(name) not in (None, "", "false")]:
        raise unsupported(f"The parameter {unserved[0]}")
    token = query.get("pageToken", "")
    page = list_objects(
        exchange.store,
        ListRequest(
            bucket=bucket,
            prefix=query.get("prefix", ""),
            delimiter=query.get("delimiter", ""),
            start=max(read_token(token), query.get("startOffset", ""), key=str.encode),
            end=query.get("endOffset") or None,
            most=read_most("maxResults", query.get("maxResults", str(PAGE))) or PAGE,
        ),
    )
    answer: dict[str, Any] = {"kind": "storage#objects", "items": [show_object(item, exchange.root) for item in page.objects]}
    if page.prefixes:
        answer["prefixes"] = list(page.prefixes)
    if page.next_start is not None:
        answer["nextPageToken"] = write_token(page.next_start)
    return JSONResponse(answer)


def find_object(exchange: StorageRequest, permission: str, *, reads: bool) -> StoredObject:
    """Return the object that a request is about, of the generation it names, if its conditions are met; raise StorageError."""
    bucket, name = exchange.path[1], exchange.path[3]
    exchange.open_bucket(permission, bucket)
    stored = exchange.store.find(bucket, name)
    generation = exchange.query.get("generation")
    if stored is None or (generation is not None and parse_number("generation", generation) != stored.generation):
        raise missing_object(bucket, name)
    check_conditions(stored, read_conditions(exchange.query), reads=reads)
    return stored


async def get_object(exchange: StorageRequest) -> Response:
    """Return an object's resource, or with alt=media its content."""
    stored = find_object(exchange, "storage.objects.get", reads=True)
    if exchange.query.get("alt", "json") != "media":
        return JSONResponse(show_object(stored, exchange.root))
    part = read_range(exchange.headers.get("range"), stored.size)
    headers = build_object_headers(stored, "x-goog-", metadata=False)
    if part is None:
        return Download(exchange.store, stored, 0, stored.size, headers=headers)
    headers["content-range"] = f"bytes {part[0]}-{part[1] - 1}/{stored.size}"
    return Download(exchange.store, stored, *part, status_code=206, headers=headers)


async def _patch_object(exchange: StorageRequest) -> Response:
    body = await exchange.read_json()
    stored = find_object(exchange, "storage.objects.update", reads=False)
    changed = replace(
        stored,
        about=read_about(body, stored.about),
        metageneration=stored.metageneration + 1,
        updated=exchange.store.now(),
    )
    exchange.store.change(changed)
    return JSONResponse(show_object(changed, exchange.root))


async def _delete_object(exchange: StorageRequest) -> Response:
    exchange.store.remove(find_object(exchange, "storage.objects.delete", reads=False))
    return Response(status_code=204)
