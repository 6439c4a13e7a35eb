"""The layers of defence by name, each with the lines that remove all of it."""

from __future__ import annotations

from tests.campaigns.hostile.layers_of_approvals import LAYERS_OF_APPROVALS
from tests.campaigns.hostile.layers_of_owners import LAYERS_OF_OWNERS
from tests.campaigns.hostile.layers_of_reading import LAYERS_OF_READING
from tests.campaigns.hostile.replacements import Layer, Replacement

_LOOSE = """    from urllib.parse import urlsplit

    parts = urlsplit(raw.replace("\\\\", "/"))
    return URL(host=(parts.hostname or "").lower(), path=parts.path or "/", query=parts.query or None)
    if len(raw) > CHARACTERS_MAX:"""

_OF_TOKENS = Replacement(
    file="tools/tokens/token_request.py",
    old="            if not is_covered(credential.label.hosts, host):",
    new="            if False:",
)
"""Before a token is asked for, it is checked that its credentials may go to the endpoint, and the token to the tool's host."""

LAYERS = (
    Layer(
        name="URL grammar",
        replacements=(Replacement(file="domain/http/url.py", old="    if len(raw) > CHARACTERS_MAX:", new=_LOOSE),),
        behind="the list of approved domains, on the very host that is dialled",
    ),
    Layer(
        name="names and origins on loopback",
        replacements=(
            Replacement(file="serving/entry.py", old="            if known.local:\n", new="            if False:\n"),
        ),
    ),
    Layer(
        name="approved domains",
        replacements=(
            Replacement(file="domain/executions/policy.py", old="return is_covered(self.domains, host)", new="return True"),
        ),
    ),
    Layer(
        name="URL grammar and approved domains",
        replacements=(
            Replacement(file="domain/http/url.py", old="    if len(raw) > CHARACTERS_MAX:", new=_LOOSE),
            Replacement(file="domain/executions/policy.py", old="return is_covered(self.domains, host)", new="return True"),
        ),
    ),
    Layer(
        name="registered webhooks",
        replacements=(
            Replacement(
                file="domain/executions/allowlist.py", old="        if not is_registered(url, policy):", new="        if False:"
            ),
        ),
    ),
    Layer(
        name="credentials bound to hosts",
        replacements=(
            Replacement(
                file="egress/checks.py", old="    if not is_covered(credential.label.hosts, host):", new="    if False:"
            ),
            _OF_TOKENS,
        ),
    ),
    Layer(
        name="placeholders bound to hosts",
        replacements=(
            Replacement(
                file="egress/checks.py",
                old=(
                    "    for name in list_request_placeholders(outbound):\n"
                    "        find_bound_credential(name, url.host, credentials)\n"
                ),
                new="",
            ),
            _OF_TOKENS,
        ),
    ),
    Layer(
        name="address check",
        replacements=(Replacement(file="egress/pin.py", old=" or not all(is_public(address) for address in answers)", new=""),),
    ),
    Layer(
        name="certificates",
        replacements=(
            Replacement(
                file="egress/tls.py",
                old="    context.minimum_version",
                new="    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE\n    context.minimum_version",
            ),
        ),
    ),
    Layer(
        name="leak scan of requests",
        replacements=(Replacement(file="egress/checks.py", old="    if finding is None:\n", new="    if True:\n"),),
    ),
    Layer(
        name="scan of what the model says",
        replacements=(
            Replacement(
                file="tools/execute_call.py",
                old="    return list(await deps.redact_blocks(owner, credentials, content))",
                new="    return list(content)",
            ),
            Replacement(
                file="tools/execute_call.py",
                old="    clean = await deps.redact_blocks(owner, credentials, blocks)",
                new="    clean = blocks",
            ),
        ),
    ),
    Layer(
        name="redaction of answers",
        replacements=(
            Replacement(
                file="egress/sanitize.py",
                old="    text = redact_text(read, scanner, budget)\n    if",
                new="    text = read\n    if",
            ),
            Replacement(
                file="tools/declared/documents.py",
                old="await self.redact(call.execution.owner, call.credentials.values(), inbound.body)",
                new="inbound.body",
            ),
        ),
    ),
    Layer(
        name="redaction of what is kept",
        replacements=(
            Replacement(
                file="egress/checks.py",
                old="    return sanitize.redact_read(window, _get_scanner(credentials.values()))",
                new="    return window",
            ),
        ),
    ),
    Layer(
        name="redaction of fetched tokens",
        replacements=(
            Replacement(
                file="egress/checks.py",
                old="    scanner = scanners.get(credentials)\n",
                new="    scanner = scanners.get([each for each in credentials if each.name.isupper()])\n",
            ),
        ),
    ),
    Layer(
        name="redaction of refusals",
        replacements=(
            Replacement(
                file="egress/checks.py",
                old="        redact_refusal(reason, scanner),\n        url=leaks.redact_text(outbound.url, scanner),\n",
                new="        reason,\n        url=outbound.url,\n",
            ),
        ),
    ),
    Layer(
        name="unseen characters",
        replacements=(
            Replacement(
                file="egress/text.py",
                old="pieces.append(remove_invisible(piece))",
                new="pieces.append(piece)",
            ),
        ),
    ),
    Layer(
        name="framing",
        replacements=(
            Replacement(
                file="framing/frame.py",
                old="    for _ in range(ROUNDS):\n        body = marks.remove_comments(body)",
                new="    return body\n    for _ in range(ROUNDS):\n        body = marks.remove_comments(body)",
            ),
        ),
    ),
    Layer(
        name="headers of answers",
        replacements=(
            Replacement(
                file="egress/response_head.py",
                old="    if not grammar.fullmatch(_REDACTED",
                new="    return text\n    if not grammar.fullmatch(_REDACTED",
            ),
            Replacement(
                file="egress/response_head.py",
                old="    if len(location) > LOCATION_CHARACTERS_MAX",
                new="    return location\n    if len(location) > LOCATION_CHARACTERS_MAX",
            ),
        ),
    ),
    Layer(
        name="headers",
        replacements=(
            Replacement(
                file="egress/headers.py",
                old="    reserved = {normalize_header(name) for name in list_injected_headers(credentials)}",
                new="    return tuple((name.lower(), str(each)) for name, each in headers.items())\n    reserved = set[str]()",
            ),
            Replacement(
                file="egress/checks.py", old="    headers.reject_fixed_header_conflicts(outbound.fixed_headers)\n", new=""
            ),
        ),
    ),
    Layer(
        name="the credential's parameter alone",
        replacements=(
            Replacement(
                file="egress/inject.py", old="        if name.lower() in _list_parameter_names(query):", new="        if False:"
            ),
        ),
    ),
    Layer(
        name="argument schemas",
        replacements=(
            Replacement(
                file="tools/arguments.py",
                old="    check_depth(tool.name, arguments)",
                new="    return\n    check_depth(tool.name, arguments)",
            ),
            Replacement(
                file="declared/arguments.py",
                old="sorted(find_faults(schema, dict(arguments)), key=_rank)",
                new="[]",
            ),
        ),
    ),
    Layer(
        name="enabled tools",
        replacements=(
            Replacement(
                file="tools/registry.py",
                old="        if name in policy.enabled and (tool is not None or name not in TOOLS):",
                new="        if tool is not None or (name in policy.enabled and name not in TOOLS):",
            ),
            Replacement(file="tools/execute_call.py", old="    if ticket.tool not in policy.enabled:", new="    if False:"),
        ),
    ),
    Layer(
        name="one deadline for all of a call",
        replacements=(
            Replacement(
                file="egress/gate.py",
                old="async with asyncio.timeout(within_s):",
                new="async with asyncio.timeout(None):",
            ),
        ),
    ),
    Layer(
        name="call limits",
        replacements=(
            Replacement(
                file="domain/calls/rate.py", old="        if self.calls >= plan.calls_per_execution:", new="        if False:"
            ),
            Replacement(
                file="domain/calls/rate.py",
                old="        if after.window_calls > plan.calls_per_minute:",
                new="        if False:",
            ),
        ),
    ),
    Layer(
        name="credit limit",
        replacements=(
            Replacement(
                file="billing/prices.py",
                old="        return max(0, int(rest * _MILLION / self.output)) if self.output else 2**31",
                new="        return 2**31",
            ),
        ),
    ),
    *LAYERS_OF_OWNERS,
    *LAYERS_OF_READING,
    *LAYERS_OF_APPROVALS,
)
