"""What the API answers, as types. `make reference` writes this file from the description of the API."""

from __future__ import annotations

from typing import Any, Literal, TypedDict


class AgentJson(TypedDict):
    """An agent as it is stored."""

    agent_id: str
    workspace_id: str
    name: str
    description: str
    system_prompt: str
    model: str | None
    allowed_tools: list[str]
    tool_settings: dict[str, ToolSettingsJson]
    max_credits_month: str | None
    conversation_credits_max: str | None
    tools_enabled: bool
    enabled_tools: list[str] | None
    approvals: list[ApprovalRuleJson]
    titles: Literal["first_line", "model"]
    template: str | None
    is_default: bool
    archived: bool
    created_at: str
    updated_at: str


class AgentTemplateJson(TypedDict):
    """A template of the catalog, which agents are made from. An empty `allowed_tools` allows every tool."""

    id: str
    name: str
    role: Literal["coordinator", "specialist"]
    description: str
    icon_url: str
    system_prompt: str
    waits_for: str | None
    allowed_tools: list[str]


class AlertJson(TypedDict):
    """A cap of which 50, 80 or 100 percent are used, or which has refused an execution."""

    alert_id: str
    kind: Literal["owner", "workspace", "agent", "person", "task", "conversation"]
    id: str
    month: str
    percent: int
    limit: str
    credits_used: str
    credits_reserved: str
    refused: bool
    execution_id: str
    created_at: str
    state: Literal["pending", "delivered", "failed", "unaddressed"]
    attempts: int
    status: int | None
    reason: str
    settled_at: str | None


class AmountLimitJson(TypedDict):
    """The argument that a rule looks at, and the number that it has to be above."""

    argument: str
    above: str


class AnswerMetadataJson(TypedDict):
    """How an answer was made. `state` is `stopped` where a person stopped it; what was written until then is kept."""

    state: Literal["pending", "complete", "stopped", "failed"]
    model: str | None
    execution_id: str
    credits_used: str
    error: str | None


class ApprovalJson(TypedDict):
    """An approval with its form: what would be sent, with every secret named in the place of its value."""

    approval_id: str
    workspace_id: str
    agent_id: str
    task_id: str
    conversation_id: str | None
    execution_id: str
    seq: int
    tool: str
    host: str | None
    digest: str
    state: Literal["pending", "approved", "denied", "edited", "answered", "withdrawn"]
    expired: bool
    created_at: str
    expires_at: str
    decision: DecisionJson | None
    sent: list[int]
    form: dict[str, Any]
    label: FlowLabelJson
    before: EarlierFormJson | None


class ApprovalRuleJson(TypedDict):
    """A rule as it is stored."""

    mode: Literal["never", "when_untrusted", "always"]
    tools: list[str]
    hosts: list[str]
    methods: list[str]
    amount: AmountLimitJson | None


class ApprovedSendJson(TypedDict):
    """The approval under which a call was sent: its id, the SHA-256 of what was approved, by whom, a person or `owner`, and
    when.
    """

    approval: str
    digest: str
    by: str
    at: str
    is_standing: bool
    sends_max: int
    declassified: str


class ArchiveImportJson(TypedDict):
    """How far an import is. The workspace can be read, and is active once the last file is stored."""

    workspace_id: str
    state: Literal["active", "archived", "importing", "deleting"]
    source: str
    digest: str
    files: int
    following: int
    counts: dict[str, int]
    credentials: list[CredentialToEnterJson]
    rules: list[RuleToDecideJson]


class AttachmentJson(TypedDict):
    """A file of the workspace, as it was when the message came."""

    key: str
    etag: str
    media_type: str
    size_bytes: int


class AuditEntryJson(TypedDict):
    """A change in the workspace: who made it, and of what. It holds ids and names, and nothing of what was changed."""

    entry_id: str
    person_id: str
    key_id: str
    action: str
    targets: list[str]
    done: bool
    created_at: str


class BudgetListJson(TypedDict):
    """The budgets of `month` (UTC), the outermost first; of conversations, the 200 that used or reserved credits last."""

    month: str
    budgets: list[BudgetJson]


