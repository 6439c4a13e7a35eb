"""Which arguments of a tool decide is for a person to say: no imported document says it."""

from __future__ import annotations

from ferryman.domain.tools.correction import ArgumentRole, FlowCorrection
from ferryman.domain.tools.settings import ToolSettings
from ferryman.domain.workspaces.agent import Agent
from ferryman.serving.api.shapes.agent import AgentResponse
from ferryman.serving.importing.definitions import read_agent
from tests.builders import START


def test_a_correction_stays_behind_when_an_agent_is_imported() -> None:
    settings = {"webhook": ToolSettings(calls_max=2, flow=FlowCorrection(roles={"url": ArgumentRole.FREE}))}
    agent = Agent(id="agent_1", owner="o", workspace="w", name="n", tool_settings=settings, created_at=START, updated_at=START)
    answer = AgentResponse.model_validate(agent).model_dump(mode="json", exclude={"agent_id", "workspace_id"})
    line = {**answer, "id": agent.id}
    assert line["tool_settings"]["webhook"]["flow"]["roles"] == {"url": "free"}
    _, imported = read_agent("agents.jsonl:1", line, until=START)
    assert imported.tool_settings == {"webhook": ToolSettings(calls_max=2)}
