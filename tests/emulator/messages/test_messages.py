"""The scripted model, spoken to by the real SDK."""

import json
from collections.abc import AsyncIterator
from typing import Any

import anthropic
import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.messages import Messages, reply
from emulator.messages.script import read_script
from emulator.reading import InvalidRequestError
from emulator.web import Web, port_of

TOOL = {"name": "http_get", "description": "Get", "input_schema": {"type": "object", "properties": {}}}
SCRIPT = {
    "steps": [
        {
            "text": "I will look, für dich.",
            "tool_calls": [{"name": "http_get", "input": {"url": "https://api.example.com/ü", "n": [1, 2]}}],
            "expect": {"last_contains": ["the weather"], "tools": ["http_get"], "system_contains": ["careful"]},
        },
        {"text": "It rains.", "usage": {"input_tokens": 7, "output_tokens": 3}, "expect": {"last_contains": ["wet"]}},
    ]
}
ASK: dict[str, Any] = {
    "model": "scripted/rain",
    "max_tokens": 100,
    "system": "Be careful.",
    "tools": [TOOL],
    "messages": [{"role": "user", "content": "What is the weather?"}],
}


@pytest.fixture
async def messages() -> Messages:
    served = Messages(lambda key: key == "planted-key")
    served.put("rain", SCRIPT)
    return served


@pytest.fixture
async def url(messages: Messages) -> AsyncIterator[str]:
    web = Web()
    port = port_of(web.add(messages))
    await web.start()
    yield f"http://127.0.0.1:{port}"
    await web.close()


@pytest.fixture
async def claude(url: str) -> AsyncIterator[anthropic.AsyncAnthropic]:
    async with anthropic.AsyncAnthropic(base_url=url, api_key="planted-key", max_retries=0) as client:
        yield client


def continue_conversation(first: anthropic.types.Message, result: str = "wet") -> list[Any]:
    """Return the conversation after the first turn and its tool's result."""
    use = next(block for block in first.content if block.type == "tool_use")
    return [
        *ASK["messages"],
        {"role": "assistant", "content": [block.model_dump(exclude_none=True) for block in first.content]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": use.id, "content": result}]},
    ]


async def test_a_script_answers_turn_by_turn(claude: anthropic.AsyncAnthropic, messages: Messages) -> None:
    first = await claude.messages.create(**ASK)
    assert first.stop_reason == "tool_use"
    assert [block.type for block in first.content] == ["text", "tool_use"]
    second = await claude.messages.create(**{**ASK, "messages": continue_conversation(first)})
    assert second.content[0].text == "It rains."
    assert (second.stop_reason, second.usage.input_tokens, second.usage.output_tokens) == ("end_turn", 7, 3)
    assert messages.report("rain") == {
        "name": "rain",
        "steps": [{"played": 1, "errors": 0}, {"played": 1, "errors": 0}],
        "problems": [],
    }


async def test_a_streamed_reply_is_the_same_as_a_whole_one(claude: anthropic.AsyncAnthropic) -> None:
    whole = await claude.messages.create(**ASK)
    async with claude.messages.stream(**ASK) as stream:
        events = [event.type async for event in stream]
        streamed = await stream.get_final_message()
    assert events[0] == "message_start"
    assert events[-1] == "message_stop"
    assert streamed.content[1].input == whole.content[1].input  # type: ignore[union-attr]  # the script says it is a call
    assert streamed.content[0].text == whole.content[0].text  # type: ignore[union-attr]  # the script says it is text
    assert (streamed.stop_reason, streamed.usage.output_tokens) == (whole.stop_reason, whole.usage.output_tokens)


async def test_a_repeated_request_gets_the_same_reply(claude: anthropic.AsyncAnthropic) -> None:
    assert await claude.messages.create(**ASK) == await claude.messages.create(**ASK)


async def test_a_step_nobody_asked_for_is_a_problem(claude: anthropic.AsyncAnthropic, messages: Messages) -> None:
    await claude.messages.create(**ASK)
    report = messages.report("rain")
    assert report
    assert report["problems"] == ["step 1 was never played"]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"messages": [{"role": "user", "content": "Hello"}]}, "does not contain 'the weather'"),
        ({"system": "Be quick."}, "does not contain 'careful'"),
        ({"tools": [TOOL, {**TOOL, "name": "webhook"}]}, "the tools are http_get, webhook and not http_get"),
    ],
)
async def test_an_unmet_expectation_is_refused_and_reported(
    claude: anthropic.AsyncAnthropic, messages: Messages, change: dict[str, Any], says: str
) -> None:
    with pytest.raises(anthropic.BadRequestError, match=says):
        await claude.messages.create(**{**ASK, **change})
    report = messages.report("rain")
    assert report
    assert says in report["problems"][0]
    assert report["steps"][0]["played"] == 0


