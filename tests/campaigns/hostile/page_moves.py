"""Moves at the approval page: attempts to have a call approved there by anybody but a signed-in person who may, on purpose."""

from __future__ import annotations

import html
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from ferryman.domain.approvals.approval import Approval
from ferryman.serving import keys
from ferryman.serving.console.cookies import LOCAL_NAME, read_cookie, write_cookie
from tests.campaigns.hostile.mcp_moves import create_stranger
from tests.campaigns.hostile.waiting import Move, Waiting

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
DECIDED = 303
MINE = {1: b"k" * 32}
"""A key for sessions that an attacker has made."""


@dataclass
class Browser:
    """A browser at the page of one approval."""

    http: httpx.AsyncClient
    approval: Approval

    @property
    def path(self) -> str:
        return f"/console/approvals/{self.approval.id}"

    async def sign_in(self, key: str) -> None:
        """Sign in with an API key."""
        self.http.cookies.clear()
        answer = await self.http.post("/console/sign-in", data={"key": key, "next": self.path})
        assert answer.status_code == DECIDED, f"the key was answered {answer.status_code}"

    async def read_form(self, path: str = "") -> dict[str, str]:
        """Return the hidden fields of the page, those of a page without a form as nothing."""
        text = (await self.http.get(path or self.path)).text
        return {name: html.unescape(value) for name, value in re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', text)}

    async def press(self, fields: Mapping[str, str], **headers: str) -> None:
        """Send a form that would approve."""
        named = {"digest": self.approval.digest, "sends": "5", "reason": "", **fields, "do": "approve"}
        answer = await self.http.post(self.path, data=named, headers=headers)
        assert answer.status_code != DECIDED, "the form was accepted"

    async def press_as(self, cookie: str) -> None:
        """Send a form in the session that this cookie names, with the token that it would have."""
        self.http.cookies.set(LOCAL_NAME, cookie)
        session = read_cookie(MINE, cookie)
        await self.press({"token": "0" * 64 if session is None else session.write_form_token(self.path)})


Act = Callable[[Waiting, Browser], Awaitable[None]]


def at_the_page(act: Act) -> Move:
    """Return the move of what a browser does at the page of what waits."""

    async def move(waiting: Waiting, approval: Approval) -> None:
        async with httpx.AsyncClient(base_url=waiting.harness.url) as http:
            await act(waiting, Browser(http, approval))

    return move


def get_key(waiting: Waiting) -> str:
    """Return the owner's API key."""
    return waiting.headers["Authorization"].removeprefix("Bearer ")


@asynccontextmanager
async def make_key(waiting: Waiting, **fields: Any) -> AsyncIterator[str]:
    """Yield an API key of the owner's that is revoked afterwards."""
    answer = await waiting.ask("POST", "/v1/keys", {"name": "narrow", **fields})
    assert answer.is_success, f"the key was answered {answer.status_code}: {answer.text[:200]}"
    try:
        yield str(answer.json()["key"])
    finally:
        await waiting.ask("DELETE", f"/v1/keys/{answer.json()['key_id']}")


def press_with(fields: Mapping[str, str], **headers: str) -> Act:
    """Return the act of a form of one's own, by nobody who is signed in."""

    async def act(_: Waiting, browser: Browser) -> None:
        await browser.press(fields, **headers)

    return act


def press_as_owner(change: Callable[[dict[str, str]], Mapping[str, str]], **headers: str) -> Act:
    """Return the act of a form in the owner's session, as an attacker makes the owner's browser send it."""

    async def act(waiting: Waiting, browser: Browser) -> None:
        await browser.sign_in(get_key(waiting))
        await browser.press(change(await browser.read_form()), **headers)

    return act


def forge_session(build: Callable[[str], str]) -> Act:
    """Return the act of a cookie of one's own that names the owner's session, with a form token that fits it."""

    async def act(waiting: Waiting, browser: Browser) -> None:
        await browser.sign_in(get_key(waiting))
        session = browser.http.cookies[LOCAL_NAME].split(".")[1]
        browser.http.cookies.clear()
        await browser.press_as(build(session))

    return act


def name_digest(build: Callable[[str], str]) -> Act:
    """Return the act of a cookie that names the digest of the owner's API key in the place of a session."""

    async def act(waiting: Waiting, browser: Browser) -> None:
        await browser.press_as(build(keys.digest_key(get_key(waiting))))

    return act


def sign_session(session: str) -> str:
    """Return a cookie that was signed with a key of the attacker's."""
    return write_cookie(MINE, session)


async def press_when_signed_out(waiting: Waiting, browser: Browser) -> None:
    """Send the form of a session that was signed out since, with its cookie."""
    await browser.sign_in(get_key(waiting))
    cookie, form = browser.http.cookies[LOCAL_NAME], await browser.read_form()
    await browser.http.post(browser.path, data={**form, "do": "sign-out"})
    browser.http.cookies.clear()
    browser.http.cookies.set(LOCAL_NAME, cookie)
    await browser.press(form)


def press_with_key(**fields: Any) -> Act:
    """Return the act of somebody with a lesser key, who has got hold of the form of the owner's page."""

    async def act(waiting: Waiting, browser: Browser) -> None:
        await browser.sign_in(get_key(waiting))
        form = await browser.read_form()
        async with make_key(waiting, **fields) as key:
            await browser.sign_in(key)
            await browser.press({**form, **await browser.read_form()})

    return act


async def press_as_stranger(waiting: Waiting, browser: Browser) -> None:
    """Sign in as another owner, with the form of the first one's page."""
    await browser.sign_in(get_key(waiting))
    form = await browser.read_form()
    await browser.sign_in(await create_stranger(waiting))
    await browser.press(form)


async def press_when_revoked(waiting: Waiting, browser: Browser) -> None:
    """Send the form in the session of a key that was revoked since."""
    async with make_key(waiting) as key:
        await browser.sign_in(key)
        form = await browser.read_form()
    await browser.press(form)


async def press_in_another_session(waiting: Waiting, browser: Browser) -> None:
    """Use the form of one session in another one of the same key."""
    await browser.sign_in(get_key(waiting))
    form = await browser.read_form()
    await browser.sign_in(get_key(waiting))
    await browser.press(form)


async def take_session_elsewhere(waiting: Waiting, browser: Browser) -> None:
    """Use a session where API keys are used."""
    await browser.sign_in(get_key(waiting))
    cookie = browser.http.cookies[LOCAL_NAME]
    decision = {"verdict": "approve", "digest": browser.approval.digest}
    for headers in ({}, {"Authorization": f"Bearer {cookie}"}, {"Authorization": f"Cookie {cookie}"}):
        for path in (f"/v1/approvals/{browser.approval.id}/decision", "/mcp"):
            answer = await browser.http.post(path, json=decision, headers=headers)
            assert not answer.is_success, f"{path} was answered {answer.status_code}"


async def use_other_requests(waiting: Waiting, browser: Browser) -> None:
    """Approve with requests that are no form of the page, in the owner's session."""
    await browser.sign_in(get_key(waiting))
    form = {**await browser.read_form(), "do": "approve", "sends": "1"}
    sent = [
        await browser.http.get(browser.path, params=form),
        await browser.http.get(browser.path, params=form, headers={"X-HTTP-Method-Override": "POST"}),
        await browser.http.post(browser.path, json=form),
        await browser.http.put(browser.path, data=form),
        await browser.http.post(browser.path, params=form, content=b"", headers=FORM),
        await browser.http.post(f"{browser.path}%0a", data=form),
        await browser.http.post(f"{browser.path}/", data=form),
        await browser.http.post(browser.path, content=b"do=deny&do=approve", headers=FORM),
    ]
    assert all(answer.status_code != DECIDED for answer in sent)
