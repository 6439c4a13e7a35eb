"""Suggestions: for each code of a failed call, what to do next, in a sentence.

They are texts of ours alone: nothing of an argument or of an answer is in one.
"""

from __future__ import annotations

from collections.abc import Mapping

FUNCTION_FAILED = "function_failed"
"""The code of a local function that raised an error."""

NOT_CONFIGURED = "not_configured"
"""The code of a call that a service of the operator's refuses until it is set up."""

_CORRECT = "Correct the arguments and call the tool again."
_ASK_OWNER = "Go on without this call, and say that the owner of the task has to change this."
_LATER = "Call the tool again later, or go on without it."
_NO_REPEAT = "Do not repeat the call: find out in another way whether it was executed."

SUGGESTIONS: Mapping[str, str] = {
    "invalid_arguments": _CORRECT,
    "bad_request": _CORRECT,
    "unprocessable_entity": _CORRECT,
    "value_not_found": "Ask for another value, or read it out of another result.",
    "not_extracted": "Ask for a simpler value, out of a smaller part of the result, or go on without it.",
    "reference_not_found": "Refer to a call by the number that its result was given, and to a part by names and indexes.",
    "method_not_allowed": "Use one of the methods that are allowed.",
    "missing_credential": "Name the credential that the call is made with.",
    "credential_not_found": "Name a credential of this task.",
    "credential_host_mismatch": "Name a credential of the service that the URL belongs to.",
    "denied": "Do not make this call again: go on without it, or do what the person who denied it says.",
    "approval_expired": "Go on without this call, and say that nobody approved it in time.",
    "not_approvable": "Make the call smaller or simpler, so that a person can read what it sends, or go on without it.",
    "credential_leak": "Take the credential out of the arguments: the executor adds it by itself.",
    "credential_unreadable": _ASK_OWNER,
    "credential_misplaced": _ASK_OWNER,
    "credential_reconnect": _ASK_OWNER,
    "server_not_connected": _ASK_OWNER,
    "server_unreachable": _LATER,
    "server_error": "Read what the server says, and correct the arguments, or go on without this call.",
    "server_answer": _NO_REPEAT,
    "server_status": _LATER,
    "tool_failed": "Read what the tool says, and correct the arguments, or go on without this call.",
    "answer_not_sent": "Go on without this call, and say that the server's question was not answered.",
    "questions_declined": "Go on without this call, and say that its server asks what nobody is asked here.",
    "work_ended": _NO_REPEAT,
    "credential_not_renewed": _LATER,
    "token_not_fetched": _LATER,
    "header_forbidden": "Leave the header out.",
    "url_blocked": "Use an https:// URL of one of the approved domains.",
    "url_not_seen": "Fetch a URL exactly as a result shows it, search for the page, or go on without it.",
    "robots_disallowed": "Go on without this page, or find another that says the same.",
    "dns_validation_failed": "Check the host name, or use another approved host.",
    "webhook_not_enabled": _ASK_OWNER,
    "webhook_not_registered": "Use one of the URLs that are registered with the task.",
    "unknown_tool": "Use one of the tools that are offered.",
    "tool_not_implemented": "Use one of the tools that are offered.",
    "tool_not_enabled": "Use one of the tools that are offered.",
    "tool_not_allowed": "Use one of the tools that are offered.",
    "tool_calls_used_up": "Finish with what is known, or use another tool.",
    "tool_disabled": _ASK_OWNER,
    "tool_changed": "Go on without this tool: its new form is offered to the next execution.",
    "rate_limited": "Finish with what is known, or call again after the limit's window.",
    "too_many_requests": "Wait as long as the answer says, and call the tool again.",
    "too_many_calls": "Ask for fewer calls in one turn.",
    "search_limit": "Go on with the tools that are offered by now.",
    "repeated_call": "Change the arguments, or go on with the results of the same calls before.",
    "credits_exhausted": "Finish with what is known: no call that costs credits is possible any more.",
    "over_budget": "Make the call smaller, or ask for a smaller answer.",
    "files_full": "Write less, or say that the owner has to delete files.",
    "timed_out": _LATER,
    "request_failed": _LATER,
    NOT_CONFIGURED: "Go on without this tool, and say that the operator of this system has to set it up.",
    "nothing_imported": "Check the URL of the document, or import fewer of its operations.",
    FUNCTION_FAILED: "Check the arguments, or go on without this tool.",
    "internal_fault": _LATER,
    "in_doubt": _NO_REPEAT,
    "halted": "Stop: the execution is being ended.",
    "cancelled": "Stop: the execution has ended.",
    "unauthorized": "Check that the credential named is the right one; its owner may have to store it again.",
    "forbidden": "Use what the credential may do, or another credential.",
    "not_found": "Check the URL and the names in it, or look for the thing in another way.",
    "conflict": "Read the present state, and call again with what fits it.",
    "unexpected_status": "Read what the answer says, and go on by that.",
}
"""By code, each in lower case."""


def find_suggestion(code: str, status: int | None = None) -> str | None:
    """Return what to do after a failure with this code, or with this HTTP status; None where there is nothing to say."""
    if code in SUGGESTIONS:
        return SUGGESTIONS[code]
    return _LATER if status is not None and status >= 500 else None