async def test_a_script_for_each_question_begins_again_with_calls_of_other_ids(
    claude: anthropic.AsyncAnthropic, messages: Messages
) -> None:
    messages.put("rain", {**SCRIPT, "each_question": True})
    first = await claude.messages.create(**ASK)
    history = [*continue_conversation(first), {"role": "assistant", "content": "It rains."}, *ASK["messages"]]
    second = await claude.messages.create(**{**ASK, "messages": history})
    assert second.content[0].text == first.content[0].text
    assert [block.id for block in second.content[1:]] != [block.id for block in first.content[1:]]


async def test_a_step_past_the_end_is_refused(claude: anthropic.AsyncAnthropic) -> None:
    talk = continue_conversation(await claude.messages.create(**ASK))
    talk += [{"role": "assistant", "content": "It rains."}, {"role": "user", "content": "And now?"}]
    with pytest.raises(anthropic.BadRequestError, match="ends after 2 steps"):
        await claude.messages.create(**{**ASK, "messages": talk})


async def test_a_script_nobody_wrote_is_refused(claude: anthropic.AsyncAnthropic) -> None:
    with pytest.raises(anthropic.BadRequestError, match="there is no script 'snow'"):
        await claude.messages.create(**{**ASK, "model": "scripted/snow"})


async def test_a_scripted_error_comes_once_and_then_the_step(url: str, messages: Messages) -> None:
    overloaded = {"status": 529, "type": "overloaded_error", "message": "Overloaded", "retry_after_s": 0.001, "times": 1}
    messages.put("busy", {"steps": [{"text": "Here.", "error": overloaded}]})
    async with anthropic.AsyncAnthropic(base_url=url, api_key="planted-key", max_retries=0) as client:
        with pytest.raises(anthropic.APIStatusError) as caught:
            await client.messages.create(**{**ASK, "model": "scripted/busy"})
        assert (caught.value.status_code, caught.value.response.headers["retry-after"]) == (529, "0.001")
        assert (await client.messages.create(**{**ASK, "model": "scripted/busy"})).stop_reason == "end_turn"
    report = messages.report("busy")
    assert report
    assert report["steps"] == [{"played": 1, "errors": 1}]


async def test_the_bare_model_follows_the_default_script(claude: anthropic.AsyncAnthropic, messages: Messages) -> None:
    messages.put("default", {"steps": [{"text": "Hello."}]})
    reply = await claude.messages.create(**{**ASK, "model": "scripted"})
    assert reply.model == "scripted"


async def test_a_request_without_a_key_is_unauthenticated(url: str) -> None:
    async with httpx.AsyncClient() as client:
        answer = await client.post(f"{url}/v1/messages", json=ASK, headers={"anthropic-version": "2023-06-01"})
    assert (answer.status_code, answer.json()["error"]["type"]) == (401, "authentication_error")


@pytest.mark.parametrize("key", [{"x-api-key": "planted-key"}, {"authorization": "Bearer planted-key"}])
async def test_a_key_is_taken_in_either_header(url: str, key: dict[str, str]) -> None:
    async with httpx.AsyncClient(headers={"anthropic-version": "2023-06-01", **key}) as client:
        assert (await client.post(f"{url}/v1/messages", json=ASK)).status_code == 200


async def test_a_body_that_is_no_json_is_refused(url: str) -> None:
    headers = {"anthropic-version": "2023-06-01", "x-api-key": "planted-key"}
    async with httpx.AsyncClient(headers=headers) as client:
        for body in (b"{", b"[]", b"\xff", b"[" * 100_000):
            answer = await client.post(f"{url}/v1/messages", content=body)
            assert (answer.status_code, answer.json()["error"]["type"]) == (400, "invalid_request_error")


