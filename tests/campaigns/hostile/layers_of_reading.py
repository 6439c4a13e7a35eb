"""The layers between strangers' pages, files and histories and a model, each with the lines that remove it."""

from __future__ import annotations

from tests.campaigns.hostile.replacements import Layer, Replacement

LAYERS_OF_READING = (
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
)
