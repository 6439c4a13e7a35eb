"""Refusals: every reason not to execute a call, each with a code for the log and a sentence for the model.

The sentences are the specification's (S0-131 … S0-141). Of the raw input, a sentence has only a canonical host name, or a name
that matched its own grammar: no other text can be injected into the prompt.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass

from ferryman.domain.calls.suggestion import find_suggestion

ERROR = "Error: "
"""The beginning of what is said of a failure. It is for the model alone: whether a call failed is in its result's `ok`."""

LEAK = "credential_leak"  # the reason of `refuse_leak`: `credential` then says which
RATE_LIMITED = "rate_limited"  # the reason where one of the plan's limits is reached
CANCELLED = "cancelled"  # the reason of a call that was not sent, because its execution ended
EDITED = "edited"  # the reason of a call whose arguments a person changed: another call was made in its place
DENIED = "denied"  # the reason of a call that a person denied
EXPIRED = "approval_expired"  # the reason of a call that nobody decided about in time
UNKNOWN_TOOL = "unknown_tool"  # the reason where there is no tool of that name
PERSON_REASONS = (EDITED, DENIED, EXPIRED)
INVALID_ARGUMENTS = "invalid_arguments"  # the reason where an argument is missing, unknown or wrong
_ARGUMENT = re.compile(r"[A-Za-z0-9_.-]{1,64}", re.ASCII)
_TOOL = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
_CREDENTIAL = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why a call was not executed. `blocked` is false where the request may have been sent, and failed.

    `as_object` is set where the tool's surface tells errors as objects.
    """

    reason: str
    message: str
    blocked: bool = True
    credential: str | None = None
    as_object: bool = False

    def render(self) -> str:
        """Return what the model reads: the sentence, or an object with `error`, `code` and `suggestion` (S3-72)."""
        if not self.as_object:
            return self.message
        suggestion = find_suggestion(self.reason)
        error = {"error": self.message.removeprefix(ERROR), "code": self.reason.upper(), "suggestion": suggestion}
        return json.dumps(error, ensure_ascii=False)


class CallRefusedError(Exception):
    """The call is not executed; the model reads the sentence of `refusal`."""

    def __init__(self, refusal: Refusal) -> None:
        self.refusal = refusal
        super().__init__(refusal.message)


def _check_name(grammar: re.Pattern[str], name: str) -> str:
    return name if grammar.fullmatch(name) else "?"


def refuse_execution_rate(calls: int) -> Refusal:
    return Refusal(reason=RATE_LIMITED, message=f"Error: Execution limit reached ({calls} API calls)")


def refuse_minute_rate(calls: int, seconds: int) -> Refusal:
    """Refuse a call whose window opens in `seconds`; the loop waits for it after a turn of nothing but such refusals."""
    window = f"The window opens in {seconds} s; a turn of such refusals alone waits for it."
    return Refusal(reason=RATE_LIMITED, message=f"Error: Rate limit reached ({calls} API calls per minute). {window}")


def refuse_unknown_tool(name: str) -> Refusal:
    return Refusal(reason=UNKNOWN_TOOL, message=f"Error: unknown tool '{_check_name(_TOOL, name)}'")


def refuse_unimplemented_tool(name: str) -> Refusal:
    """Refuse a tool that the catalog lists and nothing executes yet (S4-7)."""
    return Refusal(reason="tool_not_implemented", message=f"Error: tool '{_check_name(_TOOL, name)}' is not implemented")


def refuse_tool_not_enabled(name: str) -> Refusal:
    return Refusal(reason="tool_not_enabled", message=f"Error: tool '{_check_name(_TOOL, name)}' is not enabled for this task")


def refuse_tool_not_allowed(name: str, why: str) -> Refusal:
    """Refuse a tool that agent, workspace or plan does not allow. `why` is our own text, and names the level."""
    return Refusal(reason="tool_not_allowed", message=f"Error: tool '{_check_name(_TOOL, name)}' is not allowed: {why}")


def refuse_call_beyond(name: str, most: int) -> Refusal:
    """Refuse a call of a tool beyond the `most` that the agent's settings allow an execution."""
    message = f"Error: tool '{_check_name(_TOOL, name)}' may be called at most {most} times in an execution of this agent"
    return Refusal(reason="tool_calls_used_up", message=message)


def refuse_search(most: int) -> Refusal:
    """Refuse a search for tools beyond the `most` of an execution."""
    return Refusal(reason="search_limit", message=f"Error: an execution may search for tools at most {most} times")


def refuse_disabled_tool(name: str, reason: str) -> Refusal:
    """Refuse a disabled tool. `reason` is our own text, written when the tool was stored."""
    return Refusal(reason="tool_disabled", message=f"Error: tool '{_check_name(_TOOL, name)}' is disabled: {reason}")


def refuse_changed_tool(name: str) -> Refusal:
    message = f"Error: tool '{_check_name(_TOOL, name)}' was changed or removed since this execution began"
    return Refusal(reason="tool_changed", message=message)


