"""The audit: an execution's full account, turn by turn, for people to read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from ferryman.cli.live import STYLES, describe_tool, format_credits, print_answer
from ferryman.cli.screen import Screen, neutralize_controls, shorten
from ferryman.domain.counts import say_count

Json = Mapping[str, Any]
BLOCK_CHARACTERS = 400
"""What is shown of a block that is neither a text nor thinking; the record has all of it."""


def print_audit(screen: Screen, record: Json) -> None:
    """Print the whole of `record`, as GET /v1/executions/{id}/record answers it."""
    execution, opening = record["execution"], record["opening"]
    screen.print_line(f"{execution['execution_id']}  {execution['status']}", STYLES.get(execution["status"], "bold"))
    times = ("created_at", "started_at", "completed_at")
    screen.print_fields({"task": execution["task_id"], **{name: execution[name] for name in times}})
    if opening is not None:
        names = ("model", "max_tokens", "temperature", "max_iterations", "max_credits", "system", "prompt")
        screen.print_line("\nopening", "bold")
        screen.print_fields({**{name: opening[name] for name in names}, "tools": [tool["name"] for tool in opening["tools"]]})
    delivery = 0
    for step in record["steps"]:
        if step["slice"] != delivery:
            screen.print_line(f"\nhanded over: slice {step['slice']}", "cyan")
            delivery = step["slice"]
        _turn(screen, step)
        for call in record["calls"]:
            if call["iteration"] == step["number"]:
                _call(screen, call)
    if execution["slice"] != delivery:
        screen.print_line(f"\nhanded over: slice {execution['slice']}", "cyan")
    _money(screen, record)
    screen.print_line(f"\n{say_count(len(record['events']), 'events')} · ended {execution['status']}", "bold")
    print_answer(screen, execution)


def _turn(screen: Screen, step: Json) -> None:
    usage = step["usage"]
    tokens = f"{usage['input_tokens']} + {usage['output_tokens']} tokens"
    cached = usage["cache_read_tokens"] + usage["cache_write_tokens"]
    tokens += f" ({cached} by the cache)" if cached else ""
    screen.print_line(
        f"\nturn {step['number']}  {step['at']}  {step['stop_reason']} · {tokens} · {step['credits']} credits", "bold"
    )
    screen.print_line(f"  asked {step['prompt_digest']}", "dim")
    for block in step["content"]:
        if block["type"] == "text" and block["text"]:
            screen.print_line("  " + neutralize_controls(block["text"]).replace("\n", "\n  "))
        elif block["type"] == "thinking" and block.get("thinking"):
            screen.print_line("  thinking  " + neutralize_controls(block["thinking"]).replace("\n", "\n  "), "dim italic")
        elif block["type"] not in ("text", "thinking", "tool_use"):
            others = {name: value for name, value in block.items() if name != "type"}
            screen.print_line(f"  {neutralize_controls(block['type'])}  {shorten(json.dumps(others), BLOCK_CHARACTERS)}", "dim")


def _call(screen: Screen, call: Json) -> None:
    result = call["result"] or {}
    doubt = " · IN DOUBT: it may have been carried out" if call["in_doubt"] else ""
    refused = f" · refused: {result['block_reason']}" if result.get("blocked") and not result["ok"] else ""
    style = "yellow" if doubt else "red" if refused else "cyan"
    tool = describe_tool(call["tool"], call)
    parent = f", asked for by call {call['parent'] + 1}" if call.get("parent") is not None else ""
    screen.print_line(
        f"  call {call['seq'] + 1}  {tool}  {call['state']}, attempt {call['attempt']}{parent}{refused}{doubt}", style
    )
    times = {name: call[name] or "-" for name in ("created_at", "sent_at", "deadline", "settled_at")}
    approval = {"approval": call["approval"]} if call.get("approval") else {}
    if approved := call.get("approved"):
        beforehand = ", beforehand" if approved["is_standing"] else ""
        approval |= {"approved": f"by {approved['by']} at {approved['at']}{beforehand}: {approved['digest']}"}
    for name, value in {"id": call["id"], "arguments": call["arguments"], **times, **approval}.items():
        screen.print_fields({f"    {name:<19}": value})
    for name, value in {**result, "parts": _describe_parts(result.get("parts", ()))}.items():
        text = "-" if value is None else "yes" if value is True else "no" if value is False else neutralize_controls(value)
        screen.print_line(f"    {name:<19}  " + text.replace("\n", "\n" + " " * 25), "dim" if name == "content" else "")


def _describe_parts(parts: Sequence[Json]) -> str:
    """Return a line for each part: its kind, its characters, and what is known of a file or a binary body."""
    names = ("media_type", "size_bytes", "sha256", "file")
    lines = [
        ", ".join(
            (f"{part['kind']}, characters {part['start']} to {part['end']}", *(str(part[name]) for name in names if part[name]))
        )
        for part in parts
    ]
    return "\n".join(lines) or "-"


def _money(screen: Screen, record: Json) -> None:
    execution = record["execution"]
    screen.print_line("\ncredits", "bold")
    used, reserved, current = (Decimal(execution[f"credits_{name}"]) for name in ("used", "reserved", "held"))
    sums: dict[str, Decimal] = {}
    for entry in record["ledger"]:
        for posting in entry["postings"]:
            amount = Decimal(posting["credits"])
            sums[posting["account"]] = sums.get(posting["account"], Decimal(0)) + amount
            what = entry["id"].rpartition(".")[2]
            screen.print_line(f"  {entry['at']:<28} {what:<11} {posting['account']:<50} {_format_signed(amount):>12}")
    fees, tokens = sums.get("api_call_fee", Decimal(0)), sums.get("llm_tokens", Decimal(0))
    parts = {"reserved": reserved, "held": current, "tokens": tokens, "fees": fees, "used": used}
    if execution["completed_at"] is not None:
        parts["released"] = reserved - used if record["ledger"] else Decimal(0)
    screen.print_line("  " + " · ".join(f"{name} {format_credits(amount)}" for name, amount in parts.items()))
    for account_, amount in sums.items():
        screen.print_line(f"  {account_:<50} {_format_signed(amount):>12}", "dim")
    total = sum(sums.values(), Decimal(0))
    screen.print_line(f"  the ledger's lines sum to {format_credits(total)}", "bold red" if total else "green")


def _format_signed(amount: Decimal) -> str:
    return f"{amount.normalize():+f}"
