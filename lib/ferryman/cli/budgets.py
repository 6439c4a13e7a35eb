"""`ferryman budget` and `ledger`: this month's caps with what is used of them, and what a month cost."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import click

from ferryman.cli.commands import ApiSession, api_command
from ferryman.client import PAGE_MAX
from ferryman.domain.counts import say_count
from ferryman.domain.credits.statement import Grouping

BAR_CHARACTERS = 20
COLUMNS = ("kind", "id", "name", "limit", "used", "reserved", "left", "share", "bar")


@click.command()
@api_command
async def budget(session: ApiSession) -> None:
    """Show what is used and reserved of each cap this month, the plan's first; a cap that is changed holds from then on.

    A cap is set with max_credits_month of a workspace, an agent, a member or a task, and with conversation_credits_max of a
    workspace or an agent for each conversation.
    """
    answer = await session.client.get_budget()
    session.screen.print_json(answer)
    rows = [build_row(row) for row in answer["budgets"]]
    session.screen.print_table(rows, *COLUMNS, empty=f"Nothing has a cap or was used in {answer['month']}.")


def build_row(budget: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of the table: the share in percent, and a bar of what is used (#) and reserved (+) of the limit."""
    row = {"kind": budget["kind"], "id": budget["id"], "name": budget["name"], "limit": budget["limit"] or "none"}
    amounts = {"used": budget["credits_used"], "reserved": budget["credits_reserved"], "left": budget["credits_left"] or ""}
    if budget["limit"] is None:
        return {**row, **amounts, "left": "", "share": "", "bar": ""}
    bar = draw_bar(budget["credits_used"], budget["credits_reserved"], budget["limit"])
    return {**row, **amounts, "share": f"{budget['percent_used']}%", "bar": bar}


def draw_bar(used: str, reserved: str, limit: str) -> str:
    """Return a bar of `BAR_CHARACTERS`; what is above the limit is not drawn, and a limit of nothing is all used."""
    whole = Decimal(limit)
    ends = (Decimal(used), Decimal(used) + Decimal(reserved))
    first, second = (min(BAR_CHARACTERS, int(BAR_CHARACTERS * end / whole)) if whole else BAR_CHARACTERS for end in ends)
    return "#" * first + "+" * (second - first) + "." * (BAR_CHARACTERS - second)


@click.command()
@click.option("--of", type=click.Choice(["workspace", "plan"]), default="workspace", show_default=True, help="Whose caps.")
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True, help="How many, at most.")
@api_command
async def alerts(session: ApiSession, of: str, limit: int) -> None:
    """List the alerts of caps of which 50, 80 or 100 percent are used, or which refused an execution; the newest first.

    They are sent to the workspace's alert_url, signed with the secret that is told when it is set.
    """
    listed: list[Mapping[str, Any]] = []
    async for alert in session.client.iterate_alerts(of=of, limit=min(limit, PAGE_MAX)):
        listed.append(alert)
        if len(listed) == limit:
            break
    session.screen.print_json(listed)
    rows = [{**alert, "cap": f"{alert['percent']}% of {alert['limit']}", "sent": describe_sending(alert)} for alert in listed]
    columns = ("created_at", "kind", "id", "cap", "credits_used", "credits_reserved", "refused", "sent")
    session.screen.print_table(rows, *columns, empty="There are no alerts.")


def describe_sending(alert: Mapping[str, Any]) -> str:
    """Return what became of sending an alert, in a few words."""
    outcome = alert["reason"] or ("" if alert["status"] is None else f"HTTP {alert['status']}")
    attempts = f"after {alert['attempts']} attempts" if alert["attempts"] > 1 else ""
    return " ".join(filter(None, (alert["state"], attempts, outcome and f"({outcome})")))


@click.command()
@click.option("--month", help='A month (UTC) like "2026-11"; without it, this one.')
@click.option(
    "--by", type=click.Choice([by.value for by in Grouping]), default="task", show_default=True, help="What to sum up by."
)
@api_command
async def ledger(session: ApiSession, month: str | None, by: str) -> None:
    """Show a month's credits by task, agent, person or workspace, the dearest first; the books behind it sum to zero.

    It is of the workspace that is acted in; by workspace, of all, with the owner's own key alone.
    """
    statement = await session.client.get_ledger(month=month, by=by)
    session.screen.print_json(statement)
    rows = [{**line, by: line["id"] or "(nobody)"} for line in statement["lines"]]
    columns = ("executions", "llm_tokens", "api_call_fees", "embedding", "storage_bytes", "credits")
    session.screen.print_table(rows, by, *columns, empty=f"Nothing was used in {statement['month']}.")
    books = f"{say_count(statement['entries'], 'entries')} sum to {statement['sum_of_postings']}"
    session.screen.print_line(f"{statement['month']}: {statement['credits']} credits; {books}")
