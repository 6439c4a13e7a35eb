"""Layers: the walls of the house by name, each with the lines that take out all of it."""

from __future__ import annotations

from tests.hostile.cuts import Cut, Layer

_LOOSE = """    from urllib.parse import urlsplit

    parts = urlsplit(raw.replace("\\\\", "/"))
    return URL(host=(parts.hostname or "").lower(), path=parts.path or "/", query=parts.query or None)
    if len(raw) > CHARACTERS_MAX:"""

_OF_TOKENS = (
    Cut(file="tools/tokens/asking.py", old="        if not covered(credential.label.hosts, host):", new="        if False:"),
    Cut(file="tools/tokens/calls.py", old="            if not covered(each.label.hosts, host):", new="            if False:"),
)
"""Before a token is asked for, and before it is used, it is seen to that its credentials may go there."""

LAYERS = (
    Layer(
        name="URL grammar",
        cuts=(Cut(file="domain/url.py", old="    if len(raw) > CHARACTERS_MAX:", new=_LOOSE),),
        behind="the list of approved domains, on the very host that is dialled",
    ),
    Layer(
        name="approved domains",
        cuts=(Cut(file="domain/remit.py", old="return covered(self.domains, host)", new="return True"),),
    ),
    Layer(
        name="URL grammar and approved domains",
        cuts=(
            Cut(file="domain/url.py", old="    if len(raw) > CHARACTERS_MAX:", new=_LOOSE),
            Cut(file="domain/remit.py", old="return covered(self.domains, host)", new="return True"),
        ),
    ),
    Layer(
        name="registered webhooks",
        cuts=(Cut(file="egress/allow.py", old="        if not registered(url, remit):", new="        if False:"),),
    ),
    Layer(
        name="credentials bound to hosts",
        cuts=(
            Cut(file="egress/binding.py", old="    if not covered(credential.label.hosts, host):", new="    if False:"),
            *_OF_TOKENS,
        ),
    ),
    Layer(
        name="holes bound to hosts",
        cuts=(
            Cut(
                file="egress/gate.py",
                old="        for name in holes.names(outbound):\n            bound(name, url.host, credentials)\n",
                new="",
            ),
            *_OF_TOKENS,
        ),
    ),
    Layer(
        name="address check",
        cuts=(Cut(file="egress/pin.py", old=" or not all(public(each) for each in answers)", new=""),),
    ),
    Layer(
        name="certificates",
        cuts=(
            Cut(
                file="egress/tls.py",
                old="    made.minimum_version",
                new="    made.check_hostname, made.verify_mode = False, ssl.CERT_NONE\n    made.minimum_version",
            ),
        ),
    ),
    Layer(
        name="leak scan of requests",
        cuts=(Cut(file="egress/gate.py", old="        scan(outbound, scanner)\n", new=""),),
    ),
    Layer(
        name="scan of what the model says",
        cuts=(
            Cut(
                file="tools/carry.py",
                old="    return list(house.said(credentials.values(), content))",
                new="    return list(content)",
            ),
        ),
    ),
    Layer(
        name="redaction of answers",
        cuts=(
            Cut(
                file="egress/sanitize.py",
                old="text = scanner.redact(read)",
                new="text = read",
            ),
            Cut(
                file="tools/custom/documents.py",
                old="await asyncio.to_thread(self.redact, errand.credentials.values(), text)",
                new="text",
            ),
        ),
    ),
    Layer(
        name="redaction of fetched tokens",
        cuts=(
            Cut(
                file="egress/gate.py",
                old="            crossing.scanner = Scanner(credentials.values())",
                new="            crossing.scanner = Scanner(each for name, each in credentials.items() if name.isupper())",
            ),
        ),
    ),
    Layer(
        name="redaction of refusals",
        cuts=(
            Cut(
                file="egress/gate.py",
                old="outbound.tool, spoken(reason, scanner), url=scanner.redact(outbound.url)",
                new="outbound.tool, reason, url=outbound.url",
            ),
        ),
    ),
    Layer(
        name="unseen characters",
        cuts=(
            Cut(
                file="egress/sanitize.py",
                old="found.append(visible(piece))",
                new="found.append(piece)",
            ),
        ),
    ),
    Layer(
        name="framing",
        cuts=(
            Cut(
                file="egress/frame.py",
                old="    for _ in range(ROUNDS):\n        bare = normalised(body)",
                new="    return body\n    for _ in range(ROUNDS):\n        bare = normalised(body)",
            ),
        ),
    ),
    Layer(
        name="headers",
        cuts=(
            Cut(
                file="egress/headers.py",
                old="    reserved = {spelling(name) for name in injected_names(credentials)}",
                new="    return tuple((name.lower(), str(each)) for name, each in headers.items())\n    reserved = set[str]()",
            ),
            Cut(file="egress/gate.py", old="        headers.own(outbound.fixed_headers)\n", new=""),
        ),
    ),
    Layer(
        name="the credential's parameter alone",
        cuts=(Cut(file="egress/inject.py", old="        if name.lower() in _names(query):", new="        if False:"),),
    ),
    Layer(
        name="argument schemas",
        cuts=(
            Cut(
                file="tools/arguments.py",
                old="    if _depth_exceeds(arguments, DEPTH_MAX):",
                new="    return\n    if _depth_exceeds(arguments, DEPTH_MAX):",
            ),
            Cut(
                file="declared/arguments.py",
                old="sorted(faults(tool.schema, said), key=_rank)",
                new="[]",
            ),
        ),
    ),
    Layer(
        name="enabled tools",
        cuts=(
            Cut(file="tools/registry.py", old="if registered is None and name in enabled:", new="if registered is None:"),
            Cut(file="tools/registry.py", old="        if name not in enabled:", new="        if False:"),
            Cut(file="tools/carry.py", old="    if ticket.tool not in remit.enabled:", new="    if False:"),
        ),
    ),
    Layer(
        name="no redirects",
        cuts=(Cut(file="egress/send.py", old="follow_redirects=False", new="follow_redirects=True"),),
    ),
    Layer(
        name="one deadline for all of a call",
        cuts=(
            Cut(
                file="egress/gate.py",
                old="async with asyncio.timeout(within_s):",
                new="async with asyncio.timeout(None):",
            ),
        ),
    ),
    Layer(
        name="call limits",
        cuts=(
            Cut(file="domain/rate.py", old="        if self.calls >= plan.calls_per_execution:", new="        if False:"),
            Cut(file="domain/rate.py", old="        if after.window_calls > plan.calls_per_minute:", new="        if False:"),
        ),
    ),
    Layer(
        name="credit limit",
        cuts=(
            Cut(
                file="billing/prices.py",
                old="        return max(0, int(left * _MILLION / self.output)) if self.output else 2**31",
                new="        return 2**31",
            ),
        ),
    ),
    Layer(
        name="identity between functions",
        cuts=(
            Cut(
                file="serving/entry.py",
                old='    audience = known.function_urls.get(known.function, "")\n',
                new='    return "anyone"\n    audience = known.function_urls.get(known.function, "")\n',
            ),
        ),
    ),
    Layer(
        name="ownership in the API",
        cuts=(
            Cut(file="serving/api/asking.py", old=" or task.owner != owner.id", new=""),
            Cut(file="serving/api/asking.py", old=" or execution.owner != owner.id", new=""),
        ),
    ),
    Layer(
        name="path values within their segment",
        cuts=(
            Cut(file="declared/urls.py", old='quote(value, safe="") for value in values', new="values"),
            Cut(
                file="declared/urls.py",
                old="    if not values or any(not value or",
                new="    if False and any(not value or",
            ),
            Cut(file="declared/urls.py", old="        if name is not None and _climbs(said):", new="        if False:"),
        ),
    ),
    Layer(
        name="values of declared headers",
        cuts=(
            Cut(file="declared/request.py", old="        if not headers.sendable(value):", new="        if False:"),
            Cut(file="egress/headers.py", old="        if not _VALUE.fullmatch(str(value)):", new="        if False:"),
        ),
        behind="the HTTP library, which writes no line break and nothing but ASCII into a header",
    ),
    Layer(
        name="names of an object's fields",
        cuts=(Cut(file="declared/request.py", old="        if name != origin and (", new="        if False and ("),),
    ),
    Layer(
        name="taming of imported words",
        cuts=(
            Cut(file="tools/custom/importing.py", old="    parameters = {\n", new="    return tool\n    parameters = {\n"),
            Cut(file="tools/custom/importing.py", old="tame(found.cluster)[", new="found.cluster["),
        ),
    ),
    Layer(
        name="approval of hosts at import",
        cuts=(Cut(file="openapi/servers.py", old="            _approve(found.host, domains)\n", new=""),),
    ),
    Layer(
        name="declarations as they were",
        cuts=(Cut(file="tools/custom/calling.py", old="    if known and tool.fingerprint != frozen:", new="    if False:"),),
    ),
    Layer(
        name="tools that are switched off",
        cuts=(Cut(file="tools/custom/calling.py", old="    if not tool.enabled:", new="    if False:"),),
    ),
)
