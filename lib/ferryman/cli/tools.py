"""`ferryman tools`: the tools there are, and a task's own: imported, declared, listed, deleted, tried."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import IO, Any

import click

from ferryman.cli import exits, files, service
from ferryman.cli.commands import ONE_DOCUMENT, ApiSession, api_command, open_session, screen_command, workspace_option
from ferryman.cli.screen import Screen
from ferryman.client import PAGE_MAX
from ferryman.domain.counts import say_count

TASK = click.option("--task", required=True, metavar="ID", help="The task whose tools they are.")
FILE = click.File("r", encoding="utf-8")
UNGROUPED = "Ungrouped"
REMOTE = ("https://", "http://")
NOT_APPROVED = "is not approved for this task"


@click.group(invoke_without_command=True)
@click.option("--task", metavar="ID", help="List this task's own tools.")
@click.option("--json", "as_json", is_flag=True, help=ONE_DOCUMENT)
@click.pass_context
def tools(context: click.Context, task: str | None, as_json: bool) -> None:
    """List the tools of the catalog by category, and have a task's own: imported, declared, deleted.

    \b
    An API becomes tools without code:
      ferryman tools import openapi.yaml --dry-run
      ferryman tools import https://api.example.com/openapi.json --task ID --cluster example
      ferryman tools list --task ID
      ferryman tools search refund a payment --task ID
      ferryman tools delete --cluster example --task ID
    """
    if context.invoked_subcommand is None:
        context.invoke(list_, task=task, as_json=as_json)
    elif task is not None or as_json:
        raise click.UsageError(f"options stand behind the command: ferryman tools {context.invoked_subcommand} --task ID")


@tools.command("list")
@click.option("--task", metavar="ID", help="List this task's own tools; without it, those of the catalog.")
@api_command
async def list_(session: ApiSession, task: str | None) -> None:
    """List a task's own tools by cluster, each with the [name] the model calls it by, or the catalog's by category."""
    if task is None:
        _print_catalog(session.screen, [tool async for tool in session.client.iterate_tools()])
        return
    custom_tools = [tool async for tool in session.client.iterate_custom_tools(task, limit=PAGE_MAX)]
    session.screen.print_json(custom_tools)
    if not custom_tools:
        session.screen.print_line("The task has no tools of its own; ferryman tools import makes some.", "dim")
    grouped = sorted(custom_tools, key=lambda tool: (not tool["cluster"], tool["cluster"]))
    for cluster, members in groupby(grouped, key=lambda tool: tool["cluster"]):
        _section(session.screen, cluster, list(members))


@tools.command()
@click.argument("words", nargs=-1, required=True)
@click.option("--limit", type=click.IntRange(1, PAGE_MAX), default=5, show_default=True, help="How many tools at most.")
@TASK
@api_command
async def search(session: ApiSession, words: tuple[str, ...], limit: int, task: str) -> None:
    """Find the tools of a task that fit WORDS, what a tool is to do or its name, the best first.

    \b
        ferryman tools search refund a payment --task ID
    """
    page = await session.client.list_custom_tools(task, query=" ".join(words), limit=limit)
    rows = [{**tool, "description": tool["description"] or tool["summary"]} for tool in page]
    session.screen.print_list(rows, "name", "cluster", "description", empty="No tool of the task fits these words.")


@tools.command("import")
@click.argument("source", metavar="FILE|URL")
@click.option("--task", metavar="ID", help="The task whose tools they become; --dry-run needs none.")
@click.option("--only", multiple=True, metavar="PATTERN", help="Only operations of such a name (getPet*) or path (/pets/*).")
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="Only operations with this tag, or another one given.")
@click.option("--cluster", metavar="NAME", help="What the tools are grouped under; default: the document's title.")
@click.option("--server", metavar="URL", help="Where the calls go, in place of the servers that the document names.")
@click.option("--dry-run", is_flag=True, help="Only say what would come of it; without --task, from here, asking no service.")
@workspace_option
@screen_command
async def import_(
    screen: Screen, /, source: str, task: str | None, dry_run: bool, workspace: str | None, **options: Any
) -> None:
    """Make tools of an OpenAPI 3.0, 3.1 or Swagger 2.0 document, in place of what the cluster held.

    \b
        ferryman tools import openapi.yaml --dry-run
        ferryman tools import openapi.yaml --task ID --only 'get*' --only '/pets/*' --tag store
        ferryman tools import openapi.yaml --task ID --server https://staging.example.com/v1

    A file is read here, with the documents of its folder that it refers to; a URL is fetched by the service, through the gate,
    from a host that the task is approved for. Operations that cannot be called are stored disabled, with the reason.
    """
    # Imported when it runs: the help must not wait for the readers.
    from ferryman.cli import documents, preview

    if task is None and not dry_run:
        raise click.UsageError("--task ID is missing; only --dry-run needs none")
    with screen.show_progress(f"importing {source}"):
        screen.print_step(f"reading {source}")
        source_fields: Mapping[str, Any] = (
            {"url": source} if source.startswith(REMOTE) else documents.gather_documents(Path(source))
        )
        chosen = {name: value for name, value in options.items() if value not in (None, ())}
        body = {**source_fields, **chosen, "dry_run": dry_run}
        imported = await (_preview(screen, body) if task is None else _import(screen, task, body, workspace))
    screen.print_json(imported)
    _tell(screen, imported)
    if task is None:
        hosts = ", ".join(preview.describe_hosts(imported))
        screen.print_line(f"A task would have to be approved for {hosts or 'no host'}.")


async def _import(screen: Screen, task: str, body: Mapping[str, Any], workspace: str | None) -> Any:
    async with open_session(screen, workspace=workspace) as session:
        screen.print_step("the service makes tools of its operations")
        return await session.client.import_tools(task, body)


async def _preview(screen: Screen, body: Mapping[str, Any]) -> Any:
    """Return what an import would come to for a task that is approved for the document's hosts."""
    from ferryman.cli import preview

    return await preview.preview_import(body, screen.print_step, functools.partial(screen.show_count, "operations"))


