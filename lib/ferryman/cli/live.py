"""The live view: an execution's events and its record, as lines and tables."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from rich.text import Text

from ferryman.cli.screen import Screen, grid, plain, short
from ferryman.client import Event

STYLES = {"completed": "bold green", "failed": "bold red", "timeout": "bold red", "killed": "bold yellow"}
RED = "red"
WIDE_COLUMNS = 140
ARGUMENTS_LAST = ("headers", "body", "query_params")


def tell(screen: Screen, event: Event) -> None:
    """One event, as it happens."""
    screen.record({"number": event.number, "event": event.kind, **event.body})
    body = event.body
    if event.kind == "started":
        screen.say(f"started    {body['execution_id']}", "dim")
    elif event.kind == "turn":
        tokens = f"{body['input_tokens']} + {body['output_tokens']} tokens, {amount_of(body['credits'])} credits"
        screen.say(f"model      turn {body['iteration']} ({tokens})", "cyan")
        if body["text"]:
            screen.say("           " + plain(body["text"]).replace("\n", "\n           "))
    elif event.kind == "tool_call":
        screen.say(f"call       {body['name']} {short(_arguments(body['arguments']), max(40, screen.width - 24))}")
    elif event.kind == "tool_result":
        text, style = outcome(body)
        screen.say(f"           {text}", style)
    elif event.kind == "finished":
        screen.say(f"{body['status']:<10} {amount_of(body['credits_used'])} credits", STYLES.get(body["status"], "bold"))


def outcome(result: Mapping[str, Any]) -> tuple[str, str]:
    """What came of a call, on one line, and the style to show it in."""
    if result["blocked"]:
        return f"refused: {result['block_reason']} · {short(result['content'], 160)}", "red"
    if result["response_status"] is None:
        return f"no answer · {short(result['content'], 160)}", "yellow"
    took = f"{result['response_size_bytes']} bytes in {result['latency_ms'] or 0:.0f} ms"
    return f"{result['response_status']} · {took}", "green" if result["response_status"] < 400 else "yellow"


def answer(screen: Screen, execution: Mapping[str, Any]) -> None:
    """How an execution ended."""
    if execution["output"]:
        screen.say()
        screen.say(execution["output"], "bold")
    if execution["error"]:
        screen.say()
        screen.say(execution["error"], "red")


def audit(screen: Screen, rows: Sequence[Mapping[str, Any]]) -> None:
    """The audit rows, all ten fields of each: a table where it fits, else a block a row."""
    if screen.width < WIDE_COLUMNS:
        for number, row in enumerate(rows, start=1):
            _block(screen, number, row)
        return
    table = grid("#", "tool", "method", "url", "credential", "status", "bytes", "ms", "blocked", "reason", "content")
    for number, row in enumerate(rows, start=1):
        content = short(row["content"], 2 * screen.width // 5)
        cells = (number, row["tool"], row["method"], row["url"], row["credential_used"], *_measured(row), content)
        table.add_row(*(Text(plain(cell), style=RED if row["blocked"] else "") for cell in cells))
    screen.draw(table)


def _block(screen: Screen, number: int, row: Mapping[str, Any]) -> None:
    style = RED if row["blocked"] else ""
    status, size, took, blocked, reason = (plain(cell) or "-" for cell in _measured(row))
    screen.say(f"{number:>3} {row['tool']} {row['method'] or '-'} {row['url'] or '-'}", style or "bold")
    screen.say(f"    credential {row['credential_used'] or '-'} · status {status} · {size} bytes · {took} ms", style)
    screen.say(f"    blocked {blocked} · reason {reason}", style)
    screen.say(f"    {short(row['content'], max(40, 2 * screen.width - 8))}", "dim")


def _measured(row: Mapping[str, Any]) -> tuple[object, ...]:
    took = None if row["latency_ms"] is None else f"{row['latency_ms']:.0f}"
    return row["response_status"], row["response_size_bytes"], took, "yes" if row["blocked"] else "no", row["block_reason"]


def amount_of(amount: object) -> str:
    """An amount of credits, to four places at most."""
    return f"{Decimal(str(amount)).quantize(Decimal('0.0001')).normalize():f}"


def _arguments(arguments: Mapping[str, Any]) -> str:
    first = [f"{value}" for name, value in arguments.items() if name not in ARGUMENTS_LAST]
    last = [f"{name}={json.dumps(arguments[name], ensure_ascii=False)}" for name in ARGUMENTS_LAST if arguments.get(name)]
    return " ".join([*first, *last])
