"""What the gate would do: its own stations, fed from a line instead of a call, with a name table instead of the network."""

from __future__ import annotations

import base64
import ssl
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cache
from ipaddress import ip_address
from typing import Any, cast

from ferryman.catalog.tools import find_tool
from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import CallRefusedError, Refusal
from ferryman.domain.credentials.credential import AuthType, Credential, Label, Secret
from ferryman.domain.executions import allowlist
from ferryman.domain.executions.policy import ExecutionPolicy, ServiceHeaders
from ferryman.domain.http.address import Address, is_public
from ferryman.domain.http.request import InboundResponse, Method, OutboundRequest
from ferryman.domain.owners.plan import PLANS, PRO
from ferryman.egress.body import ResponseBody
from ferryman.egress.checks import redact_refusal
from ferryman.egress.gate import EgressGate
from ferryman.egress.leaks import SecretScanner, redact_text
from ferryman.egress.pin import NullDialer, resolve_public_addresses
from ferryman.egress.sanitize import render_response
from ferryman.egress.text import decode_text
from ferryman.inmemory.log import NoLog
from ferryman.ports.gate import CallPolicy
from ferryman.tools.http import PARSERS

Line = Mapping[str, Any]
Verdict = dict[str, Any]
NONCE = "0" * 16
HEADER_DEFAULT = "X-Api-Key"
CHECK_OWNER = "check"


async def check_address(line: Line) -> Verdict:
    """Judge {"ip"}: whether it may be dialled."""
    try:
        admitted = is_public(ip_address(str(line["ip"])))
    except ValueError:
        return {"verdict": "refused", "reason": "not an IP address"}
    return {"verdict": "allowed", "reason": None} if admitted else {"verdict": "refused", "reason": "not a public address"}


async def check_url(line: Line) -> Verdict:
    """Judge {"tool", "url", "task", "dns"}: whether the tool may call the URL, and all its addresses are public."""
    try:
        tool = str(line.get("tool", "http_get"))
        if tool not in PARSERS:
            raise CallRefusedError(refusal.refuse_unknown_tool(tool))
        place = allowlist.check_url(find_tool(tool).policy.network, _text(line, "url"), _policy(line))
        await resolve_public_addresses(place.host, _LineNames(line.get("dns") or {}), owner="")
    except CallRefusedError as refused:
        return _refuse(refused.refusal)
    return _allow()


async def check_leak(line: Line) -> Verdict:
    """Judge {"credentials", "request"} or {"credentials", "response"}: whether a credential was found, and what would be
    shown."""
    line["credentials"]  # without them there is nothing to look for, and every line would pass
    credentials = _credentials(line)
    scanner = SecretScanner(credentials)
    if "response" in line:
        return _answer(line["response"], scanner, [credential.name for credential in credentials])
    finding = scanner.find_in_request(_outbound(line["request"]))
    if finding is None:
        return {**_allow(), "credential": None}
    reason = (
        refusal.refuse_leak(finding.name) if finding.name else refusal.refuse_wrong_argument("request", "arguments", "plain")
    )
    return {**_refuse(reason), "credential": finding.name}


async def check_frame(line: Line) -> Verdict:
    """Return the text that the model would be shown of {"response"}."""
    return {"text": _answer(line["response"], SecretScanner(()), ())["text"]}


async def check_call(line: Line) -> Verdict:
    """Judge {"tool", "task", "credentials", "arguments", "dns"}: what the whole gate says, in its order."""
    credentials = {credential.name: credential for credential in _credentials(line)}
    scanner = SecretScanner(credentials.values())
    gate = EgressGate(names=_LineNames(line.get("dns") or {}), dial=NullDialer(), tls=_no_tls(), tracer=NoLog())
    policy = _policy(line)
    try:
        tool = str(line["tool"])
        if tool not in PARSERS:
            raise CallRefusedError(refusal.refuse_unknown_tool(tool))
        if tool not in policy.tools:
            raise CallRefusedError(policy.refuse_tool(tool))
        arguments = line.get("arguments")
        if not isinstance(arguments, dict):
            raise CallRefusedError(refusal.refuse_wrong_argument(tool, "arguments", "an object"))
        await gate.prepare(PARSERS[tool](arguments), CallPolicy(execution=policy, credentials=credentials))
    except CallRefusedError as refused:
        return _refuse(redact_refusal(refused.refusal, scanner))
    return _allow()


class _LineNames:
    """`ports.Names` of a line: what it does not name does not resolve, and what is no address resolves to nothing."""

    def __init__(self, table: Mapping[str, Sequence[str]]) -> None:
        self._table = {host.lower(): answers for host, answers in table.items()}

    async def resolve(self, host: str, *, owner: str) -> Sequence[Address]:  # noqa: ARG002 - the port's own signature
        answers = self._table.get(host)
        if answers is None:
            raise OSError("not in the line's dns")
        return [ip_address(str(answer)) for answer in answers]


