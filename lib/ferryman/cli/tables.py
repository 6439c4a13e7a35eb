"""`ferryman integrations`, `models` and `plans`: what there is to choose from."""

from __future__ import annotations

import click

from ferryman.cli.asking import Asking, asking


@click.command()
@asking
async def integrations(asked: Asking) -> None:
    """List the services a task may be approved for, with their domains and how they take a credential."""
    found = await asked.client.integrations()
    asked.screen.record(found)
    asked.screen.table(
        found, "id", "name", "allowed_domains", "default_auth_type", "credential_key_template", empty="There are none."
    )


@click.command()
@asking
async def models(asked: Asking) -> None:
    """List the models a task may name, with the price of a million tokens in US dollars.

    On a local stack, `scripted` stands for scripted/NAME: hello, and those of `ferryman up --script`.
    """
    found = await asked.client.models()
    asked.screen.record(found)
    asked.screen.table(found, "name", "input_usd_per_million", "output_usd_per_million", empty="There are none.")


@click.command()
@asking
async def plans(asked: Asking) -> None:
    """List the plans and their limits."""
    found = await asked.client.plans()
    asked.screen.record(found)
    columns = ("calls_per_execution", "calls_per_minute", "response_bytes", "iterations", "credits_per_execution")
    asked.screen.table(found, "name", *columns, "credits_per_month", empty="There are none.")


@click.command()
@click.option("--month", help='A month (UTC) like "2026-11"; without it, this one.')
@asking
async def ledger(asked: Asking, month: str | None) -> None:
    """A month's credits by task, the dearest first; the books behind it sum to zero."""
    found = await asked.client.ledger(month=month)
    asked.screen.record(found)
    columns = ("executions", "llm_tokens", "api_call_fees", "credits")
    asked.screen.table(found["tasks"], "task_id", *columns, empty=f"Nothing was spent in {found['month']}.")
    asked.screen.say(
        f"{found['month']}: {found['credits']} credits; {found['entries']} entries sum to {found['sum_of_postings']}"
    )
