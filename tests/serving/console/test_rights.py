"""Every form of every page, sent by sessions without the right: of a read-only key, and of another owner."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urljoin

import httpx
import pytest

from ferryman.domain.workspaces.api_key import ApiKey
from ferryman.domain.workspaces.member import Right
from ferryman.domain.workspaces.names import derive_default_workspace
from ferryman.inmemory.clock import START
from ferryman.ports.keys import KeyPurpose
from ferryman.serving import keys
from ferryman.serving.console.cookies import LOCAL_NAME, read_cookie
from tests.browser.filled_site import OWNER, FilledSite, build_site
from tests.browser.visits import list_paths

from .conftest import SAME_SITE

STRANGER = "bob"
READS = {"sign-out", "export", "dry-run"}
"""Actions that only read, or end the session that sends them."""

PERSONAL = frozenset(["revoke", "revoke-key", "unlink"])
"""Actions on a person's own objects, which any of their keys may do."""

NOT_STATE = ("keyed", "console_sessions")
"""Collections that any request may write: idempotent answers, and sessions."""


@dataclass
class FormReader(HTMLParser):
    """Reads the forms of a page: where each is sent, its fields as somebody sends them who ticks and fills in all."""

    page: str
    forms: list[tuple[str, dict[str, str], list[str]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self._is_open = False
        self._textarea = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = {name: value or "" for name, value in attrs}
        if tag == "form" and known.get("method") == "post":
            self.forms.append((urljoin(self.page, known["action"]), {}, []))
            self._is_open = True
        elif not self._is_open:
            return
        elif tag == "button" and known.get("name") == "do":
            self.forms[-1][2].append(known["value"])
        elif tag == "textarea":
            self._textarea = known["name"]
            self.forms[-1][1][self._textarea] = ""
        elif tag in ("input", "select") and "name" in known and known.get("type") != "file":
            fallback = "true" if known.get("type") == "checkbox" else "filled" if "required" in known else ""
            self.forms[-1][1].setdefault(known["name"], known.get("value") or fallback)
        elif tag == "option" and self.forms[-1][1]:
            name = next(reversed(self.forms[-1][1]))
            if not self.forms[-1][1][name]:
                self.forms[-1][1][name] = known.get("value", "")

    def handle_data(self, data: str) -> None:
        if self._textarea:
            self.forms[-1][1][self._textarea] += html.unescape(data)

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea":
            self._textarea = ""
        if tag == "form":
            self._is_open = False


@dataclass(frozen=True, kw_only=True)
class Visitor:
    """A person who is signed in."""

    http: httpx.AsyncClient
    site: FilledSite

    async def send(self, path: str, fields: Mapping[str, str], do: str) -> httpx.Response:
        """Send a form of a page that this session may never have seen, with a token of its own."""
        secrets = await self.site.app.state.deps.purpose_keys.list(KeyPurpose.SESSIONS)
        signed = read_cookie(secrets, self.http.cookies[LOCAL_NAME])
        assert signed is not None
        data = {**fields, "do": do, "token": signed.write_form_token(path)}
        return await self.http.post(path, data=data, headers=SAME_SITE)


@pytest.fixture
def site() -> FilledSite:
    return build_site()


async def visit(site: FilledSite, key: str) -> Visitor:
    http = httpx.AsyncClient(transport=httpx.ASGITransport(site.app), base_url="http://testserver")
    answer = await http.post("/console/sign-in", data={"key": key, "next": "/console"}, headers=SAME_SITE)
    assert answer.status_code == 303
    return Visitor(http=http, site=site)


def build_reader(site: FilledSite) -> str:
    """Return a new key of the owner's that only reads."""
    key = keys.generate_key()
    here = derive_default_workspace(OWNER)
    stored = ApiKey(id="key_reads", owner=OWNER, workspace=here, scopes=(Right.READ,), created_at=START)
    site.stage.memory.keys[keys.digest_key(key)] = stored
    return key


def build_stranger(site: FilledSite) -> str:
    return site.stage.owner(STRANGER)["Authorization"].removeprefix("Bearer ")


async def list_forms(site: FilledSite) -> list[tuple[str, dict[str, str], str]]:
    """Return the forms on all pages of the owner: where each goes, its fields, and a button."""
    visitor = await visit(site, site.key)
    forms = []
    for path in list_paths()[1:]:
        reader = FormReader(page=path)
        reader.feed((await visitor.http.get(path)).text)
        forms += [(action, fields, do) for action, fields, buttons in reader.forms for do in buttons if do not in READS]
    await visitor.http.aclose()
    return list({(action, tuple(fields), do): (action, fields, do) for action, fields, do in forms}.values())


def read_state(site: FilledSite) -> dict[str, str]:
    """Return all that is stored and not the stranger's, but `NOT_STATE` and when keys were used."""
    memory = site.stage.memory
    stored = {name: getattr(memory, name) for name in memory.__slots__ if name not in NOT_STATE}
    stored["keys"] = {digest: key.scopes for digest, key in memory.keys.items()}
    state, places = {}, {STRANGER, derive_default_workspace(STRANGER)}
    for name, values in stored.items():
        if isinstance(values, dict):
            values = {key: value for key, value in values.items() if not places & {key, getattr(value, "owner", "")}}
        elif isinstance(values, set):
            values = values - places
        state[name] = repr(values)
    return state


async def send_all(site: FilledSite, key: str, *, without: frozenset[str] = frozenset()) -> list[int]:
    """Return the statuses of the forms of the owner's pages, sent with this key; nothing may change."""
    visitor = await visit(site, key)
    forms, before = await list_forms(site), read_state(site)
    statuses = []
    for action, fields, do in forms:
        if do in without:
            continue
        statuses.append((await visitor.send(action, fields, do)).status_code)
        changed = {name for name, value in read_state(site).items() if value != before[name]}
        assert changed == set(), (action, do, statuses[-1])
    await visitor.http.aclose()
    return statuses


async def test_nothing_is_changed_by_a_key_that_only_reads(site: FilledSite) -> None:
    statuses = await send_all(site, build_reader(site), without=PERSONAL)
    assert statuses.count(403) > len(statuses) / 2


async def test_nothing_is_changed_by_another_owner(site: FilledSite) -> None:
    statuses = await send_all(site, build_stranger(site))
    assert statuses.count(404) > len(statuses) / 2


async def test_these_forms_change_something_for_who_may(site: FilledSite) -> None:
    visitor, forms = await visit(site, site.key), await list_forms(site)
    statuses = [(await visitor.send(action, fields, do)).status_code for action, fields, do in forms if do != "choose"]
    await visitor.http.aclose()
    assert statuses.count(303) > 20
