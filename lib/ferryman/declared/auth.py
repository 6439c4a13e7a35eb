"""Auth: the block that says how a token is fetched and where it is put, read from an entry, and its rules (S1-27 … S1-30)."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ferryman.declared import headers, paths, templates
from ferryman.declared.fields import Fields, join_place, report
from ferryman.declared.templates import Mode
from ferryman.domain.http.request import BodyType, Method
from ferryman.domain.http.url import InvalidUrlError, parse_url
from ferryman.domain.problem import Problem
from ferryman.domain.tools.declared import REFRESH_ON, Apply, Auth, ClientCredentials, Exchange, Extract, TokenExchange

CLIENT_CREDENTIALS = "oauth2_client_credentials"
TOKEN_EXCHANGE = "token_exchange"  # noqa: S105 - the name of a way to get one
TOKEN_MARK = "{token}"  # noqa: S105 - its placeholder in `format`
CACHE_SECONDS_MAX = 2_592_000
REFRESH_STATUS_MIN = 400


def read_auth(fields: Fields) -> Auth | None:
    """Return the auth block as it is written; the problems of its form are added to those of `fields`."""
    kind = fields.read_word("type", (CLIENT_CREDENTIALS, TOKEN_EXCHANGE), "")
    if not kind:
        return None
    cache_ttl = fields.read_integer("cache_ttl", least=1, most=CACHE_SECONDS_MAX)
    refresh_on = fields.read_statuses("refresh_on", REFRESH_ON, least=REFRESH_STATUS_MIN)
    auth: Auth
    if kind == CLIENT_CREDENTIALS:
        auth = ClientCredentials(
            token_url=fields.read_text("token_url"),
            client_id=fields.read_text("client_id"),
            client_secret=fields.read_text("client_secret"),
            scope=fields.read_optional_text("scope"),
            creds_location=fields.read_word("creds_location", ("basic_header", "body"), "basic_header"),
            cache_ttl=cache_ttl,
            refresh_on=refresh_on,
        )
    else:
        auth = TokenExchange(
            request=_read_exchange(fields.read_object("request")),
            extract=_read_extract(fields.read_object("extract", {})),
            apply=_read_apply(fields.read_object("apply", {})),
            cache_ttl=cache_ttl,
            refresh_on=refresh_on,
        )
    fields.reject_unknown()
    return auth


def find_auth_problems(auth: Auth, where: str, mode: Mode, public: Collection[str] = ()) -> Iterator[Problem]:
    """Yield what breaks the rules that every auth block must meet, except for which hosts are approved."""
    texts = list(templates.list_login_texts(auth, where))
    yield from templates.find_template_problems(texts, mode, public)
    for place, name, _ in templates.list_placed_names(texts):
        if name.store is None:
            yield report(f"names '{str(name)[:64]}': a login has only secrets and what is written out", place)
    if isinstance(auth, ClientCredentials):
        yield from _find_url_problems(auth.token_url, where, "token_url")
        return
    login, place = auth.request, join_place(where, "request")
    yield from _find_url_problems(login.url, place, "url")
    yield from headers.find_header_problems(login.headers, login.body_type, join_place(place, "headers"))
    yield from headers.find_body_problems(login.method, login.body_type, login.body, join_place(place, "body"))
    yield from _find_extract_problems(auth.extract, join_place(where, "extract"))
    yield from _find_apply_problems(auth.apply, join_place(where, "apply"))


def get_token_url(auth: Auth) -> tuple[str, str]:
    """Return the URL of the token endpoint, and the place of the field that has it."""
    return (auth.token_url, "token_url") if isinstance(auth, ClientCredentials) else (auth.request.url, "request.url")


def get_placement(auth: Auth) -> Apply:
    """Return where the token is put in the tool's request: OAuth's is a bearer token (RFC 6750, 2.1)."""
    return auth.apply if isinstance(auth, TokenExchange) else Apply()


def get_token_name(auth: Auth | None, location: str) -> str | None:
    """Return the name under which the token is sent in `location` ("header" or "query"), or None where it is not sent there."""
    return None if auth is None or (apply := get_placement(auth)).location != location else apply.name


def _read_exchange(fields: Fields) -> Exchange:
    exchange = Exchange(
        url=fields.read_text("url"),
        method=fields.read_choice("method", Method.POST),
        headers=fields.read_texts("headers"),
        body_type=fields.read_choice("body_type", BodyType.JSON),
        body=fields.read("body"),
    )
    fields.reject_unknown()
    return exchange


def _read_extract(fields: Fields) -> Extract:
    extract = Extract(
        response_format=fields.read_word("response_format", ("json", "text"), "json"),
        token_path=fields.read_optional_text("token_path"),
        expires_path=fields.read_optional_text("expires_path"),
    )
    fields.reject_unknown()
    return extract


def _read_apply(fields: Fields) -> Apply:
    apply = Apply(
        location=fields.read_word("location", ("header", "query"), "header"),
        name=fields.read_text("name", "Authorization"),
        format=fields.read_optional_text("format"),
    )
    fields.reject_unknown()
    return apply


def _find_url_problems(text: str, *place: str) -> Iterator[Problem]:
    if "{" in text:
        message = "must be written out, without placeholders or templates: `body` with body_type query is appended to it"
        yield report(message, *place)
        return
    try:
        parse_url(text)
    except InvalidUrlError as error:
        yield report(str(error), *place)


def _find_extract_problems(extract: Extract, where: str) -> Iterator[Problem]:
    if extract.response_format == "json" and extract.token_path is None:
        yield report("is required, as in $.access_token", where, "token_path")
    for name, path in (("token_path", extract.token_path), ("expires_path", extract.expires_path)):
        if path is None:
            continue
        if extract.response_format == "text":
            yield report("is for response_format json: of a text, all of it is the token", where, name)
        elif (problem := paths.find_problem(path)) is not None:
            yield report(problem, where, name)


def _find_apply_problems(apply: Apply, where: str) -> Iterator[Problem]:
    if apply.location == "header" and (problem := headers.find_name_problem(apply.name)) is not None:
        yield report(problem, where, "name")
    if apply.location == "query" and (not apply.name or "{" in apply.name):
        yield report("must be the name of a query parameter, written out", where, "name")
    if apply.format is None:
        return
    if apply.format.count(TOKEN_MARK) != 1 or "{{" in apply.format:
        yield report(f"must have {TOKEN_MARK} once, and no template", where, "format")
    elif (problem := headers.find_literal_problem(apply.format)) is not None:
        yield report(problem, where, "format")
    elif apply.format != apply.format.strip():
        yield report("must not begin or end with a space", where, "format")
