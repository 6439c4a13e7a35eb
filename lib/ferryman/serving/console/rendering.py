"""Rendering: Jinja2 with autoescape; a name that a template does not get is an error, and never an empty text."""

from __future__ import annotations

import json
import secrets
from asyncio import to_thread
from collections.abc import Callable
from datetime import datetime
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

from ferryman.composition.api import ApiDependencies
from ferryman.domain.approvals.visible import show_text
from ferryman.serving.api.limits import REQUEST_S, take_turn
from ferryman.serving.console.assets import load_assets
from ferryman.serving.console.foreign_text import show_block
from ferryman.serving.console.markdown import render_markdown
from ferryman.serving.console.notices import NOTICES
from ferryman.serving.console.routing import ROOT, ConsolePage, ConsoleRequest, find_relative
from ferryman.serving.console.timeline import name_state, write_duration

Rendered = TypeVar("Rendered")
TEMPLATES = Path(__file__).parent / "templates"

PAGES_WAITING_MAX = 48
"""How many pages of one owner wait to be rendered, or are; one more is answered with 429."""

SHOWN_CHARACTERS_MAX = 2_000
"""How much of a long text of others a page shows, before a link to all of it."""

MENU = (
    ("overview", ROOT, "Overview"),
    ("executions", f"{ROOT}/executions", "Executions"),
    ("conversations", f"{ROOT}/conversations", "Chat"),
    ("approvals", f"{ROOT}/approvals", "Approvals"),
    ("tasks", f"{ROOT}/tasks", "Tasks"),
    ("agents", f"{ROOT}/agents", "Agents"),
    ("tools", f"{ROOT}/tools", "Tools"),
    ("files", f"{ROOT}/files", "Files"),
    ("people", f"{ROOT}/people", "People"),
    ("ledger", f"{ROOT}/ledger", "Ledger"),
    ("system", f"{ROOT}/system", "System"),
)


async def render_apart(request: ConsoleRequest, render: Callable[[], Rendered]) -> Rendered:
    """Return `render()`, called in a thread: pages of others are not held up by a large one, nor by many of one owner.

    Raises 429 where too many pages of the owner wait.
    """
    deps: ApiDependencies = request.request.app.state.deps
    owner = request.session.owner
    async with take_turn(deps.pages_of, owner, most=PAGES_WAITING_MAX, within_s=REQUEST_S, what="pages"):
        return await to_thread(render)


def render_page(page: ConsolePage, request: ConsoleRequest, *, workspace_name: str = "") -> str:
    """Return the markup of a page for a signed-in person; `workspace_name` is "" in the default workspace."""
    known = {
        "page": page,
        "section": page.values.get("section", ""),
        "session": request.session,
        "workspace_name": workspace_name,
        "menu": MENU,
        "notice": NOTICES.get(request.query.get("done", ""), ""),
        "path": request.path,
        "now": request.now.isoformat(),
        "url": partial(find_relative, request.path),
        "form_token": request.signed.write_form_token,
        "once": secrets.token_urlsafe,
    }
    markup: str = load_environment().get_template(page.template).render({**known, **page.values})
    return markup


def render_plain(template: str, path: str, **values: Any) -> str:
    """Return the markup of a page that needs no session, at `path`."""
    known = {"path": path, "url": partial(find_relative, path)}
    markup: str = load_environment().get_template(template).render({**known, **values})
    return markup


@cache
def load_environment() -> Any:
    """Return the environment of all templates. Jinja2 is imported here, for the first page."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters.update(
        visible=show_text,
        lines=show_block,
        markdown=render_markdown,
        pretty=_write_json,
        utc=_write_utc,
        plural=_write_plural,
        grouped=_group_digits,
        duration=write_duration,
    )
    environment.globals.update(asset=_name_asset, shown_max=SHOWN_CHARACTERS_MAX, call_state=name_state)
    return environment


def _name_asset(name: str) -> str:
    digest, assets = load_assets()
    assert name in assets, name
    return f"{ROOT}/assets/{digest}/{name}"


def _write_json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _write_utc(moment: str) -> str:
    """Write a moment of the API as people read it, in UTC, to the second."""
    return datetime.fromisoformat(moment).strftime("%Y-%m-%d %H:%M:%S")


def _group_digits(value: float | str) -> str:
    """Write a number of the API with its thousands apart, and every digit of it."""
    whole, point, rest = str(value).partition(".")
    return f"{int(whole):,}{point}{rest}" if whole.lstrip("-").isdigit() else str(value)


def _write_plural(count: int, noun: str, nouns: str = "") -> str:
    return f"{count} {noun if count == 1 else nouns or noun + 's'}"
