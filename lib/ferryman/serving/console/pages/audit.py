"""The audit of an execution, to print: its receipts in order, who approved what, and whether the chain is whole and genuine."""

from __future__ import annotations

from typing import Any

from ferryman import offload, verify_receipts
from ferryman.serving.console.pages import executions
from ferryman.serving.console.routing import ConsolePage, ConsoleRequest, ConsoleRoute

PATH = f"{executions.PATH}/{{execution}}/audit"
ENTRIES_MAX = 1_000
"""How many receipts are shown, and verified; a longer chain is verified by the command alone."""
PAGE = 100


async def show_audit(request: ConsoleRequest) -> ConsolePage:
    """Show the chain of receipts, with what verifying it with its public keys says."""
    name = request.params["execution"]
    execution = await request.api.get(f"/v1/executions/{name}")
    chain = await request.api.get(f"/v1/executions/{name}/receipts", limit=PAGE)
    while chain["next"] and len(chain["entries"]) < ENTRIES_MAX:
        following = await request.api.get(f"/v1/executions/{name}/receipts", limit=PAGE, cursor=chain["next"])
        chain = {**following, "entries": [*chain["entries"], *following["entries"]]}
    state, verdict = "too_long", ""
    if not chain["next"]:
        state, verdict = await _verify(request, chain)
    values = {"execution": execution, "chain": chain, "state": state, "verdict": verdict, "shown": ENTRIES_MAX}
    return ConsolePage(template="audit.html", title=f"Audit of {name}", values=values)


async def _verify(request: ConsoleRequest, chain: dict[str, Any]) -> tuple[str, str]:
    try:
        state, verdict = await offload.run(request.session.owner, offload.DOCUMENT, verify_chain, chain)
    except (offload.OverBudgetError, offload.JobFailedError, offload.TooManyJobsError):
        return "unverified", "It could not be verified now. Load the page again."
    return state, verdict


def verify_chain(chain: dict[str, Any]) -> tuple[str, str]:
    """Return `genuine`, `open` (without its last entry) or `wrong`, and what the verifier says."""
    try:
        code, sentence = verify_receipts.verify(chain)
    except verify_receipts.VerificationError as error:
        return "wrong", str(error)
    return ("genuine" if code == verify_receipts.WHOLE else "open"), sentence


ROUTES = (ConsoleRoute(path=PATH, show=show_audit, section="executions"),)
