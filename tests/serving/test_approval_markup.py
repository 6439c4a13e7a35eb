"""The approval page of hostile forms: whatever a call has in it is text on the page, all of it, and nothing else."""

from __future__ import annotations

import time
import unicodedata
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferryman.domain.approvals.form import CallForm, EffectForm, HttpForm, build_form, digest_form
from ferryman.domain.calls.flow import CallFlow
from ferryman.domain.labels.label import OWNED
from ferryman.inmemory.clock import START
from ferryman.serving.api.approval_page.markup import ShownApproval, write_approval, write_message, write_sign_in

from .values import build_approval, deny_approval

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
ATTRIBUTES = {
    "html": {"lang"},
    "meta": {"charset", "name", "content"},
    "th": {"scope", "dir"},
    "td": {"dir"},
    "p": {"class", "role"},
    "form": {"method", "action", "autocomplete"},
    "input": {"type", "name", "value", "maxlength", "required", "autocomplete"},
    "select": {"name"},
    "button": {"name", "value"},
}
TAGS = ATTRIBUTES.keys() | set(
    "head title style body main h1 strong code table caption tbody tr ins del label option".split(" ")  # noqa: SIM905 - shorter
)


class Page(HTMLParser):
    """What a parser of HTML finds in a page."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.forms: list[dict[str, str | None]] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS
        assert {name for name, _ in attrs} <= ATTRIBUTES.get(tag, set())
        self.tags.append(tag)
        if tag == "form":
            self.forms.append(dict(attrs))

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)

    def unknown_decl(self, data: str) -> None:
        raise AssertionError(data)


def read_page(page: str) -> Page:
    """Return what is on a page, once nothing on it is out of place."""
    parsed = Page(page)
    assert all(form["action"] == "" for form in parsed.forms)
    # beside letters and marks that show, there are the line breaks of our own style
    hidden = {character for character in parsed.text if unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp", "Co", "Cn")}
    assert hidden <= {"\n"}
    return parsed


def show(what: HttpForm | EffectForm, tool: str = "http_post", **changes: Any) -> str:
    """Return the page of an approval whose form this is."""
    place = {"owner": "ann", "workspace": "w", "agent": "a", "task": "t", "execution": "e"}
    known = {"tool": tool, "tool_digest": "0" * 64, "what": what, "label": OWNED, "policy_digest": "1" * 64, "place": place}
    form = build_form(CallForm(**{**known, **changes}), expires_at=START)  # type: ignore[arg-type] # built from a dict
    approval = build_approval("ann", form=form, digest=digest_form(form), tool=tool)
    return write_approval(ShownApproval(approval=approval, notice="", before=form, token="0" * 64))


@settings(max_examples=150, deadline=None)
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
    assert (len(page.forms), page.tags.count("button")) == (len(plain.forms), plain.tags.count("button"))


@settings(max_examples=100, deadline=None)
@given(
    arguments=st.dictionaries(
        TEXTS, st.recursive(TEXTS, lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner)), max_size=4
    )
)
def test_no_argument_of_an_effect_is_anything_but_text(arguments: dict[str, Any]) -> None:
    read_page(show(EffectForm(arguments=arguments, target="<b>", version="<i>"), tool="save_preference"))


@settings(max_examples=100, deadline=None)
@given(reason=TEXTS)
def test_no_reason_of_a_person_is_anything_but_text(reason: str) -> None:
    denied = deny_approval(build_approval("ann"), reason=reason)
    read_page(write_approval(ShownApproval(approval=denied, notice="It is over.")))


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_no_message_is_anything_but_text(text: str) -> None:
    assert "img" not in Page(write_message(text, text) + write_sign_in(text)).tags


def test_all_of_a_text_is_on_the_page() -> None:
    page = read_page(
        show(HttpForm(method="POST", url="https://a.example/<x>", headers=(), body="<script>\u202e</script>\x1b[0m"))
    )
    assert "https://a.example/<x>" in page.text
    assert "<script>⟨U+202E⟩</script>⟨U+001B⟩[0m" in page.text


def test_what_is_otherwise_than_the_last_time_is_marked() -> None:
    approval = build_approval("ann")
    before = approval.form.replace("/gists", "/issues")
    page = read_page(write_approval(ShownApproval(approval=approval, notice="", before=before)))
    assert page.tags.count("ins") == page.tags.count("del") > 0


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
    denied = deny_approval(build_approval("ann"))
    page = write_approval(ShownApproval(approval=replace(denied), notice="It is denied."))
    assert ('value="approve"' in page, 'value="deny"' in page) == (False, False)
