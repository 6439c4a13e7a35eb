"""Large forms, as one with a document: read by a worker, and refused as small ones are."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest
from starlette.exceptions import HTTPException

from ferryman.serving.console.forms import FIELDS_MAX, SMALL_BYTES, read_form, read_large_form


async def test_a_large_form_is_read_as_a_small_one_is() -> None:
    body = urlencode([("spec", "Ä&\r\n" * SMALL_BYTES), ("tool", "a"), ("tool", "b"), ("empty", "")]).encode()
    assert await read_large_form("ann", body) == read_form(body)


async def test_what_is_no_form_is_refused() -> None:
    for body in (b"\xff" * SMALL_BYTES, b"&".join([b"a=b"] * (FIELDS_MAX + 1))):
        with pytest.raises(HTTPException, match="the body is no form of at most 1000 fields"):
            await read_large_form("ann", body)
