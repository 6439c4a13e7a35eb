"""Bodies: what an operation takes in its body, field by field where it is an object."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ferryman.domain.http.request import BodyType
from ferryman.domain.tools.declared import Style
from ferryman.openapi.notes import UnsupportedOperationError
from ferryman.openapi.parameters import WIRE_CHARACTERS_MAX, Argument, style
from ferryman.openapi.references import Node, References
from ferryman.openapi.schemas import Schemas, View
from ferryman.openapi.values import mapping, members, plain, text

MEDIA_READ_MAX = 50
JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
_JSON = re.compile(r"application/[!#$&^_.+a-z0-9-]{0,100}\+json", re.ASCII | re.IGNORECASE)
_ANY_MEDIA = ("*/*", "application/*", "text/json")
_PREFERRED = (JSON, "application/merge-patch+json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """What is sent: an object of `arguments`, or where it is `whole` the only one of them, as it is.

    `media` is the media type where it is not the usual one of the body's type.
    """

    arguments: tuple[Argument, ...]
    whole: bool
    body_type: BodyType = BodyType.JSON
    media: str | None = None


def read(node: Node, references: References, schemas: Schemas) -> Body:
    """The request body at `node`, or `UnsupportedOperationError`."""
    found = references.follow(node)
    if found is None:
        raise UnsupportedOperationError(
            f"has a body that refers to {text(mapping(node.value).get('$ref'), 80)}, which is not there"
        )
    said = mapping(found.value)
    content = {_plain(name): mapping(each) for name, each in members(said.get("content"), MEDIA_READ_MAX)}
    media, sent = _chosen(content)
    schema = Node(content[media].get("schema", True), found.uri)
    view = schemas.view(schema)
    optional = said.get("required") is False
    if sent != FORM and not _flat(view, schemas):
        description = text(said.get("description"), 300)
        whole = Argument(wire="body", place="body", schema=schema, required=not optional, description=description)
        return Body(arguments=(whole,), whole=True, media=None if sent == JSON else sent)
    styles = mapping(content[media].get("encoding")) if sent == FORM else None
    return Body(
        arguments=tuple(_fields(view, schemas, styles, optional=optional)),
        whole=False,
        body_type=BodyType.FORM if sent == FORM else BodyType.JSON,
        media=None if sent in (JSON, FORM) else sent,
    )


def _plain(media: str) -> str:
    # Without parameters such as charset.
    return media[:200].partition(";")[0].strip().lower()


def _chosen(content: Mapping[str, Any]) -> tuple[str, str]:
    # The media type to read the schema of, and the one to send.
    named = [*(each for each in _PREFERRED if each in content), *(each for each in content if _JSON.fullmatch(each))]
    if named:
        return named[0], named[0]
    if FORM in content:
        return FORM, FORM
    for each in _ANY_MEDIA:
        if each in content:
            return each, JSON
    if not content:
        raise UnsupportedOperationError("has a body without a media type")
    raise UnsupportedOperationError(
        f"takes {', '.join(text(each, 64) for each in list(content)[:3])}, which is not sent: only JSON and forms are"
    )


def _flat(view: View, schemas: Schemas) -> bool:
    """Whether it is an object whose fields say all: no alternative of it says anything of its own."""
    if not view.properties or view.types not in (["object"], ["object", "null"]) or view.recursive:
        return False
    alternatives = [schemas.view(each, view.through) for each in view.alternatives]
    return not any(each.properties or each.words or each.recursive for each in alternatives)


def _fields(view: View, schemas: Schemas, encodings: Mapping[str, Any] | None, *, optional: bool) -> Iterable[Argument]:
    for name, child in schemas.given(view):
        node = view.properties[name]
        required = name in view.required and not optional
        if not plain(name, WIRE_CHARACTERS_MAX) or "{{" in name:
            raise UnsupportedOperationError("has a body with a field whose name cannot be sent as it is")
        if encodings is None:
            yield Argument(wire=name, place="body", schema=node, required=required)
            continue
        if child.word("format") == "binary" or child.word("type") == "file":
            raise UnsupportedOperationError("takes a file, which is not sent: only JSON and forms are")
        encoding = mapping(encodings.get(name))
        # OpenAPI leaves it open how objects stand in a form; brackets are what servers read.
        written = Style.DEEP if "object" in child.types and "style" not in encoding else style(encoding, "form")
        yield Argument(wire=name, place="body", schema=node, required=required, style=written)
