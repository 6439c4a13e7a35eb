"""A browser without scripts: pages, forms with their tokens, and the session's cookie."""

from __future__ import annotations

import html
import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass

import httpx
import pytest
from fastapi import FastAPI

from tests.serving.conftest import Stage

SAME_SITE = {"Sec-Fetch-Site": "same-origin"}


@dataclass(frozen=True, kw_only=True)
class Browser:
    """Opens pages, and sends the forms that are on them."""

    http: httpx.AsyncClient

    async def open(self, path: str, **headers: str) -> httpx.Response:
        return await self.http.get(path, headers=headers)

    async def send(self, path: str, fields: Mapping[str, str | list[str]], *, page: str = "") -> httpx.Response:
        """Send the fields, with the token of the form on `page` (its own one without) that leads to `path`."""
        opened = await self.open(page or path)
        token = find_token(opened.text, path, str(opened.url.path))
        return await self.http.post(path, data={"token": token, **fields}, headers=SAME_SITE)

    async def sign_in(self, key: str) -> httpx.Response:
        return await self.http.post("/console/sign-in", data={"key": key, "next": "/console"}, headers=SAME_SITE)


def find_token(markup: str, action: str, page: str) -> str:
    """Return the token of the form of a page that leads to `action`."""
    for target, token in re.findall(r'<form method="post" action="([^"]*)".*?name="token" value="([^"]*)"', markup, re.DOTALL):
        if str(httpx.URL("http://x" + page).join(html.unescape(target)).path) == action:
            return str(token)
    raise AssertionError(f"no form of {page} leads to {action}")


@pytest.fixture
async def browser(app: FastAPI, stage: Stage) -> AsyncIterator[Browser]:
    """The browser of ann, who is signed in."""
    # a page asks several groups of routes at once: FastAPI silences warnings while it reads one, for all threads
    app.state.groups.load_all()
    key = stage.owner("ann")["Authorization"].removeprefix("Bearer ")
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="https://testserver") as http:
        browser = Browser(http=http)
        await browser.sign_in(key)
        yield browser
