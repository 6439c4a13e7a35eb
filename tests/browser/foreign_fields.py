"""Every field of the API's description that can hold a text of others, who writes it, and on which pages it is shown.

`place` is the name under which `filled_site` plants a text there; "" where nobody can write an arbitrary text, for the reason
in `writer`. The test that reads this table fails for a field that is in neither list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tests.browser.filled_site import AGENT, APPROVAL, CONVERSATION, EXECUTION, SERVER, TASK

OUR_NAMES = re.compile(
    r"(\w*_id|id|next|\w*digest|etag|hash|previous|signature|month|at|since|until|\w+_at|\w*credits\w*|fee|\w+_fees?|llm_tokens"
    r"|embedding|sha256|cron|status|state|sum_of_postings|limit|by|\w+_by|invited_by|waiting_for|job|owner|account|version|plan"
    r"|kind|outcome|function|icon_url|covers|execution|keys?|token|declassified|approval|approved_for|methods?|media_type|format"
    r"|\w+_usd_per_million|deleted|stage|halted|paused|events?|conversationId|conversation|person|workspace|agent|revision)"
)
"""Names of properties that hold what the API itself made: ids, digests, moments, amounts, states, and names of a fixed set."""

OUR_SCHEMAS = re.compile(
    r"(AgentTemplate|ToolCategory|ToolPolicy|ToolLimits|Integration|Plan|Model|ServiceHeaders|FlowSignature|PolicyRow)Response"
    r"|Welcome|RuleToDecide|AnswerMetadata|ReceiptChain"
)
"""Schemas that say what the operator, the catalogue or the code has written."""


@dataclass(frozen=True, kw_only=True)
class ForeignField:
    """Fields that one text is planted into by the name `place`, and the pages that show it."""

    fields: str
    writer: str
    place: str = ""
    pages: str = ""


_TASK, _RUN, _CHAT = f"/console/tasks/{TASK}", f"/console/executions/{EXECUTION}", f"/console/conversations/{CONVERSATION}"
_CALL, _AUDIT, _ASK, _AGENT = f"{_RUN}/calls/0", f"{_RUN}/audit", f"/console/approvals/{APPROVAL}", f"/console/agents/{AGENT}"

TABLE = (
    ForeignField(fields="TaskResponse.name ListedTask.name", writer="member", place="task", pages=f"/console/tasks {_TASK}"),
    ForeignField(fields="CredentialToEnter.task", writer="member", place="task"),
    ForeignField(fields="TaskResponse.task_prompt OpeningResponse.prompt", writer="member", place="prompt", pages=_TASK),
    ForeignField(fields="TaskResponse.description ListedTask.description", writer="member", place="description", pages=_TASK),
    ForeignField(fields="TaskResponse.system_prompt OpeningResponse.system", writer="member", place="task-system", pages=_TASK),
    ForeignField(fields="ExecutionResponse.input RecordedExecution.input", writer="member", place="input", pages=_RUN),
    ForeignField(
        fields="ExecutionResponse.labels{} RecordedExecution.labels{} ListedExecution.labels{}",
        writer="member",
        place="label",
        pages=_RUN,
    ),
    ForeignField(fields="ExecutionResponse.output RecordedExecution.output", writer="model", place="output", pages=_RUN),
    ForeignField(
        fields="ExecutionResponse.error RecordedExecution.error ListedExecution.error AlertResponse.reason",
        writer="upstream",
        place="error",
    ),
    ForeignField(fields="StepResponse.content[] TurnResponse.content[]", writer="model", place="say"),
    ForeignField(fields="StepResponse.stop_reason TurnResponse.stop_reason", writer="a fixed set"),
    ForeignField(
        fields="CallResponse.arguments ListedCall.arguments Result.url ResultRow.url SourceResponse.url",
        writer="model",
        place="argument",
        pages=_CALL,
    ),
    ForeignField(
        fields="CallResponse.tool CallResponse.called_as ListedCall.tool ListedCall.called_as"
        " Result.tool ResultRow.tool SourceResponse.tool"
        " ExecutionResponse.called_tool"
        " RecordedExecution.called_tool ListedExecution.called_tool ApprovalResponse.tool ListedApproval.tool PlannedEntry.tool"
        " SettledEntry.tool StandingApprovalResponse.tool",
        writer="a name of letters, digits and _",
    ),
    ForeignField(fields="Result.content ResultRow.content", writer="upstream", place="result", pages=_CALL),
    ForeignField(
        fields="Result.block_reason ResultRow.block_reason Result.code ResultRow.code Result.suggestion ResultRow.suggestion"
        " CallFlowResponse.reason CallFlowResponse.lines[] SourceResponse.credential Result.credential_used"
        " ResultRow.credential_used",
        writer="our words around names that are checked; the sentence of a refusal is the result's content",
        place="refusal",
    ),
    ForeignField(
        fields="ConversationResponse.title", writer="member, model", place="title", pages=f"{_CHAT} /console/conversations"
    ),
    ForeignField(fields="MessageResponse.content", writer="member", place="question", pages=_CHAT),
    ForeignField(
        fields="MessageResponse.messages[] MessageResponse.toolCalls[] MessageResponse.toolResults[] OpeningResponse.history[]",
        writer="model",
        place="answer",
        pages=_CHAT,
    ),
    ForeignField(fields="ChatResponse.events", writer="model", place="answer"),
    ForeignField(fields="AgentResponse.name", writer="member", place="agent", pages=_AGENT),
    ForeignField(fields="AgentResponse.description", writer="member", place="agent-description", pages=_AGENT),
    ForeignField(fields="AgentResponse.system_prompt", writer="member", place="system", pages=_AGENT),
    ForeignField(
        fields="AgentResponse.allowed_tools[] AgentResponse.enabled_tools[] AgentResponse.template AgentResponse.model"
        " OpeningResponse.model TaskResponse.model ListedTask.model TaskResponse.tools[] ListedTask.tools[] KeyResponse.tools[]"
        " NewKeyResponse.tools[] WorkspaceResponse.allowed_tools[] ApprovalRuleResponse.tools[] TaskResponse.integrations[]"
        " ListedTask.integrations[] PolicyResponse.tools[] PolicyResponse.integrations[] PolicyResponse.task"
        " PolicyResponse.credentials[] OpeningResponse.price{} DeletionDocument.keys{} ReceiptKeysResponse.keys{}",
        writer="names that must be known when they are written",
    ),
    ForeignField(
        fields="ApprovalResponse.host ListedApproval.host ApprovalRuleResponse.hosts[]"
        " PolicyResponse.domains[] CredentialResponse.allowed_domains[]"
        " CredentialToEnter.hosts[] StandingApprovalResponse.hosts[]",
        writer="host names, which are checked",
    ),
    ForeignField(
        fields="ApprovalResponse.form EarlierForm.form FieldDifferenceResponse.after FieldDifferenceResponse.before"
        " FieldDifferenceResponse.field",
        writer="model",
        place="body",
        pages=_ASK,
    ),
    ForeignField(fields="StandingApprovalResponse.arguments DecisionResponse.arguments", writer="member", place="argument"),
    ForeignField(fields="DecisionResponse.reason", writer="member", place="decision", pages="/console/approvals/appr_denied"),
    ForeignField(fields="AmountLimitResponse.argument AmountLimitResponse.above", writer="a name, and a number"),
    ForeignField(
        fields="RemoteServerResponse.name RemoteServerResponse.title",
        writer="upstream",
        place="server",
        pages=f"{_AGENT}/servers/{SERVER}",
    ),
    ForeignField(
        fields="RemoteServerResponse.instructions", writer="upstream", place="instructions", pages=f"{_AGENT}/servers/{SERVER}"
    ),
    ForeignField(fields="RemoteServerResponse.detail RemoteServerResponse.issuer", writer="upstream", place="error"),
    ForeignField(
        fields="RemoteServerResponse.url RemoteServerResponse.headers{}", writer="a URL and names of headers, checked"
    ),
    ForeignField(
        fields="RemoteToolResponse.description RemoteToolResponse.model_description RemoteToolResponse.title"
        " RemoteToolResponse.input_schema RemoteToolResponse.annotations RemoteToolResponse.name RemoteToolConfig.tool_name"
        " PolicyResponse.remote{}",
        writer="upstream",
        place="descriptor",
        pages=f"{_AGENT}/servers/{SERVER}",
    ),
    ForeignField(fields="RemoteToolResponse.reason", writer="upstream", place="refusal"),
    ForeignField(
        fields="ConnectedServer.issuer ConnectedServer.name ConnectedServer.resource ConnectedServer.scopes[]"
        " ServerConnectionResponse.authorize_url ServerConnectionResponse.issuer ServerConnectionResponse.redirect_uri"
        " ServerConnectionResponse.resource ServerConnectionResponse.scopes[] ConnectionResponse.authorize_url"
        " ConnectionResponse.redirect_uri ConsentResponse.authorize_url ConsentResponse.issuer ConsentResponse.redirect_uris[]"
        " ConsentResponse.scopes[] ConsentResponse.token_url CredentialResponse.scopes[]",
        writer="upstream: URLs and scopes, which are checked before they are kept",
    ),
    ForeignField(
        fields="CustomTool.description ToolResponse.description ChatTool.description ClusterResponse.name",
        writer="document",
        place="descriptor",
    ),
    ForeignField(fields="CustomTool.summary ToolResponse.display_name", writer="document", place="tool-summary"),
    ForeignField(
        fields="CustomTool.parameters CustomTool.reason ToolResponse.input_schema ToolResponse.reason ToolResponse.category"
        " ChatTool.parameters"
        " ImportResponse.notes[] Configuration.baseUrl Configuration.pathTemplate Configuration.pathParams[]"
        " Configuration.queryParams[] PolicyResponse.declared{} OpeningResponse.tools[] ToolSettingsResponse.arguments",
        writer="document",
        place="descriptor",
    ),
    ForeignField(
        fields="CustomTool.cluster CustomTool.name ImportResponse.cluster ToolResponse.name ChatTool.name",
        writer="names of letters, digits and _",
    ),
    ForeignField(
        fields="FileResponse.key StoredFileResponse.key AttachmentResponse.key PartResponse.file FileLinkResponse.path"
        " DirectLinkResponse.url",
        writer="model, member",
        place="file",
        pages="/console/files",
    ),
    ForeignField(
        fields="AuditEntryResponse.targets[] AuditEntryResponse.action",
        writer="member",
        place="target",
        pages="/console/people",
    ),
    ForeignField(
        fields="MemberResponse.name Me.name UsageRowResponse.name BudgetResponse.name",
        writer="member",
        place="person",
        pages="/console/people",
    ),
    ForeignField(
        fields="InvitationResponse.name NewInvitationResponse.name",
        writer="member",
        place="invitation",
        pages="/console/people",
    ),
    ForeignField(fields="KeyResponse.name NewKeyResponse.name", writer="member", place="key-name", pages="/console/people"),
    ForeignField(fields="IdentityResponse.issuer IdentityResponse.subject", writer="upstream", place="identity"),
    ForeignField(fields="SessionResponse.browser", writer="member", place="browser", pages="/console/sessions"),
    ForeignField(
        fields="JobResponse.subject DeletionReceiptResponse.subject ArchiveImportResponse.source"
        " ExecutionResponse.imported_from RecordedExecution.imported_from ListedExecution.imported_from",
        writer="member",
        place="target",
    ),
    ForeignField(fields="WorkspaceResponse.name", writer="member", place="workspace", pages="/console/workspaces"),
    ForeignField(
        fields="WorkspaceResponse.alert_url WorkspaceResponse.alert_secret NewSignInLink.url TaskResponse.webhook_urls[]"
        " ListedTask.webhook_urls[] PolicyResponse.webhook_urls[] TaskResponse.webhook_match ListedTask.webhook_match"
        " PolicyResponse.webhook_match",
        writer="URLs, which are checked",
    ),
    ForeignField(
        fields="CredentialResponse.name CredentialResponse.service CredentialResponse.auth_header_name"
        " CredentialResponse.auth_param_name CredentialToEnter.name CredentialToEnter.service CredentialToEnter.auth_type",
        writer="names, which are checked",
    ),
    ForeignField(fields="EventResponse.body", writer="model", place="say"),
)


def list_text_fields(description: Mapping[str, Any]) -> Iterator[str]:
    """Yield `Schema.property` for every text of an answer, and every object of any shape; "[]" and "{}" are its items."""
    for path in description["paths"].values():
        for operation in path.values():
            for code, answer in operation.get("responses", {}).items():
                for body in answer.get("content", {}).values() if code.startswith("2") else ():
                    yield from _walk(description["components"]["schemas"], body.get("schema", {}), "", frozenset())


def find_unlisted(description: Mapping[str, Any]) -> set[str]:
    """Return the fields that are neither ours nor in `TABLE`."""
    listed = {name for row in TABLE for name in row.fields.split()}
    return {name for name in list_text_fields(description) if not _is_ours(name)} - listed


def _is_ours(name: str) -> bool:
    schema, _, field = name.partition(".")
    return bool(OUR_SCHEMAS.fullmatch(schema) or OUR_NAMES.fullmatch(field.rstrip("[]{}")))


def _walk(schemas: Mapping[str, Any], schema: Mapping[str, Any], name: str, above: frozenset[str]) -> Iterator[str]:
    if "$ref" in schema:
        inner = schema["$ref"].rpartition("/")[2]
        if inner not in above:
            yield from _walk(schemas, schemas[inner], inner, above | {inner})
        return
    for variant in ("anyOf", "oneOf", "allOf"):
        for part in schema.get(variant, ()):
            yield from _walk(schemas, part, name, above)
    is_fixed = "enum" in schema or "const" in schema or schema.get("format") in ("date-time", "date") or "pattern" in schema
    is_free = schema.get("type") == "object" and not (
        "properties" in schema or isinstance(schema.get("additionalProperties"), dict)
    )
    # what has no schema's name is a frame of a stream, whose bodies are EventResponse
    if not name.startswith(".") and name and not is_fixed and (schema.get("type") == "string" or is_free):
        yield name
    for key, part in schema.get("properties", {}).items():
        yield from _walk(schemas, part, f"{name}.{key}", above)
    if "items" in schema:
        yield from _walk(schemas, schema["items"], f"{name}[]", above)
    if isinstance(schema.get("additionalProperties"), dict):
        yield from _walk(schemas, schema["additionalProperties"], f"{name}{{}}", above)
