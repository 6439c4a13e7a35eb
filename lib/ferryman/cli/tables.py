"""`ferryman integrations`, `models` and `plans`: what there is to choose from."""

from __future__ import annotations

import click

from ferryman.cli.commands import ApiSession, api_command


@click.command()
@api_command
async def integrations(session: ApiSession) -> None:
    """List the services a task may be approved for, with their domains and how they take a credential."""
    columns = ("id", "name", "allowed_domains", "default_auth_type", "credential_key_template", "headers")
    session.screen.print_list([entry async for entry in session.client.iterate_integrations()], *columns)


@click.command()
@api_command
async def models(session: ApiSession) -> None:
    """List the models a task may name, with the price of a million tokens in US dollars.

    On a local stack, `scripted` means scripted/NAME: hello, and those of `ferryman up --script`.
    """
    columns = ("name", "input_usd_per_million", "output_usd_per_million")
    session.screen.print_list([model async for model in session.client.iterate_models()], *columns)


@click.command()
@api_command
async def plans(session: ApiSession) -> None:
    """List the plans and their limits."""
    columns = ("calls_per_execution", "calls_per_minute", "response_bytes", "iterations", "executions_running", "file_bytes")
    spending = ("credits_per_execution", "credits_per_month")
    rows = [plan async for plan in session.client.iterate_plans()]
    session.screen.print_list(rows, "name", *columns, *spending)
