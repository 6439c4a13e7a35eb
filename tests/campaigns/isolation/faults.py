"""Faults: mistakes in the library, injected one at a time; the campaign must find each, by an attempt of its own kind."""

from __future__ import annotations
import __future__

import inspect
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from importlib import import_module
from types import CodeType

from tests.campaigns.isolation.campaign import run, run_functions
from tests.campaigns.isolation.relations import RELATIONS


@dataclass(frozen=True, slots=True, kw_only=True)
class InjectedFault:
    """In the function `where` (module:name), `sound` becomes `faulty`; an attempt of this `kind` and relation must find it.

    `by_tools`: one that a model makes, not one at a route.
    """

    title: str
    where: str
    sound: str
    faulty: str
    relation: str
    kind: str
    by_tools: bool = False


OWNER, WORKSPACE, PERSON, COLLEAGUE = (relation.name for relation in RELATIONS)
API, DOMAIN, MEMORY = "ferryman.serving.api", "ferryman.domain", "ferryman.inmemory"

# fmt: off
_FAULTS = (
    # what is found by its id
    ("tasks and executions of all workspaces are seen", f"{API}.rights:Caller.sees", "== (self.owner.id, self.workspace)", "== (self.owner.id, item.workspace)", WORKSPACE, "an id in the path"),
    ("tasks and executions of all owners are seen", f"{API}.rights:Caller.sees", "== (self.owner.id, self.workspace)", "== (item.owner, item.workspace)", OWNER, "an id in the path"),
    ("the header names a workspace of any owner", f"{DOMAIN}.workspaces.access:KeyAccess.finds_workspace", "self.workspace.owner == key.owner", "True", OWNER, "an id in the header"),
    ("a person's key shows any workspace", f"{API}.workspaces:find_workspace", "caller.key.is_own or workspace_id == caller.workspace", "True", PERSON, "an id in the path"),
    ("conversations of all workspaces are found", f"{MEMORY}.conversations:MemoryConversations.get", "(stored.owner, stored.workspace) != (owner, workspace)", "stored.owner != owner", WORKSPACE, "an id in the path"),
    ("conversations of all owners are found", f"{MEMORY}.conversations:MemoryConversations.get", "(stored.owner, stored.workspace) != (owner, workspace)", "False", OWNER, "an id in the path"),
    ("approvals of all workspaces are found", f"{API}.approvals:_find", "caller.sees(approval)", "approval.owner == caller.owner.id", WORKSPACE, "an id in the path"),
    ("approvals of all owners are found", f"{API}.approvals:_find", "caller.sees(approval)", "True", OWNER, "an id in the path"),
    ("standing approvals of all workspaces are revoked", f"{MEMORY}.approvals:MemoryApprovals.revoke_standing", "known.workspace != workspace", "False", WORKSPACE, "an id in the path"),
    ("standing approvals are for anybody's tasks", f"{API}.standing_approvals:_check_task", "not caller.sees(task)", "False", OWNER, "an id in the body"),
    ("agents of all workspaces are found", f"{MEMORY}.agents:MemoryAgents.get", "(stored.owner, stored.workspace) == (owner, workspace)", "stored.owner == owner", WORKSPACE, "an id in the path"),
    ("MCP servers of all owners are found", f"{API}.remote_servers:find_server", "stored.place != (agent.owner, agent.workspace, agent.id)", "False", OWNER, "an id in the path"),
    ("MCP servers of all workspaces are found", f"{API}.remote_servers:find_server", "stored.place != (agent.owner, agent.workspace, agent.id)", "stored.owner != agent.owner", WORKSPACE, "an id in the path"),
    ("tasks use MCP servers of all owners", f"{API}.remote_entries:_find_name", "server.place != (caller.owner.id, caller.workspace, agent)", "False", OWNER, "an id in a tool of a task"),
    ("tasks use MCP servers of all workspaces", f"{API}.remote_entries:_find_name", "server.place != (caller.owner.id, caller.workspace, agent)", "server.owner != caller.owner.id", WORKSPACE, "an id in a tool of a task"),
    ("API keys of all workspaces are revoked", f"{MEMORY}.api_keys:MemoryApiKeys.revoke", "== (key, owner, workspace)", "== (key, owner, known.workspace)", PERSON, "an id in the path"),
    ("sessions of all workspaces are ended", f"{MEMORY}.console_sessions:MemoryConsoleSessions.revoke", "!= (owner, workspace)", "!= (owner, known.key_workspace)", PERSON, "an id in the path"),
    ("invitations of all workspaces are withdrawn", f"{MEMORY}.invitations:MemoryInvitations.withdraw", "== (invitation, owner, workspace)", "== (invitation, owner, known.workspace)", PERSON, "an id in the path"),
    ("jobs of all workspaces are shown to members", f"{API}.jobs:_job", "stored.workspace != caller.workspace", "False", PERSON, "an id in the path"),
    ("jobs of all owners answer who repeats a deletion", f"{MEMORY}.jobs:MemoryJobs.find", "(owner, workspace, subject)", "(next((job.owner for job in self._memory.jobs.values() if job.subject == subject), owner), workspace, subject)", OWNER, "an id of what was deleted"),
    ("jobs of all workspaces answer who repeats a deletion", f"{MEMORY}.jobs:MemoryJobs.find", "(owner, workspace, subject)", "(owner, next((job.workspace for job in self._memory.jobs.values() if job.subject == subject), workspace), subject)", WORKSPACE, "an id of what was deleted"),
    ("tasks of MCP clients are anybody's", f"{API}.mcp.tasks:select_tasks", "and caller.caller.sees(execution)", "", OWNER, "an id in a request of an MCP client"),
    ("MCP clients run anybody's tasks", f"{API}.mcp.starting:start_task", "not caller.sees(task)", "False", OWNER, "an id in a request of an MCP client"),
    ("MCP clients read anybody's prompts", f"{API}.mcp.prompts:find_prompt", "and caller.sees(task)", "", WORKSPACE, "an id in a request of an MCP client"),
    # what is listed, counted or told
    ("tasks of all workspaces are listed", f"{MEMORY}.tasks:MemoryTasks.list", "if task.workspace == workspace", "if True", WORKSPACE, "a list, a counter or a limit"),
    ("executions of all workspaces are listed", f"{MEMORY}.executions:MemoryExecutions.list", "if execution.workspace == workspace", "if True", WORKSPACE, "a list, a counter or a limit"),
    ("approvals of all workspaces are listed", f"{MEMORY}.approvals:MemoryApprovals.list", "item.workspace == workspace", "True", WORKSPACE, "a list, a counter or a limit"),
    ("standing approvals of all workspaces are listed", f"{MEMORY}.approvals:MemoryApprovals.list_standing", "if item.workspace == workspace", "if True", WORKSPACE, "a list, a counter or a limit"),
    ("agents of all workspaces are listed", f"{MEMORY}.agents:MemoryAgents.list", "== (owner, workspace)", "== (owner, agent.workspace)", WORKSPACE, "a list, a counter or a limit"),
    ("members of all workspaces are listed", f"{MEMORY}.members:MemoryMembers._in", "== (owner, workspace)", "== (owner, membership.workspace)", WORKSPACE, "a list, a counter or a limit"),
    ("API keys of all workspaces are listed", f"{MEMORY}.api_keys:MemoryApiKeys.list", "== (owner, workspace)", "== (owner, key.workspace)", PERSON, "a list, a counter or a limit"),
    ("sessions of all workspaces are listed", f"{MEMORY}.console_sessions:MemoryConsoleSessions.list", "== (owner, workspace)", "== (owner, session.key_workspace)", PERSON, "a list, a counter or a limit"),
    ("invitations of all workspaces are listed", f"{MEMORY}.invitations:MemoryInvitations.list", "== (owner, workspace)", "== (owner, known.workspace)", WORKSPACE, "a list, a counter or a limit"),
    ("alerts of all workspaces are listed", f"{MEMORY}.alerts:MemoryAlerts.list", "== (owner, workspace)", "== (owner, item.workspace)", WORKSPACE, "a list, a counter or a limit"),
    ("usage of all workspaces is told", f"{MEMORY}.usage:MemoryUsage.list_weeks", "self._memory.usage[name] for name in names if name in self._memory.usage", "week for week in self._memory.usage.values() if week.part is part or not names", WORKSPACE, "a list, a counter or a limit"),
    ("the history of all workspaces is listed", f"{MEMORY}.audit:MemoryAuditEntries.list", "== (owner, workspace)", "== (owner, entry.workspace)", WORKSPACE, "a list, a counter or a limit"),
    ("chats of all workspaces are listed", f"{MEMORY}.conversations:MemoryConversations.list", "(stored.owner, stored.workspace) == (owner, workspace)", "stored.owner == owner", WORKSPACE, "a list, a counter or a limit"),
    ("conversations of all workspaces are listed", f"{MEMORY}.owners:MemoryLedger.list_conversations", "if known.workspace == workspace", "if True", PERSON, "a list, a counter or a limit"),
    ("members see the budgets of all workspaces", f"{API}.budgets:_list_budgeted", "caller.key.is_own or workspace.id == here", "True", PERSON, "a list, a counter or a limit"),
    ("members see the workspaces of all", f"{API}.workspaces:list_workspaces", "(caller.key.is_own or workspace.id == caller.workspace)", "True", PERSON, "a list, a counter or a limit"),
    ("files of archives are those of all workspaces", f"{DOMAIN}.files.keys:build_prefix", "return f\"workspaces/{workspace}/\"", "return \"workspaces/all/\"", OWNER, "a file of an archive"),
    # what a request carries
    ("a cursor is of no workspace", f"{API}.paging:_read", "{caller.workspace} {request", "{request", WORKSPACE, "a cursor of a list"),
    ("a cursor is of no API key", f"{API}.paging:_authenticate", "key.encode()", "b'-'", COLLEAGUE, "a cursor of a list"),
    ("idempotency keys are of no owner", f"{DOMAIN}.owners.idempotency:derive_id", "{owner}\\0{key}", "{key}", OWNER, "an idempotency key"),
    ("idempotency keys are of no workspace", f"{DOMAIN}.owners.idempotency:derive_id", "\\0{workspace}\\0{person}", "\\0{person}", WORKSPACE, "an idempotency key"),
    ("idempotency keys are of no person", f"{DOMAIN}.owners.idempotency:derive_id", "\\0{workspace}\\0{person}", "\\0{workspace}", COLLEAGUE, "an idempotency key"),
)
_TOOL_FAULTS = (
    ("the statement is of all workspaces", f"{API}.account:get_ledger", "if caller.sees(entry)", "if True", WORKSPACE, "a list, a counter or a limit, after the other has used tools and credits"),
    ("files are those of all workspaces", f"{DOMAIN}.files.keys:build_prefix", "return f\"workspaces/{workspace}/\"", "return \"workspaces/all/\"", OWNER, "a file"),
    ("declared tools are those of all tasks", f"{MEMORY}.clusters:MemoryClusters.tools", "self._memory.clusters.get(task, {})", "{name: one for many in self._memory.clusters.values() for name, one in many.items()}", OWNER, "a search for tools"),
    ("a scanner is anybody's", "ferryman.egress.scanner_cache:ScannerCache.find", "self._entries.pop(task, None)\n    if entry is None or not entry.is_for(values)", "next(iter(self._entries.values()), None)\n    if entry is None", OWNER, "a text that another's scanner would redact"),
    ("conversations are of no agent", f"{DOMAIN}.credits.conversation:name_conversation_balance", "{execution.agent}.{execution.conversation}", "{execution.conversation}", OWNER, "a conversation of the same id"),
    ("conversations are of no agent, and of a workspace", f"{DOMAIN}.credits.conversation:name_conversation_balance", "{execution.agent}.{execution.conversation}", "{execution.workspace}.{execution.conversation}", COLLEAGUE, "a conversation of the same id"),
    ("the balance of any conversation is read", f"{MEMORY}.executions:MemoryExecutions._read_balance", "self._memory.conversation_balances.get(name_conversation_balance(execution))", "next((known for known in self._memory.conversation_balances.values() if known.conversation == execution.conversation), None)", OWNER, "a conversation of the same id"),
    ("opened credentials are anybody's", "ferryman.tools.execute_call:open_all", "deps.opened.get(task)", "deps.opened.get(next((known for known, (_, one) in deps.opened._entries.items() if one.versions == versions), task))", OWNER, "a credential of the same name"),
)
# fmt: on

