"""Files of a scenario: how much room there is for them, and the links to them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import httpx

from ferryman.domain.files.links import LINK_LIFETIME, FileLink, write_link
from ferryman.domain.owners.plan import PLANS
from ferryman.gcp.file_quotas import FirestoreFileQuotas
from ferryman.serving import keys
from tests.campaigns.hostile.harness import Harness

FILES, LINKS = "/v1/files/", "/v1/file-links"
OF_LINKS = "a.md"
"""The file that forged links are for."""


def forge_links(workspace: str, api_key: str) -> dict[str, str]:
    """Return words for links that nobody gave: `late`, whose time is over, `foreign`, of another key, and `elsewhere`."""
    now = datetime.now(UTC)
    link = FileLink(workspace=workspace, key=OF_LINKS, version="1", expires_at=now + LINK_LIFETIME)
    late = FileLink(workspace=workspace, key=OF_LINKS, version="1", expires_at=now - timedelta(seconds=1))
    other = FileLink(workspace=f"{workspace}x", key=OF_LINKS, version="1", expires_at=link.expires_at)
    return {
        "late": write_link(late, api_key),
        "foreign": write_link(link, keys.generate_key()),
        "elsewhere": write_link(other, api_key),
    }


def take_link(words: dict[str, str], answer: httpx.Response) -> None:
    """Note the link that an answer has, as the word `link`."""
    if answer.request.url.path == LINKS and answer.is_success:
        words["link"] = str(answer.json()["path"]).partition("link=")[2]


async def leave_room(harness: Harness, owner: str, workspace: str, plan: str, room: int) -> None:
    """Reserve all bytes of a workspace but `room`, as a write under way does."""
    limit = PLANS[plan].file_bytes
    quotas = FirestoreFileQuotas(harness.clients)
    now = datetime.now(UTC)
    await quotas.reserve(workspace, "under-way", owner=owner, size_bytes=limit - room, limit_bytes=limit, now=now)
