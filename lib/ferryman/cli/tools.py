"""`ferryman tools`: the tools there are, and a task's own: imported, declared, listed, deleted, tried."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import IO, Any

import click

from ferryman.cli import exits, reading, service
from ferryman.cli.asking import Asking, asking, asking_nobody
from ferryman.cli.screen import Screen

TASK = click.option("--task", required=True, metavar="ID", help="The task whose tools they are.")
FILE = click.File("r", encoding="utf-8")
UNGROUPED = "Ungrouped"
REMOTE = ("https://", "http://")


@click.group(invoke_without_command=True)
@click.option("--task", metavar="ID", help="List this task's own tools.")
@click.option("--json", "as_json", is_flag=True, help="JSON for programs, a document a line.")
@click.pass_context
def tools(context: click.Context, task: str | None, as_json: bool) -> None:
    """List the tools a task may enable, and have a task's own: imported, declared, deleted.

    \b
    An API becomes tools without code:
      ferryman tools import openapi.yaml --task ID --dry-run
      ferryman tools import https://api.example.com/openapi.json --task ID --cluster example
      ferryman tools list --task ID
      ferryman tools delete --cluster example --task ID
    """
    if context.invoked_subcommand is None:
        context.invoke(list_, task=task, as_json=as_json, names=False)
    elif task is not None or as_json:
        raise click.UsageError(f"options stand behind the command: ferryman tools {context.invoked_subcommand} --task ID")


@tools.command("list")
@click.option("--task", metavar="ID", help="List this task's own tools; without it, those that any task may enable.")
@click.option("--names", is_flag=True, help="Each with the name the model calls it by.")
@asking
async def list_(asked: Asking, task: str | None, names: bool) -> None:
    """List a task's own tools by cluster, or the tools that any task may enable."""
    if task is None:
        found = await asked.client.tools()
        asked.screen.record(found)
        asked.screen.table(found, "name", "description", empty="There are none.")
        return
    own = await asked.client.custom_tools(task)
    asked.screen.record(own)
    if not own:
        asked.screen.say("The task has no tools of its own; ferryman tools import makes some.", "dim")
    grouped = sorted(own, key=lambda each: (not each["cluster"], each["cluster"]))
    for cluster, members in groupby(grouped, key=lambda each: each["cluster"]):
        _section(asked.screen, cluster, list(members), names=names)


@tools.command("import")
@click.argument("source", metavar="FILE|URL")
@TASK
@click.option("--cluster", metavar="NAME", help="What the tools are grouped under; default: the document's title.")
@click.option("--server", metavar="URL", help="Where the calls go, in place of the servers that the document names.")
@click.option("--dry-run", is_flag=True, help="Only say what would come of it.")
@asking
async def import_(asked: Asking, source: str, task: str, cluster: str | None, server: str | None, dry_run: bool) -> None:
    """Make tools of an OpenAPI 3.0, 3.1 or Swagger 2.0 document, in place of what the cluster held.

    A file is read here, with the documents of its folder that it refers to; a URL is fetched by the service, through the gate,
    from a host that the task is approved for. Operations that cannot be called are stored disabled, with the reason.
    """
    # Imported when it runs: the help must not wait for the readers.
    from ferryman.cli import documents

    with asked.screen.working(f"reading {source}"):
        given: Mapping[str, Any] = {"url": source} if source.startswith(REMOTE) else documents.gathered(Path(source))
    said = {"cluster": cluster, "server": server}
    wanted = {**given, **{name: value for name, value in said.items() if value is not None}, "dry_run": dry_run}
    with asked.screen.working(f"importing {source}"):
        found = await asked.client.import_tools(task, wanted)
    asked.screen.record(found)
    _tell(asked.screen, found)


@tools.command()
@click.argument("file", type=FILE)
@TASK
@asking
async def add(asked: Asking, file: IO[str], task: str) -> None:
    """Store the tools that FILE declares, YAML or JSON, - for stdin: one, or a list; all of them or none.

    \b
    kind: http
    name: getWeather
    url: https://api.example.com/weather?city={city}
    headers: {X-Api-Key: "{{secrets.EXAMPLE_KEY}}"}

    One of the same name that is in no cluster is replaced. docs/tools.md has every field.
    """
    entries = reading.read_entries(file, "FILE")
    # one change of the task, so that all are stored or none is; theirs come first, so that errors count as the file does
    enabled = (await asked.client.task(task))["tools"]
    await asked.client.change_task(task, {"tools": [*entries, *enabled]})
    names = {each["name"] for each in entries}
    stored = [each for each in await asked.client.custom_tools(task) if each["name"] in names]
    asked.screen.record(stored)
    _section(asked.screen, "", stored, names=False)


