"""The setup of an execution: freeze its policy, reserve its credits and render its prompt, once, before its first turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from ferryman import offload
from ferryman.catalog.tools import RECALLERS, holds_secrets, is_of_platform, list_enabled
from ferryman.domain.approvals.rules import ApprovalRules
from ferryman.domain.conversations import titles
from ferryman.domain.copies import replace
from ferryman.domain.credentials.former import select_current
from ferryman.domain.credentials.integration import WEBHOOK
from ferryman.domain.credits import ledger
from ferryman.domain.credits.caps import collect_caps
from ferryman.domain.credits.shortage import InsufficientCreditsError, TooManyPartsError
from ferryman.domain.executions.execution import Execution, ExecutionSetup
from ferryman.domain.executions.message import Block, Message
from ferryman.domain.executions.policy import ExecutionPolicy, collect_service_headers
from ferryman.domain.labels.label import READ, join
from ferryman.domain.labels.tools import label_definitions
from ferryman.domain.records.event import STARTED
from ferryman.domain.remote_servers.names import is_remote_name
from ferryman.domain.tasks import prompt
from ferryman.domain.tools.declared import DeclaredTool
from ferryman.domain.workspaces.agent import Titles
from ferryman.loop import alerting, direct, money, receipts
from ferryman.loop.dependencies import LoopDependencies
from ferryman.loop.discovery import discover_tools
from ferryman.loop.history import read_history, scan_history
from ferryman.loop.preamble import RULES, describe_access
from ferryman.loop.remote_tools import read_remote
from ferryman.loop.start import BudgetReachedError, ExecutionStart, StartRejectedError, read_start
from ferryman.loop.tool_offer import OfferContext, build_offer

PROMPT_CHARACTERS_MAX = 200_000
"""System prompt and prompt together, with their variables filled in: step 0 stores them."""

HOLDS_CREDENTIAL = "an argument that the agent's tool_settings fix holds a credential: name the credential instead"

INLINE_CHARACTERS_MAX = 2_000
"""Prompts up to this length are checked in this process, in some milliseconds at most; a worker process takes time to start."""

DECLARED_KEPT_MAX = 100
"""So many declared tools are remembered by the delivery that begins: of more, each is read again when it is called."""


async def begin(deps: LoopDependencies, execution: Execution) -> tuple[Execution, ExecutionSetup, tuple[DeclaredTool, ...]]:
    """Freeze the policy, reserve the credits and the first model call, and store step 0.

    Return the execution, its opening, and the declared tools that it may call, where those are not many. Raise
    `StartRejectedError` with the reason, before anything was spent.
    """
    start = await read_start(deps, execution)
    task, agent, plan = start.task, start.agent, start.plan
    price = deps.price(start.model)
    if price is None and not execution.called_tool:
        raise StartRejectedError(f"model {start.model} has no price")
    # what a person asks in a conversation is a question, and may be about any of it; the arguments of a call ask nobody
    order = "" if execution.is_in_chat or execution.called_tool else execution.input or ""
    texts = (agent.system_prompt, task.system_prompt, task.task_prompt, order)
    rule = await _find_injection(task.owner, texts)
    if rule is not None:
        raise StartRejectedError(f"the prompt asks for {rule}, which tasks may not do")
    sealed, former = await deps.credentials.read_all(task.id)
    services = [credential.label.service for credential in sealed]
    allowed = start.select_tools(execution, list_enabled(task))
    recallers = [tool for tool in start.limits.select(RECALLERS) if tool not in allowed] if execution.answer and allowed else []
    discovered = await discover_tools(deps, execution, allowed)
    tools = tuple(
        tool
        for tool in (*allowed, *recallers)
        if (tool in discovered if is_of_platform(tool) else deps.registry.has_tool(tool))
    )
    definitions = deps.registry.get_definitions(tools, services=services)
    definitions += [dict(definition) for name, definition in discovered.items() if not deps.registry.has_tool(name)]
    message = f"{task.task_prompt}\n{execution.input or ''}"
    prompts = f"{message}\n{agent.system_prompt}\n{task.system_prompt}"
    context = OfferContext(loading=task.tool_loading, message=message, prompt=prompts)
    stored = await direct.read_declared(deps, execution)
    admitted = set(start.select_tools(execution, [tool.name for tool in stored]))
    # a name with two underscores is of an MCP server, also where a task declared such a tool before there were any
    declared = [tool for tool in stored if tool.name in admitted and not is_remote_name(tool.name)]
    listed = await read_remote(deps.remote_servers, execution)
    named = {name for name in task.tools if is_remote_name(name)} or {tool.name for tool in listed}
    accepted = set(start.select_tools(execution, [tool.name for tool in listed if tool.name in named]))
    remote = [tool for tool in listed if tool.name in accepted]
    if execution.called_tool:
        definitions = [definition for definition in definitions if definition["name"] == execution.called_tool]
    offer = await build_offer(task.owner, definitions, [*declared, *remote], context)
    if offer.fault is not None:
        raise StartRejectedError(offer.fault)
    approved = [deps.integrations[name] for name in task.integrations if name in deps.integrations]
    caps = collect_caps(task, workspace=start.workspace, agent=agent, member=start.member, conversation=execution.conversation)
    policy = ExecutionPolicy(
        owner=task.owner,
        task=task.id,
        plan=plan,
        tools=tools,
        integrations=task.integrations,
        domains=tuple(domain for integration in approved for domain in integration.allowed_domains),
        webhook=WEBHOOK in task.integrations,
        webhook_urls=task.webhook_urls,
        webhook_match=task.webhook_match,
        credentials=tuple(sorted(credential.label.name for credential in sealed)),
        former=any(select_current(stored.values, deps.clock.now()) for stored in former),
        caps=caps,
        declared={name: value for name, value in offer.fingerprints.items() if not is_remote_name(name)},
        remote={name: value for name, value in offer.fingerprints.items() if is_remote_name(name)},
        headers=collect_service_headers(approved),
        limits=start.limits,
        settings=agent.tool_settings,
        approvals=ApprovalRules(task=task.approvals, agent=agent.approvals, workspace=start.workspace.approvals),
    )
    narrowed = tuple(policy.settings_of(tool["name"]).narrow_definition(tool) for tool in offer.tools)
    opened = replace(execution, policy=policy, events=STARTED)
    signer = await deps.signing.key()
    now = deps.clock.now()
    max_credits = min(task.max_credits, plan.credits_per_execution)
    most = 0 if price is None else money.limit_history(price, max_credits)
    can_reread = any(tool in tools for tool in RECALLERS)
    read = await read_history(deps, opened, most=most, can_reread=can_reread, has_tools=bool(narrowed))
    opened = replace(opened, begins_title=read.is_first and agent.titles is Titles.MODEL)
    history: Sequence[Message] = read.messages
    if holds_secrets(policy):
        history = await scan_history(deps, opened, history)
    is_foreign = execution.has_foreign_input or read.is_foreign
    foreign = (READ,) if is_foreign or execution.called_tool else ()
    summary, label = read.summary, join((read.label, label_definitions((*declared, *remote)), *foreign))
    opening = await _build_opening(deps, opened, start, policy, tools=narrowed, now=now)
    opening = replace(opening, history=tuple(history), questions=read.questions, label=label, summary=summary)
    if summary is not None:
        opening = replace(opening, max_iterations=opening.max_iterations + 1)  # the summary is a turn, and none of the answer
    opening = replace(opening, is_prompt_foreign=is_foreign and not execution.called_tool)
    opening = replace(opening, price={} if price is None else price.to_row(), timeout_s=deps.execution_timeout.total_seconds())
    reserve = opening.max_credits
    entry = ledger.record_reservation(opened, reserve, at=now)
    opened, signed = receipts.sign_opening(signer, opened, opening, entry)
    opened = money.reserve_first_call(opened, opening)
    try:
        await deps.executions.open(opened, opening, entry=entry, receipts=signed, now=now)
    except InsufficientCreditsError as error:
        await alerting.enqueue_alerts(deps, opened, [error.alert] if error.alert else [])
        raise BudgetReachedError(str(error)) from None
    except TooManyPartsError as error:
        raise StartRejectedError(str(error)) from None
    return replace(opened, credits_reserved=reserve), opening, tuple(declared) if len(declared) <= DECLARED_KEPT_MAX else ()


def _list_fixed(policy: ExecutionPolicy) -> list[Block]:
    """Return the arguments that the agent's settings fix, as calls: the policy and its records hold no secret."""
    return [
        {"type": "tool_use", "id": name, "name": name, "input": dict(settings.arguments)}
        for name, settings in policy.settings.items()
        if settings.arguments
    ]


