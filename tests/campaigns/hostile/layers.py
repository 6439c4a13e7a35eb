"""The layers of defence by name, each with the lines that remove all of it."""

from __future__ import annotations

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

_QUADRATIC = Replacement(file="framing/escapes.py", old=r'r"(?<!\\)\\++(?:u\{', new=r'r"\\+(?:u\{')
"""Tried from each of the backslashes of a run, as a pattern of ours was."""

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
    Layer(
        name="identity between functions",
        replacements=(
            Replacement(
                file="serving/entry.py",
                old='    audience = known.function_urls.get(known.function, "")\n',
                new='    return "anyone"\n    audience = known.function_urls.get(known.function, "")\n',
            ),
        ),
    ),
    Layer(
        name="ownership in the API",
        replacements=(
            Replacement(
                file="serving/api/rights.py",
                old="return (item.owner, item.workspace) == (self.owner.id, self.workspace)",
                new="return True",
            ),
        ),
    ),
    Layer(
        name="rights of members and scopes of keys",
        replacements=(
            Replacement(file="serving/api/rights.py", old="    if right in caller.rights:", new="    if True:"),
            Replacement(
                file="serving/api/rights.py", old="    if RouteNeed.OWNER in needs and not", new="    if False and not"
            ),
        ),
    ),
    Layer(
        name="tools that agent and workspace allow",
        replacements=(
            Replacement(
                file="loop/start.py",
                old="ToolLimits(agent=agent.allowed_tools, workspace=workspace.allowed_tools, plan=plan.tools)",
                new="ToolLimits(agent=(), workspace=(), plan=plan.tools)",
            ),
        ),
    ),
    Layer(
        name="arguments that an agent fixes",
        replacements=(
            Replacement(
                file="domain/tools/settings.py",
                old="return {**arguments, **self.arguments}",
                new="return {**self.arguments, **arguments}",
            ),
        ),
    ),
    Layer(
        name="counts of an agent's calls",
        replacements=(
            Replacement(file="loop/limits.py", old="if most is not None and self.counts[name] >= most:", new="if most == 0:"),
        ),
    ),
    Layer(
        name="conversations of their own agent",
        replacements=(
            Replacement(
                file="domain/credits/conversation.py",
                old='return f"{execution.agent}.{execution.conversation}"',
                new="return execution.conversation",
            ),
        ),
    ),
    Layer(
        name="path values within their segment",
        replacements=(
            Replacement(file="declared/urls.py", old='quote(value, safe="") for value in values', new="values"),
            Replacement(
                file="declared/urls.py",
                old="    if not values or any(not value or",
                new="    if False and any(not value or",
            ),
            Replacement(file="declared/urls.py", old="        if name is not None and _climbs(part):", new="        if False:"),
        ),
    ),
    Layer(
        name="values of declared headers",
        replacements=(
            Replacement(file="declared/request.py", old="        if not headers.is_sendable(value):", new="        if False:"),
            Replacement(file="egress/headers.py", old="        if not _VALUE.fullmatch(str(value)):", new="        if False:"),
        ),
        behind="the HTTP library, which writes no line break and nothing but ASCII into a header",
    ),
    Layer(
        name="names of an object's fields",
        replacements=(
            Replacement(file="declared/request.py", old="        if name != origin and (", new="        if False and ("),
        ),
    ),
    Layer(
        name="neutralizing of imported words",
        replacements=(
            Replacement(
                file="tools/declared/importing.py", old="    parameters = {\n", new="    return tool\n    parameters = {\n"
            ),
            Replacement(file="tools/declared/importing.py", old="neutralize(imported.cluster)[", new="imported.cluster["),
        ),
    ),
    Layer(
        name="approval of hosts at import",
        replacements=(
            Replacement(file="openapi/servers.py", old="            _approve(resolved.host, context.source.domains)\n", new=""),
        ),
    ),
    Layer(
        name="declarations as they were",
        replacements=(
            Replacement(
                file="tools/declared/calling.py", old="    if known and tool.fingerprint != fingerprint:", new="    if False:"
            ),
        ),
    ),
    Layer(
        name="tools that are switched off",
        replacements=(Replacement(file="tools/declared/calling.py", old="    if not tool.enabled:", new="    if False:"),),
    ),
    Layer(
        name="caps of an owner",
        replacements=(
            Replacement(file="domain/executions/occupancy.py", old=" and len(self.queued) >= most:", new=" and False:"),
            Replacement(file="domain/owners/stream.py", old="None if len(others) >= most else ", new=""),
            Replacement(file="serving/api/limits.py", old="    if turns.count(owner) >= most:", new="    if False:"),
            Replacement(
                file="gcp/executions.py",
                old="            raise TaskDisabledError(DISABLED)\n        occ",
                new="            pass\n        occ",
            ),
        ),
    ),
    Layer(
        name="linear patterns",
        replacements=(_QUADRATIC,),
        behind="the workers, each of which is ended at its budget",
    ),
    Layer(
        name="linear patterns, and reading in workers",
        replacements=(
            _QUADRATIC,
            Replacement(
                file="offload/__init__.py",
                old="    return await pool.run(owner, budget, function, *arguments, **named)",
                new="    return function(*arguments, **named)",
            ),
        ),
    ),
    Layer(
        name="origin of URLs",
        replacements=(
            Replacement(
                file="domain/urls/origin.py",
                old="        return UrlOrigin.SPENT if is_shown else UrlOrigin.UNSEEN",
                new="        return UrlOrigin.WRITTEN",
            ),
        ),
    ),
    Layer(
        name="redirects of pages",
        replacements=(
            Replacement(
                file="egress/public.py",
                old='    if url.scheme == "https" and target.scheme != "https":',
                new="    if False:",
            ),
            Replacement(
                file="egress/public.py",
                old="    if request.admits is not None and not request.admits(target.host):",
                new="    if False:",
            ),
        ),
    ),
    Layer(
        name="robots.txt",
        replacements=(
            Replacement(file="egress/public.py", old="            if robots and not (", new="            if False and not ("),
        ),
    ),
    Layer(
        name="hidden text of pages",
        replacements=(
            Replacement(
                file="pages/visibility.py", old="    sheet = read_sheets(", new="    return True\n    sheet = read_sheets("
            ),
        ),
    ),
    Layer(
        name="redaction of what functions without keys answer",
        replacements=(
            Replacement(
                file="tools/keyless/calling.py",
                old="redacted = await self.scanner.scan(execution, [*texts, *written])",
                new="redacted = [*texts, *written]",
            ),
        ),
    ),
    Layer(
        name="refusal of arguments with a gap",
        replacements=(
            Replacement(
                file="tools/keyless/calling.py",
                old="        if ticket.redacted and tool.policy.network is not NetworkPolicy.NONE:",
                new="        if False:",
            ),
            Replacement(file="tools/files/hook.py", old="        if ticket.redacted:", new="        if False:"),
        ),
    ),
    Layer(
        name="files behind their workspace",
        replacements=(
            Replacement(
                file="domain/files/keys.py",
                old='    return f"workspaces/{workspace}/"',
                new='    return "workspaces/"',
            ),
        ),
    ),
    Layer(
        name="cleaning of files' keys",
        replacements=(
            Replacement(
                file="domain/files/keys.py",
                old="    if len(text) > TEXT_MAX:\n        raise _too_long()\n    # NFC",
                new="    if text:\n        return text\n    # NFC",
            ),
        ),
    ),
    Layer(
        name="room for files",
        replacements=(
            Replacement(
                file="domain/files/quota.py",
                old="    if size_bytes and quota.used_bytes + quota.reserved_bytes + size_bytes > limit_bytes:",
                new="    if False:",
            ),
        ),
    ),
    Layer(
        name="authentication of links",
        replacements=(
            Replacement(
                file="domain/files/links.py",
                old="not hmac.compare_digest(content[:_MAC_BYTES], _authenticate(workspace, key, place, api_key))",
                new="False",
            ),
        ),
    ),
    Layer(
        name="headers of downloads",
        replacements=(
            Replacement(file="serving/api/downloads.py", old="        **SAFE_HEADERS,\n", new=""),
            Replacement(
                file="domain/files/disposition.py", old='    plain = _UNSAFE.sub("_", name)\n', new="    plain = name\n"
            ),
        ),
    ),
    Layer(
        name="windows of what the model writes",
        replacements=(
            Replacement(
                file="loop/live.py",
                old="self._is_scanned = execution.policy is None or holds_secrets(execution.policy)",
                new="self._is_scanned = False",
            ),
        ),
    ),
    Layer(
        name="held back ends of windows",
        replacements=(
            Replacement(
                file="domain/conversations/window.py",
                old="room = max(0, sum(map(len, texts)) - held_back)",
                new="room = sum(map(len, texts))",
            ),
        ),
    ),
    Layer(
        name="scan of histories",
        replacements=(
            Replacement(
                file="loop/history.py",
                old="scanned = iter(await deps.scanner.scan(execution, blocks))",
                new="scanned = iter(blocks)",
            ),
        ),
    ),
    Layer(
        name="frames in histories",
        replacements=(
            Replacement(
                file="domain/conversations/turns.py",
                old='build_tool_result(call["id"], by_call[call["id"]]["content"],',
                new=(
                    'build_tool_result(call["id"], "".join(by_call[call["id"]]["content"][start:end]'
                    ' for _, start, end in by_call[call["id"]]["parts"]),'
                ),
            ),
        ),
    ),
    Layer(
        name="conversations of their own workspace",
        replacements=(
            Replacement(
                file="gcp/conversations.py",
                old=" or (stored.owner, stored.workspace) != (owner, workspace):",
                new=":",
            ),
        ),
    ),
    Layer(
        name="results of their own conversation",
        replacements=(
            Replacement(
                file="tools/recalling/read_result.py",
                old='        result = await self._find(execution, numbers["message"], numbers["call"])',
                new=(
                    "        from dataclasses import replace\n\n"
                    '        chosen = arguments.get("conversation", execution.conversation)\n'
                    "        execution = replace(execution, conversation=chosen, answer=-1)\n"
                    '        result = await self._find(execution, numbers["message"], numbers["call"])'
                ),
            ),
        ),
    ),
    Layer(
        name="redaction of results that are read again",
        replacements=(
            Replacement(
                file="tools/recalling/read_result.py",
                old="write_page(await self._redact(execution, read_text(result)), **numbers)",
                new="write_page(read_text(result), **numbers)",
            ),
        ),
        behind="the redaction of answers, before a result is stored; this one is for credentials that the task got since",
    ),
    Layer(
        name="flow policy",
        replacements=(
            Replacement(
                file="domain/flow/verdict.py",
                old="return self.reason in (FlowReason.TAINTED, FlowReason.UNDECIDED, FlowReason.TOO_MANY)",
                new="return False",
            ),
        ),
    ),
    Layer(
        name="the hash of what is approved",
        replacements=(
            Replacement(
                file="tools/approving/authority.py",
                old=(
                    "        and decision.digest == digest\n"
                    "        and decision.approval == derive_approval_id(place.execution, decision.seq, digest)\n"
                ),
                new="",
            ),
        ),
    ),
    Layer(
        name="single use of approvals",
        replacements=(
            Replacement(
                file="tools/approving/authority.py",
                old="        and (decision.sends_max > 1 or decision.seq == seq)\n",
                new="",
            ),
            Replacement(file="domain/approvals/approval.py", old="    if not approval.has_room(seq):\n", new="    if False:\n"),
            Replacement(
                file="tools/approving/confirming.py",
                old="        if seq not in used.sent or len(set(used.sent)) > decision.sends_max:\n",
                new="        if False:\n",
            ),
            Replacement(
                file="domain/approvals/standing.py",
                old="    if standing.revoked or len(standing.used) >= standing.uses_max:\n",
                new="    if standing.revoked:\n",
            ),
            Replacement(
                file="tools/approving/confirming.py",
                old=" and len(set(used.used)) <= standing.uses_max:",
                new=":",
            ),
        ),
    ),
    Layer(
        name="signatures of decisions",
        replacements=(
            Replacement(
                file="vault/decisions.py",
                old="        public = self._keys.get(key)\n",
                new="        return True\n        public = self._keys.get(key)\n",
            ),
        ),
    ),
    Layer(
        name="labels of what others wrote",
        replacements=(
            Replacement(
                file="domain/labels/label.py",
                old="    return max(parts, key=_INTEGRITY.index, default=Integrity.TRUSTED)",
                new="    return Integrity.TRUSTED",
            ),
        ),
    ),
)
