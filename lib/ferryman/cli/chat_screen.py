"""An answer on the screen, as it is written: its text as Markdown, its calls on a line each, and their results folded."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

import click
from rich.console import Console
from rich.live import Live
from rich.markdown import Markdown

from ferryman.cli.live import describe_progress, format_credits
from ferryman.cli.safe_markdown import draw_markdown
from ferryman.cli.screen import Screen, neutralize_controls, shorten
from ferryman.client import AnswerEvent
from ferryman.domain.counts import say_count

FOLDED_CHARACTERS = 160
REFRESHES_S = 8
"""How often a second the text is drawn again."""


class AnswerScreen:
    """One answer as it comes; `end` is what the last event says. A pipe gets the text alone, as it comes."""

    def __init__(self, screen: Screen) -> None:
        self.end: Mapping[str, Any] | None = None
        self._screen = screen
        self._text = ""
        self._turn_begins = 0
        self._live: Live | None = None
        self._drawn: tuple[str, Markdown] | None = None
        self._is_terminal = sys.stdout.isatty() and not screen.as_json

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._close_text()

    def print_event(self, event: AnswerEvent) -> None:
        """Print one event."""
        self._screen.print_json({"position": event.id, **event.body})
        body = event.body
        match event.kind:
            case "content":
                self._write(str(body["content"]))
            case "replace":
                self._void()
            case "tool_call":
                self._close_text()
                arguments = json.dumps(body["arguments"], ensure_ascii=False)
                self._print(f"→ {body['name']} {shorten(arguments, max(40, self._screen.width - 24))}", "cyan")
            case "tool_result":
                self._print(*describe_result(body))
            case "usage":
                self._close_text()
            case "tool_progress":
                self._print(describe_progress(body), "dim")
            case "approval_required":
                self._close_text()
                self._print(f"⏸ {body['name']} waits for a person: ferryman approvals show {body['approvalId']}", "yellow")
            case "approval_decided":
                self._print(f"{body['verdict']}: {body['name']} ({body['approvalId']})", "dim")
            case "done" | "error":
                self._finish(body)

    def _finish(self, body: Mapping[str, Any]) -> None:
        self.end = body
        self._close_text()
        if body["type"] == "error":
            self._screen.print_error(str(body["error"]))
        elif body["state"] == "stopped":
            self._print("stopped: what was written until then is kept", "yellow")
        if "credits" in body and self._is_terminal:
            self._print(f"{format_credits(body['credits'])} credits", "dim")

    def _write(self, text: str) -> None:
        written = neutralize_controls(text)
        self._text += written
        if self._is_terminal:
            if self._live is None:
                # what is drawn is made when it is drawn, and not for every piece of a long text
                draw = self._draw
                self._live = Live(
                    get_renderable=draw, console=Console(), refresh_per_second=REFRESHES_S, vertical_overflow="visible"
                )
                self._live.start()
        elif not self._screen.as_json:
            click.echo(written, nl=False)

    def _draw(self) -> Markdown:
        if self._drawn is None or self._drawn[0] != self._text:
            self._drawn = (self._text, draw_markdown(self._text))
        return self._drawn[1]

    def _void(self) -> None:
        """Take back the text of this turn: it is written again, without what may not be seen."""
        if self._is_terminal:
            self._text = ""
        elif self._text:
            self._text = ""
            self._print("\n[the text of this turn is replaced by what follows]", "yellow")

    def _close_text(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None
        elif self._text and not self._screen.as_json:
            click.echo()
        self._text = ""

    def _print(self, text: str, style: str) -> None:
        # a pipe gets the answer alone: what happens beside it is for people
        if self._is_terminal:
            self._screen.print_line(text, style)
        elif not self._screen.as_json:
            click.echo(neutralize_controls(text), err=True)


def describe_result(body: Mapping[str, Any]) -> tuple[str, str]:
    """Return what came of a call, on one line, and the style to show it in."""
    if not body["success"]:
        return f"← failed: {shorten(body['error'], FOLDED_CHARACTERS)}", "yellow"
    result = body.get("result")
    size = len(result if isinstance(result, str) else json.dumps(result, ensure_ascii=False))
    return f"← {shorten(body.get('resultPreview', ''), FOLDED_CHARACTERS)} ({say_count(size, 'characters')})", "green"
