"""Refusals: every reason not to carry a call, each with its reason for the log and its sentence for the model.

The sentences are the specification's (S0-131 … S0-141). Nothing of the raw input stands in one but a canonical host name,
or a name that matched its own grammar.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

LEAK = "credential_leak"
"""The reason of `leaked`: `credential` then says which."""

_TOOL = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
_CREDENTIAL = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why a call was not carried. `blocked` is false where the request may have left and simply failed."""

    reason: str
    message: str
    blocked: bool = True
    credential: str | None = None


class Refused(Exception):  # noqa: N818 - reads as the fact it states
    """A call ends here with a sentence for the model."""

    def __init__(self, refusal: Refusal) -> None:
        self.refusal = refusal
        super().__init__(refusal.message)


def _named(grammar: re.Pattern[str], name: str) -> str:
    return name if grammar.fullmatch(name) else "?"


def rate_limited_execution(calls: int) -> Refusal:
    return Refusal(reason="rate_limited", message=f"Error: Execution limit reached ({calls} API calls)")


def rate_limited_minute(calls: int) -> Refusal:
    return Refusal(reason="rate_limited", message=f"Error: Rate limit reached ({calls} API calls per minute)")


def unknown_tool(name: str) -> Refusal:
    return Refusal(reason="unknown_tool", message=f"Error: unknown tool '{_named(_TOOL, name)}'")


def tool_not_enabled(name: str) -> Refusal:
    return Refusal(reason="tool_not_enabled", message=f"Error: tool '{_named(_TOOL, name)}' is not enabled for this task")


def tool_disabled(name: str, reason: str) -> Refusal:
    """`reason` is ours: it was written when the tool was stored."""
    return Refusal(reason="tool_disabled", message=f"Error: tool '{_named(_TOOL, name)}' is disabled: {reason}")


def tool_changed(name: str) -> Refusal:
    message = f"Error: tool '{_named(_TOOL, name)}' was changed or removed since this execution began"
    return Refusal(reason="tool_changed", message=message)


def missing_credential() -> Refusal:
    return Refusal(reason="missing_credential", message="Error: 'credential' field required for api_call")


def missing_argument(tool: str, field: str) -> Refusal:
    return Refusal(reason="invalid_arguments", message=f"Error: '{field}' field required for {tool}")


def wrong_argument(tool: str, field: str, expected: str) -> Refusal:
    return Refusal(reason="invalid_arguments", message=f"Error: '{field}' for {tool} must be {expected}")


def method_not_allowed(tool: str, method: str, allowed: Iterable[str]) -> Refusal:
    shown = method if re.fullmatch(r"[A-Za-z]{1,8}", method) else "?"
    message = f"Error: method '{shown}' not allowed for {tool}. Allowed: [{', '.join(allowed)}]"
    return Refusal(reason="method_not_allowed", message=message)


def not_https() -> Refusal:
    return Refusal(reason="url_blocked", message="Error: URL blocked -- only https:// URLs are allowed")


def malformed_url(rule: str) -> Refusal:
    return Refusal(reason="url_blocked", message=f"Error: URL blocked -- {rule}")


def not_approved(host: str, approved: Iterable[str]) -> Refusal:
    message = (
        f"Error: URL blocked -- Domain {host} not in any approved integration for this task. Approved: [{', '.join(approved)}]"
    )
    return Refusal(reason="url_blocked", message=message)


def webhook_not_enabled() -> Refusal:
    return Refusal(reason="webhook_not_enabled", message="Error: webhook integration not enabled for this task")


def webhook_not_registered() -> Refusal:
    message = "Error: webhook URL not registered for this task. Register it in your task settings."
    return Refusal(reason="webhook_not_registered", message=message)


def credential_not_found(name: str) -> Refusal:
    message = f"Error: credential '{_named(_CREDENTIAL, name)}' not found. Check your task's credential configuration."
    return Refusal(reason="credential_not_found", message=message)


def credential_not_for_host(name: str, host: str) -> Refusal:
    return Refusal(
        reason="credential_host_mismatch", message=f"Error: credential {name} is not valid for host {host}", credential=name
    )


def credential_unreadable(name: str) -> Refusal:
    message = f"Error: credential '{_named(_CREDENTIAL, name)}' could not be opened. Store it again in your task settings."
    return Refusal(reason="credential_unreadable", message=message, credential=name)


def token_not_fetched(why: str) -> Refusal:
    """The tool's own request was not sent; `why` is ours, never the token endpoint's text."""
    return Refusal(reason="token_not_fetched", message=f"Error: no token could be fetched for this tool -- {why}")


def reconnect(name: str) -> Refusal:
    message = f"Error: credential {name} has to be connected again by its owner: its service renews it no more."
    return Refusal(reason="credential_reconnect", message=message, credential=name)


def not_renewed(name: str) -> Refusal:
    message = f"Error: credential {name} has expired and could not be renewed just now. Try again later."
    return Refusal(reason="credential_not_renewed", message=message, credential=name)


def header_forbidden(rule: str) -> Refusal:
    return Refusal(reason="header_forbidden", message=f"Error: header not allowed -- {rule}")


def leaked(name: str) -> Refusal:
    return Refusal(
        reason=LEAK,
        message=f"Error: Blocked -- Credential {name} detected in outbound request. This has been logged.",
        credential=name,
    )


def not_resolved(host: str) -> Refusal:
    return Refusal(reason="dns_validation_failed", message=f"Error: DNS resolution failed or blocked for {host}")


def timed_out(seconds: float) -> Refusal:
    return Refusal(reason="timed_out", message=f"Error: request timed out ({seconds:g}s)", blocked=False)


def failed(kind: str) -> Refusal:
    """The request left, or tried to, and the other end or the network failed; `kind` is ours, never the peer's text."""
    return Refusal(reason="request_failed", message=f"Error: request failed: {kind}", blocked=False)


def internal_fault() -> Refusal:
    """A fault of ours before anything was sent."""
    return Refusal(reason="internal_fault", message="Error: request failed: an internal fault")


def in_doubt() -> Refusal:
    message = "Error: outcome unknown -- the request may have been carried out. It was not repeated."
    return Refusal(reason="in_doubt", message=message, blocked=False)


def halted() -> Refusal:
    """The kill switch, while a call was under way that leaves nothing changed at the other end."""
    return Refusal(reason="halted", message="Error: the execution was stopped while this call was under way", blocked=False)


def repeated_call() -> Refusal:
    message = "Error: the same call was made twice already. Change it, or go on without it."
    return Refusal(reason="repeated_call", message=message)


def cancelled() -> Refusal:
    return Refusal(reason="cancelled", message="Error: the execution ended before this call was sent")


def out_of_credits() -> Refusal:
    return Refusal(reason="credits_exhausted", message="Error: credit limit of this execution reached")
