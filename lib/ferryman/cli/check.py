"""`ferryman check`: what the egress gate would do with JSON lines on stdin, one JSON line each; nothing is sent."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, BinaryIO

import click

Judge = Callable[[Mapping[str, Any]], Awaitable[dict[str, Any]]]
"""From a line to its answer; the members of `operations.check.JUDGES` of the same names as the commands."""


@click.group()
def check() -> None:
    """Judge as the egress gate would, by its own code, without sending anything.

    Reads JSON lines on stdin and writes one JSON line for each, with the same id. A line that cannot be read is answered with
    {"id": null, "error": ...}, and the run goes on.
    """


@check.command()
def address() -> None:
    """Judge whether an IP address may be dialled.

    \b
    in   {"id", "ip"}
    out  {"id", "verdict": "allowed" | "refused", "reason"}
    """
    _run("address")


@check.command()
def url() -> None:
    """Judge whether a tool of a task may call a URL.

    \b
    in   {"id", "tool", "url", "task": {"allow_domains": [], "webhook_urls": [], "webhook_match": "host" | "url"},
          "dns": {"host": ["ip"]}}
    out  {"id", "verdict": "allowed" | "refused", "reason", "message"}

    dns is the only resolver: a host that is not in it does not resolve. The webhook integration counts as enabled when
    webhook_urls is not empty.
    """
    _run("url")


@check.command()
def leak() -> None:
    """Judge whether a request or an answer holds a credential.

    \b
    in   {"id", "credentials": [{"name", "value", "auth_type"}],
          "request": {"tool", "method", "url", "headers", "query_params", "body", "credential"}}
    out  {"id", "verdict": "allowed" | "refused", "reason", "message", "credential"}

    \b
    in   {"id", "credentials": [...], "response": {"status", "headers", "body_text" | "body_base64"}}
    out  {"id", "verdict": "allowed" | "redacted" | "refused", "reason", "credential", "text"}

    text is what the model would see. redacted: the credential was replaced where it was; refused: its place is not known,
    and the whole body is omitted. The registration policy is not applied.
    """
    _run("leak")


@check.command()
def frame() -> None:
    """Show what the model would see of an answer.

    \b
    in   {"id", "tool", "response": {"status", "headers", "body_text" | "body_base64"}}
    out  {"id", "text"}
    """
    _run("frame")


@check.command()
def call() -> None:
    """Judge a call as the whole gate would, in its order.

    \b
    in   {"id", "tool", "task": {"allow_domains", "webhook_urls", "webhook_match", "tools", "plan"},
          "credentials": [{"name", "value", "auth_type", "hosts", "auth_header_name", "auth_param_name"}],
          "arguments": {...}, "dns": {"host": ["ip"]}}
    out  {"id", "verdict": "allowed" | "refused", "reason", "message"}

    The four HTTP tools are enabled unless the task lists some. auth_header_name is X-Api-Key unless given.
    """
    _run("call")


def _run(kind: str) -> None:
    # Imported when it runs: the help must not wait for the scanner and the network libraries.
    from ferryman.operations import check as judges

    judge = judges.JUDGES[kind]
    asyncio.run(_lines(judge, sys.stdin.buffer, sys.stdout.buffer))


async def _lines(judge: Judge, source: BinaryIO, sink: BinaryIO) -> None:
    while line := source.readline():
        if line.strip():
            sink.write(json.dumps(await _answer(judge, line)).encode() + b"\n")
            sink.flush()


async def _answer(judge: Judge, line: bytes) -> dict[str, Any]:
    try:
        fields = json.loads(line)
        if not isinstance(fields, dict):
            return {"id": None, "error": "the line is not a JSON object"}
        return {"id": fields.get("id"), **await judge(fields)}
    except KeyError as error:
        return {"id": None, "error": f"the line has no field {error.args[0]!r}"}
    except Exception as error:  # noqa: BLE001 - whatever a line does, the next one is read; its text may hold a key
        return {"id": None, "error": f"the line cannot be read ({type(error).__name__})"}
