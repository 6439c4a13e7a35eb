"""`ferryman why`: which words of which source decided where a call goes."""

from __future__ import annotations

import click

from ferryman.cli.commands import ApiSession, api_command
from ferryman.cli.exits import DONE, FAILED
from ferryman.cli.screen import neutralize_controls

UNJUDGED = "call {call} was not judged: it was made before every call was (docs/approvals.md)"


@click.command()
@click.argument("execution")
@click.argument("call", type=click.IntRange(min=1))
@api_command
async def why(session: ApiSession, execution: str, call: int) -> int:
    """Print which words of which source decided where call CALL of EXECUTION goes, as a tree. Calls are numbered from 1.

    It says whether the call waited for a person because of that. Exit code 1 where there is no such call, or it was not judged.
    """
    calls = [item async for item in session.client.iterate_calls(execution) if item["seq"] == call - 1]
    flow = calls[0].get("flow") if calls else None
    if flow is None:
        session.screen.print_error(UNJUDGED.format(call=call) if calls else f"execution {execution} has no call {call}")
        return FAILED
    lines = flow["lines"] or [f"{calls[0]['tool']}: may go ({flow['reason']})"]
    session.screen.print_result(flow, "\n".join(map(neutralize_controls, lines)))
    return DONE
