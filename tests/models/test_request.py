"""The request of a prompt: the same address and body as the SDK's own, and of an error only what its message takes."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import anthropic
import httpx2
import pytest

from ferryman.domain.operator_model import OperatorModel
from ferryman.models import refused, request
from ferryman.models.events import UnreadableReplyError
from ferryman.models.refused import RefusedRequestError, check_response
from tests.models.test_anthropic import PROMPT


async def capture(model: str) -> httpx2.Request:
    """Return the request that the SDK itself would send to Vertex AI."""
    seen: list[httpx2.Request] = []

    def answer(sent: httpx2.Request) -> httpx2.Response:
        seen.append(sent)
        return httpx2.Response(400)

    client = anthropic.AsyncAnthropicVertex(
        project_id="a-project",
        region="europe-west1",
        access_token="token",
        max_retries=0,
        http_client=httpx2.AsyncClient(transport=httpx2.MockTransport(answer)),
    )
    with pytest.raises(anthropic.BadRequestError):
        await client.messages.create(model=model, messages=[], max_tokens=1, stream=True)
    await client.close()
    return seen[0]


@pytest.mark.parametrize("model", ["claude-haiku-4-5", "claude-opus-4-5@20251101", "a b/c;d?e"])
async def test_a_model_on_vertex_has_the_address_that_the_sdk_gives_it(model: str) -> None:
    theirs = await capture(model)
    assert theirs.url.raw_path.decode() == "/v1" + request.build_vertex_path("a-project", "europe-west1", model)
    assert json.loads(theirs.content)["anthropic_version"] == request.VERTEX_VERSION


def test_the_body_for_vertex_names_its_version_and_no_model() -> None:
    body = json.loads(request.encode(PROMPT, None, is_vertex=True))
    assert (body["anthropic_version"], "model" in body, body["stream"]) == (request.VERTEX_VERSION, False, True)


def test_two_prompts_that_begin_alike_are_alike_up_to_there() -> None:
    longer = replace(PROMPT, messages=(*PROMPT.messages, {"role": "assistant", "content": "é"}))
    first, second = (request.encode(prompt, None, is_vertex=False) for prompt in (PROMPT, longer))
    assert second.startswith(first.removesuffix(b"]}"))


def respond(status: int, body: bytes = b"", **headers: str) -> httpx2.Response:
    return httpx2.Response(status, headers=headers, stream=Pieces(body))


class Pieces(httpx2.AsyncByteStream):
    """A body that arrives in pieces of 1 KiB, and counts those that were read."""

    def __init__(self, body: bytes) -> None:
        self.body, self.read = body, 0

    async def __aiter__(self) -> Any:
        for start in range(0, len(self.body), 1_024):
            self.read += 1
            yield self.body[start : start + 1_024]


async def test_of_an_error_no_more_is_read_than_its_message_takes() -> None:
    response = respond(400, b"x" * 10 * refused.BODY_BYTES_MAX)
    with pytest.raises(RefusedRequestError, match="400"):
        await check_response(response)
    assert response.stream.read == refused.BODY_BYTES_MAX // 1_024 + 1


@pytest.mark.parametrize(
    ("body", "message"),
    [(b'{"error": {"message": "busy"}}', "busy"), (b"[]", ""), (b'{"error": 1}', ""), (b"[" * 60_000, ""), (b"\xff", "")],
)
async def test_the_message_of_an_error_is_where_the_api_has_it(body: bytes, message: str) -> None:
    with pytest.raises(RefusedRequestError) as error:
        await check_response(respond(529, body))
    assert error.value.read_message() == message


async def test_a_compressed_reply_is_refused() -> None:
    with pytest.raises(UnreadableReplyError, match="compressed"):
        await check_response(respond(200, **{"content-encoding": "gzip"}))


async def test_a_success_is_left_to_its_reader() -> None:
    response = respond(200, b"data: x\n\n")
    await check_response(response)
    assert response.stream.read == 0


DEFINITION = {"name": "look", "description": "", "input_schema": {"type": "object"}}
SEARCHED = replace(
    PROMPT,
    tools=(*PROMPT.tools, {**DEFINITION, "defer_loading": True}),
    messages=(
        *PROMPT.messages,
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "find_tools", "input": {}}]},
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "c", "content": [{"type": "tool_reference", "tool_name": "look"}]},
                {"type": "tool_result", "tool_use_id": "d", "content": "a text"},
            ],
        },
    ),
)


def test_a_tool_that_was_found_is_listed_as_deferred_and_referred_to() -> None:
    body = json.loads(request.encode(SEARCHED, None, is_vertex=False))
    assert body["tools"][-1] == {**DEFINITION, "defer_loading": True}
    assert body["messages"][-1]["content"][0]["content"] == [{"type": "tool_reference", "tool_name": "look"}]


def test_the_server_of_an_operator_is_sent_no_reference() -> None:
    served = OperatorModel(name="llama", url="https://models.test", served_as="llama", price={})
    body = json.loads(request.encode(SEARCHED, served, is_vertex=False))
    assert body["tools"][-1] == DEFINITION
    assert [block["content"] for block in body["messages"][-1]["content"]] == ["Found: look.", "a text"]
    assert body["messages"][:-1] == list(SEARCHED.messages[:-1])
