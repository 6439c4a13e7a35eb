"""What the gate would do: its own stations, fed from a line instead of a call, with a name table instead of the network."""

from __future__ import annotations

import base64
import ssl
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cache
from ipaddress import ip_address
from typing import Any, cast

from ferryman.domain import refusal
from ferryman.domain.address import Address, public
from ferryman.domain.credential import AuthType, Credential, Label, Secret
from ferryman.domain.http import Inbound, Method, Outbound
from ferryman.domain.plan import PLANS, PRO
from ferryman.domain.refusal import Refusal, Refused
from ferryman.domain.remit import Remit
from ferryman.egress.allow import allowed
from ferryman.egress.body import Body
from ferryman.egress.gate import Gate, spoken
from ferryman.egress.leaks import Scanner
from ferryman.egress.pin import Nowhere, validated
from ferryman.egress.sanitize import readable, shown
from ferryman.local.log import NoLog
from ferryman.tools.builtin import READERS

Line = Mapping[str, Any]
Verdict = dict[str, Any]
NONCE = "0" * 16
HEADER_DEFAULT = "X-Api-Key"
OWN = "check"


async def address(line: Line) -> Verdict:
    """{"ip"} -> whether it may be dialled."""
    try:
        admitted = public(ip_address(str(line["ip"])))
    except ValueError:
        return {"verdict": "refused", "reason": "not an IP address"}
    return {"verdict": "allowed", "reason": None} if admitted else {"verdict": "refused", "reason": "not a public address"}


async def url(line: Line) -> Verdict:
    """{"tool", "url", "task", "dns"} -> whether the tool may call the URL, and all its addresses are public."""
    try:
        tool = str(line.get("tool", "http_get"))
        if tool not in READERS:
            raise Refused(refusal.unknown_tool(tool))
        place = allowed(tool, _text(line, "url"), _remit(line))
        await validated(place.host, _Told(line.get("dns") or {}))
    except Refused as refused:
        return _refused(refused.refusal)
    return _allowed()


async def leak(line: Line) -> Verdict:
    """{"credentials", "request"} or {"credentials", "response"} -> whether a credential was found, and what would be shown."""
    line["credentials"]  # without them there is nothing to look for, and every line would pass
    credentials = _credentials(line)
    scanner = Scanner(credentials)
    if "response" in line:
        return _answer(line["response"], scanner, [each.name for each in credentials])
    finding = scanner.outbound(_outbound(line["request"]))
    if finding is None:
        return {**_allowed(), "credential": None}
    found = refusal.leaked(finding.name) if finding.name else refusal.wrong_argument("request", "arguments", "plain")
    return {**_refused(found), "credential": finding.name}


async def frame(line: Line) -> Verdict:
    """{"response"} -> the text the model would be shown."""
    return {"text": _answer(line["response"], Scanner(()), ())["text"]}


async def call(line: Line) -> Verdict:
    """{"tool", "task", "credentials", "arguments", "dns"} -> what the whole gate says, in its order."""
    credentials = {each.name: each for each in _credentials(line)}
    scanner = Scanner(credentials.values())
    gate = Gate(names=_Told(line.get("dns") or {}), dial=Nowhere(), tls=_no_tls(), tracer=NoLog())
    remit = _remit(line)
    try:
        tool = str(line["tool"])
        if tool not in READERS:
            raise Refused(refusal.unknown_tool(tool))
        if tool not in remit.tools:
            raise Refused(refusal.tool_not_enabled(tool))
        arguments = line.get("arguments")
        if not isinstance(arguments, dict):
            raise Refused(refusal.wrong_argument(tool, "arguments", "an object"))
        await gate.judge(READERS[tool](arguments), remit=remit, credentials=credentials, scanner=scanner)
    except Refused as refused:
        return _refused(spoken(refused.refusal, scanner))
    return _allowed()


class _Told:
    """`ports.Names` of a line: what it does not name does not resolve, and what is no address resolves to nothing."""

    def __init__(self, table: Mapping[str, Sequence[str]]) -> None:
        self._table = {host.lower(): answers for host, answers in table.items()}

    async def resolve(self, host: str) -> Sequence[Address]:
        answers = self._table.get(host)
        if answers is None:
            raise OSError("not in the line's dns")
        return [ip_address(str(each)) for each in answers]


