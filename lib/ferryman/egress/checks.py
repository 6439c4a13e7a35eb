"""The checks of a call as pure functions of plain values: all that reads untrusted text.

They run in worker processes, and on the event loop with `steps`: then they raise `StepsSpentError` for a text that takes more.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from ferryman import offload
from ferryman.catalog.tools import find_tool
from ferryman.domain.approvals.form import HttpForm
from ferryman.domain.calls import refusal
from ferryman.domain.calls.call import RESULT_CHARACTERS_MAX, ToolCallResult, limit_result
from ferryman.domain.calls.refusal import CallRefusedError, Refusal
from ferryman.domain.calls.suggestion import find_suggestion
from ferryman.domain.credentials.credential import NAME, Credential
from ferryman.domain.executions.allowlist import check_url
from ferryman.domain.executions.message import Block
from ferryman.domain.executions.policy import ExecutionPolicy
from ferryman.domain.http.host import is_covered
from ferryman.domain.http.network import NetworkPolicy
from ferryman.domain.http.request import InboundResponse, OutboundRequest, PreparedRequest
from ferryman.domain.http.status import get_code
from ferryman.domain.tools.tool import Tool
from ferryman.egress import headers, leaks, sanitize
from ferryman.egress.form import CheckedRequest, list_texts, write_form
from ferryman.egress.inject import list_request_placeholders
from ferryman.egress.leaks import SecretPieces, SecretScanner, ShortBudget
from ferryman.egress.scanner_cache import ScannerCache
from ferryman.egress.text import decode_text
from ferryman.framing.body import FramedText
from ferryman.framing.windows import SCANNED_MAX
from ferryman.ports.gate import ScannedText

Credentials = Mapping[str, Credential]  # all open credentials of a task, by name
scanners = offload.forget_between_owners(ScannerCache())


def prepare_request(
    outbound: OutboundRequest, credentials: Credentials, policy: ExecutionPolicy, *, steps: int | None = None
) -> tuple[PreparedRequest, str, SecretPieces]:
    """Return the request as it would be sent, its redacted URL, and the pieces of credentials in it.

    Everything that is checked before the name is resolved, in its order. Raise `CallRefusedError` with the first that fails.
    """
    scanner = _get_scanner(credentials.values(), steps)
    request, pieces = _check(outbound, credentials, policy, scanner)
    return request.build(outbound, credentials), leaks.redact_text(outbound.url, scanner), pieces


def build_form(
    outbound: OutboundRequest,
    credentials: Credentials,
    policy: ExecutionPolicy,
    login: Collection[str],
    *,
    steps: int | None = None,
) -> HttpForm:
    """Return the form of the request that `prepare_request` returns for the same arguments, with every secret named.

    `login` names the credentials that a token in it was exchanged for. Raise `CallRefusedError`, also for a form that holds a
    credential after all.
    """
    scanner = _get_scanner(credentials.values(), steps)
    request, _ = _check(outbound, credentials, policy, scanner)
    form = write_form(outbound, request, credentials, login)
    if any(leaks.redact_text(text, scanner) != text for text in list_texts(form)):
        raise CallRefusedError(refusal.LEAK_IN_ARGUMENTS)
    return form


def _check(
    outbound: OutboundRequest, credentials: Credentials, policy: ExecutionPolicy, scanner: SecretScanner
) -> tuple[CheckedRequest, SecretPieces]:
    tool = find_tool(outbound.tool)
    named = _find_named(outbound, tool)
    url = check_url(tool.policy.network, outbound.url, policy)
    # fetched tokens and former values are scanned for, under names that no credential can have
    nameable = credentials if named is not None and NAME.fullmatch(named) else {}
    credential = find_bound_credential(named, url.host, nameable) if named is not None else None
    for name in list_request_placeholders(outbound):
        find_bound_credential(name, url.host, credentials)
    pieces = scan_request(outbound, scanner)
    headers.reject_fixed_header_conflicts(outbound.fixed_headers)
    service_headers = () if tool.policy.network is NetworkPolicy.WEBHOOK_LIST else policy.headers_of(url.host)
    checked = headers.check_headers(outbound.headers, credentials.values(), service_headers)
    return CheckedRequest(url=url, headers=tuple(checked), credential=credential), pieces


def build_result(
    outbound: OutboundRequest, credentials: Credentials, inbound: InboundResponse, nonce: str, *, steps: int | None = None
) -> ToolCallResult:
    """Return the response as the model may read it: redacted, framed, cut."""
    scanner = _get_scanner(credentials.values(), steps)
    most = limit_result(find_tool(outbound.tool).policy)
    rendered = sanitize.render_response(inbound, scanner, nonce=nonce, accepted=outbound.ok, most=most)
    code = None if rendered.ok else get_code(inbound.status)
    return ToolCallResult(
        tool=outbound.tool,
        content=rendered.content,
        url=leaks.redact_text(outbound.url, scanner),
        method=outbound.method.value,
        response_status=inbound.status,
        response_size_bytes=inbound.size_bytes,
        ok=rendered.ok,
        code=code,
        suggestion=None if code is None else find_suggestion(code, inbound.status),
        parts=(rendered.part,),
    )


def build_refusal(
    outbound: OutboundRequest, credentials: Credentials, reason: Refusal, *, steps: int | None = None
) -> ToolCallResult:
    """Return why the call was refused or failed, as the model may read it."""
    scanner = _get_scanner(credentials.values(), steps)
    return ToolCallResult.from_refusal(
        outbound.tool,
        redact_refusal(reason, scanner),
        url=leaks.redact_text(outbound.url, scanner),
        method=outbound.method.value,
    )


def redact_text(credentials: Sequence[Credential], text: str, *, steps: int | None = None) -> str:
    """Return `text` with every credential in it replaced by its name."""
    return leaks.redact_text(text, _get_scanner(credentials, steps))


def read_long(inbound: InboundResponse) -> ScannedText:
    """Return as much of a response's text as is scanned; nothing of it is redacted yet."""
    text = decode_text(inbound, SCANNED_MAX + 1)
    if text is None:
        return ScannedText(None)
    return ScannedText(text[:SCANNED_MAX], is_cut=len(text) > SCANNED_MAX, is_part=inbound.cut)


