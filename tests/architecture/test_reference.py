"""The reference in docs/ is what the code says; `make reference` writes it."""

from __future__ import annotations

import pytest

from ferryman.cli import COMMANDS
from ferryman.settings import get_variable
from tests.architecture.reference import DOCS, PAGES


@pytest.mark.parametrize("name", PAGES)
def test_a_page_of_the_reference_is_up_to_date(name):
    assert (DOCS / name).read_text() == PAGES[name](), "type: make reference"


def test_every_command_has_its_help_in_the_reference():
    page = (DOCS / "commands.md").read_text()
    assert [name for name in COMMANDS if f"### ferryman {name}\n" not in page] == []


def test_a_variable_is_found_for_its_field():
    fields = ("lease_s", "certs_url", "local_token")
    assert [*map(get_variable, fields)] == ["FERRYMAN_LEASE_S", "FERRYMAN_CERTS_URL", "LOCAL_CLOUD_TOKEN_FILE"]
