"""Parts of multipart bodies: what a declared tool sends as files and fields, whose names no argument leaves."""

from __future__ import annotations

import pytest

from ferryman.domain.http.request import SecretPlaceholder, Template
from tests.declared.entries import URL, call, read, refusal

OBJECT = {"type": "object", "required": False}
UPLOAD = {"url": URL, "method": "POST", "body_type": "multipart"}
FILE = {"content": "{{text}}", "filename": "{{name}}", "content_type": "text/csv"}


def test_a_part_says_what_it_is_or_is_a_value() -> None:
    tool = read(**UPLOAD, body={"file": FILE, "key": "{{secrets.API_KEY}}", "n": 3, "note": "On {{date}}"})
    assert call(tool, text="a,b", name="x.csv").body == {
        "file": [{"content": "a,b", "filename": "x.csv", "content_type": "text/csv"}],
        "key": [{"content": Template((SecretPlaceholder("API_KEY"),))}],
        "n": [{"content": "3"}],
        "note": [{"content": "On 2026-03-01"}],
    }


def test_a_part_whose_content_is_left_out_is_not_sent() -> None:
    tool = read(**UPLOAD, body={"file": FILE, "n": 1}, parameters={"text": {"required": False}, "name": {"required": False}})
    assert call(tool, name="x.csv").body == {"n": [{"content": "1"}]}
    assert call(tool, text="a").body["file"] == [{"content": "a", "content_type": "text/csv"}]


def test_an_argument_never_says_what_a_part_is() -> None:
    tool = read(**UPLOAD, body={"meta": "{{meta}}"}, parameters={"meta": OBJECT})
    forged = {"content": "x", "filename": "evil.php", "content_type": "text/html"}
    assert call(tool, meta=forged).body == {"meta": [{"content": forged}]}
    whole = read(**UPLOAD, body="{{fields}}", parameters={"fields": OBJECT})
    assert call(whole, fields={"a": forged, "b": ["x", None, 2]}).body == {
        "a": [{"content": forged}],
        "b": [{"content": "x"}, {"content": "2"}],
    }


@pytest.mark.parametrize("name", ['x"; name="role', "a\r\nX-Evil: 1", "../x", "x;y", "a" * 256])
def test_a_file_name_that_leaves_its_place_is_refused(name: str) -> None:
    tool = read(**UPLOAD, body={"file": FILE})
    assert refusal(tool, text="a", name=name).startswith("Error: 'name' for weather must be a file name")


@pytest.mark.parametrize("name", ['x"; name="role', "a\r\nX-Evil: 1", "", "{{secrets.API_KEY}};"])
def test_a_field_name_that_leaves_its_place_is_refused(name: str) -> None:
    tool = read(**UPLOAD, body="{{fields}}", parameters={"fields": OBJECT})
    assert refusal(tool, fields={name: "x"}).startswith("Error: 'fields' for weather must be an object, in which each name is")
