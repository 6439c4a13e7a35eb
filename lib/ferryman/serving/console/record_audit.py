"""An execution's record against its receipts: what a worker process finds out for the page of the audit."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ferryman import verify_receipts

ARGUMENTS_CHARACTERS_MAX = 2_000
"""How much of a call's arguments is printed; the call's own page has all of them."""

PARTS_MAX = 8
"""How many parts of a record that do not fit are named."""

Audit = dict[str, Any]


def audit_chain(chain: Mapping[str, Any], record: bytes | None) -> Audit:
    """Return what verifying the chain says, and comparing the JSON of the record with it where there is one.

    `state` is `genuine`, `open` (without its last entry) or `wrong`, and `verdict` the verifier's sentence. With a record,
    `fit` says whether it is what the receipts cover: `whole`, `partly` or `wrong`; `parts` names those that are not covered yet
    or that do not fit, of which there are `more`. `calls` and `ledger` are its calls in short and its entries.
    """
    try:
        code, sentence = verify_receipts.verify(chain)
    except verify_receipts.VerificationError as error:
        return {"state": "wrong", "verdict": str(error), **_compare(None, record)}
    state = "genuine" if code == verify_receipts.WHOLE else "open"
    return {"state": state, "verdict": sentence, **_compare(chain, record)}


def _compare(chain: Mapping[str, Any] | None, record: bytes | None) -> Audit:
    if record is None:
        return {"fit": "unread", "parts": [], "more": 0, "calls": [], "ledger": []}
    document = json.loads(record)
    listed = {"calls": [_shorten(call) for call in document["calls"]], "ledger": document["ledger"]}
    if chain is None:
        return {"fit": "unread", "parts": [], "more": 0, **listed}
    try:
        wrong, bare = verify_receipts.compare(chain, document)
    except verify_receipts.VerificationError as error:
        wrong, bare = [str(error)], []
    fit = "wrong" if wrong else "partly" if bare else "whole"
    more = max(len(wrong or bare) - PARTS_MAX, 0)
    return {"fit": fit, "parts": (wrong or bare)[:PARTS_MAX], "more": more, **listed}


def _shorten(call: Mapping[str, Any]) -> Audit:
    arguments = json.dumps(call["arguments"], indent=2, ensure_ascii=False)
    cut = arguments[:ARGUMENTS_CHARACTERS_MAX]
    names = ("seq", "iteration", "tool", "called_as", "created_at", "settled_at")
    about = {name: call[name] for name in names}
    return {
        **about,
        "arguments": cut,
        "left": len(arguments) - len(cut),
        "ok": None if not call["result"] else call["result"]["ok"],
    }