async def _find_injection(owner: str, texts: Sequence[str]) -> str | None:
    """Return the rule of prompt injection that one of the texts breaks, or None. Raise `StartRejectedError` over budget."""
    if sum(map(len, texts)) <= INLINE_CHARACTERS_MAX:
        return prompt.find_suspicion(texts)
    try:
        return await offload.run(owner, offload.TEXT, prompt.find_suspicion, texts)
    except offload.OverBudgetError as error:
        raise StartRejectedError(f"the prompt cannot be checked: {error}") from None


async def _build_opening(
    deps: LoopDependencies,
    execution: Execution,
    start: ExecutionStart,
    policy: ExecutionPolicy,
    *,
    tools: tuple[Mapping[str, Any], ...],
    now: datetime,
) -> ExecutionSetup:
    task = start.task
    variables = {
        "date": now.strftime("%Y-%m-%d"),
        "datetime": now.isoformat(),
        "execution_id": execution.id,
        "task_name": task.name,
    }
    # a conversation goes on for many questions: what the task is comes before all of them, and before what a client wrote
    is_apart = bool(execution.answer or execution.has_foreign_input)
    fixed_texts = (start.agent.system_prompt, task.system_prompt, task.task_prompt if is_apart else "")
    prompts = (prompt.render_variables(text, variables) for text in fixed_texts)
    access = describe_access(policy.credentials, policy.domains, policy.headers)
    rules, part = RULES, "\n".join([access, *(text for text in prompts if text)])
    before = () if is_apart else (prompt.render_variables(task.task_prompt, variables),)
    user = "\n\n".join((*before, *filter(None, [execution.input])))
    if execution.titled_answer:
        rules, part, user = titles.SYSTEM, "", execution.input or ""
    if execution.called_tool:
        user = ""  # its arguments are scanned with its turn
    if len(f"{rules}\n{part}") + len(user) > PROMPT_CHARACTERS_MAX:
        raise StartRejectedError(f"the prompt is longer than {PROMPT_CHARACTERS_MAX} characters once its variables are put in")
    if holds_secrets(policy):
        # the owner's prompt may hold a pasted key: the model must not see it either; the rules are ours, and hold none
        texts = [{"type": "text", "text": part}, {"type": "text", "text": user}]
        fixed = _list_fixed(policy)
        redacted = await deps.scanner.scan(execution, [*texts, *fixed])
        part, user = (str(block["text"]) for block in redacted[:2])
        if list(redacted[2:]) != fixed:
            raise StartRejectedError(
                "an argument that the agent's tool_settings fix holds a credential: name the credential instead"
            )
    return ExecutionSetup(
        model=direct.NO_MODEL if execution.called_tool else start.model,
        system=f"{rules}\n{part}",
        prompt=user,
        tools=tools,
        max_tokens=min(task.max_tokens, execution.surface.tokens_max),
        temperature=task.temperature,
        max_iterations=min(
            task.max_iterations, policy.plan.iterations, execution.surface.iterations_max or task.max_iterations
        ),
        max_credits=min(task.max_credits, policy.plan.credits_per_execution, execution.surface.credits_max),
        started_at=now,
    )
