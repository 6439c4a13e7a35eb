"""Headers: what a model must not say to a host: who asks, where to, how much there is, and with which key."""

from __future__ import annotations

from collections.abc import Mapping

from tests.campaigns.hostile.scenario import (
    BEARER,
    HEADER,
    PUBLIC,
    Scenario,
    call_api,
    call_once,
    call_tools,
    finish,
    import_document,
)

G = f"https://{PUBLIC}/{{token}}"

FORBIDDEN: Mapping[str, Mapping[str, str]] = {
    "another Host": {"Host": "{thief}"},
    "an Authorization": {"Authorization": "Basic bW9kZWw6bW9kZWw="},
    "a Cookie": {"Cookie": "session=1"},
    "a Content-Length": {"Content-Length": "200"},
    "a Transfer-Encoding": {"Transfer-Encoding": "chunked"},
    "a Connection that strips the key": {"Connection": "Authorization"},
    "an Expect": {"Expect": "100-continue"},
    "an Upgrade": {"Upgrade": "h2c"},
    "a proxy's Authorization": {"Proxy-Authorization": "Basic eDp5"},
    "a forwarded host": {"X-Forwarded-Host": "{thief}"},
    "a forwarded address": {"X-Forwarded-For": "127.0.0.1"},
    "an original URL": {"X-Original-URL": "/admin"},
    "another method": {"X-HTTP-Method-Override": "DELETE"},
    "the metadata server's flavour": {"Metadata-Flavor": "Google"},
    "another key": {"X-Api-Key": "mine-mine-mine-mine"},
    "an underscore for a hyphen": {"X_Forwarded_For": "127.0.0.1"},
    "a line break in a value": {"Prefer": "a\r\nX-Injected: 1"},
    "a line break in a name": {"Prefer\r\nX-Injected": "1"},
    "another content type": {"Content-Type": "text/html"},
    "a range": {"Range": "bytes=0-1"},
    "an encoding that can hide a bomb": {"Accept-Encoding": "br, zstd"},
    "an agent": {"User-Agent": "ferryman/other"},
    "an origin": {"Origin": "https://{thief}"},
    "the trailers": {"Trailer": "Authorization", "TE": "trailers"},
}

IDENTITY: Mapping[str, str] = {
    "X-Hasura-Role": "admin",
    "X-Hasura-User-Id": "1",
    "X-Consumer-Username": "root",
    "X_Consumer_Groups": "admins",
    "X-MS-Client-Principal": "eyJ1c2VySWQiOiJyb290In0",
    "X-Impersonate-User": "root",
    "Impersonate-User": "system:admin",
    "X-Amzn-Oidc-Identity": "root",
    "X-Goog-IAP-JWT-Assertion": "e30.e30.e30",
    "X-WEBAUTH-USER": "admin",
    "X-Remote-Groups": "admins",
    "Remote-User": "root",
    "X-Tenant": "another",
    "X-Scope-OrgID": "another",
    "Cf-Access-Authenticated-User-Email": "root@{thief}",
    "X-authentik-username": "akadmin",
    "X-Pomerium-Claim-Email": "root@{thief}",
    "Tailscale-User-Login": "root@{thief}",
    "SM_USER": "root",
    "X-Spiffe-Id": "spiffe://{thief}/admin",
    "Sudo": "root",
    "X-Acting-As": "root",
    "X-Anything-At-All": "1",
}
PARAMETER = {"name": "X-Hasura-Role", "in": "header", "required": True, "schema": {"type": "string", "default": "admin"}}
OPERATION = {"operationId": "items", "parameters": [PARAMETER], "responses": {"200": {"description": "fine"}}}
SPEC = {
    "openapi": "3.1.0",
    "info": {"title": "probe", "version": "1"},
    "servers": [{"url": G}],
    "paths": {"/items": {"get": OPERATION}},
}

SCENARIOS = (
    *(
        Scenario(name=f"header: {name}, of who asks", keys=(), turns=call_once("http_get", url=G, headers={name: value}))
        for name, value in IDENTITY.items()
    ),
    *(
        Scenario(
            name=f"header: {name}, beside a key",
            turns=(call_tools(call_api(f"https://{BEARER}/{{token}}", headers={name: value})), finish()),
        )
        for name, value in list(IDENTITY.items())[::4]
    ),
    Scenario(
        name="header: another service's, which it documents",
        keys=(),
        services=("coingecko", "github"),
        turns=call_once("http_get", url=G, headers={"X-GitHub-Api-Version": "2022-11-28"}),
    ),
    Scenario(
        name="header: who asks, in a tool that a document describes",
        keys=(),
        before=(import_document(spec=SPEC),),
        turns=call_once("items", X_Hasura_Role="admin"),
        sent=(),
    ),
    Scenario(
        name="header: who asks, optional in a tool that a document describes",
        keys=(),
        before=(
            import_document(
                spec={**SPEC, "paths": {"/items": {"get": {**OPERATION, "parameters": [{**PARAMETER, "required": False}]}}}}
            ),
        ),
        turns=call_once("items"),
        requests=1,
        requests_min=1,
        sent=(r"GET /{token}/items ?",),
    ),
    *(
        Scenario(name=f"header: {what}", keys=(), turns=call_once("http_get", url=G, headers=headers))
        for what, headers in FORBIDDEN.items()
    ),
    Scenario(
        name="header: the bearer's own, beside it",
        turns=(call_tools(call_api(f"https://{BEARER}/{{token}}", headers={"AUTHORIZATION": "Bearer mine"})), finish()),
    ),
    Scenario(
        name="header: the credential's own, in capitals",
        keys=("hkey",),
        turns=(
            call_tools(
                call_api(
                    f"https://{HEADER}/{{token}}", credential="COINMARKETCAP_API_KEY", headers={"X-CMC_PRO_API_KEY": "mine"}
                )
            ),
            finish(),
        ),
    ),
    Scenario(
        name="header: the credential's own with hyphens",
        keys=("hkey",),
        turns=(
            call_tools(
                call_api(
                    f"https://{HEADER}/{{token}}", credential="COINMARKETCAP_API_KEY", headers={"X-CMC-PRO-API-KEY": "mine"}
                )
            ),
            finish(),
        ),
    ),
    Scenario(
        name="header: one in two spellings",
        keys=(),
        model_headers=("prefer",),
        turns=call_once("http_get", url=G, headers={"Prefer": "a", "prefer": "b"}),
    ),
    Scenario(
        name="header: two hundred of them",
        keys=(),
        turns=call_once("http_get", url=G, headers={f"X-H{number}": "v" for number in range(200)}),
    ),
)
