"""`ferryman budget` and `ledger`: this month's caps with what is used of them, and what a month cost."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import click

from ferryman.cli.commands import ApiSession, api_command
from ferryman.domain.credits.statement import Grouping

BAR_CHARACTERS = 20
COLUMNS = ("kind", "id", "name", "limit", "used", "reserved", "left", "share", "bar")


@click.command()
@api_command
async def budget(session: ApiSession) -> None:
    """Show what is used and reserved of each cap this month, the plan's first; a cap that is changed holds from then on.

    A cap is set with max_credits_month of a workspace, an agent, a member or a task.
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
    columns = ("executions", "llm_tokens", "api_call_fees", "credits")
    session.screen.print_table(rows, by, *columns, empty=f"Nothing was used in {statement['month']}.")
    books = f"{statement['entries']} entries sum to {statement['sum_of_postings']}"
    session.screen.print_line(f"{statement['month']}: {statement['credits']} credits; {books}")
