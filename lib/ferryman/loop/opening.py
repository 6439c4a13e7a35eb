"""The opening: what an execution may do and what the model is told, settled once before its first turn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from ferryman.domain import ledger, prompt
from ferryman.domain.event import STARTED
from ferryman.domain.execution import Execution, Opening
from ferryman.domain.integration import WEBHOOK
from ferryman.domain.remit import Remit
from ferryman.domain.task import Task
from ferryman.loop import receipts
from ferryman.loop.house import House
from ferryman.loop.offered import Crowded, offered
from ferryman.loop.preamble import preamble
from ferryman.ports import Insufficient

PROMPT_CHARACTERS_MAX = 200_000
"""System prompt and prompt together, once the variables are in: step 0 has to hold them."""


class Unfit(Exception):  # noqa: N818 - reads as the fact it states
    """The execution cannot start; its text is what the owner is told."""


async def begin(house: House, execution: Execution) -> tuple[Execution, Opening]:
    """Freeze the remit, reserve the credits, store step 0. Raises `Unfit` with the reason, before anything was spent."""
    task = await house.tasks.get(execution.task)
    if task is None or task.owner != execution.owner:
        raise Unfit("the task was deleted")
    if not task.enabled:
        raise Unfit("the task is disabled")
    owner = await house.owners.get(execution.owner)
    plan = house.plans.get(owner.plan) if owner else None
    if plan is None:
        raise Unfit("the owner's plan cannot run tasks")
    price = house.price(task.model)
    if price is None:
        raise Unfit(f"model {task.model} has no price")
    for text in (task.system_prompt, task.task_prompt, execution.input or ""):
        rule = prompt.suspicion(text)
        if rule is not None:
            raise Unfit(f"the prompt asks for {rule}, which tasks may not do")
    sealed = await house.credentials.list(task.id)
    declared = [each for each in await house.clusters.tools(task.id) if each.enabled]
    approved = [house.integrations[each] for each in task.integrations if each in house.integrations]
    remit = Remit(
        owner=task.owner,
        task=task.id,
        plan=plan,
        tools=task.tools,
        integrations=task.integrations,
        domains=tuple(domain for each in approved for domain in each.allowed_domains),
        webhook=WEBHOOK in task.integrations,
        webhook_urls=task.webhook_urls,
        webhook_match=task.webhook_match,
        credentials=tuple(sorted(each.label.name for each in sealed)),
        credits_per_month=task.max_credits_month,
        declared={each.name: each.fingerprint for each in declared},
    )
    services = [each.label.service for each in sealed]
    try:
        tools = offered(house.registry.get_definitions(remit.tools, services=services), declared)
    except Crowded as crowded:
        raise Unfit(str(crowded)) from None
    opened = replace(execution, remit=remit, events=STARTED)
    signer = await house.signing.key()
    now = house.clock.now()
    opening = await _opening(house, opened, task, remit, tools=tools, now=now)
    opening = replace(opening, price=price.row(), patience_s=house.patience.total_seconds())
    reserve = opening.max_credits
    opened, signed = receipts.opened(signer, opened, opening)
    entry = ledger.reserved(opened, reserve, at=now)
    try:
        await house.executions.open(opened, opening, entry=entry, receipts=signed, now=now)
    except Insufficient as short:
        raise Unfit(str(short)) from None
    return replace(opened, credits_reserved=reserve), opening


async def _opening(
    house: House, execution: Execution, task: Task, remit: Remit, *, tools: tuple[Mapping[str, Any], ...], now: datetime
) -> Opening:
    variables = {
        "date": now.strftime("%Y-%m-%d"),
        "datetime": now.isoformat(),
        "execution_id": execution.id,
        "task_name": task.name,
    }
    own = prompt.render(task.system_prompt, variables)
    system = preamble(remit.credentials, remit.domains) + (f"\n{own}" if own else "")
    asked = prompt.render(task.task_prompt, variables)
    if execution.input:
        asked = f"{asked}\n\n{execution.input}"
    if len(system) + len(asked) > PROMPT_CHARACTERS_MAX:
        raise Unfit(f"the prompt is longer than {PROMPT_CHARACTERS_MAX} characters once its variables are put in")
    if remit.credentials:
        # an owner's own prompt may hold a pasted key: the model is not to see it either
        texts = [{"type": "text", "text": system}, {"type": "text", "text": asked}]
        seen = await house.scanner.scan(execution, texts)
        system, asked = (str(block["text"]) for block in seen)
    return Opening(
        model=task.model,
        system=system,
        prompt=asked,
        tools=tools,
        max_tokens=task.max_tokens,
        temperature=task.temperature,
        max_iterations=min(task.max_iterations, remit.plan.iterations),
        max_credits=min(task.max_credits, remit.plan.credits_per_execution),
        started_at=now,
    )
