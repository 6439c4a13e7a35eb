"""The layers that keep owners, workspaces, agents and declared tools apart, each with the lines that remove it."""

from __future__ import annotations

from tests.campaigns.hostile.replacements import Layer, Replacement

_QUADRATIC = Replacement(file="framing/escapes.py", old=r'r"(?<!\\)\\++(?:u\{', new=r'r"\\+(?:u\{')
"""Tried from each of the backslashes of a run, as a pattern of ours was."""

LAYERS_OF_OWNERS = (
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
)
