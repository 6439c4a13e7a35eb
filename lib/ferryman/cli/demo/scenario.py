"""The scenario of the demo: its steps one after the other, each printed as it happens, and the verdict on each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.text import Text

from ferryman.cli import live
from ferryman.cli.demo import proof, story
from ferryman.cli.demo.proof import SearchResult
from ferryman.cli.screen import Screen, create_table
from ferryman.client import AsyncClient
from ferryman.stack.local_stack import Stack


async def run_scenario(screen: Screen, stack: Stack, client: AsyncClient) -> bool:
    """Run the demo in `stack`; return whether everything held."""
    key = story.generate_key()
    await _set(screen, stack, key)
    task = await _prepare(screen, client, key)
    events, execution = await _run(screen, client, task)
    _tell(screen, execution)
    clean, travelled = await proof.gather_evidence(stack, client, key, events)
    report = await stack.admin.read_report(story.SCRIPT)
    thefts = await stack.admin.list_requests(story.THIEF)
    print_proof(screen, clean, travelled)
    reasons = tuple(row["block_reason"] for row in execution["tool_calls"])
    checks = {
        "the execution completed with the answer": (execution["status"], execution["output"]) == ("completed", story.ANSWER),
        "each call was executed or refused as it should be": reasons == story.REASONS,
        "the model was told what it should be told": not report["problems"],
        "the thief's server was never reached": not thefts,
        "every place had something to search": all(result.things for result in [*clean, travelled]),
        "the key was nowhere it should not be": not any(result.hits for result in clean),
        f"the key arrived where it should, {story.KEY_TRAVELS} times": travelled.hits == story.KEY_TRAVELS,
    }
    screen.print_line()
    for fact, is_true in checks.items():
        screen.print_line(f"  {'held' if is_true else 'FAILED':<7} {fact}", "green" if is_true else "bold red")
    for problem in report["problems"]:
        screen.print_error(f"the script: {problem}")
    places = [
        {"place": result.place, "things": result.things, "bytes": result.size_bytes, "found": result.hits} for result in clean
    ]
    screen.print_json({"checks": checks, "places": places, "travelled": travelled.hits, "execution": execution})
    return all(checks.values())


async def _set(screen: Screen, stack: Stack, key: str) -> None:
    screen.print_line("\nSimulated services, over real TLS", "bold")
    for host, (what, routes) in story.HOSTS.items():
        await stack.admin.serve_routes(host, routes)
        screen.print_line(f"  {host:<28} {what}")
    await stack.admin.set_script(story.SCRIPT, story.build_script(key))
    screen.print_line(f"  {story.TASK['model']:<28} a model that does its job, and attacks three times on the way")


async def _prepare(screen: Screen, client: AsyncClient, key: str) -> str:
    screen.print_line("\nA task, through the API", "bold")
    task = await client.create_task(story.TASK)
    name: str = task["task_id"]
    screen.print_line(f"  {name}: tools {', '.join(task['tools'])}; services {', '.join(task['integrations'])}")
    sealed = await client.set_credential(name, story.CREDENTIAL, {"value": key, "service": "lunarcrush"})
    screen.print_line(f"  {story.describe_credential(sealed)}")
    return name


async def _run(screen: Screen, client: AsyncClient, task: str) -> tuple[list[Mapping[str, Any]], Mapping[str, Any]]:
    screen.print_line("\nAn execution, live", "bold")
    started = await client.start_execution(task)
    events: list[Mapping[str, Any]] = []
    async for event in client.stream_events(started["execution_id"]):
        events.append(event.body)
        if not screen.as_json:
            live.print_event(screen, event)
    return events, await client.get_execution(started["execution_id"])


def _tell(screen: Screen, execution: Mapping[str, Any]) -> None:
    live.print_answer(screen, execution)
    screen.print_line("\nThe audit trail, as the execution's document keeps it", "bold")
    live.print_rows(screen, execution["tool_calls"])
    screen.print_line(f"\nWhat the model saw of the echo: {story.extract_redaction(execution['tool_calls'])}")
    used = live.format_credits(execution["credits_used"])
    tokens = execution["usage"]
    spent = sum(tokens.values())
    screen.print_line(
        f"\nCredits: {used} used for {spent} tokens and the fees of authenticated calls; the rest of the reserve is returned"
    )


def print_proof(screen: Screen, clean: list[SearchResult], travelled: SearchResult) -> None:
    """Print where the key was searched for, and where it was found."""
    screen.print_line(
        "\nThe proof: the canary key, searched for plain, reversed, in hex, percent-encoded and in base64", "bold"
    )
    table = create_table("place", "searched", "bytes", "found")
    for result in clean:
        style = "red" if result.hits else "green"
        table.add_row(result.place, str(result.things), f"{result.size_bytes:,}", Text(str(result.hits), style=style))
    arrived = Text(str(travelled.hits), style="bold")
    table.add_row(f"its place: {travelled.place}", str(travelled.things), f"{travelled.size_bytes:,}", arrived)
    screen.print_renderable(table)
