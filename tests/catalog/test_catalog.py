"""The catalog: the shipped services fit the rules, and an operator's own are held to the same ones."""

from __future__ import annotations

from typing import Any

import pytest

from ferryman import catalog
from ferryman.domain.credentials.credential import AuthType
from ferryman.domain.http.headers import is_declarable_header, is_identity_header
from ferryman.domain.http.host import is_covered
from ferryman.settings import MisconfiguredError

ENTRY: dict[str, Any] = {
    "id": "acme",
    "name": "Acme",
    "description": "Our own.",
    "category": "internal",
    "allowed_domains": ["API.acme.example", "*.acme.example"],
    "default_auth_type": "header",
    "default_auth_header": "X-Acme-Key",
}


def test_at_least_eighteen_services_are_shipped() -> None:
    assert len(catalog.load()) >= 18


@pytest.mark.parametrize(
    ("service", "auth_type", "where", "host"),
    [
        ("slack", AuthType.BEARER, None, "slack.com"),
        ("notion", AuthType.BEARER, None, "api.notion.com"),
        ("airtable", AuthType.BEARER, None, "api.airtable.com"),
        ("lunarcrush", AuthType.BEARER, None, "lunarcrush.com"),
        ("coinmarketcap", AuthType.HEADER, "X-CMC_PRO_API_KEY", "pro-api.coinmarketcap.com"),
        ("newsapi", AuthType.HEADER, "X-Api-Key", "newsapi.org"),
        ("twilio", AuthType.BASIC, None, "api.twilio.com"),
        ("alphavantage", AuthType.QUERY_PARAM, "apikey", "www.alphavantage.co"),
        ("openweather", AuthType.QUERY_PARAM, "appid", "api.openweathermap.org"),
    ],
)
def test_a_service_is_called_as_its_documentation_says(service: str, auth_type: AuthType, where: str | None, host: str) -> None:
    known = catalog.load()[service]
    assert known.default_auth_type is auth_type
    assert (known.default_auth_header or known.default_auth_param) == where
    assert is_covered(known.allowed_domains, host)


def test_every_shipped_service_says_how_to_set_it_up_and_where_to_read_on() -> None:
    for service in catalog.load().values():
        assert service.description.endswith(".")
        assert service.docs_url.startswith("https://")
        assert service.credential_key_template
        assert service.default_auth_type


def test_no_two_shipped_services_share_a_domain() -> None:
    domains = [domain for service in catalog.load().values() for domain in service.allowed_domains]
    assert len(domains) == len(set(domains))


def test_a_repeated_payment_can_be_told_by_its_header() -> None:
    assert catalog.load()["stripe"].idempotency_header == "Idempotency-Key"


@pytest.mark.parametrize(
    ("service", "header"),
    [
        ("notion", "Notion-Version"),
        ("github", "X-GitHub-Api-Version"),
        ("stripe", "Stripe-Version"),
        ("google_maps", "X-Goog-FieldMask"),
        ("openai", "OpenAI-Beta"),
    ],
)
def test_a_service_has_the_headers_that_it_documents(service: str, header: str) -> None:
    assert header in catalog.load()[service].headers


def test_no_shipped_service_lets_a_model_say_who_asks_or_with_which_key() -> None:
    names = [name for service in catalog.load().values() for name in service.headers]
    assert [name for name in names if is_identity_header(name) or not is_declarable_header(name)] == []


def test_an_operators_service_has_headers_of_its_own() -> None:
    assert catalog.load([{**ENTRY, "headers": ["Acme-Version"]}])["acme"].headers == ("Acme-Version",)


def test_an_operators_service_is_added_with_its_domains_in_lower_case() -> None:
    assert catalog.load([ENTRY])["acme"].allowed_domains == ("api.acme.example", "*.acme.example")


def test_an_operators_service_replaces_the_shipped_one_of_its_id() -> None:
    assert catalog.load([{**ENTRY, "id": "slack"}])["slack"].name == "Acme"
    assert len(catalog.load([{**ENTRY, "id": "slack"}])) == len(catalog.load())


