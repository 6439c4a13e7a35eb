"""The markup of the approval page: every text of others is on it as visible characters, escaped, in a cell that isolates it.

It loads nothing and runs nothing: its policy lets its own style in, and forms go to its own origin alone.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from html import escape

from ferryman.catalog.effects import describe_effect
from ferryman.domain.approvals.approval import SENDS_MAX, Approval
from ferryman.domain.approvals.decision import REASON_CHARACTERS_MAX, DecisionVerdict
from ferryman.domain.approvals.difference import Change, compare_renderings
from ferryman.domain.approvals.question import read_questions
from ferryman.domain.approvals.rendering import ShownLine, render_form
from ferryman.domain.approvals.visible import show_text
from ferryman.serving.api.approval_page.questions import write_questions

STYLE = """
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem }
table { border-collapse: collapse; width: 100%; table-layout: fixed }
th { width: 11rem; font-weight: normal; text-align: left; vertical-align: top }
th, td { border-bottom: 1px solid #8884; padding: .1rem .5rem; overflow-wrap: anywhere; white-space: pre-wrap }
td, th, code { font-family: ui-monospace, monospace; direction: ltr; unicode-bidi: isolate }
code { overflow-wrap: anywhere } @media (max-width: 40rem) { th { width: 30% } }
caption { text-align: left; font-weight: bold; padding-top: .8rem }
ins { text-decoration: none; background: #2a42 } del { background: #c332 }
form { border-top: 1px solid #8886; margin-top: 1rem; padding-top: .5rem } label { display: block; margin: .5rem 0 }
input[type=text], input[type=password] { width: 100%; max-width: 40rem; font: inherit; box-sizing: border-box }
label input { display: block }
button { font: inherit; padding: .3rem 1rem; margin-right: 1rem }
h1 { font-size: 1.5rem; overflow-wrap: anywhere }
.notice { border-left: 4px solid #c80; padding-left: .8rem }
"""
_DIGEST = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
HEADERS = {
    "Content-Security-Policy": (
        f"default-src 'none'; style-src 'sha256-{_DIGEST}'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # with no-referrer, browsers would not name the origin of a form
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
MARKS = {Change.NEW: "ins", Change.REMOVED: "del"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownApproval:
    """An approval as somebody sees it. `notice` is why it cannot be decided about, "" where it can.

    `before` is the form that was approved last of the same tool, and `token` the CSRF token of its form.
    """

    approval: Approval
    notice: str
    before: str | None = field(default=None, repr=False)
    token: str = field(default="", repr=False)


def write_sign_in(notice: str = "") -> str:
    """Return the page on which somebody signs in with an API key."""
    return _write_page(
        "Sign in",
        "<h1>A call waits for a person</h1><p>Sign in with your API key to see what it would send. "
        "The link to this page gives no right to anything.</p>",
        _write_notice(notice),
        '<form method="post" action=""><label>API key '
        '<input type="password" name="key" required autocomplete="off" maxlength="100"></label>'
        '<button name="do" value="sign-in">Sign in</button></form>',
    )


def write_message(title: str, text: str) -> str:
    """Return a page that says why there is nothing to decide about."""
    return _write_page(title, f"<h1>{escape(title)}</h1><p>{escape(text)}</p>", _SIGN_OUT)


def write_approval(view: ShownApproval) -> str:
    """Return the page of an approval: all of its form, what is otherwise than the last time, and what was decided."""
    approval = view.approval
    rendering = render_form(approval.form)
    place = [
        ("state", _describe_state(approval)),
        ("execution", approval.execution),
        ("call", str(approval.seq + 1)),
        ("until", _write_moment(approval.expires_at)),
        ("digest", approval.digest),
    ]
    return _write_page(
        f"Approval {approval.id}",
        f"<h1>Approval <code>{escape(approval.id)}</code></h1>",
        f"<p><strong>{_write_text(show_text(describe_effect(approval.tool)))}</strong></p>",
        _write_table("", (_write_row(name, text) for name, text in place)),
        _write_notice(view.notice),
        *_write_rendering(rendering),
        *_write_difference(view.before, rendering),
        _write_decision_form(view) if not view.notice else "",
        _SIGN_OUT,
    )


_SIGN_OUT = '<form method="post" action=""><button name="do" value="sign-out">Sign out</button></form>'


def _write_page(title: str, *parts: str) -> str:
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{escape(title)}</title>'
    body = "".join(parts)
    return f'<!doctype html><html lang="en"><head>{head}<style>{STYLE}</style></head><body><main>{body}</main></body></html>'


def _write_notice(notice: str) -> str:
    return f'<p class="notice" role="status">{escape(notice)}</p>' if notice else ""


def _write_decision_form(view: ShownApproval) -> str:
    approval = view.approval
    hidden = "".join(
        f'<input type="hidden" name="{name}" value="{escape(value)}">'
        for name, value in (("digest", approval.digest), ("token", view.token))
    )
    if (questions := read_questions(json.loads(approval.form))) is not None:
        return (
            f'<form method="post" action="" autocomplete="off">{hidden}{write_questions(questions)}'
            f'<label>Reason, where you decline; the model reads it <input type="text" name="reason" '
            f'maxlength="{REASON_CHARACTERS_MAX}"></label>'
            f'<button name="do" value="{DecisionVerdict.ANSWER}">Send these answers to the server</button>'
            f'<button name="do" value="{DecisionVerdict.DENY}" formnovalidate>Decline</button></form>'
        )
    numbers = "".join(f"<option>{number}</option>" for number in range(1, SENDS_MAX + 1))
    return (
        f'<form method="post" action="" autocomplete="off">{hidden}'
        f'<label>For how many sends of exactly this <select name="sends">{numbers}</select></label>'
        f'<label>Reason, which the model reads <input type="text" name="reason" maxlength="{REASON_CHARACTERS_MAX}"></label>'
        f'<button name="do" value="{DecisionVerdict.APPROVE}">Approve</button>'
        f'<button name="do" value="{DecisionVerdict.DENY}">Deny</button></form>'
    )


def _write_rendering(lines: Iterable[ShownLine]) -> Iterator[str]:
    sections: dict[str, list[ShownLine]] = {}
    for line in lines:
        sections.setdefault(line.section, []).append(line)
    for section, rows in sections.items():
        yield _write_table(section, (_write_row(line.name, line.text) for line in rows))


def _write_difference(before: str | None, rendering: tuple[ShownLine, ...]) -> Iterator[str]:
    if before is None:
        yield "<p>No call of this tool was approved in this workspace before.</p>"
        return
    changed = [item for item in compare_renderings(render_form(before), rendering) if item.change is not Change.SAME]
    rows = (_write_row(f"{item.change.value} {item.line.name}", item.line.text, MARKS[item.change]) for item in changed)
    yield (
        _write_table("What is otherwise than in the one that was approved last", rows)
        if changed
        else ("<p>Nothing is otherwise than in the one that was approved last.</p>")
    )


def _write_table(caption: str, rows: Iterable[str]) -> str:
    heading = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<table>{heading}<tbody>{''.join(rows)}</tbody></table>"


def _write_row(name: str, text: str, mark: str = "") -> str:
    cell = f"<{mark}>{_write_text(text)}</{mark}>" if mark else _write_text(text)
    return f'<tr><th scope="row" dir="ltr">{_write_text(name)}</th><td dir="ltr">{cell}</td></tr>'


def _write_text(text: str) -> str:
    """Return `text`, all of whose characters show, as markup: here alone a text of others becomes a part of the page."""
    return escape(text, quote=True)


def _describe_state(approval: Approval) -> str:
    if approval.decided is None:
        return approval.state.value
    decision = approval.decided.decision
    reason = f": {show_text(decision.reason)}" if decision.reason else ""
    return f"{approval.state.value} by {decision.by} at {_write_moment(decision.at)}{reason}"


def _write_moment(moment: object) -> str:
    return f"{str(moment)[:16]} UTC"
