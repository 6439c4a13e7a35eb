"""Greed: an owner who starts, watches and imports as much as there is, beside another who only works."""

from __future__ import annotations

from dataclasses import replace

from ferryman.domain.owners.plan import GURU
from tests.campaigns.hostile.scenario import PUBLIC, Act, Answer, Scenario, call, call_tools, finish, import_document

SLOW = f"https://{PUBLIC}/{{token}}/slow"
SPEC = (
    f'{{"openapi": "3.1.0", "info": {{"title": "p", "version": "1"}}, "servers": [{{"url": "https://{PUBLIC}"}}],'
    ' "paths": {"/x": {"get": {"operationId": "x", "responses": {}}}}}'
)
START = Act(to="api", path="/v1/tasks/{task}/executions")
STOP = Act(to="api", method="PUT", path="/v1/halt")
RUNNING, QUEUED = GURU.executions_running, GURU.executions_queued


def _greedy(what: str, *acts: Act) -> Scenario:
    return Scenario(
        name=f"greed: {what}",
        victim=True,
        acts_alone=True,
        plan="guru",
        tools=("http_get",),
        keys=(),
        turns=(call_tools(call("http_get", url=SLOW)), finish()),
        answers={"/slow": Answer(pause_s=5.0), "/spec": Answer(body=SPEC, pause_s=2.0)},
        acts=acts,
    )


SCENARIOS = (
    # a few of those that run may end meanwhile, and then so many more are started
    _greedy("a hundred executions", replace(START, times=100, at_once=8, most=QUEUED + 3 * RUNNING), STOP),
    _greedy(
        "thirty streams of events",
        START,
        Act(to="api", method="GET", path="/v1/executions/{mine}/events", times=30, at_once=30, most=GURU.streams),
        STOP,
    ),
    _greedy(
        "twelve imports at once", replace(import_document(url=f"https://{PUBLIC}/{{token}}/spec"), times=12, at_once=12, most=4)
    ),
    _greedy(
        "executions of a disabled task",
        Act(to="api", method="PATCH", path="/v1/tasks/{task}", body={"enabled": False}),
        replace(START, times=4, at_once=4, most=0),
    ),
)