class BudgetJson(TypedDict):
    """What `kind` and `id` name has used and reserved. Without a cap, `limit`, `credits_left` and `percent_used` are null."""

    kind: Literal["owner", "workspace", "agent", "person", "task", "conversation"]
    id: str
    name: str
    limit: str | None
    credits_used: str
    credits_reserved: str
    credits_left: str | None
    percent_used: int | None


class CallFlowJson(TypedDict):
    """Whether untrusted text may have decided where a call goes, why that is so, and the tree of what decided, in lines."""

    asks: bool
    reason: str
    lines: list[str]


class CallJson(TypedDict):
    """One call as it was journaled; its arguments as they were scanned, its result in full."""

    seq: int
    parent: int | None
    iteration: int
    id: str
    tool: str
    called_as: str | None
    arguments: dict[str, Any]
    state: Literal["intended", "waiting", "sent", "settled"]
    attempt: int
    in_doubt: bool
    label: FlowLabelJson
    created_at: str
    sent_at: str | None
    deadline: str | None
    settled_at: str | None
    approval: str | None
    form_digest: str | None
    approved: ApprovedSendJson | None
    flow: CallFlowJson | None
    hidden: bool
    result: ResultJson | None


class ChatJson(TypedDict):
    """A message and the answer to it. One that is still `pending` is at `events`, and among the messages once it has ended."""

    conversationId: str
    userMessage: MessageJson | None
    assistantMessage: MessageJson
    events: str


class ConfigurationJson(TypedDict):
    """Where a tool's calls go (S3-55 … S3-57)."""

    baseUrl: str
    pathTemplate: str
    method: str
    pathParams: list[str]
    queryParams: list[str]


class ConnectedServerJson(TypedDict):
    """What a server is connected with. `token_expires_at` is null where the token does not say; it is renewed by itself."""

    server_id: str
    name: str
    issuer: str
    resource: str
    scopes: list[str]
    token_expires_at: str | None


class ConnectionJson(TypedDict):
    """Where the person consents. The page leads back to `redirect_uri` with `state` and a code, until `expires_at`."""

    authorize_url: str
    redirect_uri: str
    state: str
    expires_at: str


class ConsentJson(TypedDict):
    """How a service is connected by a person's consent. `client_id` is the deployment's own; null: bring one."""

    authorize_url: str
    token_url: str
    scopes: list[str]
    client_id: str | None
    redirect_uris: list[str]
    issuer: str | None
    sends_iss: bool


class ConversationJson(TypedDict):
    """A conversation. `head` is the number of the message that the shown branch ends with, 0 before the first; `pending`
    are the answers that are waited for, in the order in which they come.
    """

    conversation_id: str
    workspace_id: str
    agent_id: str
    task_id: str
    person_id: str | None
    title: str
    head: int
    pending: list[PendingAnswerJson]
    created_at: str
    updated_at: str


class CredentialJson(TypedDict):
    """Everything about a credential but its value. `status` is connected, or reconnect: its service refused to renew it."""

    name: str
    service: str
    status: str
    scopes: list[str] | None
    token_expires_at: str | None
    auth_type: Literal["bearer", "header", "query_param", "basic"]
    auth_header_name: str | None
    auth_param_name: str | None
    allowed_domains: list[str]
    version: int
    key_version: int
    created_at: str
    updated_at: str


class CredentialToEnterJson(TypedDict):
    """A credential of an imported task, whose value is entered again."""

    task_id: str
    task: str
    name: str
    service: str
    auth_type: str
    hosts: list[str]


class CustomToolJson(TypedDict):
    """A declared tool. `reason` says why it is not enabled; `parameters` is the schema that the model is shown."""

    id: str
    name: str
    description: str
    summary: str
    type: Literal["http"]
    configuration: ConfigurationJson
    parameters: dict[str, Any]
    isEnabled: bool
    reason: str | None
    cluster: str


