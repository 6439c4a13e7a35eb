"""`ferryman completion`: the script that completes commands and options, by click's own completion."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

WHERE = {"bash": "~/.bashrc", "zsh": "~/.zshrc", "fish": "~/.config/fish/completions/ferryman.fish"}


@click.command()
@click.argument("shell", type=click.Choice(list(WHERE)))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the script that has SHELL complete commands, options and their choices.

    \b
        eval "$(ferryman completion bash)"            in ~/.bashrc; zsh in ~/.zshrc likewise
        ferryman completion fish > ~/.config/fish/completions/ferryman.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None, "click knows all three"
    click.echo(kind(context.find_root().command, {}, "ferryman", "_FERRYMAN_COMPLETE").source())