def refuse_missing_argument(tool: str, field: str) -> Refusal:
    return Refusal(reason=INVALID_ARGUMENTS, message=f"Error: '{field}' field required for {tool}")


def refuse_wrong_argument(tool: str, field: str, expected: str) -> Refusal:
    return Refusal(reason=INVALID_ARGUMENTS, message=f"Error: '{field}' for {tool} must be {expected}")


def refuse_unknown_argument(tool: str, name: str, known: Iterable[str]) -> Refusal:
    """Refuse an argument that the tool does not have; `known` are those that it has."""
    message = f"Error: {tool} has no argument '{_check_name(_ARGUMENT, name)}'. It has: {', '.join(known)}"
    return Refusal(reason=INVALID_ARGUMENTS, message=message)


def refuse_any_argument(tool: str) -> Refusal:
    return Refusal(reason=INVALID_ARGUMENTS, message=f"Error: {tool} takes no arguments")


def refuse_method(tool: str, method: str, allowed: Iterable[str]) -> Refusal:
    name = method if re.fullmatch(r"[A-Za-z]{1,8}", method) else "?"
    message = f"Error: method '{name}' not allowed for {tool}. Allowed: [{', '.join(allowed)}]"
    return Refusal(reason="method_not_allowed", message=message)


def refuse_malformed_url(rule: str) -> Refusal:
    return Refusal(reason="url_blocked", message=f"Error: URL blocked -- {rule}")


def refuse_host(host: str, approved: Iterable[str]) -> Refusal:
    message = (
        f"Error: URL blocked -- Domain {host} not in any approved integration for this task. Approved: [{', '.join(approved)}]"
    )
    return Refusal(reason="url_blocked", message=message)


def refuse_redirect(rule: str) -> Refusal:
    """Refuse to follow a redirect: the request before it was sent."""
    return Refusal(reason="url_blocked", message=f"Error: URL blocked -- it redirects, and {rule}", blocked=False)


def refuse_spent_site(fetches: int) -> Refusal:
    return Refusal(
        reason="url_not_seen",
        message=(
            f"Error: URL blocked -- {fetches} pages of this site have been fetched: more only of a URL that a person wrote,"
            " or of an approved domain"
        ),
    )


def refuse_robots(host: str) -> Refusal:
    return Refusal(reason="robots_disallowed", message=f"Error: the robots.txt of {host} does not let programs fetch this page")


def refuse_unknown_credential(name: str) -> Refusal:
    message = f"Error: credential '{_check_name(_CREDENTIAL, name)}' not found. Check your task's credential configuration."
    return Refusal(reason="credential_not_found", message=message)


def refuse_credential_for_host(name: str, host: str) -> Refusal:
    return Refusal(
        reason="credential_host_mismatch", message=f"Error: credential {name} is not valid for host {host}", credential=name
    )


def refuse_unreadable_credential(name: str) -> Refusal:
    message = f"Error: credential '{_check_name(_CREDENTIAL, name)}' could not be opened. Store it again in your task settings."
    return Refusal(reason="credential_unreadable", message=message, credential=name)


def refuse_without_token(why: str) -> Refusal:
    """Refuse a call without its token: its request was not sent. `why` is our own text, never the token endpoint's."""
    return Refusal(reason="token_not_fetched", message=f"Error: no token could be fetched for this tool -- {why}")


def refuse_misplaced_pair(name: str) -> Refusal:
    message = f"Error: credential {name} is a user name and a password, which are sent in `Authorization: Basic` alone"
    return Refusal(reason="credential_misplaced", message=message, credential=name)


def refuse_until_reconnected(name: str) -> Refusal:
    message = f"Error: credential {name} has to be connected again by its owner: its service no longer renews it."
    return Refusal(reason="credential_reconnect", message=message, credential=name)


def refuse_unconnected_server(name: str) -> Refusal:
    message = f"Error: the MCP server {name} is not connected, or has to be connected again: its owner has to consent."
    return Refusal(reason="server_not_connected", message=message)


def refuse_until_renewed(name: str) -> Refusal:
    message = f"Error: credential {name} has expired and could not be renewed just now. Try again later."
    return Refusal(reason="credential_not_renewed", message=message, credential=name)


def refuse_header(rule: str) -> Refusal:
    return Refusal(reason="header_forbidden", message=f"Error: header not allowed -- {rule}")


def refuse_leak(name: str) -> Refusal:
    return Refusal(
        reason=LEAK,
        message=f"Error: Blocked -- Credential {name} detected in outbound request. This has been logged.",
        credential=name,
    )


def refuse_address(host: str) -> Refusal:
    return Refusal(reason="dns_validation_failed", message=f"Error: DNS resolution failed or blocked for {host}")


def report_timeout(seconds: float) -> Refusal:
    return Refusal(reason="timed_out", message=f"Error: request timed out ({seconds:g}s)", blocked=False)