class DecisionJson(TypedDict):
    """What was decided, by whom and when: `by` is a person's id, or `owner`. `key` is the version of the key that signed
    it.
    """

    verdict: Literal["approve", "deny", "edit", "answer"]
    sends: int
    reason: str
    arguments: dict[str, Any] | None
    declassified: str
    by: str
    at: str
    key: int
    signature: str


class DeletionReceiptJson(TypedDict):
    """What was deleted, signed. It holds ids and counts, and nothing personal."""

    job: str
    kind: str
    workspace: str
    subject: str
    person: str
    counts: dict[str, int]
    requested_at: str
    completed_at: str
    key: int
    hash: str
    signature: str


class DirectLinkJson(TypedDict):
    """A link that downloads a file without an API key, until a moment."""

    url: str
    etag: str
    version_bound: bool
    expires_at: str


class EarlierFormJson(TypedDict):
    """What was approved last of the same tool in the workspace."""

    approval_id: str
    digest: str
    form: dict[str, Any]


class ExecutionJson(TypedDict):
    """An execution's record; `tool_calls` holds at most 50 rows. `taken_over_by` is the person who answers for it since the
    one who started it was removed from the workspace, or `owner`.
    """

    execution_id: str
    task_id: str
    workspace_id: str
    agent_id: str
    person_id: str | None
    conversation_id: str | None
    answer: int | None
    titled_answer: int | None
    called_tool: str | None
    cancelled_by: str | None
    waiting_for: str | None
    waiting_since: str | None
    status: Literal["queued", "running", "completed", "failed", "timeout", "killed"]
    labels: dict[str, str]
    created_at: str
    scheduled_for: str | None
    started_at: str | None
    completed_at: str | None
    iterations: int
    credits_used: str
    credits_reserved: str
    credits_held: str
    usage: TokenCountsJson
    tool_calls_total: int
    cancel_requested: bool
    slice: int
    error: str | None
    imported_from: str | None
    input: str | None
    tool_calls: list[ResultRowJson]
    output: str | None
    taken_over_by: str | None
    question: int | None


class FieldDifferenceJson(TypedDict):
    """A field of a descriptor that differs from the accepted one; null: it was or is not there. Hidden characters are
    shown.
    """

    field: str
    before: str | None
    after: str | None


class FileLinkJson(TypedDict):
    """A link to one version of a file, good with the API key that asked for it, until a moment."""

    path: str
    etag: str
    expires_at: str


class FileJson(TypedDict):
    """A file of the workspace."""

    key: str
    size_bytes: int
    etag: str
    updated_at: str


class FlowCorrectionJson(TypedDict):
    """What the owner says against the flow signature that was derived for a tool. Null: as it was derived."""

    changes: bool | None
    sends: bool | None
    destroys: bool | None
    reads_people: bool | None
    roles: dict[str, Literal["decides", "content", "detail", "free"]]


class FlowLabelJson(TypedDict):
    """How far a value may be trusted, who may read it, and from where it was read; `more` tells that there is more."""

    integrity: Literal["trusted", "untrusted"]
    confidentiality: Literal["public", "owner", "credential"]
    sources: list[SourceJson]
    more: bool


class HaltJson(TypedDict):
    """What stops your executions, in words; null when nothing does."""

    halted: str | None


class IdentityJson(TypedDict):
    """An identity that is linked: access tokens of it act for the person at `/mcp`, and nowhere else."""

    identity_id: str
    person_id: str
    issuer: str
    subject: str
    scopes: list[Literal["read", "run", "approve", "manage"]]
    created_at: str
    expires_at: str | None
    last_used_at: str | None


class ImportJson(TypedDict):
    """The result of an import. `tokens` is about what the enabled tools' definitions cost in every prompt."""

    success: Literal[True]
    data: list[CustomToolJson]
    cluster: str
    imported: int
    disabled: int
    tokens: int
    notes: list[str]
    dry_run: bool


class IntegrationJson(TypedDict):
    """A service of the catalog. `headers` are those that a model may set for it, beside the ones allowed everywhere."""

    id: str
    name: str
    description: str
    category: str
    status: str
    allowed_domains: list[str]
    default_auth_type: Literal["bearer", "header", "query_param", "basic"] | None
    default_auth_header: str | None
    default_auth_param: str | None
    credential_key_template: str | None
    headers: list[str]
    docs_url: str
    oauth: ConsentJson | None


