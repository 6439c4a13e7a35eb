"""The live view: an execution's events and its record, as lines and tables."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from rich.text import Text

from ferryman.cli.screen import Screen, create_table, neutralize_controls, shorten
from ferryman.client import StreamedEvent
from ferryman.domain.counts import say_count

STYLES = {"completed": "bold green", "failed": "bold red", "timeout": "bold red", "killed": "bold yellow"}
RED = "red"
WIDE_COLUMNS = 140
ARGUMENTS_LAST = ("headers", "body", "query_params")


def print_event(screen: Screen, event: StreamedEvent) -> None:
    """Print one event, as it happens."""
    screen.print_json({"number": event.number, "event": event.kind, **event.body})
    body = event.body
    if event.kind == "started":
        screen.print_line(f"started    {body['execution_id']}", "dim")
    elif event.kind == "turn":
        tokens = f"{body['input_tokens']} + {body['output_tokens']} tokens, {format_credits(body['credits'])} credits"
        screen.print_line(f"model      turn {body['iteration']} ({tokens})", "cyan")
        if body.get("thinking"):
            screen.print_line(
                "           " + neutralize_controls(body["thinking"]).replace("\n", "\n           "), "dim italic"
            )
        if body["text"]:
            screen.print_line("           " + neutralize_controls(body["text"]).replace("\n", "\n           "))
    elif event.kind == "tool_call":
        tool = describe_tool(body["name"], body)
        screen.print_line(f"call       {tool} {shorten(_arguments(body['arguments']), max(40, screen.width - 24))}")
    elif event.kind == "tool_result":
        text, style = describe_result(body)
        screen.print_line(f"           {text}", style)
    elif event.kind == "progress":
        used, reserved = format_credits(body["credits_used"]), format_credits(body["credits_reserved"])
        if body["cause"]:
            screen.print_line(
                f"waiting    {say_count(body['attempts'], 'attempts')}: {body['cause']}; {used} credits used", "yellow"
            )
        else:
            screen.print_line(f"credits    {used} of {reserved} used", "dim")
    elif event.kind == "call_progress":
        screen.print_line(f"           {describe_progress(body)}", "dim")
    elif event.kind == "waiting":
        screen.print_line(f"waiting    {body['name']} waits for a person, digest {body['digest']}", "yellow")
        print_waiting(screen, body["approval"])
    elif event.kind == "decided":
        by = f" by {body['by']}" if body.get("by") else ""
        screen.print_line(f"{body['verdict']:<10} {body['name']}{by} ({body['approval']})", "green" if by else "yellow")
    elif event.kind == "finished":
        screen.print_line(
            f"{body['status']:<10} {format_credits(body['credits_used'])} credits", STYLES.get(body["status"], "bold")
        )


def print_waiting(screen: Screen, approval: str) -> None:
    """Print what to type to decide about a call that waits."""
    screen.print_line(f"           ferryman approvals show {approval}", "yellow")
    screen.print_line(f"           ferryman approvals deny {approval} --reason TEXT", "dim")


def describe_progress(body: Mapping[str, Any]) -> str:
    """Return how far a call under way is, on one line: its message is a stranger's."""
    total = "" if body["total"] is None else f" of {body['total']:g}"
    return f"{body['name']}: {body['done']:g}{total} {shorten(body['message'], 120)}".rstrip()


def describe_tool(tool: str, call: Mapping[str, Any]) -> str:
    """Return the name of a call's tool, with the one that the model called where that is another."""
    return f"{tool} (called as {call['called_as']})" if call.get("called_as") else tool


def describe_result(result: Mapping[str, Any]) -> tuple[str, str]:
    """Return what came of a call, on one line, and the style to show it in."""
    if result["blocked"] and not result["ok"]:
        return f"refused: {result['block_reason']} · {shorten(result['content'], 160)}", "red"
    style = "green" if result["ok"] else "yellow"
    if result["response_status"] is None:
        outcome = "done" if result["ok"] else f"failed: {result['code']}"
        return f"{outcome} · {shorten(result['content'], 160)}", style
    size = say_count(result["response_size_bytes"], "bytes")
    return f"{result['response_status']} · {size} in {result['latency_ms'] or 0:.0f} ms", style


def print_answer(screen: Screen, execution: Mapping[str, Any]) -> None:
    """Print how an execution ended."""
    if execution["output"]:
        screen.print_line()
        screen.print_line(execution["output"], "bold")
    if execution["error"]:
        screen.print_line()
        screen.print_line(execution["error"], "red")


def print_rows(screen: Screen, rows: Sequence[Mapping[str, Any]]) -> None:
    """Print the audit rows, ten fields of each: a table where it fits, else a block a row."""
    if screen.width < WIDE_COLUMNS:
        for number, row in enumerate(rows, start=1):
            _block(screen, number, row)
        return
    table = create_table("#", "tool", "method", "url", "credential", "status", "bytes", "ms", "blocked", "reason", "content")
    for number, row in enumerate(rows, start=1):
        content = shorten(row["content"], 2 * screen.width // 5)
        cells = (number, row["tool"], row["method"], row["url"], row["credential_used"], *_measure(row), content)
        table.add_row(*(Text(neutralize_controls(cell), style=RED if row["blocked"] else "") for cell in cells))
    screen.print_renderable(table)


def _block(screen: Screen, number: int, row: Mapping[str, Any]) -> None:
    style = RED if row["blocked"] else ""
    status, size, latency, blocked, reason = (neutralize_controls(cell) or "-" for cell in _measure(row))
    screen.print_line(f"{number:>3} {row['tool']} {row['method'] or '-'} {row['url'] or '-'}", style or "bold")
    screen.print_line(f"    credential {row['credential_used'] or '-'} · status {status} · {size} bytes · {latency} ms", style)
    screen.print_line(f"    blocked {blocked} · reason {reason}", style)
    screen.print_line(f"    {shorten(row['content'], max(40, 2 * screen.width - 8))}", "dim")


def _measure(row: Mapping[str, Any]) -> tuple[object, ...]:
    latency = None if row["latency_ms"] is None else f"{row['latency_ms']:.0f}"
    return row["response_status"], row["response_size_bytes"], latency, "yes" if row["blocked"] else "no", row["block_reason"]


def format_credits(amount: object) -> str:
    """Return an amount of credits, to four places at most."""
    return f"{Decimal(str(amount)).quantize(Decimal('0.0001')).normalize():f}"


def _arguments(arguments: Mapping[str, Any]) -> str:
    first = [f"{value}" for name, value in arguments.items() if name not in ARGUMENTS_LAST]
    last = [f"{name}={json.dumps(arguments[name], ensure_ascii=False)}" for name in ARGUMENTS_LAST if arguments.get(name)]
    return " ".join([*first, *last])
