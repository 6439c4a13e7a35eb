"""Models of an operator, at their own address: asked under the name that their server knows, without anybody's key."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from decimal import Decimal

import pytest

from emulator.messages import Messages
from emulator.web import Web, port_of
from ferryman.billing.prices import Prices
from ferryman.domain.operator_model import parse_operator_models
from ferryman.models.anthropic import UNUSED_KEY, AnthropicModel
from ferryman.ports.errors import RejectedError, UnreachedError
from ferryman.settings import Settings
from tests.models.test_anthropic import PROMPT

QUESTION = replace(PROMPT, model="llama", temperature=0.3)
SECRET = "k" * 20


@pytest.fixture
async def service() -> AsyncIterator[tuple[Messages, str]]:
    messages, web = Messages(lambda key: key == UNUSED_KEY), Web()
    address = f"http://127.0.0.1:{port_of(web.add(messages))}"
    messages.put("play", {"steps": [{"text": "Hello."}]})
    await web.start()
    yield messages, address
    await web.close()


def build_settings(url: str, **fields: str) -> Settings:
    rows: Mapping[str, object] = {"llama": {"url": url, "model": "scripted/play", "input": 0, "output": 0, **fields}}
    return Settings(models=parse_operator_models(rows), anthropic_api_key=SECRET)


async def test_it_is_asked_at_its_address_under_its_own_name(service: tuple[Messages, str]) -> None:
    model = AnthropicModel(build_settings(service[1]))
    reply = await model.reply(QUESTION)
    await model.close()
    (request,) = service[0].requests()
    assert (reply.text, request["body"]["model"], request["body"]["temperature"]) == ("Hello.", "scripted/play", 0.3)


async def test_no_key_of_another_provider_is_sent_to_it(service: tuple[Messages, str]) -> None:
    model = AnthropicModel(build_settings(service[1]))
    await model.reply(QUESTION)
    await model.close()
    assert SECRET not in str(service[0].requests())


async def test_one_that_is_not_there_was_not_reached() -> None:
    model = AnthropicModel(build_settings("http://127.0.0.1:9"))
    with pytest.raises(UnreachedError):
        await model.reply(QUESTION)
    await model.close()


def test_its_tokens_cost_what_the_operator_says() -> None:
    price = Prices.from_settings(build_settings("http://a.test")).find("llama")
    assert price is not None
    assert price.compute_worst_case(prompt_bytes=10**6, output_tokens=10**6) == Decimal(0)


async def test_one_with_a_key_of_its_own_is_sent_that_key_and_no_other() -> None:
    seen: list[str] = []
    messages, web = Messages(lambda key: bool(seen.append(key)) or True), Web()
    address = f"http://127.0.0.1:{port_of(web.add(messages))}"
    messages.put("play", {"steps": [{"text": "Hello."}]})
    await web.start()
    model = AnthropicModel(replace(build_settings(address, key="MODEL_KEY_OWN"), model_keys={"MODEL_KEY_OWN": "o" * 20}))
    await model.reply(QUESTION)
    await model.close()
    await web.close()
    assert seen == ["o" * 20]


async def test_one_whose_key_is_not_set_is_not_asked() -> None:
    model = AnthropicModel(build_settings("http://127.0.0.1:9", key="MODEL_KEY_OWN"))
    with pytest.raises(RejectedError, match="model llama needs a key, and MODEL_KEY_OWN is not set"):
        await model.reply(QUESTION)