@cache
def _no_tls() -> ssl.SSLContext:
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _allow() -> Verdict:
    return {"verdict": "allowed", "reason": None, "message": None}


def _refuse(reason: Refusal) -> Verdict:
    return {"verdict": "refused", "reason": reason.reason, "message": reason.message}


def _text(line: Line, field: str) -> str:
    value = line[field]
    if not isinstance(value, str):
        raise TypeError(f"{field} must be a string")
    return value


def _policy(line: Line) -> ExecutionPolicy:
    task: Line = line.get("task") or {}
    webhooks = tuple(task.get("webhook_urls") or ())
    return ExecutionPolicy(
        owner=CHECK_OWNER,
        task=CHECK_OWNER,
        plan=PLANS.get(str(task.get("plan")), PRO),
        tools=tuple(task["tools"]) if task.get("tools") is not None else tuple(PARSERS),
        integrations=(),
        domains=tuple(task.get("allow_domains") or ()),
        webhook=bool(webhooks),
        webhook_urls=webhooks,
        webhook_match=str(task.get("webhook_match") or "host"),
        headers=(ServiceHeaders(domains=tuple(task.get("allow_domains") or ()), names=tuple(task.get("allow_headers") or ())),),
    )


def _credentials(line: Line) -> list[Credential]:
    return [_credential(fields) for fields in line.get("credentials") or ()]


def _credential(fields: Line) -> Credential:
    kind = AuthType(fields.get("auth_type", AuthType.BEARER))
    label = Label(
        owner=CHECK_OWNER,
        task=CHECK_OWNER,
        name=_text(fields, "name"),
        version=1,
        service=CHECK_OWNER,
        auth_type=kind,
        auth_header_name=fields.get("auth_header_name") or (HEADER_DEFAULT if kind is AuthType.HEADER else None),
        auth_param_name=fields.get("auth_param_name"),
        hosts=tuple(fields.get("hosts") or ()),
    )
    return Credential(label=label, secret=Secret(_text(fields, "value")))


def _outbound(request: Line) -> OutboundRequest:
    # as the model wrote it: a method that is none is scanned like everything else
    return OutboundRequest(
        tool=str(request.get("tool", "")),
        method=cast(Method, str(request.get("method", ""))),
        url=str(request.get("url", "")),
        headers=request.get("headers") or {},
        query_params=request.get("query_params") or {},
        body=request.get("body"),
        credential=None if request.get("credential") is None else str(request["credential"]),
    )


def _answer(response: Line, scanner: SecretScanner, names: Sequence[str]) -> Verdict:
    try:
        inbound = _inbound(response)
    except CallRefusedError as refused:
        return {**_refuse(refused.refusal), "credential": None, "text": refused.refusal.message}
    text = render_response(inbound, scanner, nonce=NONCE).content
    before = decode_text(inbound) or ""  # nothing is shown of the bytes of a binary body
    after = redact_text(before, scanner)
    if after == before:
        return {**_allow(), "credential": None, "text": text}
    name = next((name for name in names if f"[redacted:{name}]" in after), None)
    is_whole = name is None or after == f"[redacted:{name}]"
    return {
        "verdict": "refused" if is_whole else "redacted",
        "reason": "credential_leak",
        "message": None,
        "credential": name,
        "text": text,
    }


def _inbound(response: Line) -> InboundResponse:
    headers = {str(name).lower(): str(value) for name, value in dict(response.get("headers") or {}).items()}
    encoded = response.get("body_base64")
    if encoded is None:
        # a body that is given as text was decoded already, from its charset and its coding
        raw = str(response.get("body_text") or "").encode("utf-8", "surrogatepass")
        headers.pop("content-encoding", None)
        headers["content-type"] = headers.get("content-type", "text/plain").partition(";")[0]
    else:
        raw = base64.b64decode(encoded)
    body = ResponseBody(headers.get("content-encoding", ""), PRO.response_bytes)
    body.feed(raw)
    body.finish()
    return InboundResponse(
        status=int(response.get("status", 200)),
        headers=tuple(headers.items()),
        body=body.content,
        size_bytes=len(raw),
        cut=body.is_cut,
    )


JUDGES: Mapping[str, Callable[[Line], Awaitable[Verdict]]] = {
    "address": check_address,
    "url": check_url,
    "leak": check_leak,
    "frame": check_frame,
    "call": check_call,
}
"""Each kind of line with its judge; a judge raises KeyError, TypeError or ValueError for a line it cannot read."""
