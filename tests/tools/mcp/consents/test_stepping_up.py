"""Step-up: scopes that a call lacked are asked for beside those of before, when a person connects the server again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ferryman.inmemory.remote_servers import MemoryRemoteServers
from ferryman.tools.mcp.protocol import HttpStatusError
from ferryman.tools.mcp.stepping_up import note_lacking_scopes
from tests.tools.mcp.consents.harness import ConnectHarness

LACKING = 'Bearer error="insufficient_scope", scope="tools.read tools.write"'


async def note(harness: ConnectHarness, status: int, challenge: str) -> None:
    error = HttpStatusError(status, www_authenticate=(challenge,))
    await note_lacking_scopes(MemoryRemoteServers(harness.memory), "mcp_1", error, now=harness.clock.now())


def read_lacking(harness: ConnectHarness) -> tuple[str, ...]:
    assert harness.server.authorization is not None
    return harness.server.authorization.lacking


async def test_what_a_call_lacked_is_asked_for_beside_what_was_consented_to(harness: ConnectHarness) -> None:
    await harness.connect()
    await note(harness, 403, LACKING)
    assert read_lacking(harness) == ("tools.write",)
    assert (await harness.discover()).authorization.scopes == ("tools.read", "tools.write")


async def test_a_new_consent_has_nothing_lacking(harness: ConnectHarness) -> None:
    await harness.connect()
    await note(harness, 403, LACKING)
    await harness.connect()
    assert read_lacking(harness) == ()


@pytest.mark.parametrize(
    ("status", "challenge"),
    [
        (401, LACKING),
        (403, 'Bearer error="invalid_token", scope="tools.write"'),
        (403, 'Bearer error="insufficient_scope"'),
        (403, f'Bearer error="insufficient_scope", scope="{" ".join(map(str, range(50)))}"'),
        (403, 'Bearer error="insufficient_scope", scope="a\u202eb"'),
        (403, "x" * 9_000),
    ],
)
async def test_an_answer_that_names_no_lacking_scopes_changes_nothing(
    harness: ConnectHarness, status: int, challenge: str
) -> None:
    await harness.connect()
    before = harness.server
    await note(harness, status, challenge)
    assert harness.server == before


async def test_the_scopes_that_another_issuers_token_lacked_are_not_asked_for(harness: ConnectHarness) -> None:
    await harness.connect()
    await note(harness, 403, LACKING)
    assert harness.server.authorization is not None
    harness.change(authorization=replace(harness.server.authorization, issuer="https://other.example.com"))
    assert (await harness.discover()).authorization.scopes == ("tools.read",)