async def test_requests_are_kept_without_the_key(claude: anthropic.AsyncAnthropic, messages: Messages) -> None:
    await claude.messages.create(**ASK)
    requests = messages.requests()
    assert requests[0]["body"]["messages"] == ASK["messages"]
    assert (requests[0]["script"], requests[0]["step"], requests[0]["status"]) == ("rain", 0, 200)
    assert "planted-key" not in json.dumps(requests)


USE = {"type": "tool_use", "id": "toolu_1", "name": "http_get", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "ok"}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"max_tokens": None}, "max_tokens: Field required"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"messages": []}, "at least one message"),
        ({"messages": [{"role": "assistant", "content": "hi"}]}, "roles must alternate"),
        ({"messages": [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]}, "roles must alternate"),
        ({"messages": [{"role": "user", "content": ""}]}, "non-empty"),
        ({"messages": [{"role": "user", "content": [{"type": "text", "text": ""}]}]}, "non-empty"),
        ({"messages": [*ASK["messages"], {"role": "assistant", "content": "a"}]}, "must end with a user message"),
        (
            {"messages": [*ASK["messages"], {"role": "assistant", "content": [USE]}, {"role": "user", "content": "a"}]},
            "`tool_use` ids were found without `tool_result` blocks immediately after: toolu_1",
        ),
        ({"messages": [{"role": "user", "content": [RESULT]}]}, "unexpected `tool_use_id`"),
        (
            {
                "messages": [
                    *ASK["messages"],
                    {"role": "assistant", "content": [USE]},
                    {"role": "user", "content": [{"type": "text", "text": "so"}, RESULT]},
                ]
            },
            "must come first",
        ),
        ({"tools": [TOOL, TOOL]}, "Tool names must be unique"),
        ({"tools": [{**TOOL, "name": "http get"}]}, "should match pattern"),
        ({"surprise": 1}, "surprise: Extra inputs are not permitted"),
        ({"system": ""}, "system"),
    ],
)
async def test_what_the_real_service_refuses_is_refused(url: str, change: dict[str, Any], says: str) -> None:
    body = {key: value for key, value in {**ASK, **change}.items() if value is not None}
    headers = {"anthropic-version": "2023-06-01", "x-api-key": "planted-key"}
    async with httpx.AsyncClient(headers=headers) as client:
        answer = await client.post(f"{url}/v1/messages", json=body)
    assert answer.status_code == 400
    assert answer.json()["error"]["type"] == "invalid_request_error"
    assert says in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ({}, "script.steps is missing"),
        ({"steps": []}, "must not be empty"),
        ({"steps": [{"txt": "a"}]}, "unknown members: txt"),
        ({"steps": [{"stop_reason": "tired"}]}, "stop_reason must be one of"),
        ({"steps": [{"tool_calls": [{"name": "a"}]}]}, "input is missing"),
        ({"steps": [{"error": {"status": 200}}]}, "status must be 400 to 599"),
    ],
)
def test_a_script_that_cannot_be_followed_is_refused(script: object, says: str) -> None:
    with pytest.raises(InvalidRequestError, match=says):
        read_script("x", script)


@given(st.text(), st.dictionaries(st.text(), st.text()))
def test_the_deltas_add_up_to_the_message(text: str, arguments: dict[str, str]) -> None:
    script = {"steps": [{"text": text, "tool_calls": [{"name": "http_get", "input": arguments}]}]}
    whole = reply.message(read_script("x", script)[0], {"model": "scripted/x", "messages": []}, "msg_1")
    deltas = [json.loads(event.split(b"data: ", 1)[1]) for event in reply.stream(whole)]
    parts = [event["delta"] for event in deltas if event["type"] == "content_block_delta"]
    assert "".join(part["text"] for part in parts if part["type"] == "text_delta") == text
    assert json.loads("".join(part["partial_json"] for part in parts if part["type"] == "input_json_delta")) == arguments


@given(st.text(max_size=500))
def test_a_stream_is_cut_without_regard_to_its_events(text: str) -> None:
    whole = reply.message(read_script("x", {"steps": [{"text": text}]})[0], {"model": "scripted/x", "messages": []}, "msg_1")
    pieces = list(reply.split_stream(reply.stream(whole)))
    assert b"".join(pieces) == b"".join(reply.stream(whole))
    assert {len(piece) for piece in pieces[:-1]} <= {reply.PIECE_BYTES}
