"""Request: a declared tool and the model's arguments become what is to be sent; where a secret goes, there is a hole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from ferryman.declared import headers, styles, templates, urls
from ferryman.declared.arguments import accepted, bound
from ferryman.declared.check import wire_names
from ferryman.declared.styles import UnwritableValueError
from ferryman.declared.templates import ABSENT, Name
from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.http import url
from ferryman.domain.http.request import BodyType, OutboundRequest, SecretPlaceholder, Template, Text
from ferryman.domain.tools.declared import Declared, Style

OK = range(200, 300)
CHARACTERS_MAX = 4_194_304
"""All that the names in a tool's templates stand for, each as often as it is named; a request's body may be 1 MiB."""


def outbound(
    tool: Declared, arguments: Mapping[str, Any], *, state: Mapping[str, str], env: Mapping[str, Text] | None = None
) -> OutboundRequest:
    """The request that a call of `tool` asks for, or `CallRefusedError`, which names the field and never its content.

    `state` is what every template may name; `env` is what variables stand for, with a hole for
    each that is a credential; None where the environment is not read. A body of type query stands in
    `query_params`, after the query's own.
    """
    try:
        address = urls.parse(tool.url)
        said = accepted(tool, bound(tool, arguments, set(address.in_path())))
        return _outbound(_Said(tool, said, state, env or {}), address)
    except (url.InvalidUrlError, templates.MalformedTemplateError):
        raise CallRefusedError(refusal.refuse_after_internal_error()) from None  # stored without a check


@dataclass(frozen=True, slots=True)
class _Said:
    """What names stand for in one call."""

    tool: Declared
    arguments: Mapping[str, Any]
    state: Mapping[str, str]
    env: Mapping[str, Text]
    known: dict[str, tuple[Any, int]] = field(default_factory=dict)
    written: Counter[str] = field(default_factory=Counter)

    def value(self, name: Name) -> Any:
        """What a name in a template stands for: the model's word for a parameter, before what every task may name."""
        if name.store is not None:
            rest = name.parts[1]
            return Template((SecretPlaceholder(rest),)) if name.store == "secrets" else self.env.get(rest)
        return templates.drill(self.of(name.root), name.parts[1:])

    def of(self, root: str) -> Any:
        """The value of one name, counted: few texts, named often, would be more than any request may be."""
        if root not in self.known:
            value = self._found(root)
            self.known[root] = (value, len(str(value) if isinstance(value, Template) else templates.text(value)))
        value, size = self.known[root]
        self.written["characters"] += size
        if self.written["characters"] > CHARACTERS_MAX:
            self.refuse("arguments", "shorter: what they make is more than a request may be")
        return value

    def _found(self, root: str) -> Any:
        if root in self.tool.params:
            return self.filled(self.tool.params[root])
        if root in self.tool.parameters:
            return self.arguments.get(root, ABSENT)
        return self.state.get(root)

    def filled(self, value: Any) -> Any:
        """`value` with its texts filled; fields and items that are nothing but what is absent are left out."""
        if isinstance(value, str):
            return templates.fill(templates.parse(value), self.value)
        if isinstance(value, Mapping):
            inner = ((name, self.filled(each)) for name, each in value.items())
            return {name: each for name, each in inner if each is not ABSENT}
        if isinstance(value, list | tuple):
            return [each for each in map(self.filled, value) if each is not ABSENT]
        return value

    def style(self, root: str | None) -> Style:
        parameter = None if root is None or root in self.tool.params else self.tool.parameters.get(root)
        return Style.REPEAT if parameter is None else parameter.style

    def refuse(self, field: str, expected: str) -> NoReturn:
        raise CallRefusedError(refusal.refuse_wrong_argument(self.tool.name, field, expected))


_Pair = tuple[str, Text, str]
"""A name and a value, and the name as it is declared: another where the value was an object."""


def _outbound(said: _Said, address: urls.Address) -> OutboundRequest:
    tool = said.tool
    pairs = [*_url_pairs(said, address), *_pairs(said, tool.query)]
    if tool.body_type is BodyType.QUERY:
        pairs += _body_pairs(said)
    return OutboundRequest(
        tool=tool.name,
        method=tool.method,
        url=_target(said, address),
        query_params=_merged(said, pairs, [name for name, _ in wire_names(tool, address)]),
        body=_body(said) if tool.method.carries_body else None,
        body_type=tool.body_type,
        fixed_headers=_headers(said),
        ok=tool.ok_statuses or OK,
    )


