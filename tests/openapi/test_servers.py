"""Servers and security: where an operation goes, and with which credential. An import approves nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ferryman.openapi import DocumentImport, read
from tests.openapi.documents import HOST, document, only, read_tools, swagger


def at(*servers, **options):
    return only({**document({"/a": {"get": {}}}), "servers": [{"url": item} for item in servers]}, **options)


@pytest.mark.parametrize(
    ("server", "url"),
    [
        (f"https://{HOST}", f"https://{HOST}/a"),
        (f"https://{HOST}/v1/", f"https://{HOST}/v1/a"),
        (f"https://{HOST}:443/v1?x=1", f"https://{HOST}/v1/a"),
        (f"//{HOST}/v1", f"https://{HOST}/v1/a"),
        (f"http://{HOST}:80/v1", f"https://{HOST}/v1/a"),
        (f"HTTPS://{HOST.upper()}/V1", f"https://{HOST}/V1/a"),
    ],
)
def test_a_server_is_taken_as_its_url_says(server, url):
    assert (at(server).url, at(server).enabled) == (url, True)


@pytest.mark.parametrize(("server", "path"), [("/v9", "/v9/a"), ("../api", "/api/a"), ("api", "/v1/api/a"), ("/", "/a")])
def test_a_relative_server_starts_from_the_document(server, path):
    assert at(server, domains=["docs.shop.test"]).url == f"https://docs.shop.test{path}"


def test_without_servers_it_is_the_documents_own():
    tool = only({**document({"/a": {"get": {}}}), "servers": []}, domains=["docs.shop.test"])
    assert (tool.url, tool.enabled) == ("https://docs.shop.test/a", True)


def test_a_document_from_nowhere_has_no_server_of_its_own():
    root = {**document({"/a": {"get": {}}}), "servers": []}
    source = DocumentImport(documents={"file:///a/b.json": root}, root="file:///a/b.json", domains=[HOST])
    (tool,) = read(source).tools
    assert "no absolute server" in tool.reason
    (tool,) = read(replace(source, server=f"https://{HOST}")).tools
    assert (tool.url, tool.enabled) == (f"https://{HOST}/a", True)


def test_the_nearest_servers_hold():
    def server(name):
        return {"servers": [{"url": f"https://{HOST}/{name}"}]}

    paths = {"/a": {**server("item"), "get": server("operation"), "post": {}}}
    assert [tool.url.split("/")[3] for tool in read_tools(document(paths)).tools] == ["operation", "item"]


def test_variables_have_their_defaults():
    servers = [{"url": "https://{region}.shop.test:{port}/{base}", "variables": {
        "region": {"default": "api"}, "port": {"default": 443}, "base": {"default": "v3", "enum": ["v3"]}}}]  # fmt: skip
    assert only({**document({"/a": {"get": {}}}), "servers": servers}).url == f"https://{HOST}/v3/a"


@pytest.mark.parametrize(
    ("server", "reason"),
    [
        ("https://evil.test", "evil.test is not approved for this task; approved: api.shop.test"),
        (f"https://x.{HOST}", "not approved"),
        (f"https://{HOST}@evil.test", "user information"),
        (f"https://{HOST}:8443", "port"),
        ("https://169.254.169.254/latest", "IP address"),
        ("https://2852039166", "not a plain DNS name"),
        ("https://[::1]/", "is not called"),
        ("https://localhost", "not a plain DNS name"),
        ("//kubernetes.local", "is not on the public internet"),
        ("https://metadata.google.internal/v1", "is not on the public internet"),
        ("ftp://x.test", "no absolute server"),
        ("https://{tenant}.shop.test", "not a plain DNS name"),
        ("https://[", "not a URL"),
        ("https://api.shop.test\r\n/", "not a URL"),
    ],
)
def test_a_server_that_may_not_be_called_disables_the_operation(server, reason):
    tool = at(server, domains=[HOST, "kubernetes.local", "metadata.google.internal"] if "public" in reason else [HOST])
    assert tool.enabled is False
    assert reason in tool.reason


def test_the_first_server_that_is_approved_is_taken():
    tool = at("https://us.shop.test", f"https://{HOST}", "https://eu.shop.test")
    assert (tool.url, tool.enabled) == (f"https://{HOST}/a", True)


def test_what_is_named_as_the_server_must_be_approved_too():
    assert at(f"https://{HOST}", server="https://evil.test").enabled is False


NOWHERE = "has a credential in the {}, where none is sent"
BEARER = {"type": "http", "scheme": "bearer"}
KEY = {"type": "apiKey", "in": "header", "name": "X-Api-Key"}


def secured(scheme, credentials, security=None, *, pairs=(), **schemes):
    components = {"securitySchemes": {"s": scheme, **schemes}}
    root = document({"/a": {"get": {"operationId": "x"}}}, components=components, security=security or [{"s": []}])
    return read_tools(root, credentials=credentials, pairs=pairs)


@pytest.mark.parametrize(
    ("scheme", "headers", "query"),
    [
        (BEARER, {"Authorization": "Bearer {{secrets.K}}"}, {}),
        ({"type": "http", "scheme": "Bearer"}, {"Authorization": "Bearer {{secrets.K}}"}, {}),
        ({"type": "oauth2", "flows": {}}, {"Authorization": "Bearer {{secrets.K}}"}, {}),
        ({"type": "openIdConnect"}, {"Authorization": "Bearer {{secrets.K}}"}, {}),
        (KEY, {"X-Api-Key": "{{secrets.K}}"}, {}),
        ({"type": "apiKey", "in": "header", "name": "Authorization"}, {"Authorization": "{{secrets.K}}"}, {}),
        ({"type": "apiKey", "in": "query", "name": "key"}, {}, {"key": "{{secrets.K}}"}),
    ],
)
def test_a_credential_goes_where_the_scheme_says(scheme, headers, query):
    (tool,) = secured(scheme, {"K": [HOST]}).tools
    assert (tool.enabled, dict(tool.headers), dict(tool.query)) == (True, headers, query)


@pytest.mark.parametrize(
    ("scheme", "reason"),
    [
        ({"type": "http", "scheme": "digest"}, "asks for http digest, which is not supported"),
        ({"type": "mutualTLS"}, "asks for mutualTLS, which is not supported"),
        ({"type": "apiKey", "in": "cookie", "name": "c"}, "asks for apiKey cookie, which is not supported"),
        ({"type": "apiKey", "in": "header", "name": "Host"}, NOWHERE.format("header 'Host'")),
        ({"type": "apiKey", "in": "query", "name": "a&b"}, NOWHERE.format("query 'a&b'")),
        ({"type": "apiKey", "in": "query", "name": ["a"]}, NOWHERE.format("query ''")),
        (None, "asks for security that the document does not define, which is not supported"),
    ],
)  # fmt: skip
def test_security_that_is_not_supported_disables_the_operation(scheme, reason):
    (tool,) = secured(scheme, {"K": [HOST]}).tools
    assert tool.reason == reason


BASIC = {"type": "http", "scheme": "Basic"}


def test_a_user_name_with_its_password_goes_where_the_scheme_says():
    (tool,) = secured(BASIC, {"A": [HOST], "K": [HOST]}, pairs=["K"]).tools
    assert (tool.enabled, dict(tool.headers)) == (True, {"Authorization": "Basic {{secrets.K}}"})


def test_swagger_calls_it_by_its_own_name():
    root = swagger({"/a": {"get": {}}}, securityDefinitions={"s": {"type": "basic"}}, security=[{"s": []}])
    assert dict(only(root, credentials={"K": [HOST]}, pairs=["K"]).headers) == {"Authorization": "Basic {{secrets.K}}"}


@pytest.mark.parametrize(
    ("scheme", "pairs", "reason"),
    [
        (BASIC, [], f"needs a user name and password for {HOST}: store one with `ferryman credential set --auth-type basic`"),
        (BEARER, ["K"], f"needs a credential for {HOST}: store one with `ferryman credential set`"),
        (KEY, ["K"], f"needs a credential for {HOST}: store one with `ferryman credential set`"),
    ],
)
def test_a_credential_of_the_other_kind_is_not_sent(scheme, pairs, reason):
    (tool,) = secured(scheme, {"K": [HOST]}, pairs=pairs).tools
    assert (tool.reason, dict(tool.headers)) == (f"{reason}, then import again", {})


@pytest.mark.parametrize("credentials", [{}, {"K": ["other.test"]}, {"K": [f"*.{HOST}"]}])
def test_without_a_credential_for_the_host_the_operation_is_disabled(credentials):
    (tool,) = secured(BEARER, credentials).tools
    assert tool.reason == f"needs a credential for {HOST}: store one with `ferryman credential set`, then import again"
    assert dict(tool.headers) == {}


def test_a_credential_of_another_approved_host_is_not_sent():
    components = {"securitySchemes": {"s": BEARER}}
    root = document({"/a": {"get": {"servers": [{"url": "https://other.test"}]}}}, components=components, security=[{"s": []}])
    tool = only(root, domains=[HOST, "other.test"], credentials={"K": [HOST]})
    assert "needs a credential for other.test" in tool.reason


def test_of_several_credentials_the_first_by_name_is_sent():
    result = secured(BEARER, {"B": [HOST], "A": [HOST]})
    assert dict(result.tools[0].headers) == {"Authorization": "Bearer {{secrets.A}}"}
    assert result.notes == (f"x: several credentials are bound to {HOST}: A is sent",)


def test_a_credential_that_is_named_like_its_scheme_is_sent_there():
    two = {"type": "apiKey", "in": "header", "name": "DD-APPLICATION-KEY"}
    (tool,) = secured(KEY, {"A": [HOST], "DD_APPLICATION_KEY": [HOST]}, [{"t": [], "s": []}], t=two).tools
    assert dict(tool.headers) == {"DD-APPLICATION-KEY": "{{secrets.DD_APPLICATION_KEY}}", "X-Api-Key": "{{secrets.A}}"}


def test_two_schemes_at_once_need_two_credentials():
    (tool,) = secured(KEY, {"A": [HOST]}, [{"s": [], "t": []}], t=BEARER).tools
    assert tool.enabled is False


def test_of_alternatives_the_first_that_can_be_satisfied_holds():
    (tool,) = secured({"type": "http", "scheme": "basic"}, {"K": [HOST]}, [{"s": []}, {"t": []}], t=BEARER).tools
    assert dict(tool.headers) == {"Authorization": "Bearer {{secrets.K}}"}


@pytest.mark.parametrize("security", [[{"s": []}, {}], [{}]])
def test_security_that_may_be_left_out_sends_no_credential(security):
    (tool,) = secured(BEARER, {"K": [HOST]}, security).tools
    assert (tool.enabled, dict(tool.headers)) == (True, {})


def test_an_operation_says_its_own_security():
    components = {"securitySchemes": {"s": BEARER}}
    root = document({"/a": {"get": {"security": []}}}, components=components, security=[{"s": []}])
    assert dict(only(root, credentials={"K": [HOST]}).headers) == {}


def test_the_model_does_not_say_what_the_credential_is_sent_as():
    parameters = [{"name": "x-api-key", "in": "header", "schema": {}}]
    root = document(
        {"/a": {"get": {"parameters": parameters}}}, components={"securitySchemes": {"s": KEY}}, security=[{"s": []}]
    )
    tool = only(root, credentials={"K": [HOST]})
    assert (dict(tool.headers), dict(tool.parameters)) == ({"X-Api-Key": "{{secrets.K}}"}, {})
