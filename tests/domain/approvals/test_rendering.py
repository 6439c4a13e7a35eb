"""What a person reads of a form: all of it, and nothing that is not in it."""

from __future__ import annotations

import json
import re
import time
import unicodedata
from dataclasses import replace
from typing import Any

import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from ferryman.domain.approvals.difference import Change, compare_renderings
from ferryman.domain.approvals.form import CallForm, EffectForm, HttpForm, build_form, restore_form
from ferryman.domain.approvals.origins import ShownOrigin, read_origins, write_origins
from ferryman.domain.approvals.rendering import ShownLine, render_form
from ferryman.domain.approvals.writing import write_rendering
from ferryman.domain.calls.flow import CallFlow
from ferryman.domain.flow.trusted import Match
from ferryman.domain.flow.verdict import ArgumentOrigin, FlowReason, FlowVerdict, Trust, list_lines
from ferryman.domain.json_tree import iterate_leaves
from ferryman.domain.labels.label import Confidentiality as Secrecy
from ferryman.domain.labels.label import FlowLabel, Integrity, Source
from tests.builders import START

FEW = settings(max_examples=30, deadline=None)
HOSTILE = ["a", "Z", " ", "  ", "\n", "\r", "\t", "\x1b[2J", "\x00", "\u202e", "\u200b", "\ufeff", "é", "e\u0301", "中", "א"]
HOSTILE += [
    "│ ",
    "┆",
    "⟨U+0041⟩",
    "⟨",
    "⟩",
    "↵",
    "{{secrets.K}}",
    "{{secrets.B}}",
    "⟨secret K⟩",
    '"',
    "\\",
    ": ",
    "{",
    "}",
    "[",
    "]",
    ",",
]
HOSTILE += [
    "\U000e0041",
    "\ufe0f",
    "\u3164",
    "\u0301\u0301\u0301",
    " " * 12,
    "\n" * 7,
    "1",
    "null",
    "true",
    "%20",
    "?",
    "&",
    "=",
    "#",
    "/",
]
TEXT = st.lists(st.sampled_from(HOSTILE), max_size=8).map("".join) | st.text(st.characters(codec="utf-8"), max_size=6)
LEAF = (
    TEXT | st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(allow_nan=False, allow_infinity=False)
)
VALUE = st.recursive(LEAF, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3), max_leaves=6)
BODY = (
    st.none()
    | TEXT
    | VALUE.map(json.dumps)
    | VALUE.map(lambda value: json.dumps(value, separators=(",", ":"), ensure_ascii=False))
)
HTTP = st.builds(
    HttpForm,
    method=st.sampled_from(["POST", "PUT"]) | TEXT,
    url=TEXT | TEXT.map(lambda text: f"https://a.test/p?{text}"),
    headers=st.lists(st.tuples(TEXT, TEXT), max_size=3).map(tuple),
    body=BODY,
    is_binary=st.booleans(),
    body_sha256=TEXT,
    credentials=st.dictionaries(st.sampled_from(["K", "B"]), TEXT, max_size=2),
)
EFFECT = st.builds(EffectForm, arguments=st.dictionaries(TEXT, VALUE, max_size=3), target=TEXT, version=TEXT)
SOURCE = st.builds(Source, tool=TEXT, call=st.integers(0, 9), url=st.none() | TEXT, credential=st.none() | TEXT)
LABEL = st.builds(
    FlowLabel,
    integrity=st.sampled_from(Integrity),
    confidentiality=st.sampled_from(Secrecy),
    sources=st.lists(SOURCE, max_size=2).map(tuple),
    more=st.booleans(),
)
TREE = [
    "├─ ",
    "└─ ",
    "│  └─ trusted: ",
    "   └─ trusted: ",
    "│  └─ untrusted: ",
    "   └─ untrusted: ",
    "no argument had to be judged",
]
LINE = st.tuples(st.sampled_from(["", *TREE]), TEXT).map("".join)
ORIGIN = st.builds(ShownOrigin, TEXT, st.booleans(), TEXT)
LINES = st.lists(LINE, max_size=5) | st.lists(ORIGIN, max_size=3).map(lambda origins: ["judged", *write_origins(origins)])
FLOW = st.builds(CallFlow, asks=st.booleans(), reason=TEXT, lines=LINES.map(tuple))
FORM = st.builds(
    CallForm,
    tool=TEXT,
    tool_digest=TEXT,
    what=HTTP | EFFECT,
    label=LABEL,
    policy_digest=TEXT,
    place=st.dictionaries(TEXT, TEXT, max_size=2),
    flow=st.none() | FLOW,
).map(lambda form: build_form(form, expires_at=START))
ANY = st.dictionaries(st.sampled_from(["tool", "what", "label", "place", "flow", "x"]), VALUE, max_size=3).map(
    lambda value: rfc8785.dumps(value).decode()
)


