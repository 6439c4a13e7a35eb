"""Tools without keys and without a host: calculated beside the task's own calls, and waited for without holding anything."""

from __future__ import annotations

from tests.journeys.conftest import Journey, asks, call, says


async def test_a_model_calculates_exactly_and_pays_nothing_for_it(journey: Journey) -> None:
    task = await journey.task(
        asks(call("calculator", expression="0.1 + 0.2"), call("calculator", expression="5 km in frobs")),
        says("Done.", expect=("0.3", "Error: expression: 'frobs' is no unit")),
        tools=["calculator"],
    )
    record = await journey.run(task)
    assert record["status"] == "completed"
    assert [row["content"][:25] for row in record["tool_calls"]] == ["0.3", "Error: expression: 'frobs"]


async def test_an_execution_waits_in_the_queue_and_goes_on_in_another_slice(journey: Journey) -> None:
    task = await journey.task(
        asks(call("wait_until", seconds=1.5)), says("Awake.", expect=(" has come.",)), tools=["wait_until"]
    )
    record = await journey.run(task)
    assert (record["status"], record["output"]) == ("completed", "Awake.")
    assert record["slice"] == 1


async def test_a_tool_that_the_task_did_not_enable_is_not_calculated(journey: Journey) -> None:
    task = await journey.task(
        asks(call("calculator", expression="1 + 1")),
        says("No.", expect=("Error: tool 'calculator' is not enabled for this task",)),
        tools=["wait_until"],
    )
    assert (await journey.run(task))["status"] == "completed"


async def test_what_one_task_keeps_for_its_user_another_task_of_the_same_owner_adds_to(journey: Journey) -> None:
    save = call("save_preference", kind="dietary", preference="no peanuts")
    first = await journey.task(
        asks(save), says("Kept.", expect=("Saved. Preferences of this kind: 1.",)), tools=["save_preference"]
    )
    assert (await journey.run(first))["status"] == "completed"
    second = await journey.task(
        asks(
            call("save_preference", kind="dietary", preference="vegan"),
            call("save_preference", kind="music", preference="jazz"),
        ),
        says("Kept.", expect=("Saved. Preferences of this kind: 2.", "Error: ")),
        tools=["save_preference"],
    )
    assert (await journey.run(second))["status"] == "completed"
