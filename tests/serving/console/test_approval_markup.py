"""The page of an approval of hostile forms: whatever a call has in it is text on the page, all of it, and nothing else."""

from __future__ import annotations

import time
import unicodedata
from functools import cache
from html.parser import HTMLParser
from typing import Any

import pytest
from fastapi import FastAPI
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.requests import Request

from ferryman.domain.approvals.approval import Approval
from ferryman.domain.approvals.form import CallForm, EffectForm, HttpForm, build_form, digest_form
from ferryman.domain.calls.flow import CallFlow
from ferryman.domain.console_sessions.session import build_session
from ferryman.domain.labels.label import OWNED
from ferryman.domain.workspaces.api_key import ApiKey
from ferryman.inmemory.clock import START
from ferryman.serving.api.shapes.approval import to_response
from ferryman.serving.console.api_client import ApiClient
from ferryman.serving.console.approval_view import describe_approval, render_view
from ferryman.serving.console.cookies import SignedSession
from ferryman.serving.console.rendering import render_page
from ferryman.serving.console.routing import ConsolePage, ConsoleRequest
from tests.serving.values import build_approval, deny_approval

RIGHTS = ["read", "approve"]
LEADING = frozenset({"href", "action", "src", "formaction"})
"""The attributes whose values lead somewhere."""

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</td></tr></table><form action=//evil.example><button>Approve</button>",
    "<!--",
    "]]>",
    "&lt;b&gt;&#60;script&#62;",
    "\u202eevil\u202c\u2066\u2069\u200f",
    "\x1b[2J\x1b]8;;https://evil.example\x07click\x1b]8;;\x07",
    "\x00\x08\r\n\x85\u2028\u2029\ufeff\u00ad\u200b",
    "</title></style><style>*{display:none}</style>",
    "javascript:alert(1)",
    "\ud7ff\U000e0001\ufe0f\u115f",
    "-->\n" * 3,
    "{{secrets.KEY}}{{7*7}}${7*7}",
)
TEXTS = st.one_of(st.sampled_from(HOSTILE), st.text(st.characters(exclude_categories=["Cs"]), max_size=60)).map(str)


