"""Request: a declared tool and the model's arguments become a request, with a placeholder in the place of each secret."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from ferryman.declared import headers, templates, urls
from ferryman.declared.arguments import accept_arguments, rename_id
from ferryman.declared.check import list_wire_names
from ferryman.declared.templates import ABSENT, Name, to_text
from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.http import url
from ferryman.domain.http.parts import FILENAME_RULE, MEDIA_RULE, NAME_RULE, is_filename, is_part_media, is_part_name
from ferryman.domain.http.request import BodyType, Method, OutboundRequest, SecretPlaceholder, Template, Text
from ferryman.domain.tools.declared import DeclaredTool, Style

_SEPARATORS = {Style.COMMA: ",", Style.SPACE: " ", Style.PIPE: "|"}
_KEY = re.compile(r"[^\[\]&=;#\x00-\x20\x7f]{1,128}")


class UnwritableValueError(ValueError):
    """The value cannot be written in its style without being read as another; the message says what can."""


def write_pairs(name: str, value: Any, style: Style) -> Iterator[tuple[str, Text]]:
    """Yield `value` as pairs of a query or a form; nothing for null and for what is absent."""
    if value is None or value is ABSENT:
        return
    if isinstance(value, Mapping) and style in (Style.REPEAT, Style.DEEP):
        for key, inner in value.items():
            if not _KEY.fullmatch(key):
                raise UnwritableValueError("an object whose names have no brackets, spaces or separators")
            yield from write_pairs(f"{name}[{key}]" if style is Style.DEEP else key, inner, Style.DEEP)
    elif isinstance(value, list | tuple) and style in (Style.REPEAT, Style.DEEP):
        yield from ((name, _write_scalar(item)) for item in value if item is not None)
    elif isinstance(value, Mapping | list | tuple):
        yield name, _SEPARATORS[style].join(write_items(value, _SEPARATORS[style]))
    else:
        yield name, _write_scalar(value)


def write_items(value: Any, separator: str = ",") -> list[str]:
    """Return `value` as texts to be joined by `separator`: a scalar, the items of a list, names and values of an object."""
    if isinstance(value, Mapping):
        items = [part for pair in value.items() for part in pair]
    elif isinstance(value, list | tuple):
        items = [item for item in value if item is not None]
    else:
        return [to_text(value)]
    if any(isinstance(item, Mapping | list | tuple | Template) for item in items):
        raise UnwritableValueError("a list of texts and numbers")
    texts = [to_text(item) for item in items]
    if any(separator in text for text in texts):
        raise UnwritableValueError(f"a list of texts without '{separator}', which separates them")
    return texts


def _write_scalar(value: Any) -> Text:
    return value if isinstance(value, Template) else to_text(value)


OK = range(200, 300)
CHARACTERS_MAX = 4_194_304
"""The values of all names in a tool's templates, each as often as it is named; a request's body may be 1 MiB."""


def build_request(
    tool: DeclaredTool, arguments: Mapping[str, Any], *, state: Mapping[str, str], env: Mapping[str, Text] | None = None
) -> OutboundRequest:
    """Return the request of a call of `tool`. Raise `CallRefusedError`, which names the field and never its content.

    `state` are the values that every template may name; `env` are those of the variables, with a placeholder for each that is
    a credential; None where the environment is not read. A body of type query is in `query_params`, after those of the query.
    """
    try:
        address = urls.parse(tool.url)
        values = accept_arguments(tool, rename_id(tool, arguments, set(address.path_names())))
        return _build(_Scope(tool, values, state, env or {}), address)
    except (url.InvalidUrlError, templates.MalformedTemplateError):
        raise CallRefusedError(refusal.INTERNAL_ERROR) from None  # stored without a check


@dataclass(frozen=True, slots=True)
class _Scope:
    """The values of the names in one call."""

    tool: DeclaredTool
    arguments: Mapping[str, Any]
    state: Mapping[str, str]
    env: Mapping[str, Text]
    known: dict[str, tuple[Any, int]] = field(default_factory=dict)
    counter: Counter[str] = field(default_factory=Counter)

    def resolve(self, name: Name) -> Any:
        """Return the value of a name in a template: the model's argument before what every task may name."""
        if name.store is not None:
            variable = name.parts[1]
            return Template((SecretPlaceholder(variable),)) if name.store == "secrets" else self.env.get(variable)
        return templates.get_part(self.get(name.root), name.parts[1:])

    def get(self, root: str) -> Any:
        """Return the value of one name, and count it: a few texts, named often, would exceed any request."""
        if root not in self.known:
            value = self._find(root)
            self.known[root] = (value, len(str(value) if isinstance(value, Template) else to_text(value)))
        value, size = self.known[root]
        self.counter["characters"] += size
        if self.counter["characters"] > CHARACTERS_MAX:
            self.refuse("arguments", "shorter: the request that they make is too large")
        return value

    def _find(self, root: str) -> Any:
        if root in self.tool.params:
            return self.fill(self.tool.params[root])
        if root in self.tool.parameters:
            return self.arguments.get(root, ABSENT)
        return self.state.get(root)

    def fill(self, value: Any) -> Any:
        """Return `value` with its texts filled, without the fields and items that are all absent."""
        if isinstance(value, str):
            return templates.fill(templates.parse(value), self.resolve)
        if isinstance(value, Mapping):
            fields = ((name, self.fill(inner)) for name, inner in value.items())
            return {name: inner for name, inner in fields if inner is not ABSENT}
        if isinstance(value, list | tuple):
            return [item for item in map(self.fill, value) if item is not ABSENT]
        return value

    def get_style(self, root: str | None) -> Style:
        """Return the style of a parameter; of anything else, the default."""
        parameter = None if root is None or root in self.tool.params else self.tool.parameters.get(root)
        return Style.REPEAT if parameter is None else parameter.style

    def write_items(self, field: str, value: Any, separator: str = ",") -> list[str]:
        """Return `value` as texts. Raise `CallRefusedError` of `field`."""
        try:
            return write_items(value, separator)
        except UnwritableValueError as error:
            self.refuse(field, str(error))

    def refuse(self, field: str, expected: str) -> NoReturn:
        """Raise `CallRefusedError` of `field`."""
        raise CallRefusedError(refusal.refuse_wrong_argument(self.tool.name, field, expected))


