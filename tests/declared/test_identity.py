"""Headers that tell a service who asks: an owner writes their values, and the model does not."""

from __future__ import annotations

import pytest

from tests.declared.entries import fault, read

SAYS = "tells a service who asks, and the model would decide it: write the value out"


RAN_TOGETHER = [
    "X-Credential-Identifier",
    "SMUSER",
    "SM_UNIVERSALID",
    "X-RemoteUser",
    "X-ARR-ClientCert",
    "X-Superuser",
    "X-Is-Admin",
]
"""Of Kong, SiteMinder, IIS and Azure's front ends; some are two words in one."""


@pytest.mark.parametrize(
    "name",
    ["X-Hasura-Role", "x_hasura_role", "X-Remote-User", "X-Tenant", "SM_USER", "X-Amzn-Oidc-Identity", *RAN_TOGETHER],
)
@pytest.mark.parametrize("value", ["{{role}}", "a-{{role}}", "{{#if role}}admin{{/if}}"])
def test_the_model_does_not_say_who_asks(name: str, value: str) -> None:
    assert fault(headers={name: value}) == f"tools.0.headers.{name} {SAYS}"


def test_the_model_does_not_say_who_asks_through_what_is_pinned() -> None:
    assert fault(params={"mine": "{{role}}"}, headers={"X-Role": "{{mine}}"}) == f"tools.0.headers.X-Role {SAYS}"


@pytest.mark.parametrize("value", ["user", "{{secrets.API_KEY}}", "{{task_name}}", "{{mine}}"])
def test_an_owner_says_who_asks(value: str) -> None:
    params = {"mine": "user"} if value == "{{mine}}" else {}
    assert read(params=params, headers={"X-Hasura-Role": value}).headers == {"X-Hasura-Role": value}
