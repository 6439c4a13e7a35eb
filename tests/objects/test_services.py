"""What services answer that is no object: errors of the port, which repeat nothing of the answer or the request."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import pytest

from ferryman.domain.files.access import S3Access
from ferryman.domain.files.object import ABSENT, ObjectChangedError
from ferryman.inmemory.clock import ManualClock
from ferryman.objects.account_signer import AccountSigner
from ferryman.objects.google import GoogleObjects
from ferryman.objects.s3 import S3Objects
from ferryman.objects.sending import ANSWER_BYTES_MAX, BucketClient
from ferryman.ports.errors import RejectedError, UnavailableError, UnreachedError
from ferryman.ports.objects import Objects

SECRET = "the-secret-of-the-key"
TOKEN = "the-access-token"
BOMB = b"<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>"
Answer = Callable[[httpx.Request], Any]
KINDS = pytest.mark.parametrize("kind", ["google", "s3"])
USES: dict[str, Callable[[Objects], Any]] = {
    "put": lambda objects: objects.put("a", b"1", content_type="text/plain"),
    "get": lambda objects: objects.get("a"),
    "head": lambda objects: objects.head("a"),
    "list": lambda objects: objects.list(""),
    "delete": lambda objects: objects.delete("a"),
}
EACH_USE = pytest.mark.parametrize("use", USES)


def build(kind: str, answer: Answer) -> Objects:
    """Return the bucket of a service that answers so."""
    client = BucketClient(lambda: httpx.AsyncClient(transport=httpx.MockTransport(answer)))
    if kind == "s3":
        access = S3Access(endpoint="https://s3.test", region="r", bucket="files", access_key="KEY", secret_key=SECRET)
        return S3Objects(client, access, ManualClock())

    async def token() -> str:
        return TOKEN

    signer = AccountSigner(client, email=token, token=token)
    return GoogleObjects(client, "files", token=token, signer=signer, clock=ManualClock())


class Body(httpx.AsyncByteStream):
    """The body of an answer, as it comes over a network."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._content


def respond(status: int, content: bytes = b"", headers: dict[str, str] | None = None) -> httpx.Response:
    return httpx.Response(status, headers=headers, stream=Body(content))


def always(status: int, content: bytes = b"", headers: dict[str, str] | None = None) -> Answer:
    return lambda request: respond(status, content, headers)


@KINDS
@EACH_USE
@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504])
async def test_a_service_that_cannot_now_is_unavailable(kind: str, use: str, status: int) -> None:
    with pytest.raises(UnavailableError) as error:
        await USES[use](build(kind, always(status, headers={"retry-after": "7"})))
    assert (error.value.after_s, error.value.lost) == (7, status >= 500 and use in ("put", "delete"))


@KINDS
@EACH_USE
@pytest.mark.parametrize("status", [301, 307, 401, 403, 405, 406])
async def test_a_refusal_says_nothing_of_the_request(kind: str, use: str, status: int) -> None:
    def repeat(request: httpx.Request) -> httpx.Response:
        return respond(status, f"{request.headers}{SECRET}{TOKEN}".encode(), {"location": "https://evil.test"})

    with pytest.raises(RejectedError) as error:
        await USES[use](build(kind, repeat))
    chain = [error.value, error.value.__cause__, error.value.__context__]
    assert not any(text in f"{link} {link!r}" for link in chain for text in (SECRET, TOKEN, "evil", "KEY"))


@KINDS
@EACH_USE
async def test_a_service_that_is_not_reached_was_sent_nothing(kind: str, use: str) -> None:
    def fail(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError(f"{SECRET} {TOKEN}")

    with pytest.raises(UnreachedError) as error:
        await USES[use](build(kind, fail))
    assert str(error.value) == "the bucket was not reached (ConnectError)"


@KINDS
@EACH_USE
async def test_an_answer_that_is_lost_may_have_been_a_success(kind: str, use: str) -> None:
    def fail(request: httpx.Request) -> httpx.Response:
        raise httpx.ReadTimeout(f"{SECRET} {TOKEN}")

    with pytest.raises(UnavailableError) as error:
        await USES[use](build(kind, fail))
    assert error.value.lost == (use in ("put", "delete"))


@KINDS
@pytest.mark.parametrize("use", ["get", "head", "list"])
@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"<a/>", b"<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", b"null", b'{"items": 1}']
)
async def test_an_answer_that_is_none_is_an_error_of_the_port(kind: str, use: str, body: bytes) -> None:
    status = 206 if use == "get" else 200
    with pytest.raises(UnavailableError):
        await USES[use](build(kind, always(status, content=body)))


