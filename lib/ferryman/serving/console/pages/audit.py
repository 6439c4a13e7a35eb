"""The audit of an execution, to print: receipts, calls with their arguments, ledger, and whether all of it is genuine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ferryman import offload
from ferryman.serving.console.pages import executions
from ferryman.serving.console.record_audit import Audit, audit_chain
from ferryman.serving.console.routing import ConsolePage, ConsoleRequest, ConsoleRoute

PATH = f"{executions.PATH}/{{execution}}/audit"
ENTRIES_MAX = 1_000
"""How many receipts are shown, and verified; a longer chain is verified by the command alone."""

RECORD_CALLS_MAX = 200
"""Of how many calls a record is read and compared here, at most: one has a result of up to 50,000 characters."""

HERE_ENTRIES_MAX, HERE_BYTES_MAX = 50, 65_536
"""Up to this many receipts, and bytes of record, are verified in this process, which takes some ms."""

PAGE = 100
UNREAD: Audit = {"fit": "unread", "parts": [], "more": 0, "calls": [], "ledger": []}


async def show_audit(request: ConsoleRequest) -> ConsolePage:
    """Show the chain of receipts, the record that it covers, and the result of verifying both."""
    name = request.params["execution"]
    execution = await request.api.get(f"/v1/executions/{name}")
    chain = await request.api.get(f"/v1/executions/{name}/receipts", limit=PAGE)
    while chain["next"] and len(chain["entries"]) < ENTRIES_MAX:
        following = await request.api.get(f"/v1/executions/{name}/receipts", limit=PAGE, cursor=chain["next"])
        chain = {**following, "entries": [*chain["entries"], *following["entries"]]}
    values = {"execution": execution, "chain": chain, "audit": await _audit(request, execution, chain), "most": ENTRIES_MAX}
    return ConsolePage(template="audit.html", title=f"Audit of {name}", values=values)


async def _audit(request: ConsoleRequest, execution: Mapping[str, Any], chain: dict[str, Any]) -> Audit:
    if chain["next"]:
        return {"state": "too_long", "verdict": "", **UNREAD}
    record = None
    if execution["tool_calls_total"] <= RECORD_CALLS_MAX:
        # of one under way, what was written after its receipts were read is not covered by them yet
        record = (await request.api.ask("GET", f"/v1/executions/{execution['execution_id']}/record")).content
    if len(chain["entries"]) <= HERE_ENTRIES_MAX and len(record or b"") <= HERE_BYTES_MAX:
        return audit_chain(chain, record)
    try:
        return await offload.run(request.session.owner, offload.DOCUMENT, audit_chain, chain, record)
    except (offload.OverBudgetError, offload.JobFailedError, offload.TooManyJobsError):
        return {"state": "unverified", "verdict": "It could not be verified now. Load the page again.", **UNREAD}


ROUTES = (ConsoleRoute(path=PATH, show=show_audit, section="executions"),)
