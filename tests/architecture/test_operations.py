"""The page of operations: each command is typed by `make operations`, or it is said why not."""

from __future__ import annotations

import re

import pytest

from tests.campaigns.operations.page import NOT_TYPED, PAGE, commands

TEXT = PAGE.read_text()
COMMANDS = list(commands(TEXT))


def test_ferrymans_own_commands_are_all_typed():
    own_commands = [command for command in COMMANDS if re.search(r"\bferryman ", command.text)]
    assert len(own_commands) > 40
    assert [item.text for item in own_commands if item.not_typed] == []


def test_what_is_neither_ferrymans_nor_excused_is_typed_too():
    rest = [
        command.text
        for command in COMMANDS
        if command.not_typed is None and command.assigns is None and "ferryman " not in command.text
    ]
    assert rest == ["make build"]


@pytest.mark.parametrize("pattern", NOT_TYPED)
def test_every_excuse_is_for_a_command_that_is_there(pattern):
    assert any(re.search(pattern, command.text) for command in COMMANDS)


def test_every_variable_of_a_command_is_explained():
    used = {name for command in COMMANDS for name in re.findall(r"\$([A-Z_]+)", command.text)}
    assert used == {item.assigns for item in COMMANDS} - {None, "FERRYMAN_URL", "FERRYMAN_KEY"}


def test_the_commands_of_a_block_are_found_without_their_comments():
    page = "# Top\n```sh\nls  # all\nX=1\n\n# nothing\n```\n```hcl\nno = 1\n```\n## Down\ntext\n```sh\nrm x\n```\n"
    sections = [(command.section, command.text, command.assigns) for command in commands(page)]
    assert sections == [("Top", "ls", None), ("Top", "X=1", "X"), ("Down", "rm x", None)]
