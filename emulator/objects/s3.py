"""S3's REST API, path style: buckets, lists, and what is asked of an object; uploads in parts are in a file of their own."""

from __future__ import annotations

from urllib.parse import quote

from starlette.responses import Response

from emulator.objects.errors import invalid, unsupported
from emulator.objects.exchange import StorageRequest
from emulator.objects.json_api import create_bucket, delete_bucket
from emulator.objects.listing import PAGE, ListRequest, list_objects, read_most, read_token, write_token
from emulator.objects.parts import Parts
from emulator.objects.values import format_time
from emulator.objects.xml import Tree, answer_xml
from emulator.objects.xml_objects import OVERRIDES, answer_object

SIGNED = {
    f"X-{kind}-{name}"
    for kind in ("Amz", "Goog")
    for name in ("Algorithm", "Credential", "Date", "Expires", "SignedHeaders", "Signature")
}
PARAMETERS = {*SIGNED, *OVERRIDES, "generation", "x-id", "uploads", "uploadId", "partNumber"}
LISTED = {
    *SIGNED,
    "list-type",
    "prefix",
    "delimiter",
    "max-keys",
    "continuation-token",
    "start-after",
    "encoding-type",
    "fetch-owner",
}


class S3Api:
    """What is sent to /BUCKET and /BUCKET/NAME."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    async def answer(self, exchange: StorageRequest) -> Response:
        """Return the answer; raise StorageError."""
        bucket, *names = exchange.path
        if not bucket:
            return _list_buckets(exchange)
        if names in ([], [""]):
            return await _answer_bucket(exchange, bucket)
        if unknown := sorted(set(exchange.query) - PARAMETERS):
            raise unsupported(f"The parameter {unknown[0]}")
        if "uploads" in exchange.query or "uploadId" in exchange.query:
            return await self._parts.answer(exchange, bucket, "/".join(names))
        return await answer_object(exchange)


def _list_buckets(exchange: StorageRequest) -> Response:
    exchange.caller.check("storage.buckets.list", exchange.caller.project)
    buckets: Tree = [
        ("Bucket", [("Name", bucket.name), ("CreationDate", format_time(bucket.created_at))])
        for bucket in exchange.store.buckets(exchange.caller.project)
    ]
    owner: Tree = [("ID", exchange.caller.key), ("DisplayName", exchange.caller.key)]
    return answer_xml("ListAllMyBucketsResult", [("Owner", owner), ("Buckets", buckets)])


async def _answer_bucket(exchange: StorageRequest, bucket: str) -> Response:
    method, unknown = exchange.request.method, sorted(set(exchange.query) - LISTED)
    if unknown:
        raise unsupported(f"The parameter {unknown[0]} of a bucket")
    match method:
        case "PUT":
            exchange.caller.check("storage.buckets.create", bucket)
            await exchange.read()
            create_bucket(exchange, bucket, {})
            return Response(headers={"location": f"/{bucket}"})
        case "HEAD":
            exchange.open_bucket("storage.objects.list", bucket)
            return Response()
        case "DELETE":
            delete_bucket(exchange, bucket)
            return Response(status_code=204)
        case "GET":
            return _list(exchange, bucket)
    raise unsupported(f"{method} of a bucket")


def _list(exchange: StorageRequest, bucket: str) -> Response:
    """Return a page (ListObjectsV2)."""
    exchange.open_bucket("storage.objects.list", bucket)
    query = exchange.query
    if query.get("list-type") != "2":
        raise unsupported("A list but for ListObjectsV2 (list-type=2)")
    if query.get("encoding-type", "url") != "url":
        raise invalid("Invalid Encoding Method specified in Request")
    most, token = read_most("max-keys", query.get("max-keys", str(PAGE))), query.get("continuation-token")
    after = query.get("start-after", "")
    prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
    start = read_token(token) if token is not None else (after + "\0" if after else "")
    page = list_objects(exchange.store, ListRequest(bucket=bucket, prefix=prefix, delimiter=delimiter, start=start, most=most))

    def name(text: str) -> str:
        return quote(text, safe="/") if "encoding-type" in query else text

    cut_off = page.next_start is not None and most > 0
    tree: Tree = [("Name", bucket), ("Prefix", name(prefix)), ("MaxKeys", str(most))]
    tree += [("Delimiter", name(delimiter))] if delimiter else []
    tree += [("EncodingType", "url")] if "encoding-type" in query else []
    tree += [("KeyCount", str(len(page.objects) + len(page.prefixes))), ("IsTruncated", "true" if cut_off else "false")]
    tree += [("ContinuationToken", token)] if token is not None else []
    tree += [("StartAfter", name(after))] if after else []
    if cut_off:
        tree.append(("NextContinuationToken", write_token(str(page.next_start))))
    for stored in page.objects:
        about: Tree = [("Key", name(stored.name)), ("LastModified", format_time(stored.updated_at))]
        about += [("ETag", f'"{stored.etag}"'), ("Size", str(stored.size)), ("StorageClass", "STANDARD")]
        tree.append(("Contents", about))
    tree += [("CommonPrefixes", [("Prefix", name(text))]) for text in page.prefixes]
    return answer_xml("ListBucketResult", tree)