@tools.command()
@click.argument("name", required=False)
@click.option("--cluster", metavar="NAME", help="Delete a cluster with all its tools at once.")
@TASK
@asking
async def delete(asked: Asking, name: str | None, cluster: str | None, task: str) -> None:
    """Delete the tool NAME, or a whole cluster."""
    if (name is None) == (cluster is None):
        raise click.UsageError("give either the NAME of a tool, or --cluster NAME")
    if name is not None:
        await asked.client.delete_tool(task, name)
        told = f"The tool {name} is deleted."
    else:
        assert cluster is not None, "one of them is given"
        await asked.client.delete_cluster(task, cluster)
        told = f"The cluster {cluster} is deleted, with all its tools."
    asked.screen.record({"deleted": name if name is not None else cluster})
    asked.screen.say(told)


@tools.command()
@click.argument("file", type=FILE)
@click.argument("name")
@click.option("--arguments", default="{}", metavar="JSON", help="What the model would say.")
@asking_nobody
async def call(screen: Screen, file: IO[str], name: str, arguments: str) -> int:
    """Call the tool NAME of FILE from here, through the same gate, without any stack.

    What it names as {{env.X}} is taken from the environment, and treated as a credential: it goes to the host of the tool, and
    is redacted from what comes back.
    """
    # Imported when it runs: the help must not wait for the scanner and the network libraries.
    from ferryman.wiring.embedded import Embedded

    declared = reading.read_entries(file, "FILE")
    entries = [each for each in declared if each.get("name") == name]
    if not entries:
        there = ", ".join(str(each.get("name")) for each in declared)
        raise click.BadParameter(f"{file.name} has no tool of the name {name}; it has {there}", param_hint="NAME")
    said = reading.parsed(arguments, "--arguments")
    if not isinstance(said, dict):
        raise click.BadParameter("must be a JSON object", param_hint="--arguments")
    result = await Embedded.of(entries, env=service.variables()).call(name, said)
    screen.record(asdict(result))
    screen.say(result.content)
    if result.blocked:
        return exits.REFUSED
    return exits.FAILED if result.failed else exits.DONE


def _section(screen: Screen, cluster: str, members: Sequence[Mapping[str, Any]], *, names: bool) -> None:
    """A cluster as the page of tools has it (S3-53, S3-54)."""
    screen.say(f"▼ {cluster or UNGROUPED} ({_count(len(members), 'tool')})", "bold")
    for each in sorted(
        members, key=lambda each: (each["configuration"]["pathTemplate"], each["name"]) if cluster else each["name"]
    ):
        what = each["configuration"]
        shown = f"{what['method']} {what['pathTemplate']} - {each['summary'] or each['name']}" if cluster else each["name"]
        named = f"{each['name']}: " if names and cluster else ""
        screen.say(f"  {named}{shown}" + ("" if each["isEnabled"] else f"  (disabled: {each['reason']})"))


def _tell(screen: Screen, found: Mapping[str, Any]) -> None:
    """What an import came to."""
    disabled = f", {found['disabled']} of them disabled" if found["disabled"] else ""
    screen.say(f"{found['cluster']}: {_count(found['imported'], 'tool')}{disabled}", "bold")
    whose = "those that are enabled" if disabled else "them"
    screen.say(f"the definitions of {whose} cost about {found['tokens']:,} tokens in every prompt")
    reasons = Counter(each["reason"] for each in found["data"] if not each["isEnabled"])
    if reasons:
        screen.say()
        rows = [{"disabled": count, "because": reason} for reason, count in reasons.most_common()]
        screen.table(rows, "disabled", "because", empty="")
    for each in found["notes"]:
        screen.say(f"note: {each}", "dim")
    if found["dry_run"]:
        screen.say("Nothing was stored: this was a dry run.")


def _count(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")
