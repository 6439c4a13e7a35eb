"""Tools: the catalog by category, and for a task or an agent switches, its policy, and the level that forbids a tool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ferryman.domain.approvals.visible import show_text
from ferryman.domain.ids import is_id
from ferryman.serving.console.api_client import ApiProblemError, ask_together
from ferryman.serving.console.form_fields import INVALID, list_problems
from ferryman.serving.console.routing import ROOT, ConsolePage, ConsoleRequest, ConsoleRoute, Redirect
from ferryman.serving.console.tool_switches import list_others, select_on, write_list

PATH = f"{ROOT}/tools"
LISTS = {"task": "tools", "agent": "allowed_tools"}
"""Which list of a task or an agent has its tools."""

PAGES_MAX = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSubject:
    """Whose tools are shown: a task or an agent as it is stored; `kind` is "" where none was chosen."""

    kind: str = ""
    id: str = ""
    stored: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def tool_names(self) -> Sequence[str]:
        """The names in its list of tools."""
        names: Sequence[str] = self.stored[LISTS[self.kind]] if self.kind else ()
        return names

    @property
    def address(self) -> str:
        """The page of its tools."""
        return f"{PATH}?{self.kind}={self.id}" if self.kind else PATH


async def show_tools(request: ConsoleRequest) -> ConsolePage:
    """Show the catalog, and what a task or an agent that was chosen may call."""
    return await _show(request, await _find_subject(request, request.query))


async def change_tools(request: ConsoleRequest) -> ConsolePage | Redirect:
    """Store the list of tools that the boxes mean, and for a task the services that it may call."""
    subject = await _find_subject(request, {kind: request.read_field(kind) for kind in LISTS})
    catalog = await _read_catalog(request)
    try:
        changes = _read_changes(request, subject, catalog["tools"])
        if changes:
            await request.api.patch(f"/v1/{subject.kind}s/{subject.id}", changes)
    except ApiProblemError as error:
        return await _show(request, subject, error)
    return Redirect(path=subject.address, done="saved")


def _read_changes(request: ConsoleRequest, subject: ToolSubject, tools: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    if not subject.kind:
        raise ApiProblemError(INVALID, {"title": "Task or agent", "detail": "choose a task or an agent first"})
    others = [line.strip() for line in request.read_field("others").splitlines() if line.strip()]
    try:
        names = write_list(subject.kind, request.form.get("tool", ()), others, subject.tool_names, tools)
    except ValueError as error:
        raise ApiProblemError(INVALID, {"title": "Tools", "detail": str(error)}) from None
    changes: dict[str, Any] = {} if names == list(subject.tool_names) else {LISTS[subject.kind]: names}
    if subject.kind == "task":
        services = list(request.form.get("integration", ()))
        if sorted(services) != sorted(subject.stored["integrations"]):
            changes["integrations"] = services
    return changes


async def _find_subject(request: ConsoleRequest, chosen: Mapping[str, str]) -> ToolSubject:
    for kind in LISTS:
        if is_id(chosen.get(kind, "")):
            stored = await request.api.get(f"/v1/{kind}s/{chosen[kind]}")
            return ToolSubject(kind=kind, id=stored[f"{kind}_id"], stored=stored)
    return ToolSubject()


async def _show(request: ConsoleRequest, subject: ToolSubject, refused: ApiProblemError | None = None) -> ConsolePage:
    catalog, tasks, agents, policy, credentials, custom = await ask_together(
        _read_catalog(request),
        request.api.get("/v1/tasks", limit=100),
        request.api.get("/v1/agents", limit=100),
        _read_policy(request, subject),
        _read_of_task(request, subject, "credentials"),
        _read_of_task(request, subject, "tools"),
    )
    is_typed = refused is not None
    on = frozenset(request.form.get("tool", ())) if is_typed else _select(subject, catalog["tools"])
    services = request.form.get("integration", ()) if is_typed else subject.stored.get("integrations", ())
    others = request.read_field("others") if is_typed else "\n".join(list_others(subject.tool_names, catalog["tools"]))
    return ConsolePage(
        template="tools.html",
        title="Tools",
        values={
            "subject": subject,
            "tasks": _list_choices("task", tasks["tasks"], subject),
            "agents": _list_choices("agent", agents["agents"], subject),
            "categories": _group(catalog),
            "integrations": catalog["integrations"],
            "policy": policy,
            "on": on,
            "services_on": services,
            "others": others,
            "connected": {item["service"] for item in credentials.get("credentials", ())},
            "clusters": [cluster for cluster in custom.get("clusters", ()) if cluster["tools"]],
            "errors": list_problems(refused),
        },
        status=200 if refused is None else refused.status,
    )


def _select(subject: ToolSubject, tools: Sequence[Mapping[str, Any]]) -> frozenset[str]:
    return select_on(subject.kind, subject.tool_names, tools) if subject.kind else frozenset()


def _list_choices(kind: str, items: Sequence[Mapping[str, Any]], subject: ToolSubject) -> list[tuple[str, str]]:
    """Return the choices of a task or an agent, the chosen one among them wherever it is in the list."""
    known = [item for item in items if not item.get("archived")]
    if subject.kind == kind and all(item[f"{kind}_id"] != subject.id for item in known):
        known.append(subject.stored)
    return [("", "–"), *((item[f"{kind}_id"], show_text(item["name"])) for item in known)]


def _group(catalog: Mapping[str, Any]) -> list[tuple[Mapping[str, Any], list[Mapping[str, Any]]]]:
    """Return the categories that have tools, each with them."""
    groups = [
        (category, [tool for tool in catalog["tools"] if tool["category"] == category["id"]])
        for category in catalog["categories"]
    ]
    return [(category, tools) for category, tools in groups if tools]


async def _read_catalog(request: ConsoleRequest) -> dict[str, Any]:
    """Return the catalog: `categories`, `tools` and `integrations`."""
    page = await request.api.get("/v1/integrations", limit=100)
    catalog: dict[str, Any] = {**page, "integrations": list(page["integrations"])}
    for _ in range(PAGES_MAX):
        if page["next"] is None:
            break
        page = await request.api.get("/v1/integrations", limit=100, cursor=page["next"])
        catalog["integrations"] += page["integrations"]
    return catalog


async def _read_policy(request: ConsoleRequest, subject: ToolSubject) -> dict[str, Any]:
    """Return the policy of each tool of the catalog, by its name; {} where no task and no agent was chosen."""
    if not subject.kind:
        return {}
    path = f"/v1/agents/{subject.stored['agent_id']}/policy"
    query = {"task": subject.id} if subject.kind == "task" else {}
    rows: dict[str, Any] = {}
    cursor = ""
    for _ in range(PAGES_MAX):
        page = await request.api.get(path, limit=100, catalog=True, cursor=cursor, **query)
        rows |= {row["tool"]: row for row in page["tools"]}
        cursor = page["next"]
        if cursor is None:
            break
    return rows


async def _read_of_task(request: ConsoleRequest, subject: ToolSubject, noun: str) -> dict[str, Any]:
    if subject.kind != "task":
        return {}
    answer: dict[str, Any] = await request.api.get(f"/v1/tasks/{subject.id}/{noun}", limit=100)
    return answer


ROUTES = (ConsoleRoute(path=PATH, show=show_tools, section="tools", actions={"change": change_tools}),)
