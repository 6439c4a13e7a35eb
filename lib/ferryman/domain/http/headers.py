"""Header names: the reserved ones, those that name the caller, and the normal form in which names are compared."""

from __future__ import annotations

RESERVED_HEADERS = frozenset(
    (
        *("accept", "allow", "alt-used", "authorization", "cache-control", "connection", "cookie", "date", "early-data"),
        *("expect", "forwarded", "from", "host", "http2-settings", "keep-alive", "max-forwards", "metadata-flavor", "origin"),
        *("pragma", "prefer", "range", "referer", "set-cookie", "te", "trailer", "transfer-encoding", "upgrade"),
        *("user-agent", "via", "warning", "x-host", "x-real-ip"),
    )
)
"""Header names that frame the request or belong to the platform: no credential may be injected as one of these."""

RESERVED_PREFIXES = (
    *("accept-", "content-", "if-", "proxy-", "sec-", "x-cloudtasks-", "x-forwarded-", "x-goog-", "x-http-method", "x-method-"),
    *("x-original-", "x-rewrite-", "x-serverless-"),
)

_DECLARABLE = frozenset(
    (
        *("accept", "accept-charset", "accept-language", "accept-version", "authorization", "cache-control", "content-type"),
        *("from", "if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since", "pragma", "prefer"),
        *("range", "user-agent", "x-goog-fieldmask"),
    )
)
"""Reserved where a credential is injected, yet allowed to the owner of a declared tool: they do not frame the request."""


def normalize_header(header: str) -> str:
    """Return the normal form of a header's name: lower case, and hyphens, since gateways read an underscore as a hyphen."""
    return header.lower().replace("_", "-")


def is_declarable_header(header: str) -> bool:
    """Tell whether the owner of a declared tool may set this header."""
    name = normalize_header(header)
    return name in _DECLARABLE or not (name in RESERVED_HEADERS or name.startswith(RESERVED_PREFIXES))


WORDS = frozenset(
    (
        *("user", "users", "username", "userid", "userinfo", "userdn", "usr", "uid", "login", "email", "eppn"),
        *("role", "roles", "group", "groups", "rbac", "permission", "permissions", "entitlement", "entitlements"),
        *("consumer", "principal", "identity", "subject", "sub", "caller", "actor"),
        *("tenant", "tenants", "tenantid", "securitytenant", "orgid"),
        *("impersonate", "impersonated", "impersonation", "runas", "sudo", "behalf", "delegate", "delegated"),
        *("authenticated", "claim", "claims", "jwt", "assertion", "oidc", "saml", "shib", "creds", "dn", "cert"),
        *("credential", "clientcert", "remoteuser", "smuser", "universalid", "admin", "superuser", "masquerade"),
    )
)
"""A gateway names the caller in headers, and the service behind it trusts them (impersonation). At least one word is in every
such header of oauth2-proxy, Kong, Hasura, Envoy, Pomerium, authentik, SiteMinder and others. The words decide where an owner
chose the header and a model chooses its value; headers that a model may set by itself are on an allowlist
(`egress/headers.py`)."""


def is_identity_header(header: str) -> bool:
    """Tell whether `header` may name the caller: its name has one of `WORDS`, in any spelling."""
    return not WORDS.isdisjoint(normalize_header(header).replace(".", "-").split("-"))