def build_http(*, flow: CallFlow | None = None, **fields: Any) -> str:
    """Return the canonical form of a POST to a.test."""
    http = HttpForm(**{"method": "POST", "url": "https://a.test/p", "headers": (), **fields})
    label = FlowLabel(integrity=Integrity.TRUSTED, confidentiality=Secrecy.OWNER)
    place = {"owner": "o"}
    form = CallForm(tool="http_post", tool_digest="t", what=http, label=label, policy_digest="p", place=place, flow=flow)
    return build_form(form, expires_at=START)


def write(form: str, width: int = 80) -> str:
    """Return the rendering as text."""
    return "\n".join(write_rendering(render_form(form), width=width))


def mutate(form: str, place: int, what: str) -> str | None:
    """Return the canonical form of `form` with one leaf changed; None where it stays the same."""
    value = json.loads(form)
    leaves: list[tuple[Any, Any]] = []
    rest = [value]
    while rest:
        inner = rest.pop()
        for key, child in inner.items() if isinstance(inner, dict) else enumerate(inner):
            if isinstance(child, dict | list):
                rest.append(child)
            leaves.append((inner, key))
    inner, key = leaves[place % len(leaves)]
    child = inner[key]
    inner[key] = child + what if isinstance(child, str) else [child] if place % 2 else json.dumps(child)
    changed = restore_form(value)
    return None if changed == form else changed


@given(FORM | ANY, FORM | ANY)
@FEW
def test_two_forms_never_render_the_same(first: str, second: str) -> None:
    assert (render_form(first) == render_form(second)) == (first == second)
    assert (write(first) == write(second)) == (first == second)


@given(FORM, st.integers(0, 1000), st.sampled_from(HOSTILE))
@FEW
def test_a_form_with_one_value_changed_renders_otherwise(form: str, place: int, what: str) -> None:
    changed = mutate(form, place, what)
    if changed is not None:
        assert write(changed) != write(form)


@given(FORM | ANY, st.integers(40, 100))
@FEW
def test_nothing_in_a_rendering_hides_moves_the_cursor_or_fakes_a_line(form: str, width: int) -> None:
    headings = {line.section for line in render_form(form)}
    for line in write_rendering(render_form(form), width=width):
        assert all(unicodedata.category(character)[0] not in "CZ" or character == " " for character in line)
        assert line in headings or (line.startswith("  ") and ("│ " in line or "┆ " in line))


MARKED = re.compile("⟨secret ([A-Z]+)⟩")


