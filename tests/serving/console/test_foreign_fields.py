"""No field of the API can hold a text of others without the tests in a browser planting hostile ones there."""

from __future__ import annotations

from tests.browser.foreign_fields import TABLE, find_unlisted, list_text_fields
from tests.serving.conftest import Stage, create_app

DESCRIPTION = create_app(Stage().deps()).openapi()


def test_every_text_of_the_description_is_ours_or_in_the_table_of_hostile_texts() -> None:
    assert find_unlisted(DESCRIPTION) == set(), "name them in tests/browser/foreign_fields.py"


def test_every_field_of_the_table_is_in_the_description() -> None:
    described = set(list_text_fields(DESCRIPTION))
    assert {name for row in TABLE for name in row.fields.split()} - described == set()


def test_a_new_field_is_noticed() -> None:
    schemas = {"Note": {"type": "object", "properties": {"text": {"type": "string"}, "note_id": {"type": "string"}}}}
    answer = {"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Note"}}}}}
    description = {"paths": {"/v1/notes": {"get": {"responses": answer}}}, "components": {"schemas": schemas}}
    assert find_unlisted(description) == {"Note.text"}
