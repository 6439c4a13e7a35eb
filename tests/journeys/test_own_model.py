"""A model of the operator's own, with a key, through the whole stack: every block comes back to it, and it costs nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ferryman.client import ApiError
from tests.journeys import own_model
from tests.journeys.conftest import KEY, Journey, call, says
from tests.models.test_blocks import BLOCKS, FUTURE

HOST = "api.coingecko.com"


async def run_script(journey: Journey, *steps: dict[str, Any]) -> dict[str, Any]:
    """Return the execution of a task whose model, the operator's own, takes these steps."""
    own_model.messages.put("own", {"steps": list(steps)})
    own_model.messages.forget()
    await journey.serve(HOST)
    task = await journey.task(
        says("Of another model."), model="own", tools=["http_get"], integrations=["coingecko", "lunarcrush"]
    )
    await journey.credential(task, "LUNARCRUSH_API_KEY", "lunarcrush")
    return await journey.run(task)


def list_sent_back() -> list[Any]:
    """Return the model's own turn in the last request that it received."""
    (turn,) = [message for message in own_model.messages.requests()[-1]["body"]["messages"] if message["role"] == "assistant"]
    return list(turn["content"])


async def test_every_block_goes_back_to_it_as_it_came_and_nothing_is_charged(journey: Journey) -> None:
    blocks = [block for block in (*BLOCKS, FUTURE) if block["type"] != "tool_use"]
    use = {**call("http_get", url=journey.url(HOST)), "id": "toolu_own"}
    execution = await run_script(journey, {"blocks": blocks, "tool_calls": [use]}, says("Done."))
    assert (execution["status"], execution["output"], execution["credits_used"]) == ("completed", "Done.", "0")
    assert list_sent_back()[:-1] == blocks
    record = await journey.client.get_record(execution["execution_id"])
    assert record["steps"][0]["content"][:-1] == blocks


async def test_a_thought_with_a_credential_is_neither_stored_nor_sent_back(journey: Journey) -> None:
    thought = {"type": "thinking", "thinking": f"The key is {KEY}."}
    use = {**call("http_get", url=journey.url(HOST)), "id": "toolu_own"}
    execution = await run_script(journey, {"blocks": [thought], "text": "I look.", "tool_calls": [use]}, says("Done."))
    assert execution["status"] == "completed"
    assert [block["type"] for block in list_sent_back()] == ["text", "tool_use"]
    assert KEY not in json.dumps(await journey.client.get_record(execution["execution_id"]))


async def test_a_model_whose_key_is_not_set_is_refused_when_the_task_is_stored(journey: Journey) -> None:
    with pytest.raises(ApiError, match=r"needs a key, and none is set \(MODEL_KEY_OF_NOBODY\)"):
        await journey.task(says("Never."), model="keyless")
