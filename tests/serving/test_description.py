"""The description: /openapi.json says exactly what is served."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from jsonschema import Draft202012Validator
from starlette.routing import BaseRoute, Route

from ferryman.serving.api import METADATA_PATHS
from tests.builders import build_settled_ticket

from .conftest import TASK, Stage
from .routes import ROUTES, Ask
from .test_executions import started

RARE = {"imported_from", "titled_answer", "called_tool"}
"""Members that most answers do not have."""

VERBS = {"get", "post", "put", "patch", "delete"}


@pytest.fixture
async def document(client: httpx.AsyncClient) -> dict[str, Any]:
    body: dict[str, Any] = (await client.get("/openapi.json")).json()
    return body


def validator(document: dict[str, Any], schema: dict[str, Any]) -> Draft202012Validator:
    return Draft202012Validator({**schema, "components": document["components"]})


def test_the_table_of_routes_is_what_is_described(app: FastAPI) -> None:
    described = {(verb.upper(), path) for path, verbs in app.openapi()["paths"].items() for verb in verbs}
    assert described == {(ask.method, ask.path) for ask in ROUTES}


async def test_every_other_method_of_a_described_path_is_refused(client: httpx.AsyncClient, document: dict[str, Any]) -> None:
    for path, verbs in document["paths"].items():
        url = Ask("GET", path, 0).url("task_x", "exec_x")
        for verb in VERBS - set(verbs):
            assert (await client.request(verb, url)).status_code == 405, (verb, path)


def test_nothing_is_served_that_is_not_described(app: FastAPI) -> None:
    def paths(routes: list[BaseRoute]) -> set[str]:
        return {route.path for route in routes if isinstance(route, Route)}

    assert paths(app.routes) - set(app.openapi()["paths"]) <= {
        "/openapi.json",
        "/docs",
        "/console",
        "/console/{rest:path}",
        "/oauth/client.json",
        "/mcp",
        *METADATA_PATHS,
    }


def test_every_route_but_three_asks_for_a_key(app: FastAPI) -> None:
    document = app.openapi()
    assert document["components"]["securitySchemes"]["api_key"]["scheme"] == "bearer"
    for path, verbs in document["paths"].items():
        for verb, operation in verbs.items():
            assert ("security" in operation) == (path not in ("/", "/healthz", "/v1/join")), (verb, path)


def test_every_reference_leads_somewhere_and_every_schema_is_one(app: FastAPI) -> None:
    document = app.openapi()

    def references(value: Any) -> list[str]:
        if isinstance(value, dict):
            here = [value["$ref"]] if isinstance(value.get("$ref"), str) else []
            return here + [reference for inner in value.values() for reference in references(inner)]
        return [reference for inner in value for reference in references(inner)] if isinstance(value, list) else []

    schemas = document["components"]["schemas"]
    assert {reference.rpartition("/")[2] for reference in references(document)} == set(schemas)
    for schema in schemas.values():
        Draft202012Validator.check_schema(schema)
    assert "HTTPValidationError" not in schemas


async def test_what_is_answered_is_as_described(
    client: httpx.AsyncClient, document: dict[str, Any], task: str, stage: Stage
) -> None:
    execution = await started(client, task)
    await client.post(f"/v1/executions/{execution}/cancel")
    stage.memory.tickets[execution] = {0: build_settled_ticket()}
    for ask in ROUTES:
        answer = await client.request(ask.method, ask.url(task, execution), json=ask.body)
        described = document["paths"][ask.path][ask.method.lower()]["responses"]
        assert answer.status_code == ask.status, ask
        content = described[str(ask.status)].get("content", {})
        if "application/json" in content:
            validator(document, content["application/json"]["schema"]).validate(answer.json())
        else:
            media = answer.headers.get("content-type", "").partition(";")[0]
            assert list(content) == ([media] if answer.content else [])


async def test_what_is_refused_is_as_described(
    client: httpx.AsyncClient, document: dict[str, Any], task: str, stage: Stage
) -> None:
    requests: list[tuple[str, str, dict[str, Any]]] = [
        ("GET", "/v1/tasks/{task_id}", {"headers": {"Authorization": ""}}),
        ("GET", "/v1/executions/{execution_id}", {}),
        ("GET", "/v1/executions", {"params": {"limit": "0"}}),
        ("GET", "/v1/executions/{execution_id}/events", {"params": {"after": "x"}}),
        ("POST", "/v1/tasks", {"json": {}}),
        ("POST", "/v1/tasks", {"json": TASK, "headers": stage.owner("fred", plan="free")}),
        ("POST", "/v1/tasks", {"content": "{", "headers": {"Content-Type": "application/json"}}),
        ("POST", "/v1/tasks", {"content": "{}", "headers": {"Content-Type": "text/plain"}}),
        ("PATCH", "/v1/tasks/{task_id}", {"json": {"name": ""}}),
        ("PUT", "/v1/tasks/{task_id}/credentials/{name}", {"json": {"value": "short", "service": "x"}}),
        ("DELETE", "/v1/tasks/{task_id}/credentials/{name}", {}),
        ("POST", "/v1/tasks/{task_id}/executions", {"json": {"input": 1}}),
    ]
    for method, path, request in requests:
        answer = await client.request(method, Ask(method, path, 0).url(task, "exec_none"), **request)
        assert answer.status_code >= 400
        described = document["paths"][path][method.lower()]["responses"][str(answer.status_code)]
        validator(document, described["content"]["application/problem+json"]["schema"]).validate(answer.json())


async def test_the_description_needs_no_key(client: httpx.AsyncClient) -> None:
    answer = await client.get("/openapi.json", headers={"Authorization": ""})
    assert (answer.status_code, answer.json()["openapi"][:3]) == (200, "3.1")


def list_operations(app: FastAPI) -> list[tuple[str, dict[str, Any]]]:
    return [(path, operation) for path, verbs in app.openapi()["paths"].items() for operation in verbs.values()]


def test_every_operation_is_named_by_a_verb_and_no_other_by_it(app: FastAPI) -> None:
    names = [operation["operationId"] for _, operation in list_operations(app)]
    assert len(set(names)) == len(names)
    verbs = "create|list|get|change|delete|begin|finish|put|start|cancel|watch|halt|resume|archive|restore|export|import"
    verbs += "|declare|join|decide|link|accept|refresh"
    assert [name for name in names if not re.fullmatch(f"({verbs})[A-Z][A-Za-z]*", name)] == []


def test_every_operation_parameter_and_tag_is_described(app: FastAPI) -> None:
    tags = {tag["name"] for tag in app.openapi()["tags"] if tag["description"]}
    for path, operation in list_operations(app):
        assert operation["summary"], path
        assert operation["description"], path
        assert set(operation["tags"]) <= tags, path
        assert all(parameter["description"] for parameter in operation.get("parameters", ())), path
    assert tags == {tag for _, operation in list_operations(app) for tag in operation["tags"]}


def test_only_the_routes_that_there_are_twice_are_deprecated(app: FastAPI) -> None:
    deprecated = {path for path, operation in list_operations(app) if operation.get("deprecated")}
    there_twice = {path for path in app.openapi()["paths"] if path.startswith("/api/agents/") and not path.endswith("/chat")}
    assert deprecated == there_twice
    assert {path.replace("/api/agents/", "/v1/tasks/") for path in deprecated} <= set(app.openapi()["paths"])


def test_every_body_that_is_sent_has_an_example(app: FastAPI) -> None:
    schemas = app.openapi()["components"]["schemas"]
    for path, operation in list_operations(app):
        if "requestBody" in operation:
            (content,) = operation["requestBody"]["content"].values()
            refers = re.findall(r"schemas/(\w+)", str(content["schema"]))
            assert "example" in content or any("examples" in schemas[name] for name in refers), path


def test_every_example_is_as_described(app: FastAPI) -> None:
    document = app.openapi()
    for schema in document["components"]["schemas"].values():
        for example in schema.get("examples", ()):
            validator(document, schema).validate(example)


def test_every_answer_has_an_example_as_it_is_described(app: FastAPI) -> None:
    document = app.openapi()
    for path, operation in list_operations(app):
        answers = {status: answer for status, answer in operation["responses"].items() if status < "300"}
        for status, answer in answers.items():
            for media, content in answer.get("content", {}).items():
                assert "example" in content, (path, status)
                if media == "application/json":
                    validator(document, content["schema"]).validate(content["example"])
                    described = set(find_properties(document, content["schema"])) - RARE
                    # an example that is about a rare member has it
                    assert set(content["example"]) - RARE == described, (path, status)


def find_properties(document: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    name = schema["$ref"].rpartition("/")[2]
    properties: dict[str, Any] = document["components"]["schemas"][name]["properties"]
    return properties


async def test_the_example_of_a_task_is_accepted(client: httpx.AsyncClient, document: dict[str, Any]) -> None:
    (example,) = document["components"]["schemas"]["NewTask"]["examples"]
    assert (await client.post("/v1/tasks", json=example)).status_code == 201


async def test_the_example_of_a_declared_tool_is_accepted(client: httpx.AsyncClient, document: dict[str, Any]) -> None:
    task = (await client.post("/v1/tasks", json=document["components"]["schemas"]["NewTask"]["examples"][0])).json()["task_id"]
    example = document["paths"]["/v1/tasks/{task_id}/tools"]["post"]["requestBody"]["content"]["application/json"]["example"]
    assert (await client.post(f"/v1/tasks/{task}/tools", json=example)).status_code == 201
