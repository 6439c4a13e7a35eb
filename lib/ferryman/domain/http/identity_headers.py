"""Identity headers: a gateway names the caller in them, and the service behind it trusts them (impersonation)."""

from __future__ import annotations

from ferryman.domain.http.headers import normalize_header

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
"""At least one is in every such header of oauth2-proxy, Kong, Hasura, Envoy, Pomerium, authentik, SiteMinder and others. The
words decide where an owner chose the header and a model chooses its value; headers that a model may set by itself are on an
allowlist (`egress/headers.py`)."""


def is_identity_header(header: str) -> bool:
    """Tell whether `header` may name the caller: its name has one of `WORDS`, in any spelling."""
    return not WORDS.isdisjoint(normalize_header(header).replace(".", "-").split("-"))