BROKEN: dict[str, tuple[dict[str, Any], str]] = {
    "an unknown field": ({"domains": []}, "unknown ['domains']"),
    "an id with capitals": ({"id": "Acme"}, "id must be"),
    "the id of the webhooks": ({"id": "webhook"}, "not webhook"),
    "a name that is no text": ({"name": 1}, "name must be a string"),
    "no domain": ({"allowed_domains": []}, "at least one domain"),
    "a domain that is text alone": ({"allowed_domains": "acme.example"}, "at least one domain"),
    "a domain of one label": ({"allowed_domains": ["acme"]}, "not a plain DNS name"),
    "every domain": ({"allowed_domains": ["*"]}, "not a plain DNS name"),
    "a whole top-level domain": ({"allowed_domains": ["*.com"]}, "not a plain DNS name"),
    "a wildcard in the middle": ({"allowed_domains": ["api.*.example"]}, "not a plain DNS name"),
    "an address": ({"allowed_domains": ["10.0.0.1"]}, "IP address"),
    "a URL": ({"allowed_domains": ["https://acme.example"]}, "not a plain DNS name"),
    "a port": ({"allowed_domains": ["acme.example:443"]}, "not a plain DNS name"),
    "an auth type of its own": ({"default_auth_type": "digest"}, "bearer, header, query_param, basic"),
    "a header that frames": ({"default_auth_header": "Host"}, "default_auth_header"),
    "a header without a name": ({"default_auth_header": None}, "default_auth_header must be a string"),
    "a parameter for a header": ({"default_auth_param": "key"}, "default_auth_param is only for"),
    "a key's name in small letters": ({"credential_key_template": "acme"}, "credential_key_template"),
    "headers that are one text": ({"headers": "X-Acme-Version"}, "headers must list at most 20"),
    "a header that is no name": ({"headers": ["a b"]}, "headers: 'a b' must be an HTTP header name"),
    "a header of the model's that frames": ({"headers": ["Transfer-Encoding"]}, "headers: Transfer-Encoding frames"),
    "a header of the model's that routes": ({"headers": ["X_Forwarded_Host"]}, "headers: X_Forwarded_Host frames"),
    "a header of the model's for a key": ({"headers": ["Authorization"]}, "headers: Authorization frames"),
    "a header of the model's that names the caller": ({"headers": ["X-Acme-Role"]}, "headers: X-Acme-Role names the caller"),
    "an idempotency header that frames": ({"idempotency_header": "Host"}, "idempotency_header"),
}


CONSENT = {"authorize_url": "https://login.acme-id.example/authorize", "token_url": "https://api.acme.example/token"}
LISTED = {**CONSENT, "hosts": ["login.acme-id.example"]}

