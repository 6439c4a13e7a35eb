"""Auth: the block that says how a token is fetched and where it is put, read from an entry, and its rules (S1-27 … S1-30)."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from ferryman.declared import bodies, headers, paths, references
from ferryman.declared.fields import Fields, at
from ferryman.declared.templates import Mode
from ferryman.domain.http.request import BodyType, Method
from ferryman.domain.http.url import InvalidUrlError, parse_url
from ferryman.domain.problem import Problem
from ferryman.domain.tools.declared import REFRESH_ON, Apply, Auth, ClientCredentials, Exchange, Extract, TokenExchange

CLIENT_CREDENTIALS = "oauth2_client_credentials"
TOKEN_EXCHANGE = "token_exchange"  # noqa: S105 - the name of a way to get one
TOKEN = "{token}"  # noqa: S105 - what stands for one in `format`
CACHE_SECONDS_MAX = 2_592_000
REFRESH_STATUS_MIN = 400


def read(value: Any, where: str, problems: list[Problem]) -> Auth | None:
    """The auth block as written; what is wrong with its form goes to `problems`."""
    fields = Fields(value, where, problems)
    kind = fields.word("type", (CLIENT_CREDENTIALS, TOKEN_EXCHANGE), "")
    if not kind:
        return None
    cache_ttl = fields.whole("cache_ttl", least=1, most=CACHE_SECONDS_MAX)
    refresh_on = fields.statuses("refresh_on", REFRESH_ON, least=REFRESH_STATUS_MIN)
    auth: Auth
    if kind == CLIENT_CREDENTIALS:
        auth = ClientCredentials(
            token_url=fields.text("token_url"),
            client_id=fields.text("client_id"),
            client_secret=fields.text("client_secret"),
            scope=fields.maybe("scope"),
            creds_location=fields.word("creds_location", ("basic_header", "body"), "basic_header"),
            cache_ttl=cache_ttl,
            refresh_on=refresh_on,
        )
    else:
        auth = TokenExchange(
            request=_request(fields.take("request"), at(where, "request"), problems),
            extract=_extract(fields.take("extract", {}), at(where, "extract"), problems),
            apply=_apply(fields.take("apply", {}), at(where, "apply"), problems),
            cache_ttl=cache_ttl,
            refresh_on=refresh_on,
        )
    fields.end()
    return auth


def problems(auth: Auth, where: str, mode: Mode, public: Collection[str] = ()) -> Iterator[Problem]:
    """The rules that every auth block must meet, but for which hosts are approved."""
    placed = list(references.login_texts(auth, where))
    yield from references.problems(placed, mode, public)
    for place, name, _ in references.names(placed):
        if name.store is None:
            message = f"names '{str(name)[:64]}': a login says only secrets and what is written out"
            yield Problem(field=place, message=message)
    if isinstance(auth, ClientCredentials):
        yield from _url(auth.token_url, at(where, "token_url"))
        return
    request = at(where, "request")
    yield from _url(auth.request.url, at(request, "url"))
    yield from headers.problems(auth.request.headers, auth.request.body_type, at(request, "headers"))
    yield from bodies.problems(auth.request.method, auth.request.body_type, auth.request.body, at(request, "body"))
    yield from _extraction(auth.extract, at(where, "extract"))
    yield from _application(auth.apply, at(where, "apply"))


def url(auth: Auth) -> tuple[str, str]:
    """Where a token is fetched, and the place of the field that says so."""
    return (auth.token_url, "token_url") if isinstance(auth, ClientCredentials) else (auth.request.url, "request.url")


def query_name(auth: Auth | None) -> str | None:
    """The query parameter that carries the token, where one does."""
    return auth.apply.name if isinstance(auth, TokenExchange) and auth.apply.location == "query" else None


def header_name(auth: Auth | None) -> str | None:
    """The header that carries the token, where one does."""
    if isinstance(auth, TokenExchange):
        return auth.apply.name if auth.apply.location == "header" else None
    return None if auth is None else "Authorization"


def _request(value: Any, where: str, problems: list[Problem]) -> Exchange:
    fields = Fields(value, where, problems)
    found = Exchange(
        url=fields.text("url"),
        method=fields.choice("method", Method.POST),
        headers=fields.texts("headers"),
        body_type=fields.choice("body_type", BodyType.JSON),
        body=fields.take("body"),
    )
    fields.end()
    return found


def _extract(value: Any, where: str, problems: list[Problem]) -> Extract:
    fields = Fields(value, where, problems)
    found = Extract(
        response_format=fields.word("response_format", ("json", "text"), "json"),
        token_path=fields.maybe("token_path"),
        expires_path=fields.maybe("expires_path"),
    )
    fields.end()
    return found


def _apply(value: Any, where: str, problems: list[Problem]) -> Apply:
    fields = Fields(value, where, problems)
    location = fields.word("location", ("header", "query"), "header")
    found = Apply(location=location, name=fields.text("name", "Authorization"), format=fields.maybe("format"))
    fields.end()
    return found


def _url(text: str, where: str) -> Iterator[Problem]:
    if "{" in text:
        message = "must be written out, without placeholders or templates: `body` with body_type query is appended to it"
        yield Problem(field=where, message=message)
        return
    try:
        parse_url(text)
    except InvalidUrlError as error:
        yield Problem(field=where, message=str(error))


def _extraction(extract: Extract, where: str) -> Iterator[Problem]:
    if extract.response_format == "text":
        for name in ("token_path", "expires_path"):
            if getattr(extract, name) is not None:
                yield Problem(field=at(where, name), message="is for response_format json: of a text, all of it is the token")
        return
    if extract.token_path is None:
        yield Problem(field=at(where, "token_path"), message="is required, as in $.access_token")
    for name, path in (("token_path", extract.token_path), ("expires_path", extract.expires_path)):
        if path is not None and (wrong := paths.check(path)) is not None:
            yield Problem(field=at(where, name), message=wrong)


def _application(apply: Apply, where: str) -> Iterator[Problem]:
    if apply.location == "header" and (wrong := headers.name_problem(apply.name)) is not None:
        yield Problem(field=at(where, "name"), message=wrong)
    if apply.location == "query" and (not apply.name or "{" in apply.name):
        yield Problem(field=at(where, "name"), message="must be the name of a query parameter, written out")
    if apply.format is not None:
        if apply.format.count(TOKEN) != 1 or "{{" in apply.format:
            yield Problem(field=at(where, "format"), message=f"must have {TOKEN} once, and no template")
        elif (wrong := headers.literal_problem(apply.format)) is not None or apply.format != apply.format.strip():
            yield Problem(field=at(where, "format"), message=wrong or "must not begin or end with a space")