class InvitationJson(TypedDict):
    """An invitation that nobody has taken yet."""

    invitation_id: str
    name: str
    role: Literal["viewer", "operator", "admin"]
    approves: bool
    invited_by: str
    created_at: str
    expires_at: str


class JobJson(TypedDict):
    """A job. `counts` grows while it runs; `receipt` is there once a deletion is done."""

    job_id: str
    kind: Literal["delete_workspace", "delete_agent", "delete_conversation", "end_executions", "take_over_executions"]
    workspace_id: str
    subject: str
    person: str
    status: Literal["queued", "running", "done"]
    stage: str
    counts: dict[str, int]
    created_at: str
    completed_at: str | None
    receipt: DeletionReceiptJson | None


class JoinedJson(TypedDict):
    """A membership that was just made, with its first API key."""

    person_id: str
    workspace_id: str
    role: Literal["viewer", "operator", "admin"]
    approves: bool
    key_id: str
    key: str


class KeyJson(TypedDict):
    """An API key, without the key itself."""

    key_id: str
    person_id: str
    name: str
    scopes: list[Literal["read", "run", "approve", "manage"]]
    tools: list[str] | None
    created_at: str
    expires_at: str | None
    last_used_at: str | None


class ListedApprovalJson(TypedDict):
    """A call that waits, or waited, for a person: all but its form. `expired` tells that nobody can decide any longer."""

    approval_id: str
    workspace_id: str
    agent_id: str
    task_id: str
    conversation_id: str | None
    execution_id: str
    seq: int
    tool: str
    host: str | None
    digest: str
    state: Literal["pending", "approved", "denied", "edited", "answered", "withdrawn"]
    expired: bool
    created_at: str
    expires_at: str
    decision: DecisionJson | None
    sent: list[int]


class ListedCallJson(TypedDict):
    """A call as it was journaled, and what it has cost."""

    seq: int
    parent: int | None
    iteration: int
    id: str
    tool: str
    called_as: str | None
    arguments: dict[str, Any]
    state: Literal["intended", "waiting", "sent", "settled"]
    attempt: int
    in_doubt: bool
    label: FlowLabelJson
    created_at: str
    sent_at: str | None
    deadline: str | None
    settled_at: str | None
    approval: str | None
    form_digest: str | None
    approved: ApprovedSendJson | None
    flow: CallFlowJson | None
    hidden: bool
    result: ResultJson | None
    credits: str | None


class ListedExecutionJson(TypedDict):
    """What a list tells of an execution: all but its input, its output and its calls, which `tool_calls_total` counts."""

    execution_id: str
    task_id: str
    workspace_id: str
    agent_id: str
    person_id: str | None
    conversation_id: str | None
    answer: int | None
    titled_answer: int | None
    called_tool: str | None
    cancelled_by: str | None
    waiting_for: str | None
    waiting_since: str | None
    status: Literal["queued", "running", "completed", "failed", "timeout", "killed"]
    labels: dict[str, str]
    created_at: str
    scheduled_for: str | None
    started_at: str | None
    completed_at: str | None
    iterations: int
    credits_used: str
    credits_reserved: str
    credits_held: str
    usage: TokenCountsJson
    tool_calls_total: int
    cancel_requested: bool
    slice: int
    error: str | None
    imported_from: str | None


class ListedTaskJson(TypedDict):
    """What a list tells of a task: all but its prompts."""

    task_id: str
    user_id: str
    agent_id: str
    name: str
    description: str
    model: str | None
    tools: list[str]
    integrations: list[str]
    webhook_urls: list[str]
    webhook_match: str
    tool_loading: Literal["all", "context-aware"]
    approvals: list[ApprovalRuleJson]
    max_iterations: int
    max_credits: str
    max_credits_month: str | None
    temperature: float | None
    max_tokens: int
    enabled: bool
    schedule: ScheduleJson | None
    next_fire_at: str | None
    paused: str | None
    created_at: str
    updated_at: str


