"""`python -m emulator`: a local Google Cloud that runs until it is told to end."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import shlex
import signal
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from emulator.files import replace
from emulator.forking import TemplateProcess, start_templates
from emulator.parent import ParentWatch
from emulator.plan import Backend, CloudPlan, find_shipped

if TYPE_CHECKING:
    from emulator.cloud import EmulatedCloud

FOLDER = click.Path(file_okay=False, path_type=Path)
INDEXES = "firestore.indexes.json"
SERVE_ALL = "none"


@click.command()
@click.option("--data", type=FOLDER, help="Keep everything in this folder; without it, in memory.")
@click.option("--memory", is_flag=True, help="Keep the services' data in memory, even with --data.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="The port of all gRPC services (default: a free one).")
@click.option("--project", default="ferryman-local", show_default=True, help="The project's id.")
@click.option("--functions", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="The table of functions.")
@click.option("--source", type=FOLDER, help="The folder with a folder for each function.")
@click.option("--indexes", metavar="FILE|none", help="What declares Firestore's indexes (default: the shipped file).")
@click.option("--permissions", type=click.Choice(["on", "off"]), default="on", help="Hold functions to what their rows grant.")
@click.option("--limits", type=click.Choice(["on", "off"]), default="on", help="Refuse what is too large for production.")
@click.option(
    "--firestore",
    type=click.Choice(["ours", "official", "external"]),
    default="ours",
    help="Ours, Google's emulator, or the one that FIRESTORE_EMULATOR_HOST names.",
)
@click.option("--open", is_flag=True, help="Serve Firestore to clients without the token too: to every user of this machine.")
@click.option(
    "--preload", multiple=True, metavar="[FUNCTION=]MODULE", help="Have functions, or one, start with this imported; repeat."
)
@click.option(
    "--freeze", is_flag=True, envvar="LOCAL_CLOUD_FREEZE", help="Let no function run that has no open request. Linux alone."
)
@click.option("--with-parent", is_flag=True, help="End, with all functions, when standard input does: with the parent.")
@click.option("--ready-file", type=click.Path(dir_okay=False, path_type=Path), help="Written, in JSON, once all answers.")
def main(
    data: Path | None,
    memory: bool,
    port: int,
    project: str,
    functions: Path | None,
    source: Path | None,
    indexes: str | None,
    permissions: str,
    limits: str,
    firestore: Backend,
    open: bool,  # noqa: A002 - as the option is called
    freeze: bool,
    preload: tuple[str, ...],
    with_parent: bool,
    ready_file: Path | None,
) -> None:
    """Run Firestore, Secret Manager, Cloud Tasks, a metadata server and a simulated internet on this machine.

    Prints the variables that other programs need, as `export` lines, and ends on SIGTERM, Ctrl-C or POST /shutdown.
    Its ports answer only those who know the token in the file LOCAL_CLOUD_TOKEN_FILE, which nobody else can read.
    """
    os.umask(0o077)
    parent = ParentWatch()
    if with_parent:
        parent.start()
    with ExitStack() as cleaning:
        folder = data or Path(cleaning.enter_context(tempfile.TemporaryDirectory(prefix="local-cloud-")))
        templates = start_templates(folder, preload)  # they import while we do
        plan = CloudPlan(
            folder=folder,
            durable=data is not None and not memory,
            project=project,
            table=functions or find_shipped("infra/functions.json", "functions.json"),
            source=source or find_shipped("functions", "functions"),
            port=port,
            indexes=None if indexes == SERVE_ALL else Path(indexes or find_shipped("infra/firestore.indexes.json", INDEXES)),
            permissions=permissions == "on",
            limits=limits == "on",
            open=open,
            freezes=freeze,
            firestore=firestore,
            firestore_host=os.environ.get("FIRESTORE_EMULATOR_HOST"),
        )
        if ready_file:
            cleaning.callback(ready_file.unlink, missing_ok=True)
        asyncio.run(serve(plan, ready_file, parent, templates))


async def serve(plan: CloudPlan, ready_file: Path | None, parent: ParentWatch, templates: dict[str, TemplateProcess]) -> None:
    """Serve until told to end; raise ClickException when it cannot begin."""
    gc.disable()  # to look for garbage again and again takes a fifth of the time, and imports leave next to none
    from emulator.cloud import EmulatedCloud
    from emulator.lock import InUseError
    from emulator.reading import InvalidRequestError

    gc.freeze()
    gc.enable()
    try:
        cloud = EmulatedCloud(plan, templates=templates)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            loop.add_signal_handler(number, cloud.stopping.set)
        await cloud.__aenter__()
    except (InUseError, InvalidRequestError, OSError) as error:
        raise click.ClickException(str(error)) from error
    try:
        parent.on_end = lambda: loop.call_soon_threadsafe(cloud.abandon)
        announce(cloud, ready_file)
        await cloud.stopping.wait()
    finally:
        await cloud.__aexit__()


def announce(cloud: EmulatedCloud, ready_file: Path | None) -> None:
    """Say what other programs need, for a shell on standard output and for programs in the file."""
    if ready_file:
        urls = {name: cloud.functions.url(name) for name in cloud.functions.rows}
        known = {"admin": cloud.admin, "pid": os.getpid(), "project": cloud.env["GOOGLE_CLOUD_PROJECT"], "env": cloud.env}
        replace(ready_file, json.dumps({**known, "functions": urls}, indent=1) + "\n")
    if warning := cloud.warning():
        click.echo(warning, err=True)
    for key, value in {**cloud.env, "LOCAL_CLOUD_ADMIN": cloud.admin}.items():
        click.echo(f"export {key}={shlex.quote(value)}")


if __name__ == "__main__":
    main()