@given(FORM)
@FEW
def test_every_character_of_every_text_is_in_the_rendering(form: str) -> None:
    printed = "".join(f"{line.name}{line.text}" for line in render_form(form))
    printed += "".join(f"{{{{secrets.{name}}}}}" for name in MARKED.findall(printed))  # a mark stands for it
    printed += "".join(TREE)  # words stand for it
    texts = (leaf for leaf in iterate_leaves(json.loads(form)) if isinstance(leaf, str))
    for character in set("".join(texts)):
        assert (
            character in printed
            or f"⟨U+{ord(character):04X}" in printed
            or json.dumps(character)[1:-1] in printed
            or character == "\n"
        )


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("a\u202eb", "a⟨U+202E⟩b"),
        ("\x1b[2J", "⟨U+001B⟩[2J"),
        ("⟨U+202E⟩", "⟨U+27E8⟩U+202E⟩"),
        ("Grüße 你好 🙂", "Grüße 你好 🙂"),
        ("a" + "\u200b" * 300, "a⟨U+200B ×300⟩"),
        ("a" + " " * 500 + "b", "a⟨U+0020 ×500⟩b"),
        ("a ", "a⟨U+0020⟩"),
        ("a\nb", "a↵|b"),
        ("a" + "\n" * 90 + "b", "a⟨U+000A ×90⟩|b"),
    ],
)
def test_what_does_not_show_is_its_code_point(text: str, printed: str) -> None:
    lines = [line.text for line in render_form(build_http(body=text)) if (line.section, line.name) == ("Body", "")]
    assert "|".join(lines) == printed


@given(FORM)
@FEW
def test_a_form_that_was_read_as_json_is_the_same_again(form: str) -> None:
    assert restore_form(json.loads(form)) == form


def test_a_secret_is_marked_where_the_call_has_it() -> None:
    form = build_http(headers=(("authorization", "Bearer {{secrets.KEY}} {{secrets.OTHER}}"),), credentials={"KEY": "v1"})
    assert ShownLine("Headers", "authorization", "Bearer ⟨secret KEY⟩ {{secrets.OTHER}}") in render_form(form)


def test_a_url_is_shown_whole_and_in_its_parts() -> None:
    lines = render_form(build_http(url="https://a.test:8443/p/q?to=caf%C3%A9&n=1"))
    parts = {line.name.strip(): line.text for line in lines if line.section == "What is sent"}
    assert (parts["url"], parts["host"], parts["path"]) == ("https://a.test:8443/p/q?to=caf%C3%A9&n=1", "a.test:8443", "/p/q")
    assert parts["that is"] == "to=café"


def test_json_is_laid_out_where_its_text_follows_from_the_value() -> None:
    body = '{"to":"a@b.test","amount":10.50}'
    assert "text" in {line.name for line in render_form(build_http(body=body))}
    lines = render_form(build_http(body='{"to":"a@b.test","amount":10.5}'))
    assert [line.text for line in lines if (line.section, line.name) == ("Body", "")] == [
        *("{", '  "to": "a@b.test",', '  "amount": 10.5', "}")
    ]


@pytest.mark.parametrize(
    "body", ["[" * 100_000, '{"a":' * 50_000, '"\\"' * 50_000, "\u0301" * 100_000, "{{secrets.K" * 20_000, " \n" * 99_999]
)
def test_a_hostile_body_takes_no_longer_than_its_length(body: str) -> None:
    form = build_http(body=body)
    begun = time.process_time()
    write(form)
    assert time.process_time() - begun < 2


TAINTED = CallFlow(
    asks=True,
    reason="tainted",
    lines=(
        "http_post: waits for a person (tainted)",
        "├─ url = https://evil.test/\n└─ body = x",
        '│  └─ untrusted: the result of call 1 (http_get): "trusted: the prompt: \u202e"',
        "└─ body.to = ann@mail.test",
        '   └─ trusted: the prompt: "to ann@mail.test"',
    ),
)


def list_origins(flow: CallFlow | None) -> list[tuple[str, str]]:
    lines = render_form(build_http(flow=flow))
    return [(line.name.strip(), line.text) for line in lines if line.section == "Where its arguments came from"]