class MeJson(TypedDict):
    """Who is asking, as what and where, and what is left of the month's credits. `limits` is null on a plan that may not
    run tasks; `halted` says what stops all your executions, if anything does.
    """

    owner: str
    workspace_id: str
    person_id: str
    name: str
    role: Literal["viewer", "operator", "admin"] | None
    rights: list[Literal["read", "run", "approve", "manage"]]
    key_id: str
    key_expires_at: str | None
    plan: str
    month: str
    credits_used: str
    credits_reserved: str
    credits_left: str | None
    halted: str | None
    limits: PlanJson | None


class MemberJson(TypedDict):
    """A person in the workspace."""

    person_id: str
    name: str
    role: Literal["viewer", "operator", "admin"]
    approves: bool
    max_credits_month: str | None
    created_at: str


class MessageJson(TypedDict):
    """A message. `parent` is the number of the one before it, 0 for none: messages with the same one are branches."""

    number: int
    parent: int
    role: Literal["user", "assistant"]
    content: str | None
    created_at: str
    person_id: str | None
    attachments: list[AttachmentJson]
    toolCalls: list[dict[str, Any]]
    toolResults: list[dict[str, Any]]
    messages: list[dict[str, Any]]
    metadata: AnswerMetadataJson | None


class ModelJson(TypedDict):
    """A model that has a price. `scripted` means all of `scripted/NAME`."""

    name: str
    input_usd_per_million: str
    output_usd_per_million: str


class ModelUseJson(TypedDict):
    """What a call that asked a model has used: how many model calls, their tokens and credits; of a text of so many
    `characters` it has read the first `read`.
    """

    calls: int
    credits: str
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    characters: int
    read: int


class NewInvitationJson(TypedDict):
    """An invitation that was just made."""

    invitation_id: str
    name: str
    role: Literal["viewer", "operator", "admin"]
    approves: bool
    invited_by: str
    created_at: str
    expires_at: str
    token: str | None


class NewKeyJson(TypedDict):
    """An API key that was just made."""

    key_id: str
    person_id: str
    name: str
    scopes: list[Literal["read", "run", "approve", "manage"]]
    tools: list[str] | None
    created_at: str
    expires_at: str | None
    last_used_at: str | None
    key: str | None


class NewSignInLinkJson(TypedDict):
    """A link that was just made. Who opens it first is signed in with the API key that made it."""

    url: str | None
    expires_at: str


class PartJson(TypedDict):
    """The characters of a result's `content` from `start` up to `end`, and what they are."""

    kind: Literal["text", "json", "file", "binary"]
    start: int
    end: int
    media_type: str | None
    size_bytes: int | None
    sha256: str | None
    file: str | None
    label: FlowLabelJson


class PendingAnswerJson(TypedDict):
    """An answer that is waited for: the number that its message will have, and the execution that makes it."""

    number: int
    execution_id: str


class PlanJson(TypedDict):
    """The limits of a plan; a credit is worth $0.001."""

    name: str
    calls_per_execution: int
    calls_per_minute: int
    response_bytes: int
    iterations: int
    credits_per_execution: str
    credits_per_month: str
    schedule_minutes: int
    executions_running: int
    executions_queued: int
    streams: int
    tools: list[str]
    file_bytes: int


class RemoteServerJson(TypedDict):
    """An MCP server of an agent. `title`, `version` and `instructions` are the server's words, which no model reads."""

    server_id: str
    agent_id: str
    name: str
    url: str
    auth: Literal["none", "headers", "bearer", "oauth"]
    headers: dict[str, str]
    enabled: bool
    state: Literal["new", "listed", "needs_authorization", "unreachable"]
    detail: str
    title: str
    version: str
    instructions: str
    revision: str | None
    issuer: str | None
    tools: dict[str, int]
    listed_at: str | None
    verified_at: str | None
    created_at: str
    updated_at: str


class RemoteToolConfigJson(TypedDict):
    """Which tool of which server it is (S3-44)."""

    server_id: str
    tool_name: str