FAULTS = tuple(
    InjectedFault(
        title=title, where=where, sound=sound, faulty=faulty, relation=relation, kind=kind, by_tools=faults is _TOOL_FAULTS
    )
    for faults in (_FAULTS, _TOOL_FAULTS)
    for title, where, sound, faulty, relation, kind in faults
)


async def find_fault(fault: InjectedFault) -> list[str]:
    """Return the attempts that found the fault, the first at a route; it is in the library as long as this takes."""
    relation = next(relation for relation in RELATIONS if relation.name == fault.relation)
    with inject(fault):
        if fault.by_tools:
            results = await run_functions(relation, only=fault.kind)
        else:
            results = await run(relation, only=fault.kind, guesses=0, until_found=True)
    return [finding for finding in results.findings if f": {fault.kind}: " in finding]


@contextmanager
def inject(fault: InjectedFault) -> Iterator[None]:
    """Put the faulty code in the place of the function's, wherever the function is known by now."""
    module, _, name = fault.where.partition(":")
    function = reduce(getattr, name.split("."), import_module(module))
    source = textwrap.dedent(inspect.getsource(function))
    assert fault.sound in source, f"{fault.where} has changed: {fault.sound} is not in it"
    sound = function.__code__
    function.__code__ = _compile(source.replace(fault.sound, fault.faulty), sound)
    try:
        yield
    finally:
        function.__code__ = sound


def _compile(source: str, sound: CodeType) -> CodeType:
    flags = __future__.annotations.compiler_flag
    module = compile(source, sound.co_filename, "exec", flags=flags, dont_inherit=True)
    return next(code for code in module.co_consts if isinstance(code, CodeType) and code.co_name == sound.co_name)
