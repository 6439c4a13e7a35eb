"""Examples of answers for the description, one for each operation, built from the shapes that are really answered."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import BaseModel

from ferryman.catalog.agents import TEMPLATES
from ferryman.catalog.tools import CATEGORIES, LISTED
from ferryman.domain.credentials.credential import AuthType
from ferryman.domain.executions.execution import Status
from ferryman.domain.metering.latency import BOUNDS_MS
from ferryman.domain.owners.plan import PRO
from ferryman.domain.workspaces.member import Right
from ferryman.domain.workspaces.workspace import WorkspaceState
from ferryman.serving.api.approval_examples import build_approval_answers
from ferryman.serving.api.chat_examples import CHAT_SETTINGS, build_chat_answers
from ferryman.serving.api.file_examples import build_file_answers
from ferryman.serving.api.policy_examples import build_policy_example
from ferryman.serving.api.remote_examples import build_server_answers
from ferryman.serving.api.shapes import (
    account,
    agent,
    alert,
    budget,
    call,
    credential,
    custom,
    execution,
    imports,
    job,
    people,
    receipt,
    record,
    table,
    task,
    turn,
    usage,
    workspace,
)
from ferryman.serving.api.shapes.plan import PlanResponse
from ferryman.serving.api.shapes.shape import select
from ferryman.serving.api.sign_in_examples import build_sign_in_answers

AT = datetime(2026, 11, 22, 9, tzinfo=UTC)
LATER = AT + timedelta(seconds=4)
TASK, EXECUTION = "task_2b525468e13227c127f103c34f5e4e", "exec_67ec551ec9450d2efb780e96f8ac1a"
WORKSPACE, AGENT = "ws_5d41402abc4b2a76b9719d911017c5", "agent_3f8a7c1d09b2e4a6f5c8d7e6b1a203"
PERSON = "person_900150983cd24fb0d6963f7d28e17f"
CURSOR = "dGhlIGVuZCBvZiB0aGlzIHBhZ2U"
URL = "https://api.coingecko.com/api/v3/simple/price?ids=bitcoin&vs_currencies=eur"
DIGEST = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
SCHEMA = {"type": "object", "properties": {"coin": {"type": "string"}}, "required": ["coin"], "additionalProperties": False}
CALLED = {"called_tool": "http_get", "input": '{"url":"https://api.coingecko.com/api/v3/ping"}'}
PRICES = {"input": "3", "output": "15", "cache_write": "3.75", "cache_read": "0.3"}

_LISTED_TASK = {
    **{"id": TASK, "owner": "ann", "agent": AGENT, "name": "daily price", "description": "", "model": "scripted/hello"},
    **{"tools": ["http_get", "api_call"], "integrations": ["coingecko"], "webhook_urls": [], "webhook_match": "host"},
    **{"tool_loading": "all", "approvals": []},
    **{"max_iterations": 8, "max_credits": "100", "max_credits_month": None, "temperature": 0.3, "max_tokens": 4096},
    **{"enabled": True, "schedule": {"type": "cron", "cron": "0 9 * * MON-FRI", "at": None, "after_s": None}},
    **{"next_fire_at": AT + timedelta(days=1), "paused": None, "created_at": AT, "updated_at": AT},
}
_PROMPTS = {"system_prompt": "", "task_prompt": "Tell the price of bitcoin in euros on {{date}}."}

_QUEUED = {
    **{"execution_id": EXECUTION, "task_id": TASK, "workspace_id": WORKSPACE, "agent_id": AGENT},
    **{
        "person_id": PERSON,
        "conversation_id": None,
        "answer": None,
        "cancelled_by": None,
        "waiting_for": None,
        "waiting_since": None,
        "status": "queued",
        "labels": {"order": "42"},
        "created_at": AT,
    },
    **{"scheduled_for": None, "started_at": None, "completed_at": None, "iterations": 0, "credits_used": "0"},
    **{"credits_reserved": "0", "credits_held": "0", "tool_calls_total": 0, "cancel_requested": False, "slice": 0},
    "usage": dict.fromkeys(("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"), 0),
    "error": None,
}
_USAGE = {"input_tokens": 600, "output_tokens": 47, "cache_read_tokens": 0, "cache_write_tokens": 0}
_ENDED = {
    **_QUEUED,
    **{"status": "completed", "started_at": AT, "completed_at": LATER, "iterations": 2, "credits_used": "3.005"},
    **{"credits_reserved": "100", "tool_calls_total": 1, "usage": _USAGE},
}
_ROW = {
    **{"tool": "api_call", "url": URL, "method": "GET", "credential_used": "COINGECKO_API_KEY", "response_status": 200},
    **{"content": '<tool_response id="1f0c">{"bitcoin":{"eur":81234}}</tool_response>', "response_size_bytes": 25},
    **{"latency_ms": 131.5, "blocked": False, "block_reason": None, "ok": True, "code": None, "suggestion": None},
}
_BUDGET = {
    **{
        "kind": "workspace",
        "id": WORKSPACE,
        "name": "Kitchen",
        "limit": "1000",
        "credits_used": "36.06",
    },
    **{"credits_reserved": "100", "credits_left": "863.94", "percent_used": 3},
}
_USED: dict[str, Any] = {
    **{"turns": 0, "usage": dict.fromkeys(("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"), 0)},
    **{"definition_tokens": 420, "result_tokens": 9_310, "call_tokens": 240, "text_tokens": 0, "calls": 12},
    **{"failures": {"timed_out": 1}, "latencies": [0, 0, 1, 3, 6, 1, 0, 0, 0, 0, 1, 0, 0], "credits": "6"},
    **{"llm_tokens": "0", "api_call_fee": "6", "embedding": "0", "storage_unmetered": 0},
}
_REPORT: dict[str, Any] = {
    **{"since": "2026-11-22", "until": "2026-11-23", "by": "tool", "total": _USED},
    "rows": [
        {
            **{"by": "tool", "name": "api_call", "counts": _USED, "failed": 1, "p50_ms": 250, "p95_ms": 30_000},
            **{"calls_by_day": [4, 8], "tokens_by_day": [3_120, 6_850]},
        }
    ],
    "latency_bounds_ms": BOUNDS_MS,
}
_ALERT = {
    **{"id": "alert_9c1d02ab44e0f3b7a5d6c8e9f00112", "kind": "workspace", "subject": "ws_5d41402abc4b2a76b9719d911017c5"},
    **{"month": "2026-11", "percent": 80, "limit": "1000", "credits_used": "812.5", "credits_reserved": "100"},
    **{"is_refused": False, "execution": EXECUTION, "created_at": AT, "state": "delivered", "attempts": 1, "status": 204},
    **{"reason": "", "settled_at": LATER},
}
_LABEL = {"integrity": "trusted", "confidentiality": "owner", "sources": [], "more": False}
_SOURCE = {"tool": "api_call", "call": 0, "url": URL, "credential": "COINGECKO_API_KEY"}
_PART = {
    **{"kind": "json", "start": 25, "end": 50, "media_type": "application/json", "size_bytes": None},
    **{"sha256": None, "file": None, "label": {**_LABEL, "integrity": "untrusted", "sources": [_SOURCE]}},
}
_RESULT = {**_ROW, "parts": [_PART]}
_RECORD = {
    **_ENDED,
    "taken_over_by": None,
    "question": None,
    "input": "in Swiss francs, too",
    "output": "81,234 euros.",
    "tool_calls": [_ROW],
}
_CALL = {
    **{"seq": 0, "parent": None, "iteration": 1, "id": "toolu_01", "tool": "api_call", "state": "settled", "attempt": 1},
    **{"called_as": None, "in_doubt": False},
    **{"arguments": {"method": "GET", "url": URL, "credential": "COINGECKO_API_KEY"}, "created_at": AT, "sent_at": AT},
    **{"deadline": LATER, "settled_at": AT, "result": _RESULT, "label": _LABEL},
}
_OPENING = {
    **{"model": "scripted/hello", "system": "", "prompt": "Tell the price of bitcoin in euros.", "tools": []},
    **{"max_tokens": 4096, "temperature": 0.3, "max_iterations": 8, "max_credits": "100", "started_at": AT},
    **{"price": PRICES, "patience_s": 600.0},
}
_STEP = {
    **{"number": 1, "content": [{"type": "text", "text": "I ask for it."}], "stop_reason": "tool_use", "usage": _USAGE},
    **{"credits": "2.505", "first_call": 0, "calls": 1, "event": 2, "at": AT, "slice": 0, "prompt_digest": DIGEST},
}
_ENTRY = {
    **{"id": f"{EXECUTION}.turn-1", "at": AT},
    "postings": [{"account": "owner:ann", "credits": "-2.505"}, {"account": "llm_tokens", "credits": "2.505"}],
}
_RECEIPT = {
    **{"execution": EXECUTION, "number": 0, "at": "2026-11-22T09:00:00.000000Z", "previous": "0" * 64, "key": 1},
    **{"covers": {"opening": DIGEST}, "hash": DIGEST, "signature": "0" * 128, "kind": "opened"},
    **{"workspace": WORKSPACE, "agent": AGENT, "person": PERSON},
}
_CREDENTIAL = {
    **{"name": "COINGECKO_API_KEY", "service": "coingecko", "scopes": None, "token_expires_at": None},
    **{"auth_type": AuthType.HEADER, "auth_header_name": "x-cg-demo-api-key", "auth_param_name": None},
    **{"allowed_domains": ["api.coingecko.com"], "version": 1, "key_version": 1, "created_at": AT, "updated_at": AT},
}
_TOOL = {
    **{"id": "look_up", "name": "look_up", "description": "Look up a coin.", "summary": "", "parameters": SCHEMA},
    "configuration": {
        **{"baseUrl": "https://api.coingecko.com", "pathTemplate": "/api/v3/coins/{coin}", "method": "GET"},
        **{"pathParams": ["coin"], "queryParams": []},
    },
    **{"isEnabled": True, "reason": None, "cluster": "prices"},
}
_RULE = {
    **{"mode": "always", "tools": ["http_post"], "hosts": [], "methods": ["POST"]},
    "amount": {"argument": "body.amount", "above": "100"},
}
_AGENT = {
    **CHAT_SETTINGS,
    **{"id": AGENT, "workspace": WORKSPACE, "name": "Prices"},
    **{"description": "Reads prices, and sends nothing.", "system_prompt": "You report prices in euros.", "model": None},
    **{"allowed_tools": ["api_call", "http_get"], "template": None, "is_default": False, "archived": False},
    "tool_settings": {
        "http_get": {"calls_max": 5, "timeout_s": 10.0, "arguments": {"headers": {"Accept": "text/plain"}}, "flow": None}
    },
    **{"max_credits_month": "500", "conversation_credits_max": "50", "created_at": AT, "updated_at": AT},
    "approvals": [_RULE],
}
_WORKSPACE = {
    **{"id": WORKSPACE, "name": "Kitchen", "state": "active", "is_default": False},
    **{"allowed_tools": [], "max_credits_month": "500", "conversation_credits_max": None},
    **{"alert_url": None, "retention_days": None, "approvals": []},
    **{"created_at": AT, "updated_at": AT},
}
_JOBS = ("deleteWorkspace", "deleteAgent", "deleteConversation", "deleteMember", "getJob")
_COUNTS = {"agents": 1, "calls": 120, "credentials": 4, "executions": 40, "steps": 160, "tasks": 3, "workspaces": 1}
_JOB = {
    **{"id": "job_7d793037a0760186574b0282f2f435", "kind": "delete_workspace", "workspace": _WORKSPACE["id"]},
    **{"subject": _WORKSPACE["id"], "person": "", "status": "running", "stage": "executions"},
    **{"counts": {"calls": 120, "executions": 40}, "created_at": AT, "completed_at": None, "receipt": None},
}
_DELETION = {
    **{"job": _JOB["id"], "kind": _JOB["kind"], "workspace": _WORKSPACE["id"], "subject": _WORKSPACE["id"], "person": ""},
    **{"counts": _COUNTS, "requested_at": "2026-11-22T09:00:00.000000Z", "completed_at": "2026-11-22T09:00:04.000000Z"},
    **{"key": 1, "hash": DIGEST, "signature": "0" * 128},
}
_MEMBER = {
    **{"person_id": "person_8277e0910d750195b448797616e091", "name": "Bea", "role": "operator", "approves": False},
    **{"max_credits_month": "200", "created_at": AT},
}
_INVITATION = {
    **{"id": "inv_e1671797c52e15f763380b45e841ec", "name": "Bea", "role": "operator", "approves": False},
    **{"invited_by": "", "created_at": AT, "expires_at": AT},
}
_KEY = {
    **{"id": "key_8fa14cdd754f91cc6554c9e71929cc", "person": _MEMBER["person_id"], "name": "my laptop"},
    **{"scopes": ["read", "run"], "tools": None, "created_at": AT, "expires_at": None, "last_used_at": AT},
}
_SERVICE = {
    **{"id": "coingecko", "name": "CoinGecko", "description": "Prices of coins.", "category": "finance"},
    **{"allowed_domains": ["api.coingecko.com"], "default_auth_type": AuthType.HEADER, "oauth": None},
    **{"default_auth_header": "x-cg-demo-api-key", "default_auth_param": None, "headers": []},
    **{"credential_key_template": "COINGECKO_API_KEY", "docs_url": "https://docs.coingecko.com"},
}

EVENTS = 'id: 1\nevent: started\ndata: {"execution_id":"' + EXECUTION + '","task_id":"' + TASK + '"}\n\n'
"""The beginning of a stream of events."""

ARCHIVE = "(the bytes of the archive)"


_IMPORT: dict[str, Any] = {
    **{"workspace_id": _WORKSPACE["id"], "state": "importing", "source": "ws_5d41402abc4b2a76b9719d911017c5"},
    **{"digest": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "files": 4, "following": 3},
    "counts": {"workspace": 1, "agents": 1, "tasks": 1},
}
_AUDIT_ENTRY = {
    **{"id": "audit_f95b70fdc3088560732a5ac135644506", "person": _MEMBER["person_id"], "key": _KEY["id"]},
    **{"action": "createTask", "targets": [TASK], "done": True, "created_at": AT},
}


def build_answers() -> Mapping[str, BaseModel]:
    """Return an answer of each operation that answers JSON, by its operationId."""
    stored = task.TaskResponse.model_validate({**_LISTED_TASK, **_PROMPTS})
    ended = execution.ExecutionResponse.model_validate(_RECORD)
    queued = execution.ExecutionResponse.model_validate({**_RECORD, **_QUEUED, "input": None, "output": None, "tool_calls": []})
    executions = {"executions": [_ENDED], "next": CURSOR}
    sealed = credential.CredentialResponse.model_validate(_CREDENTIAL)
    tool = custom.CustomTool.model_validate(_TOOL)
    service = table.IntegrationResponse.model_validate(_SERVICE)
    names = select(tool, "name", "description")
    deleted = custom.Envelope[custom.Deleted](data=custom.Deleted(deleted="look_up"))
    keys = {"1": "3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29"}
    plan = PlanResponse.model_validate(PRO)
    policy = {
        **{"owner": "ann", "task": TASK, "plan": plan, "webhook": False, "former": False, "caps": []},
        **select(stored, "tools", "integrations", "webhook_urls", "webhook_match"),
        **{"domains": ["api.coingecko.com"], "credentials": ["COINGECKO_API_KEY"], "declared": {}, "headers": []},
        **{"limits": {"agent": [], "workspace": [], "plan": []}, "settings": {}},
    }
    started = {"execution_id": EXECUTION, "task_id": TASK, "workspace_id": WORKSPACE}
    event = {"number": 1, "kind": "started", "at": AT, "body": started}
    stored_agent = agent.AgentResponse.model_validate(_AGENT)
    stored_workspace = workspace.WorkspaceResponse.model_validate(_WORKSPACE)
    spent = {
        "executions": 12,
        "llm_tokens": "30.06",
        "api_call_fees": "6",
        "embedding": "0",
        "storage_bytes": 2048,
        "credits": "36.06",
    }
    return {
        **dict.fromkeys(("createTask", "getTask", "changeTask"), stored),
        "listTasks": task.TaskList.model_validate({"tasks": [_LISTED_TASK], "next": CURSOR}),
        **dict.fromkeys(("putCredential", "finishConnection"), sealed),
        "listCredentials": credential.CredentialList(credentials=(sealed,), next=None),
        "beginConnection": credential.ConnectionResponse(
            authorize_url="https://www.dropbox.com/oauth2/authorize?client_id=an-app-key&response_type=code",
            redirect_uri="http://127.0.0.1:8400/callback",
            state="r1c0v2ZpQq3mYb5tXn8sKw7uHa4dLe6fGi9jOo0PzTk",
            expires_at=AT + timedelta(minutes=10),
        ),
        **build_server_answers(AGENT, AT),
        "startExecution": queued,
        "startCall": queued.model_copy(update=CALLED),
        "getExecution": ended,
        "cancelExecution": queued.model_copy(update={"status": Status.KILLED, "completed_at": LATER, "cancel_requested": True}),
        **dict.fromkeys(("listTaskExecutions", "listExecutions"), execution.ExecutionList.model_validate(executions)),
        "getCall": call.ListedCall.model_validate({**_CALL, "credits": "1"}),
        "listCalls": call.CallList.model_validate({"calls": [{**_CALL, "credits": "1"}], "next": None}),
        "listTurns": turn.TurnList.model_validate({"turns": [{**_STEP, "receipt": 1}], "next": None}),
        "listReceipts": receipt.ReceiptChain.model_validate(
            {"format": receipt.FORMAT, "execution": EXECUTION, "entries": [_RECEIPT], "keys": keys, "next": CURSOR}
        ),
        "listReceiptKeys": receipt.ReceiptKeysResponse(keys=keys),
        "listDecisionKeys": receipt.ReceiptKeysResponse(keys=keys),
        "getRecord": record.RecordResponse.model_validate(
            {
                **{"format": record.FORMAT, "execution": ended, "opening": _OPENING, "policy": policy, "steps": [_STEP]},
                **{"calls": [_CALL], "events": [event], "ledger": [_ENTRY]},
            }
        ),
        "declareTool": custom.Envelope[custom.CustomTool](data=tool),
        "listCustomTools": custom.CustomToolList(
            data=(tool,), clusters=(custom.ClusterResponse(name="prices", tools=1, disabled=0),), next=None
        ),
        "importOpenapi": custom.ImportResponse(
            data=(tool,), cluster="prices", imported=1, disabled=0, tokens=60, notes=(), dry_run=True
        ),
        **dict.fromkeys(("deleteTool", "deleteCluster"), deleted),
        "listChatTools": custom.ChatTools(tools=(custom.ChatTool(**names, parameters=SCHEMA),), next=None),
        "listIntegrations": table.IntegrationList(
            integrations=(service,),
            categories=(table.to_category(CATEGORIES["integration"]),),
            tools=(table.to_tool(LISTED["calculator"]),),
            next=CURSOR,
        ),
        "getIntegration": service,
        "listTools": table.ToolList(tools=(table.to_tool(LISTED["http_get"]),), next=None),
        "listAgentTemplates": table.AgentTemplateList(templates=(table.to_template(TEMPLATES["wally"]),), next=None),
        **dict.fromkeys(("createAgent", "getAgent", "changeAgent", "restoreAgent"), stored_agent),
        "archiveAgent": stored_agent.model_copy(update={"archived": True}),
        "listAgents": agent.AgentList(agents=(stored_agent,), next=None),
        "getAgentPolicy": agent.AgentPolicy.model_validate(build_policy_example(AGENT)),
        **build_chat_answers(),
        **build_approval_answers(),
        "listPlans": table.PlanList(plans=(plan,), next=None),
        "listModels": table.ModelList.model_validate(
            {
                "models": [{"name": "scripted", "input_usd_per_million": "3", "output_usd_per_million": "15"}],
                "next": None,
            }
        ),
        **dict.fromkeys(("createWorkspace", "getWorkspace", "changeWorkspace", "restoreWorkspace"), stored_workspace),
        "archiveWorkspace": stored_workspace.model_copy(update={"state": WorkspaceState.ARCHIVED}),
        **dict.fromkeys(_JOBS, job.JobResponse.model_validate(_JOB)),
        "listJobs": job.JobList.model_validate({"jobs": [_JOB], "next": None}),
        "getDeletionReceipt": job.DeletionDocument.model_validate({"receipt": _DELETION, "keys": keys}),
        **dict.fromkeys(("beginImport", "getImport", "putImportFile"), imports.ArchiveImportResponse.model_validate(_IMPORT)),
        "listWorkspaces": workspace.WorkspaceList(workspaces=(stored_workspace,), next=None),
        **dict.fromkeys(("getMember", "changeMember"), people.MemberResponse.model_validate(_MEMBER)),
        "listMembers": people.MemberList.model_validate({"members": [_MEMBER], "next": None}),
        "createInvitation": people.NewInvitationResponse.model_validate({**_INVITATION, "token": "fi_" + "x" * 43}),
        "listInvitations": people.InvitationList.model_validate({"invitations": [_INVITATION], "next": None}),
        "joinWorkspace": people.JoinedResponse.model_validate(
            {
                **{name: _MEMBER[name] for name in ("person_id", "role", "approves")},
                **{"workspace_id": _WORKSPACE["id"], "key_id": _KEY["id"], "key": "fm_" + "x" * 43},
            }
        ),
        "createKey": people.NewKeyResponse.model_validate({**_KEY, "last_used_at": None, "key": "fm_" + "x" * 43}),
        "listKeys": people.KeyList.model_validate({"keys": [_KEY], "next": None}),
        **build_sign_in_answers(),
        **build_file_answers(),
        "listAuditEntries": people.AuditEntryList.model_validate({"entries": [_AUDIT_ENTRY], "next": CURSOR}),
        "haltExecutions": account.Halt(halted="ann's kill switch is on"),
        "resumeExecutions": account.Halt(halted=None),
        "getMe": account.Me.model_validate(
            {
                **{"owner": "ann", "plan": "pro", "month": "2026-11", "halted": None, "limits": plan},
                **{"workspace_id": _WORKSPACE["id"], "person_id": "", "name": "", "role": None, "rights": [*Right]},
                **{"key_id": "", "key_expires_at": None},
                **{"credits_used": "36.06", "credits_reserved": "100", "credits_left": "4863.94"},
            }
        ),
        "getLedger": account.Statement.model_validate(
            {
                **{"month": "2026-11", "by": "task", "lines": [{"id": TASK, **spent}], "credits": "36.06", "entries": 36},
                "sum_of_postings": "0",
            }
        ),
        "listAlerts": alert.AlertList.model_validate({"alerts": [_ALERT], "next": None}),
        "getBudget": budget.BudgetList.model_validate({"month": "2026-11", "budgets": [_BUDGET]}),
        "getUsage": usage.UsageReport.model_validate(_REPORT),
        "getHealth": table.Health(),
        "getWelcome": table.Welcome(name="Ferryman", version="1", about="Agent tasks whose keys never leak."),
    }


def add_examples(operation: dict[str, Any], name: str, answers: Mapping[str, BaseModel]) -> None:
    """Add the example of its answer to the description of an operation."""
    for status, answer in operation["responses"].items():
        content = answer.get("content", {})
        if status < "300" and "application/json" in content:
            content["application/json"]["example"] = answers[name].model_dump(mode="json")
        if status < "300" and "text/event-stream" in content:
            content["text/event-stream"]["example"] = EVENTS
        if status < "300" and "application/gzip" in content:
            content["application/gzip"]["example"] = ARCHIVE
