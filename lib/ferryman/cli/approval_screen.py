"""An approval on the screen: exactly what would be sent, and what is otherwise than the last time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import click

from ferryman.catalog.effects import describe_effect
from ferryman.cli.screen import Screen
from ferryman.domain.approvals.difference import Change, compare_renderings
from ferryman.domain.approvals.form import UnwritableFormError, digest_form, restore_form
from ferryman.domain.approvals.rendering import render_form
from ferryman.domain.approvals.visible import show_text
from ferryman.domain.approvals.writing import write_line, write_rendering

STATES = {"pending": "waits for a person", "edited": "was changed by a person: the changed call has an approval of its own"}
STYLES = {Change.NEW: "green", Change.REMOVED: "red", Change.SAME: "dim"}


class OtherFormError(click.ClickException):
    """What the service answered is not what its digest is of: nobody can say what would be approved."""


def read_form(approval: Mapping[str, Any]) -> str:
    """Return the canonical form of an approval, or of one that was approved before. Raise `OtherFormError`."""
    try:
        form = restore_form(approval["form"])
    except UnwritableFormError:
        form = ""
    if digest_form(form) != approval["digest"]:
        raise OtherFormError(f"the form of {approval['approval_id']} is not the one that its digest is of: nothing is shown")
    return form


def print_approval(screen: Screen, approval: Mapping[str, Any]) -> None:
    """Print an approval: its state, all of its form, and the difference to the one before it. Raise `OtherFormError`."""
    screen.print_line(f"{approval['approval_id']}  {_describe_state(approval)}", "bold")
    screen.print_line(
        f"execution {approval['execution_id']}, call {approval['seq'] + 1}, until {_shorten(approval['expires_at'])}"
    )
    screen.print_line(describe_effect(approval["tool"]), "yellow")
    rendering = render_form(read_form(approval))
    for line in write_rendering(rendering, width=screen.width):
        screen.print_line(line)
    before = approval["before"]
    if before is None:
        screen.print_line("No call of this tool was approved in this workspace before.", "dim")
    else:
        screen.print_line(f"What is otherwise than in {before['approval_id']}, which was approved last", "bold")
        for text, style in _compare(screen, render_form(read_form(before)), rendering):
            screen.print_line(text, style)
    screen.print_line(f"digest {approval['digest']}", "bold")


def describe_decision(approval: Mapping[str, Any]) -> str:
    """Return who decided what, on one line."""
    decision = approval["decision"]
    if decision is None:
        return ""
    sends = f" for {decision['sends']} sends, {len(approval['sent'])} used" if decision["sends"] > 1 else ""
    declassified = f", declassified {show_text(decision['declassified'])}" if decision["declassified"] else ""
    reason = f": {decision['reason']}" if decision["reason"] else ""
    return f"{decision['verdict']} by {decision['by']} at {_shorten(decision['at'])}{sends}{declassified}{reason}"


def _describe_state(approval: Mapping[str, Any]) -> str:
    if approval["expired"]:
        return "has expired: nobody can decide any longer"
    return describe_decision(approval) or STATES.get(approval["state"], approval["state"])


def _compare(screen: Screen, before: Any, after: Any) -> Iterator[tuple[str, str]]:
    changed = [item for item in compare_renderings(before, after) if item.change is not Change.SAME]
    if not changed:
        yield "  nothing", "dim"
    section = None
    for item in changed:
        if item.line.section != section:
            section = item.line.section
            yield f"  {section}", ""
        for text in write_line(item.line, names=16, width=screen.width, mark=item.change.value):
            yield text, STYLES[item.change]


def _shorten(moment: object) -> str:
    return str(moment)[:16].replace("T", " ")
