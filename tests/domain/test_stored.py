"""Stored names: older than those in the code where a field says so."""

from __future__ import annotations

from dataclasses import fields

from ferryman.domain.calls.call import Ticket
from ferryman.domain.stored import get_stored_name


def test_a_field_is_stored_by_its_name_unless_it_has_an_older_one():
    assert {field.name: get_stored_name(field) for field in fields(Ticket) if field.name in ("display_arguments", "tool")} == {
        "display_arguments": "shown",
        "tool": "tool",
    }