def redact_window(credentials: Credentials, window: str) -> str:
    """Return a part of a response's text, at most `CHARACTERS_READ`, as `build_result` redacts the head."""
    return sanitize.redact_read(window, _get_scanner(credentials.values()))


def redact_document(credentials: Sequence[Credential], body: bytes) -> bytes:
    """Return a document in UTF-8 with every credential in it replaced by its name."""
    return leaks.redact_text(body.decode("utf-8-sig", "replace"), _get_scanner(credentials)).encode()


def scan_output(credentials: Sequence[Credential], content: Sequence[Block], *, steps: int | None = None) -> list[Block]:
    """Return the blocks of a model's turn redacted, as they may be stored."""
    return list(leaks.redact_blocks(content, _get_scanner(credentials, steps)))


def frame_text(credentials: Sequence[Credential], text: str, nonce: str, most: int = RESULT_CHARACTERS_MAX) -> FramedText:
    """Return a text of the system that quotes others, redacted, cut to `most` characters and framed for the model."""
    return sanitize.frame_text(text, _get_scanner(credentials), nonce=nonce, most=most)


def scan_request(outbound: OutboundRequest, scanner: SecretScanner) -> SecretPieces:
    """Return the pieces of credentials in what the model wrote. Raise `CallRefusedError` if it holds a whole one."""
    finding, pieces = scanner.scan_request(outbound)
    if finding is None:
        return pieces
    if finding.name is None:
        raise CallRefusedError(
            refusal.refuse_wrong_argument(outbound.tool, "arguments", "plain enough to be checked for credentials")
        )
    raise CallRefusedError(refusal.refuse_leak(finding.name))


def redact_refusal(reason: Refusal, scanner: SecretScanner) -> Refusal:
    """Return `reason` with a redacted message: before the scan, a host or a credential it names may be a secret in disguise."""
    return replace(reason, message=leaks.redact_text(reason.message, scanner))


def _find_named(outbound: OutboundRequest, tool: Tool) -> str | None:
    """Return the credential that an authenticated tool names; other tools send none, whatever they name."""
    if not tool.names_credential:
        return None
    if not outbound.credential:
        raise CallRefusedError(refusal.MISSING_CREDENTIAL)
    return outbound.credential


def _get_scanner(credentials: Collection[Credential], steps: int | None = None) -> SecretScanner:
    scanner = scanners.get(credentials)
    return scanner if steps is None else scanner.within(ShortBudget(steps))


def find_bound_credential(name: str, host: str, credentials: Mapping[str, Credential]) -> Credential:
    """Return the task's credential `name`. Raise `CallRefusedError` unless it exists and may be sent to `host` (binding)."""
    credential = credentials.get(name)
    if credential is None:
        raise CallRefusedError(refusal.refuse_unknown_credential(name))
    if not is_covered(credential.label.hosts, host):
        raise CallRefusedError(refusal.refuse_credential_for_host(name, host))
    return credential