def _target(said: _Said, address: urls.Address) -> str:
    values = {}
    for name in address.in_path():
        value = said.of(name)
        if value is None or value is ABSENT:
            raise CallRefusedError(refusal.refuse_missing_argument(said.tool.name, name))
        try:
            values[name] = styles.items(value)
        except UnwritableValueError as error:
            said.refuse(name, str(error))
    try:
        return urls.written(address, values)
    except urls.InvalidUrlTemplateError as error:
        said.refuse(error.name, error.expected)


def _url_pairs(said: _Said, address: urls.Address) -> Iterator[_Pair]:
    for pair in address.pairs:
        values = [piece if isinstance(piece, str) else said.of(piece.name) for piece in pair.value]
        if any(value is ABSENT for value in values):
            continue
        whole = pair.whole
        value = values[0] if whole is not None else templates.joined(values)
        yield from _written(said, pair.name, value, said.style(None if whole is None else whole.name))


def _pairs(said: _Said, values: Mapping[str, Any]) -> Iterator[_Pair]:
    for name, value in values.items():
        yield from _written(said, name, said.filled(value), said.style(_parameter(value)))


def _written(said: _Said, name: str, value: Any, style: Style) -> Iterator[_Pair]:
    try:
        yield from ((key, text, name) for key, text in styles.pairs(name, value, style))
    except UnwritableValueError as error:
        said.refuse(name or "body", str(error))


def _parameter(value: Any) -> str | None:
    """The parameter that the template `value` is nothing but."""
    name = templates.whole(templates.parse(value)) if isinstance(value, str) else None
    return name.root if name is not None and len(name.parts) == 1 else None


def _body_pairs(said: _Said) -> Iterator[_Pair]:
    """A body that is pairs: as declared, or one argument as it is, whose texts are no templates."""
    body = said.tool.body
    if isinstance(body, Mapping):
        yield from _pairs(said, body)
        return
    value = said.filled(body)
    if value is None or value is ABSENT:
        return
    if not isinstance(value, Mapping):
        said.refuse(_parameter(body) or "body", "an object")
    yield from _written(said, "", value, Style.REPEAT)


def _merged(said: _Said, pairs: Iterable[_Pair], declared: Iterable[str]) -> dict[str, Any]:
    """The pairs by name. A name that came out of an argument may be none that is declared, nor one that another gave."""
    found: dict[str, tuple[str, list[Text]]] = {}
    taken = {_folded(name) for name in declared}
    for name, text, origin in pairs:
        if name != origin and (_folded(name) in taken or found.get(name, (origin,))[0] != origin):
            said.refuse("arguments", "an object whose names are not those of other parameters")
        found.setdefault(name, (origin, []))[1].append(text)
    return {name: texts[0] if len(texts) == 1 else texts for name, (_, texts) in found.items()}


def _folded(name: str) -> str:
    # some read names in any case, and PHP reads a dot as an underscore
    return name.lower().replace(".", "_")


def _body(said: _Said) -> Any:
    body = said.tool.body
    if said.tool.body_type is BodyType.JSON:
        value = said.filled(body)
        return None if value is ABSENT else value
    if said.tool.body_type is BodyType.QUERY or body is None:
        return None
    return _merged(said, _body_pairs(said), body if isinstance(body, Mapping) else ())


def _headers(said: _Said) -> dict[str, Text]:
    """The headers; one whose value is nothing is not sent."""
    found = {}
    for name, template in said.tool.headers.items():
        value = said.filled(template)
        if value is None or value is ABSENT or value == "":
            continue
        if not isinstance(value, Template):
            try:
                value = ",".join(styles.items(value))
            except UnwritableValueError as error:
                said.refuse(name, str(error))
        if not headers.sendable(value):
            raise CallRefusedError(refusal.refuse_header("a value must be printable ASCII on one line, without outer spaces"))
        found[name] = value
    return found