def report_failure(kind: str) -> Refusal:
    """Report that the request may have been sent, and the host or the network failed; `kind` is our own text, never the
    peer's."""
    return Refusal(reason="request_failed", message=f"Error: request failed: {kind}", blocked=False)


def refuse_unchecked(what: str, limit: str) -> Refusal:
    """Refuse `what` (request, document, …), whose check for credentials exceeded its budget; `limit` is our name of it."""
    return Refusal(reason="over_budget", message=f"Error: the {what} could not be checked for credentials: {limit}")


def report_unchecked_answer(status: int, limit: str) -> Refusal:
    """Report that the request was sent and answered, and the check of the answer exceeded its budget."""
    message = f"Error: HTTP {status}. The answer is omitted, because it could not be checked for credentials: {limit}"
    return Refusal(reason="over_budget", message=message, blocked=False)


def refuse_file(why: str, *, full: bool) -> Refusal:
    """Refuse to write a file; `why` is our own text. `full` tells that the workspace has no room for it."""
    return Refusal(reason="files_full" if full else "rate_limited", message=f"Error: {why}")


def refuse_denied(reason: str) -> Refusal:
    """Refuse a call that a person denied. `reason` is that person's text, "" for none."""
    ending = f": {reason}" if reason else ""
    return Refusal(reason=DENIED, message=f"Error: a person who was asked about this call denied it{ending}")


def refuse_unshowable(why: str) -> Refusal:
    """Refuse a call that a person has to approve and could not read. `why` is our own text."""
    return Refusal(reason="not_approvable", message=f"Error: no person can be asked about this call -- {why}")


def refuse_reference(call: int) -> Refusal:
    """Refuse a reference to a result that there is not, or to a part that it does not have."""
    message = f"Error: call {call} of this execution has no result that can be handed on, or not the part that is referred to"
    return Refusal(reason="reference_not_found", message=message)


VALUE_NOT_FOUND = Refusal(
    reason="value_not_found", message="Error: the text that was read does not have this value", blocked=False
)
NOT_EXTRACTED = Refusal(
    reason="not_extracted", message="Error: the model that read the text gave no answer of this schema", blocked=False
)


def refuse_passing(why: str) -> Refusal:
    """Refuse to hand values on. `why` is our own text."""
    return Refusal(reason=INVALID_ARGUMENTS, message=f"Error: {why}")


APPROVAL_EXPIRED = Refusal(
    reason=EXPIRED, message="Error: not sent -- nobody decided about this call in the time that there was for it"
)
MISSING_CREDENTIAL = Refusal(reason="missing_credential", message="Error: 'credential' field required for api_call")
WRONG_SCHEME = Refusal(reason="url_blocked", message="Error: URL blocked -- only https:// URLs are allowed")
WEBHOOK_NOT_ENABLED = Refusal(reason="webhook_not_enabled", message="Error: webhook integration not enabled for this task")
WEBHOOK_NOT_REGISTERED = Refusal(
    reason="webhook_not_registered",
    message="Error: webhook URL not registered for this task. Register it in your task settings.",
)
URL_NOT_SEEN = Refusal(
    reason="url_not_seen",
    message=(
        "Error: URL blocked -- a page is fetched of a URL that is written, exactly so, in the task, in what the user wrote,"
        " or in the result of a search or of a page before; any other has to be of an approved domain"
    ),
)
LEAK_IN_ARGUMENTS = Refusal(
    reason=LEAK,
    message="Error: Blocked -- the arguments hold a credential of the task: nothing is sent or stored, with it or without it.",
)
INTERNAL_ERROR = Refusal(reason="internal_fault", message="Error: request failed: an internal fault")
"""An error of our own, before anything was sent."""
IN_DOUBT = Refusal(
    reason="in_doubt",
    message="Error: outcome unknown -- the request may have been executed. It was not repeated.",
    blocked=False,
)
HALTED = Refusal(reason="halted", message="Error: the execution was stopped while this call was under way", blocked=False)
"""The kill switch stopped a call that changes nothing at its host."""
HALTED_UNSENT = Refusal(reason="halted", message="Error: not sent -- the execution was stopped before this call was sent")
"""The kill switch stopped a call of which no byte was sent: while its host was looked up, or a connection was made."""
REPEATED_CALL = Refusal(
    reason="repeated_call", message="Error: the same call was made twice already. Change it, or go on without it."
)
NOT_TRIED = Refusal(
    reason=RATE_LIMITED, message="Error: not tried -- calls of this turn before it were refused for the same limit"
)
TOO_MANY_SUB_CALLS = Refusal(reason="too_many_calls", message="Error: a turn may not have so many calls as this one asks for")
EXECUTION_ENDED = Refusal(reason=CANCELLED, message="Error: the execution ended before this call was sent")
NO_CREDITS = Refusal(reason="credits_exhausted", message="Error: credit limit of this execution reached")
