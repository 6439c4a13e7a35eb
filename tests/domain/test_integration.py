"""Integrations: where a service's token requests go."""

from __future__ import annotations

from ferryman.domain.credentials.integration import OAuth


def test_token_requests_go_to_the_host_of_the_token_url():
    oauth = OAuth(authorize_url="https://login.test/authorize", token_url="https://Tokens.login.test/token?v=2")
    assert oauth.token_host == "tokens.login.test"