BROKEN |= {
    "consent that is no object": ({"oauth": "https://acme.example"}, "oauth must be an object"),
    "consent without a token endpoint": ({"oauth": {"authorize_url": "https://api.acme.example/"}}, "missing ['token_url']"),
    "consent with an unknown field": ({"oauth": {**LISTED, "client_secret": "x"}}, "unknown ['client_secret']"),
    "a consent page on a host that is not listed": ({"oauth": CONSENT}, "login.acme-id.example is neither an allowed domain"),
    "a token endpoint elsewhere": ({"oauth": {**LISTED, "token_url": "https://evil.test/"}}, "evil.test is neither"),
    "a token endpoint without TLS": ({"oauth": {**LISTED, "token_url": "http://api.acme.example/"}}, "only https://"),
    "a token endpoint at a port": ({"oauth": {**LISTED, "token_url": "https://api.acme.example:8443/"}}, "port is not 443"),
    "a consent page with a fragment": (
        {"oauth": {**LISTED, "authorize_url": "https://login.acme-id.example/#a"}},
        "must have no fragment",
    ),
    "a wildcard among the consent's hosts": ({"oauth": {**LISTED, "hosts": ["*.acme.example"]}}, "oauth.hosts"),
    "an address among the consent's hosts": ({"oauth": {**LISTED, "hosts": ["169.254.169.254"]}}, "IP address"),
    "scopes that are text alone": ({"oauth": {**LISTED, "scopes": "read"}}, "oauth.scopes must be a list"),
    "a scope with a space": ({"oauth": {**LISTED, "scopes": ["a b"]}}, "oauth.scopes"),
    "a parameter that is ours": ({"oauth": {**LISTED, "authorize_params": {"state": "x"}}}, "state are set by Ferryman"),
    "a parameter that is no text": ({"oauth": {**LISTED, "authorize_params": {"x": 1}}}, "an object of strings"),
    "a redirect without TLS": ({"oauth": {**LISTED, "redirect_uris": ["http://acme.example/"]}}, "https URLs"),
    "a redirect to another machine": ({"oauth": {**LISTED, "redirect_uris": ["http://10.0.0.1:80/"]}}, "http://127.0.0.1:PORT"),
    "an issuer without TLS": ({"oauth": {**LISTED, "issuer": "http://acme.example"}}, "oauth.issuer must be an https URL"),
    "an issuer with a query": ({"oauth": {**LISTED, "issuer": "https://acme.example?a"}}, "oauth.issuer must be an https URL"),
    "an issuer that is no text": ({"oauth": {**LISTED, "issuer": 1}}, "oauth.issuer must be a string"),
    "iss without an issuer": ({"oauth": {**LISTED, "sends_iss": True}}, "oauth.sends_iss needs oauth.issuer"),
    "iss in words": ({"oauth": {**LISTED, "issuer": "https://acme.example", "sends_iss": "yes"}}, "true or false"),
    "a client's secret elsewhere": ({"oauth": {**LISTED, "creds_location": "query"}}, "basic_header, body"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_an_entry_that_breaks_a_rule_is_named(case: str) -> None:
    change, message = BROKEN[case]
    with pytest.raises(MisconfiguredError) as caught:
        catalog.load([ENTRY, {**ENTRY, "id": "other", **change}])
    assert "FERRYMAN_INTEGRATIONS entry 1" in str(caught.value)
    assert message in str(caught.value)


def sharing(**second: object) -> list[dict[str, object]]:
    """Return two services that are led back to at the same address."""
    oauth = {**LISTED, "redirect_uris": ["https://console.example/connected"], "issuer": "https://a.example", "sends_iss": True}
    return [{**ENTRY, "oauth": oauth}, {**ENTRY, "id": "other", "oauth": {**oauth, **second}}]


def test_two_services_may_not_have_the_same_redirect_uri() -> None:
    with pytest.raises(MisconfiguredError, match="acme and other have the same redirect URI"):
        catalog.load(sharing(sends_iss=False))


def test_two_services_that_name_themselves_may_have_the_same_redirect_uri() -> None:
    assert {"acme", "other"} <= set(catalog.load(sharing(issuer="https://b.example")))


def test_an_entry_that_misses_a_field_is_named() -> None:
    with pytest.raises(MisconfiguredError, match=r"entry 0 \('acme'\): unknown \[\], missing \['name'\]"):
        catalog.load([{key: value for key, value in ENTRY.items() if key != "name"}])


def test_an_entry_that_is_no_object_is_named() -> None:
    with pytest.raises(MisconfiguredError, match="entry 0: must be an object"):
        catalog.load(["acme"])  # type: ignore[list-item] # what an operator may well write


def test_an_id_given_twice_is_named() -> None:
    with pytest.raises(MisconfiguredError, match="entry 1: id 'acme' is given twice"):
        catalog.load([ENTRY, ENTRY])


def test_an_entry_says_how_it_is_connected_by_consent() -> None:
    way = catalog.load([{**ENTRY, "oauth": {**LISTED, "scopes": ["read"], "authorize_params": {"access_type": "offline"}}}])[
        "acme"
    ].oauth
    assert way is not None
    assert (way.token_host, way.scopes, way.hosts) == ("api.acme.example", ("read",), ("login.acme-id.example",))


def test_the_hosts_of_a_consent_are_open_to_no_tool() -> None:
    known = catalog.load([{**ENTRY, "oauth": LISTED}])["acme"]
    assert "login.acme-id.example" not in known.allowed_domains
