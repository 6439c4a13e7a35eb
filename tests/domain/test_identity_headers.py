"""Identity headers: known by one of their words, in any spelling."""

from __future__ import annotations

import pytest

from ferryman.domain.http.headers import is_identity_header


@pytest.mark.parametrize(
    "header",
    [
        *("X-Auth-Request-User", "x_auth_request_email", "X-Hasura-Role", "X-Consumer-Username", "Impersonate-User", "Sudo"),
        *("X-Userinfo", "REMOTE_USER", "X-Tenant.Id", "Tenant", "x.claims", "X-Forwarded-Client.Cert", "On-Behalf-Of"),
    ],
)
def test_a_header_with_a_word_for_the_caller_is_one(header):
    assert is_identity_header(header)


@pytest.mark.parametrize("header", ["", "X-Api-Version", "Accept", "X-Userland", "X-Request-Id", "Notion-Version", "X-Rolex"])
def test_another_header_is_none(header):
    assert not is_identity_header(header)
