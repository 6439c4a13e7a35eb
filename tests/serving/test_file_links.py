"""Links to files: good for a version until their time is over, for who asked for them, and as they were made."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from ferryman.domain.files.links import LINK_LIFETIME
from ferryman.domain.workspaces.member import Role

from .conftest import Stage
from .test_files import Client, put


async def ask_link(client: Client, **parameters: Any) -> str:
    answer = await client.get("/v1/file-links", params={"key": "notes/trip.md", **parameters})
    assert answer.status_code == 200
    return str(answer.json()["path"])


async def test_a_link_is_good_for_its_version_until_its_time_is_over(client: Client, stage: Stage):
    await put(client)
    path = await ask_link(client, expires_in_s=60)
    assert (await client.get(path)).content == b"Hello."
    stage.clock.turn(timedelta(seconds=60))
    assert (await client.get(path)).json()["detail"] == "the link's time is over; ask for another"
    path = await ask_link(client)
    stage.clock.turn(LINK_LIFETIME - timedelta(seconds=2))
    assert (await client.get(path)).status_code == 200
    await put(client, content=b"Other.")
    assert (await client.get(path)).status_code == 404


@pytest.mark.parametrize("seconds", [0, 901, -1, "x"])
async def test_no_link_is_good_for_longer_than_a_quarter_of_an_hour(client: Client, seconds: Any):
    await put(client)
    answer = await client.get("/v1/file-links", params={"key": "notes/trip.md", "expires_in_s": seconds})
    assert answer.status_code == 422


async def test_a_link_is_of_no_use_to_anybody_else(client: Client, stage: Stage):
    await put(client)
    path = await ask_link(client)
    members = [stage.member(role) for role in Role]
    for headers in (stage.owner("bob"), *members):
        assert (await client.get(path, headers=headers)).status_code == 403
    assert (await client.get(path, headers={"authorization": ""})).status_code == 401


async def test_a_link_that_was_changed_in_any_place_is_refused(client: Client, stage: Stage):
    await put(client)
    await put(client, "other.md")
    path, _, link = (await ask_link(client)).partition("?link=")
    changed = [link[:at] + ("A" if link[at] != "A" else "B") + link[at + 1 :] for at in range(len(link))]
    for text in (*changed, link[:-1], link + "A", link + "=", "", "A" * 60):
        stage.clock.turn(timedelta(seconds=1))
        assert (await client.get(path, params={"link": text})).status_code == 403, text
    assert (await client.get("/v1/files/other.md", params={"link": link})).status_code == 403