@cache
def _no_tls() -> ssl.SSLContext:
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _allowed() -> Verdict:
    return {"verdict": "allowed", "reason": None, "message": None}


def _refused(found: Refusal) -> Verdict:
    return {"verdict": "refused", "reason": found.reason, "message": found.message}


def _text(line: Line, field: str) -> str:
    value = line[field]
    if not isinstance(value, str):
        raise TypeError(f"{field} must be a string")
    return value


def _remit(line: Line) -> Remit:
    task: Line = line.get("task") or {}
    webhooks = tuple(task.get("webhook_urls") or ())
    return Remit(
        owner=OWN,
        task=OWN,
        plan=PLANS.get(str(task.get("plan")), PRO),
        tools=tuple(task["tools"]) if task.get("tools") is not None else tuple(READERS),
        integrations=(),
        domains=tuple(task.get("allow_domains") or ()),
        webhook=bool(webhooks),
        webhook_urls=webhooks,
        webhook_match=str(task.get("webhook_match") or "host"),
    )


def _credentials(line: Line) -> list[Credential]:
    return [_credential(each) for each in line.get("credentials") or ()]


def _credential(given: Line) -> Credential:
    kind = AuthType(given.get("auth_type", AuthType.BEARER))
    label = Label(
        owner=OWN,
        task=OWN,
        name=_text(given, "name"),
        version=1,
        service=OWN,
        auth_type=kind,
        auth_header_name=given.get("auth_header_name") or (HEADER_DEFAULT if kind is AuthType.HEADER else None),
        auth_param_name=given.get("auth_param_name"),
        hosts=tuple(given.get("hosts") or ()),
    )
    return Credential(label=label, secret=Secret(_text(given, "value")))


def _outbound(given: Line) -> Outbound:
    # As the model wrote it: a method that is none is looked through like everything else.
    return Outbound(
        tool=str(given.get("tool", "")),
        method=cast(Method, str(given.get("method", ""))),
        url=str(given.get("url", "")),
        headers=given.get("headers") or {},
        query_params=given.get("query_params") or {},
        body=given.get("body"),
        credential=None if given.get("credential") is None else str(given["credential"]),
    )


def _answer(given: Line, scanner: Scanner, names: Sequence[str]) -> Verdict:
    try:
        inbound = _inbound(given)
    except Refused as refused:
        return {**_refused(refused.refusal), "credential": None, "text": refused.refusal.message}
    text = shown(inbound, scanner, nonce=NONCE)
    before = readable(inbound)
    after = scanner.redact(before)
    if after == before:
        return {**_allowed(), "credential": None, "text": text}
    name = next((each for each in names if f"[redacted:{each}]" in after), None)
    whole = after == f"[redacted:{name}]" or name is None
    verdict = "refused" if whole else "redacted"
    return {"verdict": verdict, "reason": "credential_leak", "message": None, "credential": name, "text": text}


def _inbound(given: Line) -> Inbound:
    encoded = given.get("body_base64")
    raw = str(given.get("body_text") or "").encode("utf-8", "surrogatepass") if encoded is None else base64.b64decode(encoded)
    headers = {str(name).lower(): str(value) for name, value in dict(given.get("headers") or {}).items()}
    if encoded is None:
        # A body given as text is what charset and coding held already.
        headers = {}
    body = Body(headers.get("content-encoding", ""), PRO.response_bytes)
    body.feed(raw)
    body.end()
    return Inbound(
        status=int(given.get("status", 200)),
        headers=tuple(headers.items()),
        body=body.content,
        size_bytes=len(raw),
        cut=body.cut,
    )


JUDGES: Mapping[str, Callable[[Line], Awaitable[Verdict]]] = {
    "address": address,
    "url": url,
    "leak": leak,
    "frame": frame,
    "call": call,
}
"""Each kind of line with its judge; a judge raises KeyError, TypeError or ValueError for a line it cannot read."""
