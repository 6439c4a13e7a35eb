"""One approval as a page shows it: its whole form by section, its differences from the last one, and the flow to it.

Long forms are rendered in a worker process: nothing that a stranger wrote holds up other pages.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ferryman import offload
from ferryman.catalog.effects import describe_effect
from ferryman.domain.approvals.difference import Change, compare_renderings
from ferryman.domain.approvals.form import restore_form
from ferryman.domain.approvals.rendering import ShownLine, render_form
from ferryman.domain.approvals.visible import show_text
from ferryman.serving.console.flow_graph import build_flow
from ferryman.serving.console.questions import list_inputs
from ferryman.serving.console.routing import ConsoleRequest

CHARACTERS_MAX = 10_000
"""A form with more is rendered in a worker."""

LINES_MAX = 5_000
"""A page shows this many lines of a form, and cannot approve a longer one: nobody approves what they cannot read."""

UNREADABLE: Mapping[str, Any] = {"sections": [], "difference": None, "flow": None, "lines": None, "is_whole": False}
"""The rendering of a form that takes too long to be rendered."""

MARKS = {Change.NEW: "ins", Change.REMOVED: "del"}


async def load_approval(request: ConsoleRequest, approval: Mapping[str, Any], rights: list[str]) -> dict[str, Any]:
    """Return the template's values of an `approval` of the API, for a reader with these `rights`."""
    form, earlier = approval["form"], approval["before"]
    before = None if earlier is None else earlier["form"]
    if len(str(form)) + len(str(before)) > CHARACTERS_MAX:
        try:
            rendered = await offload.run(request.session.owner, offload.TEXT, render_view, form, before)
        except (offload.OverBudgetError, offload.JobFailedError):
            rendered = dict(UNREADABLE)
    else:
        rendered = render_view(form, before)
    return describe_approval(approval, rights, rendered)


def describe_approval(approval: Mapping[str, Any], rights: list[str], rendered: Mapping[str, Any]) -> dict[str, Any]:
    """Return the template's values of an `approval` of the API, whose form is `rendered` by `render_view`."""
    earlier = approval["before"]
    return {
        "approval": approval,
        "effect": show_text(describe_effect(approval["tool"])),
        "refusal": find_refusal(approval, rights),
        "inputs": list_inputs(approval["form"]),
        "earlier": None if earlier is None else earlier["approval_id"],
        **rendered,
    }


def find_refusal(approval: Mapping[str, Any], rights: list[str]) -> str:
    """Return why nobody, or not this person, decides about an approval of the API; "" where they may."""
    if approval["state"] != "pending":
        return f"This call no longer waits for a decision: it is {approval['state']}."
    if approval["expired"]:
        return "The time to decide about this call is over."
    if "approve" not in rights:
        return "You can read this, but not decide: your API key or your membership lacks the right to approve."
    return ""


def render_view(form: Mapping[str, Any], before: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the sections of a form, each with its rows, what differs from the form `before`, and the flow.

    `is_whole` tells whether all its `lines` are among them; one that is not is not compared.
    """
    lines = render_form(restore_form(form))
    is_whole = len(lines) <= LINES_MAX
    sections: dict[str, list[tuple[str, str]]] = {}
    for line in lines[:LINES_MAX]:
        sections.setdefault(line.section, []).append((line.name, line.text))
    return {
        "sections": list(sections.items()),
        "difference": None if before is None or not is_whole else _compare(lines, restore_form(before)),
        "flow": build_flow(form),
        "lines": len(lines),
        "is_whole": is_whole,
    }


def _compare(lines: tuple[ShownLine, ...], before: str) -> list[tuple[str, str, str]] | None:
    earlier = render_form(before)
    if len(earlier) > LINES_MAX:
        return None
    changed = compare_renderings(earlier, lines)
    return [(MARKS[item.change], item.line.name, item.line.text) for item in changed if item.change is not Change.SAME]
