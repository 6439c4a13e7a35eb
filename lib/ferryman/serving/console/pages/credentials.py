"""The credentials of a task: values go in and never come out, not even in a form that was refused; or a person consents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ferryman.domain.approvals.visible import show_text
from ferryman.domain.credentials.credential import NAME, AuthType
from ferryman.serving.console.api_client import ApiProblemError, ask_together
from ferryman.serving.console.consents import choose_redirect_uri, show_consent
from ferryman.serving.console.form_fields import (
    FormField,
    list_problems,
    read_body,
    repeat_values,
    require_consent,
    write_values,
)
from ferryman.serving.console.pages.tasks import PATH as TASKS
from ferryman.serving.console.routing import ConsolePage, ConsoleRequest, ConsoleRoute, Redirect

PATH = f"{TASKS}/{{task}}/credentials"
AUTH_TYPES = (("", "as the service needs it"), *((kind.value, kind.value.replace("_", " ")) for kind in AuthType))
CLIENT_FIELDS = (
    FormField(name="client_id", label="Client id", help="Of a client that you registered with the service", when_empty="omit"),
    FormField(
        name="client_secret",
        label="Client secret",
        kind="secret",
        help="If your client has one; sealed at once",
        when_empty="omit",
    ),
    FormField(
        name="scopes",
        label="Scopes",
        kind="lines",
        help="One per line; empty: the scopes that the service names",
        when_empty="omit",
    ),
)
"""The fields of a form that begins a consent, for services and MCP servers."""

Integration = Mapping[str, Any]


async def show_credentials(request: ConsoleRequest) -> ConsolePage:
    """Show the credentials of a task without their values, and the form that stores one."""
    return await _show(request)


async def store_credential(request: ConsoleRequest) -> ConsolePage | Redirect:
    """Store a credential, or replace its value."""
    body = read_body(_build_fields([]), request.form)
    name = body.pop("name").strip()
    try:
        check_name(name)
        await request.api.put(f"/v1/tasks/{request.params['task']}/credentials/{name}", body)
    except ApiProblemError as error:
        return await _show(request, error)
    return Redirect(path=request.path, done="saved")


async def delete_credential(request: ConsoleRequest) -> ConsolePage | Redirect:
    """Delete a credential, where the box of the form was ticked."""
    require_consent(request.form)
    name = request.read_field("id")
    try:
        check_name(name)
        await request.api.delete(f"/v1/tasks/{request.params['task']}/credentials/{name}")
    except ApiProblemError as error:
        return await _show(request, error)
    return Redirect(path=request.path, done="deleted")


async def show_connect(request: ConsoleRequest) -> ConsolePage:
    """Show the form that begins a consent to one of the task's services."""
    return await _show_connect(request)


async def begin_consent(request: ConsoleRequest) -> ConsolePage:
    """Begin a consent, and show the link to its page."""
    task = request.params["task"]
    service = request.read_field("service")
    known = await _load_services(request, (await _get_task(request))["integrations"])
    registered = next((item["oauth"]["redirect_uris"] for item in known if item["id"] == service and item["oauth"]), ())
    body = read_body(_build_connect_fields([]), request.form)
    connect = f"/v1/tasks/{task}/credentials/connect"
    try:
        if service not in {item["id"] for item in known}:
            raise _build_problem("service", "must be a service of the task that is connected by consent")
        begun = await request.api.post(connect, {**body, "redirect_uri": choose_redirect_uri(request, service, registered)})
    except ApiProblemError as error:
        return await _show_connect(request, error)
    page = f"{TASKS}/{task}/credentials"
    return show_consent(request, begun, place=service, connect=connect, page=page)


def check_name(name: str) -> None:
    """Raise `ApiProblemError` for an invalid credential name: it becomes a part of the API's path, which it must not change."""
    if not NAME.fullmatch(name):
        raise _build_problem("name", "must be A to Z, 0 to 9 and _, begin with a letter, and have at most 64 characters")


def _build_problem(field: str, message: str) -> ApiProblemError:
    return ApiProblemError(422, {"title": "Invalid", "errors": [{"field": field, "message": message}]})


