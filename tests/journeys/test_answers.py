"""What the model reads of an answer, through the whole stack: its status, its error, and bytes that are no text."""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
import zlib
from typing import Any

import brotli
import pytest

from tests.journeys.conftest import KEY, Journey, asks, call, says

HOST, KEYED = "api.coingecko.com", "lunarcrush.com"
NOT_FOUND = "Error: HTTP 404 Not Found -- the upstream answered with an error.\n"
LIMITED = "Error: HTTP 429 Too Many Requests -- the upstream answered with an error. Retry-After: 120 seconds.\n"
BROKEN = "Error: HTTP 500 Internal Server Error -- the upstream answered with an error.\n"
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)) * 31


async def fetch(journey: Journey, use: dict[str, Any], host: str = HOST, **route: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Have the model make one call; return the block that it read then, without the frame's own id, and the record."""
    await journey.serve(host, **route)
    fields = {"tools": ["http_get", "api_call"], "integrations": ["coingecko", "lunarcrush"]}
    task = await journey.task(asks(use), says("Done."), **fields)
    await journey.credential(task, "LUNARCRUSH_API_KEY", "lunarcrush")
    record = await journey.run(task)
    assert await journey.problems() == []
    requests = await journey.admin.list_model_requests()
    (block,) = [
        block
        for request in requests
        if request["body"]["model"] == f"scripted/{journey.name}"
        for message in request["body"]["messages"]
        if isinstance(message["content"], list)
        for block in message["content"]
        if block["type"] == "tool_result"
    ]
    return {**block, "content": re.sub(r' id="[0-9a-f]{16}"', "", block["content"])}, record


@pytest.mark.parametrize(
    ("status", "headers", "line", "attributes"),
    [
        (404, {}, NOT_FOUND, ""),
        (500, {}, BROKEN, ""),
        (429, {"retry-after": "120"}, LIMITED, ' retry_after="120"'),
        (302, {"location": "/next?page=2"}, "", ' location="/next?page=2"'),
    ],
)
async def test_an_empty_answer_tells_its_status(
    journey: Journey, status: int, headers: dict[str, str], line: str, attributes: str
) -> None:
    use = call("http_get", url=journey.url(HOST))
    block, record = await fetch(journey, use, status=status, headers={"content-type": "text/plain", **headers}, body="")
    frame = f'<tool_response truncated="false" status="{status}" content_type="text/plain"{attributes}></tool_response>'
    assert (block["content"], block.get("is_error", False)) == (line + frame, bool(line))
    assert (record["status"], record["tool_calls"][0]["response_status"]) == ("completed", status)


async def test_an_authenticated_call_tells_its_status_and_a_redirect_with_the_key_has_none(journey: Journey) -> None:
    use = call("api_call", method="GET", url=journey.url(KEYED), credential="LUNARCRUSH_API_KEY")
    block, _ = await fetch(journey, use, KEYED, status=307, headers={"location": f"https://{KEYED}/?k={KEY}"}, body="moved")
    assert f'status="307" content_type="text/plain" location="https://{KEYED}/?k=[redacted:LUNARCRUSH_API_KEY]">moved<' in (
        block["content"].replace("; charset=utf-8", "")
    )


async def test_a_picture_is_described_and_none_of_its_bytes_reach_the_model(journey: Journey) -> None:
    body = base64.b64encode(PNG).decode()
    use = call("http_get", url=journey.url(HOST))
    block, record = await fetch(journey, use, body_base64=body, headers={"content-type": "image/png"}, body=None)
    description = f"binary, {len(PNG):,} bytes, image/png, sha256 {hashlib.sha256(PNG).hexdigest()}"
    assert (
        block["content"]
        == f'<tool_response truncated="false" status="200" content_type="image/png">{description}</tool_response>'
    )
    assert record["tool_calls"][0]["response_size_bytes"] == len(PNG)


PACKED = {
    "gzip": gzip.compress(b"plain words"),
    "deflate": zlib.compress(b"plain words"),
    "br": brotli.compress(b"plain words"),
}


@pytest.mark.parametrize("coding", PACKED)
async def test_a_compressed_answer_is_asked_for_and_read(journey: Journey, coding: str) -> None:
    headers = {"content-type": "text/plain", "content-encoding": coding}
    use = call("http_get", url=journey.url(HOST))
    block, _ = await fetch(journey, use, body_base64=base64.b64encode(PACKED[coding]).decode(), headers=headers, body=None)
    assert block["content"].endswith(">plain words</tool_response>")
    (request,) = await journey.received(HOST)
    assert dict(request["headers"])["accept-encoding"] == "gzip, deflate, br"
