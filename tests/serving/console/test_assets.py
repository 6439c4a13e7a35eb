"""Assets: small, named by their content, and of types that a browser takes for nothing else."""

from __future__ import annotations

import httpx
from fastapi import FastAPI

from ferryman.serving.console.assets import load_assets

GZIPPED_BYTES_MAX = 60_000
"""All of them together, as the console promises."""


def test_all_of_them_are_small() -> None:
    _, assets = load_assets()
    assert 0 < sum(len(asset.gzipped) for asset in assets.values()) <= GZIPPED_BYTES_MAX


async def test_a_browser_keeps_one_for_good(app: FastAPI) -> None:
    digest, assets = load_assets()
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="https://testserver") as http:
        answer = await http.get(f"/console/assets/{digest}/console.css")
    assert "immutable" in answer.headers["cache-control"]
    assert answer.content == assets["console.css"].content


async def test_one_of_another_content_is_not_there(app: FastAPI) -> None:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="https://testserver") as http:
        answer = await http.get("/console/assets/0123456789abcdef/console.css")
    assert answer.status_code == 404
