"""The Messages API through Anthropic's SDK, against the scripted service."""

from __future__ import annotations

from dataclasses import replace

import pytest

from emulator.messages import Messages
from emulator.web import Web, port_of
from ferryman.domain.executions.message import Prompt
from ferryman.domain.executions.usage import Usage
from ferryman.models.anthropic import AnthropicModel
from ferryman.ports.errors import RejectedError, UnavailableError
from ferryman.settings import Settings

TOOL = {"name": "http_get", "description": "d", "input_schema": {"type": "object", "properties": {}}}
PROMPT = Prompt(
    model="scripted/play", system="be good", messages=({"role": "user", "content": "hello"},), tools=(TOOL,), max_tokens=100
)


@pytest.fixture
async def service():
    messages, web = Messages(lambda key: key == "the token"), Web()
    sock = web.add(messages)
    await web.start()
    yield messages, f"http://127.0.0.1:{port_of(sock)}"
    await web.close()


@pytest.fixture
async def model(service):
    model = AnthropicModel(Settings(scripted_model_url=service[1], local_token="the token"))
    yield model
    await model.close()


def set_script(service, *steps) -> None:
    service[0].put("play", {"steps": list(steps)})


async def test_a_reply_has_its_text_its_calls_and_its_tokens(service, model):
    calls = [{"name": "http_get", "input": {"url": "https://a.test/"}, "id": "toolu_1"}]
    set_script(service, {"text": "looking", "tool_calls": calls, "usage": {"input_tokens": 11, "output_tokens": 7}})
    reply = await model.reply(PROMPT)
    assert (reply.text, reply.stop_reason) == ("looking", "tool_use")
    assert [(call.id, call.name, call.arguments) for call in reply.calls] == [
        ("toolu_1", "http_get", {"url": "https://a.test/"})
    ]
    assert reply.usage == Usage(input_tokens=11, output_tokens=7)


async def test_the_request_says_what_the_prompt_says(service, model):
    set_script(service, {"text": "hi"})
    await model.reply(replace(PROMPT, temperature=0.3))
    body = service[0].requests()[0]["body"]
    (system,) = body["system"]
    assert (system["text"], body["max_tokens"], body["temperature"]) == ("be good", 100, 0.3)
    assert [{name: value for name, value in tool.items() if name != "cache_control"} for tool in body["tools"]] == [TOOL]


async def test_a_closing_prompt_shows_the_tools_and_forbids_them(service, model):
    set_script(service, {"text": "bye"})
    await model.reply(replace(PROMPT, closing=True))
    assert service[0].requests()[0]["body"]["tool_choice"] == {"type": "none"}


async def test_a_model_that_takes_no_temperature_is_not_sent_one(service, model):
    set_script(service, {"text": "hi"})
    await model.reply(PROMPT)
    assert "temperature" not in service[0].requests()[0]["body"]


async def test_an_overloaded_provider_is_unavailable(service, model):
    error = {"status": 529, "type": "overloaded_error", "message": "busy", "times": 5}
    set_script(service, {"text": "hi", "error": error})
    with pytest.raises(UnavailableError, match="529"):
        await model.reply(PROMPT)


async def test_a_provider_that_is_busy_for_a_moment_is_asked_again(service, model):
    error = {"status": 529, "type": "overloaded_error", "message": "busy", "times": 2}
    set_script(service, {"text": "hi", "error": error})
    assert (await model.reply(PROMPT)).text == "hi"
    assert [request["status"] for request in service[0].requests()] == [529, 529, 200]


async def test_a_provider_that_asks_for_more_than_a_moment_is_left_to_the_queue(service, model):
    error = {"status": 429, "type": "rate_limit_error", "message": "slow", "retry_after_s": 60.0, "times": 1}
    set_script(service, {"text": "hi", "error": error})
    with pytest.raises(UnavailableError) as unavailable:
        await model.reply(PROMPT)
    assert (unavailable.value.after_s, unavailable.value.lost, len(service[0].requests())) == (60, False, 1)


async def test_a_request_the_provider_refuses_is_rejected(service, model):
    set_script(service, {"text": "hi", "expect": {"system_contains": ["never said"]}})
    with pytest.raises(RejectedError, match="400"):
        await model.reply(PROMPT)


async def test_a_provider_that_is_not_there_is_unavailable():
    model = AnthropicModel(Settings(scripted_model_url="http://127.0.0.1:9"))
    with pytest.raises(UnavailableError):
        await model.reply(PROMPT)
    await model.close()


async def test_a_scripted_model_needs_the_local_cloud():
    with pytest.raises(RejectedError, match="local cloud"):
        await AnthropicModel(Settings()).reply(PROMPT)


async def test_a_real_model_on_the_local_cloud_needs_a_key():
    with pytest.raises(RejectedError, match="ANTHROPIC_API_KEY"):
        await AnthropicModel(Settings(firestore_host="127.0.0.1:1")).reply(replace(PROMPT, model="claude-haiku-4-5"))


async def test_on_google_cloud_a_real_model_is_reached_through_vertex():
    model = AnthropicModel(Settings(project="p"))
    await model.warm()
    assert type(model.find_client("claude-haiku-4-5")).__name__ == "AsyncAnthropicVertex"
    await model.close()


async def test_a_key_makes_it_the_providers_own_service():
    model = AnthropicModel(Settings(project="p", anthropic_api_key="x" * 20))
    await model.warm()
    assert type(model.find_client("claude-haiku-4-5")).__name__ == "AsyncAnthropic"
    await model.close()


async def test_a_lone_surrogate_is_replaced(service, model):
    call = {"name": "http_get", "input": {"url": "c\udfff"}, "id": "toolu_1"}
    set_script(service, {"text": "a\ud800b", "tool_calls": [call]})
    reply = await model.reply(PROMPT)
    assert (reply.text, reply.calls[0].arguments) == ("a\ufffdb", {"url": "c\ufffd"})