@KINDS
async def test_an_answer_without_an_end_is_not_read_to_it(kind: str) -> None:
    with pytest.raises(UnavailableError):
        await build(kind, always(200, content=b" " * (ANSWER_BYTES_MAX + 1))).list("")
    part = {"content-range": "bytes 0-9/10", "x-goog-generation": "1", "etag": '"1"'}
    with pytest.raises(UnavailableError):
        await build(kind, always(206, content=b"0123456789", headers=part)).get("a", size=9)


@KINDS
async def test_a_bucket_that_is_not_there_is_no_missing_object(kind: str) -> None:
    for use in ("put", "list"):
        with pytest.raises(RejectedError):
            await USES[use](build(kind, always(404)))


@KINDS
async def test_a_write_tells_the_digest_of_its_content(kind: str) -> None:
    sent = list[bytes]()

    async def receive(request: httpx.Request) -> httpx.Response:
        sent.extend((await request.aread(), request.headers.get("content-md5", "").encode()))
        return respond(200, b'{"generation": "1"}', {"etag": '"1"'})

    await USES["put"](build(kind, receive))
    assert b"xMpCOKC5I4INzFCab3WEmw==" in b"".join(sent)  # of "1"


PAGE = b"<ListBucketResult><IsTruncated>false</IsTruncated>%b</ListBucketResult>"
FILE = b"<Contents><Key>%b</Key><Size>1</Size><ETag>1</ETag><LastModified>2026-11-23T12:00:00Z</LastModified></Contents>"


async def test_a_list_with_entities_is_none() -> None:
    assert (await build("s3", always(200, PAGE % (FILE % b"a"))).list("")).entries[0].key == "a"
    with pytest.raises(UnavailableError):
        await build("s3", always(200, b"<!DOCTYPE a [<!ENTITY b 'c'>]>" + PAGE % (FILE % b"&b;"))).list("")


HEAD = {"etag": '"1"', "content-length": "0", "last-modified": "Mon, 23 Nov 2026 12:00:00 GMT"}


async def test_s3_says_that_nothing_is_there_to_be_replaced_by_404() -> None:
    def vanish(request: httpx.Request) -> httpx.Response:
        return respond(200, headers=HEAD) if request.method == "HEAD" else respond(404)

    with pytest.raises(ObjectChangedError):
        await build("s3", vanish).put("a", b"", content_type="text/plain", expected="1")


@pytest.mark.parametrize("expected", [ABSENT, "2"])
async def test_what_a_service_of_s3_leaves_out_of_account_is_looked_at_before(expected: str) -> None:
    methods = []

    def accept_all(request: httpx.Request) -> httpx.Response:
        methods.append(request.method)
        return respond(200, headers=HEAD)

    objects = build("s3", accept_all)
    with pytest.raises(ObjectChangedError):
        await objects.put("a", b"new", content_type="text/plain", expected=expected)
    with pytest.raises(ObjectChangedError):
        await objects.delete("a", version=expected)
    assert methods == ["HEAD", "HEAD"]


@KINDS
async def test_no_request_follows_a_redirect_or_leaves_its_host(kind: str) -> None:
    hosts = []

    def redirect(request: httpx.Request) -> httpx.Response:
        hosts.append(request.url.host)
        return respond(302, headers={"location": "https://evil.test/"})

    with pytest.raises(RejectedError):
        await build(kind, redirect).get("a")
    assert hosts == ["s3.test" if kind == "s3" else "storage.googleapis.com"]


ABOUT = {"x-goog-generation": "1", "etag": '"1"', "content-type": "text/plain"}


@KINDS
async def test_a_whole_in_the_place_of_a_part_is_cut(kind: str) -> None:
    read = await build(kind, always(200, b"0123", ABOUT)).get("a", start=1, size=10)
    assert (read.content, read.start, read.size_bytes, read.version) == (b"123", 1, 4, "1")


@KINDS
@pytest.mark.parametrize("header", ["", "bytes 1-4/10", "bytes 0-4/*", "bytes */10", "items 0-4/10"])
async def test_a_part_that_is_another_is_none(kind: str, header: str) -> None:
    with pytest.raises(UnavailableError):
        await build(kind, always(206, b"01234", {**ABOUT, "content-range": header})).get("a", size=5)


@KINDS
async def test_a_write_whose_answer_says_no_version_may_have_been_done(kind: str) -> None:
    for body in (b"{}", b"", b'{"generation": 1}'):
        with pytest.raises(UnavailableError) as error:
            await USES["put"](build(kind, always(200, body)))
        assert error.value.lost


@KINDS
async def test_a_list_that_is_refused_has_a_cursor_that_is_none_or_another_fault(kind: str) -> None:
    with pytest.raises(ValueError, match="cursor"):
        await build(kind, always(400)).list("", cursor="x")
    with pytest.raises(RejectedError):
        await build(kind, always(400)).list("")
