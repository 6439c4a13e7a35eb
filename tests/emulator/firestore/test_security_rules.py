"""The security rules of docs/firestore.md on Google's emulator: users of an application write requests, and nothing else."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from emulator.firestore.official import find_official, run_official

PAGE = Path(__file__).parents[3] / "docs/firestore.md"
REQUEST = {"task": "task_1", "owner": "ann"}


def read_rules() -> str:
    """Return the rules as the page shows them."""
    blocks = re.findall(r"```\n(rules_version.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(blocks) == 1
    return str(blocks[0])


def build_token(**claims: Any) -> str:
    """Return the token of a user, which Google's emulator takes without a signature."""
    user = {"sub": "user", "user_id": "user", "iss": "https://securetoken.google.com/p", "aud": "p", "iat": 1, "exp": 4e9}
    parts = ({"alg": "none", "typ": "JWT"}, {**user, **claims}, "")
    encoded = [base64.urlsafe_b64encode(json.dumps(part).encode() if part else b"").rstrip(b"=").decode() for part in parts]
    return "Bearer " + ".".join(encoded)


ANN = build_token(ferryman_owner="ann")


@asynccontextmanager
async def serve_rules(folder: Path) -> AsyncIterator[httpx.AsyncClient]:
    """Yield a client of Google's emulator under the rules of the page, and skip where there is none."""
    script = find_official()
    if script is None:
        pytest.skip("Google's emulator or Java is not installed: the rules are not held against it")
    rules = folder / "firestore.rules"
    rules.write_text(read_rules())
    async with run_official(script, f"--rules={rules}") as (address, _):
        base = f"http://{address}/v1/projects/p/databases/(default)/documents"
        async with httpx.AsyncClient(base_url=base, timeout=30) as client:
            yield client


def to_value(value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        return {"mapValue": {"fields": {name: to_value(inner) for name, inner in value.items()}}}
    return {"integerValue": str(value)} if isinstance(value, int) else {"stringValue": value}


async def create(
    client: httpx.AsyncClient, fields: dict[str, Any], name: str, token: str | None = ANN, at: str = "executions"
) -> int:
    body = {"fields": {key: to_value(value) for key, value in fields.items()}}
    headers = {"authorization": token} if token else {}
    return (await client.post(f"/{at}", params={"documentId": name}, json=body, headers=headers)).status_code


@pytest.mark.official
async def test_a_user_writes_requests_and_nothing_else(tmp_path: Path) -> None:
    async with serve_rules(tmp_path) as client:
        whole = {**REQUEST, "conversation": "talk", "input": "Paris", "labels": {"order": "42"}}
        assert [await create(client, fields, f"order-{n}") for n, fields in enumerate((REQUEST, whole))] == [200, 200]
        wrong = {
            "a field too many": {**REQUEST, "status": "completed"},
            "credits": {**REQUEST, "credits_used": -500},
            "our mark": {**REQUEST, "admitted": "true"},
            "no owner": {"task": "task_1"},
            "another owner": {**REQUEST, "owner": "bob"},
            "a task that is a number": {**REQUEST, "task": 7},
            "an input too long": {**REQUEST, "input": "x" * 20_001},
            "a conversation that is no text": {**REQUEST, "conversation": 7},
            "too long a conversation": {**REQUEST, "conversation": "x" * 65},
            "labels that are text": {**REQUEST, "labels": "red"},
            "too many labels": {**REQUEST, "labels": {str(n): "" for n in range(17)}},
        }
        refused = {what: await create(client, fields, f"wrong-{n}") for n, (what, fields) in enumerate(wrong.items())}
        assert refused == dict.fromkeys(wrong, 403)
        assert await create(client, REQUEST, "exec_task_1_1_1790000000") == 403
        assert await create(client, REQUEST, "anonymous", None) == 403
        assert await create(client, REQUEST, "without-claim", build_token()) == 403
        for collection in ("tasks", "owners", "purses", "executions/order-0/steps"):
            assert await create(client, REQUEST, "other", at=collection) == 403
        theirs, headers = "/executions/order-0", {"authorization": ANN}
        assert (await client.get(theirs, headers=headers)).status_code == 403
        assert (await client.get("/executions", headers=headers)).status_code == 403
        assert (await client.patch(theirs, json={"fields": {"task": to_value("t")}}, headers=headers)).status_code == 403
        assert (await client.delete(theirs, headers=headers)).status_code == 403


def test_the_page_shows_one_set_of_rules_which_lets_nobody_read() -> None:
    assert re.findall(r"allow ([a-z, ]+):", read_rules()) == ["create", "read, write"]
