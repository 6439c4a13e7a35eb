"""The `ferryman` command: each subcommand in a file of its own, imported when it is asked for."""

from __future__ import annotations

import importlib

import click
from click.shell_completion import CompletionItem

COMMANDS = {
    "up": ("up", "Run the whole stack on this machine, until Ctrl-C."),
    "status": ("stack", "Show whether the local stack runs, and each of its functions."),
    "logs": ("logs", "Print what the functions of the local stack have logged."),
    "down": ("stack", "End the local stack, from another terminal or when `up` runs in the background."),
    "console": ("console", "Open the console in a browser, signed in by a link that is good once."),
    "demo": ("demo", "Watch one task run end to end, attacks and proof included."),
    "task": ("tasks", "Create, list, show, update and delete tasks."),
    "schedules": ("tasks", "List what runs by itself next, and what is paused and why."),
    "agent": ("agents", "Create, list, show, update, archive, restore and delete agents."),
    "policy": ("agents", "Show which tools an agent may call, and which level takes the others away."),
    "credential": ("credentials", "Store, connect, list and delete a task's credentials."),
    "workspace": ("workspaces", "Create, list, show, update, archive, restore and delete workspaces."),
    "member": ("members", "Invite people into a workspace, join one, list, update and remove members."),
    "key": ("api_keys", "Create, list and revoke API keys."),
    "sessions": ("console", "List and end sessions of the console."),
    "mcp": ("mcp", "Connect MCP clients (serve, config, link), and MCP servers: add, accept, list."),
    "history": ("members", "Show who changed what in a workspace."),
    "files": ("workspace_files", "List, download, store and delete the files of a workspace."),
    "job": ("jobs", "List deletions and other long work, and watch how far one is."),
    "chat": ("chat", "Talk with an agent, and read its answers as they are written."),
    "run": ("executions", "Run a task and watch it."),
    "watch": ("executions", "Watch an execution that was started already."),
    "show": ("executions", "Show an execution, or list the latest; --audit: the full account."),
    "approvals": ("approvals", "Decide about calls that wait for a person: list, show, approve, deny, edit, watch."),
    "why": ("why", "Print which words of which source decided where a call goes."),
    "receipts": ("receipts", "Fetch an execution's signed receipts, or the public keys."),
    "verify": ("receipts", "Find out whether receipts are whole and genuine."),
    "replay": ("replay", "Run an execution again from its record, offline, and compare every byte."),
    "export": ("replay", "Write an execution's record to a file that replays elsewhere."),
    "cancel": ("executions", "Cancel an execution."),
    "budget": ("budgets", "Show what is used and reserved of each cap this month."),
    "alerts": ("budgets", "List the alerts of caps that were reached, and whether they were sent."),
    "ledger": ("budgets", "Show a month's credits by task, agent, person or workspace."),
    "usage": ("usage", "Show calls, failures, durations and tokens by tool, model, agent or day."),
    "halt": ("halts", "Stop everything of yours, also what is under way; --all-owners: those of all owners."),
    "resume": ("halts", "Let executions start again after a halt."),
    "webhooks": ("webhooks", "Show what well-known webhook hosts received on the local stack."),
    "check": ("check", "Judge JSON lines on stdin as the egress gate would; nothing is sent."),
    "integrations": ("tables", "List the services a task may be approved for."),
    "tools": ("tools", "List the tools a task may enable, and have a task's own: imported or declared."),
    "models": ("tables", "List the models a task may name, and their prices."),
    "cost": ("cost", "Estimate what executions cost on Google Cloud, by measured counts and list prices."),
    "plans": ("tables", "List the plans and their limits."),
    "keys": ("keys", "List the versions of the keys and what each holds; rotate them."),
    "deploy": ("deploy", "Make Ferryman on Google Cloud: plan, apply, status, destroy."),
    "completion": ("completion", "Print the completion script of a shell: bash, zsh or fish."),
    "doctor": ("doctor", "Examine a running deployment, part by part: functions, queues, keys, clock."),
    "owner": ("owners", "Add and list the owners of the local stack."),
}
"""Name, module and summary of each subcommand, in the order of the help."""


class LazyGroup(click.Group):
    """A group that knows its subcommands by name, and imports one only to run it or to show its own help."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(importlib.import_module(f"ferryman.cli.{COMMANDS[cmd_name][0]}"), cmd_name)
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete a subcommand's name without importing any of them."""
        names = [CompletionItem(name, help=summary) for name, (_, summary) in COMMANDS.items() if name.startswith(incomplete)]
        return [*names, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="ferryman")
def main() -> None:
    """Run agent tasks: no key leaks, no call leaves its policy.

    \b
    Start with:
      ferryman demo               one task, end to end, in a stack of its own
      ferryman up                 the stack, staying; then, in another terminal:
      ferryman console            the console, in a browser; or here:
      ferryman task create --file task.json
      ferryman run TASK

    \b
    Which service is asked:
      FERRYMAN_URL, FERRYMAN_KEY  its URL and your API key; without them
      FERRYMAN_WORKSPACE_ID       the workspace of every command (or CRAWBL_WORKSPACE_ID); without it the key's
                                  own, or the owner's default one
      FERRYMAN_DATA               the data folder of a local stack (default: the nearest .ferryman)

    \b
    Exit codes:
      0    done; for run: the execution completed
      1    the service could not be reached, or failed
      2    wrong usage
      3    the execution failed or timed out
      4    the execution was killed
      5    the service refused the request: a field, a name, a key
      130  interrupted
    """
