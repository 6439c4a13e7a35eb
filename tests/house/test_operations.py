"""The page of operations: each command is typed by `make operations`, or it is said why not."""

from __future__ import annotations

import re

import pytest

from tests.operations.page import NOT_TYPED, PAGE, commands

TEXT = PAGE.read_text()
COMMANDS = list(commands(TEXT))


def test_ferrymans_own_commands_are_all_typed():
    own = [each for each in COMMANDS if re.search(r"\bferryman ", each.text)]
    assert len(own) > 40
    assert [each.text for each in own if each.not_typed] == []


def test_what_is_neither_ferrymans_nor_excused_is_typed_too():
    rest = [each.text for each in COMMANDS if each.not_typed is None and each.assigns is None and "ferryman " not in each.text]
    assert rest == ["make build"]


@pytest.mark.parametrize("pattern", NOT_TYPED)
def test_every_excuse_is_for_a_command_that_is_there(pattern):
    assert any(re.search(pattern, each.text) for each in COMMANDS)


def test_every_variable_of_a_command_is_explained():
    used = {name for each in COMMANDS for name in re.findall(r"\$([A-Z_]+)", each.text)}
    assert used == {each.assigns for each in COMMANDS} - {None, "FERRYMAN_URL", "FERRYMAN_KEY"}


def test_the_commands_of_a_block_are_found_without_their_comments():
    page = "# Top\n```sh\nls  # all\nX=1\n\n# nothing\n```\n```hcl\nno = 1\n```\n## Down\ntext\n```sh\nrm x\n```\n"
    found = [(each.section, each.text, each.assigns) for each in commands(page)]
    assert found == [("Top", "ls", None), ("Top", "X=1", "X"), ("Down", "rm x", None)]