@tools.command()
@click.argument("file", type=FILE)
@TASK
@api_command
async def add(session: ApiSession, file: IO[str], task: str) -> None:
    """Store the tools that FILE declares, YAML or JSON, - for stdin: one, or a list; all of them or none.

    \b
    kind: http
    name: getWeather
    url: https://api.example.com/weather?city={city}
    headers: {X-Api-Key: "{{secrets.EXAMPLE_KEY}}"}

    One of the same name that is in no cluster is replaced. docs/declared-tools.md has every field.
    """
    entries = files.read_entries(file, "FILE")
    # one change of the task, so that all are stored or none is; theirs come first, so that errors count as the file does
    enabled = (await session.client.get_task(task))["tools"]
    await session.client.change_task(task, {"tools": [*entries, *enabled]})
    names = {declaration["name"] for declaration in entries}
    stored = [tool async for tool in session.client.iterate_custom_tools(task, limit=PAGE_MAX) if tool["name"] in names]
    session.screen.print_json(stored)
    _section(session.screen, "", stored)


@tools.command()
@click.argument("name", required=False)
@click.option("--cluster", metavar="NAME", help="Delete a cluster with all its tools at once.")
@TASK
@api_command
async def delete(session: ApiSession, name: str | None, cluster: str | None, task: str) -> None:
    """Delete the tool NAME, or a whole cluster."""
    if (name is None) == (cluster is None):
        raise click.UsageError("give either the NAME of a tool, or --cluster NAME")
    if name is not None:
        await session.client.delete_tool(task, name)
        sentence = f"The tool {name} is deleted."
    else:
        assert cluster is not None, "one of them is given"
        await session.client.delete_cluster(task, cluster)
        sentence = f"The cluster {cluster} is deleted, with all its tools."
    session.screen.print_result({"deleted": name if name is not None else cluster}, sentence)


