"""Credentials as a call may use them: with the hosts that seal, catalog and policy admit."""

from __future__ import annotations

import pytest

from ferryman import catalog
from ferryman.domain.credentials.credential import Credential, Secret
from ferryman.tools.prepared_call import narrow_credential
from tests.builders import build_label, build_policy

from .harness import LABEL, POLICY

OPENED = Credential(label=LABEL, secret=Secret("QwErTyUi"))


def test_a_credential_of_which_every_host_is_admitted_is_used_as_it_is() -> None:
    assert narrow_credential(OPENED, POLICY, catalog.load()) is OPENED


@pytest.mark.parametrize(
    "policy",
    [build_policy(integrations=("coingecko",), credentials=()), build_policy(integrations=(), credentials=("KEY",))],
    ids=["credential", "integration"],
)
def test_a_credential_that_the_policy_does_not_admit_goes_to_no_host(policy) -> None:
    assert narrow_credential(OPENED, policy, catalog.load()).label.hosts == ()


def test_a_host_that_the_catalog_no_longer_has_is_left_out() -> None:
    label = build_label(name="KEY", service="coingecko", hosts=("api.coingecko.com", "former.coingecko.com"))
    narrowed = narrow_credential(Credential(label=label, secret=OPENED.secret), POLICY, catalog.load())
    assert narrowed.label.hosts == ("api.coingecko.com",)
