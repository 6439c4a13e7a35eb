"""A listing that tells a credential of its server: the tool is refused, and nothing of it is kept."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from ferryman.domain.credentials.credential import AuthType, Credential, Label, Secret
from ferryman.domain.remote_servers.server import ServerInfo
from ferryman.egress import checking
from ferryman.tools.mcp.listing import ServerListing
from ferryman.tools.mcp.telling import GROUP_CHARACTERS, TELLS, remove_credentials
from tests.canaries import canary

KEY = canary.create_key("the key of a server that tells it", 32)
LABEL = Label(owner="o", task="s", name="DOCS_KEY", version=1, service="s", auth_type=AuthType.BEARER, hosts=("h.test",))
CREDENTIAL = Credential(label=LABEL, secret=Secret(KEY))
SPELLINGS = (KEY, KEY[::-1], KEY.encode().hex())


def build_tool(name: str = "read", **fields: Any) -> tuple[str, dict[str, Any]]:
    return name, {"name": name, "inputSchema": {"type": "object"}, **fields}


async def clean(*tools: tuple[str, dict[str, Any]], **fields: Any) -> ServerListing:
    return await remove_credentials(checking.redact, "o", [CREDENTIAL], ServerListing(tools=tools, **fields))


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("place", ["description", "title", "anything"])
async def test_a_tool_whose_descriptor_tells_it_is_refused(spelling: str, place: str) -> None:
    listing = await clean(build_tool("other"), build_tool(**{place: f"It is {spelling}."}))
    assert ([name for name, _ in listing.tools], listing.refused) == (["other"], [("read", TELLS)])


async def test_a_name_that_tells_it_is_left_out() -> None:
    listing = await clean(build_tool(KEY), refused=[(f"x{KEY}", "its name is none")])
    assert (listing.tools, listing.refused) == ([], [])


async def test_what_a_server_says_of_itself_is_redacted() -> None:
    listing = await clean(info=ServerInfo(name=KEY, title="t", version=KEY), instructions=f"Use {KEY}.")
    assert listing.info == ServerInfo(name="[redacted:DOCS_KEY]", title="t", version="[redacted:DOCS_KEY]")
    assert listing.instructions == "Use [redacted:DOCS_KEY]."


async def test_a_listing_of_several_groups_loses_the_one_tool_alone() -> None:
    large = [build_tool(f"large{at}", description="a" * (GROUP_CHARACTERS // 2)) for at in range(4)]
    listing = await clean(*large[:2], build_tool(description=KEY), *large[2:])
    assert [name for name, _ in listing.tools] == [name for name, _ in large]


async def test_without_credentials_nothing_is_scanned() -> None:
    async def redact(owner: str, credentials: Iterable[Credential], text: str) -> str:
        raise AssertionError("nothing is to be scanned")

    listing = ServerListing(tools=[build_tool()])
    assert await remove_credentials(redact, "o", [], listing) is listing