class RemoteToolJson(TypedDict):
    """A tool of an MCP server, as a person reads it before accepting it. All texts in it are the server's."""

    type: Literal["mcp"]
    config: RemoteToolConfigJson
    name: str
    state: Literal["accepted", "new", "changed", "gone", "refused", "disabled"]
    reason: str | None
    digest: str | None
    accepted_digest: str | None
    accepted_at: str | None
    title: str
    description: str
    input_schema: dict[str, Any]
    annotations: dict[str, Any]
    model_description: str
    tokens: int
    difference: list[FieldDifferenceJson]


class ResultJson(TypedDict):
    """The result of one call in full: with `parts`, which say what its `content` consists of."""

    tool: str
    content: str
    url: str | None
    method: str | None
    credential_used: str | None
    response_status: int | None
    response_size_bytes: int | None
    latency_ms: float | None
    blocked: bool
    block_reason: str | None
    ok: bool
    code: str | None
    suggestion: str | None
    parts: list[PartJson]
    model_use: ModelUseJson | None


class ResultRowJson(TypedDict):
    """The result of one call."""

    tool: str
    content: str
    url: str | None
    method: str | None
    credential_used: str | None
    response_status: int | None
    response_size_bytes: int | None
    latency_ms: float | None
    blocked: bool
    block_reason: str | None
    ok: bool
    code: str | None
    suggestion: str | None


class RuleToDecideJson(TypedDict):
    """A rule by which nobody would be asked, of the archive's workspace or of an agent or a task in it. It is imported with
    the mode `when_untrusted` in the place of `never`, which a person here may write again.
    """

    kind: str
    id: str
    name: str
    number: int


class ScheduleJson(TypedDict):
    """When the task runs by itself, in UTC; the field of its `type` is set and no other."""

    type: Literal["cron", "once", "delayed"]
    cron: str | None
    at: str | None
    after_s: int | None


class ServerConnectionJson(TypedDict):
    """Where the person consents, and to what. The page leads back to `redirect_uri` with `state` and a code, until
    `expires_at`. The authorization server `issuer` will give a token for `resource`, which goes to the server's URL alone.
    """

    authorize_url: str
    redirect_uri: str
    state: str
    expires_at: str
    issuer: str
    resource: str
    client_id: str
    scopes: list[str]


class SessionJson(TypedDict):
    """A session of the console: a browser that is signed in with an API key."""

    session_id: str
    person_id: str
    key_id: str
    workspace_id: str
    browser: str
    created_at: str
    expires_at: str


class SourceJson(TypedDict):
    """Where a value was read: the tool, the call's `seq`, and the URL without its query and the credential that it used."""

    tool: str
    call: int
    url: str | None
    credential: str | None


class StandingApprovalJson(TypedDict):
    """What is approved beforehand. `used` counts the calls that were sent under it; `by` is a person's id, or `owner`."""

    standing_approval_id: str
    workspace_id: str
    task_id: str | None
    tool: str
    hosts: list[str]
    methods: list[str]
    arguments: dict[str, Any]
    uses: int
    used: int
    by: str
    created_at: str
    expires_at: str
    revoked: bool
    key: int
    signature: str


class StatementJson(TypedDict):
    """A month, the dearest line first. `sum_of_postings` is 0: what leaves one account enters another."""

    month: str
    by: Literal["task", "agent", "person", "workspace"]
    lines: list[StatementLineJson]
    credits: str
    entries: int
    sum_of_postings: str


class StatementLineJson(TypedDict):
    """What the executions of one task, agent, person or workspace cost in the month. `id` is "" for those that no person
    started.
    """

    id: str
    executions: int
    llm_tokens: str
    api_call_fees: str
    embedding: str
    storage_bytes: int
    credits: str


class StoredFileJson(TypedDict):
    """A file that was stored."""

    key: str
    size_bytes: int
    etag: str
    created: bool


