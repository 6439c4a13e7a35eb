"""`ferryman deploy`: the house on Google Cloud, with the user's own terraform and gcloud."""

from __future__ import annotations

import asyncio
import functools
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from ferryman.cli import exits
from ferryman.cli.screen import Screen
from ferryman.domain.finding import Grade, worst
from ferryman.serving import keys
from ferryman.wiring.deploying import commands, course
from ferryman.wiring.deploying.course import Course

COLUMNS = ("grade", "of", "what", "seen")


@click.group(no_args_is_help=True)
def deploy() -> None:
    """Make Ferryman on Google Cloud, from a checkout: plan, apply, status, destroy.

    \b
    Needs terraform or tofu, gcloud with an account, and a project with billing:
        ferryman deploy plan --project my-project
        ferryman deploy apply --project my-project
    """


def deploying(work: Callable[[Course, Screen], int]) -> Callable[..., None]:
    """Make a command of `work`: its options, its screen, and errors that become exit codes."""

    @click.option("--project", required=True, help="The id of the Google Cloud project; it has to exist, with billing.")
    @click.option("--region", default="us-central1", show_default=True, help="Where everything is made.")
    @click.option("--root", type=click.Path(path_type=Path, file_okay=False), default=".", help="The checkout. [default: here]")
    @click.option("--pause", type=float, default=course.PAUSE_S, hidden=True)
    @click.option("--json", "as_json", is_flag=True, help="JSON for programs.")
    @functools.wraps(work)
    def command(project: str, region: str, root: Path, pause: float, as_json: bool) -> None:
        screen = Screen(as_json=as_json)
        try:
            place = root.resolve()
            made = Course(
                commands=commands.found(project, region, place / "infra"),
                root=place,
                tell=lambda text: screen.say(text, "dim"),
                pause_s=pause,
            )
            sys.exit(work(made, screen))
        except (commands.Missing, commands.Failed) as error:
            screen.wrong(str(error))
            sys.exit(exits.FAILED)
        except KeyboardInterrupt:
            screen.say("broken off; the same command goes on from here")
            sys.exit(exits.INTERRUPTED)

    return command


@deploy.command()
@deploying
def plan(made: Course, screen: Screen) -> int:
    """Tell what `apply` would make or change. Changes nothing."""
    made.plan()
    screen.record({"planned": True})
    return exits.DONE


@deploy.command()
@deploying
def apply(made: Course, screen: Screen) -> int:
    """Make it, or bring it up to date: checks, archives, keys, Terraform, a smoke test. Prints the API's URL and first key."""
    urls = made.apply()
    verdict, rows = _tried(made, screen, urls)
    if verdict is Grade.WRONG:
        screen.record({"url": urls.get("api"), "key": None, "findings": rows})
        screen.wrong("the deployment is made, and its smoke test found something wrong")
        return exits.FAILED
    key = keys.new_key()
    stored = asyncio.run(course.first_key(made.commands.project, keys.digest(key)))
    screen.record({"url": urls["api"], "key": key if stored else None, "findings": rows})
    screen.say(f"The API      {urls['api']}", "bold green")
    screen.say(f"Your key     {key}   (shown once, stored nowhere)" if stored else "Your key     the one you have")
    return exits.DONE


@deploy.command()
@deploying
def status(made: Course, screen: Screen) -> int:
    """Try every function of what is deployed."""
    urls = made.addresses()
    if not urls:
        screen.wrong(f"nothing is deployed in {made.commands.project}")
        return exits.FAILED
    verdict, rows = _tried(made, screen, urls)
    screen.record({"url": urls["api"], "verdict": verdict.value, "findings": rows})
    return exits.FAILED if verdict is Grade.WRONG else exits.DONE


@deploy.command()
@deploying
def destroy(made: Course, screen: Screen) -> int:
    """Unmake it all, after you have typed the project's id."""
    if click.prompt("This destroys the deployment. The project's id", err=True) != made.commands.project:
        screen.wrong("that is not the project; nothing was destroyed")
        return exits.REFUSED
    made.destroy()
    screen.record({"destroyed": True})
    return exits.DONE


def _tried(made: Course, screen: Screen, urls: dict[str, str]) -> tuple[Grade, list[dict[str, Any]]]:
    found = asyncio.run(course.tried(urls, pause_s=made.pause_s))
    rows = [{**asdict(each), "grade": each.grade.value} for each in found]
    screen.table(rows, *COLUMNS, empty="There is no function.")
    return worst(found), rows