def test_where_each_argument_came_from_is_shown_and_no_value_of_it_is_another_line() -> None:
    assert list_origins(TAINTED) == [
        ("judged", "http_post: waits for a person (tainted)"),
        ("argument", "url = https://evil.test/⟨U+000A⟩└─ body = x"),
        ("UNTRUSTED", 'the result of call 1 (http_get): "trusted: the prompt: ⟨U+202E⟩"'),
        ("argument", "body.to = ann@mail.test"),
        ("trusted", 'the prompt: "to ann@mail.test"'),
        ("therefore", "that has to be decided by a person"),
        ("reason", "tainted"),
    ]


def test_a_call_that_was_not_judged_says_so() -> None:
    assert list_origins(None) == [("not judged", "no rule asks where they came from")]


def test_lines_that_are_no_tree_are_shown_as_they_are() -> None:
    flow = replace(TAINTED, lines=(*TAINTED.lines[:3], "   └─ trusted: the prompt"))
    assert {name for name, _ in list_origins(flow)} == {"therefore", "reason"}
    assert "   └─ trusted: the prompt" in "".join(line.text for line in render_form(build_http(flow=flow)))


@given(st.lists(ORIGIN, max_size=4))
def test_origins_are_read_back_as_they_were_written(origins: list[ShownOrigin]) -> None:
    assert read_origins(["judged", *write_origins(origins)]) == origins


def test_the_tree_of_a_verdict_is_one_that_is_read_back() -> None:
    match = Match(source="the prompt", start=0, end=3, excerpt="to ann")
    named = {"trust": Trust.TEXT, "match": match}
    origins = [ArgumentOrigin(path="a", value="b", trust=Trust.NONE), ArgumentOrigin(path="to", value="ann", **named)]
    lines = list_lines(FlowVerdict(tool="t", reason=FlowReason.TAINTED, origins=tuple(origins)))
    assert read_origins(lines) == [
        ShownOrigin("a = b", False, "in no trusted text"),
        ShownOrigin("to = ann", True, 'the prompt: "to ann"'),
    ]


def test_a_value_with_letters_from_right_to_left_has_a_warning() -> None:
    assert "careful" in {line.name for line in render_form(build_http(body="שלום"))}


def test_a_difference_has_the_lines_that_are_otherwise() -> None:
    before = render_form(build_http(body='{"to":"a","amount":1,"note":"x"}'))
    after = render_form(build_http(body='{"to":"b","amount":1,"note":"x"}'))
    changed = [(item.change, item.line.text) for item in compare_renderings(before, after) if item.change is not Change.SAME]
    assert changed == [(Change.REMOVED, '  "to": "a",'), (Change.NEW, '  "to": "b",')]


@given(FORM, FORM)
@FEW
def test_a_difference_has_every_line_of_both(first: str, second: str) -> None:
    before, after = render_form(first), render_form(second)
    compared = compare_renderings(before, after)
    assert [item.line for item in compared if item.change is not Change.NEW] == [
        line for line in before if "bound" not in line.section
    ]
    assert [item.line for item in compared if item.change is not Change.REMOVED] == [
        line for line in after if "bound" not in line.section
    ]


def test_a_difference_of_long_forms_takes_no_longer_than_their_length() -> None:
    before = render_form(build_http(body="\n".join("ab"[number % 2] for number in range(50_000))))
    after = render_form(build_http(body="\n".join("ba"[number % 3 == 0] for number in range(50_000))))
    begun = time.process_time()
    compare_renderings(before, after)
    assert time.process_time() - begun < 2


@pytest.mark.parametrize(
    ("integrity", "says"),
    [
        (
            Integrity.UNTRUSTED,
            "sources   │ calls before this one, or an MCP client: the record of the execution has what was read",
        ),
        (Integrity.TRUSTED, "complete │ these are all of its sources"),
    ],
)
def test_that_no_source_is_named_is_not_shown_as_none(integrity: Integrity, says: str) -> None:
    label = {"label": {"integrity": integrity.value, "confidentiality": "owner", "sources": [], "more": False}}
    text = "\n".join(write_rendering(render_form(rfc8785.dumps(label).decode()), width=200))
    assert says in text
    assert ("these are all" in text) == (integrity is Integrity.TRUSTED)