async def _get_task(request: ConsoleRequest) -> Any:
    return await request.api.get(f"/v1/tasks/{request.params['task']}")


async def _load_services(request: ConsoleRequest, names: list[str]) -> list[Integration]:
    """Return the task's services that are in the catalog."""
    known = []
    cursor = None
    while True:
        listed = await request.api.get("/v1/integrations", limit=100, cursor=cursor)
        known += [item for item in listed["integrations"] if item["id"] in names]
        cursor = listed["next"]
        if cursor is None:
            return known


async def _show(request: ConsoleRequest, refused: ApiProblemError | None = None) -> ConsolePage:
    if refused is not None and refused.status in (401, 404):
        raise refused
    task, listed = await ask_together(
        _get_task(request), request.api.get(f"/v1/tasks/{request.params['task']}/credentials", limit=100)
    )
    services = await _load_services(request, task["integrations"])
    fields = _build_fields([item for item in services if item["allowed_domains"]])
    return ConsolePage(
        template="credentials.html",
        title=f"Credentials of {show_text(task['name'])}",
        values={
            "task": task,
            "listed": listed,
            "services": services,
            "can_consent": any(item["oauth"] for item in services),
            "fields": fields,
            "values": write_values(fields, {}) if refused is None else repeat_values(fields, request.form),
            "errors": list_problems(refused),
            "here": f"{TASKS}/{task['task_id']}/credentials",
        },
        status=200 if refused is None else refused.status,
    )


async def _show_connect(request: ConsoleRequest, refused: ApiProblemError | None = None) -> ConsolePage:
    if refused is not None and refused.status in (401, 404):
        raise refused
    task = await _get_task(request)
    services = await _load_services(request, task["integrations"])
    fields = _build_connect_fields([item for item in services if item["oauth"]])
    back = f"{TASKS}/{task['task_id']}/credentials"
    return ConsolePage(
        template="connect.html",
        title="Connect by consent",
        values={
            "back": back,
            "back_label": "Credentials",
            "subject": task["name"],
            "is_possible": any(item["oauth"] for item in services),
            "fields": fields,
            "values": write_values(fields, {}) if refused is None else repeat_values(fields, request.form),
            "errors": list_problems(refused),
            "here": f"{back}/connect",
        },
        status=200 if refused is None else refused.status,
    )


def _list_options(services: list[Integration]) -> list[tuple[str, str]]:
    return [(item["id"], show_text(item["name"])) for item in services]


def _build_fields(services: list[Integration]) -> tuple[FormField, ...]:
    templates = ", ".join(item["credential_key_template"] for item in services if item["credential_key_template"])
    return (
        FormField(
            name="name",
            label="Name",
            is_required=True,
            help=f"For example {templates}; an existing name gets a new value" if templates else "For example SERVICE_API_KEY",
        ),
        FormField(name="service", label="Service", kind="choice", options=_list_options(services)),
        FormField(name="value", label="Value", kind="secret", is_required=True, help="Sealed at once; nothing shows it again"),
        FormField(name="auth_type", label="Sent as", kind="choice", options=AUTH_TYPES, when_empty="omit"),
        FormField(
            name="auth_header_name",
            label="Header name",
            when_empty="omit",
            help="If sent as a header. Empty: the service's own",
        ),
        FormField(
            name="auth_param_name",
            label="Parameter name",
            when_empty="omit",
            help="If sent as a query parameter. Empty: the service's own",
        ),
    )


def _build_connect_fields(services: list[Integration]) -> tuple[FormField, ...]:
    return (
        FormField(name="service", label="Service", kind="choice", options=_list_options(services)),
        FormField(name="name", label="Name", help="Empty: the service's own", when_empty="omit"),
        *CLIENT_FIELDS,
    )


ROUTES = (
    ConsoleRoute(
        path=PATH, show=show_credentials, section="tasks", actions={"store": store_credential, "delete": delete_credential}
    ),
    ConsoleRoute(path=f"{PATH}/connect", show=show_connect, section="tasks", actions={"connect": begin_consent}),
)
