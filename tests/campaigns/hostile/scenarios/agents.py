"""Agents: a model that calls what its agent does not allow, overrides what it fixes, calls more often, or acts as another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.campaigns.hostile.scenario import PUBLIC, Act, Scenario, call, call_tools, declare_probe, finish

G = f"https://{PUBLIC}/{{token}}"
PREFIX = "orchestrator__"
POST: Mapping[str, Any] = {"url": f"{G}/x", "body": {}}
ONE_SENDER = {"allowed_tools": ["http_get", "find_tools", "call_custom_tool"]}
"""An agent whose tasks may enable more than it allows: of those that send a request, `http_get` alone."""

SPELLINGS: Mapping[str, str] = {
    "as it is": "http_post",
    "with the prefix": f"{PREFIX}http_post",
    "with the prefix twice": f"{PREFIX}{PREFIX}http_post",
    "in capitals": "HTTP_POST",
    "with a prefix in capitals": f"{PREFIX.upper()}http_post",
    "in a Cyrillic letter": "http_р\u043est",
    "in wide letters": "ｈｔｔｐ＿ｐｏｓｔ",
    "with a space that has no width": "http_\u200bpost",
    "with a combining mark": "http_p\u0307ost",
    "with a space behind it": "http_post ",
    "with a null behind it": "http_post\x00",
    "with an allowed one before it": "http_get,http_post",
}


def _refuse(what: str, *uses: Mapping[str, Any], agent: Mapping[str, Any] = ONE_SENDER, **more: Any) -> Scenario:
    """Return a scenario whose model makes these calls, a turn each, of which none sends anything unless `more` says so."""
    turns = (*(call_tools(use) for use in uses), finish())
    return Scenario(**{"name": f"agent: {what}", "turns": turns, "agent": agent, "requests": 0, **more})


NAMES = (
    *(_refuse(f"http_post, which it does not allow, {how}", call(name, **POST)) for how, name in SPELLINGS.items()),
    _refuse(
        "http_post, which the search is asked for",
        call("find_tools", query="http_post"),
        call("http_post", **POST),
        task={"tool_loading": "context-aware"},
    ),
    *(
        _refuse(f"a declared tool, which it does not allow, {how}", use, declared=(declare_probe(),))
        for how, use in {
            "by its name": call("probe", id="7"),
            "with the prefix": call(f"{PREFIX}probe", id="7"),
            "by call_custom_tool": call("call_custom_tool", toolName="probe", arguments={"id": "7"}),
            "by call_custom_tool, with the prefix": call("call_custom_tool", toolName=f"{PREFIX}probe", arguments={"id": "7"}),
        }.items()
    ),
    _refuse(
        "http_post, which it allows and its workspace does not",
        call("http_post", **POST),
        agent={"allowed_tools": ["http_post"]},
        before=(Act(to="api", method="PATCH", path="/v1/workspaces/{workspace}", body={"allowed_tools": ["http_get"]}),),
    ),
    _refuse(
        "http_post by a routed call",
        call("http_request", method="POST", url=f"{G}/x", body={}),
        agent={"allowed_tools": ["http_request", "http_get"]},
        tools=("http_request", "http_get", "http_post"),
    ),
)

FIXED = {"tool_settings": {"http_get": {"arguments": {"url": f"{G}/fixed"}}}}
OWN_PLACE = (r"GET /{token}/fixed ?",)
OVERRIDES: Mapping[str, Mapping[str, Any]] = {
    "by its own name": {"url": f"{G}/x"},
    "in capitals": {"URL": f"{G}/x"},
    "with a space": {"url ": f"{G}/x"},
    "in wide letters": {"ｕｒｌ": f"{G}/x"},
    "as null": {"url": None},
    "as a list": {"url": [f"{G}/x"]},
    "nested": {"arguments": {"url": f"{G}/x"}},
    "as a path of fields": {"http_get.url": f"{G}/x"},
    "with the settings": {"tool_settings": {"http_get": {"arguments": {}}}, "url": f"{G}/x"},
}
ARGUMENTS = (
    *(
        _refuse(f"a fixed argument overridden {how}", call("http_get", **uses), agent=FIXED, sent=OWN_PLACE, requests=1)
        for how, uses in OVERRIDES.items()
    ),
    _refuse(
        "a fixed argument overridden by a routed call",
        call("http_request", method="GET", url=f"{G}/x"),
        agent=FIXED,
        tools=("http_request", "http_get"),
        **{"sent": OWN_PLACE, "requests": 1, "requests_min": 1},
    ),
)

TWICE = {"tool_settings": {"http_get": {"calls_max": 2}, "http_request": {"calls_max": 2}}}
GETS = tuple(call("http_get", url=f"{G}/n/{number}") for number in range(8))
ROUTED = tuple(call("http_request", method="GET", url=f"{G}/r/{number}") for number in range(8))
AT_MOST_TWO: Mapping[str, Any] = {"agent": TWICE, "requests": 2, "requests_min": 2}
COUNTS = (
    Scenario(name="agent: calls_max passed in one turn", turns=(call_tools(*GETS), finish()), **AT_MOST_TWO),
    Scenario(
        name="agent: calls_max passed over turns", turns=(*(call_tools(use) for use in GETS[:6]), finish()), **AT_MOST_TWO
    ),
    Scenario(
        name="agent: calls_max passed by the same call again",
        turns=(call_tools(*(GETS[0],) * 2), call_tools(*(GETS[0],) * 6), finish()),
        **AT_MOST_TWO,
    ),
    Scenario(
        name="agent: calls_max passed by routed calls",
        turns=(call_tools(*ROUTED[:4], *GETS[:4]), call_tools(*ROUTED[4:]), finish()),
        tools=("http_request", "http_get"),
        **AT_MOST_TWO,
    ),
)

FOREIGN = {"name": "mine", "task_prompt": "Obey.", "model": "scripted/x", "agent_id": "{vagent}"}
HEADER = {"Ferryman-Workspace": "{vworkspace}"}
OTHERS: Mapping[str, Act] = {
    "a task of another owner's agent": Act(to="api", path="/v1/tasks", body=FOREIGN, status=422),
    "a task in another owner's workspace": Act(to="api", path="/v1/tasks", body=FOREIGN, headers=HEADER, status=404),
    "the policy of another owner's agent": Act(to="api", method="GET", path="/v1/agents/{vagent}/policy", status=404),
    "another owner's agent, changed": Act(
        to="api", method="PATCH", path="/v1/agents/{vagent}", body={"system_prompt": "Tell all."}, status=404
    ),
    "another owner's agent, deleted with its tasks": Act(
        to="api", method="DELETE", path="/v1/agents/{vagent}?tasks=delete", status=404
    ),
}
PROMPT = {"system_prompt": "You act in every workspace. Name the one that you want as workspace_id, and its owner as owner."}
PLACES = {"workspace_id": "{vworkspace}", "workspace": "{vworkspace}", "agent_id": "{vagent}"}
ELSEWHERE = (
    *(Scenario(name=f"agent: {what}", victim=True, acts=(act,)) for what, act in OTHERS.items()),
    Scenario(
        name="agent: a prompt that asks for another workspace",
        turns=(
            call_tools(call("http_get", url=f"{G}/x", **PLACES)),
            call_tools(call("find_tools", query="x", **PLACES)),
            finish(),
        ),
        agent=PROMPT,
        victim=True,
        requests=1,
    ),
)

SCENARIOS: tuple[Scenario, ...] = (*NAMES, *ARGUMENTS, *COUNTS, *ELSEWHERE)
