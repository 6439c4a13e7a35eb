"""The play: the story's acts one after the other, each told as it happens, and the verdict on each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.text import Text

from ferryman.cli import live
from ferryman.cli.demo import evidence, story
from ferryman.cli.demo.proof import Searched
from ferryman.cli.screen import Screen, grid
from ferryman.client import Client
from ferryman.wiring.local.stack import Stack


async def play(screen: Screen, stack: Stack, client: Client) -> bool:
    """Run the demo in `stack`; whether everything held."""
    key = story.new_key()
    await _set(screen, stack, key)
    task = await _prepare(screen, client, key)
    events, execution = await _run(screen, client, task)
    _tell(screen, execution)
    clean, travelled = await evidence.gather(stack, client, key, events)
    report = await stack.admin.report(story.SCRIPT)
    thefts = await stack.admin.requests(story.THIEF)
    show(screen, clean, travelled)
    checks = {
        "the execution completed with the answer": (execution["status"], execution["output"]) == ("completed", story.ANSWER),
        "each call was carried or refused as it should": tuple(_reasons(execution)) == story.REASONS,
        "the model was told what it should be told": not report["problems"],
        "the thief's server was never reached": not thefts,
        "every place had something to look through": all(each.things for each in [*clean, travelled]),
        "the key was nowhere it should not be": not any(each.found for each in clean),
        f"the key arrived where it should, {story.KEY_TRAVELS} times": travelled.found == story.KEY_TRAVELS,
    }
    _judge(screen, checks)
    for problem in report["problems"]:
        screen.wrong(f"the script: {problem}")
    places = [{"place": each.place, "things": each.things, "bytes": each.size_bytes, "found": each.found} for each in clean]
    screen.record({"checks": checks, "places": places, "travelled": travelled.found, "execution": execution})
    return all(checks.values())


async def _set(screen: Screen, stack: Stack, key: str) -> None:
    screen.say("\nPretend services, over real TLS", "bold")
    for host, (what, routes) in story.HOSTS.items():
        await stack.admin.answer(host, routes)
        screen.say(f"  {host:<28} {what}")
    await stack.admin.script(story.SCRIPT, story.script(key))
    screen.say(f"  {story.TASK['model']:<28} a model that does its job, and attacks three times on the way")


async def _prepare(screen: Screen, client: Client, key: str) -> str:
    screen.say("\nA task, through the API", "bold")
    task = await client.create_task(story.TASK)
    name: str = task["task_id"]
    screen.say(f"  {name}: tools {', '.join(task['tools'])}; services {', '.join(task['integrations'])}")
    sealed = await client.set_credential(name, story.CREDENTIAL, {"value": key, "service": "lunarcrush"})
    screen.say(f"  {story.planted(sealed)}")
    return name


async def _run(screen: Screen, client: Client, task: str) -> tuple[list[Mapping[str, Any]], dict[str, Any]]:
    screen.say("\nAn execution, live", "bold")
    started = await client.start(task)
    events: list[Mapping[str, Any]] = []
    quiet = Screen(as_json=True) if screen.as_json else screen
    async for event in client.events(started["execution_id"]):
        events.append(event.body)
        if not quiet.as_json:
            live.tell(screen, event)
    return events, await client.execution(started["execution_id"])


def _tell(screen: Screen, execution: Mapping[str, Any]) -> None:
    live.answer(screen, execution)
    screen.say("\nThe audit trail, as the execution's document keeps it", "bold")
    live.audit(screen, execution["tool_calls"])
    echoed = execution["tool_calls"][story.ECHOED]["content"]
    screen.say(f"\nWhat the model saw of the echo: {story.around_redaction(echoed)}")
    used = live.amount_of(execution["credits_used"])
    tokens = execution["usage"]
    spent = sum(tokens.values())
    screen.say(
        f"\nCredits: {used} used for {spent} tokens and the fees of authenticated calls; the rest of the reserve is returned"
    )


def _reasons(execution: Mapping[str, Any]) -> list[str | None]:
    return [row["block_reason"] for row in execution["tool_calls"]]


def show(screen: Screen, clean: list[Searched], travelled: Searched) -> None:
    """Where the key was looked for, and where it was found."""
    screen.say("\nThe proof: the planted key, looked for plain, reversed, in hex, percent-encoded and in base64", "bold")
    table = grid("place", "searched", "bytes", "found")
    for each in clean:
        style = "red" if each.found else "green"
        table.add_row(each.place, str(each.things), f"{each.size_bytes:,}", Text(str(each.found), style=style))
    arrived = Text(str(travelled.found), style="bold")
    table.add_row(f"its place: {travelled.place}", str(travelled.things), f"{travelled.size_bytes:,}", arrived)
    screen.draw(table)


def _judge(screen: Screen, checks: Mapping[str, bool]) -> None:
    screen.say()
    for fact, held in checks.items():
        screen.say(f"  {'held' if held else 'FAILED':<7} {fact}", "green" if held else "bold red")
