"""`ferryman integrations`, `agents`, `models` and `plans`: what there is to choose from."""

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
async def agents(session: ApiSession) -> None:
    """List the agents of the catalog: what each is for, the tools that it may call, and how many of these are implemented.

    Agents cannot be run yet; tasks can. --json names the tools.
    """
    listed = [agent async for agent in session.client.iterate_agents()]
    implemented = {tool["name"] async for tool in session.client.iterate_tools() if tool["implemented"]}
    session.screen.print_json(listed)
    rows = []
    for agent in listed:
        count = sum(name in implemented for name in agent["allowed_tools"])
        tools = f"{len(agent['allowed_tools'])}, {count} implemented" if agent["allowed_tools"] else "all"
        rows.append({**agent, "tools": tools})
    session.screen.print_table(rows, "name", "role", "tools", "description", "reason", empty="The catalog has no agents.")


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
    columns = ("calls_per_execution", "calls_per_minute", "response_bytes", "iterations", "executions_running")
    spending = ("credits_per_execution", "credits_per_month")
    rows = [plan async for plan in session.client.iterate_plans()]
    session.screen.print_list(rows, "name", *columns, *spending)