_Pair = tuple[str, Text, str]
"""A name and a value, and the name as it is declared: another where the value was an object."""


def _build(scope: _Scope, address: urls.Address) -> OutboundRequest:
    tool = scope.tool
    pairs = [*_fill_url_pairs(scope, address), *_fill_pairs(scope, tool.query)]
    if tool.body_type is BodyType.QUERY:
        pairs += _fill_body_pairs(scope)
    return OutboundRequest(
        tool=tool.name,
        method=tool.method,
        url=_fill_path(scope, address),
        query_params=_merge(scope, pairs, [name for name, _ in list_wire_names(tool, address)]),
        body=_fill_body(scope) if tool.method.has_body else None,
        body_type=tool.body_type,
        fixed_headers=_fill_headers(scope),
        ok=tool.ok_statuses or OK,
    )


def _fill_path(scope: _Scope, address: urls.Address) -> str:
    values = {}
    for name in address.path_names():
        value = scope.get(name)
        if value is None or value is ABSENT:
            raise CallRefusedError(refusal.refuse_missing_argument(scope.tool.name, name))
        values[name] = scope.write_items(name, value)
    try:
        return urls.fill_path(address, values)
    except urls.InvalidUrlTemplateError as error:
        scope.refuse(error.name, error.expected)


def _fill_url_pairs(scope: _Scope, address: urls.Address) -> Iterator[_Pair]:
    for pair in address.pairs:
        values = [piece if isinstance(piece, str) else scope.get(piece.name) for piece in pair.value]
        if any(value is ABSENT for value in values):
            continue
        placeholder = pair.only_placeholder
        value = templates.join_pieces(values) if placeholder is None else values[0]
        yield from _write_pair(scope, pair.name, value, scope.get_style(None if placeholder is None else placeholder.name))


def _fill_pairs(scope: _Scope, values: Mapping[str, Any]) -> Iterator[_Pair]:
    for name, value in values.items():
        yield from _write_pair(scope, name, scope.fill(value), scope.get_style(_find_parameter(value)))


def _write_pair(scope: _Scope, name: str, value: Any, style: Style) -> Iterator[_Pair]:
    try:
        yield from ((key, text, name) for key, text in write_pairs(name, value, style))
    except UnwritableValueError as error:
        scope.refuse(name or "body", str(error))


def _find_parameter(value: Any) -> str | None:
    """Return the parameter that is all of the template `value`."""
    name = templates.get_only_name(templates.parse(value)) if isinstance(value, str) else None
    return name.root if name is not None and len(name.parts) == 1 else None


def _fill_body_pairs(scope: _Scope) -> Iterator[_Pair]:
    """Yield a body as pairs: as declared, or one argument as it is, whose texts are not templates."""
    body = scope.tool.body
    if isinstance(body, Mapping):
        yield from _fill_pairs(scope, body)
        return
    value = scope.fill(body)
    if value is None or value is ABSENT:
        return
    if not isinstance(value, Mapping):
        scope.refuse(_find_parameter(body) or "body", "an object")
    yield from _write_pair(scope, "", value, Style.REPEAT)