class TaskJson(TypedDict):
    """A task as it is stored."""

    task_id: str
    user_id: str
    agent_id: str
    name: str
    description: str
    model: str | None
    tools: list[str]
    integrations: list[str]
    webhook_urls: list[str]
    webhook_match: str
    tool_loading: Literal["all", "context-aware"]
    approvals: list[ApprovalRuleJson]
    max_iterations: int
    max_credits: str
    max_credits_month: str | None
    temperature: float | None
    max_tokens: int
    enabled: bool
    schedule: ScheduleJson | None
    next_fire_at: str | None
    paused: str | None
    created_at: str
    updated_at: str
    system_prompt: str
    task_prompt: str


class TokenCountsJson(TypedDict):
    """Tokens the model consumed."""

    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int


class ToolPolicyJson(TypedDict):
    """What the calls of a tool may do. Null means: what the plan or the deployment allows; for `decided_by`, every
    argument.
    """

    kind: str
    function: str
    timeout_s: float | None
    argument_characters_max: int | None
    argument_items_max: int | None
    response_bytes_max: int | None
    result_characters_max: int | None
    network: Literal["registry", "webhook_list", "declared_host", "public_any", "operator_endpoint", "mcp_server", "none"]
    fee: str
    expense: Literal["llm_tokens", "api_call_fee", "embedding", "storage_unmetered"]
    counts: bool
    repeatable: Literal["safe", "keyed", "never"]
    parallel_safe: bool
    wrapped: bool
    needs_confirmation: bool
    reads: list[str]
    changes: list[str]
    decided_by: list[str] | None


class ToolJson(TypedDict):
    """A tool of the catalog. One that is not implemented has neither schema nor policy, and no model is offered it."""

    name: str
    display_name: str
    description: str
    category: str
    icon_url: str
    implemented: bool
    reason: str | None
    input_schema: dict[str, Any] | None
    policy: ToolPolicyJson | None


class ToolSettingsJson(TypedDict):
    """An agent's settings of one tool. Null: as the plan and the tool allow. The model cannot change fixed `arguments`."""

    calls_max: int | None
    timeout_s: float | None
    arguments: dict[str, Any]
    flow: FlowCorrectionJson | None


class TurnJson(TypedDict):
    """A turn as the record has it, and its receipt."""

    number: int
    content: list[dict[str, Any]]
    stop_reason: str
    usage: TokenCountsJson
    credits: str
    first_call: int
    calls: int
    event: int
    at: str
    slice: int
    prompt_digest: str
    summarizes: int
    receipt: int | None


class UsageCountsJson(TypedDict):
    """Turns, calls, tokens and credits. `usage` is what the provider counted; the other tokens are estimated shares of it,
    by characters, which sum up to it.
    """

    turns: int
    usage: TokenCountsJson
    definition_tokens: int
    result_tokens: int
    call_tokens: int
    text_tokens: int
    calls: int
    failures: dict[str, int]
    latencies: list[int]
    llm_tokens: str
    api_call_fee: str
    embedding: str
    storage_unmetered: int
    credits: str


class UsageReportJson(TypedDict):
    """What the workspace used from `since` to `until`, both included, days in UTC: days in their order, others the dearest
    first. Some seconds pass before it is in here.
    """

    since: str
    until: str
    by: Literal["tool", "model", "agent", "day", "all"]
    rows: list[UsageRowJson]
    total: UsageCountsJson
    latency_bounds_ms: list[int]


class UsageRowJson(TypedDict):
    """What was used under one name. Quantiles are the bounds of their buckets; null: there is no call, or none so fast."""

    by: Literal["tool", "model", "agent", "day", "all"]
    name: str
    counts: UsageCountsJson
    failed: int
    p50_ms: int | None
    p95_ms: int | None
    calls_by_day: list[int]
    tokens_by_day: list[int]


class WorkspaceJson(TypedDict):
    """A workspace as it is stored."""

    workspace_id: str
    name: str
    state: Literal["active", "archived", "importing", "deleting"]
    is_default: bool
    allowed_tools: list[str]
    max_credits_month: str | None
    conversation_credits_max: str | None
    alert_url: str | None
    alert_secret: str | None
    retention_days: int | None
    approvals: list[ApprovalRuleJson]
    created_at: str
    updated_at: str
