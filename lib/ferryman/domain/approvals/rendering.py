"""The rendering of a canonical form: what a person reads before they decide. All of the form is in it, and nothing else.

Two different forms never have the same rendering. What is explained beside a value, such as the parts of a URL, follows from
the value, which is there in full.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote_plus

from ferryman.domain.approvals.layout import lay_out_json, lay_out_value
from ferryman.domain.approvals.origins import read_origins
from ferryman.domain.approvals.visible import is_reordered, show_lines, show_name, show_text

CALL, SENT, HEADERS, BODY, ARGUMENTS = "The call", "What is sent", "Headers", "Body", "Arguments"
QUESTIONS = "What the server asks"
QUESTION_LINES = {"server": "server", "url": "at", "tool": "its tool", "descriptor": "as accepted", "state": "state"}
READ, FROM = "What was read before", "Where its arguments came from"
BOUND, MORE = "What else the decision is bound to", "Also in the form"

INTEGRITY = {
    "trusted": "only what the owner, the operator or this system wrote",
    "untrusted": "also text of others, who may want something else than the owner",
}
CONFIDENTIALITY = {
    "public": "anybody may know it",
    "owner": "it is the owner's: private data may be among what is sent",
    "credential": "it may hold a credential",
}
_URL = re.compile(
    r"(?P<scheme>[^:/?#]*)://(?P<host>[^/?#]*)(?P<path>[^?#]*)(?:\?(?P<query>[^#]*))?(?:#(?P<rest>.*))?", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class ShownLine:
    """A line of a rendering, without any character that does not show: in `section`, with a `name`, "" where it goes on."""

    section: str
    name: str
    text: str


def render_form(form: str) -> tuple[ShownLine, ...]:
    """Return the rendering of a canonical form, in time that grows with its length. Raise ValueError where it is no JSON."""
    try:
        value = json.loads(form)
    except RecursionError as error:
        raise ValueError("the form is nested too deep") from error
    if not isinstance(value, dict):
        return (ShownLine(MORE, "no object", "the form is of another kind"), *_render_rest({"form": value}))
    rest = dict(value)
    return (
        *_render_call(rest),
        *_render_what(rest),
        *_render_label(rest),
        *_render_flow(rest),
        *_render_bounds(rest),
        *_render_rest(rest),
    )


def _render_call(rest: dict[str, Any]) -> Iterator[ShownLine]:
    for key, name in (("tool", "tool"), ("tool_digest", "definition")):
        if isinstance(rest.get(key), str):
            yield ShownLine(CALL, name, show_text(rest.pop(key)))


def _render_what(rest: dict[str, Any]) -> Iterator[ShownLine]:
    what = rest.get("what")
    if not isinstance(what, dict):
        return
    remaining = dict(what)
    rest["what"] = remaining
    if what.get("kind") == "http":
        del remaining["kind"]
        yield ShownLine(SENT, "kind", "an HTTP request")
        yield from _render_http(remaining)
    elif what.get("kind") == "effect":
        del remaining["kind"]
        yield ShownLine(SENT, "kind", "an effect of the tool on the target below")
        yield from _render_effect(remaining)
    elif what.get("kind") == "question":
        del remaining["kind"]
        yield ShownLine(SENT, "kind", "answers to an MCP server, which asks before it goes on with the call")
        yield from _render_question(remaining)
    if what and not remaining:
        del rest["what"]


def _render_http(remaining: dict[str, Any]) -> Iterator[ShownLine]:
    credentials = remaining.get("credentials")
    secrets: tuple[str, ...] = ()
    if isinstance(credentials, dict) and all(isinstance(grant, str) for grant in credentials.values()):
        del remaining["credentials"]
        secrets = tuple(credentials)
        yield ShownLine(SENT, "secrets", f"{len(secrets)} are used" if secrets else "none is used")
    if isinstance(remaining.get("method"), str):
        yield ShownLine(SENT, "method", show_text(remaining.pop("method")))
    if isinstance(remaining.get("url"), str):
        yield from _render_url(remaining.pop("url"), secrets)
    for name in secrets:
        yield ShownLine(SENT, "secret", f"{show_name(name)} = {show_text(credentials[name])}")  # type: ignore[index] # as above
    headers = remaining.get("headers")
    if isinstance(headers, list) and all(_is_header(pair) for pair in headers):
        del remaining["headers"]
        yield ShownLine(HEADERS, "count", str(len(headers)))
        for name, text in headers:
            yield ShownLine(HEADERS, show_name(name) or "⟨no name⟩", show_text(text, secrets=secrets))
    yield from _render_body(remaining, secrets)


def _is_header(pair: Any) -> bool:
    return isinstance(pair, list) and len(pair) == 2 and all(isinstance(text, str) for text in pair)


def _render_url(url: str, secrets: tuple[str, ...]) -> Iterator[ShownLine]:
    yield ShownLine(SENT, "url", show_text(url, secrets=secrets))
    match = _URL.fullmatch(url)
    if match is None:
        return
    yield ShownLine(SENT, "  host", show_text(match["host"], secrets=secrets))
    yield ShownLine(SENT, "  path", show_text(match["path"], secrets=secrets))
    for pair in (match["query"] or "").split("&") if match["query"] is not None else ():
        yield ShownLine(SENT, "  query", show_text(pair, secrets=secrets))
        meant = unquote_plus(pair)
        if meant != pair:
            yield ShownLine(SENT, "  that is", show_text(meant, secrets=secrets))
    if match["rest"] is not None:
        yield ShownLine(SENT, "  fragment", show_text(match["rest"], secrets=secrets))


def _render_body(remaining: dict[str, Any], secrets: tuple[str, ...]) -> Iterator[ShownLine]:
    body, is_binary = remaining.get("body"), remaining.get("is_binary")
    if isinstance(is_binary, bool) and (body is None or isinstance(body, str)) and "body" in remaining:
        del remaining["body"], remaining["is_binary"]
        if body is None:
            yield ShownLine(BODY, "none", "binary" if is_binary else "nothing is sent")
        elif is_binary:
            yield ShownLine(BODY, "binary", "in base64")
            yield from _render_text(BODY, body, secrets)
        else:
            laid_out = lay_out_json(body, secrets=secrets)
            if laid_out is None:
                yield ShownLine(BODY, "text", f"{len(body.encode('utf-8', 'surrogatepass')):,} bytes, exactly")
                yield from _render_text(BODY, body, secrets)
            else:
                yield ShownLine(BODY, "JSON", f"{laid_out.style}, with line breaks and indents for reading")
                yield from (ShownLine(BODY, "", line) for line in laid_out.lines)
                yield from _warn(BODY, body)
    if isinstance(remaining.get("body_sha256"), str):
        yield ShownLine(BODY, "sha256", show_text(remaining.pop("body_sha256")))


def _render_effect(remaining: dict[str, Any]) -> Iterator[ShownLine]:
    for name in ("target", "version"):
        if isinstance(remaining.get(name), str):
            yield ShownLine(SENT, name, show_text(remaining.pop(name)))
    arguments = remaining.get("arguments")
    if not isinstance(arguments, dict):
        return
    del remaining["arguments"]
    yield ShownLine(ARGUMENTS, "count", str(len(arguments)))
    for name, value in arguments.items():
        label = show_name(name) or "⟨no name⟩"
        if isinstance(value, str):
            yield ShownLine(ARGUMENTS, label, "text")
            yield from _render_text(ARGUMENTS, value, ())
        else:
            yield ShownLine(ARGUMENTS, label, "JSON")
            yield from (ShownLine(ARGUMENTS, "", line) for line in lay_out_value(value))
            yield from _warn(ARGUMENTS, json.dumps(value, ensure_ascii=False))


def _render_question(remaining: dict[str, Any]) -> Iterator[ShownLine]:
    for name, label in QUESTION_LINES.items():
        if isinstance(remaining.get(name), str):
            yield ShownLine(SENT, label, show_text(remaining.pop(name)))
    questions = remaining.get("questions")
    if not isinstance(questions, list) or not all(_is_question(question) for question in questions):
        return
    del remaining["questions"]
    yield ShownLine(
        QUESTIONS, "count", f"{len(questions)}, in the words of the server: not of this system, and not of the owner"
    )
    for question in questions:
        yield ShownLine(QUESTIONS, "question", show_text(question["key"]))
        yield ShownLine(QUESTIONS, "  mode", show_text(question["mode"]))
        yield ShownLine(QUESTIONS, "  message", f"{len(question['message'])} characters")
        yield from _render_text(QUESTIONS, question["message"], ())
        if question["url"] is not None:
            yield ShownLine(QUESTIONS, "  page", show_text(question["url"]))
            match = _URL.fullmatch(question["url"])
            yield ShownLine(QUESTIONS, "  host", show_text("no URL" if match is None else match["host"]))
        if question["schema"] is not None:
            yield ShownLine(QUESTIONS, "  fields", "as JSON Schema")
            yield from (ShownLine(QUESTIONS, "", line) for line in lay_out_value(question["schema"]))
            yield from _warn(QUESTIONS, json.dumps(question["schema"], ensure_ascii=False))


def _is_question(value: Any) -> bool:
    if not isinstance(value, dict) or value.keys() != {"key", "mode", "message", "schema", "url"}:
        return False
    texts = all(isinstance(value[name], str) for name in ("key", "mode", "message"))
    return texts and (value["url"] is None or isinstance(value["url"], str))


def _render_text(section: str, text: str, secrets: tuple[str, ...]) -> Iterator[ShownLine]:
    yield from (ShownLine(section, "", line) for line in show_lines(text, secrets=secrets))
    yield from _warn(section, text)


def _warn(section: str, text: str) -> Iterator[ShownLine]:
    if is_reordered(text):
        yield ShownLine(
            section, "careful", "it has letters that are written from right to left: their order may show otherwise"
        )


def _render_label(rest: dict[str, Any]) -> Iterator[ShownLine]:
    label = rest.get("label")
    if not isinstance(label, dict):
        return
    remaining = dict(label)
    rest["label"] = remaining
    for name, words in (("integrity", INTEGRITY), ("confidentiality", CONFIDENTIALITY)):
        value = remaining.get(name)
        if isinstance(value, str) and value in words:
            del remaining[name]
            yield ShownLine(READ, value, words[value])
    sources = remaining.get("sources")
    if label.get("integrity") == "untrusted" and sources == [] and remaining.get("more") is False:
        # the label of all that was read by then, whose sources are the calls before it, or who asked for a call without a model
        del remaining["sources"], remaining["more"]
        yield ShownLine(
            READ, "sources", "calls before this one, or an MCP client: the record of the execution has what was read"
        )
    elif isinstance(sources, list) and all(_is_source(source) for source in sources):
        del remaining["sources"]
        yield ShownLine(READ, "sources", str(len(sources)))
        for tool, call, url, credential in sources:
            yield ShownLine(READ, f"call {call + 1}", show_name(tool))
            for name, text in (("  of", url), ("  with", credential)):
                if text is not None:
                    yield ShownLine(READ, name, show_text(text))
    if isinstance(remaining.get("more"), bool):
        if remaining.pop("more"):
            yield ShownLine(READ, "more", "there are further sources, which are not named")
        else:
            yield ShownLine(READ, "complete", "these are all of its sources")
    if label and not remaining:
        del rest["label"]


def _is_source(source: Any) -> bool:
    if not isinstance(source, list) or len(source) != 4:
        return False
    tool, call, url, credential = source
    is_call = isinstance(call, int) and not isinstance(call, bool)
    return isinstance(tool, str) and is_call and all(text is None or isinstance(text, str) for text in (url, credential))


def _render_flow(rest: dict[str, Any]) -> Iterator[ShownLine]:
    flow = rest.get("flow", ...)
    if flow is None:
        del rest["flow"]
        yield ShownLine(FROM, "not judged", "no rule asks where they came from")
    if not isinstance(flow, dict):
        return
    remaining = dict(flow)
    rest["flow"] = remaining
    lines = remaining.get("lines")
    if isinstance(lines, list) and (origins := read_origins(lines)) is not None:
        del remaining["lines"]
        yield (
            ShownLine(FROM, "judged", show_text(lines[0])) if lines else ShownLine(FROM, "none", "no argument had to be judged")
        )
        for origin in origins:
            yield ShownLine(FROM, "argument", show_text(origin.argument))
            yield ShownLine(FROM, "  trusted" if origin.is_trusted else "  UNTRUSTED", show_text(origin.source))
    if isinstance(remaining.get("asks"), bool):
        because = "that has to be decided by a person" if remaining.pop("asks") else "nobody has to be asked because of that"
        yield ShownLine(FROM, "therefore", because)
    if isinstance(remaining.get("reason"), str):
        yield ShownLine(FROM, "reason", show_text(remaining.pop("reason")))
    if flow and not remaining:
        del rest["flow"]


def _render_bounds(rest: dict[str, Any]) -> Iterator[ShownLine]:
    place = rest.get("place")
    if isinstance(place, Mapping) and all(isinstance(text, str) for text in place.values()):
        del rest["place"]
        yield ShownLine(BOUND, "place", f"{len(place)} ids")
        for name, text in place.items():
            yield ShownLine(BOUND, f"  {show_name(name)}", show_text(text))
    for key, name in (("policy", "policy"), ("expires_at", "until")):
        if isinstance(rest.get(key), str):
            yield ShownLine(BOUND, name, show_text(rest.pop(key)))


def _render_rest(rest: Mapping[str, Any]) -> Iterator[ShownLine]:
    if rest:
        yield from (ShownLine(MORE, "", line) for line in lay_out_value(rest))