def _merge(scope: _Scope, pairs: Iterable[_Pair], declared: Iterable[str]) -> dict[str, Any]:
    """Return the pairs by name.

    A name from an argument that is an object must not be declared, nor be in another argument (prevents parameter pollution).
    """
    merged: dict[str, tuple[str, list[Text]]] = {}
    reserved = {_fold(name) for name in declared}
    for name, text, origin in pairs:
        if name != origin and (_fold(name) in reserved or merged.get(name, (origin,))[0] != origin):
            scope.refuse("arguments", "an object whose names are not those of other parameters")
        merged.setdefault(name, (origin, []))[1].append(text)
    return {name: texts[0] if len(texts) == 1 else texts for name, (_, texts) in merged.items()}


def _fold(name: str) -> str:
    # some read names in any case, and PHP reads a dot as an underscore
    return name.lower().replace(".", "_")


def _fill_body(scope: _Scope) -> Any:
    body = scope.tool.body
    if body is None or scope.tool.body_type is BodyType.QUERY:
        return None
    if scope.tool.body_type is BodyType.JSON:
        value = scope.fill(body)
    elif scope.tool.body_type is BodyType.MULTIPART:
        value = _fill_parts(scope)
    else:
        value = _merge(scope, _fill_body_pairs(scope), body if isinstance(body, Mapping) else ())
    # many servers and gateways refuse a DELETE that has a body for nothing
    is_left_out = value is ABSENT or (scope.tool.method is Method.DELETE and value == {})
    return None if is_left_out else value


_Part = dict[str, Any]
"""The `content` of a part, and its `filename` and `content_type` where it has them."""


def _fill_parts(scope: _Scope) -> dict[str, list[_Part]]:
    """Return the parts of a multipart body by name: one for a value, and one for each item of a list.

    The body is as declared, or one argument that is an object, whose fields are values and never say what a part is.
    """
    body = scope.tool.body
    if isinstance(body, Mapping):
        fields = {name: (field if isinstance(field, Mapping) else {"content": field}) for name, field in body.items()}
        parts = {name: _fill_part(scope, name, field) for name, field in fields.items()}
    else:
        values = scope.fill(body)
        if values is None or values is ABSENT:
            return {}
        if not isinstance(values, Mapping) or not all(map(is_part_name, values)):
            scope.refuse(_find_parameter(body) or "body", f"an object, in which each name is {NAME_RULE}")
        parts = {name: [{"content": item} for item in _list_contents(scope, name, value)] for name, value in values.items()}
    return {name: parts_of_name for name, parts_of_name in parts.items() if parts_of_name}


def _fill_part(scope: _Scope, name: str, field: Mapping[str, Any]) -> list[_Part]:
    contents = _list_contents(scope, name, scope.fill(field["content"]), _find_parameter(field["content"]))
    head = {}
    for key, is_valid, rule in (("filename", is_filename, FILENAME_RULE), ("content_type", is_part_media, MEDIA_RULE)):
        value = scope.fill(field.get(key))
        if value is None or value is ABSENT or value == "":
            continue
        if not isinstance(value, str) or not is_valid(value):
            scope.refuse(_find_parameter(field[key]) or "body", rule)
        head[key] = value
    parts: list[_Part] = [{"content": content, **head} for content in contents]
    if "filename" in head and len(parts) > 1:
        # a receiver that keeps files by their names would keep the last
        for number, part in enumerate(parts, start=1):
            part["filename"] = f"{number}-{head['filename']}"
    return parts


def _list_contents(scope: _Scope, name: str, value: Any, parameter: str | None = None) -> list[Any]:
    """Return the contents of the parts that `value` makes: texts, or what is to be written as JSON."""
    style = scope.get_style(parameter)
    if isinstance(value, list | tuple) and style in _SEPARATORS:
        value = _SEPARATORS[style].join(scope.write_items(parameter or name, value, _SEPARATORS[style]))
    items = value if isinstance(value, list | tuple) else [value]
    present = (item for item in items if item is not None and item is not ABSENT)
    return [item if isinstance(item, Mapping | list | tuple) else _write_scalar(item) for item in present]


def _fill_headers(scope: _Scope) -> dict[str, Text]:
    """Return the headers, without those whose value is empty."""
    filled = {}
    for name, template in scope.tool.headers.items():
        value = scope.fill(template)
        if value is None or value is ABSENT or value == "":
            continue
        if not isinstance(value, Template):
            value = ",".join(scope.write_items(name, value))
        if not headers.is_sendable(value):
            raise CallRefusedError(refusal.refuse_header("a value must be printable ASCII on one line, without outer spaces"))
        filled[name] = value
    return filled