@tools.command()
@click.argument("file", type=FILE)
@click.argument("name")
@click.option("--arguments", default="{}", metavar="JSON", help="What the model would say.")
@screen_command
async def call(screen: Screen, file: IO[str], name: str, arguments: str) -> int:
    """Call the tool NAME of FILE from here, through the same gate, without any stack.

    What it names as {{env.X}} is taken from the environment, and treated as a credential: it goes to the host of the tool, and
    is redacted from what comes back. Variables that its `public_env` lists are not secret.
    """
    # Imported when it runs: the help must not wait for the scanner and the network libraries.
    from ferryman.composition.embedded import Embedded

    declared = files.read_entries(file, "FILE")
    entries = [declaration for declaration in declared if declaration.get("name") == name]
    if not entries:
        there = ", ".join(str(declaration.get("name")) for declaration in declared)
        raise click.BadParameter(f"{file.name} has no tool of the name {name}; it has {there}", param_hint="NAME")
    parsed = files.parse_text(arguments, "--arguments")
    if not isinstance(parsed, dict):
        raise click.BadParameter("must be a JSON object", param_hint="--arguments")
    result = await Embedded.declare(entries, env=service.read_environment()).call(name, parsed)
    screen.print_result(asdict(result), result.content)
    if result.blocked:
        return exits.REFUSED
    return exits.DONE if result.ok else exits.FAILED


def _print_catalog(screen: Screen, catalog: Sequence[Mapping[str, Any]]) -> None:
    """Print the tools of the catalog by category; those that are not implemented are named, with the reason."""
    screen.print_json(catalog)
    for category, members in groupby(
        sorted(catalog, key=lambda tool: str(tool["category"])), key=lambda tool: tool["category"]
    ):
        tools_here = list(members)
        implemented = [tool for tool in tools_here if tool["implemented"]]
        screen.print_line(f"▼ {category} ({len(implemented)} of {say_count(len(tools_here), 'tools')})", "bold")
        if implemented:
            screen.print_table(implemented, "name", "description", empty="")
        missing = sorted((tool for tool in tools_here if not tool["implemented"]), key=lambda tool: str(tool["reason"]))
        for reason, waiting in groupby(missing, key=lambda tool: tool["reason"]):
            screen.print_line(f"  not implemented ({reason}): {', '.join(tool['name'] for tool in waiting)}", "dim")


def _section(screen: Screen, cluster: str, members: Sequence[Mapping[str, Any]]) -> None:
    """Print a cluster as the page of tools has it (S3-54), with the names of its tools."""
    screen.print_line(f"▼ {cluster or UNGROUPED} ({say_count(len(members), 'tools')})", "bold")
    for tool in sorted(
        members, key=lambda tool: (tool["configuration"]["pathTemplate"], tool["name"]) if cluster else tool["name"]
    ):
        what = tool["configuration"]
        row = f"{what['method']} {what['pathTemplate']} - {tool['summary'] or tool['name']}  [{tool['name']}]"
        screen.print_line(
            f"  {row if cluster else tool['name']}" + ("" if tool["isEnabled"] else f"  (disabled: {tool['reason']})")
        )


def _tell(screen: Screen, imported: Mapping[str, Any]) -> None:
    """Print the result of an import."""
    disabled = f", {imported['disabled']} of them disabled" if imported["disabled"] else ""
    screen.print_line(f"{imported['cluster']}: {say_count(imported['imported'], 'tools')}{disabled}", "bold")
    whose = "those that are enabled" if disabled else "them"
    screen.print_line(f"the definitions of {whose} cost about {say_count(imported['tokens'], 'tokens')} in every prompt")
    reasons = Counter(tool["reason"] for tool in imported["data"] if not tool["isEnabled"])
    if reasons:
        screen.print_line()
        rows = [{"disabled": count, "because": reason} for reason, count in reasons.most_common()]
        screen.print_table(rows, "disabled", "because", empty="")
    for tool in imported["notes"]:
        screen.print_line(f"note: {tool}", "dim")
    if any(NOT_APPROVED in (tool["reason"] or "") for tool in imported["data"]):
        screen.print_line("hint: --server URL has the calls go to another host, one that is approved;", "dim")
        screen.print_line("      ferryman task update TASK --integration NAME (all it is to have) approves more", "dim")
    if imported["dry_run"]:
        screen.print_line("Nothing was stored: this was a dry run.")
