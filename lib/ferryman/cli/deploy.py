"""`ferryman deploy`: Ferryman on Google Cloud, with the user's own terraform and gcloud."""

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
from ferryman.cli.commands import ONE_DOCUMENT
from ferryman.cli.screen import Screen
from ferryman.domain.finding import Grade, find_worst_grade
from ferryman.operations.deploy import commands
from ferryman.operations.deploy import deployment as deployments
from ferryman.operations.deploy.deployment import Deployment
from ferryman.ports.errors import UnavailableError
from ferryman.serving import keys

COLUMNS = ("grade", "of", "what", "seen")


@click.group(no_args_is_help=True)
def deploy() -> None:
    """Make Ferryman on Google Cloud, from a checkout: plan, apply, status, destroy.

    \b
    Needs terraform or tofu, gcloud with an account, and a project with billing:
        ferryman deploy plan --project my-project
        ferryman deploy apply --project my-project
    """


def deploy_command(work: Callable[[Deployment, Screen], int]) -> Callable[..., None]:
    """Make a command of `work`: its options, its screen, and errors that become exit codes."""

    @click.option("--project", required=True, help="The id of the Google Cloud project; it has to exist, with billing.")
    @click.option("--region", default="us-central1", show_default=True, help="Where everything is made.")
    @click.option("--root", type=click.Path(path_type=Path, file_okay=False), default=".", help="The checkout. [default: here]")
    @click.option("--pause", type=float, default=deployments.PAUSE_S, hidden=True)
    @click.option("--json", "as_json", is_flag=True, help=ONE_DOCUMENT)
    @functools.wraps(work)
    def command(project: str, region: str, root: Path, pause: float, as_json: bool) -> None:
        screen = Screen(as_json=as_json)
        try:
            progress: dict[str, Any] = {"tell": screen.print_step, "count": screen.print_count}
            deployment = Deployment.find(project, region, root.resolve(), **progress, pause_s=pause)
            sys.exit(work(deployment, screen))
        except (commands.CommandMissingError, commands.CommandFailedError) as error:
            screen.print_error(str(error))
            sys.exit(exits.FAILED)
        except KeyboardInterrupt:
            screen.print_line("broken off; the same command goes on from here")
            sys.exit(exits.INTERRUPTED)

    return command


@deploy.command()
@deploy_command
def plan(deployment: Deployment, screen: Screen) -> int:
    """Tell what `apply` would make or change. Changes nothing."""
    with screen.show_progress("planning the deployment"):
        deployment.plan()
    screen.print_json({"planned": True})
    return exits.DONE


@deploy.command()
@deploy_command
def apply(deployment: Deployment, screen: Screen) -> int:
    """Make it, or bring it up to date: checks, archives, keys, Terraform, a smoke test. Prints the API's URL and first key."""
    with screen.show_progress("making the deployment"):
        urls = deployment.apply()
    verdict, rows = _run_smoke_test(deployment, screen, urls)
    if verdict is Grade.WRONG:
        screen.print_json({"url": urls.get("api"), "key": None, "findings": rows})
        screen.print_error("the deployment is made, and its smoke test found something wrong")
        return exits.FAILED
    if not _adopt(deployment, screen):
        return exits.FAILED
    key = keys.generate_key()
    stored = asyncio.run(deployments.store_first_key(deployment.commands.project, keys.digest_key(key)))
    screen.print_json({"url": urls["api"], "key": key if stored else None, "findings": rows})
    screen.print_line(f"The API      {urls['api']}", "bold green")
    screen.print_line(f"Your key     {key}   (shown once, stored nowhere)" if stored else "Your key     the one you have")
    return exits.DONE


@deploy.command()
@deploy_command
def adopt(deployment: Deployment, screen: Screen) -> int:
    """Put what was stored before there were workspaces into its owner's default one, as `apply` does at its end.

    For who applies Terraform by hand, or was broken off; and once more half an hour later, for what instances of the version
    before have stored meanwhile. Where there is nothing to do, it changes nothing.
    """
    return exits.DONE if _adopt(deployment, screen) else exits.FAILED


@deploy.command()
@deploy_command
def status(deployment: Deployment, screen: Screen) -> int:
    """Try every function of what is deployed."""
    urls = deployment.list_addresses()
    if not urls:
        screen.print_error(f"nothing is deployed in {deployment.commands.project}")
        return exits.FAILED
    verdict, rows = _run_smoke_test(deployment, screen, urls)
    screen.print_json({"url": urls["api"], "verdict": verdict.value, "findings": rows})
    return exits.FAILED if verdict is Grade.WRONG else exits.DONE


@deploy.command()
@deploy_command
def destroy(deployment: Deployment, screen: Screen) -> int:
    """Delete it all, after you have typed the project's id."""
    if click.prompt("This destroys the deployment. The project's id", err=True) != deployment.commands.project:
        screen.print_error("that is not the project; nothing was destroyed")
        return exits.REFUSED
    with screen.show_progress("destroying the deployment"):
        deployment.destroy()
    screen.print_json({"destroyed": True})
    return exits.DONE


def _adopt(deployment: Deployment, screen: Screen) -> bool:
    """Adopt the documents of before, and tell how many. Return False where the database could not be reached."""
    try:
        with screen.show_progress("looking for documents of before"):
            done = asyncio.run(deployments.adopt_former_documents(deployment.commands.project, deployment.tell))
    except UnavailableError as error:
        screen.print_error(f"{error}; `ferryman deploy adopt` goes on from here")
        return False
    if done is not None:
        counts = ", ".join(f"{number:,} {stage}" for stage, number in done.adopted.items())
        screen.print_line(f"Put into workspaces: {counts}")
        if not done.is_last:
            screen.print_line("Once more, in half an hour: ferryman deploy adopt")
    return True


def _run_smoke_test(deployment: Deployment, screen: Screen, urls: dict[str, str]) -> tuple[Grade, list[dict[str, Any]]]:
    with screen.show_progress("trying every function"):
        findings = asyncio.run(deployments.run_smoke_test(urls, pause_s=deployment.pause_s, count=deployment.count))
    rows = [asdict(finding) for finding in findings]
    screen.print_table(rows, *COLUMNS, empty="There is no function.")
    return find_worst_grade(findings), rows
