"""Talks: executions in a conversation that has the id of another's, until one's own limit of it is reached, and beyond."""

from __future__ import annotations

from tests.campaigns.isolation.attempts import Attempt
from tests.campaigns.isolation.belongings import TALKING, Belongings
from tests.campaigns.isolation.calls import build_answer
from tests.campaigns.isolation.deployment import Answer, Deployment
from tests.campaigns.isolation.functions import Functions, TurnsModel

KIND = "a conversation of the same id"
TALKS = 3
"""Executions in it: more than its limit allows (`CONVERSATION_MAX`), so that the last is refused by what the first two used."""


def list_talks() -> list[Attempt]:
    """Return the executions, in their order."""
    body = {"conversation": "⟦conversation⟧"}
    return [Attempt(kind=KIND, method="TALK", path=str(turn + 1), body=body) for turn in range(TALKS)]


async def talk(deployment: Deployment, functions: Functions, mine: Belongings, attempt: Attempt) -> Answer:
    """Run an execution of one's own agent in the conversation; return what the API shows of it, and of what the conversations
    with this agent have used."""
    path, agent = f"/v1/tasks/{mine.ids[TALKING]}/executions", mine.ids["agent"]
    execution = str((await deployment.ask(mine.caller, "POST", path, body=attempt.body))["execution_id"])
    await functions.finish(mine.caller, execution, TurnsModel(turns=[], ending="Done.", clock=deployment.stage.clock))
    record = await deployment.ask(mine.caller, "GET", f"/v1/executions/{execution}")
    budgets = (await deployment.ask(mine.caller, "GET", "/v1/budget"))["budgets"]
    return build_answer([record, [row for row in budgets if row["id"].startswith(f"{agent}/")]])
