"""What both clients share, without a socket: the parser of events, when a stream is resumed, and a method for every route."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from ferryman.client import AnswerPage, ApiRefusedError, ApiUnreachableError, AsyncClient, Client, routes
from ferryman.client.events import RESUMES_MAX, EventParser, EventStream, StreamedEvent
from ferryman.client.request import ApiRequest
from ferryman.client.routes import credentials, tasks
from ferryman.serving import api

THINGS = (
    "task",
    "execution",
    "workspace",
    "agent",
    "conversation",
    "job",
    "person",
    "invitation",
    "key",
    "identity",
    "approval",
    "server",
)
ARGUMENTS: dict[str, Any] = {
    "name": "{name}",
    "cluster": "{name}",
    "content": b"",
    "file": "{key}",
    "message": "{message_number}",
    "standing_approval": "{standing_approval_id}",
    "seq": "{seq}",
    "session": "{session_id}",
    **{thing: f"{{{thing}_id}}" for thing in THINGS},
}
UNREACHED = {
    *(("GET", path) for path in ("/healthz", "/v1/integrations/{integration_id}", "/v1/tasks/{task_id}/chat/tools")),
    ("POST", "/v1/tasks/{task_id}/tools"),
}
"""Routes without a method: a probe, an entry of a list, a view for chat programs, and one that `change_task` covers."""


def feed(*lines: str) -> list[StreamedEvent]:
    parser = EventParser()
    return [event for line in lines if (event := parser.feed(line)) is not None]


def test_comments_and_unknown_lines_are_passed_over() -> None:
    (event,) = feed(": keep", "", "retry: 5", "id: 7", "event: turn", 'data: {"a":', "data: 1}", "", "data: lost", "")
    assert (event.number, event.kind, event.body) == (7, "turn", {"a": 1})


def test_a_stream_that_brings_nothing_is_given_up_in_the_end() -> None:
    stream = EventStream("exec_1", 0)
    pauses = [stream.resume(None) for _ in range(RESUMES_MAX)]
    assert (pauses[0], set(pauses[1:])) == (0.0, {1.0})
    with pytest.raises(ApiUnreachableError):
        stream.resume(None)


def test_an_event_starts_the_count_again() -> None:
    stream = EventStream("exec_1", 0)
    for _ in range(RESUMES_MAX):
        stream.resume(None)
    assert not stream.receive(StreamedEvent(number=4, kind="turn", body={}))
    assert (stream.after, stream.resume(None)) == (4, 0.0)


def test_a_busy_service_is_waited_for_as_long_as_it_asks() -> None:
    assert EventStream("exec_1", 0).resume(ApiRefusedError(429, "too many streams", after_s=5.0)) == 5.0


def test_any_other_refusal_ends_the_watch() -> None:
    with pytest.raises(ApiRefusedError, match="gone"):
        EventStream("exec_1", 0).resume(ApiRefusedError(404, "gone"))


def test_every_route_of_the_api_has_a_method() -> None:
    reached = set()
    for name, describe in list_descriptions():
        required = [
            parameter
            for parameter in inspect.signature(describe).parameters.values()
            if parameter.default is parameter.empty and parameter.kind is not parameter.KEYWORD_ONLY
        ]
        arguments = [ARGUMENTS.get(parameter.name, {}) for parameter in required]
        for options in [{"on": True}, {"on": False}] if name == "set_halt" else [{}]:
            reached |= {describe_route(describe(*arguments, **options))}
        if name == "list_executions":
            reached |= {describe_route(describe(task="{task_id}"))}
    app = api.create(SimpleNamespace(tracer=None, clock=None))  # type: ignore[arg-type] # nothing is served
    paths = app.openapi()["paths"]
    served = {
        (method.upper(), path) for path, methods in paths.items() if path.startswith(("/v1", "/healthz")) for method in methods
    }
    assert served - reached - UNREACHED == {
        ("GET", "/v1/executions/{execution_id}/events"),
        ("GET", "/v1/conversations/{conversation_id}/events"),
        ("GET", "/v1/workspaces/{workspace_id}/export"),
        ("GET", "/v1/files/{key}"),
    }
    assert reached <= served


def list_descriptions() -> list[tuple[str, Callable[..., ApiRequest[Any]]]]:
    modules = [importlib.import_module(f"{routes.__name__}.{module.name}") for module in pkgutil.iter_modules(routes.__path__)]
    return [
        (name, describe)
        for module in modules
        for name, describe in inspect.getmembers(module, inspect.isfunction)
        if describe.__module__ == module.__name__ and not name.startswith("_")
    ]


def describe_route(request: ApiRequest[object]) -> tuple[str, str]:
    path = request.path.replace("%7B", "{").replace("%7D", "}")
    return request.method, path


def test_both_clients_have_the_same_methods_with_the_same_parameters() -> None:
    def describe(kind: type) -> dict[str, list[str]]:
        methods = inspect.getmembers(kind, inspect.isfunction)
        return {name: [*inspect.signature(method).parameters] for name, method in methods if not name.startswith("_")}

    assert describe(Client) == describe(AsyncClient)


def test_a_method_tells_what_it_does() -> None:
    assert inspect.getdoc(Client.create_task) == inspect.getdoc(tasks.create_task)


def test_the_last_page_has_no_next() -> None:
    assert AnswerPage([1]).next is None


def test_no_request_shows_its_key_or_its_body() -> None:
    requests = (credentials.set_credential("t", "n", {"value": "hidden"}), tasks.create_task({"a": "hidden"}, key="hidden"))
    assert "hidden" not in repr(requests)