class Page(HTMLParser):
    """What a parser of HTML finds in a page."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: set[tuple[str, str]] = set()
        self.targets: set[str] = set()
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {(tag, name) for name, _ in attrs}
        self.targets |= {value or "" for name, value in attrs if name in LEADING}
        self.text += "".join(value or "" for _, value in attrs)

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)

    def unknown_decl(self, data: str) -> None:
        raise AssertionError(data)


def read_page(page: str) -> Page:
    """Return what is on a page, once nothing on it is out of place."""
    parsed = Page(page)
    assert parsed.attributes <= list_expected().attributes
    assert set(parsed.tags) <= set(list_expected().tags)
    assert parsed.targets <= list_expected().targets
    # beside letters and marks that show, there are the line breaks of our own templates
    hidden = {character for character in parsed.text if unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp", "Co", "Cn")}
    assert hidden <= {"\n"}
    return parsed


@cache
def list_expected() -> Page:
    """Return what is on pages of plain texts: a form that waits, with what is otherwise, and one that was decided about."""
    what = HttpForm(method="POST", url="https://api.example/", headers=())
    changed = show(what, before=HttpForm(method="GET", url="https://api.example/", headers=()))
    return Page(changed + write(deny_approval(build_approval("ann"), reason="No.")))


def show(what: HttpForm | EffectForm, tool: str = "http_post", *, before: HttpForm | None = None, **changes: Any) -> str:
    """Return the page of an approval whose form this is."""
    form = write_form(what, tool, **changes)
    approval = build_approval("ann", form=form, digest=digest_form(form), tool=tool)
    earlier = None if before is None else build_approval("ann", id="appr_before", form=write_form(before, tool))
    return write(approval, earlier)


def write_form(what: HttpForm | EffectForm, tool: str, **changes: Any) -> str:
    place = {"owner": "ann", "workspace": "w", "agent": "a", "task": "t", "execution": "e"}
    known = {"tool": tool, "tool_digest": "0" * 64, "what": what, "label": OWNED, "policy_digest": "1" * 64, "place": place}
    return build_form(CallForm(**{**known, **changes}), expires_at=START)  # type: ignore[arg-type] # built from a dict


def write(approval: Approval, before: Approval | None = None) -> str:
    """Return the page of an approval, as somebody sees it who may decide about it."""
    response = to_response(approval, before, now=START).model_dump(mode="json")
    earlier = None if response["before"] is None else response["before"]["form"]
    view = describe_approval(response, RIGHTS, render_view(response["form"], earlier))
    values = {"view": view, "errors": {}, "reason": ""}
    return render_page(ConsolePage(template="approval.html", title="Approval", values=values), build_request())


@cache
def build_request() -> ConsoleRequest:
    """Return the request of a page that ann opens."""
    key = ApiKey(id="key_ann", owner="ann", name="", created_at=START)
    session = build_session("session_ann", key, "0" * 64, browser="", now=START)
    scope = {"type": "http", "method": "GET", "path": "/console/approvals/appr_ann", "query_string": b"", "headers": []}
    return ConsoleRequest(
        request=Request(scope),
        path="/console/approvals/appr_ann",
        session=session,
        signed=SignedSession(id="session_ann", secret="s" * 43, key=b"k" * 32),
        api=ApiClient(app=FastAPI(), origin=scope, session=session, secret="s" * 43),
        now=START,
    )


@settings(max_examples=100, deadline=None)
@given(text=TEXTS, name=TEXTS, body=TEXTS, reason=TEXTS)
def test_no_text_of_a_request_is_anything_but_text(text: str, name: str, body: str, reason: str) -> None:
    what = HttpForm(
        method=text,
        url=f"https://api.example/{text}?{name}={text}#{text}",
        headers=((name, text), (text, name)),
        body=body,
        credentials={name: text},
    )
    flow = CallFlow(asks=True, reason=reason, lines=(text, name))
    page = read_page(show(what, flow=flow, place={"owner": text, name: body}))
    plain = read_page(show(HttpForm(method="GET", url="https://api.example/", headers=())))
    for tag in ("form", "button", "input", "script", "a"):
        assert page.tags.count(tag) == plain.tags.count(tag), tag


@settings(max_examples=60, deadline=None)
@given(
    arguments=st.dictionaries(
        TEXTS, st.recursive(TEXTS, lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner)), max_size=4
    )
)
def test_no_argument_of_an_effect_is_anything_but_text(arguments: dict[str, Any]) -> None:
    read_page(show(EffectForm(arguments=arguments, target="<b>", version="<i>"), tool="save_preference"))


@settings(max_examples=60, deadline=None)
@given(reason=TEXTS)
def test_no_reason_of_a_person_is_anything_but_text(reason: str) -> None:
    read_page(write(deny_approval(build_approval("ann"), reason=reason)))


def test_all_of_a_text_is_on_the_page() -> None:
    page = read_page(
        show(HttpForm(method="POST", url="https://a.example/<x>", headers=(), body="<script>\u202e</script>\x1b[0m"))
    )
    assert "https://a.example/<x>" in page.text
    assert "<script>⟨U+202E⟩</script>⟨U+001B⟩[0m" in page.text


@pytest.mark.parametrize("character", ["a", "<", "\u202e", "\x1b", "א", "\u0301", "👪"], ids=ascii)
def test_a_line_of_600_kb_is_shown_in_time_that_grows_with_it(character: str) -> None:
    def measure(size: int) -> float:
        body = ("x" + character) * (size // len(("x" + character).encode()))
        began = time.process_time()
        read_page(show(HttpForm(method="POST", url="https://a.example/", headers=(), body=body)))
        return time.process_time() - began

    measure(10_000)
    assert measure(600_000) < 12 * max(measure(150_000), 0.02)


def test_a_decided_approval_has_no_form_that_decides() -> None:
    page = write(deny_approval(build_approval("ann")))
    assert ('value="approve"' in page, 'value="deny"' in page) == (False, False)
