"""Identity headers: those in which a gateway tells the service behind it who asks, which a service then believes."""

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
"""One of them is in the names that oauth2-proxy, Kong, Hasura, Envoy, Pomerium, authentik, SiteMinder and others give such
headers. It decides where an owner chose the header and a model would choose its value; what a model may set by itself is
listed instead (`egress/headers.py`)."""


def is_identity_header(header: str) -> bool:
    """Return whether `header` may tell a service who asks: its name has one of `WORDS`, in whatever spelling."""
    return not WORDS.isdisjoint(normalize_header(header).replace(".", "-").split("-"))
