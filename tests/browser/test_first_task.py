"""The first run on a whole local stack: from the overview to a finished task, by four clicks at most."""

from __future__ import annotations

from tests.browser.walks import Walk

CLICKS_MAX = 4
"""The third starts the task, whose page then shows its end by itself."""


def test_a_first_task_is_finished_after_four_clicks(walk: Walk) -> None:
    clicks = ["text=Create your first task", "button[value=create]", "button[value=start]"]
    assert len(clicks) <= CLICKS_MAX
    with walk.open("/console") as seen:
        for where in clicks:
            seen.page.locator(where).first.click()
        seen.page.locator(".badge.completed").first.wait_for()
        assert seen.list_problems() == []
    executions = walk.run(walk.journey.client.list_executions())
    assert [execution["status"] for execution in executions] == ["completed"]
